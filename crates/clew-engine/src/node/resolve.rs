//! Which indexes an expression means: names, aliases, wildcards, exclusions, names with dates. All
//! endpoints resolve here, so that a name means the same everywhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::blocks::BlockLevel;
use crate::base::date_names::resolve_date;
use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::engine::{Engine, Inner};
use crate::node::index_handle::IndexHandle;
use crate::node::resolver::Resolver;

/// Which indexes a wildcard may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wildcards {
    /// Open ones.
    pub open: bool,
    /// Closed ones.
    pub closed: bool,
    /// Hidden ones too.
    pub hidden: bool,
}

impl Wildcards {
    /// Open indexes that are not hidden.
    pub const OPEN: Wildcards = Wildcards {
        open: true,
        closed: false,
        hidden: false,
    };
    /// Closed indexes that are not hidden.
    pub const CLOSED: Wildcards = Wildcards {
        open: false,
        closed: true,
        hidden: false,
    };
    /// Open and closed indexes that are not hidden.
    pub const SHOWN: Wildcards = Wildcards {
        open: true,
        closed: true,
        hidden: false,
    };
    /// Every index.
    pub const ALL: Wildcards = Wildcards {
        open: true,
        closed: true,
        hidden: true,
    };
    /// None.
    pub const NONE: Wildcards = Wildcards {
        open: false,
        closed: false,
        hidden: false,
    };
}

/// What becomes of a closed index that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedNames {
    /// It is taken like an open one.
    Allow,
    /// It is refused, or skipped with `ignore_unavailable`.
    Forbid,
}

/// What becomes of an alias that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasNames {
    /// It stands for its indexes.
    Follow,
    /// It stands for its indexes; a data stream is not there, and wildcards pass it over.
    FollowButStreams,
    /// It is refused, and wildcards pass it over; a data stream is not there.
    Refuse,
}

/// How a list of index names is read.
#[derive(Clone, Copy, Debug)]
pub struct ResolveOptions {
    /// Concrete names that do not exist are skipped rather than refused.
    pub ignore_unavailable: bool,
    /// A wildcard may match nothing.
    pub allow_no_indices: bool,
    /// What wildcards may mean.
    pub wildcards: Wildcards,
    /// What becomes of closed indexes.
    pub closed: ClosedNames,
    /// What becomes of aliases.
    pub aliases: AliasNames,
}

impl Default for ResolveOptions {
    fn default() -> Self {
        ResolveOptions {
            ignore_unavailable: false,
            allow_no_indices: true,
            wildcards: Wildcards::OPEN,
            closed: ClosedNames::Forbid,
            aliases: AliasNames::Follow,
        }
    }
}

impl ResolveOptions {
    /// Every index there is, whatever its state.
    pub fn everything() -> Self {
        ResolveOptions {
            wildcards: Wildcards::ALL,
            closed: ClosedNames::Allow,
            ..ResolveOptions::default()
        }
    }
}

impl Engine {
    /// Opens the indexes that an expression names, in order of their names: names, aliases and patterns with `*`,
    /// separated by commas, of which those behind the last one mean nothing, a leading `-` after a pattern taking away;
    /// empty, `*` and `_all` mean all. Patterns mean only what may be opened for the purpose.
    ///
    /// # Errors
    /// [`EngineError::IndexNotFound`] and [`EngineError::IndexClosed`] as the options say; [`EngineError::AccessDenied`] for
    /// an index that is named and may not be opened, and [`EngineError::Blocked`] for one with a block against the purpose;
    /// [`EngineError::InvalidRequest`] for more names and patterns than can be held against those there are.
    pub fn open(
        &self,
        (expression, options): (&str, ResolveOptions),
        access: &Access,
        purpose: Purpose,
    ) -> Result<Vec<IndexHandle>, EngineError> {
        let indices = self.inner.indices.read();
        let aliases = self.inner.aliases.load();
        let mut resolver = Resolver {
            indices: &indices,
            aliases: &aliases,
            options,
            access,
            purpose,
            found: BTreeMap::new(),
            looks: 0,
        };
        // As Java's lists between commas do, an expression ends with its last name.
        let expression = match (expression, expression.trim_end_matches(',')) {
            ("", _) => "_all",
            (commas, "") => commas,
            (_, names) => names,
        };
        let mut wildcard_seen = false;
        for part in expression.split(',').map(str::trim) {
            let part = resolve_date(part, || self.inner.now_ms())?;
            match part.strip_prefix('-') {
                Some(excluded) if wildcard_seen => resolver.exclude(excluded)?,
                _ => {
                    wildcard_seen |= part.contains('*') || part == "_all";
                    resolver.include(&part)?;
                }
            }
        }
        if resolver.found.is_empty() && !options.allow_no_indices {
            return Err(EngineError::IndexNotFound {
                index: expression.to_string(),
            });
        }
        let opened: Vec<IndexHandle> = resolver.found.into_values().collect();
        if let Some(level) = purpose.blocked_by() {
            opened
                .iter()
                .try_for_each(|handle| handle.check_block(level))?;
        }
        Ok(opened)
    }

    /// Opens the one index that a name or an alias means to requests by id; and the routing key that holds there.
    ///
    /// # Errors
    /// When there is no such index, the alias names several, or it is closed, blocked or not allowed to who asks.
    pub fn open_one(
        &self,
        (name, routing): (&str, Option<&str>),
        access: &Access,
        purpose: Purpose,
    ) -> Result<(IndexHandle, Option<String>), EngineError> {
        let inner = &self.inner;
        let name = resolve_date(name, || inner.now_ms())?;
        let (index, alias) = match inner.named(&name)? {
            Named::Index(index) => (index, None),
            Named::Alias(indices) => match &indices[..] {
                [only] => (only.clone(), Some(name.as_ref())),
                several => return Err(several_indices(&name, several)),
            },
        };
        check_access(index.name(), access, purpose)?;
        index.check_open()?;
        if let Some(level) = purpose.blocked_by() {
            index.check_block(level)?;
        }
        let routing = alias_routing(&index, alias, routing.map(String::from))?;
        Ok((IndexHandle::new(&index, purpose), routing))
    }

    /// Opens the index that has this very name, whether it is open or closed.
    ///
    /// # Errors
    /// When there is no such index, or it may not be opened.
    pub fn open_exactly(
        &self,
        name: &str,
        access: &Access,
        purpose: Purpose,
    ) -> Result<IndexHandle, EngineError> {
        let index = self.inner.index(name)?;
        check_access(index.name(), access, purpose)?;
        Ok(IndexHandle::new(&index, purpose))
    }

    /// Whether an index is still there: not deleted, and not made anew under its name.
    pub fn has_index(&self, index: &Index) -> bool {
        let indices = self.inner.indices.read();
        let now = indices.get(index.name());
        now.is_some_and(|now| now.uuid == index.uuid)
    }

    /// The indexes about which figures may be shown, by name.
    pub fn indices(&self, access: &Access) -> Vec<Arc<Index>> {
        let indices = self.inner.indices.read();
        let shown = |index: &&Arc<Index>| access.allows(index.name(), Purpose::Watch);
        indices.values().filter(shown).cloned().collect()
    }
}

fn several_indices(alias: &str, indices: &[Arc<Index>]) -> EngineError {
    let names: Vec<&str> = indices.iter().map(|index| index.name()).collect();
    EngineError::InvalidRequest {
        reason: format!(
            "alias [{alias}] has more than one index associated with it [{}], can't execute a \
             single index op",
            names.join(", ")
        ),
    }
}

/// What a name is.
pub(crate) enum Named {
    /// An index's own name.
    Index(Arc<Index>),
    /// An alias of at least one index.
    Alias(Vec<Arc<Index>>),
}

impl Inner {
    pub(crate) fn now_ms(&self) -> i64 {
        i64::try_from(self.clock.since_epoch().as_millis()).unwrap_or(i64::MAX)
    }

    /// What a name is.
    pub(crate) fn named(&self, name: &str) -> Result<Named, EngineError> {
        let indices = self.indices.read();
        if let Some(index) = indices.get(name) {
            return Ok(Named::Index(index.clone()));
        }
        match self.aliases.load().get(name) {
            Some(indices) => Ok(Named::Alias(indices.clone())),
            None => Err(EngineError::IndexNotFound {
                index: name.to_string(),
            }),
        }
    }

    /// The index that writes to a name go to, and the routing key that holds there.
    pub(crate) fn write_index(
        &self,
        (name, routing): (&str, Option<String>),
        access: &Access,
    ) -> Result<(Arc<Index>, Option<String>), EngineError> {
        let index = self.written_index(name)?;
        check_access(index.name(), access, Purpose::Write)?;
        index.check_open()?;
        index.check_block(BlockLevel::Write)?;
        let alias = (index.name() != name).then_some(name);
        let routing = alias_routing(&index, alias, routing)?;
        Ok((index, routing))
    }

    /// The index that writes to a name go to, whether it takes them now or not.
    pub(crate) fn written_index(&self, name: &str) -> Result<Arc<Index>, EngineError> {
        match self.named(name)? {
            Named::Index(index) => Ok(index),
            Named::Alias(indices) => writer_of(name, &indices),
        }
    }
}

/// The index of an alias that takes writes.
fn writer_of(name: &str, indices: &[Arc<Index>]) -> Result<Arc<Index>, EngineError> {
    let says = |index: &Arc<Index>| {
        let aliases = index.aliases.load();
        aliases.get(name).and_then(|alias| alias.is_write_index)
    };
    let writer = match indices {
        [only] if says(only) != Some(false) => Some(only),
        several => several.iter().find(|index| says(index) == Some(true)),
    };
    writer.cloned().ok_or_else(|| EngineError::InvalidRequest {
        reason: format!(
            "no write index is defined for alias [{name}]. The write index may be explicitly \
             disabled using is_write_index=false or the alias points to multiple indices without \
             one being designated as a write index"
        ),
    })
}

/// The routing key of one document through an alias.
pub(super) fn alias_routing(
    index: &Index,
    alias: Option<&str>,
    asked: Option<String>,
) -> Result<Option<String>, EngineError> {
    let aliases = index.aliases.load();
    let Some(name) = alias else {
        return Ok(asked);
    };
    let Some(fixed) = aliases
        .get(name)
        .and_then(|alias| alias.index_routing.clone())
    else {
        return Ok(asked);
    };
    match asked {
        Some(asked) if asked != fixed => Err(EngineError::InvalidRequest {
            reason: format!(
                "Alias [{name}] has index routing associated with it [{fixed}], and was provided \
                 with routing value [{asked}], rejecting operation"
            ),
        }),
        _ => Ok(Some(fixed)),
    }
}

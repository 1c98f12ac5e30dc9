//! Copies of shards that indexes ask for, and writes that want so many of them. On one node there is the first alone.

use std::collections::HashMap;

use axum::http::StatusCode;
use clew_engine::{Access, Engine, Index, IndexHandle, IndexSettings, Purpose, WriteOperation};

use crate::http::error::{ApiError, Cause};
use crate::http::params::Params;

/// How long OpenSearch waits for copies unless a request says otherwise, as it is told.
const WAIT_DEFAULT: &str = "1m";

/// Replicas of each shard that an index asks for; none of them exists.
pub(crate) fn replicas(index: &Index) -> u32 {
    replicas_of(&index.settings())
}

/// The same of settings that no index may have yet.
pub(crate) fn replicas_of(settings: &IndexSettings) -> u32 {
    let given = |name: &str| settings.given.get(name);
    if let Some(range) = given("index.auto_expand_replicas").filter(|range| *range != "false") {
        // They follow the number of nodes down to the range's lower end.
        let lower = range.split('-').next();
        return lower.and_then(|lower| lower.parse().ok()).unwrap_or(0);
    }
    let number = given("index.number_of_replicas");
    number.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// How many copies of its shard there have to be for a write to be begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WantedCopies {
    copies: Copies,
    /// How long they are waited for, as it was written. Nobody waits here: none will come.
    timeout: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copies {
    All,
    AtLeast(u32),
}

impl WantedCopies {
    /// What `wait_for_active_shards` says; none where what is there is enough for every index.
    ///
    /// # Errors
    /// No number of copies.
    pub(crate) fn of(params: &Params) -> Result<Option<Self>, ApiError> {
        let copies = match params.get("wait_for_active_shards") {
            None => return Ok(None),
            Some("all") => Copies::All,
            Some(text) => match text.parse() {
                Ok(0 | 1) => return Ok(None),
                Ok(copies) => Copies::AtLeast(copies),
                Err(_) => return Err(ApiError::no_copies(text)),
            },
        };
        let timeout = params.get("timeout").unwrap_or(WAIT_DEFAULT).to_string();
        Ok(Some(WantedCopies { copies, timeout }))
    }

    /// Refuses a write whose shard has fewer copies. An index that is not there yet has one.
    fn check(&self, opened: Option<&Opened>, operation: &WriteOperation) -> Result<(), ApiError> {
        let (wanted, told) = match (self.copies, opened) {
            (Copies::AtLeast(copies), _) => (copies, copies.to_string()),
            (Copies::All, Some((index, _))) => {
                (replicas(index).saturating_add(1), "ALL".to_string())
            }
            (Copies::All, None) => return Ok(()),
        };
        if wanted <= 1 {
            return Ok(());
        }
        let (name, shard) = match opened {
            None => (operation.index.as_str(), 0),
            Some((index, of_alias)) => {
                let key = operation.routing.as_deref().or(of_alias.as_deref());
                let key = key.or(operation.id.as_deref());
                (index.name(), key.map_or(0, |key| index.shard_number(key)))
            }
        };
        let reason = format!(
            "[{name}][{shard}] Not enough active copies to meet shard count of [{told}] (have 1, \
             needed {wanted}). Timeout: [{}]",
            self.timeout
        );
        let cause = Cause::new("unavailable_shards_exception", reason);
        Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause))
    }
}

/// An index that a write goes to, with the routing key of the alias that it was named by.
type Opened = (IndexHandle, Option<String>);

/// The writes of a request, before they are begun. Each index is opened once.
pub(crate) struct CopiesCheck<'e> {
    wanted: Option<WantedCopies>,
    around: (&'e Engine, &'e Access),
    /// By the names that writes have for them; none where there is no such index yet.
    opened: HashMap<String, Option<Opened>>,
}

impl<'e> CopiesCheck<'e> {
    /// Without copies that are wanted every write is begun.
    pub(crate) fn new(wanted: Option<WantedCopies>, around: (&'e Engine, &'e Access)) -> Self {
        CopiesCheck {
            wanted,
            around,
            opened: HashMap::new(),
        }
    }

    /// Refuses a write whose shard has fewer copies than are wanted. An index that is not there yet has one.
    ///
    /// # Errors
    /// Too few copies.
    pub(crate) fn check(&mut self, operation: &WriteOperation) -> Result<(), ApiError> {
        let Some(wanted) = &self.wanted else {
            return Ok(());
        };
        let (engine, access) = self.around;
        let open = || {
            let whose = (operation.index.as_str(), None);
            engine.open_one(whose, access, Purpose::Watch).ok()
        };
        let opened = match self.opened.get(&operation.index) {
            Some(opened) => opened,
            None => {
                let entry = self.opened.entry(operation.index.clone());
                &*entry.or_insert_with(open)
            }
        };
        wanted.check(opened.as_ref(), operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_copy_is_there_and_more_are_wanted_by_name_or_number() {
        let of = |text: &str| WantedCopies::of(&Params::parse(text).unwrap());
        for text in ["", "wait_for_active_shards=0", "wait_for_active_shards=1"] {
            assert_eq!(of(text).unwrap(), None, "{text}");
        }
        let all = of("wait_for_active_shards=all&timeout=2s")
            .unwrap()
            .unwrap();
        assert_eq!((all.copies, &*all.timeout), (Copies::All, "2s"));
        let two = of("wait_for_active_shards=2").unwrap().unwrap();
        assert_eq!((two.copies, &*two.timeout), (Copies::AtLeast(2), "1m"));
        assert!(of("wait_for_active_shards=x").is_err());
    }
}

//! Named JSON values that belong to the node rather than to an index: templates, repositories and
//! the like. The engine keeps them as durably as its indexes and never looks into them; what a
//! kind means is its protocol's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::error::EngineError;

/// Values kept at most, over all kinds.
const DEFINITIONS_MAX: usize = 20_000;
/// Longest value, as JSON.
const VALUE_BYTES_MAX: usize = 16 << 20;
/// Longest name, in bytes.
const NAME_BYTES_MAX: usize = 512;

/// All values, by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Definitions {
    kinds: BTreeMap<String, BTreeMap<String, Value>>,
}

/// A change of one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DefinitionChange {
    /// What sort of thing it is.
    pub kind: String,
    /// Its name among its kind.
    pub name: String,
    /// The new value; `None` takes it away.
    pub value: Option<Value>,
}

impl DefinitionChange {
    /// Sets a value.
    pub fn put(kind: &str, name: &str, value: Value) -> Self {
        let (kind, name) = (kind.to_string(), name.to_string());
        let value = Some(value);
        DefinitionChange { kind, name, value }
    }

    /// Takes a value away.
    pub fn remove(kind: &str, name: &str) -> Self {
        let (kind, name) = (kind.to_string(), name.to_string());
        let value = None;
        DefinitionChange { kind, name, value }
    }

    /// The length of the value as JSON.
    pub(crate) fn bytes(&self) -> usize {
        let value = self.value.as_ref();
        value.map_or(0, |value| value.to_string().len())
    }

    fn check(&self) -> Result<(), EngineError> {
        let DefinitionChange { kind, name, .. } = self;
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let reason = format!("a {kind} needs a name of 1 to {NAME_BYTES_MAX} bytes");
            return Err(EngineError::InvalidRequest { reason });
        }
        let bytes = self.bytes();
        if bytes > VALUE_BYTES_MAX {
            let reason = format!("{kind} [{name}] has {bytes} bytes, more than {VALUE_BYTES_MAX}");
            return Err(EngineError::InvalidRequest { reason });
        }
        Ok(())
    }
}

impl Definitions {
    /// The values of a kind, by name.
    pub fn of(&self, kind: &str) -> impl Iterator<Item = (&str, &Value)> {
        let named = self.kinds.get(kind).into_iter().flatten();
        named.map(|(name, value)| (name.as_str(), value))
    }

    /// One value.
    pub fn get(&self, kind: &str, name: &str) -> Option<&Value> {
        self.kinds.get(kind)?.get(name)
    }

    /// Sets a value in this copy only, to see what it would lead to.
    pub fn put(&mut self, kind: &str, name: &str, value: Value) {
        self.apply(vec![DefinitionChange::put(kind, name, value)]);
    }

    pub(crate) fn apply(&mut self, changes: Vec<DefinitionChange>) {
        for DefinitionChange { kind, name, value } in changes {
            let named = self.kinds.entry(kind).or_default();
            match value {
                Some(value) => named.insert(name, value),
                None => named.remove(&name),
            };
        }
        self.kinds.retain(|_, named| !named.is_empty());
    }

    /// Refuses changes that are out of bounds.
    pub(crate) fn check(&self, changes: &[DefinitionChange]) -> Result<(), EngineError> {
        changes.iter().try_for_each(DefinitionChange::check)?;
        if self.len() + changes.len() > DEFINITIONS_MAX {
            let reason = format!("more than {DEFINITIONS_MAX} templates and other definitions");
            return Err(EngineError::InvalidRequest { reason });
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.kinds.values().map(BTreeMap::len).sum()
    }
}

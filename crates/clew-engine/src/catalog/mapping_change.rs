//! What a mapping has more than before, for the log: an index whose documents bring new fields all the time would else
//! write its whole mapping with each of them.
//!
//! Knows encoded mappings as JSON, and of their meaning only that fields are numbered by their place in a list and that
//! objects and aliases are named: none of these ever goes away.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The members of an encoded mapping that only grow.
const LIST: &str = "fields";
const NAMED: [&str; 2] = ["objects", "aliases"];

/// The member that says how an encoded mapping is written.
const FORMAT_MEMBER: &str = "format";

/// How an encoded mapping becomes another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MappingChange {
    /// Fields that are new or different, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<usize, Value>,
    /// Objects and aliases that are new or different, by path.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    named: BTreeMap<String, Map<String, Value>>,
    /// Other members that are new or different, whole.
    #[serde(skip_serializing_if = "Map::is_empty")]
    others: Map<String, Value>,
}

impl MappingChange {
    /// What makes `after` of `before`; `None` when something has gone away, or is written in another format.
    pub(crate) fn between(before: &Value, after: &Value) -> Option<Self> {
        let (before, after) = (before.as_object()?, after.as_object()?);
        // Replay must lead to a mapping of one format.
        if before.get(FORMAT_MEMBER) != after.get(FORMAT_MEMBER) {
            return None;
        }
        let mut change = MappingChange::default();
        if before.keys().any(|member| !after.contains_key(member)) {
            return None;
        }
        for (member, now) in after {
            let was = before.get(member);
            if was == Some(now) {
                continue;
            }
            match (was, now) {
                (Some(Value::Array(was)), Value::Array(now)) if member == LIST => {
                    change.fields = added(was, now)?;
                }
                (Some(Value::Object(was)), Value::Object(now))
                    if NAMED.contains(&member.as_str()) =>
                {
                    if was.keys().any(|name| !now.contains_key(name)) {
                        return None;
                    }
                    let new = now
                        .iter()
                        .filter(|(name, value)| was.get(*name) != Some(value));
                    let new = new.map(|(name, value)| (name.clone(), value.clone()));
                    change.named.insert(member.clone(), new.collect());
                }
                _ => {
                    change.others.insert(member.clone(), now.clone());
                }
            }
        }
        Some(change)
    }

    /// Changes an encoded mapping.
    ///
    /// # Errors
    /// What does not fit, when the change is one of another mapping; part of it may be done then.
    pub(crate) fn apply(self, mapping: &mut Value) -> Result<(), String> {
        let members = mapping.as_object_mut().ok_or("a mapping is no object")?;
        members.extend(self.others);
        for (member, new) in self.named {
            let known = members.get_mut(&member).and_then(Value::as_object_mut);
            known
                .ok_or_else(|| format!("a mapping has no [{member}]"))?
                .extend(new);
        }
        if self.fields.is_empty() {
            return Ok(());
        }
        let fields = members.get_mut(LIST).and_then(Value::as_array_mut);
        let fields = fields.ok_or_else(|| format!("a mapping has no [{LIST}]"))?;
        for (number, field) in self.fields {
            let count = fields.len();
            match fields.get_mut(number) {
                Some(known) => *known = field,
                None if number == count => fields.push(field),
                None => return Err(format!("field [{number}] follows [{count}] fields")),
            }
        }
        Ok(())
    }
}

/// The fields that are new or different.
fn added(before: &[Value], after: &[Value]) -> Option<BTreeMap<usize, Value>> {
    let is_new = |(number, field): &(usize, &Value)| before.get(*number) != Some(field);
    let new = after.iter().enumerate().filter(is_new);
    let new = new.map(|(number, field)| (number, field.clone()));
    (before.len() <= after.len()).then(|| new.collect())
}

#[cfg(test)]
mod tests;

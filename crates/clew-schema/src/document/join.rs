//! A document's place in a `join` field: its own kind, and the parent that it names.

use serde_json::Value;
use tantivy::schema::OwnedValue;

use super::error::{DocumentError, UnfitKind};
use super::failure::{Failure, Result};
use super::walk::Walk;
use crate::mapping::{JoinRelations, MappedField};
use crate::plain::json_token;

/// What a document says of itself.
struct Place {
    kind: String,
    parent: Option<String>,
}

impl<'m> Walk<'m, '_> {
    pub(super) fn join_value(
        &mut self,
        field: &'m MappedField,
        relations: &'m JoinRelations,
    ) -> Result<()> {
        let (value, _) = self.tree()?;
        let join = field.path.as_str();
        let Place { kind, parent } = read(join, &value)?;
        let is_parent = relations.children_of(&kind).is_some();
        let above = relations.parent_of(&kind);
        if !is_parent && above.is_none() {
            return Err(refused(format!(
                "unknown join name [{kind}] for field [{join}]"
            )));
        }
        let mapping = self.mapping;
        if let Some(ids) = above.and_then(|above| mapping.join_ids(join, above)) {
            let Some(parent) = parent else {
                return Err(refused(format!(
                    "[parent] is missing for join field [{join}]"
                )));
            };
            self.needs_routing = Some(join.to_string());
            self.values.push(ids, OwnedValue::Str(parent));
        }
        if is_parent && let Some(ids) = mapping.join_ids(join, &kind) {
            self.id_fields.extend(ids.field);
        }
        self.values.push(field, OwnedValue::Str(kind));
        Ok(())
    }
}

fn refused(reason: String) -> Failure {
    let kind = UnfitKind::Illegal;
    DocumentError::Unfit { kind, reason }.into()
}

fn read(join: &str, value: &Value) -> Result<Place> {
    let members = match value {
        Value::String(kind) => {
            return Ok(Place {
                kind: kind.clone(),
                parent: None,
            });
        }
        Value::Object(members) => members,
        other => {
            let token = json_token(other);
            let kind = UnfitKind::Shape;
            let reason = format!("[null] expected START_OBJECT or VALUE_STRING but was: {token}");
            return Err(DocumentError::Unfit { kind, reason }.into());
        }
    };
    let (mut kind, mut parent) = (None, None);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("name", Value::String(text)) => kind = Some(text.clone()),
            ("parent", Value::String(text)) => parent = Some(text.clone()),
            ("parent", Value::Number(number)) => parent = Some(number.to_string()),
            (_, Value::String(_) | Value::Number(_)) => {
                return Err(refused(format!(
                    "unknown field name [{key}] in join field [{join}]"
                )));
            }
            _ => {}
        }
    }
    match kind {
        Some(kind) => Ok(Place { kind, parent }),
        None => Err(refused(format!(
            "unknown join name [null] for field [{join}]"
        ))),
    }
}

//! The steps that change a search's answer.

use axum::http::StatusCode;
use clew_analysis::JavaPattern;
use clew_ingest::template::lookup;
use clew_ingest::{DefinitionError, members, split_text};
use serde_json::{Map, Value, json};

use super::Context;
use super::before::size_key;
use super::step::{Refused, unknown_step};
use crate::http::error::{ApiError, Cause};

/// A step that changes the answer.
#[derive(Debug)]
pub(super) enum After {
    Rename {
        field: String,
        target: String,
        /// Hits may be without the field.
        may_lack: bool,
    },
    Truncate {
        size: Option<usize>,
        /// What an earlier step kept the size as that was asked for.
        key: String,
    },
    Sort {
        field: String,
        target: String,
        descending: bool,
    },
    Split {
        field: String,
        target: String,
        separator: JavaPattern,
        trailing: Trailing,
    },
    Collapse(String),
    /// Scores of `hybrid` queries are explained, as they always are.
    ExplainHybrid,
}

/// What becomes of empty parts at the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trailing {
    Kept,
    Dropped,
}

impl After {
    /// Reads one step; the members that it knows are taken.
    pub(super) fn read(name: &str, config: &mut Map<String, Value>) -> Result<Self, Refused> {
        match name {
            "rename_field" => Ok(After::Rename {
                field: members::text(config, "field")?,
                target: members::text(config, "target_field")?,
                may_lack: members::flag(config, "ignore_missing", false)?,
            }),
            "truncate_hits" => {
                let size = members::whole(config, "target_size")?.map(usize::try_from);
                let size = size
                    .transpose()
                    .map_err(|_| DefinitionError::refused("target_size", "Value must be >= 0"))?;
                let key = size_key(config)?;
                Ok(After::Truncate { size, key })
            }
            "sort" => {
                let (field, target) = field_and_target(config)?;
                let order = members::optional(config, "order")?;
                let descending = match order.as_deref().unwrap_or("asc") {
                    "asc" => false,
                    "desc" => true,
                    other => {
                        let reason = format!(
                            "Sort direction [{other}] not recognized. Valid values are: [asc, desc]"
                        );
                        return Err(DefinitionError::refused("order", reason).into());
                    }
                };
                Ok(After::Sort {
                    field,
                    target,
                    descending,
                })
            }
            "split" => {
                let (field, target) = field_and_target(config)?;
                let separator = members::pattern(config, "separator")?;
                let trailing = match members::flag(config, "preserve_trailing", false)? {
                    true => Trailing::Kept,
                    false => Trailing::Dropped,
                };
                Ok(After::Split {
                    field,
                    target,
                    separator,
                    trailing,
                })
            }
            "collapse" => Ok(After::Collapse(members::text(config, "field")?)),
            "hybrid_score_explanation" => Ok(After::ExplainHybrid),
            other => Err(unknown_step(other).into()),
        }
    }

    /// Changes the hits of an answer.
    pub(super) fn apply(&self, hits: &mut Vec<Value>, context: &Context) -> Result<(), ApiError> {
        match self {
            After::ExplainHybrid => {}
            After::Truncate { size, key } => truncate(hits, *size, (key.as_str(), context))?,
            After::Collapse(field) => collapse(hits, field),
            After::Rename {
                field,
                target,
                may_lack,
            } => {
                for hit in hits {
                    if !rename(hit, field, target) && !may_lack {
                        return Err(lacking(hit, field));
                    }
                }
            }
            After::Sort {
                field,
                target,
                descending,
            } => {
                for hit in hits {
                    let value = value_of(hit, field).cloned();
                    let shown = shown_of(hit, field).cloned();
                    let of_value = sorted(value, *descending);
                    put(hit, target, (of_value, sorted(shown, *descending)));
                }
            }
            After::Split {
                field,
                target,
                separator,
                trailing,
            } => {
                for hit in hits {
                    let value = value_of(hit, field).and_then(Value::as_str);
                    let shown = shown_of(hit, field).and_then(|values| values.get(0)?.as_str());
                    let parts = |text: &str| split(text, separator, *trailing);
                    let made = (value.map(parts).transpose()?, shown.map(parts).transpose()?);
                    put(hit, target, made);
                }
            }
        }
        Ok(())
    }
}

/// A field, and the one that what is made of it goes to: itself unless another is named.
fn field_and_target(config: &mut Map<String, Value>) -> Result<(String, String), DefinitionError> {
    let field = members::text(config, "field")?;
    let target = members::optional(config, "target_field")?;
    let target = target.unwrap_or_else(|| field.clone());
    Ok((field, target))
}

fn truncate(
    hits: &mut Vec<Value>,
    size: Option<usize>,
    (key, context): (&str, &Context),
) -> Result<(), ApiError> {
    let kept = || usize::try_from(context.get(key)?.as_u64()?).ok();
    let Some(size) = size.or_else(kept) else {
        let reason = format!("Must specify target_size unless an earlier processor set {key}");
        let cause = Cause::new("illegal_state_exception", reason);
        return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause));
    };
    hits.truncate(size);
    Ok(())
}

/// Leaves the first hit of each value.
fn collapse(hits: &mut Vec<Value>, field: &str) {
    let mut seen: Vec<Value> = Vec::new();
    hits.retain(|hit| {
        let value = value_of(hit, field).cloned().unwrap_or(Value::Null);
        let new = !seen.contains(&value);
        if new {
            seen.push(value);
        }
        new
    });
}

/// A field of a hit: of its source, or of the fields that were asked for.
fn value_of<'a>(hit: &'a Value, field: &str) -> Option<&'a Value> {
    let source = hit.get("_source").and_then(|source| lookup(source, field));
    source.or_else(|| hit.get("fields")?.get(field)?.get(0))
}

/// The values of a field among those that were asked for.
fn shown_of<'a>(hit: &'a Value, field: &str) -> Option<&'a Value> {
    hit.get("fields")?.get(field)
}

/// Puts what was made of a field into the source, and among the fields that were asked for.
fn put(hit: &mut Value, field: &str, (of_value, shown): (Option<Value>, Option<Value>)) {
    if let Some(value) = of_value {
        set(hit, field, value);
    }
    if let (Some(Value::Object(fields)), Some(values)) = (hit.get_mut("fields"), shown) {
        fields.insert(field.to_string(), values);
    }
}

/// The parts of a text between separators.
fn split(text: &str, separator: &JavaPattern, trailing: Trailing) -> Result<Value, ApiError> {
    let keeps = trailing == Trailing::Kept;
    let parts = split_text(text, separator, keeps);
    let parts = parts.map_err(|error| ApiError::illegal_argument(error.to_string()))?;
    Ok(json!(parts))
}

fn set(hit: &mut Value, field: &str, value: Value) {
    if let Some(Value::Object(source)) = hit.get_mut("_source") {
        source.insert(field.to_string(), value);
    }
}

/// Whether there was a field to rename.
fn rename(hit: &mut Value, field: &str, target: &str) -> bool {
    let mut found = false;
    for place in ["_source", "fields"] {
        if let Some(Value::Object(members)) = hit.get_mut(place)
            && let Some(value) = members.remove(field)
        {
            members.insert(target.to_string(), value);
            found = true;
        }
    }
    found
}

fn lacking(hit: &Value, field: &str) -> ApiError {
    let id = hit.get("_id").and_then(Value::as_str).unwrap_or_default();
    ApiError::illegal_argument(format!("Document with id {id} is missing field {field}"))
}

/// The items of a list in their order; what is none stays as it is.
fn sorted(value: Option<Value>, descending: bool) -> Option<Value> {
    let Some(Value::Array(mut items)) = value else {
        return None;
    };
    items.sort_by(|a, b| match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => clew_ingest::template::plain(a).cmp(&clew_ingest::template::plain(b)),
    });
    if descending {
        items.reverse();
    }
    Some(Value::Array(items))
}

//! Steps that change one document by itself.

use serde_json::Value;

use super::processor::{Field, Processor};
use crate::document::Document;
use crate::error::{Failure, FailureKind};
use crate::steps::given::ValueSource;
use crate::template::Template;

impl Processor {
    /// Changes a document. Steps that other steps or pipelines go by are not done here.
    pub(crate) fn change(&self, document: &mut Document) -> Result<(), Failure> {
        match self {
            Processor::Set {
                field,
                value,
                replace,
                ignore_empty,
            } => set(field, value, (*replace, *ignore_empty), document),
            Processor::Append {
                field,
                values,
                duplicates,
            } => append(field, values, *duplicates, document),
            Processor::Remove(removed) => removed.apply(document),
            Processor::RemoveByPattern(removed) => {
                removed.apply(document);
                Ok(())
            }
            Processor::Copy(copied) => copied.apply(document),
            Processor::Sort(sorted) => sorted.apply(document),
            Processor::Fingerprint(print) => print.apply(document),
            Processor::CommunityId(identity) => identity.apply(document),
            Processor::IndexName(name) => name.apply(document),
            Processor::Rename {
                field,
                names: None,
                replace,
            } => rename(field, *replace, document),
            Processor::Rename {
                field,
                names: Some(names),
                replace,
            } => {
                let named = Field {
                    from: document.fill(&names.0)?,
                    to: document.fill(&names.1)?,
                    ignore_missing: field.ignore_missing,
                };
                rename(&named, *replace, document)
            }
            Processor::Change { field, change } => {
                with_field(field, document, |path, value| change.apply(path, value))
            }
            Processor::Convert { field, kind } => {
                with_field(field, document, |path, value| kind.convert(path, value))
            }
            Processor::Json(json) => json.apply(document),
            Processor::Date(date) => date.apply(document),
            Processor::KeyValues(pairs) => pairs.apply(document),
            Processor::Csv(csv) => csv.apply(document),
            Processor::Dissect(dissect) => dissect.apply(document),
            Processor::Grok(grok) => grok.apply(document),
            Processor::UserAgent(agent) => agent.apply(document),
            Processor::Script(program) => program.apply(document),
            Processor::DotExpander { field, path } => expand(field, path.as_deref(), document),
            Processor::GeoIp(_)
            | Processor::Drop
            | Processor::Fail(_)
            | Processor::Foreach { .. }
            | Processor::Pipeline { .. } => Ok(()),
        }
    }
}

fn set(
    field: &Template,
    value: &ValueSource,
    (replace, ignore_empty): (bool, bool),
    document: &mut Document,
) -> Result<(), Failure> {
    let path = document.fill(field)?;
    let there = document.get(&path).is_some_and(|value| !value.is_null());
    let filled = value.fill(document)?;
    // What is empty as it is written is meant to be.
    let empty = value.is_template() && filled.as_str() == Some("");
    if (there && !replace) || (empty && ignore_empty) {
        return Ok(());
    }
    document.set(&path, filled)
}

fn append(
    field: &Template,
    values: &[ValueSource],
    duplicates: bool,
    document: &mut Document,
) -> Result<(), Failure> {
    let path = document.fill(field)?;
    let before = document.get(&path);
    let is_new = before.is_none();
    let mut items = match before {
        None => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(one) => vec![one],
    };
    let count = items.len();
    for value in values {
        let value = value.fill(document)?;
        if duplicates || !items.contains(&value) {
            items.push(value);
        }
    }
    if items.len() == count && !duplicates && !is_new {
        return Ok(());
    }
    document.set(&path, Value::Array(items))
}

fn with_field(
    field: &Field,
    document: &mut Document,
    change: impl Fn(&str, Value) -> Result<Value, Failure>,
) -> Result<(), Failure> {
    let value = match document.get(&field.from) {
        None | Some(Value::Null) if field.ignore_missing => return Ok(()),
        None => return Err(document.absent(&field.from)),
        Some(value) => value,
    };
    let changed = change(&field.from, value)?;
    document.set(&field.to, changed)
}

fn rename(field: &Field, replace: bool, document: &mut Document) -> Result<(), Failure> {
    if document.get(&field.from).is_none() {
        if field.ignore_missing {
            return Ok(());
        }
        // Where it would stand in a list, the list is too short.
        let absent = document.absent(&field.from);
        if absent.kind == FailureKind::OutOfBounds {
            return Err(absent);
        }
        return Err(Failure::unfit(format!(
            "field [{}] doesn't exist",
            field.from
        )));
    }
    if document.get(&field.to).is_some() && !replace {
        return Err(Failure::unfit(format!(
            "field [{}] already exists",
            field.to
        )));
    }
    let value = document.remove(&field.from).unwrap_or(Value::Null);
    document.set(&field.to, value)
}

/// Turns a member with dots in its name into members of members.
fn expand(field: &str, path: Option<&str>, document: &mut Document) -> Result<(), Failure> {
    let whole = match path {
        Some(path) => format!("{path}.{field}"),
        None => field.to_string(),
    };
    let at = match path {
        None => Some(&mut document.source),
        Some(path) => document
            .source
            .pointer_mut(&format!("/{}", path.replace('.', "/"))),
    };
    let taken = at
        .and_then(Value::as_object_mut)
        .and_then(|members| members.remove(field));
    match taken {
        None => Ok(()),
        Some(value) => match document.get(&whole) {
            None => document.set(&whole, value),
            Some(before) => {
                let mut items = match before {
                    Value::Array(items) => items,
                    one => vec![one],
                };
                items.push(value);
                document.set(&whole, Value::Array(items))
            }
        },
    }
}

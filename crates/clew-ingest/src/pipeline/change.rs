//! Steps that change one document by itself.

use std::collections::HashSet;

use serde_json::{Map, Value};

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
            Processor::Chunking(chunking) => chunking.apply(document),
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
    let filled = values.iter().map(|value| value.fill(document));
    let filled = filled.collect::<Result<Vec<Value>, Failure>>()?;
    if duplicates {
        return document.push(&path, filled);
    }
    let (others, is_new) = if let Some(Value::Array(items)) = document.source_at(&path) {
        (others(items, filled), false)
    } else {
        match document.get(&path) {
            None => (others(&[], filled), true),
            Some(Value::Array(items)) => (others(&items, filled), false),
            Some(one) => (others(&[one], filled), false),
        }
    };
    if others.is_empty() && !is_new {
        return Ok(());
    }
    document.push(&path, others)
}

/// So many values are looked for one by one.
const FEW: usize = 8;

/// Those of some values that are neither there nor among those before them.
fn others(there: &[Value], values: Vec<Value>) -> Vec<Value> {
    let mut others: Vec<Value> = Vec::new();
    if values.len() <= FEW {
        for value in values {
            if !there.contains(&value) && !others.contains(&value) {
                others.push(value);
            }
        }
        return others;
    }
    let mut known: HashSet<String> = there.iter().map(identity).collect();
    others.extend(
        values
            .into_iter()
            .filter(|value| known.insert(identity(value))),
    );
    others
}

/// A text that equal values share.
fn identity(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(identity).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{name:?}:{}", identity(value));
            let mut members: Vec<String> = members.iter().map(member).collect();
            members.sort_unstable();
            format!("{{{}}}", members.join(","))
        }
        plain => plain.to_string(),
    }
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
    // Only a path into something may turn out to lead nowhere; what has no place there stays where it was.
    let kept = (field.to.is_empty() || field.to.contains('.')).then(|| value.clone());
    let moved = document.put(&field.to, value);
    if let (Err(_), Some(kept)) = (&moved, kept) {
        document.put(&field.from, kept)?;
    }
    moved
}

/// The members of the document, or of the object at a path in it.
fn members_at<'d>(
    document: &'d mut Document,
    path: Option<&str>,
) -> Option<&'d mut Map<String, Value>> {
    let at = match path {
        None => Some(&mut document.source),
        Some(path) => document
            .source
            .pointer_mut(&format!("/{}", path.replace('.', "/"))),
    };
    at.and_then(Value::as_object_mut)
}

/// Turns a member with dots in its name into members of members.
fn expand(field: &str, path: Option<&str>, document: &mut Document) -> Result<(), Failure> {
    let whole = match path {
        Some(path) if !document.has(path) => return Err(document.absent(path)),
        Some(path) => format!("{path}.{field}"),
        None => field.to_string(),
    };
    let taken = members_at(document, path).and_then(|members| members.remove(field));
    let Some(value) = taken else {
        return Ok(());
    };
    let Some(before) = document.get(&whole) else {
        let mut parts = whole.match_indices('.').map(|(at, _)| &whole[..at]);
        let in_the_way = parts.find(|part| {
            let inner = document.source_at(part);
            inner.is_some_and(|inner| !inner.is_object())
        });
        let Some(part) = in_the_way else {
            return document.set(&whole, value);
        };
        if let Some(members) = members_at(document, path) {
            members.insert(field.to_string(), value);
        }
        return Err(Failure::unfit(format!(
            "cannot expend [{whole}], because [{part}] is not an object field, but a value field"
        )));
    };
    let mut items = match before {
        Value::Array(items) => items,
        one => vec![one],
    };
    match value {
        Value::Array(more) => items.extend(more),
        one => items.push(one),
    }
    document.set(&whole, Value::Array(items))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_values_are_told_apart_as_few_are() {
        let there = [json!({"a": 1, "b": [2]}), json!("x"), json!(1)];
        let values = [
            json!({"b": [2], "a": 1}),
            json!("x"),
            json!("y"),
            json!("y"),
            json!(1.0),
            json!("1"),
            json!(["1"]),
            json!(null),
            json!([1]),
            json!(null),
        ];
        let few: Vec<Value> = values.iter().fold(Vec::new(), |mut others_so_far, value| {
            let all = [&there[..], &others_so_far[..]].concat();
            others_so_far.extend(others(&all, vec![value.clone()]));
            others_so_far
        });
        assert_eq!(others(&there, values.to_vec()), few);
        assert_eq!(few.len(), 6);
    }
}

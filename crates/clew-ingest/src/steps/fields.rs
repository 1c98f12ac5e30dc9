//! Steps that move, copy, order and remove whole fields.

use std::cmp::Ordering;

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::{DefinitionError, Failure, FailureKind, wrong_type};
use crate::java::{self, class};
use crate::members::{flag, one_or_more, optional, template, text};
use crate::template::Template;

/// What a pattern of names must not have in it, in the order in which reasons tell it.
const NOT_IN_PATTERNS: [char; 9] = [' ', '"', '*', '\\', '<', '|', ',', '>', '/'];

/// `copy`: one field's value in another place too.
#[derive(Debug)]
pub(crate) struct Copied {
    from: Template,
    to: Template,
    pub(crate) ignore_missing: bool,
    pub(crate) replace: bool,
    pub(crate) remove: bool,
}

impl Copied {
    /// From where to where, if that is the same for every document.
    pub(crate) fn paths(&self) -> Option<(&str, &str)> {
        Some((self.from.text()?, self.to.text()?))
    }

    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        Ok(Copied {
            from: template(&text(config, "source_field")?)?,
            to: template(&text(config, "target_field")?)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
            replace: flag(config, "override_target", false)?,
            remove: flag(config, "remove_source", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let from = document.fill(&self.from)?;
        let found = document.get(&from).filter(|_| !from.is_empty());
        if found.is_none() && self.ignore_missing {
            return Ok(());
        }
        if from.is_empty() {
            return Err(Failure::unfit("source field path cannot be null nor empty"));
        }
        let value =
            found.ok_or_else(|| Failure::unfit(format!("source field [{from}] doesn't exist")))?;
        let to = document.fill(&self.to)?;
        if to.is_empty() {
            return Err(Failure::unfit("target field path cannot be null nor empty"));
        }
        if from == to {
            return Err(Failure::unfit(
                "source field path and target field path cannot be same",
            ));
        }
        if document.get(&to).is_some() && !self.replace {
            return Err(Failure::unfit(format!(
                "target field [{to}] already exists"
            )));
        }
        document.set(&to, value)?;
        if self.remove {
            document.remove(&from);
        }
        Ok(())
    }
}

/// `remove`: some fields, or all but some.
#[derive(Debug)]
pub(crate) struct Removed {
    fields: Vec<Template>,
    all_but: Option<Vec<Template>>,
    pub(crate) ignore_missing: bool,
}

impl Removed {
    /// The fields, if they are the same for every document, and whether it is they that stay.
    pub(crate) fn paths(&self) -> Option<(Vec<&str>, bool)> {
        let (fields, are_kept) = match &self.all_but {
            Some(kept) => (kept, true),
            None => (&self.fields, false),
        };
        let paths: Option<Vec<&str>> = fields.iter().map(Template::text).collect();
        paths.map(|paths| (paths, are_kept))
    }

    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let templates = |names: Vec<String>| names.iter().map(|name| template(name)).collect();
        let fields = one_or_more(config, "field")?;
        let all_but = one_or_more(config, "exclude_field")?;
        if fields.is_some() == all_but.is_some() {
            return Err(DefinitionError::refused(
                "field",
                "either field or exclude_field must be set",
            ));
        }
        Ok(Removed {
            fields: templates(fields.unwrap_or_default())?,
            all_but: all_but.map(templates).transpose()?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        for field in &self.fields {
            let path = document.fill(field)?;
            if path.is_empty() && !self.ignore_missing {
                return Err(Failure::unfit("field path cannot be null nor empty"));
            }
            if path == "_index" {
                return Err(Failure::unfit(format!(
                    "cannot remove metadata field [{path}]"
                )));
            }
            if document.remove(&path).is_none() && !self.ignore_missing {
                return Err(Failure::unfit(format!("field [{path}] doesn't exist")));
            }
        }
        if let Some(kept) = &self.all_but {
            let kept = kept.iter().map(|field| document.fill(field));
            let kept = kept.collect::<Result<Vec<String>, _>>()?;
            document.retain(|name| kept.iter().any(|one| one == name));
        }
        Ok(())
    }
}

/// `remove_by_pattern`: the fields of the document itself whose names are like one of the patterns, or like none.
#[derive(Debug)]
pub(crate) struct RemovedByPattern {
    patterns: Vec<String>,
    keep: bool,
}

impl RemovedByPattern {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let removed = one_or_more(config, "field_pattern")?;
        let kept = one_or_more(config, "exclude_field_pattern")?;
        let (key, patterns, keep) = match (removed, kept) {
            (Some(patterns), None) => ("field_pattern", patterns, false),
            (None, Some(patterns)) => ("exclude_field_pattern", patterns, true),
            _ => {
                return Err(DefinitionError::refused(
                    "field_pattern",
                    "either field_pattern or exclude_field_pattern must be set",
                ));
            }
        };
        let wrong: Vec<String> = patterns
            .iter()
            .flat_map(|pattern| wrong_in_pattern(key, pattern))
            .collect();
        if !wrong.is_empty() {
            let told = (1..).zip(&wrong);
            let told: String = told.map(|(at, one)| format!("{at}: {one};")).collect();
            return Err(DefinitionError::refused(
                key,
                format!("Validation Failed: {told}"),
            ));
        }
        config.remove("ignore_missing");
        Ok(RemovedByPattern { patterns, keep })
    }

    pub(crate) fn apply(&self, document: &mut Document) {
        document.retain(|name| {
            let like = |pattern: &String| glob(pattern, name);
            self.patterns.iter().any(like) == self.keep
        });
    }
}

/// What a pattern must not have.
fn wrong_in_pattern(key: &str, pattern: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if pattern.contains('#') {
        wrong.push(format!("{key} [{pattern}] must not contain a '#'"));
    }
    if pattern.contains(':') {
        wrong.push(format!("{key} [{pattern}] must not contain a ':'"));
    }
    if pattern.starts_with('_') {
        wrong.push(format!("{key} [{pattern}] must not start with '_'"));
    }
    if pattern
        .contains(|letter| letter == '?' || (letter != '*' && NOT_IN_PATTERNS.contains(&letter)))
    {
        let listed: String = NOT_IN_PATTERNS.map(|letter| format!("{letter}, ")).concat();
        wrong.push(format!(
            "{key} [{pattern}] must not contain the following characters [{listed}?]"
        ));
    }
    wrong
}

/// `sort`: the items of a list in their order.
#[derive(Debug)]
pub(crate) struct Sorted {
    field: String,
    to: String,
    descending: bool,
}

impl Sorted {
    pub(crate) fn parse(config: &mut Map<String, Value>) -> Result<Self, DefinitionError> {
        let field = text(config, "field")?;
        let to = optional(config, "target_field")?.unwrap_or_else(|| field.clone());
        let descending = match optional(config, "order")?.as_deref() {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(other) => {
                return Err(DefinitionError::refused(
                    "order",
                    format!(
                        "Sort direction [{other}] not recognized. Valid values are: [asc, desc]"
                    ),
                ));
            }
        };
        Ok(Sorted {
            field,
            to,
            descending,
        })
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let mut items = match document.require(&self.field)? {
            Value::Array(items) => items,
            Value::Null => {
                return Err(Failure::unfit(format!(
                    "field [{}] is null, cannot sort.",
                    self.field
                )));
            }
            other => return Err(wrong_type(&self.field, &other, java::LIST)),
        };
        if let [first @ (Value::Array(_) | Value::Object(_)), _, ..] = items.as_slice() {
            return Err(Failure {
                kind: FailureKind::MixedTypes,
                ..Failure::unfit(format!(
                    "class {} cannot be cast to class java.lang.Comparable",
                    class(first)
                ))
            });
        }
        if let Some(other) = items.iter().find(|item| class(item) != class(&items[0])) {
            return Err(Failure {
                kind: FailureKind::MixedTypes,
                ..Failure::unfit(format!(
                    "class {} cannot be cast to class {}",
                    class(&items[0]),
                    class(other)
                ))
            });
        }
        items.sort_by(|one, other| {
            let order = ordered(one, other);
            if self.descending {
                order.reverse()
            } else {
                order
            }
        });
        document.set(&self.to, Value::Array(items))
    }
}

/// The order of two values of one kind.
fn ordered(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        // By UTF-16 units, as Java compares.
        (Value::String(one), Value::String(other)) => one.encode_utf16().cmp(other.encode_utf16()),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => {
                let float = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
                float(one).total_cmp(&float(other))
            }
        },
        _ => Ordering::Equal,
    }
}

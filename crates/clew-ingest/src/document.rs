//! A document on its way through pipelines: its source and what goes with it, reached by paths.

use serde_json::{Map, Value, json};

use crate::error::{Failure, FailureKind};
use crate::java::class;
use crate::template::{Escape, Template, lookup, plain};

/// Values inside each other that a path may make.
const PATH_PARTS_MAX: usize = 100;

/// A document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it goes.
    pub index: String,
    /// Its id, unless it is yet to get one.
    pub id: Option<String>,
    /// What it is routed by, unless that is its id.
    pub routing: Option<String>,
    /// What it says.
    pub source: Value,
    /// `_ingest`: when it came in, and what failed.
    pub(crate) ingest: Map<String, Value>,
}

impl Document {
    /// A document that came in at a time, in milliseconds since the epoch, without id and routing.
    pub fn new(index: impl Into<String>, source: Value, came_ms: i64) -> Self {
        let came = clew_schema::DateFormat::default().format_millis(came_ms);
        let mut ingest = Map::new();
        ingest.insert("timestamp".to_string(), came.into());
        Document {
            index: index.into(),
            id: None,
            routing: None,
            source,
            ingest,
        }
    }

    /// When it came in, as its steps see it: `_ingest.timestamp`.
    pub fn came(&self) -> Option<&Value> {
        self.ingest.get("timestamp")
    }

    /// The value at a path.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        match path {
            "_index" => return Some(self.index.clone().into()),
            "_id" => return self.id.clone().map(Value::from),
            "_routing" => return self.routing.clone().map(Value::from),
            _ => {}
        }
        if let Some(rest) = path.strip_prefix("_ingest.") {
            let all = Value::Object(self.ingest.clone());
            return lookup(&all, rest).cloned();
        }
        let path = path.strip_prefix("_source.").unwrap_or(path);
        lookup(&self.source, path).cloned()
    }

    /// The value at a path that must be there.
    pub(crate) fn require(&self, path: &str) -> Result<Value, Failure> {
        self.get(path).ok_or_else(|| self.absent(path))
    }

    /// What is said about a path that leads nowhere: where it ended.
    pub(crate) fn absent(&self, path: &str) -> Failure {
        if path.is_empty() {
            return Failure::unfit("path cannot be null nor empty");
        }
        let ingest = Value::Object(self.ingest.clone());
        let (mut at, steps) = match path.strip_prefix("_ingest.") {
            Some(rest) => (&ingest, rest),
            None => (&self.source, path.strip_prefix("_source.").unwrap_or(path)),
        };
        for name in steps.split('.') {
            let inner = match at {
                Value::Object(members) => members.get(name).ok_or_else(|| missing(name, path)),
                Value::Array(items) => item(items.len(), name, path).map(|number| &items[number]),
                Value::Null => Err(Failure::unfit(format!(
                    "cannot resolve [{name}] from null as part of path [{path}]"
                ))),
                other => Err(Failure::unfit(format!(
                    "cannot resolve [{name}] from object of type [{}] as part of path [{path}]",
                    class(other)
                ))),
            };
            match inner {
                Ok(inner) => at = inner,
                Err(failure) => return failure,
            }
        }
        missing(steps, path)
    }

    /// The names of the members of the source.
    pub(crate) fn names(&self) -> Vec<String> {
        let members = self.source.as_object();
        members.map_or_else(Vec::new, |members| members.keys().cloned().collect())
    }

    /// Keeps the members of the source whose names are wanted.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if let Value::Object(members) = &mut self.source {
            members.retain(|name, _| wanted(name));
        }
    }

    /// Sets the value at a path; objects on the way are made.
    pub(crate) fn set(&mut self, path: &str, value: Value) -> Result<(), Failure> {
        let text = || match &value {
            Value::Null => None,
            other => Some(plain(other)),
        };
        match path {
            "_index" => self.index = text().unwrap_or_default(),
            "_id" => self.id = text(),
            "_routing" => self.routing = text(),
            _ => {
                if let Some(rest) = path.strip_prefix("_ingest.") {
                    let mut all = Value::Object(std::mem::take(&mut self.ingest));
                    let done = put(&mut all, rest, value);
                    if let Value::Object(members) = all {
                        self.ingest = members;
                    }
                    return done;
                }
                let path = path.strip_prefix("_source.").unwrap_or(path);
                if path.split('.').count() > PATH_PARTS_MAX {
                    return Err(Failure::unfit(format!("path [{path}] is too deep")));
                }
                put(&mut self.source, path, value)?;
            }
        }
        Ok(())
    }

    /// Takes the value at a path away.
    pub(crate) fn remove(&mut self, path: &str) -> Option<Value> {
        match path {
            "_routing" => return self.routing.take().map(Value::from),
            "_id" => return self.id.take().map(Value::from),
            _ => {}
        }
        if let Some(rest) = path.strip_prefix("_ingest.") {
            let mut all = Value::Object(std::mem::take(&mut self.ingest));
            let taken = take(&mut all, rest);
            if let Value::Object(members) = all {
                self.ingest = members;
            }
            return taken;
        }
        let path = path.strip_prefix("_source.").unwrap_or(path);
        take(&mut self.source, path)
    }

    /// A template filled with the document.
    pub(crate) fn fill(&self, template: &Template) -> Result<String, Failure> {
        if template.is_text() {
            return template
                .render(&Value::Null, Escape::Plain)
                .map_err(Failure::unfit);
        }
        let mut all = self.source.clone();
        if let Value::Object(members) = &mut all {
            members.insert("_source".to_string(), self.source.clone());
            members.insert("_ingest".to_string(), Value::Object(self.ingest.clone()));
            members.insert("_index".to_string(), self.index.clone().into());
            members.insert("_id".to_string(), json!(self.id));
            members.insert("_routing".to_string(), json!(self.routing));
        }
        template.render(&all, Escape::Plain).map_err(Failure::unfit)
    }
}

fn missing(name: &str, path: &str) -> Failure {
    Failure::unfit(format!(
        "field [{name}] not present as part of path [{path}]"
    ))
}

/// The number of an item of a list, as a path names it.
fn item(length: usize, name: &str, path: &str) -> Result<usize, Failure> {
    let number: usize = name.parse().map_err(|_| {
        let reason = format!(
            "[{name}] is not an integer, cannot be used as an index as part of path [{path}]"
        );
        Failure::no_number(reason, name)
    })?;
    if number >= length {
        return Err(Failure {
            kind: FailureKind::OutOfBounds,
            ..Failure::unfit(format!(
                "[{number}] is out of bounds for array with length [{length}] as part of path \
                 [{path}]"
            ))
        });
    }
    Ok(number)
}

fn put(at: &mut Value, path: &str, value: Value) -> Result<(), Failure> {
    put_at(at, path, path, value)
}

fn put_at(at: &mut Value, path: &str, whole: &str, value: Value) -> Result<(), Failure> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let place = match at {
        Value::Object(members) => members.entry(name).or_insert(Value::Null),
        Value::Array(items) => {
            let number = item(items.len(), name, whole)?;
            &mut items[number]
        }
        other => {
            return Err(Failure::unfit(format!(
                "cannot set [{name}] with parent object of type [{}] as part of path [{whole}]",
                class(other)
            )));
        }
    };
    match rest {
        None => {
            *place = value;
            Ok(())
        }
        Some(rest) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            put_at(place, rest, whole, value)
        }
    }
}

fn take(at: &mut Value, path: &str) -> Option<Value> {
    match at {
        Value::Object(members) => {
            if members.contains_key(path) {
                return members.remove(path);
            }
            let (name, rest) = path.split_once('.')?;
            take(members.get_mut(name)?, rest)
        }
        Value::Array(items) => match path.split_once('.') {
            Some((name, rest)) => take(items.get_mut(name.parse::<usize>().ok()?)?, rest),
            None => {
                let number = path.parse::<usize>().ok()?;
                (number < items.len()).then(|| items.remove(number))
            }
        },
        _ => None,
    }
}

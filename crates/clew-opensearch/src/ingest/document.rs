//! A document on its way through pipelines: its source and what goes with it, reached by paths.

use serde_json::{Map, Value, json};

use super::Failure;
use crate::http::mustache::{Escape, Template};

/// Values inside each other that a path may make.
const PATH_PARTS_MAX: usize = 100;

/// A document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) index: String,
    pub(crate) id: Option<String>,
    pub(crate) routing: Option<String>,
    pub(crate) source: Value,
    /// `_ingest`: when it came in, and what failed.
    pub(super) ingest: Map<String, Value>,
}

impl Document {
    pub(crate) fn new(
        index: String,
        id: Option<String>,
        routing: Option<String>,
        source: Value,
    ) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
        let now = clew_schema::DateFormat::default().format_millis(now);
        let mut ingest = Map::new();
        ingest.insert("timestamp".to_string(), now.into());
        Document {
            index,
            id,
            routing,
            source,
            ingest,
        }
    }

    /// The value at a path.
    pub(super) fn get(&self, path: &str) -> Option<Value> {
        match path {
            "_index" => return Some(self.index.clone().into()),
            "_id" => return self.id.clone().map(Value::from),
            "_routing" => return self.routing.clone().map(Value::from),
            _ => {}
        }
        if let Some(rest) = path.strip_prefix("_ingest.") {
            let all = Value::Object(self.ingest.clone());
            return crate::http::mustache::lookup(&all, rest).cloned();
        }
        let path = path.strip_prefix("_source.").unwrap_or(path);
        crate::http::mustache::lookup(&self.source, path).cloned()
    }

    /// The value at a path that must be there.
    pub(super) fn require(&self, path: &str) -> Result<Value, Failure> {
        self.get(path).ok_or_else(|| self.absent(path))
    }

    /// What is said about a path that leads nowhere: where it ended.
    pub(super) fn absent(&self, path: &str) -> Failure {
        if path.is_empty() {
            return Failure::illegal("path cannot be null nor empty");
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
                Value::Null => Err(Failure::illegal(format!(
                    "cannot resolve [{name}] from null as part of path [{path}]"
                ))),
                other => Err(Failure::illegal(format!(
                    "cannot resolve [{name}] from object of type [{}] as part of path [{path}]",
                    super::values::class(other)
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
    pub(super) fn names(&self) -> Vec<String> {
        let members = self.source.as_object();
        members.map_or_else(Vec::new, |members| members.keys().cloned().collect())
    }

    /// Keeps the members of the source whose names are wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        if let Value::Object(members) = &mut self.source {
            members.retain(|name, _| wanted(name));
        }
    }

    /// Sets the value at a path; objects on the way are made.
    pub(super) fn set(&mut self, path: &str, value: Value) -> Result<(), Failure> {
        let text = || match &value {
            Value::Null => None,
            other => Some(crate::http::mustache::plain(other)),
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
                    return Err(Failure::illegal(format!("path [{path}] is too deep")));
                }
                put(&mut self.source, path, value)?;
            }
        }
        Ok(())
    }

    /// Takes the value at a path away.
    pub(super) fn remove(&mut self, path: &str) -> Option<Value> {
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
    pub(super) fn fill(&self, template: &Template) -> Result<String, Failure> {
        if template.is_text() {
            return template
                .render(&Value::Null, Escape::Plain)
                .map_err(Failure::illegal);
        }
        let mut all = self.source.clone();
        if let Value::Object(members) = &mut all {
            members.insert("_source".to_string(), self.source.clone());
            members.insert("_ingest".to_string(), Value::Object(self.ingest.clone()));
            members.insert("_index".to_string(), self.index.clone().into());
            members.insert("_id".to_string(), json!(self.id));
            members.insert("_routing".to_string(), json!(self.routing));
        }
        template
            .render(&all, Escape::Plain)
            .map_err(Failure::illegal)
    }
}

fn missing(name: &str, path: &str) -> Failure {
    Failure::illegal(format!(
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
        return Err(Failure::illegal(format!(
            "[{number}] is out of bounds for array with length [{length}] as part of path [{path}]"
        )));
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
            return Err(Failure::illegal(format!(
                "cannot set [{name}] with parent object of type [{}] as part of path [{whole}]",
                super::values::class(other)
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

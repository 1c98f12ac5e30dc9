//! A document on its way through pipelines: its source and what goes with it, reached by paths.

use clew_schema::json_value_bytes;
use serde_json::{Map, Value, json};

use crate::error::{Failure, FailureKind};
use crate::java::class;
use crate::template::{Escape, Template, lookup, plain};

/// Values inside each other that a path may make.
const PATH_PARTS_MAX: usize = 100;

/// Memory that what steps set in one document may take, all together, in bytes: steps that copy what others copied double it
/// each time.
const SET_BYTES_MAX: usize = 64 << 20;

/// What a document may say of the state that the one in its place must be in.
pub const CONDITIONS: [&str; 4] = [
    "_version",
    "_version_type",
    "_if_seq_no",
    "_if_primary_term",
];

/// A document.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where it goes.
    pub index: String,
    /// Its id, unless it is yet to get one.
    pub id: Option<String>,
    /// What it is routed by, unless that is its id.
    pub routing: Option<String>,
    /// Those of [`CONDITIONS`] that are known; none of them is null.
    pub conditions: Map<String, Value>,
    /// What it says.
    pub source: Value,
    /// `_ingest`: when it came in, and what failed.
    pub(crate) ingest: Map<String, Value>,
    /// Bytes that steps have set so far.
    set_bytes: usize,
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
            conditions: Map::new(),
            source,
            ingest,
            set_bytes: 0,
        }
    }

    /// Takes members of the source away that have the names of what goes with a document, which stands there for its steps. A
    /// routing key that the source alone has is the document's.
    pub fn take_metadata(&mut self) {
        let Value::Object(members) = &mut self.source else {
            return;
        };
        for name in ["_index", "_id", "_version", "_version_type"] {
            members.shift_remove(name);
        }
        let key = members.shift_remove("_routing");
        let key = key.filter(|key| !key.is_null());
        self.routing = self.routing.take().or_else(|| key.as_ref().map(plain));
    }

    /// Bytes that its steps have set in it, also of what others replaced later.
    pub fn set_bytes(&self) -> usize {
        self.set_bytes
    }

    /// When it came in, as its steps see it: `_ingest.timestamp`.
    pub fn came(&self) -> Option<&Value> {
        self.ingest.get("timestamp")
    }

    /// What is said about it while it is worked on: when it came in, what failed, and what steps have set in `_ingest`.
    pub fn about(&self) -> &Map<String, Value> {
        &self.ingest
    }

    /// The value at a path.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        match path {
            "_index" => return Some(self.index.clone().into()),
            "_id" => return self.id.clone().map(Value::from),
            "_routing" => return self.routing.clone().map(Value::from),
            name if CONDITIONS.contains(&name) => return self.conditions.get(name).cloned(),
            _ => {}
        }
        if let Some(rest) = path.strip_prefix("_ingest.") {
            let inner = |path: &str| {
                let (first, rest) = path.split_once('.')?;
                lookup(self.ingest.get(first)?, rest)
            };
            return self.ingest.get(rest).or_else(|| inner(rest)).cloned();
        }
        let path = path.strip_prefix("_source.").unwrap_or(path);
        lookup(&self.source, path).cloned()
    }

    /// Whether there is a value at a path.
    pub(crate) fn has(&self, path: &str) -> bool {
        match path {
            "_index" => true,
            "_id" => self.id.is_some(),
            "_routing" => self.routing.is_some(),
            name if CONDITIONS.contains(&name) => self.conditions.contains_key(name),
            _ if path.starts_with("_ingest.") => self.get(path).is_some(),
            _ => {
                let path = path.strip_prefix("_source.").unwrap_or(path);
                lookup(&self.source, path).is_some()
            }
        }
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

    /// Sets the value at a path; objects on the way are made. Costs a look at the whole value.
    pub(crate) fn set(&mut self, path: &str, value: Value) -> Result<(), Failure> {
        self.count(&value)?;
        self.put(path, value)
    }

    /// Adds values to the list at a path, behind what stands there otherwise; where nothing does, the list is made. Costs
    /// the values, not the list.
    pub(crate) fn push(&mut self, path: &str, values: Vec<Value>) -> Result<(), Failure> {
        for value in &values {
            self.count(value)?;
        }
        if let Some(Value::Array(items)) = self.source_at(path) {
            items.extend(values);
            return Ok(());
        }
        let mut items = match self.get(path) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        items.extend(values);
        self.put(path, Value::Array(items))
    }

    /// What is at a path of the source, where putting a value there would replace it.
    pub(crate) fn source_at(&mut self, path: &str) -> Option<&mut Value> {
        let is_beside = matches!(path, "_index" | "_id" | "_routing") || CONDITIONS.contains(&path);
        if is_beside || path.starts_with("_ingest.") {
            return None;
        }
        let path = path.strip_prefix("_source.").unwrap_or(path);
        lookup_mut(&mut self.source, path)
    }

    /// Counts what a step sets.
    pub(crate) fn count(&mut self, value: &Value) -> Result<(), Failure> {
        let bytes = size_of::<Value>().saturating_add(json_value_bytes(value));
        self.set_bytes = self.set_bytes.saturating_add(bytes);
        if self.set_bytes <= SET_BYTES_MAX {
            return Ok(());
        }
        Err(Failure::unfit(format!(
            "the processors of a document may set [{SET_BYTES_MAX}] bytes in it, this would be [{}]",
            self.set_bytes
        )))
    }

    /// Puts a value that is there already elsewhere, or that was counted.
    pub(crate) fn put(&mut self, path: &str, value: Value) -> Result<(), Failure> {
        let text = || match &value {
            Value::Null => None,
            other => Some(plain(other)),
        };
        match path {
            "" => return Err(Failure::unfit("path cannot be null nor empty")),
            "_index" => self.index = text().unwrap_or_default(),
            "_id" => self.id = text(),
            "_routing" => self.routing = text(),
            name if CONDITIONS.contains(&name) => self.set_condition(name, value),
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

    /// Says one of [`CONDITIONS`]; null takes it away.
    pub fn set_condition(&mut self, name: &str, value: Value) {
        match value {
            Value::Null => drop(self.conditions.shift_remove(name)),
            value => drop(self.conditions.insert(name.to_string(), value)),
        }
    }

    /// Takes the value at a path away.
    pub(crate) fn remove(&mut self, path: &str) -> Option<Value> {
        match path {
            "_routing" => return self.routing.take().map(Value::from),
            "_id" => return self.id.take().map(Value::from),
            name if CONDITIONS.contains(&name) => return self.conditions.shift_remove(name),
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
        let mut beside = json!({
            "_ingest": self.ingest,
            "_index": self.index,
            "_id": self.id,
            "_routing": self.routing,
        });
        if let Value::Object(members) = &mut beside {
            members.extend(self.conditions.clone());
        }
        template
            .render_beside(&self.source, &beside)
            .map_err(Failure::unfit)
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

/// The value that [`put`] would put another one in the place of, if [`lookup`] finds the same.
fn lookup_mut<'a>(at: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let (name, rest) = match path.split_once('.') {
        Some(_) if has(at, path) => return None,
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let inner = match at {
        Value::Object(members) => members.get_mut(name),
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    }?;
    match rest {
        None => Some(inner),
        Some(rest) => lookup_mut(inner, rest),
    }
}

fn has(value: &Value, name: &str) -> bool {
    value
        .as_object()
        .is_some_and(|members| members.contains_key(name))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn document(source: Value) -> Document {
        Document::new("index", source, 0)
    }

    #[test]
    fn values_are_added_where_lists_stand() {
        let mut document = document(json!({"list": [1], "one": 1, "in": {"list": []}}));
        for path in ["list", "one", "in.list", "none", "_ingest.list"] {
            document.push(path, vec![2.into()]).unwrap();
            document.push(path, vec![3.into()]).unwrap();
        }
        assert_eq!(
            document.source,
            json!({
                "list": [1, 2, 3], "one": [1, 2, 3], "in": {"list": [2, 3]}, "none": [2, 3],
            })
        );
        assert_eq!(document.get("_ingest.list"), Some(json!([2, 3])));
    }

    #[test]
    fn a_value_that_is_added_counts_alone() {
        let mut document = document(json!({"list": []}));
        for _ in 0..1000 {
            document.push("list", vec!["a".into()]).unwrap();
        }
        let one_bytes = size_of::<Value>() + json_value_bytes(&"a".into());
        assert_eq!(document.set_bytes, 1000 * one_bytes);
    }

    #[test]
    fn what_doubles_with_each_step_is_refused() {
        let mut document = document(json!({"f0": "a".repeat(1 << 20)}));
        let failed = (1..100).find_map(|step| {
            let before = document.get(&format!("f{}", step - 1))?;
            let both = Value::Array(vec![before.clone(), before]);
            document.set(&format!("f{step}"), both).err()
        });
        let reason = failed.unwrap().to_string();
        assert!(reason.contains("[67108864] bytes"), "{reason}");
        assert!(document.names().len() < 10);
        // Objects take far more than the texts in them.
        let mut document = self::document(json!({"o": {"x": 1}}));
        let copies = (0..40).take_while(|copy| {
            let before = document.get("o").unwrap();
            document.set(&format!("o.c{copy}"), before).is_ok()
        });
        assert!(copies.count() < 20);
    }

    #[test]
    fn conditions_stand_beside_the_source() {
        let mut document = document(json!({"a": 1}));
        document.set("_version", 3.into()).unwrap();
        document.set("_version_type", "external".into()).unwrap();
        assert_eq!(document.source, json!({"a": 1}));
        assert_eq!(document.get("_version"), Some(3.into()));
        let template = Template::parse("{{_version}} {{_version_type}}").unwrap();
        assert_eq!(document.fill(&template).unwrap(), "3 external");
        assert_eq!(document.remove("_version"), Some(3.into()));
        assert!(!document.has("_version") && document.has("_version_type"));
    }

    #[test]
    fn templates_see_what_is_beside_the_source() {
        let mut document = document(json!({"a": "x", "in": {"b": "y"}, "list": [{"a": "z"}, {}]}));
        document.id = Some("1".to_string());
        for (template, expected) in [
            ("{{a}} {{_source.in.b}} {{_id}} {{_index}}", "x y 1 index"),
            ("{{#list}}{{a}}{{_id}}{{_source.a}} {{/list}}", "z1x x1x "),
            ("{{#_source}}{{in.b}}{{/_source}}{{_routing}}", "y"),
        ] {
            let template = Template::parse(template).unwrap();
            assert_eq!(document.fill(&template).unwrap(), expected);
        }
    }
}

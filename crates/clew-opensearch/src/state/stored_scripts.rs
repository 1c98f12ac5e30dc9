//! Scripts that are kept by name. Who reads a script of a search asks for it by its name; in pipelines, whose scripts are read
//! further below, they are put in the places of those that name them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::Engine;
use serde_json::{Map, Value};

use crate::http::error::{ApiError, Cause};

/// What they are kept as.
pub(crate) const KIND: &str = "script";

/// Members of pipelines whose values are scripts.
const PLACES: [&str; 2] = ["script", "if"];
/// Members of pipelines that hold documents, or what scripts are given: nothing in them is a script.
const DATA: [&str; 3] = ["docs", "params", "value"];
/// What may stand beside the name of a kept script, in a step of a pipeline as well.
const BESIDE: [&str; 7] = [
    "params",
    "options",
    "tag",
    "description",
    "if",
    "ignore_failure",
    "on_failure",
];

/// A kept script, with `lang` and `source`.
pub(crate) fn find(engine: &Engine, id: &str) -> Option<Value> {
    engine.with_definitions(|all| all.get(KIND, id).cloned())
}

/// The error of a name that no script has.
pub(crate) fn missing(id: &str) -> ApiError {
    let cause = Cause::new("resource_not_found_exception", reason_missing(id));
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

fn reason_missing(id: &str) -> String {
    format!("unable to find script [{id}] in cluster state")
}

thread_local! {
    /// Bodies that are being read on this thread, the innermost last.
    static READING: RefCell<Vec<Reading>> = const { RefCell::new(Vec::new()) };
}

/// A body that is being read.
struct Reading {
    engine: Engine,
    /// The first name in it that no script has.
    missing: Option<String>,
}

/// Ends the reading of the innermost body.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        READING.with_borrow_mut(|all| all.pop());
    }
}

/// Reads a body, or a part of one, whose scripts may be named: their reader finds those that are kept, wherever they stand.
///
/// # Errors
/// A name that no script has; else those of the reader.
pub(crate) fn reading<T, E: Into<ApiError>>(
    engine: &Engine,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<T, ApiError> {
    let begun = Reading {
        engine: engine.clone(),
        missing: None,
    };
    READING.with_borrow_mut(|all| all.push(begun));
    let ends = Ends;
    let done = read();
    let absent = READING.with_borrow_mut(|all| all.last_mut()?.missing.take());
    drop(ends);
    match absent {
        Some(id) => Err(missing(&id)),
        None => done.map_err(Into::into),
    }
}

/// The kept script of a name, with `lang` and `source`, for the body that is being read; none where there is no such body,
/// or no such script, which its reader is told at the end.
pub(crate) fn named_in_body(id: &str) -> Option<Value> {
    let engine = READING.with_borrow(|all| Some(all.last()?.engine.clone()))?;
    let found = find(&engine, id);
    if found.is_none() {
        READING.with_borrow_mut(|all| {
            if let Some(reading) = all.last_mut() {
                reading.missing.get_or_insert_with(|| id.to_string());
            }
        });
    }
    found
}

/// Puts the kept script in the place of one that names it, for the body that is being read.
pub(crate) fn fill_in_body(script: &mut Map<String, Value>) {
    let id = script.get("id").and_then(Value::as_str);
    if let Some(kept) = id.and_then(named_in_body) {
        script.remove("id");
        put_all(script, &kept);
    }
}

/// Puts kept scripts in the places of a pipeline that name them; those without any are only gone through.
///
/// # Errors
/// A name that no script has.
pub(crate) fn fill(engine: &Engine, body: &mut Value) -> Result<(), ApiError> {
    if !has_any(body) {
        return Ok(());
    }
    StoredScripts::now(engine).fill_all(body)
}

fn has_any(body: &Value) -> bool {
    match body {
        Value::Array(items) => items.iter().any(has_any),
        Value::Object(members) => members.iter().any(|(name, value)| {
            let is_script = PLACES.contains(&name.as_str()) && named(value).is_some();
            is_script || !DATA.contains(&name.as_str()) && has_any(value)
        }),
        _ => false,
    }
}

/// The name of the kept script that a value stands for.
fn named(script: &Value) -> Option<&str> {
    let members = script.as_object()?;
    let mut others = members.keys().filter(|name| *name != "id");
    let is_name = others.all(|name| BESIDE.contains(&name.as_str()));
    members.get("id")?.as_str().filter(|_| is_name)
}

/// All kept scripts as they were at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredScripts(Arc<BTreeMap<String, Value>>);

impl StoredScripts {
    pub(crate) fn now(engine: &Engine) -> Self {
        let all = engine.with_definitions(|all| {
            let kept = all.of(KIND);
            let owned = kept.map(|(name, script)| (name.to_string(), script.clone()));
            owned.collect::<BTreeMap<_, _>>()
        });
        StoredScripts(Arc::new(all))
    }

    /// Those that a body of JSON may name: none where it has no script.
    pub(crate) fn for_body(engine: &Engine, body: &[u8]) -> Self {
        match memchr::memmem::find(body, b"\"script\"") {
            Some(_) => Self::now(engine),
            None => Self::default(),
        }
    }

    fn fill_all(&self, body: &mut Value) -> Result<(), ApiError> {
        match body {
            Value::Array(items) => items.iter_mut().try_for_each(|item| self.fill_all(item)),
            Value::Object(members) => members.iter_mut().try_for_each(|(name, value)| {
                if PLACES.contains(&name.as_str()) {
                    self.fill_one(value).map_err(|id| missing(&id))?;
                }
                if DATA.contains(&name.as_str()) {
                    return Ok(());
                }
                self.fill_all(value)
            }),
            _ => Ok(()),
        }
    }

    /// Puts a kept script in the place of a value that names it; the name is given back that no script has.
    fn fill_one(&self, script: &mut Value) -> Result<(), String> {
        let Some(id) = named(script).map(String::from) else {
            return Ok(());
        };
        let Some(kept) = self.0.get(&id) else {
            return Err(id);
        };
        if let Value::Object(members) = script {
            members.remove("id");
            put_all(members, kept);
        }
        Ok(())
    }

    /// The same of one script.
    ///
    /// # Errors
    /// The reason that there is no such script.
    pub(crate) fn put_into(&self, script: &mut Value) -> Result<(), String> {
        self.fill_one(script).map_err(|id| reason_missing(&id))
    }
}

fn put_all(members: &mut Map<String, Value>, kept: &Value) {
    for name in ["source", "lang"] {
        if let Some(value) = kept.get(name) {
            members.insert(name.to_string(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kept_scripts_take_the_places_of_their_names() {
        let kept = json!({"lang": "painless", "source": "1"});
        let all = StoredScripts(Arc::new(BTreeMap::from([("one".to_string(), kept)])));
        let mut body = json!({"processors": [
            {"script": {"id": "one", "params": {"a": 1}, "if": {"id": "one"}}},
            {"set": {"field": "f", "value": {"script": {"id": "two"}}}},
        ]});
        assert!(has_any(&body));
        all.fill_all(&mut body).unwrap();
        let script = &body["processors"][0]["script"];
        assert_eq!(script["source"], "1");
        assert_eq!(script["params"], json!({"a": 1}));
        assert_eq!(script["if"]["source"], "1");
        assert_eq!(body["processors"][1]["set"]["value"]["script"]["id"], "two");
        let documents = json!({"docs": [{"_source": {"script": {"id": "two"}}}]});
        assert!(!has_any(&documents));
        assert!(all.fill_all(&mut documents.clone()).is_ok());
        let error = all
            .fill_all(&mut json!({"script": {"id": "two"}}))
            .unwrap_err();
        assert_eq!(error.status(), StatusCode::NOT_FOUND);
    }
}

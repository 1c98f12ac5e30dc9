//! Scripts that are kept by name, and put in the places of those that name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::Engine;
use serde_json::{Map, Value};

use crate::http::error::{ApiError, Cause};

/// What they are kept as.
pub(crate) const KIND: &str = "script";

/// Members whose values are scripts.
const PLACES: [&str; 7] = [
    "script",
    "if",
    "minimum_should_match_script",
    "init_script",
    "map_script",
    "combine_script",
    "reduce_script",
];
/// Members that hold documents, or what scripts are given: nothing in them is a script.
const DATA: [&str; 9] = [
    "doc",
    "docs",
    "document",
    "documents",
    "like",
    "params",
    "unlike",
    "upsert",
    "value",
];
/// Members whose own members have names that somebody chose: what is named as data is none there.
const NAMED: [&str; 3] = ["aggregations", "aggs", "script_fields"];
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

/// Puts kept scripts in the places of a body that name them; bodies without any are only gone through.
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
            let is_inside = || match value {
                Value::Object(each) if NAMED.contains(&name.as_str()) => each.values().any(has_any),
                value => has_any(value),
            };
            is_script || !DATA.contains(&name.as_str()) && is_inside()
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
                match value {
                    Value::Object(each) if NAMED.contains(&name.as_str()) => {
                        each.values_mut().try_for_each(|one| self.fill_all(one))
                    }
                    value => self.fill_all(value),
                }
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
        let mut body = json!({
            "query": {"script_score": {"script": {"id": "one", "params": {"a": 1}}}},
            "other": {"terms": {"script": {"index": "i", "id": "one", "path": "p"}}},
        });
        assert!(has_any(&body));
        all.fill_all(&mut body).unwrap();
        let script = &body["query"]["script_score"]["script"];
        assert_eq!(
            *script,
            json!({"source": "1", "lang": "painless", "params": {"a": 1}})
        );
        assert_eq!(body["other"]["terms"]["script"]["id"], "one");
        let mut chosen = json!({"aggs": {"value": {"sum": {"script": {"id": "one"}}}}});
        assert!(has_any(&chosen));
        all.fill_all(&mut chosen).unwrap();
        assert_eq!(chosen["aggs"]["value"]["sum"]["script"]["source"], "1");
        let documents = json!({"percolate": {"document": {"script": {"id": "two"}}}});
        assert!(!has_any(&documents));
        assert!(all.fill_all(&mut documents.clone()).is_ok());
        let error = all
            .fill_all(&mut json!({"script": {"id": "two"}}))
            .unwrap_err();
        assert_eq!(error.status(), StatusCode::NOT_FOUND);
    }
}

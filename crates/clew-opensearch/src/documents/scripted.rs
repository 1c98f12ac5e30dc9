//! Writes by scripts: what a script sees of a document as `ctx`, and what it says that is to become of it.

use clew_engine::{Changed, DocumentChange, DocumentNow, EngineError};
use clew_query::{QueryError, Script, ScriptError, ScriptErrorKind, ScriptPurpose};
use serde_json::{Map, Value, json};

use crate::dsl::WrittenScript;
use crate::http::error::ApiError;
use crate::http::request_memory::RequestMemory;
use crate::state::stored_scripts::StoredScripts;

/// An update by a script.
#[derive(Debug)]
pub(crate) struct ScriptedUpdate {
    /// What is wrong with it is told once there is a document for it.
    script: Result<Script, ScriptError>,
    index: String,
    /// Whether the script makes the document where there is none, too.
    makes_new: bool,
    /// When it came, in milliseconds since the epoch, as scripts see it.
    now_ms: i64,
    /// Of its request.
    memory: RequestMemory,
}

/// What is around an update that its body does not say.
#[derive(Debug)]
pub(crate) struct Around<'a> {
    /// The index that is written to, by the name that the request has for it.
    pub(crate) index: &'a str,
    /// Scripts that bodies may name.
    pub(crate) stored: &'a StoredScripts,
    /// Milliseconds since the epoch.
    pub(crate) now_ms: i64,
    /// Of the request: scripts bring parameters of any size.
    pub(crate) memory: &'a RequestMemory,
}

impl ScriptedUpdate {
    /// Reads `script` of a body.
    ///
    /// # Errors
    /// When that is no script; one that is not understood is no error yet.
    pub(crate) fn read(
        mut script: Value,
        around: &Around<'_>,
        makes_new: bool,
    ) -> Result<Self, ApiError> {
        let index = around.index.to_string();
        if let Err(reason) = around.stored.put_into(&mut script) {
            return Ok(ScriptedUpdate {
                script: Err(ScriptError::new(ScriptErrorKind::Absent, reason)),
                index,
                makes_new,
                now_ms: around.now_ms,
                memory: around.memory.clone(),
            });
        }
        let written = WrittenScript::of("script", &script)?;
        Ok(ScriptedUpdate {
            script: written.understood(ScriptPurpose::Change),
            index,
            makes_new,
            now_ms: around.now_ms,
            memory: around.memory.clone(),
        })
    }

    /// What the script says is to be done, and the document as it leaves it.
    fn run(&self, context: &Value) -> Result<(String, Value), EngineError> {
        let script = self
            .script
            .as_ref()
            .map_err(|error| failed(error.clone()))?;
        let mut left = script.change(context, self.now_ms).map_err(failed)?;
        let op = match left.get("op") {
            Some(Value::String(op)) => op.clone(),
            _ => String::new(),
        };
        match left.get_mut("_source").map(Value::take) {
            Some(source @ Value::Object(_)) => Ok((op, source)),
            _ => {
                let reason = "ctx._source is not a map any more";
                let error = ScriptError::new(ScriptErrorKind::Cast, reason);
                Err(failed(error.of(script.source())))
            }
        }
    }
}

impl DocumentChange for ScriptedUpdate {
    fn change(
        &self,
        id: &str,
        there: Option<DocumentNow<'_>>,
        upsert: Option<&[u8]>,
    ) -> Result<Changed, EngineError> {
        let Some(there) = there else {
            let Some(upsert) = upsert else {
                return Ok(Changed::Missing);
            };
            if !self.makes_new {
                return Ok(Changed::Document(upsert.to_vec()));
            }
            let _trees = self.memory.hold_for_script(upsert)?;
            let mut context =
                json!({"op": "create", "_index": self.index, "_id": id, "_now": self.now_ms});
            context["_source"] = object(upsert)?;
            let (op, source) = self.run(&context)?;
            return Ok(match op.as_str() {
                "create" => Changed::Document(source.to_string().into_bytes()),
                // Whatever else it asks for cannot be done to what is not there.
                _ => Changed::Nothing,
            });
        };
        let _trees = self.memory.hold_for_script(there.source)?;
        let mut context = json!({
            "op": "index", "_index": self.index, "_id": id, "_version": there.version,
            "_routing": there.routing, "_now": self.now_ms,
        });
        context["_source"] = object(there.source)?;
        let (op, source) = self.run(&context)?;
        Ok(match op.as_str() {
            "index" => Changed::Document(source.to_string().into_bytes()),
            "delete" => Changed::Gone,
            _ => Changed::Nothing,
        })
    }
}

fn failed(error: ScriptError) -> EngineError {
    EngineError::Query(QueryError::Script(error))
}

fn object(source: &[u8]) -> Result<Value, EngineError> {
    let read = serde_json::from_slice::<Map<String, Value>>(source);
    let read = read.map_err(|error| EngineError::InvalidRequest {
        reason: error.to_string(),
    })?;
    Ok(Value::Object(read))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(source: &str, there: Option<&str>) -> Changed {
        let stored = StoredScripts::default();
        let around = Around {
            index: "i",
            stored: &stored,
            now_ms: 0,
            memory: &RequestMemory::default(),
        };
        let script = json!({"source": source, "params": {"tag": "b", "by": 4}});
        let update = ScriptedUpdate::read(script, &around, true).unwrap();
        let there = there.map(|source| DocumentNow {
            version: 3,
            routing: None,
            source: source.as_bytes(),
        });
        let upsert = br#"{"count": 10}"#;
        update.change("1", there, Some(upsert.as_slice())).unwrap()
    }

    #[test]
    fn scripts_say_what_becomes_of_a_document() {
        let there = r#"{"count":1,"tags":["a"],"price":1.50}"#;
        for (source, wanted) in [
            (
                "ctx._source.count += params.by",
                r#"{"count":5,"tags":["a"],"price":1.5}"#,
            ),
            (
                "ctx._source.tags.add(params.tag); ctx._source.remove('price')",
                r#"{"count":1,"tags":["a","b"]}"#,
            ),
            (
                "ctx._source.id = ctx._id + ctx._version; ctx._source.remove('tags')",
                r#"{"count":1,"price":1.5,"id":"13"}"#,
            ),
        ] {
            let Changed::Document(have) = changed(source, Some(there)) else {
                panic!("{source}");
            };
            assert_eq!(String::from_utf8(have).unwrap(), wanted, "{source}");
        }
        let gone = changed("ctx.op = 'delete'", Some(there));
        assert!(matches!(gone, Changed::Gone));
        for op in ["none", "noop", "create", "other"] {
            let stays = changed(&format!("ctx.op = '{op}'"), Some(there));
            assert!(matches!(stays, Changed::Nothing), "{op}");
        }
        let Changed::Document(made) = changed("ctx._source.count++", None) else {
            panic!("a document");
        };
        assert_eq!(made, br#"{"count":11}"#);
        assert!(matches!(changed("ctx.op = 'none'", None), Changed::Nothing));
    }
}

//! `scripted_metric`: what scripts gather of documents.

use clew_query::aggregation::{AggSpec, ScriptedMetricSpec};
use clew_query::{Script, ScriptPurpose};
use serde_json::{Map, Value};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::TypeName;
use crate::aggs::table::{NO_VALUES, Row};
use crate::dsl::WrittenScript;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[Row::new("scripted_metric", NO_VALUES, read)];

fn read(body: &mut Body<'_>) -> Result<AggSpec, AggDslError> {
    let params = match body.take("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params.clone(),
        Some(other) => return Err(body.wrong("params", other)),
    };
    body.require(&["map_script"]);
    let init = script(body, ("init_script", ScriptPurpose::State), &params)?;
    let map = script(
        body,
        ("map_script", ScriptPurpose::StateOfDocument),
        &params,
    )?;
    let combine = script(body, ("combine_script", ScriptPurpose::State), &params)?;
    let reduce = script(body, ("reduce_script", ScriptPurpose::States), &params)?;
    Ok(AggSpec::Scripted(ScriptedMetricSpec {
        init,
        map: wanted(body, map, "mapScript")?,
        combine: wanted(body, combine, "combineScript")?,
        reduce: wanted(body, reduce, "reduceScript")?,
    }))
}

/// A script that must be there; one stands in for it until that is told.
fn wanted(
    body: &mut Body<'_>,
    script: Option<Box<Script>>,
    called: &'static str,
) -> Result<Box<Script>, AggDslError> {
    if let Some(script) = script {
        return Ok(script);
    }
    let reason = format!("[{called}] must not be null: [{}]", body.name);
    body.late(AggDslError::illegal(reason).of_shards());
    let stand_in = WrittenScript::of(called, &Value::from("0"))?;
    stand_in.read(ScriptPurpose::State).map(Box::new)
}

/// One of the scripts, with the parameters that several of them share.
fn script(
    body: &mut Body<'_>,
    (key, purpose): (&'static str, ScriptPurpose),
    params: &Map<String, Value>,
) -> Result<Option<Box<Script>>, AggDslError> {
    let script = match body.take(key) {
        None => return Ok(None),
        Some(script @ (Value::Object(_) | Value::String(_))) => script,
        Some(other) => return Err(body.wrong(key, other)),
    };
    let mut written = WrittenScript::of(key, script)?;
    for (name, value) in params {
        if written.has_param(name) {
            return Err(AggDslError::illegal(format!(
                "Parameter name \"{name}\" used in both aggregation and script parameters"
            )));
        }
        written = written.with_param(name, value.clone());
    }
    let read = match purpose {
        ScriptPurpose::States => written.read_when_reducing(purpose)?,
        _ => written.read(purpose).map_err(AggDslError::of_shards)?,
    };
    Ok(Some(Box::new(read)))
}

/// Writes its result, and says the type.
pub(crate) fn write(body: &mut Map<String, Value>, value: &Value) -> TypeName {
    body.insert("value".to_string(), value.clone());
    "scripted_metric"
}

//! `POST /{index}/_verify`, Clew's own: the files of indexes held against what was written, while they serve.

use std::sync::atomic::{AtomicU64, Ordering};

use clew_engine::{Engine, EngineError, Purpose, ShardVerdict};
use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::parse_bytes;
use crate::state::call::Call;

/// What the endpoint takes.
pub(crate) const PARAMS: &[&str] = &[
    "bytes_per_second",
    "wait_for_completion",
    "ignore_unavailable",
    "allow_no_indices",
    "expand_wildcards",
];

/// A disk of today reads ten times as much; searches shall not notice.
const BYTES_PER_SECOND: u64 = 100 << 20;

/// Reads every byte of the indexes' segments at a limited rate, as a task unless the client waits for it. A shard that
/// is found damaged refuses everything from then on.
pub(crate) async fn verify(call: Call) -> Result<Reply, ApiError> {
    let name = "bytes_per_second";
    let rate = call.params.get(name).map(|text| parse_bytes(name, text));
    let rate = rate.transpose()?.unwrap_or(BYTES_PER_SECOND);
    if rate == 0 {
        return Err(ApiError::illegal_argument(format!(
            "[{name}] must be above 0"
        )));
    }
    let indices = call.indices(Purpose::Watch).await?;
    let names: Vec<String> = indices
        .iter()
        .map(|index| index.name().to_string())
        .collect();
    let number = call.begin_task(
        "indices:admin/verify",
        format!("Verify indices {names:?}, bytes_per_second[{rate}]"),
    )?;
    let bytes_total: u64 = indices.iter().map(|index| index.stats().bytes).sum();
    let api = call.api.clone();
    let work = move |engine: &Engine| -> Result<Value, EngineError> {
        let read = AtomicU64::new(0);
        let mut verdicts = Vec::new();
        for index in &indices {
            let progress = |bytes: u64| {
                let before = read.fetch_add(bytes, Ordering::Relaxed);
                let read = before + bytes;
                if before >> 20 != read >> 20 {
                    let status = json!({"bytes_read": read, "bytes_total": bytes_total});
                    api.tasks.tell(number, status);
                }
            };
            verdicts.extend(engine.verify(index, rate, &progress)?);
        }
        Ok(answer(&verdicts))
    };
    let api = call.api.clone();
    let waits = call.params.flag("wait_for_completion", false)?;
    let task = format!("{}:{number}", api.node_id);
    let ended = tokio::task::spawn_blocking(move || {
        let work = || work(&api.engine).map_err(ApiError::from);
        api.tasks.carry_out(number, work)
    });
    if !waits {
        return Ok(Reply::json(&json!({"task": task})));
    }
    Ok(Reply::json(&ended.await??))
}

fn answer(verdicts: &[ShardVerdict]) -> Value {
    let damaged = verdicts.iter().filter(|verdict| verdict.damage.is_some());
    let failures: Vec<Value> = damaged
        .map(|verdict| {
            json!({
                "index": verdict.index,
                "shard": verdict.number,
                "reason": {"type": "corrupt_index_exception", "reason": verdict.damage},
            })
        })
        .collect();
    let bytes: u64 = verdicts.iter().map(|verdict| verdict.bytes).sum();
    json!({
        "bytes_read": bytes,
        "_shards": {
            "total": verdicts.len(),
            "successful": verdicts.len() - failures.len(),
            "failed": failures.len(),
            "failures": failures,
        },
    })
}

//! `_recovery`: how the shards of indexes came to be. A shard is served only when it is whole, so
//! every one that is shown is done.

use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Index, IndexStats, Purpose, SegmentStats, Wildcards};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::segments::name_of;
use crate::indices::settings::PRIVATE;
use crate::state::call::Call;

/// From which snapshot an index was made, as a private setting keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RestoredFrom {
    pub(crate) repository: String,
    pub(crate) snapshot: String,
    /// Bytes of the file of each shard.
    pub(crate) bytes: Vec<u64>,
    pub(crate) started_ms: u64,
}

impl RestoredFrom {
    /// The setting's name.
    pub(crate) fn setting() -> String {
        format!("{PRIVATE}restored_from")
    }

    fn of(index: &Index) -> Option<Self> {
        let settings = index.settings();
        serde_json::from_str(settings.given.get(&Self::setting())?).ok()
    }
}

/// What a shard was made of.
enum Origin {
    Nothing,
    Files,
    OtherShards { index: String },
    Snapshot { from: RestoredFrom },
}

/// `GET /{index}/_recovery`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let mut body = Map::new();
    let with_words = call.params.flag("human", false)?;
    let detailed = call.params.flag("detailed", false)?;
    for (index, mut shards) in recoveries(&call).await? {
        for shard in shards.iter_mut().filter_map(Value::as_object_mut) {
            shard.retain(|name, _| with_words || !matches!(&**name, "start_time" | "stop_time"));
        }
        if detailed {
            for (shard, segments) in shards.iter_mut().zip(index.segments()) {
                shard["index"]["files"]["details"] = files_of(shard, &segments);
            }
        }
        body.insert(index.name().to_string(), json!({"shards": shards}));
    }
    Ok(Reply::json(&Value::Object(body)))
}

/// The files that a shard came of: its segments, or the one file that it has in a snapshot.
fn files_of(shard: &Value, segments: &[SegmentStats]) -> Value {
    let taken = &shard["index"];
    let is_reused = taken["files"]["reused"] != 0;
    let file = |name: String, bytes: u64| {
        json!({
            "name": name,
            "length_in_bytes": bytes,
            "reused": is_reused,
            "recovered_in_bytes": if is_reused { 0 } else { bytes },
        })
    };
    if taken["files"]["total"] == 0 {
        return json!([]);
    }
    if let Some(snapshot) = shard["source"]["snapshot"].as_str() {
        let bytes = taken["size"]["total_in_bytes"].as_u64();
        return json!([file(snapshot.to_string(), bytes.unwrap_or_default())]);
    }
    let segments = segments.iter().enumerate();
    let files = segments.map(|(place, segment)| file(name_of(place), segment.bytes));
    files.collect()
}

/// The indexes of a request, each with what there is to tell of its shards.
pub(crate) async fn recoveries(call: &Call) -> Result<Vec<(Arc<Index>, Vec<Value>)>, ApiError> {
    let indices = call.indices_from(Wildcards::SHOWN, Purpose::Watch).await?;
    // All others have what they are made of while they are shown.
    let active_only = call.params.flag("active_only", false)?;
    let wanted = |index: &Arc<Index>| !active_only || index.is_initializing();
    let told = |index: Arc<Index>| {
        let shards = index.shard_stats();
        let shards = shards.iter().enumerate();
        let shown = shards.map(|(number, stats)| show(call, &index, number, stats));
        let shown = shown.collect();
        (index, shown)
    };
    Ok(indices.into_iter().filter(wanted).map(told).collect())
}

fn origin(call: &Call, index: &Index) -> Origin {
    let created = Duration::from_millis(index.created_ms());
    if created < call.api.started_since_epoch() || !index.is_open() {
        return Origin::Files;
    }
    if let Some(from) = RestoredFrom::of(index) {
        return Origin::Snapshot { from };
    }
    match index.settings().given.get("index.resize.source.name") {
        Some(source) => Origin::OtherShards {
            index: source.clone(),
        },
        None => Origin::Nothing,
    }
}

/// Files and bytes that were there, and those that were written.
struct Taken {
    files: u64,
    reused_files: u64,
    bytes: u64,
    reused_bytes: u64,
}

/// This node, as the one that a shard came to.
fn target(call: &Call) -> Value {
    let options = &call.api.options;
    let host = options.publish_host();
    json!({
        "id": call.api.node_id,
        "host": host,
        "transport_address": options.publish_address,
        "ip": host,
        "name": options.node_name,
    })
}

fn show(call: &Call, index: &Index, number: usize, stats: &IndexStats) -> Value {
    let options = &call.api.options;
    let none = Taken {
        files: 0,
        reused_files: 0,
        bytes: 0,
        reused_bytes: 0,
    };
    let (kind, source, taken) = match origin(call, index) {
        Origin::Nothing => ("EMPTY_STORE", json!({}), none),
        Origin::Files => {
            let taken = Taken {
                files: stats.segments,
                reused_files: stats.segments,
                bytes: stats.bytes,
                reused_bytes: stats.bytes,
            };
            (
                "EXISTING_STORE",
                json!({"bootstrap_new_history_uuid": false}),
                taken,
            )
        }
        Origin::OtherShards { index } => {
            let taken = Taken {
                files: stats.segments,
                bytes: stats.bytes,
                ..none
            };
            ("LOCAL_SHARDS", json!({"index": index}), taken)
        }
        Origin::Snapshot { from } => {
            let taken = Taken {
                files: 1,
                bytes: from.bytes.get(number).copied().unwrap_or(0),
                ..none
            };
            let source = json!({
                "repository": from.repository,
                "snapshot": from.snapshot,
                "version": options.version_number,
                "index": index.name(),
            });
            ("SNAPSHOT", source, taken)
        }
    };
    json!({
        "id": number,
        "type": kind,
        "stage": if index.is_initializing() { "INDEX" } else { "DONE" },
        "primary": true,
        "start_time": crate::indices::snapshots::iso(index.created_ms()),
        "start_time_in_millis": index.created_ms(),
        "stop_time": crate::indices::snapshots::iso(index.created_ms()),
        "stop_time_in_millis": index.created_ms(),
        "total_time_in_millis": 0,
        "source": source,
        "target": target(call),
        "index": show_taken(&taken),
        "translog": {"recovered": 0, "total": 0, "percent": "100.0%", "total_on_start": 0,
                     "total_time_in_millis": 0},
        "verify_index": {"check_index_time_in_millis": 0, "total_time_in_millis": 0},
    })
}

fn show_taken(taken: &Taken) -> Value {
    json!({
        "size": {
            "total_in_bytes": taken.bytes,
            "reused_in_bytes": taken.reused_bytes,
            "recovered_in_bytes": taken.bytes - taken.reused_bytes,
            "percent": "100.0%",
        },
        "files": {
            "total": taken.files,
            "reused": taken.reused_files,
            "recovered": taken.files - taken.reused_files,
            "percent": "100.0%",
        },
        "total_time_in_millis": 0,
        "source_throttle_time_in_millis": 0,
        "target_throttle_time_in_millis": 0,
    })
}

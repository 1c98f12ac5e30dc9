//! `_cat/recovery`: one row for every shard, from what `_recovery` tells of it. And `_cat/segment_replication`, of which
//! there is none.

use std::time::Duration;

use serde_json::Value;

use super::shown_time;
use super::table::{Column, Table, hidden, hidden_text, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::index_recovery::recoveries;
use crate::state::call::Call;

const RECOVERY: &[Column] = &[
    text("index", &["i", "idx"], "index name"),
    text("shard", &["s", "sh"], "shard name"),
    hidden_text("start_time", &["start"], "recovery start time"),
    hidden(
        "start_time_millis",
        &["start_millis"],
        "recovery start time in epoch milliseconds",
    ),
    hidden_text("stop_time", &["stop"], "recovery stop time"),
    hidden(
        "stop_time_millis",
        &["stop_millis"],
        "recovery stop time in epoch milliseconds",
    ),
    number("time", &["t", "ti"], "recovery time"),
    text("type", &["ty"], "recovery type"),
    text("stage", &["st"], "recovery stage"),
    text("source_host", &["shost"], "source host"),
    text("source_node", &["snode"], "source node name"),
    text("target_host", &["thost"], "target host"),
    text("target_node", &["tnode"], "target node name"),
    text("repository", &["rep"], "repository"),
    text("snapshot", &["snap"], "snapshot"),
    number("files", &["f"], "number of files to recover"),
    number("files_recovered", &["fr"], "files recovered"),
    number("files_percent", &["fp"], "percent of files recovered"),
    number("files_total", &["tf"], "total number of files"),
    number("bytes", &["b"], "number of bytes to recover"),
    number("bytes_recovered", &["br"], "bytes recovered"),
    number("bytes_percent", &["bp"], "percent of bytes recovered"),
    number("bytes_total", &["tb"], "total number of bytes"),
    number("translog_ops", &["to"], "number of translog ops to recover"),
    number("translog_ops_recovered", &["tor"], "translog ops recovered"),
    number(
        "translog_ops_percent",
        &["top"],
        "percent of translog ops recovered",
    ),
];

/// `GET /_cat/recovery/{index}`.
pub(crate) async fn recovery(call: Call) -> Result<Reply, ApiError> {
    let mut rows = Vec::new();
    for (index, shards) in recoveries(&call).await? {
        rows.extend(shards.iter().map(|shard| row(index.name(), shard)));
    }
    Table {
        columns: RECOVERY,
        rows,
    }
    .reply(&call)
}

const SEGMENT_REPLICATION: &[Column] = &[
    text("shardId", &["s"], "shard id"),
    text("target_node", &["tnode"], "target node name"),
    text("target_host", &["thost"], "target host"),
    number("checkpoints_behind", &["cpb"], "checkpoints behind"),
    number("bytes_behind", &["bb"], "bytes behind"),
    number(
        "current_lag",
        &["clag"],
        "time of the replication that runs",
    ),
    number(
        "last_completed_lag",
        &["lcl"],
        "time of the last replication that was completed",
    ),
    number("rejected_requests", &["rr"], "requests rejected"),
];

/// `GET /_cat/segment_replication/{index}`: shards have no copies that segments could go to.
pub(crate) async fn segment_replication(call: Call) -> Result<Reply, ApiError> {
    recoveries(&call).await?;
    Table {
        columns: SEGMENT_REPLICATION,
        rows: Vec::new(),
    }
    .reply(&call)
}

/// A shard's line, from its object in `_recovery`.
fn row(index: &str, shard: &Value) -> Vec<String> {
    let cell = |pointer: &str| match shard.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "n/a".to_string(),
    };
    let lower = |pointer: &str| cell(pointer).to_lowercase();
    vec![
        index.to_string(),
        cell("/id"),
        cell("/start_time"),
        cell("/start_time_in_millis"),
        cell("/stop_time"),
        cell("/stop_time_in_millis"),
        time_taken(shard),
        lower("/type"),
        lower("/stage"),
        cell("/source/host"),
        cell("/source/name"),
        cell("/target/host"),
        cell("/target/name"),
        cell("/source/repository"),
        cell("/source/snapshot"),
        // Every shard is done, so that all that was to be taken was.
        cell("/index/files/recovered"),
        cell("/index/files/recovered"),
        cell("/index/files/percent"),
        cell("/index/files/total"),
        cell("/index/size/recovered_in_bytes"),
        cell("/index/size/recovered_in_bytes"),
        cell("/index/size/percent"),
        cell("/index/size/total_in_bytes"),
        cell("/translog/total"),
        cell("/translog/recovered"),
        cell("/translog/percent"),
    ]
}

/// How long it took: that of the files and that of the log, which are what `_recovery` times.
fn time_taken(shard: &Value) -> String {
    let part = |pointer: &str| shard.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let files = part("/verify_index/total_time_in_millis");
    let log = part("/translog/total_time_in_millis");
    shown_time(Duration::from_millis(files + log))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_has_a_cell_for_every_column() {
        let shard = json!({
            "id": 3, "type": "SNAPSHOT", "stage": "DONE", "start_time_in_millis": 7, "stop_time_in_millis": 9,
            "source": {"repository": "backup", "snapshot": "monday"},
            "target": {"host": "10.0.0.1", "name": "clew-0"},
            "index": {
                "size": {"total_in_bytes": 12, "recovered_in_bytes": 9, "percent": "100.0%"},
                "files": {"total": 2, "recovered": 1, "percent": "100.0%"},
            },
            "translog": {"recovered": 0, "total": 0, "percent": "100.0%"},
        });
        let row = row("books", &shard);
        assert_eq!(row.len(), RECOVERY.len());
        let cell = |name: &str| {
            let at = RECOVERY.iter().position(|column| column.name == name);
            row[at.unwrap()].as_str()
        };
        for (name, want) in [
            ("index", "books"),
            ("shard", "3"),
            ("stop_time_millis", "9"),
            ("type", "snapshot"),
            ("stage", "done"),
            ("source_node", "n/a"),
            ("target_node", "clew-0"),
            ("repository", "backup"),
            ("snapshot", "monday"),
            ("files", "1"),
            ("files_total", "2"),
            ("bytes", "9"),
            ("bytes_recovered", "9"),
            ("bytes_total", "12"),
            ("translog_ops_percent", "100.0%"),
        ] {
            assert_eq!(cell(name), want, "{name}");
        }
    }
}

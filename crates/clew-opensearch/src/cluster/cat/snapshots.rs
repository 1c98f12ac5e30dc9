//! `_cat/repositories` and `_cat/snapshots`.

use std::time::Duration;

use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::indices::snapshots;
use crate::state::call::Call;

use super::table::{Column, Table, hidden_text, number, text};
use super::{shown_time, time_of_day};

const REPOSITORIES: &[Column] = &[
    text("id", &["id", "repoId"], "unique repository id"),
    text("type", &["t", "type"], "repository type"),
];

/// `GET /_cat/repositories`.
pub(crate) async fn repositories(call: Call) -> Result<Reply, ApiError> {
    let listed = call
        .api
        .engine
        .with_definitions(snapshots::list_repositories);
    Table {
        columns: REPOSITORIES,
        rows: listed
            .into_iter()
            .map(|(id, kind)| vec![id, kind])
            .collect(),
    }
    .reply(&call)
}

const SNAPSHOTS: &[Column] = &[
    text("id", &["id", "snapshot"], "unique snapshot"),
    text("status", &["s", "status"], "snapshot name"),
    number(
        "start_epoch",
        &["ste", "startEpoch"],
        "start time in seconds since 1970-01-01 00:00:00",
    ),
    text(
        "start_time",
        &["sti", "startTime"],
        "start time in HH:MM:SS",
    ),
    number(
        "end_epoch",
        &["ete", "endEpoch"],
        "end time in seconds since 1970-01-01 00:00:00",
    ),
    text("end_time", &["eti", "endTime"], "end time in HH:MM:SS"),
    number("duration", &["dur", "duration"], "duration"),
    number("indices", &["i", "indices"], "number of indices"),
    number(
        "successful_shards",
        &["ss", "successful_shards"],
        "number of successful shards",
    ),
    number(
        "failed_shards",
        &["fs", "failed_shards"],
        "number of failed shards",
    ),
    number(
        "total_shards",
        &["ts", "total_shards"],
        "number of total shards",
    ),
    hidden_text("reason", &["r", "reason"], "reason for failures"),
];

/// `GET /_cat/snapshots/{repository}`.
pub(crate) async fn snapshots(call: Call) -> Result<Reply, ApiError> {
    let names = match call.path("repository") {
        Some(names) => names,
        // What columns there are is told without one.
        None if call.params.flag("help", false)? => "",
        None => return Err(ApiError::validation("repository is missing")),
    };
    let names = names.split(',').filter(|name| !name.is_empty());
    let mut rows = Vec::new();
    for name in names {
        for snapshot in snapshots::list_snapshots(&call, name).await? {
            let (started, ended) = (snapshot.started_ms, snapshot.ended_ms);
            rows.push(vec![
                snapshot.name,
                "SUCCESS".to_string(),
                (started / 1000).to_string(),
                time_of_day(started / 1000),
                (ended / 1000).to_string(),
                time_of_day(ended / 1000),
                shown_time(Duration::from_millis(ended.saturating_sub(started))),
                snapshot.indices.to_string(),
                snapshot.shards.to_string(),
                "0".to_string(),
                snapshot.shards.to_string(),
                String::new(),
            ]);
        }
    }
    Table {
        columns: SNAPSHOTS,
        rows,
    }
    .reply(&call)
}

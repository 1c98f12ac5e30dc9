//! `_cat/segments` and `_cat/pit_segments`: one row for every piece of a shard, as it is and as points in time keep it.

use clew_engine::{Pinned, Purpose, SegmentStats};

use super::table::{Column, Table, hidden_text, number, text};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::size_in_words;
use crate::indices::segments::{WRITTEN_BY, name_of};
use crate::search::{named_pits, open_pits};
use crate::state::call::Call;

const SEGMENTS: &[Column] = &[
    text("index", &["i", "idx"], "index name"),
    text("shard", &["s", "sh"], "shard name"),
    text(
        "prirep",
        &["p", "pr", "primaryOrReplica"],
        "primary or replica",
    ),
    text("ip", &[], "ip of node where it lives"),
    hidden_text("id", &[], "unique id of node where it lives"),
    text("segment", &["seg"], "segment name"),
    number("generation", &["g", "gen"], "segment generation"),
    number(
        "docs.count",
        &["dc", "docsCount"],
        "number of docs in segment",
    ),
    number(
        "docs.deleted",
        &["dd", "docsDeleted"],
        "number of deleted docs in segment",
    ),
    number("size", &["si"], "segment size in bytes"),
    number(
        "size.memory",
        &["sm", "sizeMemory"],
        "segment memory in bytes",
    ),
    text("committed", &["ic", "isCommitted"], "is segment committed"),
    text("searchable", &["is", "isSearchable"], "is segment searched"),
    text("version", &["v", "ver"], "version that wrote it"),
    text("compound", &["ico", "isCompound"], "is segment compound"),
];

/// `GET /_cat/segments/{index}`.
pub(crate) async fn segments(call: Call) -> Result<Reply, ApiError> {
    let mut rows = Vec::new();
    for index in call.indices(Purpose::Watch).await? {
        for (shard, segments) in index.segments().into_iter().enumerate() {
            rows.extend(shard_rows(&call, index.name(), shard, &segments));
        }
    }
    table(&call, rows)
}

/// `GET /_cat/pit_segments`: what the points in time of the body keep.
pub(crate) async fn pit_segments(call: Call) -> Result<Reply, ApiError> {
    // What the columns mean is told without any.
    let pits = if call.params.flag("help", false)? {
        Vec::new()
    } else {
        named_pits(&call)?
    };
    table(&call, pit_rows(&call, &pits))
}

/// `GET /_cat/pit_segments/_all`: what all points in time keep.
pub(crate) async fn all_pit_segments(call: Call) -> Result<Reply, ApiError> {
    let pits = open_pits(&call);
    table(&call, pit_rows(&call, &pits))
}

/// By index and shard, and for each of them one point in time after the other.
fn pit_rows(call: &Call, pits: &[Pinned]) -> Vec<Vec<String>> {
    let mut shards: Vec<_> = pits.iter().flat_map(Pinned::shards).collect();
    shards.sort_by_key(|shard| (shard.index().name().to_string(), shard.number()));
    let rows = shards.into_iter().flat_map(|shard| {
        let number = shard.number() as usize;
        shard_rows(call, shard.index().name(), number, &shard.segments())
    });
    rows.collect()
}

fn shard_rows(
    call: &Call,
    index: &str,
    shard: usize,
    segments: &[SegmentStats],
) -> Vec<Vec<String>> {
    let unit = call.params.get("bytes");
    let host = call.api.options.publish_host();
    let row = |(place, segment): (usize, &SegmentStats)| {
        vec![
            index.to_string(),
            shard.to_string(),
            "p".to_string(),
            host.to_string(),
            call.api.node_id.clone(),
            name_of(place),
            place.to_string(),
            segment.docs.to_string(),
            segment.deleted.to_string(),
            size_in_words(segment.bytes, unit),
            "0".to_string(),
            segment.committed.to_string(),
            "true".to_string(),
            WRITTEN_BY.to_string(),
            "false".to_string(),
        ]
    };
    segments.iter().enumerate().map(row).collect()
}

fn table(call: &Call, rows: Vec<Vec<String>>) -> Result<Reply, ApiError> {
    Table {
        columns: SEGMENTS,
        rows,
    }
    .reply(call)
}

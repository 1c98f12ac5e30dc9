//! `_cat/segments`: one row for every piece of a shard.

use super::table::{Column, Table, bytes, hidden_text, number, text};
use crate::call::Call;
use crate::error::ApiError;
use crate::nodes::host_of;
use crate::reply::Reply;
use crate::segments::{WRITTEN_BY, name_of};

const SEGMENTS: &[Column] = &[
    text("index", &["i", "idx"], "index name"),
    number("shard", &["s", "sh"], "shard name"),
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
    let unit = call.params.get("bytes");
    let host = host_of(&call.api.options.publish_address);
    let mut rows = Vec::new();
    for index in call.indices().await? {
        for (shard, segments) in index.segments().into_iter().enumerate() {
            let row = |(place, segment): (usize, &clew_engine::SegmentStats)| {
                vec![
                    index.name().to_string(),
                    shard.to_string(),
                    "p".to_string(),
                    host.to_string(),
                    call.api.node_id.clone(),
                    name_of(place),
                    place.to_string(),
                    segment.docs.to_string(),
                    segment.deleted.to_string(),
                    bytes(segment.bytes, unit),
                    "0".to_string(),
                    segment.committed.to_string(),
                    "true".to_string(),
                    WRITTEN_BY.to_string(),
                    "false".to_string(),
                ]
            };
            rows.extend(segments.iter().enumerate().map(row));
        }
    }
    Table {
        columns: SEGMENTS,
        rows,
    }
    .reply(&call)
}

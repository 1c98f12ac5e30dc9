//! `_segments`: the pieces that shards are searched in. They are numbered from the oldest on, as they
//! lie now: a merge changes the numbers.

use clew_engine::{Index, Purpose, SegmentStats, VectorColumnStats};
use serde_json::{Map, Value, json};

use crate::http::error::ApiError;
use crate::http::human::of_figures;
use crate::http::reply::Reply;
use crate::search::profile::chosen;
use crate::state::call::Call;

/// What wrote the segments.
pub(crate) const WRITTEN_BY: &str = env!("CARGO_PKG_VERSION");

/// The name of a segment by its place in its shard.
pub(crate) fn name_of(place: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    let mut rest = place;
    loop {
        digits.push(char::from(DIGITS[rest % DIGITS.len()]));
        rest /= DIGITS.len();
        if rest == 0 {
            break;
        }
    }
    digits.push('_');
    digits.iter().rev().collect()
}

/// `GET /{index}/_segments`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    // There is nothing more to be told of memory.
    call.params.flag("verbose", false)?;
    let mut total = 0;
    let mut body = Map::new();
    for index in call.indices(Purpose::Watch).await? {
        let shards = show(&call, &index);
        total += shards.len();
        body.insert(index.name().to_string(), json!({"shards": shards}));
    }
    let body = json!({
        "_shards": {"total": total, "successful": total, "failed": 0},
        "indices": body,
    });
    of_figures(body, &call.params)
}

fn show(call: &Call, index: &Index) -> Map<String, Value> {
    let shards = index.segments().into_iter().enumerate();
    let shown = shards.map(|(number, segments)| {
        let committed = segments.iter().filter(|segment| segment.committed).count();
        let shard = json!([{
            "routing": {"state": "STARTED", "primary": true, "node": call.api.node_id},
            "num_committed_segments": committed,
            "num_search_segments": segments.len(),
            "segments": segments.iter().enumerate().map(show_segment).collect::<Map<_, _>>(),
        }]);
        (number.to_string(), shard)
    });
    shown.collect()
}

fn show_segment((place, segment): (usize, &SegmentStats)) -> (String, Value) {
    let mut shown = json!({
        "generation": place,
        "num_docs": segment.docs,
        "deleted_docs": segment.deleted,
        "size_in_bytes": segment.bytes,
        "memory_in_bytes": 0,
        "committed": segment.committed,
        "search": true,
        "version": WRITTEN_BY,
        "compound": false,
        "attributes": {"id": segment.id},
    });
    if !segment.vectors.is_empty() {
        let columns = segment.vectors.iter();
        let columns = columns.map(|column| (column.field.clone(), show_column(column)));
        // Not among the attributes, which clients read as texts by name.
        shown["vectors"] = columns.collect::<Map<_, _>>().into();
    }
    (name_of(place), shown)
}

/// What the vectors of a field are searched through in a segment, and why.
fn show_column(column: &VectorColumnStats) -> Value {
    let structure = match (column.has_graph, column.has_lists) {
        (true, _) => "graph",
        (false, true) => "lists",
        (false, false) => "none",
    };
    json!({
        "count": column.count,
        "structure": structure,
        "chosen": column.choice.map(chosen),
    })
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn places_are_numbered_in_thirty_sixths() {
        let names = [0, 9, 10, 35, 36, 1295].map(name_of);
        assert_eq!(names, ["_0", "_9", "_a", "_z", "_10", "_zz"]);
    }
}

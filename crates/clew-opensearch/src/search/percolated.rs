//! What the answer to a percolation says of its hits: which documents their queries match, and what
//! is highlighted there.

use clew_engine::Hit;
use clew_query::Query;
use clew_search::Percolated;
use serde_json::{Map, Value, json};

use super::highlight::{Highlight, refusal};
use crate::http::error::ApiError;
use crate::http::request_memory::json_bytes;

/// What a document takes for each of its bytes while it is indexed, and its words are looked up.
const INDEXED_FACTOR: usize = 24;
const SLOTS: &str = "_percolator_document_slot";

/// What the documents become that the percolations of a query ask about: a small index with its words. Each shard makes
/// its own, a few at once.
pub(super) fn memory_bytes(query: &Query) -> usize {
    let percolations = query.all().filter_map(|query| match query {
        Query::Percolate(percolate) => Some(percolate),
        _ => None,
    });
    let documents = percolations.flat_map(|percolate| percolate.documents.iter());
    documents
        .map(|document| json_bytes(document) + document.len() * INDEXED_FACTOR)
        .fold(0, usize::saturating_add)
}

/// Adds the places of the documents that a hit's query matches.
pub(super) fn add_slots(hit: &Hit, values: &mut Map<String, Value>) {
    for percolated in &hit.percolated {
        let name = match &percolated.name {
            Some(name) => format!("{SLOTS}_{name}"),
            None => SLOTS.to_string(),
        };
        values.insert(name, json!(percolated.slots));
    }
}

/// Adds what a hit's query finds in the documents.
pub(super) fn add_highlights(
    hit: &Hit,
    highlight: &Highlight,
    shown: &mut Map<String, Value>,
) -> Result<(), ApiError> {
    for percolated in &hit.percolated {
        let highlighter = highlight.prepare(hit, &percolated.query);
        for slot in &percolated.slots {
            let Some(document) = document(percolated, *slot) else {
                continue;
            };
            let mut before = String::new();
            if let Some(name) = &percolated.name {
                before = format!("{name}_");
            }
            if percolated.documents.len() > 1 {
                before.push_str(&format!("{slot}_"));
            }
            let found = highlighter.highlight(&document);
            for (path, pieces) in found.map_err(|error| refusal(&error, hit))? {
                shown.insert(format!("{before}{path}"), pieces.into());
            }
        }
    }
    Ok(())
}

fn document(percolated: &Percolated, slot: usize) -> Option<Value> {
    serde_json::from_slice(percolated.documents.get(slot)?).ok()
}

//! The document that an update is answered with where `_source` asks for it: `"get": {...}`.

use clew_engine::{Access, Engine, Freshness, PRIMARY_TERM, Purpose, Written};

use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::request_memory::RequestMemory;
use crate::http::source_filter::SourceFilter;
use crate::state::call::Call;

/// A document that was updated, and what is to be shown of it.
pub(crate) struct AfterUpdate {
    index: String,
    id: String,
    routing: Option<String>,
    filter: SourceFilter,
}

impl AfterUpdate {
    pub(crate) fn new(written: &Written, routing: Option<String>, filter: SourceFilter) -> Self {
        AfterUpdate {
            index: written.index.name().to_string(),
            id: written.id.clone(),
            routing,
            filter,
        }
    }

    /// What is shown of the document as it is now; nothing where it is gone.
    fn read(
        &self,
        engine: &Engine,
        access: &Access,
        memory: &RequestMemory,
    ) -> Result<Option<Vec<u8>>, ApiError> {
        // Who may write and not read is not told what is there.
        let Ok(index) = engine.open_exactly(&self.index, access, Purpose::Read) else {
            return Ok(None);
        };
        let found = engine.get(&index, &self.id, self.routing.as_deref(), Freshness::Latest)?;
        let Some(document) = found else {
            return Ok(None);
        };
        // Once as it was found and once as it is answered.
        memory.take(document.source.len() * 2)?;
        let mut json = JsonWriter::with_capacity(document.source.len() + 64);
        json.begin_object();
        json.unsigned_field("_seq_no", document.seq_no)
            .unsigned_field("_primary_term", PRIMARY_TERM);
        json.boolean_field("found", true).key("_source");
        self.filter.write(&document.source, &mut json);
        json.end_object();
        Ok(Some(json.into_bytes()))
    }
}

/// What a client is told whose document is written and cannot be shown.
const NOT_SHOWN: &str =
    "299 Clew \"the write is durable, but the document could not be read to be shown\"";

/// Reads what is to be shown, in the same order; and what to warn of where that fails. What is written stays written: an
/// error would have clients do it again.
pub(crate) async fn read_all(
    call: &Call,
    updated: Vec<AfterUpdate>,
) -> (Vec<Option<Vec<u8>>>, Option<&'static str>) {
    let engine = call.api.engine.clone();
    let (access, memory) = (call.access.clone(), call.memory.clone());
    let reading = call.off_thread(move || {
        let each = updated.iter();
        each.map(|updated| updated.read(&engine, &access, &memory))
            .collect::<Result<Vec<_>, ApiError>>()
    });
    match reading.await.and_then(|read| read) {
        Ok(read) => (read, None),
        Err(error) => {
            tracing::warn!(reason = error.reason(), "what was updated cannot be shown");
            (Vec::new(), Some(NOT_SHOWN))
        }
    }
}

//! Reading one document by id: from the log while no segment has it yet, else from its segment.

use bytes::Bytes;
use clew_log::Glsn;

use crate::base::access::Purpose;
use crate::base::error::EngineError;
use crate::base::operation::{Body, decode};
use crate::base::write_request::{Document, Freshness};
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;
use crate::shard::update::with_vectors;
use crate::shard::{Located, SegmentView, Shard};

/// A document that was in the log when it was looked for is looked for so often: between the two it may have come into a
/// segment, and the log may have been given up behind that.
const LOOKS_MAX: usize = 4;

impl Engine {
    /// Reads a document.
    ///
    /// # Errors
    /// When the index was not opened to be read, or the shard's files or the log cannot be read.
    pub fn get(
        &self,
        index: &IndexHandle,
        id: &str,
        routing: Option<&str>,
        freshness: Freshness,
    ) -> Result<Option<Document>, EngineError> {
        index.check_purpose(Purpose::Read)?;
        let started = self.inner.clock.monotonic();
        let found = self.find(index, id, routing, freshness)?;
        let took = self.inner.clock.monotonic().saturating_sub(started);
        match &found {
            Some(_) => index.activity.gets_found.add(took),
            None => index.activity.gets_missing.add(took),
        }
        Ok(found)
    }

    /// The same whatever the index was opened for, and not counted.
    pub(crate) fn find(
        &self,
        index: &Index,
        id: &str,
        routing: Option<&str>,
        freshness: Freshness,
    ) -> Result<Option<Document>, EngineError> {
        index.check_routing(id, routing)?;
        let shard = index.shard_of(routing.unwrap_or(id));
        if freshness == Freshness::Searchable {
            return find_visible(index, shard, id);
        }
        let mut refused = None;
        for _ in 0..LOOKS_MAX {
            let glsn = match shard.locate(id)? {
                None => return Ok(None),
                Some(Located::Segment(segment, doc)) => {
                    return read(index, shard, &segment, doc).map(Some);
                }
                Some(Located::Log(glsn)) => glsn,
            };
            match self.logged(index, shard, (id, glsn)) {
                Ok(Some(found)) => return Ok(Some(found)),
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| shard.failed("the log has failed meanwhile")))
    }

    /// A document that the log had at a position; none where the log has failed since, and has given the position to
    /// something else.
    fn logged(
        &self,
        index: &Index,
        shard: &Shard,
        (id, glsn): (&str, Glsn),
    ) -> Result<Option<Document>, EngineError> {
        let entry = self.inner.log.read(glsn)?;
        if entry.stream != shard.place.stream {
            return Ok(None);
        }
        let operation = decode(&entry.payload)?;
        if operation.id != id || matches!(operation.body, Body::Delete) {
            return Ok(None);
        }
        Ok(Some(Document {
            id: id.to_string(),
            version: operation.version,
            seq_no: operation.seq_no,
            routing: operation.routing.map(str::to_string),
            source: Bytes::from(with_vectors(&index.mapping(), operation.body)),
        }))
    }
}

fn find_visible(index: &Index, shard: &Shard, id: &str) -> Result<Option<Document>, EngineError> {
    shard.check_readable()?;
    for segment in &shard.view().segments {
        let found = segment
            .find(id)
            .map_err(|source| shard.tantivy_error(source))?;
        if let Some(doc) = found {
            return read(index, shard, segment, doc).map(Some);
        }
    }
    Ok(None)
}

fn read(
    index: &Index,
    shard: &Shard,
    segment: &SegmentView,
    doc: tantivy::DocId,
) -> Result<Document, EngineError> {
    segment
        .document(doc, &index.mapping())
        .map_err(|source| shard.tantivy_error(source))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use clew_platform::{FixedClock, SimDisk};
    use clew_schema::Mapping;

    use super::*;
    use crate::base::access::Access;
    use crate::base::settings::IndexSettings;
    use crate::base::write_request::{Action, OpType, WriteOperation};
    use crate::node::options::EngineOptions;

    #[test]
    fn what_the_log_has_given_up_or_given_to_another_is_no_document_of_it() {
        let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
        let mut options = EngineOptions::new("/data");
        options.log.file_bytes_max = 1;
        let engine = Engine::start(options, Arc::new(SimDisk::new()), clock).unwrap();
        let (settings, everything) = (IndexSettings::default(), Access::everything());
        let made = engine.create_index(&everything, "docs", settings, Mapping::new());
        let (index, made_at) = made.unwrap();
        let write = |id: &str, action: Action| {
            let operation = WriteOperation {
                index: "docs".into(),
                require_alias: false,
                id: Some(id.into()),
                routing: None,
                action,
                condition: None,
            };
            let mut outcome = engine.write(&everything, vec![operation]);
            outcome.results.pop().unwrap().unwrap().glsn
        };
        let put = |id: &str| write(id, Action::index(r#"{"n": 1}"#, OpType::Index));
        let (a, b) = (put("a"), put("b"));
        let gone = write("b", Action::Delete);
        let shard = &index.shards[0];
        let logged = |id: &str, glsn: Glsn| engine.logged(&index, shard, (id, glsn));
        assert_eq!(logged("a", a).unwrap().map(|found| found.version), Some(1));
        for other in [made_at, b] {
            assert!(logged("a", other).unwrap().is_none());
        }
        assert!(logged("b", gone).unwrap().is_none());
        engine.flush(&index).unwrap();
        engine.inner.trim_log().unwrap();
        assert!(logged("a", a).is_err());
        let found = engine.find(&index, "a", None, Freshness::Latest).unwrap();
        assert_eq!(found.map(|found| found.version), Some(1));
        engine.close().unwrap();
    }
}

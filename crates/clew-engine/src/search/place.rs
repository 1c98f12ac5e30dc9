//! Where documents lie in what was pinned, and which have an id.

use std::ops::Range;

use tantivy::DocId;

use crate::base::error::EngineError;
use crate::node::engine::Engine;
use crate::search::pinned::{Pinned, PinnedShard};
use crate::shard::SegmentView;

/// Where a document lies in what was pinned: good for as long as that is held, and for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocPlace {
    /// The shard's place among those that were pinned.
    pub(crate) shard: u32,
    pub(crate) segment: u32,
    pub(crate) doc: DocId,
}

impl DocPlace {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "shards and segments are far fewer"
    )]
    pub(crate) fn new(shard: usize, segment: usize, doc: DocId) -> Self {
        DocPlace {
            shard: shard as u32,
            segment: segment as u32,
            doc,
        }
    }
}

impl Pinned {
    /// The shard of a place, which may be one of something else that was pinned.
    pub(crate) fn shard_at(&self, place: DocPlace) -> Result<&PinnedShard, EngineError> {
        let shard = self.shards.get(place.shard as usize);
        let is_there = |shard: &&PinnedShard| {
            let segment = shard.view.segments.get(place.segment as usize);
            segment.is_some_and(|segment| place.doc < segment.doc_count())
        };
        shard
            .filter(is_there)
            .ok_or_else(|| EngineError::InvalidRequest {
                reason: "a document was looked up where it is not".into(),
            })
    }

    /// The id of the document at a place.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn id_at(&self, place: DocPlace) -> Result<&str, EngineError> {
        self.shard_at(place)?
            .id((place.segment as usize, place.doc))
    }

    /// The ids of the documents at some places, in their order; at a fraction of what looking for each by itself costs, where
    /// they are not in the processor's caches.
    ///
    /// # Errors
    /// As [`Pinned::id_at`].
    pub fn ids_at(&self, places: impl Iterator<Item = DocPlace>) -> Result<Vec<&str>, EngineError> {
        let count = places.size_hint().0;
        let mut found: Vec<(&PinnedShard, &SegmentView, Range<usize>)> = Vec::with_capacity(count);
        for place in places {
            let shard = self.shard_at(place)?;
            let segment = &shard.view.segments[place.segment as usize];
            let lies = segment.id_place(place.doc);
            let lies = lies.map_err(|error| shard.shard.tantivy_error(error))?;
            found.push((shard, segment, lies));
        }
        // One by one: collecting results takes longer than reading an id, as an error is many times as large as that.
        let mut ids = Vec::with_capacity(found.len());
        for (shard, segment, lies) in found {
            match segment.id_in(lies) {
                Ok(id) => ids.push(id),
                Err(error) => return Err(shard.shard.tantivy_error(error)),
            }
        }
        Ok(ids)
    }
}

impl Engine {
    /// Where the documents with these ids lie, in their order; each id is looked for in the shard that it leads to
    /// without a routing key.
    ///
    /// # Errors
    /// When a shard has failed, or its ids cannot be read.
    pub async fn places(
        &self,
        pinned: &Pinned,
        ids: &[String],
    ) -> Result<Vec<Option<DocPlace>>, EngineError> {
        let (pinned, ids) = (pinned.clone(), ids.to_vec());
        let find = move || ids.iter().map(|id| place_of(&pinned, id)).collect();
        self.inner.pool.run(find).await?
    }
}

fn place_of(pinned: &Pinned, id: &str) -> Result<Option<DocPlace>, EngineError> {
    for index in pinned.each_index() {
        let Some(shard) = pinned.shard_of(index, id) else {
            continue;
        };
        let found = shard.find(id)?;
        shard.check_readable()?;
        if let Some((segment, doc)) = found {
            return Ok(Some(DocPlace::new(shard.at, segment, doc)));
        }
    }
    Ok(None)
}

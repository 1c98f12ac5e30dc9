//! One search for all shards: columns whose lists were formed around the same centres are gone through as one column would be,
//! on one thread, before each shard is asked for what is left. That costs about what it costs to search one shard with all
//! vectors, which takes one thread, too; many threads that each go through a part of it measure more, and have to be woken.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_platform::Clock;
use clew_schema::FieldKind;
use clew_search::SegmentBits;
use clew_vector::{Column, Filter, SearchOutcome, SearchRequest};
use tantivy::directory::OwnedBytes;

use crate::search::knn::filter_of;
use crate::search::pinned::PinnedShard;
use crate::search::scratch::with_scratch;

/// What was found in columns that were searched together, by the shard's place among those that were pinned and the
/// segment's in the shard.
#[derive(Debug, Default)]
pub(crate) struct FoundTogether {
    found: BTreeMap<(usize, usize), SearchOutcome>,
    /// How long it took for each of them.
    took_each: Duration,
}

impl FoundTogether {
    /// Searches the columns of a field that can be searched together, each for the documents whose bits are given, or all that
    /// live. What is wrong with the others, or with the request, is told when they are searched.
    pub(crate) fn search<'t>(
        targets: &'t [PinnedShard],
        (path, request): (&str, &SearchRequest<'_>),
        bits: impl Fn(usize, usize) -> Option<&'t SegmentBits>,
        clock: &dyn Clock,
    ) -> Self {
        let started = clock.monotonic();
        let mut places = Vec::new();
        let mut columns: Vec<(&Column<OwnedBytes>, Option<Filter<'_>>)> = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let Some(field) = target.mapping().field(path) else {
                continue;
            };
            let FieldKind::Vector(vector) = &field.kind else {
                continue;
            };
            if target.shard.check_readable().is_err() {
                continue;
            }
            for (at, segment) in target.view.segments.iter().enumerate() {
                let column = segment.vectors().column(field.id);
                // One that was written in another space is read in that of the field.
                let shared = column.filter(|column| {
                    column.list_centres().is_some() && column.options().space == vector.column.space
                });
                if let Some(column) = shared {
                    places.push((target.at, at));
                    columns.push((column, filter_of(segment, bits(number, at))));
                }
            }
        }
        if columns.len() < 2 {
            return FoundTogether::default();
        }
        let found = with_scratch(|scratch| Column::search_together(&columns, request, scratch));
        let found = places.into_iter().zip(found);
        let found = found.filter_map(|(place, found)| Some((place, found?)));
        let found: BTreeMap<_, _> = found.collect();
        let took = clock.monotonic().saturating_sub(started);
        let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
        FoundTogether {
            took_each: took / count.max(1),
            found,
        }
    }

    /// What was found in a segment of a shard; none where it is to be searched.
    pub(crate) fn of(&self, target: &PinnedShard, segment: usize) -> Option<&SearchOutcome> {
        self.found.get(&(target.at, segment))
    }

    /// How long it took for a shard.
    pub(crate) fn took(&self, target: &PinnedShard) -> Duration {
        let segments = self.found.range((target.at, 0)..(target.at + 1, 0));
        self.took_each * u32::try_from(segments.count()).unwrap_or(u32::MAX)
    }
}

//! One search for all shards: columns whose lists were formed around the same centres are gone through as one column would be,
//! on one thread, before each shard is asked for what is left. That costs about what it costs to search one shard with all
//! vectors, which takes one thread, too; many threads that each go through a part of it measure more, and have to be woken. Columns
//! that are scanned are searched so, too, as long as they are no larger together than one may be.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_platform::Clock;
use clew_schema::FieldKind;
use clew_search::SegmentBits;
use clew_vector::{Column, Filter, GRAPH_BYTES_MIN, SearchOutcome, SearchRequest};
use tantivy::directory::OwnedBytes;

use crate::search::knn::filter_of;
use crate::search::pinned::PinnedShard;
use crate::search::scratch::with_scratch;

/// What was found in columns that were searched together, by the shard's place among those that were pinned and the
/// segment's in the shard.
#[derive(Debug, Default)]
pub(crate) struct FoundTogether {
    found: BTreeMap<(usize, usize), SearchOutcome>,
    /// The documents that passed a filter, by the shard's place, where there is one.
    passing: BTreeMap<usize, Vec<SegmentBits>>,
    /// How long it took for each shard to find out which pass.
    took_to_pass: Duration,
    /// How long it took for each of what was found.
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
        let mut columns: Vec<Asked<'_>> = Vec::new();
        let mut small = Scanned::default();
        for (number, target) in targets.iter().enumerate() {
            let Some(field) = target.mapping().field(path) else {
                continue;
            };
            let FieldKind::Vector(vector) = &field.kind else {
                continue;
            };
            if target.check_readable().is_err() {
                continue;
            }
            let is_of_documents = target.mapping().nested_scope(path).is_none();
            for (at, segment) in target.view.segments.iter().enumerate() {
                let column = segment.vectors().column(field.id);
                // One that was written in another space is read in that of the field.
                let Some(column) =
                    column.filter(|column| column.options().space == vector.column.space)
                else {
                    continue;
                };
                let (place, filter) = ((target.at, at), filter_of(segment, bits(number, at)));
                if column.list_centres().is_some() {
                    places.push(place);
                    columns.push((column, filter));
                } else if is_of_documents && !column.has_graph() && !column.has_lists() {
                    small.add(place, (column, filter));
                }
            }
        }
        let mut found = BTreeMap::new();
        if columns.len() > 1 {
            let all = with_scratch(|scratch| Column::search_together(&columns, request, scratch));
            let all = places.into_iter().zip(all);
            found.extend(all.filter_map(|(place, found)| Some((place, found?))));
        }
        found.extend(small.found(request));
        let took = clock.monotonic().saturating_sub(started);
        let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
        FoundTogether {
            took_each: took / count.max(1),
            found,
            ..FoundTogether::default()
        }
    }

    /// The same, found among documents that pass a filter, which it has taken some time to find in all shards.
    pub(crate) fn among(
        mut self,
        targets: &[PinnedShard],
        passing: Vec<Vec<SegmentBits>>,
        took: Duration,
    ) -> Self {
        self.took_to_pass = took / u32::try_from(passing.len()).unwrap_or(u32::MAX).max(1);
        let places = targets.iter().map(|target| target.at);
        self.passing = places.zip(passing).collect();
        self
    }

    /// The documents of a shard that pass the filter, where that is known.
    pub(crate) fn passing(&self, target: &PinnedShard) -> Option<&[SegmentBits]> {
        Some(self.passing.get(&target.at)?)
    }

    /// What was found in a segment of a shard; none where it is to be searched.
    pub(crate) fn of(&self, target: &PinnedShard, segment: usize) -> Option<&SearchOutcome> {
        self.found.get(&(target.at, segment))
    }

    /// Whether it was found in every segment of a shard that has vectors of a field.
    pub(crate) fn is_whole_of(&self, target: &PinnedShard, path: &str) -> bool {
        let Some(field) = target.mapping().field(path) else {
            return false;
        };
        let mut segments = target.view.segments.iter().enumerate();
        segments.all(|(at, segment)| {
            segment.vectors().column(field.id).is_none() || self.of(target, at).is_some()
        })
    }

    /// How long it took for a shard.
    pub(crate) fn took(&self, target: &PinnedShard) -> Duration {
        let segments = self.found.range((target.at, 0)..(target.at + 1, 0));
        self.took_each * u32::try_from(segments.count()).unwrap_or(u32::MAX) + self.took_to_pass
    }
}

/// A column, and the documents that may be hits there.
type Asked<'t> = (&'t Column<OwnedBytes>, Option<Filter<'t>>);

/// Columns that are scanned. Where all together are no larger than one may be, which one thread scans as well, they are not worth
/// another thread each.
#[derive(Default)]
struct Scanned<'t> {
    bytes: usize,
    columns: Vec<((usize, usize), Asked<'t>)>,
}

impl<'t> Scanned<'t> {
    fn add(&mut self, place: (usize, usize), asked: Asked<'t>) {
        let (column, options) = (asked.0, asked.0.options());
        self.bytes += column.len() * options.element.row_bytes(options.dimension);
        self.columns.push((place, asked));
    }

    /// What is found in each; none where they are too large together.
    fn found(self, request: &SearchRequest<'_>) -> Vec<((usize, usize), SearchOutcome)> {
        if self.bytes > GRAPH_BYTES_MIN {
            return Vec::new();
        }
        let search = |(place, (column, filter)): ((usize, usize), Asked<'_>)| {
            let request = SearchRequest { filter, ..*request };
            let found = with_scratch(|scratch| column.search(&request, scratch));
            Some((place, found.ok()?))
        };
        self.columns.into_iter().filter_map(search).collect()
    }
}

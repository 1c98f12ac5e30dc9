//! What a request is planned against.

use std::fmt;
use std::sync::Arc;

use clew_platform::MemoryAccount;
use clew_query::aggregation::Source;
use clew_query::{AggError, Query};
use clew_schema::{DerivedField, FieldKind, Mapping, RangeKind};
use clew_search::{
    CompileContext, KnnResolver, SegmentBits, Snapshot, Stopwatch, VectorAnswers, VectorStage,
    matching_within,
};
use jiff::tz::TimeZone;

use crate::limits::AggLimits;
use crate::value::zone::parse_zone;

/// What a request is planned against.
#[derive(Clone, Copy, Debug)]
pub struct AggContext<'a> {
    /// The shard's mapping.
    pub mapping: &'a Mapping,
    /// The derived fields that the request brings.
    pub derived: &'a [DerivedField],
    /// The name of the index that the shard belongs to.
    pub index: &'a str,
    /// What `now` means in dates.
    pub now_ms: i64,
    /// What the request may use.
    pub limits: AggLimits,
    /// The account that memory is taken of; without it there are only the limits.
    pub memory: Option<&'a Arc<MemoryAccount>>,
    /// The segments, for nested objects and top hits; without it there are none of these.
    pub snapshot: Option<&'a Snapshot>,
    /// The path of the nested objects that an aggregation sees; `None` at whole documents.
    pub scope: Option<&'a str>,
    /// The shard's place among those that are searched.
    pub shard: usize,
    /// Notes what each aggregation costs, if that is wanted.
    pub stopwatch: Option<&'a Stopwatch>,
    /// Finds the documents of queries inside aggregations; without it such are refused.
    pub searcher: Option<AggSearcher<'a>>,
}

impl AggContext<'_> {
    /// The derived field that a path leads to; those of the request go before those of the mapping.
    pub(crate) fn derived_field(&self, path: &str) -> Option<&DerivedField> {
        let own = DerivedField::named(self.derived, path);
        own.or_else(|| DerivedField::named(self.mapping.derived(), path))
    }

    /// The zone that a request names, UTC unless it does. Of a text it is said elsewhere what is wrong.
    ///
    /// # Errors
    /// [`AggError::Invalid`] when there is no such zone, or the field is of no dates.
    pub(crate) fn zone(
        &self,
        source: &Source,
        time_zone: Option<&str>,
    ) -> Result<TimeZone, AggError> {
        let field = time_zone.and_then(|_| self.mapping.field(&source.field));
        match field.map(|field| &field.kind) {
            None
            | Some(
                FieldKind::Date { .. }
                | FieldKind::DateNanos { .. }
                | FieldKind::Range {
                    kind: RangeKind::Date,
                    ..
                }
                | FieldKind::Text { .. },
            ) => parse_zone(time_zone),
            Some(kind) => Err(AggError::invalid(format!(
                "Field [{}] of type [{}] does not support custom time zones",
                source.field,
                kind.type_name()
            ))),
        }
    }
}

/// What finds the documents that a query matches.
#[derive(Clone, Copy)]
pub struct AggSearcher<'a> {
    /// The shard's segments, as the aggregation will see them.
    pub snapshot: &'a Snapshot,
    /// Answers nearest-neighbour clauses.
    pub knn: &'a dyn KnnResolver,
    /// What the search may see at all; global aggregations see no more either.
    pub visible: Option<&'a Query>,
}

impl<'a> AggSearcher<'a> {
    /// What answers the clauses of queries that need vectors.
    pub(crate) fn vector_stage(&self, now_ms: i64) -> VectorStage<'a> {
        VectorStage {
            snapshot: self.snapshot,
            now_ms,
            knn: self.knn,
        }
    }
}

impl fmt::Debug for AggSearcher<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AggSearcher")
            .field("segments", &self.snapshot.readers.len())
            .finish_non_exhaustive()
    }
}

/// The documents of a query in each segment.
///
/// # Errors
/// [`AggError::Query`] when the query is refused.
pub(crate) fn documents_of(
    query: &Query,
    context: &AggContext<'_>,
) -> Result<Vec<SegmentBits>, AggError> {
    let Some(searcher) = context.searcher else {
        return Err(AggError::invalid(
            "queries are not available to aggregations here",
        ));
    };
    let find = || {
        let mut vectors = VectorAnswers::default();
        let stage = searcher.vector_stage(context.now_ms);
        stage.add(&mut vectors, query, context.scope)?;
        let compile = CompileContext {
            snapshot: searcher.snapshot,
            now_ms: context.now_ms,
            vectors: &vectors,
        };
        matching_within(&compile, query, context.scope)
    };
    Ok(find()?)
}

//! What searches and queries have in common: seeing what was written, pages of hits, and rows of them.

use std::time::Duration;

use clew_engine::{DocPlace, GroupBy, Hit, Pinned, SearchRequest};
use clew_query::{Order, Query, SortKey, SortValue};
use clew_search::TrackTotal;

use super::Service;
use crate::collection::{TERM_BYTES_MAX, long_rows};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::held;
use crate::proto::{self, FieldData};
use crate::rows::Wanted;

/// How long a read waits for what was written before it.
const VISIBLE_WITHIN: Duration = Duration::from_secs(60);
/// The time that means whatever can be seen without waiting; clients send it where nothing was written by them.
const EVENTUALLY: u64 = 1;
/// The time that means a view some seconds old.
const BOUNDED: u64 = 2;
/// The level that sees everything, whatever the time says.
const STRONG: i32 = 0;

/// Most keys that are told of those that are no row's.
const MISSING_TOLD: usize = 100;

/// What a read has to see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guarantee {
    pub(super) timestamp: u64,
    level: i32,
    /// Whether the level is the collection's.
    by_default: bool,
}

/// All messages that ask for it say it alike.
macro_rules! said_by {
    ($($message:ident),*) => {$(
        impl From<&proto::$message> for Guarantee {
            fn from(request: &proto::$message) -> Self {
                Guarantee {
                    timestamp: request.guarantee_timestamp,
                    level: request.consistency_level,
                    by_default: request.use_default_consistency,
                }
            }
        }
    )*};
}

said_by!(SearchRequest, HybridSearchRequest, QueryRequest);

/// The next page of the documents that match, in the order of the index.
pub(super) struct Page {
    query: Query,
    size: usize,
    after: Option<Vec<SortValue>>,
    ended: bool,
}

impl Page {
    pub(super) fn first(query: &Query, size: usize) -> Self {
        Page {
            query: query.clone(),
            size,
            after: None,
            ended: false,
        }
    }
}

impl Service {
    /// Waits until a read sees what its client may expect.
    pub(super) async fn see(&self, opened: &Opened, guarantee: Guarantee) -> Result<()> {
        let level = match guarantee.by_default {
            // What the client itself has written is in the time that it sends.
            true if guarantee.timestamp > BOUNDED => STRONG,
            true => opened.named.collection.consistency_level,
            false => guarantee.level,
        };
        let is_old = matches!(guarantee.timestamp, EVENTUALLY | BOUNDED);
        if level != STRONG && is_old {
            return Ok(());
        }
        self.see_all_writes(opened).await
    }

    /// Waits until searches see everything that was written so far.
    pub(super) async fn see_all_writes(&self, opened: &Opened) -> Result<()> {
        let engine = self.engine();
        let indices = [opened.handle.index().clone()];
        let last = engine.log().last();
        if engine.visible(&indices) >= last {
            return Ok(());
        }
        Ok(engine.wait_visible(&indices, last, VISIBLE_WITHIN).await?)
    }

    /// The number of rows.
    pub(super) async fn row_count(&self, opened: &Opened) -> Result<u64> {
        self.see_all_writes(opened).await?;
        match opened.named.collection.unexpired(self.engine().now()) {
            None => Ok(opened.handle.stats().docs),
            Some(unexpired) => self.count_matching(opened, unexpired).await,
        }
    }

    /// The number of rows that match, of those that can be seen by now.
    pub(super) async fn count_matching(&self, opened: &Opened, query: Query) -> Result<u64> {
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let request = SearchRequest {
            size: 0,
            track_total: TrackTotal::Exact,
            ..SearchRequest::new(pinned, query)
        };
        let found = self.found(request).await?;
        Ok(found.total.map_or(0, |total| total.value))
    }

    /// Refuses to bring rows into an order, or into groups, by a field whose texts the index does not have all of.
    pub(super) async fn check_all_terms(&self, opened: &Opened, field: &str) -> Result<()> {
        let may_be_long = opened.named.collection.field(field)?.may_be_long();
        if !may_be_long || self.count_matching(opened, long_rows()).await? == 0 {
            return Ok(());
        }
        Err(MilvusError::Unsupported(format!(
            "an order or groups by field {field} while rows have texts of more than {TERM_BYTES_MAX} bytes"
        )))
    }

    /// The same for all fields that hits are grouped by; what lies inside JSON is read from the documents.
    pub(super) async fn check_groups(&self, opened: &Opened, group: &GroupBy) -> Result<()> {
        let by_terms = group.fields.iter().filter(|field| field.inside.is_none());
        for field in by_terms {
            self.check_all_terms(opened, &field.path).await?;
        }
        Ok(())
    }

    /// Searches; a shard that could not answer makes an error of it all, for nobody would see that rows are missing.
    pub(super) async fn found(
        &self,
        request: SearchRequest,
    ) -> Result<clew_engine::SearchResponse> {
        let response = self.engine().search(request).await?;
        match response.failures.into_iter().next() {
            Some(failure) => Err(failure.error.into()),
            None => Ok(clew_engine::SearchResponse {
                failures: Vec::new(),
                ..response
            }),
        }
    }

    /// Where rows are, by their keys, of those that reads look at: `within` is what these match.
    ///
    /// # Errors
    /// For keys of no such row.
    pub(super) async fn places_of(
        &self,
        pinned: &Pinned,
        (ids, within): (&[String], &Query),
    ) -> Result<Vec<DocPlace>> {
        let mut places = self.engine().places(pinned, ids).await?;
        if *within != Query::match_all() {
            let there = Box::pin(self.matching(pinned, within, ids)).await?;
            for (place, id) in places.iter_mut().zip(ids) {
                if !there.contains(id) {
                    *place = None;
                }
            }
        }
        let mut given = ids.iter().zip(&places);
        if given.all(|(_, place)| place.is_some()) {
            return Ok(places.into_iter().flatten().collect());
        }
        let missing = ids.iter().zip(&places).filter(|(_, place)| place.is_none());
        let missing: Vec<&str> = missing
            .map(|(id, _)| id.as_str())
            .take(MISSING_TOLD)
            .collect();
        Err(MilvusError::invalid(format!(
            "some of the provided primary key IDs do not exist: missing IDs = [{}]",
            missing.join(" ")
        )))
    }

    /// The hits of the next page; none behind the last.
    pub(super) async fn next_hits(&self, pinned: &Pinned, page: &mut Page) -> Result<Vec<Hit>> {
        if page.ended {
            return Ok(Vec::new());
        }
        let request = SearchRequest {
            size: page.size,
            sort: vec![SortKey::Doc { order: Order::Asc }],
            track_total: TrackTotal::No,
            search_after: page.after.take(),
            ..SearchRequest::new(pinned.clone(), page.query.clone())
        };
        let found = self.found(request).await?;
        page.ended = found.hits.len() < page.size;
        page.after = found.hits.last().map(|hit| hit.sort.clone());
        Ok(found.hits)
    }

    /// What is wanted of rows at some places, as columns.
    pub(super) async fn columns(
        &self,
        pinned: &Pinned,
        (places, ids): (&[DocPlace], &[&str]),
        wanted: &Wanted,
    ) -> Result<Vec<FieldData>> {
        let read = self
            .engine()
            .columns(pinned, places, &wanted.fields())
            .await?;
        let columns = wanted.columns(ids, read.fields);
        // They take what was read of them, until they are sent.
        held::hold(read.memory);
        columns
    }
}

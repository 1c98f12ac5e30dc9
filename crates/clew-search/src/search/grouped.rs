//! The first documents of which no two have the same value of a field.
//!
//! Only as many groups as are wanted are kept. A group that was given up comes back when a document
//! of it would be among the first; what it lost can not have been.

use std::collections::{BTreeMap, BTreeSet};

use clew_platform::{Pace, overdue};
use clew_query::{Order, QueryError, SortKey, SortValue};
use clew_schema::{FieldKind, FloatKind, KeywordStyle, Mapping};
use tantivy::{DocId, SegmentReader};

use super::cursor::{KeyCursor, Slot};
use super::hit::ShardHit;
use super::merge::compare_hits;
use super::sorted::{Kept, TIME_TO_JOIN, in_order};
use crate::search::nested_sort::SortOrder;
use crate::snapshot::Snapshot;

/// A document in the order of hits: its slots and its number, then what else is known of it.
type Row = (Vec<Slot>, DocId, u32);

/// The segment that is being read.
struct Current {
    segment: usize,
    cursors: Vec<KeyCursor>,
    group: KeyCursor,
    after: Option<Vec<Slot>>,
    /// The first document of each group.
    firsts: BTreeMap<Slot, Row>,
    /// The same in the order of hits.
    order: BTreeSet<(Row, Slot)>,
}

/// The first documents so far, one of each group.
pub(super) struct GroupedTop<'a> {
    sort: SortOrder<'a>,
    group: SortKey,
    limit: usize,
    after: Option<&'a [SortValue]>,
    keep_scores: bool,
    hits: Vec<ShardHit>,
    current: Option<Current>,
    base: u64,
}

/// Which hits are wanted, in which order.
pub(super) struct HitsWanted<'a> {
    pub(super) sort: SortOrder<'a>,
    pub(super) limit: usize,
    pub(super) after: Option<&'a [SortValue]>,
    pub(super) kept: Kept,
}

impl<'a> GroupedTop<'a> {
    pub(super) fn new(
        path: &'a str,
        mapping: &Mapping,
        wanted: HitsWanted<'a>,
    ) -> Result<Self, QueryError> {
        check_field(path, mapping)?;
        let sort = wanted.sort;
        // Without an order it is that of the scores.
        let keys = sort.len().max(1);
        if wanted.after.is_some_and(|after| after.len() != keys) {
            return Err(QueryError::illegal(
                "search_after does not have the values that sort has",
            ));
        }
        Ok(GroupedTop {
            sort,
            group: SortKey::field(path, Order::Asc),
            limit: wanted.limit,
            after: wanted.after,
            keep_scores: wanted.kept.scores,
            hits: Vec::new(),
            current: None,
            base: wanted.kept.doc_base,
        })
    }

    pub(super) fn begin(
        &mut self,
        segment: usize,
        snapshot: &Snapshot,
        reader: &SegmentReader,
    ) -> Result<(), QueryError> {
        let cursors = if self.sort.is_empty() {
            let by_score = SortKey::Score { order: Order::Desc };
            vec![KeyCursor::open(&by_score, snapshot, reader, self.base)?]
        } else {
            self.sort.cursors(snapshot, reader, self.base)?
        };
        self.base += u64::from(reader.max_doc());
        let after = KeyCursor::slots_of(&cursors, self.after)?;
        self.current = Some(Current {
            segment,
            cursors,
            group: KeyCursor::open(&self.group, snapshot, reader, 0)?.bare(),
            after,
            firsts: BTreeMap::new(),
            order: BTreeSet::new(),
        });
        Ok(())
    }

    pub(super) fn offer(&mut self, doc: DocId, score: f32) -> Result<(), QueryError> {
        let Some(current) = &mut self.current else {
            return Ok(());
        };
        if self.limit == 0 {
            return Ok(());
        }
        if current.group.has_several(doc) {
            return Err(QueryError::State {
                reason: format!(
                    "failed to collapse {doc}, the collapse field must be single valued"
                ),
            });
        }
        let slots = current.cursors.iter();
        let slots = slots.map(|cursor| cursor.slot(doc, score));
        let slots = slots.collect::<Result<Vec<_>, _>>()?;
        if current.after.as_ref().is_some_and(|after| slots <= *after) {
            return Ok(());
        }
        let group = current.group.slot(doc, score)?;
        let row = (slots, doc, score.to_bits());
        match current.firsts.get_mut(&group) {
            Some(first) if *first <= row => {}
            Some(first) => {
                let before = std::mem::replace(first, row.clone());
                current.order.remove(&(before, group));
                current.order.insert((row, group));
            }
            None => {
                if current.order.len() >= self.limit {
                    if current.order.last().is_some_and(|(last, _)| *last <= row) {
                        return Ok(());
                    }
                    if let Some((_, given_up)) = current.order.pop_last() {
                        current.firsts.remove(&given_up);
                    }
                }
                current.firsts.insert(group, row.clone());
                current.order.insert((row, group));
            }
        }
        Ok(())
    }

    /// Joins the segment's first documents with those of the segments before.
    pub(super) fn end(&mut self) -> Result<(), QueryError> {
        let Some(current) = self.current.take() else {
            return Ok(());
        };
        let mut pace = Pace::default();
        for ((slots, doc, score), group) in current.order {
            if pace.is_over() && overdue(TIME_TO_JOIN) {
                break;
            }
            let sort = if self.sort.is_empty() {
                Vec::new()
            } else {
                let values = current.cursors.iter().zip(slots);
                let values = values.map(|(cursor, slot)| cursor.value(slot));
                values.collect::<Result<Vec<_>, _>>()?
            };
            self.hits.push(ShardHit {
                segment: current.segment,
                doc,
                score: self.keep_scores.then(|| f32::from_bits(score)),
                sort,
                group: Some(current.group.value(group)?),
            });
        }
        let sort = self.sort;
        let hits = std::mem::take(&mut self.hits);
        self.hits = in_order(hits, |a, b| compare_hits(&sort, a, b));
        keep_firsts(&mut self.hits, |hit| hit.group.as_ref());
        self.hits.truncate(self.limit);
        Ok(())
    }

    pub(super) fn into_hits(self) -> Vec<ShardHit> {
        self.hits
    }
}

/// Of hits in order keeps the first of each group; those without one stay.
pub(super) fn keep_firsts<H>(hits: &mut Vec<H>, group: impl Fn(&H) -> Option<&SortValue>) {
    let mut seen: BTreeSet<SortValue> = BTreeSet::new();
    hits.retain(|hit| group(hit).is_none_or(|group| seen.insert(group.clone())));
}

fn check_field(path: &str, mapping: &Mapping) -> Result<(), QueryError> {
    let Some(field) = mapping.field(path) else {
        return Err(QueryError::illegal(format!(
            "no mapping found for `{path}` in order to collapse on"
        )));
    };
    let fits = match &field.kind {
        FieldKind::Keyword { style, .. } => *style == KeywordStyle::Keyword,
        FieldKind::Integer(_) | FieldKind::Unsigned => true,
        FieldKind::Float(kind) => {
            !matches!(kind, FloatKind::Scaled { .. } | FloatKind::RankFeature)
        }
        _ => false,
    };
    if !fits {
        return Err(QueryError::illegal(format!(
            "unknown type for collapse field `{path}`, only keywords and numbers are accepted"
        )));
    }
    if !field.settings.doc_values {
        return Err(QueryError::illegal(format!(
            "cannot collapse on field `{path}` without `doc_values`"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clew_query::Query;

    use super::super::{ShardRequest, TrackTotal, search};
    use super::*;
    use crate::query::VectorAnswers;
    use crate::search::fixture::shard;

    /// What a loop over the documents finds: numbers with their first prices.
    fn model(docs: &[Vec<crate::search::fixture::Doc>]) -> Vec<(Option<i64>, Option<f64>)> {
        let living = docs.iter().flatten().filter(|doc| !doc.dead);
        let mut groups: BTreeMap<Option<i64>, Option<f64>> = BTreeMap::new();
        for doc in living {
            let price = groups.entry(doc.count).or_insert(doc.price);
            *price = match (*price, doc.price) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|a, b| {
            let value = |price: Option<f64>| price.unwrap_or(f64::NEG_INFINITY);
            value(b.1).total_cmp(&value(a.1))
        });
        groups
    }

    #[test]
    fn every_group_has_its_first_document_whatever_the_limit() {
        for seed in 0..4 {
            let (snapshot, docs) = shard(seed);
            let sort = [SortKey::field("price", Order::Desc)];
            let query = Query::match_all();
            let expected = model(&docs);
            for limit in [1, 3, 10, 1000] {
                let found = search(
                    &snapshot,
                    ShardRequest {
                        sort: &sort,
                        limit,
                        track_total: TrackTotal::Exact,
                        collapse: Some("count"),
                        ..ShardRequest::new(&query)
                    },
                    &VectorAnswers::default(),
                )
                .unwrap();
                let prices: Vec<_> = found.hits.iter().map(|hit| hit.sort[0].clone()).collect();
                let wanted = expected.iter().take(limit).map(|(_, price)| match price {
                    Some(price) => SortValue::F64(*price),
                    None => SortValue::Null,
                });
                assert_eq!(prices, wanted.collect::<Vec<_>>(), "limit {limit}");
                assert_eq!(found.total.value, snapshot.live_docs());
                let groups: BTreeSet<_> = found.hits.iter().map(|hit| &hit.group).collect();
                assert_eq!(groups.len(), found.hits.len());
            }
        }
    }

    #[test]
    fn fields_without_one_value_are_refused() {
        let (snapshot, _) = shard(1);
        let query = Query::match_all();
        let check = |field: &str, reason: &str| {
            let request = ShardRequest {
                collapse: Some(field),
                ..ShardRequest::new(&query)
            };
            let error = search(&snapshot, request, &VectorAnswers::default()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        };
        check(
            "nothing",
            "no mapping found for `nothing` in order to collapse on",
        );
        check("title", "only keywords and numbers are accepted");
        check("at", "only keywords and numbers are accepted");
        check("tags", "must be single valued");
    }
}

//! Buckets of the documents that given queries match, and the bucket of all documents.

use std::sync::Arc;

use clew_query::AggError;
use clew_search::SegmentBits;

use super::range::Places;
use super::{Block, Collect, Segment};
use crate::limits::Account;
use crate::partial::Partial;
use crate::plan::Plan;
use crate::plan_filters::FiltersPlan;
use clew_query::aggregation::FilterShape;

pub(crate) struct Filters {
    sets: Vec<Arc<Vec<SegmentBits>>>,
    ord: usize,
    shape: FilterShape,
    hits: Vec<u64>,
    places: Places,
}

impl Filters {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        filters: &FiltersPlan,
    ) -> Result<Self, AggError> {
        Ok(Filters {
            sets: filters.sets.clone(),
            ord: segment.ord,
            shape: filters.shape.clone(),
            hits: Vec::new(),
            places: Places::open(segment, plan)?,
        })
    }
}

impl Collect for Filters {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let count = self.sets.len() as u64;
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            self.hits.clear();
            let sets = (0_u64..).zip(&self.sets);
            let holds = |set: &Arc<Vec<SegmentBits>>| {
                set.get(self.ord).is_some_and(|bits| bits.contains(*doc))
            };
            let hits = sets.filter(|(_, set)| holds(set)).map(|(place, _)| place);
            self.hits.extend(hits);
            let of = (*doc, *parent);
            for (at, place) in self.hits.iter().enumerate() {
                self.places.add(of, *place, account)?;
                if matches!(self.shape, FilterShape::Adjacency { .. }) {
                    for other in &self.hits[at + 1..] {
                        self.places.add(of, (place + 1) * count + other, account)?;
                    }
                }
            }
            let other = matches!(&self.shape, FilterShape::Named { other: Some(_), .. });
            if other && self.hits.is_empty() {
                self.places.add(of, count, account)?;
            }
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

/// One bucket of whatever comes; who feeds it decides what that is.
pub(crate) struct Everything {
    places: Places,
}

/// What a bucket tells of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// How many they are.
    Documents,
    /// How many they stand for.
    WhatTheyStandFor,
}

impl Everything {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        counted: Counted,
    ) -> Result<Self, AggError> {
        Ok(Everything {
            places: Places::open(segment, plan)?.counting(counted),
        })
    }
}

impl Collect for Everything {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            self.places.add((*doc, *parent), 0, account)?;
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

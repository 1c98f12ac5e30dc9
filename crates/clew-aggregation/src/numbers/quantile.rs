//! A bucket's distribution, by whichever method the request chose.

use clew_query::AggError;
use clew_query::aggregation::Method;
use serde::{Deserialize, Serialize};

use crate::numbers::digest::TDigest;
use crate::numbers::hdr::Hdr;

/// A bucket's distribution; empty until the first value.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) enum QuantileState {
    #[default]
    Empty,
    TDigest(TDigest),
    Hdr(Hdr),
}

impl QuantileState {
    /// Adds a value.
    ///
    /// # Errors
    /// When the method cannot hold it.
    pub(crate) fn add(&mut self, value: f64, method: Method) -> Result<(), AggError> {
        if matches!(self, QuantileState::Empty) {
            *self = match method {
                Method::TDigest { .. } => QuantileState::TDigest(TDigest::default()),
                Method::Hdr { .. } => QuantileState::Hdr(Hdr::default()),
            };
        }
        match (self, method) {
            (QuantileState::TDigest(digest), Method::TDigest { compression }) => {
                digest.add(value, compression);
                Ok(())
            }
            (QuantileState::Hdr(hdr), Method::Hdr { digits }) => {
                if hdr.add(value, digits) {
                    return Ok(());
                }
                Err(AggError::OutOfBounds { value })
            }
            _ => unreachable!("a state is made by the method of its aggregation"),
        }
    }

    pub(crate) fn merge(&mut self, other: QuantileState, method: Method) {
        match (&mut *self, other) {
            (_, QuantileState::Empty) => {}
            (QuantileState::Empty, other) => *self = other,
            (QuantileState::TDigest(mine), QuantileState::TDigest(theirs)) => {
                if let Method::TDigest { compression } = method {
                    mine.merge(theirs, compression);
                }
            }
            (QuantileState::Hdr(mine), QuantileState::Hdr(theirs)) => mine.merge(theirs),
            _ => unreachable!("states of one aggregation have the same method"),
        }
    }

    /// The values at each of the percentages.
    pub(crate) fn percentiles(&self, percents: &[f64], method: Method) -> Vec<Option<f64>> {
        let ranks: Vec<f64> = percents.iter().map(|percent| percent / 100.0).collect();
        match (self, method) {
            (QuantileState::TDigest(digest), Method::TDigest { compression }) => {
                digest.quantiles(&ranks, compression)
            }
            (QuantileState::Hdr(hdr), Method::Hdr { digits }) => hdr.quantiles(&ranks, digits),
            _ => vec![None; percents.len()],
        }
    }

    /// The percentage of values up to each of the values.
    pub(crate) fn ranks(&self, values: &[f64], method: Method) -> Vec<Option<f64>> {
        let ranks = match (self, method) {
            (QuantileState::TDigest(digest), Method::TDigest { compression }) => {
                digest.ranks(values, compression)
            }
            (QuantileState::Hdr(hdr), Method::Hdr { digits }) => hdr.ranks(values, digits),
            _ => vec![None; values.len()],
        };
        let percent = |rank: Option<f64>| rank.map(|rank| rank * 100.0);
        ranks.into_iter().map(percent).collect()
    }

    /// The median of the distances from the median.
    pub(crate) fn median_deviation(&self, method: Method) -> Option<f64> {
        match (self, method) {
            (QuantileState::TDigest(digest), Method::TDigest { compression }) => {
                digest.median_deviation(compression)
            }
            _ => None,
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            QuantileState::Empty => 0,
            QuantileState::TDigest(digest) => digest.heap_bytes(),
            QuantileState::Hdr(hdr) => hdr.heap_bytes(),
        }
    }
}

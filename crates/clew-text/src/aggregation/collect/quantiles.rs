//! Distributions of values per bucket, and means of weighted values.

use super::{Block, Collect, Segment};
use crate::aggregation::column::{Repeats, Rows, ValueColumn};
use crate::aggregation::error::AggError;
use crate::aggregation::limits::{Account, grow};
use crate::aggregation::moments::Weighted;
use crate::aggregation::partial::{Partial, QuantileStates};
use crate::aggregation::plan::{Op, Plan, ValuePlan};
use crate::aggregation::quantile::QuantileState;
use crate::aggregation::spec::Method;

/// The distribution of values.
pub(crate) struct Quantiles {
    column: ValueColumn,
    rows: Rows,
    states: Vec<QuantileState>,
    method: Method,
    /// What the digests were last booked with, so that their growth is booked now and then.
    booked: usize,
    unbooked: usize,
}

/// Memory of the digests is looked at whenever this many values came in.
const BOOK_EVERY: usize = 65_536;

impl Quantiles {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan) -> Result<Self, AggError> {
        let method = match &plan.op {
            Op::Quantiles(quantiles) => quantiles.method,
            _ => Method::default(),
        };
        Ok(Quantiles {
            column: ValueColumn::open(segment.reader, &plan.values)?,
            rows: Rows::default(),
            states: Vec::new(),
            method,
            booked: 0,
            unbooked: 0,
        })
    }

    fn book(&mut self, account: &mut Account) -> Result<(), AggError> {
        self.unbooked = 0;
        let held: usize = self.states.iter().map(QuantileState::heap_bytes).sum();
        let more = held.saturating_sub(self.booked);
        self.booked = self.booked.max(held);
        account.charge(more)
    }
}

impl Collect for Quantiles {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column.read(block.docs, Repeats::Kept, &mut self.rows);
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let parent = block.parents[*entry as usize];
            grow(&mut self.states, parent, account)?;
            let value = self.column.number(*raw);
            self.states[parent as usize].add(value, self.method)?;
        }
        self.unbooked += self.rows.values.len();
        if self.unbooked > BOOK_EVERY {
            self.book(account)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        Ok(Partial::Quantiles(QuantileStates {
            states: self.states,
            method: self.method,
        }))
    }
}

/// Sums of values times weights, and of weights.
pub(crate) struct WeightedAvg {
    values: ValueColumn,
    weights: ValueColumn,
    value_rows: Rows,
    weight_rows: Rows,
    sums: Vec<Weighted>,
}

impl WeightedAvg {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        weight: &ValuePlan,
    ) -> Result<Self, AggError> {
        Ok(WeightedAvg {
            values: ValueColumn::open(segment.reader, &plan.values)?,
            weights: ValueColumn::open(segment.reader, weight)?,
            value_rows: Rows::default(),
            weight_rows: Rows::default(),
            sums: Vec::new(),
        })
    }
}

impl Collect for WeightedAvg {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.values.is_empty() || self.weights.is_empty() {
            return Ok(());
        }
        let (values, weights) = (&mut self.value_rows, &mut self.weight_rows);
        self.values.read(block.docs, Repeats::Kept, values);
        self.weights.read(block.docs, Repeats::Kept, weights);
        let mut at = 0;
        for (entry, raw) in values.entries.iter().zip(&values.values) {
            while weights.entries.get(at).is_some_and(|other| other < entry) {
                at += 1;
            }
            if weights.entries.get(at) != Some(entry) {
                continue;
            }
            if weights.entries.get(at + 1) == Some(entry) {
                return Err(AggError::invalid(
                    "Encountered more than one weight for a single document. Use a script to \
                     combine multiple weights-per-doc into a single value.",
                ));
            }
            let parent = block.parents[*entry as usize];
            grow(&mut self.sums, parent, account)?;
            let weight = self.weights.number(weights.values[at]);
            self.sums[parent as usize].add(self.values.number(*raw), weight);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Partial, AggError> {
        Ok(Partial::Weighted(self.sums))
    }
}

//! Metrics that keep a little of each bucket's values, and nothing else: their one collector.

use clew_query::AggError;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::Rows;
use crate::limits::{Account, grow};
use crate::metric::each_value;

/// What is kept of a bucket's values.
pub(crate) trait KeptValues: Clone + Default + Send + Sized + 'static {
    /// Adds a value, as a column has it.
    fn add_raw(&mut self, column: &ValueColumn, raw: u64);
    /// What was kept of all buckets.
    fn partial(kept: Vec<Self>) -> Partial;
}

/// Keeps something of each bucket's values.
pub(crate) struct Values<T> {
    column: ValueColumn,
    rows: Rows,
    kept: Vec<T>,
}

impl<T: KeptValues> Values<T> {
    /// The collector of a segment.
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
    ) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(Values::<T> {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            kept: Vec::new(),
        }))
    }
}

impl<T: KeptValues> Collect for Values<T> {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let (column, kept) = (&self.column, &mut self.kept);
        each_value(
            column,
            &mut self.rows,
            (block, account),
            |parent, raw, account| {
                grow(kept, parent, account)?;
                kept[parent as usize].add_raw(column, raw);
                Ok(())
            },
        )
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(T::partial(self.kept))
    }
}

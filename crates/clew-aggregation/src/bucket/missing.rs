//! `missing`: the documents without a value.

use clew_query::AggError;

use crate::collect::places::Places;
use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::limits::Account;

pub(crate) struct Missing {
    column: ValueColumn,
    without: Vec<u32>,
    places: Places,
}

impl Missing {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(Missing {
            column: ValueColumn::open(segment.reader, plan.values())?,
            without: Vec::new(),
            places: Places::open(segment, plan)?,
        })
    }
}

impl Collect for Missing {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        self.column.without_value(block.docs, &mut self.without);
        for entry in &self.without {
            let of = (block.docs[*entry as usize], block.parents[*entry as usize]);
            self.places.add(of, 0, account)?;
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

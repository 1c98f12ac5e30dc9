//! `geo_bounds` and `geo_centroid`: the box around points, and their middle.

use clew_query::AggError;
use clew_schema::geo::GeoPoint;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::limits::{Account, grow};
use crate::numbers::moments::Points;

pub(crate) struct GeoMetric {
    column: ValueColumn,
    rows: Rows,
    points: Vec<Points>,
}

impl GeoMetric {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(GeoMetric {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            points: Vec::new(),
        })
    }
}

impl Collect for GeoMetric {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column.read(block.docs, Repeats::Kept, &mut self.rows);
        for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
            let parent = block.parents[*entry as usize];
            grow(&mut self.points, parent, account)?;
            self.points[parent as usize].add(GeoPoint::decode(*raw));
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Points(self.points))
    }
}

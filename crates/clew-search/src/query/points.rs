//! Documents whose points lie to an area as wanted, found in a column.

use clew_schema::geo::{GeoArea, GeoPoint, GeoRelation};
use tantivy::SegmentReader;
use tantivy_common::BitSet;

use super::constant::{DocumentSet, FoundDocs};

/// Documents by the points in a column.
#[derive(Debug)]
pub(crate) struct PointsInArea {
    pub(crate) column: String,
    pub(crate) area: GeoArea,
    pub(crate) relation: GeoRelation,
}

impl DocumentSet for PointsInArea {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let Some(column) = reader.fast_fields().column_opt::<u64>(&self.column)? else {
            return Ok(FoundDocs::Nothing);
        };
        let mut bits: Option<BitSet> = None;
        let mut points = Vec::new();
        for doc in 0..reader.max_doc() {
            points.clear();
            points.extend(column.values_for_doc(doc).map(GeoPoint::decode));
            if self.area.relates(self.relation, &points) {
                bits.get_or_insert_with(|| BitSet::with_max_value(reader.max_doc()))
                    .insert(doc);
            }
        }
        Ok(bits.map_or(FoundDocs::Nothing, FoundDocs::Bits))
    }
}

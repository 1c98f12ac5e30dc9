//! Documents whose points lie to an area as wanted, found in a column.

use clew_platform::Pace;
use clew_schema::geo::{GeoArea, GeoPoint, GeoRelation};
use tantivy::SegmentReader;

use super::constant::{DocumentSet, FoundDocs, tested};

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
        let mut points = Vec::new();
        // An area may have a hundred thousand corners.
        tested(reader.max_doc(), Pace::of_blocks(), |doc| {
            points.clear();
            points.extend(column.values_for_doc(doc).map(GeoPoint::decode));
            Ok(self.area.relates(self.relation, &points))
        })
    }
}

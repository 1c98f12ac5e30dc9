//! Documents by where their points lie.

use clew_schema::geo::{GeoArea, GeoRelation};

/// Documents whose points lie to an area as wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct GeoQuery {
    /// Field path.
    pub field: String,
    /// The area.
    pub area: GeoArea,
    /// How they must lie.
    pub relation: GeoRelation,
    /// Whether a field that is not mapped matches nothing instead of failing.
    pub ignore_unmapped: bool,
    /// The score.
    pub boost: f32,
}

//! Documents by where their points lie.

use clew_schema::geo::{GeoArea, GeoRelation};
use serde::{Deserialize, Serialize};

/// Documents whose points lie to an area as wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoQuery {
    /// Field path.
    pub field: String,
    /// The area.
    #[serde(with = "crate::forms::geo_area")]
    pub area: GeoArea,
    /// How they must lie.
    #[serde(with = "crate::forms::GeoRelationForm")]
    pub relation: GeoRelation,
    /// Whether a field that is not mapped matches nothing instead of failing.
    pub ignore_unmapped: bool,
    /// The score.
    pub boost: f32,
}

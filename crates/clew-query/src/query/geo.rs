//! Documents by where their points and shapes lie.

use clew_schema::geo::{GeoArea, GeoRelation};
use serde::{Deserialize, Serialize};

use super::named::DocumentName;

/// Documents whose points or shapes lie to an area as wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeoQuery {
    /// Field path.
    pub field: String,
    /// The area.
    #[serde(with = "crate::forms::geo_area")]
    pub area: GeoArea,
    /// The document that has the area, which is not read yet.
    pub indexed: Option<IndexedShape>,
    /// How they must lie.
    #[serde(with = "crate::forms::GeoRelationForm")]
    pub relation: GeoRelation,
    /// Whether a field that is not mapped matches nothing instead of failing.
    pub ignore_unmapped: bool,
    /// The score.
    pub boost: f32,
}

/// A shape that a document has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IndexedShape {
    /// The document.
    pub document: DocumentName,
    /// The dotted path of the shape in it.
    pub path: String,
}

//! Points on the earth: how they are written, how they lie in a column, how far they are from each
//! other, and which of them an area holds.
//!
//! A column of points keeps latitude and longitude as 32 bits each in one number, so the points of a
//! document with several stay whole; that is Lucene's precision too (about a centimetre).
//! A column of shapes keeps their points as finely, and is compared by whole numbers.

mod area;
mod date_line;
mod distance;
mod geometry;
mod kept;
mod plane;
pub(crate) mod point;
mod relate;
mod rings;
mod shape;
mod wkt;
mod written;

pub use area::{GeoArea, GeoRelation};
pub use distance::{DistanceUnit, parse_distance};
pub use geometry::{ShapeRules, ShapeUse, clockwise};
pub use kept::KeptShape;
pub use point::GeoPoint;
pub use relate::{AskedShape, IsOver};
pub use shape::shape_corners;
pub(crate) use shape::shape_values;

//! Points on the earth: how they are written, how they lie in a column, how far they are from each
//! other, and which of them an area holds.
//!
//! A column keeps latitude and longitude as 32 bits each in one number, so the points of a
//! document with several stay whole; that is Lucene's precision too (about a centimetre).

mod area;
mod distance;
pub(crate) mod point;
mod wkt;
mod written;

pub use area::{GeoArea, GeoRelation};
pub use distance::{DistanceUnit, parse_distance};
pub use point::GeoPoint;

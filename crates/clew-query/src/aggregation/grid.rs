//! Which cells of the earth's surface are meant.

use serde::{Deserialize, Serialize};

/// The finest geohash there is.
pub const GEOHASH_MAX: u8 = 12;
/// The finest zoom there is.
pub const ZOOM_MAX: u8 = 29;

/// Which cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grid {
    /// Geohashes of so many characters.
    Geohash {
        /// From 1 to [`GEOHASH_MAX`].
        precision: u8,
    },
    /// Tiles at a zoom.
    Geotile {
        /// From 0 to [`ZOOM_MAX`].
        zoom: u8,
    },
    /// Hexagons of H3.
    Geohex {
        /// From 0 to [`Grid::RESOLUTION_MAX`].
        resolution: u8,
    },
}

/// A box that points must lie in, by its sides in degrees; where `left` is greater than `right` it crosses the date line.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridBounds {
    /// Northern latitude.
    pub top: f64,
    /// Western longitude.
    pub left: f64,
    /// Southern latitude.
    pub bottom: f64,
    /// Eastern longitude.
    pub right: f64,
}

impl Grid {
    /// The finest resolution of hexagons there is.
    pub const RESOLUTION_MAX: u8 = 15;
}

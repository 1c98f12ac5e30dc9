//! Cells of the earth's surface: geohashes, which halve it by turns, the tiles of web maps, and the hexagons of H3.

use clew_query::aggregation::Grid;
use clew_schema::geo::GeoPoint;
use h3o::{LatLng, Resolution};

/// Web maps end here, so that the world is a square.
const TILE_LATITUDE_MAX: f64 = 85.051_128_779_806_59;

const DIGITS: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// The number of the cell that a point lies in.
pub(crate) fn cell_of(grid: Grid, point: GeoPoint) -> u64 {
    match grid {
        Grid::Geohash { precision } => geohash(point, precision),
        Grid::Geotile { zoom } => {
            let (x, y) = tile(point, zoom);
            u64::from(x) << 32 | u64::from(y)
        }
        Grid::Geohex { resolution } => hexagon(point, resolution),
    }
}

/// The name of a cell.
pub(crate) fn name_of(grid: Grid, cell: u64) -> String {
    match grid {
        Grid::Geohash { precision } => {
            let digit = |place: u8| {
                let at = usize::try_from(cell >> (5 * (precision - 1 - place)) & 31);
                char::from(DIGITS[at.unwrap_or(0)])
            };
            (0..precision).map(digit).collect()
        }
        Grid::Geotile { zoom } => format!("{zoom}/{}/{}", cell >> 32, cell & 0xFFFF_FFFF),
        Grid::Geohex { .. } => format!("{cell:x}"),
    }
}

pub(super) fn geohash(point: GeoPoint, precision: u8) -> u64 {
    let (mut lat, mut lon) = ((-90.0, 90.0), (-180.0, 180.0));
    let mut hash = 0;
    for bit in 0..u32::from(precision) * 5 {
        let (range, value) = if bit % 2 == 0 {
            (&mut lon, point.lon)
        } else {
            (&mut lat, point.lat)
        };
        let middle: f64 = (range.0 + range.1) / 2.0;
        let upper = value >= middle;
        if upper {
            range.0 = middle;
        } else {
            range.1 = middle;
        }
        hash = hash << 1 | u64::from(upper);
    }
    hash
}

fn hexagon(point: GeoPoint, resolution: u8) -> u64 {
    let resolution = Resolution::try_from(resolution).unwrap_or(Resolution::Fifteen);
    let place = LatLng::new(point.lat, point.lon).expect("a point of a column has finite degrees");
    place.to_cell(resolution).into()
}

pub(super) fn tile(point: GeoPoint, zoom: u8) -> (u32, u32) {
    let count = f64::from(1_u32 << zoom);
    let x = (point.lon + 180.0) / 360.0;
    let latitude = point
        .lat
        .clamp(-TILE_LATITUDE_MAX, TILE_LATITUDE_MAX)
        .to_radians();
    let y = 0.5 - latitude.tan().asinh() / std::f64::consts::TAU;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is between 0 and the number of tiles"
    )]
    let place = |share: f64| (share * count).floor().clamp(0.0, count - 1.0) as u32;
    (place(x), place(y))
}

#[cfg(test)]
mod tests {
    use h3o::CellIndex;

    use super::*;

    #[test]
    fn hexagons_have_the_names_that_their_makers_give_them() {
        let liberty = (40.689_167, -74.044_444);
        let bay = (37.361_559_3, -122.055_323_8);
        for ((lat, lon), resolution, name) in [
            (liberty, 10, "8a2a1072b59ffff"),
            (bay, 5, "85283473fffffff"),
            (bay, 7, "87283472bffffff"),
        ] {
            let grid = Grid::Geohex { resolution };
            assert_eq!(name_of(grid, cell_of(grid, GeoPoint { lat, lon })), name);
        }
    }

    #[test]
    fn the_middle_of_a_hexagon_lies_in_it_and_in_those_around_it() {
        for (at, lat) in (0_i32..).zip([-89.9, -33.86, 0.0, 35.68, 51.5, 89.9]) {
            let lon = f64::from(at * 71 - 179);
            for resolution in 0..=Grid::RESOLUTION_MAX {
                let grid = Grid::Geohex { resolution };
                let cell = cell_of(grid, GeoPoint { lat, lon });
                let index = CellIndex::try_from(cell).unwrap();
                let middle = LatLng::from(index);
                let middle = GeoPoint {
                    lat: middle.lat(),
                    lon: middle.lng(),
                };
                assert_eq!(cell_of(grid, middle), cell);
                let around = index.parent(Resolution::Zero).unwrap();
                assert_eq!(around.base_cell(), index.base_cell());
            }
        }
    }

    #[test]
    fn cells_have_their_known_names() {
        let amsterdam = GeoPoint {
            lat: 52.374_081,
            lon: 4.912_350,
        };
        for (grid, name) in [
            (Grid::Geohash { precision: 3 }, "u17"),
            (Grid::Geohash { precision: 5 }, "u173z"),
            (Grid::Geotile { zoom: 8 }, "8/131/84"),
            (Grid::Geotile { zoom: 0 }, "0/0/0"),
        ] {
            assert_eq!(name_of(grid, cell_of(grid, amsterdam)), name);
        }
    }
}

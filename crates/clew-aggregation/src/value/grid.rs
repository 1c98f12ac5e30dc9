//! Cells of the earth's surface: geohashes, which halve it by turns, and the tiles of web maps.

use clew_query::aggregation::Grid;
use clew_schema::geo::GeoPoint;

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
    }
}

fn geohash(point: GeoPoint, precision: u8) -> u64 {
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

fn tile(point: GeoPoint, zoom: u8) -> (u32, u32) {
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
    use super::*;

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

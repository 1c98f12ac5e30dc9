//! Cells of maps that a shape touches, of those between the cells of the corners of its bounds.
//!
//! The cells between the corners are halved again and again, and what the shape does not touch is left out as a whole, what
//! it covers taken as a whole. So the cost is that of the cells at its edges, times the logarithm of those between, times a
//! look at the edges, and a step for each other cell.
//!
//! Deliberately absent: hexagons, which lie in no columns and rows.

use clew_platform::Pace;
use clew_query::AggError;
use clew_query::aggregation::Grid;
use clew_schema::geo::{GeoArea, GeoPoint, KeptShape};

use crate::value::grid::{geohash, tile};

/// Cells that one shape may have.
const CELLS_MAX: usize = 1 << 20;

/// The cells that a shape touches; none of hexagons, and none once nobody waits for them.
///
/// # Errors
/// [`AggError::TooLarge`] when it has more than 1,048,576.
pub(crate) fn cells_of(grid: Grid, shape: &KeptShape) -> Result<Vec<u64>, AggError> {
    let mut found = Vec::new();
    let Some(board) = Board::of(grid) else {
        return Ok(found);
    };
    let mut pace = Pace::of_blocks();
    let mut waiting = vec![Block::between(
        shape.corners().map(|corner| board.place(corner)),
    )];
    while let Some(block) = waiting.pop() {
        if pace.is_over() {
            return Ok(Vec::new());
        }
        let area = board.area(block);
        if !shape.touches(&area) {
            continue;
        }
        if let Some(halves) = block.halves()
            && !shape.covers(&area)
        {
            waiting.extend(halves);
            continue;
        }
        let count = usize::try_from(block.count()).unwrap_or(usize::MAX);
        let wanted = found.len().saturating_add(count);
        if wanted > CELLS_MAX {
            return Err(AggError::TooLarge {
                wanted_bytes: wanted.saturating_mul(size_of::<u64>()),
                max_bytes: CELLS_MAX * size_of::<u64>(),
            });
        }
        found.extend(block.places().map(|place| board.cell(place)));
    }
    Ok(found)
}

/// A grid whose cells lie in columns, from west to east, and rows.
#[derive(Clone, Copy, Debug)]
enum Board {
    /// Rows go from south to north.
    Geohash { precision: u8 },
    /// Rows go from north to south.
    Tiles { zoom: u8 },
}

/// Cells side by side: the first and the last column and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    columns: (u32, u32),
    rows: (u32, u32),
}

impl Block {
    /// Around two cells, by their columns and rows.
    fn between([one, other]: [(u32, u32); 2]) -> Self {
        Block {
            columns: (one.0.min(other.0), one.0.max(other.0)),
            rows: (one.1.min(other.1), one.1.max(other.1)),
        }
    }

    /// How many cells it has.
    fn count(self) -> u64 {
        let width = self.columns.1 - self.columns.0 + 1;
        let height = self.rows.1 - self.rows.0 + 1;
        u64::from(width) * u64::from(height)
    }

    /// The column and the row of each cell.
    fn places(self) -> impl Iterator<Item = (u32, u32)> {
        let (first, last) = self.rows;
        let in_column = move |column: u32| (first..=last).map(move |row| (column, row));
        (self.columns.0..=self.columns.1).flat_map(in_column)
    }

    /// Its halves; `None` of one cell.
    fn halves(self) -> Option<[Block; 2]> {
        let width = self.columns.1 - self.columns.0;
        let height = self.rows.1 - self.rows.0;
        if width == 0 && height == 0 {
            return None;
        }
        let split = |(first, last): (u32, u32)| {
            let middle = first + (last - first) / 2;
            [(first, middle), (middle + 1, last)]
        };
        Some(match width >= height {
            true => split(self.columns).map(|columns| Block { columns, ..self }),
            false => split(self.rows).map(|rows| Block { rows, ..self }),
        })
    }
}

impl Board {
    fn of(grid: Grid) -> Option<Self> {
        match grid {
            Grid::Geohash { precision } => Some(Board::Geohash { precision }),
            Grid::Geotile { zoom } => Some(Board::Tiles { zoom }),
            Grid::Geohex { .. } => None,
        }
    }

    /// The column and the row that a point lies in.
    fn place(self, point: GeoPoint) -> (u32, u32) {
        match self {
            Board::Geohash { precision } => apart(geohash(point, precision), precision),
            Board::Tiles { zoom } => tile(point, zoom),
        }
    }

    /// The number of the cell in a column and a row.
    fn cell(self, (column, row): (u32, u32)) -> u64 {
        match self {
            Board::Geohash { precision } => together((column, row), precision),
            Board::Tiles { .. } => u64::from(column) << 32 | u64::from(row),
        }
    }

    /// What the cells of a block cover.
    fn area(self, block: Block) -> GeoArea {
        let (columns, rows) = self.counts();
        let meridian = |column: u32| f64::from(column) / columns * 360.0 - 180.0;
        let parallel = |row: u32| {
            let share = f64::from(row) / rows;
            match self {
                Board::Geohash { .. } => share * 180.0 - 90.0,
                Board::Tiles { .. } => {
                    let height = (0.5 - share) * std::f64::consts::TAU;
                    height.sinh().atan().to_degrees()
                }
            }
        };
        let (one, other) = (parallel(block.rows.0), parallel(block.rows.1 + 1));
        GeoArea::Rectangle {
            top: one.max(other),
            left: meridian(block.columns.0),
            bottom: one.min(other),
            right: meridian(block.columns.1 + 1),
        }
    }

    /// How many columns and rows there are.
    fn counts(self) -> (f64, f64) {
        let count = |bits: u32| f64::from(1_u32 << bits);
        match self {
            Board::Geohash { precision } => {
                let bits = 5 * u32::from(precision);
                (count(bits.div_ceil(2)), count(bits / 2))
            }
            Board::Tiles { zoom } => (count(zoom.into()), count(zoom.into())),
        }
    }
}

/// The column and the row of a geohash, whose bits are of the one and the other by turns.
fn apart(hash: u64, precision: u8) -> (u32, u32) {
    let bits = 5 * u32::from(precision);
    let (mut column, mut row) = (0_u32, 0_u32);
    for bit in 0..bits {
        let upper = u32::from(hash >> (bits - 1 - bit) & 1 == 1);
        let number = if bit % 2 == 0 { &mut column } else { &mut row };
        *number = *number << 1 | upper;
    }
    (column, row)
}

/// The geohash of a column and a row.
fn together((column, row): (u32, u32), precision: u8) -> u64 {
    let bits = 5 * u32::from(precision);
    let (mut columns_left, mut rows_left) = (bits.div_ceil(2), bits / 2);
    let mut hash = 0;
    for bit in 0..bits {
        let (number, left) = if bit % 2 == 0 {
            (column, &mut columns_left)
        } else {
            (row, &mut rows_left)
        };
        *left -= 1;
        hash = hash << 1 | u64::from(number >> *left & 1);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::grid::cell_of;

    #[test]
    fn cells_lie_where_their_points_do() {
        let points = [(-90.0, -180.0), (0.0, 0.0), (52.37, 4.91), (-33.9, 151.2)];
        let geohashes = (1..=12).map(|precision| Grid::Geohash { precision });
        let tiles = (0..=29).map(|zoom| Grid::Geotile { zoom });
        for grid in geohashes.chain(tiles) {
            let board = Board::of(grid).unwrap();
            for (lat, lon) in points {
                let point = GeoPoint { lat, lon };
                let place = board.place(point);
                let block = Block::between([place, place]);
                assert_eq!(block.halves(), None);
                assert_eq!(board.cell(place), cell_of(grid, point), "{grid:?}");
                let in_map = lat > -85.0 || matches!(board, Board::Geohash { .. });
                assert!(
                    !in_map || board.area(block).holds(point),
                    "{grid:?} {point:?}"
                );
            }
        }
        assert!(Board::of(Grid::Geohex { resolution: 1 }).is_none());
    }

    #[test]
    fn halves_have_every_cell_once() {
        let whole = Block::between([(3, 9), (7, 2)]);
        let mut waiting = vec![whole];
        let mut cells = Vec::new();
        while let Some(block) = waiting.pop() {
            match block.halves() {
                Some(halves) => waiting.extend(halves),
                None => cells.extend(block.places()),
            }
        }
        cells.sort_unstable();
        assert_eq!(cells, whole.places().collect::<Vec<_>>());
        assert_eq!((whole.count(), cells.len()), (40, 40));
        assert_eq!((cells[0], cells[39]), ((3, 2), (7, 9)));
    }
}

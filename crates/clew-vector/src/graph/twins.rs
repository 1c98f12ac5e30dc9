//! Equal vectors, kept out of the graph's structure.
//!
//! Many rows with the very same vector (empty documents, boilerplate) would link only to each other:
//! an island that swallows walks. So only the first of them is inserted, and the others hang from it
//! in a chain. A walk follows the chain exactly as long as such rows belong among its candidates.

use crate::graph::NONE;
use crate::rows::Rows;

/// Each row whose vector occurred before, and the last row before it with that vector.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    /// Pairs (previous, row), by row.
    chain: Vec<(u32, u32)>,
}

impl Twins {
    /// Finds equal vectors, to the bit.
    pub(crate) fn find(rows: &Rows<'_>) -> Self {
        let bytes = |row: u32| rows.row_bytes(row);
        let numbers = (0_u32..).take(rows.count());
        let mut hashed: Vec<(u32, u32)> = numbers
            .map(|row| (crc32c::crc32c(bytes(row)), row))
            .collect();
        hashed.sort_unstable();
        let mut chain = Vec::new();
        for same_hash in hashed.chunk_by(|a, b| a.0 == b.0) {
            let mut previous = same_hash[0].1;
            // Vectors that only share the hash of the first are left alone: they are few.
            for &(_, row) in &same_hash[1..] {
                if bytes(row) == bytes(previous) {
                    chain.push((previous, row));
                    previous = row;
                }
            }
        }
        chain.sort_unstable_by_key(|&(_, row)| row);
        Twins { chain }
    }

    /// True when the vector of `row` occurred before.
    pub(crate) fn contains(&self, row: u32) -> bool {
        self.chain
            .binary_search_by_key(&row, |&(_, twin)| twin)
            .is_ok()
    }

    /// Hangs every twin into the level-0 list of the row before it. A full list gives up its last
    /// link, the least important of those that were selected.
    pub(crate) fn attach(&self, links: &mut [u32], stride: usize) {
        for &(previous, row) in &self.chain {
            let list = &mut links[previous as usize * stride..][..stride];
            let free = list
                .iter()
                .position(|&slot| slot == NONE)
                .unwrap_or(stride - 1);
            list[free] = row;
        }
    }
}

//! Which candidates become neighbours: near ones, but none that lies in the shadow of another.

use crate::rank::Ranked;
use crate::rows::Rows;

/// Fills `chosen` with at most `max` of the ordered `candidates`.
///
/// A candidate is left out when one chosen before is nearer to it than the centre is: the walk can
/// reach it through that one. Links then point in different directions, which is what keeps
/// clusters connected. Relaxing the test by a factor of 1.1 gained a little on even data, but lost
/// the bridges between tight clusters (recall@10 at ef 64 fell from 1.00 to 0.88 on 150,000 vectors
/// in 1,500 clusters), so there is none.
pub(crate) fn select(rows: &Rows<'_>, candidates: &[Ranked], max: usize, chosen: &mut Vec<u32>) {
    chosen.clear();
    for one in candidates {
        let (row, distance) = (one.row(), one.distance());
        let shadowed = chosen
            .iter()
            .any(|&other| rows.between(row, other) < distance);
        if !shadowed {
            chosen.push(row);
            if chosen.len() == max {
                return;
            }
        }
    }
}

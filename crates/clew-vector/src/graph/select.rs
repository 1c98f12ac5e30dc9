//! Which candidates become neighbours: near ones, but none that lies in the shadow of another.

use crate::graph::metric::Metric;
use crate::rank::Ranked;

/// Fills `chosen` with at most `max` of the ordered `candidates`.
///
/// A candidate is left out when one chosen before is nearer to it than the centre is, by the
/// metric's relaxation: the walk can reach it through that one. Links then point in different
/// directions, which is what keeps clusters connected.
pub(crate) fn select<M: Metric>(
    metric: &M,
    candidates: &[Ranked],
    max: usize,
    chosen: &mut Vec<u32>,
) {
    chosen.clear();
    let relaxation = metric.relaxation();
    for one in candidates {
        let (row, distance) = (one.row(), one.distance());
        let shadowed = chosen
            .iter()
            .any(|&other| metric.between(row, other) * relaxation < distance);
        if !shadowed {
            chosen.push(row);
            if chosen.len() == max {
                return;
            }
        }
    }
}

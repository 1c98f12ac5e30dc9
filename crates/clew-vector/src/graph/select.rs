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

/// The same among `candidates` of which those in `known` were chosen together before, by the same distances to the same
/// centre: these are not in each other's shadow, and only what comes to them is measured. `chosen` are all that are chosen now, and
/// those that were not known.
pub(crate) fn select_again<M: Metric>(
    metric: &M,
    candidates: &[Ranked],
    (known, max): (&[u32], usize),
    (chosen, fresh): (&mut Vec<u32>, &mut Vec<u32>),
) {
    chosen.clear();
    fresh.clear();
    let relaxation = metric.relaxation();
    for one in candidates {
        let (row, distance) = (one.row(), one.distance());
        let is_known = known.contains(&row);
        let others = if is_known { &fresh[..] } else { &chosen[..] };
        let shadowed = others
            .iter()
            .any(|&other| metric.between(row, other) * relaxation < distance);
        if shadowed {
            continue;
        }
        chosen.push(row);
        if !is_known {
            fresh.push(row);
        }
        if chosen.len() == max {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_kernels::kernels;

    use super::*;
    use crate::element::OwnedValues;
    use crate::graph::metric::Exact;
    use crate::rows::{Geometry, Rows};
    use crate::{Element, Space};

    #[test]
    fn what_was_chosen_before_need_not_be_measured_to_choose_the_same() {
        const DIMENSION: usize = 8;
        const MAX: usize = 12;
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from((state >> 16) as u16)
        };
        let mut values = OwnedValues::new(Element::F32);
        for _ in 0..200 {
            let row: Vec<f32> = (0..DIMENSION).map(|_| number()).collect();
            values.push(&row);
        }
        let metric = Exact {
            rows: Rows {
                values: values.view(),
                bytes: values.bytes(),
                pitch: Element::F32.row_bytes(DIMENSION),
                numbers: DIMENSION,
                geometry: Geometry::new(Space::L2, &[]),
                kernels: kernels(),
            },
        };
        let ranked = |centre: u32, list: &[u32]| {
            let mut distances = vec![0.0; list.len()];
            metric.measure(centre, list, &mut distances);
            let pairs = list.iter().zip(&distances);
            let mut all: Vec<Ranked> = pairs
                .map(|(&row, &distance)| Ranked::new(distance, row))
                .collect();
            all.sort_unstable();
            all
        };
        let (mut came, mut went) = (0, 0);
        for centre in 0..50 {
            let (mut known, mut whole) = (Vec::new(), Vec::new());
            let (mut chosen, mut fresh) = (Vec::new(), Vec::new());
            let first: Vec<u32> = (50..120).collect();
            select(&metric, &ranked(centre, &first), MAX, &mut known);
            let list: Vec<u32> = known.iter().copied().chain(120..150).collect();
            let candidates = ranked(centre, &list);
            select(&metric, &candidates, MAX, &mut whole);
            select_again(
                &metric,
                &candidates,
                (&known, MAX),
                (&mut chosen, &mut fresh),
            );
            assert_eq!(chosen, whole, "{centre}");
            came += fresh.len();
            went += known.iter().filter(|row| !chosen.contains(row)).count();
        }
        assert!(came > 0 && went > 0, "{came} came, {went} went");
    }
}

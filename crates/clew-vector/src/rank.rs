//! One number that orders candidates: distance first, then row, so that ties are broken the same
//! way everywhere and a comparison is one instruction.

/// A candidate of a search. Bits, high to low: distance, row, "passes the filter", "expanded".
///
/// The distance is stored so that unsigned order is numeric order. The two marks are the lowest
/// bits and rows are unique, so marks never change the order of two candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct Ranked(u64);

const PASSING: u64 = 0b10;
const EXPANDED: u64 = 0b01;
const SIGN: u32 = 1 << 31;

impl Ranked {
    /// Greater than every candidate with a finite distance.
    pub(crate) const WORST: Ranked = Ranked(u64::MAX);

    #[inline]
    pub(crate) fn new(distance: f32, row: u32) -> Self {
        // Not a number sorts last, and both zeros are one distance.
        let bits = (distance.min(f32::INFINITY) + 0.0).to_bits();
        let ordered = if bits & SIGN == 0 { bits | SIGN } else { !bits };
        Ranked(u64::from(ordered) << 32 | u64::from(row) << 2)
    }

    #[inline]
    pub(crate) fn mark_passing(self, passing: bool) -> Self {
        Ranked(self.0 | if passing { PASSING } else { 0 })
    }

    #[inline]
    pub(crate) fn mark_expanded(self) -> Self {
        Ranked(self.0 | EXPANDED)
    }

    #[inline]
    pub(crate) fn is_passing(self) -> bool {
        self.0 & PASSING != 0
    }

    #[inline]
    pub(crate) fn is_expanded(self) -> bool {
        self.0 & EXPANDED != 0
    }

    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "takes the low and the high half"
    )]
    pub(crate) fn row(self) -> u32 {
        (self.0 as u32) >> 2
    }

    #[inline]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "32 bits remain after the shift"
    )]
    pub(crate) fn distance(self) -> f32 {
        let ordered = (self.0 >> 32) as u32;
        f32::from_bits(if ordered & SIGN != 0 {
            ordered ^ SIGN
        } else {
            !ordered
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_by_distance_then_row() {
        let rising = [
            (f32::NEG_INFINITY, 0),
            (-2.0, 5),
            (-0.0, 1),
            (0.0, 2),
            (1e-30, 0),
            (1.0, 0),
            (1.0, (1 << 30) - 1),
            (f32::MAX, 0),
            (f32::NAN, 3),
            (-f32::NAN, 4),
        ];
        let ranked: Vec<_> = rising.iter().map(|&(d, row)| Ranked::new(d, row)).collect();
        assert!(ranked.is_sorted(), "{ranked:?}");
        assert!(ranked.iter().all(|&one| one < Ranked::WORST));
    }

    #[test]
    fn distance_row_and_marks_come_back() {
        for distance in [-3.5, 0.0, 1e-38, 7.25, f32::INFINITY] {
            let marked = Ranked::new(distance, 77).mark_passing(true).mark_expanded();
            assert_eq!((marked.distance(), marked.row()), (distance, 77));
            assert!(marked.is_passing() && marked.is_expanded());
            assert!(!Ranked::new(distance, 77).is_passing());
        }
    }
}

//! Several numbers of a document as the one that it is sorted by.

use std::cmp::Ordering;

/// A number of a column.
pub(super) trait SortNumber: Copy {
    /// Which of two comes first.
    fn order(a: &Self, b: &Self) -> Ordering;
    /// Both together; whole numbers stop at their last.
    fn plus(a: Self, b: Self) -> Self;
    /// The mean of at least one; whole numbers are rounded to the nearest.
    fn mean(values: &[Self]) -> Self;
}

impl SortNumber for i64 {
    fn order(a: &Self, b: &Self) -> Ordering {
        a.cmp(b)
    }
    fn plus(a: Self, b: Self) -> Self {
        a.saturating_add(b)
    }
    fn mean(values: &[Self]) -> Self {
        let sum: i128 = values.iter().map(|value| i128::from(*value)).sum();
        let count = i128::try_from(values.len()).unwrap_or(i128::MAX);
        // Halves go up, as Java rounds.
        let mean = (2 * sum + count).div_euclid(2 * count);
        i64::try_from(mean).unwrap_or(i64::MAX)
    }
}

impl SortNumber for u64 {
    fn order(a: &Self, b: &Self) -> Ordering {
        a.cmp(b)
    }
    fn plus(a: Self, b: Self) -> Self {
        a.saturating_add(b)
    }
    fn mean(values: &[Self]) -> Self {
        let sum: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let count = values.len() as u128;
        u64::try_from((2 * sum + count) / (2 * count)).unwrap_or(u64::MAX)
    }
}

impl SortNumber for f64 {
    fn order(a: &Self, b: &Self) -> Ordering {
        a.total_cmp(b)
    }
    fn plus(a: Self, b: Self) -> Self {
        a + b
    }
    #[allow(
        clippy::cast_precision_loss,
        reason = "a document has far fewer values than a float counts exactly"
    )]
    fn mean(values: &[Self]) -> Self {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_whole_numbers_are_rounded_half_up() {
        assert_eq!(i64::mean(&[1, 2]), 2);
        assert_eq!(i64::mean(&[-1, -2]), -1);
        assert_eq!(i64::mean(&[i64::MAX, i64::MAX]), i64::MAX);
        assert_eq!(u64::mean(&[u64::MAX, u64::MAX - 1]), u64::MAX);
    }
}

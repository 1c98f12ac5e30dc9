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
    #[allow(
        clippy::cast_precision_loss,
        reason = "a mean is as precise as a float, which is how it is known"
    )]
    fn mean(values: &[Self]) -> Self {
        let [only] = values else {
            // In floats, halves going up: what clients of OpenSearch are used to.
            let sum = values
                .iter()
                .fold(0_i64, |sum, value| sum.wrapping_add(*value));
            return half_up(sum as f64 / values.len() as f64);
        };
        *only
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the conversion saturates, which keeps the order"
)]
fn half_up(number: f64) -> i64 {
    (number + 0.5).floor() as i64
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
        assert_eq!(i64::mean(&[i64::MAX]), i64::MAX);
        assert_eq!(u64::mean(&[u64::MAX, u64::MAX - 1]), u64::MAX);
    }
}

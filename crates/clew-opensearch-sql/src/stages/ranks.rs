//! Numbers that rows have by their places among others: shares of a whole, parts of one size, means of the last ones.

use serde_json::Value;

use crate::functions::cast::float;

/// Which part of a whole some rows are; no part of nothing.
pub(crate) fn share(part: usize, whole: usize) -> Value {
    let number = |count: usize| u32::try_from(count).map_or(f64::INFINITY, f64::from);
    match whole {
        0 => float(0.0),
        whole => float(number(part) / number(whole)),
    }
}

/// The number of the part that a row is in, of so many; the first parts have a row more where they cannot be of one size.
pub(crate) fn tile(at: usize, rows: usize, count: usize) -> usize {
    let (size, larger) = (rows / count, rows % count);
    let in_larger = larger * (size + 1);
    let rest = at.saturating_sub(in_larger).checked_div(size);
    match rest {
        Some(rest) if at >= in_larger => larger + rest + 1,
        _ => at / (size + 1) + 1,
    }
}

/// `None` where one of the numbers is not known.
pub(crate) fn moving_mean(
    numbers: impl Iterator<Item = Option<f64>>,
    is_weighted: bool,
) -> Option<f64> {
    let (mut sum, mut weights, mut weight) = (0.0, 0.0, 1.0);
    for number in numbers {
        sum += weight * number?;
        weights += weight;
        weight += if is_weighted { 1.0 } else { 0.0 };
    }
    Some(sum / weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_size_come_behind_those_with_a_row_more() {
        let tiles = |rows: usize, count: usize| -> Vec<usize> {
            (0..rows).map(|at| tile(at, rows, count)).collect()
        };
        assert_eq!(tiles(5, 2), [1, 1, 1, 2, 2]);
        assert_eq!(tiles(4, 4), [1, 2, 3, 4]);
        assert_eq!(tiles(2, 5), [1, 2]);
        assert_eq!(tiles(7, 3), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!([share(1, 4), share(0, 0)], [0.25, 0.0].map(Value::from));
    }
}

//! Numbers that benchmarks are given on the command line: what nothing can be measured by is refused before anything is done.

use anyhow::ensure;

/// Rounds, threads, neighbours and efforts are no more.
const MAX: usize = 1_000_000;

/// A whole number of one at least.
pub(crate) fn one_or_more(text: &str) -> anyhow::Result<usize> {
    let given: usize = text.parse()?;
    ensure!((1..=MAX).contains(&given), "it has to be from 1 to {MAX}");
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_is_no_number_to_measure_by() {
        assert_eq!(one_or_more("7").unwrap(), 7);
        for text in ["0", "-1", "1000001", "1.5", ""] {
            assert!(one_or_more(text).is_err(), "{text}");
        }
    }
}

//! Quantiles of positive numbers with a fixed number of significant digits: one counter per step
//! of a histogram whose steps grow with the value (Gil Tene's HdrHistogram).

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

/// Counts per step; zero has a step of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Hdr {
    /// Written as pairs, since not every format has keys that are no texts.
    #[serde(with = "pairs")]
    counts: BTreeMap<Step, u64>,
    total: u64,
}

/// A step: values from `(1 + place / halves) * 2^exponent` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Step {
    exponent: i32,
    place: u32,
}

/// A map as a list of its pairs.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Step;

    pub(super) fn serialize<S: Serializer>(
        counts: &BTreeMap<Step, u64>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        counts.iter().collect::<Vec<_>>().serialize(out)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        input: D,
    ) -> Result<BTreeMap<Step, u64>, D::Error> {
        let pairs = Vec::<(Step, u64)>::deserialize(input)?;
        Ok(pairs.into_iter().collect())
    }
}

const ZERO: Step = Step {
    exponent: i32::MIN,
    place: 0,
};

/// How many steps lie between a power of two and the next.
fn halves(digits: u8) -> f64 {
    (2.0 * 10_f64.powi(i32::from(digits))).log2().ceil().exp2() / 2.0
}

fn exponent_of(value: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation, reason = "exponents are within 1100")]
    let exponent = value.log2().floor() as i32;
    // The logarithm may round up to a whole number.
    if value < f64::from(exponent).exp2() {
        exponent - 1
    } else {
        exponent
    }
}

impl Hdr {
    /// Counts a value; `false` when it is negative or not a number, which no step holds.
    pub(crate) fn add(&mut self, value: f64, digits: u8) -> bool {
        if !(value >= 0.0 && value.is_finite()) {
            return false;
        }
        let step = if value == 0.0 {
            ZERO
        } else {
            let exponent = exponent_of(value);
            let part = value / f64::from(exponent).exp2() - 1.0;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the part is between 0 and 1, and there are at most 2^17 steps"
            )]
            let place = (part * halves(digits)).floor() as u32;
            Step { exponent, place }
        };
        *self.counts.entry(step).or_insert(0) += 1;
        self.total += 1;
        true
    }

    pub(crate) fn merge(&mut self, other: Hdr) {
        for (step, count) in other.counts {
            *self.counts.entry(step).or_insert(0) += count;
        }
        self.total += other.total;
    }

    /// Exponent of the least value, which says how fine the steps can be told apart.
    fn least_exponent(&self) -> i32 {
        let first = self.counts.keys().find(|step| **step != ZERO);
        first.map_or(0, |step| step.exponent)
    }

    /// The greatest value of a step.
    fn top(&self, step: Step, digits: u8) -> f64 {
        if step == ZERO {
            return 0.0;
        }
        let halves = halves(digits);
        let width = f64::from(step.exponent).exp2() / halves;
        let unit = f64::from(self.least_exponent()).exp2() / halves;
        f64::from(step.exponent).exp2() + (f64::from(step.place) + 1.0) * width - unit
    }

    /// The values at each of the ranks (0 to 1); `None` of nothing.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn quantiles(&self, ranks: &[f64], digits: u8) -> Vec<Option<f64>> {
        let one = |rank: &f64| {
            // A little less, so that what rounding added does not make it one more.
            let percent = (rank.clamp(0.0, 1.0) * 100.0).next_down();
            let wanted = (percent * self.total as f64 / 100.0).ceil() as u64;
            let wanted = wanted.max(1);
            let mut seen = 0;
            let step = self.counts.iter().find(|(_, count)| {
                seen += **count;
                seen >= wanted
            });
            step.map(|(step, _)| self.top(*step, digits))
        };
        ranks.iter().map(one).collect()
    }

    /// The share of values up to each value; `None` of nothing.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn ranks(&self, values: &[f64], digits: u8) -> Vec<Option<f64>> {
        let one = |value: &f64| {
            (self.total > 0).then(|| {
                let mut own = Hdr::default();
                own.add(*value, digits);
                let last = own.counts.keys().next().copied();
                let below = last.map_or(0, |last| {
                    self.counts.range(..=last).map(|(_, count)| *count).sum()
                });
                below as f64 / self.total as f64
            })
        };
        values.iter().map(one).collect()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.counts.len() * (size_of::<Step>() + size_of::<u64>()) * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_three_digits() {
        let mut hdr = Hdr::default();
        for value in [1.0, 51.0, 101.0, 151.0] {
            assert!(hdr.add(value, 3));
        }
        let read = hdr.quantiles(&[0.01, 0.5, 0.75, 0.99], 3);
        let read: Vec<f64> = read.into_iter().flatten().collect();
        assert_eq!(read, [1.0, 51.0302734375, 101.0615234375, 151.1240234375]);
        assert_eq!(hdr.ranks(&[51.0, 0.5], 3), [Some(0.5), Some(0.0)]);
        assert!(!hdr.add(-1.0, 3));
        // A rank between two values is that of the greater one, however near it is to the other.
        let read = hdr.quantiles(&[0.51], 3);
        assert_eq!(read, [Some(101.0615234375)]);
    }

    #[test]
    fn the_error_is_within_the_digits() {
        let mut hdr = Hdr::default();
        for at in 1..=10_000_u32 {
            hdr.add(f64::from(at) * 1.7, 2);
        }
        for (rank, value) in [(0.1, 1_700.0), (0.5, 8_500.0), (0.99, 16_830.0)] {
            let read = hdr.quantiles(&[rank], 2)[0].unwrap();
            assert!((read / value - 1.0).abs() < 0.01, "{rank}: {read}");
        }
    }
}

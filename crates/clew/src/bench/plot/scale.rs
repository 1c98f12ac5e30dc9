//! From values to places on an axis.

/// Beyond this factor between least and greatest, an axis is logarithmic.
const LINEAR_FACTOR_MAX: f64 = 10.0;
/// About so many marks on a linear axis.
const MARKS: f64 = 6.0;

/// An axis: which values it shows, and where.
#[derive(Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Scale {
    /// For these values, of which there is one at least.
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        if low > 0.0 && high / low > LINEAR_FACTOR_MAX {
            return Scale {
                low: low / 1.15,
                high: high * 1.15,
                is_log: true,
            };
        }
        // A single value stands in the middle.
        let room = match high > low {
            true => 0.06 * (high - low),
            false => (0.5 * high.abs()).max(0.5),
        };
        let low = match low >= 0.0 {
            true => (low - room).max(0.0),
            false => low - room,
        };
        Scale {
            low,
            high: high + room,
            is_log: false,
        }
    }

    /// The place of a value, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let at = |value: f64| match self.is_log {
            true => value.log10(),
            false => value,
        };
        (at(value) - at(self.low)) / (at(self.high) - at(self.low))
    }

    /// The values that are marked.
    pub(super) fn marks(&self) -> Vec<f64> {
        let candidates: Vec<f64> = match self.is_log {
            true => self.logarithmic(),
            false => {
                let step = step((self.high - self.low) / MARKS);
                let first = (self.low / step).ceil();
                (0..100).map(|at| (first + f64::from(at)) * step).collect()
            }
        };
        let inside = |mark: &f64| (self.low..=self.high).contains(mark);
        candidates.into_iter().filter(inside).collect()
    }

    /// Powers of ten, with steps between while these do not stand too close.
    fn logarithmic(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let steps: &[f64] = match decades {
            ..2.0 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            2.0..4.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let first = self.low.log10().floor();
        let powers = (0..40).map(|at| 10_f64.powf(first + f64::from(at)));
        powers
            .flat_map(|power| steps.iter().map(move |step| step * power))
            .collect()
    }
}

/// The next round number: one, two or five times a power of ten.
fn step(wanted: f64) -> f64 {
    let power = 10_f64.powf(wanted.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps
        .into_iter()
        .find(|step| *step >= wanted)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], is_log: bool, marks: &[f64]) {
        let scale = Scale::of(values.iter().copied());
        assert_eq!(scale.is_log, is_log, "{values:?}");
        let found = scale.marks();
        assert_eq!(found.len(), marks.len(), "{found:?}");
        for (found, wanted) in found.iter().zip(marks) {
            assert!(
                (found - wanted).abs() < 1e-9 * wanted.max(1.0),
                "{found} {wanted}"
            );
        }
        for value in values {
            assert!((0.0..=1.0).contains(&scale.place(*value)));
        }
    }

    #[test]
    fn marks_are_round_and_inside() {
        check(&[0.8, 1.0], false, &[0.8, 0.85, 0.9, 0.95, 1.0]);
        check(&[0.0, 5.0], false, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        check(&[3.0], false, &[1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]);
        check(
            &[1.0, 50.0],
            true,
            &[1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 30.0, 50.0],
        );
        check(&[100.0, 1e7], true, &[100.0, 1e3, 1e4, 1e5, 1e6, 1e7]);
        check(&[-1.0, 1.0], false, &[-1.0, -0.5, 0.0, 0.5, 1.0]);
    }
}

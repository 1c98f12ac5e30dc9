//! Count, extremes, sum and squares of a bucket's values. Sums carry their rounding error along
//! (Kahan), so that the order in which segments are merged hardly shows.

use clew_schema::geo::GeoPoint;
use serde::{Deserialize, Serialize};

/// A sum and what was lost by rounding it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExactSum {
    sum: f64,
    lost: f64,
}

impl ExactSum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let corrected = value + self.lost;
        let sum = self.sum + corrected;
        // An infinite sum has no rounding error to speak of.
        self.lost = if sum.is_finite() {
            corrected - (sum - self.sum)
        } else {
            0.0
        };
        self.sum = sum;
    }

    fn merge(&mut self, other: ExactSum) {
        if self.sum == 0.0 && self.lost == 0.0 {
            // What was lost is reckoned for the next value, and is not in this sum.
            *self = other;
            return;
        }
        self.add(other.sum);
        self.add(other.lost);
    }

    pub(crate) fn value(self) -> f64 {
        self.sum
    }
}

/// What basic metrics need.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Moments {
    pub(crate) count: u64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) sum: ExactSum,
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: ExactSum::default(),
        }
    }
}

impl Moments {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum.add(value);
    }

    pub(crate) fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum.merge(other.sum);
    }

    /// The mean, NaN of nothing.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn mean(&self) -> f64 {
        self.sum.value() / self.count as f64
    }
}

/// The same and the sum of squares.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExtendedMoments {
    pub(crate) basic: Moments,
    pub(crate) squares: ExactSum,
}

impl ExtendedMoments {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.basic.add(value);
        self.squares.add(value * value);
    }

    pub(crate) fn merge(&mut self, other: &ExtendedMoments) {
        self.basic.merge(&other.basic);
        self.squares.merge(other.squares);
    }

    /// The variance of these values as a whole population.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn variance(&self) -> f64 {
        self.spread() / self.basic.count as f64
    }

    /// The variance of the population that these values were drawn from; NaN of fewer than two.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    pub(crate) fn variance_sampling(&self) -> f64 {
        if self.basic.count < 2 {
            return f64::NAN;
        }
        self.spread() / (self.basic.count - 1) as f64
    }

    /// Squared distances from the mean; rounding must not make it negative.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 values will not be counted"
    )]
    fn spread(&self) -> f64 {
        let sum = self.basic.sum.value();
        (self.squares.value() - sum * sum / self.basic.count as f64).max(0.0)
    }
}

/// What a weighted mean needs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Weighted {
    sum: ExactSum,
    weights: ExactSum,
}

impl Weighted {
    #[inline]
    pub(crate) fn add(&mut self, value: f64, weight: f64) {
        self.sum.add(value * weight);
        self.weights.add(weight);
    }

    pub(crate) fn merge(&mut self, other: &Weighted) {
        self.sum.merge(other.sum);
        self.weights.merge(other.weights);
    }

    /// The mean; NaN of nothing.
    pub(crate) fn mean(&self) -> f64 {
        self.sum.value() / self.weights.value()
    }
}

/// The box around points and what their middle needs. The box has two widths: as the map lies, and
/// across the line where east meets west.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Points {
    pub(crate) count: u64,
    lat: Moments,
    lon: Moments,
    east: Moments,
    west: Moments,
}

impl Points {
    pub(crate) fn add(&mut self, point: GeoPoint) {
        self.count += 1;
        self.lat.add(point.lat);
        self.lon.add(point.lon);
        if point.lon >= 0.0 {
            self.east.add(point.lon);
        } else {
            self.west.add(point.lon);
        }
    }

    pub(crate) fn merge(&mut self, other: &Points) {
        self.count += other.count;
        self.lat.merge(&other.lat);
        self.lon.merge(&other.lon);
        self.east.merge(&other.east);
        self.west.merge(&other.west);
    }

    /// The mean of the points; `None` of nothing.
    pub(crate) fn middle(&self) -> Option<GeoPoint> {
        (self.count > 0).then(|| GeoPoint {
            lat: self.lat.mean(),
            lon: self.lon.mean(),
        })
    }

    /// The upper left and the lower right corner; `None` of nothing. The narrower box counts, if
    /// it may lie across the line.
    pub(crate) fn corners(&self, wrap: bool) -> Option<(GeoPoint, GeoPoint)> {
        if self.count == 0 {
            return None;
        }
        let (mut left, mut right) = (self.lon.min, self.lon.max);
        if wrap && self.east.count > 0 && self.west.count > 0 {
            let across = 360.0 - self.east.min + self.west.max;
            if across < right - left {
                (left, right) = (self.east.min, self.west.max);
            }
        }
        let corner = |lat, lon| GeoPoint { lat, lon };
        Some((corner(self.lat.max, left), corner(self.lat.min, right)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_is_taken_over_stays_what_it_was() {
        let mut sum = ExactSum::default();
        sum.add(17.39);
        sum.add(143.48);
        let mut whole = ExactSum::default();
        whole.merge(sum);
        assert_eq!(whole.value().to_bits(), 160.87_f64.to_bits());
    }
}

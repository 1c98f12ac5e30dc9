//! Several fields together: how each is distributed, and how each two of them vary together. What
//! is kept can be added to, so that segments and shards are counted apart.

use serde::{Deserialize, Serialize};

/// Moments of several numbers that documents have, and products of their differences from the mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MatrixMoments {
    pub(crate) count: u64,
    fields: Vec<FieldMoments>,
    /// For each two fields, the first one earlier, row by row.
    products: Vec<f64>,
}

/// The mean of one field, and the sums of powers of the differences from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct FieldMoments {
    mean: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl MatrixMoments {
    /// Adds a document by its number in each field.
    pub(crate) fn add(&mut self, numbers: &[f64]) {
        let one = MatrixMoments {
            count: 1,
            fields: numbers
                .iter()
                .map(|mean| FieldMoments {
                    mean: *mean,
                    ..FieldMoments::default()
                })
                .collect(),
            products: vec![0.0; numbers.len() * numbers.len().saturating_sub(1) / 2],
        };
        self.merge(one);
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn merge(&mut self, other: MatrixMoments) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other;
            return;
        }
        let (here, there) = (float(self.count), float(other.count));
        let all = here + there;
        let differences: Vec<f64> = self
            .fields
            .iter()
            .zip(&other.fields)
            .map(|(mine, theirs)| theirs.mean - mine.mean)
            .collect();
        for ((row, column), at) in pairs(differences.len()).zip(0..) {
            let moved = differences[row] * differences[column] * here * there / all;
            self.products[at] += other.products[at] + moved;
        }
        for ((mine, theirs), difference) in
            self.fields.iter_mut().zip(&other.fields).zip(differences)
        {
            mine.merge(theirs, difference, (here, there));
        }
        self.count += other.count;
    }

    /// What is told of a field.
    pub(crate) fn field(&self, at: usize) -> MatrixField {
        let count = float(self.count);
        let field = self.fields.get(at).copied().unwrap_or_default();
        MatrixField {
            mean: field.mean,
            variance: field.second / (count - 1.0),
            skewness: count.sqrt() * field.third / field.second.powf(1.5),
            kurtosis: count * field.fourth / field.second.powi(2),
        }
    }

    /// How two fields vary together.
    pub(crate) fn covariance(&self, one: usize, other: usize) -> f64 {
        if one == other {
            return self.field(one).variance;
        }
        let at = place(one.min(other), one.max(other), self.fields.len());
        self.products[at] / (float(self.count) - 1.0)
    }

    /// The same, as a share of how each varies alone.
    pub(crate) fn correlation(&self, one: usize, other: usize) -> f64 {
        if one == other {
            return 1.0;
        }
        // Roots of each, as their product may be too great for a number.
        let alone = self.field(one).variance.sqrt() * self.field(other).variance.sqrt();
        self.covariance(one, other) / alone
    }

    /// How many fields there are.
    pub(crate) fn width(&self) -> usize {
        self.fields.len()
    }

    /// Roughly what this holds in memory.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&self.fields[..]) + size_of_val(&self.products[..])
    }
}

impl FieldMoments {
    fn merge(&mut self, other: &FieldMoments, difference: f64, (here, there): (f64, f64)) {
        let all = here + there;
        let step = difference / all;
        let fourth = self.fourth
            + other.fourth
            + difference
                * step.powi(3)
                * here
                * there
                * (here * here - here * there + there * there)
            + 6.0 * step.powi(2) * (here * here * other.second + there * there * self.second)
            + 4.0 * step * (here * other.third - there * self.third);
        let third = self.third
            + other.third
            + difference * step.powi(2) * here * there * (here - there)
            + 3.0 * step * (here * other.second - there * self.second);
        self.second += other.second + difference * step * here * there;
        self.mean += step * there;
        self.third = third;
        self.fourth = fourth;
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "2^53 documents will not be counted"
)]
fn float(count: u64) -> f64 {
    count as f64
}

fn pairs(width: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..width).flat_map(move |row| (row + 1..width).map(move |column| (row, column)))
}

fn place(row: usize, column: usize, width: usize) -> usize {
    row * width - row * (row + 1) / 2 + column - row - 1
}

/// What is told of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MatrixField {
    /// The mean.
    pub mean: f64,
    /// The variance of the population that the values were drawn from.
    pub variance: f64,
    /// How lopsided the distribution is.
    pub skewness: f64,
    /// How heavy its ends are.
    pub kurtosis: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[[f64; 3]]) -> MatrixMoments {
        let mut moments = MatrixMoments::default();
        rows.iter().for_each(|row| moments.add(row));
        moments
    }

    fn near(have: f64, want: f64) {
        assert!(
            (have - want).abs() < 1e-9 * (1.0 + want.abs()),
            "{have} is not {want}"
        );
    }

    #[test]
    fn moments_are_those_of_the_textbook() {
        let rows = [
            [1.0, 2.0, 5.0],
            [2.0, 4.0, 1.0],
            [4.0, 8.0, 0.0],
            [9.0, 18.0, 2.0],
        ];
        let moments = of(&rows);
        let field = moments.field(0);
        near(field.mean, 4.0);
        near(field.variance, 38.0 / 3.0);
        // Differences -3, -2, 0, 5: powers 38, 90, 722.
        near(field.skewness, 2.0 * 90.0 / 38.0_f64.powf(1.5));
        near(field.kurtosis, 4.0 * 722.0 / (38.0 * 38.0));
        near(moments.covariance(0, 1), 2.0 * 38.0 / 3.0);
        near(moments.correlation(1, 0), 1.0);
        let great = of(&[[1e80, 2e80, 0.0], [2e80, 4e80, 0.0], [5e80, 10e80, 0.0]]);
        near(great.correlation(0, 1), 1.0);
        assert!(great.correlation(0, 2).is_nan());
        // Differences of the third field: 3, -1, -2, 0.
        near(moments.covariance(2, 0), -7.0 / 3.0);
        near(moments.covariance(1, 2), -14.0 / 3.0);
    }

    #[test]
    fn parts_together_are_the_whole() {
        let rows = [
            [1.5, 2.0, 5.0],
            [2.0, 4.5, 1.0],
            [4.0, 8.0, 0.5],
            [9.0, 1.0, 2.0],
            [3.0, 3.0, 3.0],
        ];
        let whole = of(&rows);
        let mut parts = of(&rows[..2]);
        parts.merge(MatrixMoments::default());
        parts.merge(of(&rows[2..]));
        assert_eq!(parts.count, whole.count);
        for one in 0..3 {
            near(parts.field(one).kurtosis, whole.field(one).kurtosis);
            near(parts.field(one).skewness, whole.field(one).skewness);
            for other in 0..3 {
                near(parts.covariance(one, other), whole.covariance(one, other));
            }
        }
    }
}

//! Quantiles of many values in little memory: a merging t-digest (Dunning and Ertl, "Computing
//! extremely accurate quantiles using t-digests", 2019). Centroids are small near both ends, so
//! that the error there is small too; few values are kept as they are.

use serde::{Deserialize, Serialize};

/// Values wait until this many times the compression have come in, then they are merged.
const PENDING_FACTOR: f64 = 5.0;

/// Centroids per unit of compression.
const CENTROIDS_FACTOR: f64 = 2.0;

/// A mean and how much it stands for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Centroid {
    mean: f64,
    weight: f64,
}

/// The distribution of a bucket's values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TDigest {
    /// Merged centroids, by mean.
    merged: Vec<Centroid>,
    pending: Vec<Centroid>,
    min: f64,
    max: f64,
}

impl Default for TDigest {
    fn default() -> Self {
        TDigest {
            merged: Vec::new(),
            pending: Vec::new(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl TDigest {
    #[inline]
    pub(crate) fn add(&mut self, value: f64, compression: f64) {
        self.add_weighted(value, 1.0, compression);
    }

    fn add_weighted(&mut self, mean: f64, weight: f64, compression: f64) {
        if !mean.is_finite() {
            return;
        }
        self.min = self.min.min(mean);
        self.max = self.max.max(mean);
        self.pending.push(Centroid { mean, weight });
        #[allow(
            clippy::cast_precision_loss,
            reason = "far fewer than 2^53 values wait"
        )]
        let full = self.pending.len() as f64 > PENDING_FACTOR * compression.max(20.0);
        if full {
            self.compress(compression);
        }
    }

    pub(crate) fn merge(&mut self, other: TDigest, compression: f64) {
        let (min, max) = (self.min.min(other.min), self.max.max(other.max));
        for centroid in other.merged.into_iter().chain(other.pending) {
            self.add_weighted(centroid.mean, centroid.weight, compression);
        }
        // The ends of merged centroids lie beyond their means.
        (self.min, self.max) = (min, max);
    }

    /// Merges what waits: neighbours become one as long as they span less than one step of the
    /// scale function `k(q) = δ / 2π · asin(2q − 1)`.
    fn compress(&mut self, compression: f64) {
        let mut all = std::mem::take(&mut self.merged);
        all.append(&mut self.pending);
        all.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        let total: f64 = all.iter().map(|centroid| centroid.weight).sum();
        let delta = compression.max(20.0) * CENTROIDS_FACTOR;
        let step = |q: f64| delta / std::f64::consts::TAU * (2.0 * q.clamp(0.0, 1.0) - 1.0).asin();
        let mut before = 0.0;
        for centroid in all {
            let joined = self.merged.last().map(|last| last.weight + centroid.weight);
            match (self.merged.last_mut(), joined) {
                (Some(last), Some(weight))
                    if step((before + weight) / total) - step(before / total) <= 1.0 =>
                {
                    last.mean = between(last.mean, centroid.mean, centroid.weight, weight);
                    last.weight = weight;
                }
                (last, _) => {
                    before += last.map_or(0.0, |last| last.weight);
                    self.merged.push(centroid);
                }
            }
        }
    }

    /// The digest with nothing waiting, to be read.
    fn settled(&self, compression: f64) -> TDigest {
        let mut settled = self.clone();
        settled.compress(compression);
        settled
    }

    /// The values at each of the ranks (0 to 1); `None` of nothing.
    pub(crate) fn quantiles(&self, ranks: &[f64], compression: f64) -> Vec<Option<f64>> {
        let settled = self.settled(compression);
        ranks.iter().map(|rank| settled.quantile(*rank)).collect()
    }

    /// The ranks (0 to 1) of each of the values; `None` of nothing.
    pub(crate) fn ranks(&self, values: &[f64], compression: f64) -> Vec<Option<f64>> {
        let settled = self.settled(compression);
        values.iter().map(|value| settled.rank(*value)).collect()
    }

    /// The median of the distances from the median; `None` of nothing.
    pub(crate) fn median_deviation(&self, compression: f64) -> Option<f64> {
        let settled = self.settled(compression);
        let median = settled.quantile(0.5)?;
        let mut distances = TDigest::default();
        for centroid in &settled.merged {
            let distance = (centroid.mean - median).abs();
            distances.add_weighted(distance, centroid.weight, compression);
        }
        distances.settled(compression).quantile(0.5)
    }

    /// The middles of the centroids on the line of weights, both ends included.
    fn points(&self) -> (Vec<(f64, f64)>, f64) {
        let mut points = Vec::with_capacity(self.merged.len() + 2);
        let mut before = 0.0;
        for centroid in &self.merged {
            points.push((before + centroid.weight / 2.0, centroid.mean));
            before += centroid.weight;
        }
        points.insert(0, (0.0, self.min));
        points.push((before, self.max));
        (points, before)
    }

    fn quantile(&self, rank: f64) -> Option<f64> {
        if self.merged.is_empty() {
            return None;
        }
        let (points, total) = self.points();
        let at = rank.clamp(0.0, 1.0) * total;
        let after = points.partition_point(|(place, _)| *place < at);
        let (right, right_value) = points[after.min(points.len() - 1)];
        let (left, left_value) = points[after.saturating_sub(1)];
        if right <= left {
            return Some(right_value);
        }
        let (part, whole) = (at - left, right - left);
        let weighted = left_value * (right - at) + right_value * part;
        if !weighted.is_finite() {
            return Some(between(left_value, right_value, part, whole));
        }
        Some((weighted / whole).max(left_value).min(right_value))
    }

    /// The share of the weight below a value: a centroid's lies evenly between the middles of the ways to its neighbours, and
    /// behind the last of these middles nothing lies, as in `AVLTreeDigest` of the library that OpenSearch uses.
    fn rank(&self, value: f64) -> Option<f64> {
        let centroids = &self.merged;
        let first = centroids.first()?;
        if centroids.len() == 1 {
            return Some(if value < first.mean { 0.0 } else { 1.0 });
        }
        let total: f64 = centroids.iter().map(|centroid| centroid.weight).sum();
        // Ways between the largest numbers are no numbers themselves, those between quarters of them are.
        let is_far = self.min.abs().max(self.max.abs()) > f64::MAX / 4.0;
        let scale = if is_far { 0.25 } else { 1.0 };
        let value = value * scale;
        let half_ways = centroids
            .windows(2)
            .map(|two| (two[1].mean * scale - two[0].mean * scale) / 2.0);
        let (mut before, mut left) = (0.0, None);
        for (centroid, right) in centroids.iter().zip(half_ways) {
            let mean = centroid.mean * scale;
            let left = left.replace(right).unwrap_or(right);
            let share = (value - (mean - left)) / (left + right);
            if value < mean + right {
                return Some(((before + centroid.weight * share) / total).max(0.0));
            }
            before += centroid.weight;
        }
        Some(1.0)
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        (self.merged.capacity() + self.pending.capacity()) * size_of::<Centroid>()
    }
}

/// The value that lies behind the first of two by so large a part of the way to the second, which is not below it. The way may be
/// longer than a number can be.
fn between(left: f64, right: f64, part: f64, whole: f64) -> f64 {
    let step = (right - left) * part / whole;
    let value = if step.is_finite() {
        left + step
    } else {
        let share = part / whole;
        left * (1.0 - share) + right * share
    };
    value.max(left).min(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_exact() {
        let mut digest = TDigest::default();
        for value in [151.0, 1.0, 101.0, 51.0] {
            digest.add(value, 100.0);
        }
        let read = digest.quantiles(&[0.01, 0.05, 0.25, 0.5, 0.75, 0.95], 100.0);
        let read: Vec<f64> = read.into_iter().flatten().collect();
        assert_eq!(read, [1.0, 1.0, 26.0, 76.0, 126.0, 151.0]);
        assert_eq!(
            digest.ranks(&[51.0, 0.0, 200.0], 100.0),
            [Some(0.375), Some(0.12), Some(1.0)]
        );
        // What OpenSearch 2.19 says of the same values.
        for (values, value, rank) in [
            (&[1.0][..], 1.0, 1.0),
            (&[1.0, 1.0, 2.0], 0.75, 0.0),
            (&[1.0, 1.0, 2.0], 1.25, 0.5),
            (&[1.0, 2.0], 1.0, 0.25),
            (&[1.0, 2.0], 1.5, 1.0),
            (&[1.0, 2.0, 3.0, 4.0], 0.75, 0.0625),
            (&[1.0, 2.0, 3.0, 4.0], 4.0, 1.0),
            (&[1.0, 1.0, 1.0, 1.0, 2.0], 1.0, 0.6),
        ] {
            let mut digest = TDigest::default();
            values.iter().for_each(|value| digest.add(*value, 100.0));
            assert_eq!(digest.ranks(&[value], 100.0), [Some(rank)], "{values:?}");
        }
        assert_eq!(digest.median_deviation(100.0), Some(50.0));
    }

    #[test]
    fn nothing_has_no_quantiles() {
        assert_eq!(TDigest::default().quantiles(&[0.5], 100.0), [None]);
        assert_eq!(TDigest::default().median_deviation(100.0), None);
    }

    #[test]
    fn values_may_be_farther_apart_than_a_number_can_be() {
        let mut digest = TDigest::default();
        for at in 0..3_000_u32 {
            let sign = if at % 2 == 0 { -1.0 } else { 1.0 };
            digest.add(sign * f64::MAX * (1.0 - f64::from(at) / 900_000.0), 100.0);
        }
        let read = digest.quantiles(&[0.0, 0.25, 0.5, 0.75, 1.0], 100.0);
        let read: Vec<f64> = read.into_iter().flatten().collect();
        assert_eq!(read.len(), 5);
        assert!(read.iter().all(|value| value.is_finite()), "{read:?}");
        assert!(read.is_sorted(), "{read:?}");
        assert_eq!(read[..1], [-f64::MAX]);
        assert!(read[1] < -0.99 * f64::MAX && read[3] > 0.99 * f64::MAX);
        for (value, expected) in [(-f64::MAX, 0.0), (0.0, 0.5), (f64::MAX, 1.0)] {
            let rank = digest.ranks(&[value], 100.0)[0].expect("a rank");
            assert!((rank - expected).abs() < 0.02, "{value}: {rank}");
        }
        // Of some, the distance from the median is no number; the others are what there is.
        let deviation = digest.median_deviation(100.0);
        assert!(deviation.is_none_or(f64::is_finite), "{deviation:?}");
    }

    #[test]
    fn many_values_are_close_and_merging_keeps_them_so() {
        let mut parts = vec![TDigest::default(); 7];
        let count = 100_000_u32;
        for at in 0..count {
            // A permutation: 7919 and 100000 have no common divisor.
            let value = u64::from(at) * 7_919 % u64::from(count);
            let value = f64::from(u32::try_from(value).unwrap());
            parts[at as usize % 7].add(value, 100.0);
        }
        let mut all = TDigest::default();
        for part in parts {
            all.merge(part, 100.0);
        }
        for rank in [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999] {
            let value = all.quantiles(&[rank], 100.0)[0].unwrap();
            let error = (value / f64::from(count) - rank).abs();
            assert!(
                error < 0.01 * (rank * (1.0 - rank)).sqrt() + 1e-4,
                "{rank}: {value}"
            );
            let back = all.ranks(&[value], 100.0)[0].unwrap();
            assert!((back - rank).abs() < 1e-3, "{rank}: {back}");
        }
        assert!(all.settled(100.0).merged.len() < 400);
    }
}

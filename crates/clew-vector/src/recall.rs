//! How good a column's searches are, measured on queries of the user's own.

use std::ops::Deref;

use crate::{Column, Scratch, SearchRequest, VectorError};

/// What to measure.
#[derive(Debug, Clone, Copy)]
pub struct RecallOptions {
    /// Hits per query.
    pub k: usize,
    /// Effort of the searches judged.
    pub ef_search: usize,
}

/// Share of the exact hits that searches find, with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallEstimate {
    /// Mean over the queries.
    pub mean: f64,
    /// Lower end of the 95 % confidence interval of the mean.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Queries measured.
    pub query_count: usize,
}

/// Standard deviations on either side of a mean that hold 95 %.
const DEVIATIONS: f64 = 1.96;

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Searches for every query as asked and exactly, and compares. Each query costs a scan of the
    /// whole column. A hit as near as the last exact one counts, as ties may be broken either way.
    ///
    /// Fails when a query does not fit the column, or the image is damaged.
    pub fn measure_recall<'q>(
        &self,
        queries: impl IntoIterator<Item = &'q [f32]>,
        options: RecallOptions,
        scratch: &mut Scratch,
    ) -> Result<RecallEstimate, VectorError> {
        let mut shares = Vec::new();
        for vector in queries {
            let request = SearchRequest {
                ef_search: options.ef_search,
                ..SearchRequest::new(vector, options.k)
            };
            let exact = SearchRequest {
                exact: true,
                ..request
            };
            let truth = self.search(&exact, scratch)?.hits;
            let Some(worst) = truth.last() else { continue };
            let hits = self.search(&request, scratch)?.hits;
            let found = hits.iter().filter(|hit| hit.distance <= worst.distance);
            shares.push(found.count() as f64 / truth.len() as f64);
        }
        Ok(RecallEstimate::of_shares(&shares))
    }
}

impl RecallEstimate {
    /// Mean and interval of the shares found by single queries, each from 0 to 1, after Agresti and
    /// Coull ("Approximate is better than exact", 1998): two successes and two failures are added, so
    /// that a few perfect queries do not count as proof.
    pub fn of_shares(shares: &[f64]) -> Self {
        let count = shares.len() as f64;
        let sum: f64 = shares.iter().sum();
        // Shares of thirds may add up to a little more than whole ones.
        let mean = (sum / count.max(1.0)).min(1.0);
        let (padded, centre) = (count + 4.0, (sum + 2.0) / (count + 4.0));
        let squares: f64 = shares.iter().map(|share| (share - centre).powi(2)).sum();
        let added = 2.0 * (1.0 - centre).powi(2) + 2.0 * centre.powi(2);
        let half = DEVIATIONS * ((squares + added) / padded / padded).sqrt();
        RecallEstimate {
            mean,
            low: (centre - half).clamp(0.0, mean),
            high: (centre + half).clamp(mean, 1.0),
            query_count: shares.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    #[test]
    fn perfect_queries_prove_more_the_more_there_are() {
        let few = RecallEstimate::of_shares(&[1.0; 10]);
        let many = RecallEstimate::of_shares(&[1.0; 1_000]);
        assert_eq!((few.mean, few.high, few.query_count), (1.0, 1.0, 10));
        assert!(few.low > 0.6 && few.low < 0.8, "{few:?}");
        assert!(many.low > 0.98, "{many:?}");
        assert_eq!(RecallEstimate::of_shares(&[]).query_count, 0);
    }

    #[test]
    fn the_interval_holds_the_true_mean_about_95_times_in_a_hundred() {
        for chance in [0.5, 0.9, 0.98] {
            let mut random = SplitMix::new(5);
            let held = (0..2_000).filter(|_| {
                let mut draw = || f64::from(random.unit() < chance);
                let shares: Vec<f64> = (0..200).map(|_| draw()).collect();
                let estimate = RecallEstimate::of_shares(&shares);
                (estimate.low..=estimate.high).contains(&chance)
            });
            let held = held.count();
            assert!(
                (1_860..=1_980).contains(&held),
                "{held} of 2,000 at {chance}"
            );
        }
    }
}

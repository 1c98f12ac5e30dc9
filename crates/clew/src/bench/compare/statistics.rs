//! What samples tell: the median with its confidence interval, and whether two sets of samples differ. No shape of the
//! distribution is assumed, for times of programs have none that is known.

/// Up to so many samples together p-values are exact; beyond, the normal distribution is as good.
const EXACT_SAMPLES_MAX: usize = 50;

/// A median, and between which values the true one lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) median: f64,
    /// None where there are too few samples for the confidence wanted.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) samples: usize,
}

impl Summary {
    /// Of at least one sample; `confidence` as 0.95.
    pub(super) fn of(samples: &[f64], confidence: f64) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        Summary {
            median,
            interval: interval(&sorted, confidence),
            samples: sorted.len(),
        }
    }

    /// The farther end of the interval, as a share of the median.
    pub(super) fn spread(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        let far = (self.median - low).max(high - self.median);
        Some(if far == 0.0 {
            0.0
        } else {
            far / self.median.abs()
        })
    }
}

/// The narrowest pair of order statistics, as far from both ends, that has the true median between them with this
/// confidence: each sample lies below it with probability one half.
fn interval(sorted: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let (mut below, mut left_out) = (0.0, None);
    for end in 0..sorted.len().div_ceil(2) {
        below += binomial_half(sorted.len(), end);
        if 1.0 - 2.0 * below < confidence {
            break;
        }
        left_out = Some(end);
    }
    left_out.map(|end| (sorted[end], sorted[sorted.len() - 1 - end]))
}

/// Probability of `hits` in `draws` of probability one half.
fn binomial_half(draws: usize, hits: usize) -> f64 {
    let factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    let ways = factorial(draws) - factorial(hits) - factorial(draws - hits);
    (ways - draws as f64 * std::f64::consts::LN_2).exp()
}

/// The least p-value that sets of these sizes can have: when all of one lie above all of the other.
pub(super) fn p_min(old: usize, new: usize) -> f64 {
    let factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    (2.0 * (factorial(old) + factorial(new) - factorial(old + new)).exp()).min(1.0)
}

/// How many samples of each side it takes before a p-value can fall below `alpha`.
pub(super) fn samples_needed(alpha: f64) -> usize {
    (1..1000)
        .find(|&n| p_min(n, n) < alpha)
        .unwrap_or(usize::MAX)
}

/// The two-sided p-value of the Mann-Whitney U test: how probable a difference in ranks at least this large is if both
/// are drawn from one distribution. Exact, ties included, for up to [`EXACT_SAMPLES_MAX`] samples together.
pub(super) fn mann_whitney(old: &[f64], new: &[f64]) -> f64 {
    let ranks = doubled_ranks(old, new);
    match ranks.len() <= EXACT_SAMPLES_MAX {
        true => exact(&ranks, old.len()),
        false => by_normal(&ranks, old.len()),
    }
}

/// Twice the rank of each sample, those of `old` first; equal ones share the mean of their ranks, which twice is whole.
fn doubled_ranks(old: &[f64], new: &[f64]) -> Vec<usize> {
    let samples: Vec<f64> = old.iter().chain(new).copied().collect();
    let mut order: Vec<usize> = (0..samples.len()).collect();
    order.sort_by(|&a, &b| samples[a].total_cmp(&samples[b]));
    let mut ranks = vec![0; samples.len()];
    let mut first = 0;
    while first < order.len() {
        let equal = |&&at: &&usize| samples[at] == samples[order[first]];
        let count = order[first..].iter().take_while(equal).count();
        for &at in &order[first..first + count] {
            ranks[at] = 2 * first + count + 1;
        }
        first += count;
    }
    ranks
}

/// Counts, of all ways to choose so many of the ranks, those whose sum lies as far from the mean as that of the first.
fn exact(ranks: &[usize], chosen: usize) -> f64 {
    let total: usize = ranks.iter().sum();
    // ways[n][sum]: choices of n of the ranks so far. Exact, for there are fewer than 2^53 of 50.
    let mut ways = vec![vec![0.0_f64; total + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for n in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(n);
            for (to, from) in more[0][rank..].iter_mut().zip(&fewer[n - 1]) {
                *to += from;
            }
        }
    }
    let seen: usize = ranks[..chosen].iter().sum();
    let mean = chosen * (ranks.len() + 1);
    let far = |sum: usize| sum.abs_diff(mean) >= seen.abs_diff(mean);
    let sums = ways[chosen].iter().enumerate();
    let extreme: f64 = sums.filter(|(sum, _)| far(*sum)).map(|(_, n)| n).sum();
    extreme / ways[chosen].iter().sum::<f64>()
}

/// The normal approximation, with corrections for ties and for sums being whole numbers.
fn by_normal(ranks: &[usize], chosen: usize) -> f64 {
    let (n, all) = (chosen as f64, ranks.len() as f64);
    let seen = ranks[..chosen].iter().sum::<usize>() as f64 / 2.0;
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let variance = n * (all - n) / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let far = ((seen - n * (all + 1.0) / 2.0).abs() - 0.5).max(0.0);
    libm::erfc(far / (2.0 * variance).sqrt())
}

#[cfg(test)]
mod tests;

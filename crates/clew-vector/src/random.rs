//! Chance of a seed: the same seed gives the same image.

pub(crate) use clew_platform::SplitMix;

/// `wanted` of the rows below `count`, one from each of as many equal spans.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a row number below 2^30"
)]
pub(crate) fn spread(count: usize, wanted: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix::new(seed);
    let span = count as f64 / wanted.max(1) as f64;
    (0..wanted)
        .map(|at| ((at as f64 + random.unit()) * span) as u32)
        .map(|row| row.min(u32::try_from(count - 1).unwrap_or(u32::MAX)))
        .collect()
}

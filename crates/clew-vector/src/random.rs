//! A small seeded generator: the same seed gives the same image.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> Self {
        SplitMix(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number between 0 and 1, never either.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

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

//! Seeded chance: the same rows and requests on every run, each made for itself and in any order.

use clew_platform::{SplitMix, mixed_bits};

/// A stream of numbers that its seed decides.
#[derive(Clone, Debug)]
pub(super) struct Dice(SplitMix);

impl Dice {
    /// The stream of one thing of many under a seed.
    pub(super) fn of(seed: u64, thing: u64) -> Self {
        let mixed = mixed_bits(seed) ^ thing.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Dice(SplitMix::new(mixed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.draw()
    }

    /// Below `bound`, which is not zero.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let bound = u64::try_from(of.len()).expect("lengths have 64 bits");
        let at = usize::try_from(self.below(bound)).expect("it lies below a length");
        &of[at]
    }

    /// Evenly from 0 to 1, without 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Two numbers of the normal distribution (Box and Muller).
    pub(super) fn normals(&mut self) -> [f32; 2] {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.share()).sin_cos();
        #[allow(
            clippy::cast_possible_truncation,
            reason = "vectors are of this precision"
        )]
        let pair = [(radius * cosine) as f32, (radius * sine) as f32];
        pair
    }

    /// Fills a row with numbers of the normal distribution.
    pub(super) fn fill_normal(&mut self, row: &mut [f32]) {
        for pair in row.chunks_mut(2) {
            let made = self.normals();
            pair.copy_from_slice(&made[..pair.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_seed_and_spread_as_they_should() {
        let mut dice = Dice::of(1, 2);
        let again: Vec<u64> = (0..3).map(|_| dice.next()).collect();
        let mut dice = Dice::of(1, 2);
        assert_eq!(again, [dice.next(), dice.next(), dice.next()]);
        assert_ne!(Dice::of(1, 3).next(), again[0]);
        assert_ne!(Dice::of(2, 2).next(), again[0]);
        let mut counts = [0_u32; 10];
        for _ in 0..10_000 {
            counts[usize::try_from(dice.below(10)).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (850..1150).contains(count)));
        let mut row = vec![0.0; 10_001];
        dice.fill_normal(&mut row);
        let mean = row.iter().sum::<f32>() / 10_001.0;
        let square = row.iter().map(|x| x * x).sum::<f32>() / 10_001.0;
        assert!(
            mean.abs() < 0.05 && (square - 1.0).abs() < 0.06,
            "{mean}, {square}"
        );
    }
}

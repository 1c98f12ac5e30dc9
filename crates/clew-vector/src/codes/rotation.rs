//! A seeded random rotation that costs little more than reading the vector: sign flips and fast
//! Walsh-Hadamard transforms (Ailon and Chazelle, "The fast Johnson-Lindenstrauss transform", 2009).

use clew_kernels::Kernels;

use crate::random::SplitMix;

/// Rounds of flips and a transform. Lengths that are no power of two are covered by two windows that
/// overlap, and need twice as many to mix both ends.
const ROUNDS: usize = 2;

/// The rotation of one dimension and seed.
#[derive(Debug)]
pub(crate) struct Rotation {
    /// Length of the transform: the greatest power of two within the dimension.
    window: usize,
    /// One sign per dimension and round.
    signs: Vec<f32>,
}

impl Rotation {
    /// Draws the signs; cost is linear in the dimension.
    pub(crate) fn new(dimension: usize, seed: u64) -> Self {
        // A vector has at least one number, so the window is not empty.
        assert!(dimension > 0);
        let window = 1 << dimension.ilog2();
        let rounds = if window == dimension {
            ROUNDS
        } else {
            2 * ROUNDS
        };
        let mut random = SplitMix::new(seed);
        let sign = || if random.draw() & 1 == 0 { 1.0 } else { -1.0 };
        let signs = std::iter::repeat_with(sign)
            .take(rounds * dimension)
            .collect();
        Rotation { window, signs }
    }

    /// Turns a vector in place. Lengths and angles stay as they are.
    pub(crate) fn apply(&self, vector: &mut [f32], kernels: &Kernels) {
        let dimension = vector.len();
        let scale = 1.0 / (self.window as f32).sqrt();
        for (round, signs) in self.signs.chunks_exact(dimension).enumerate() {
            for (value, sign) in vector.iter_mut().zip(signs) {
                *value *= sign;
            }
            let start = if round % 2 == 0 {
                0
            } else {
                dimension - self.window
            };
            kernels.hadamard(&mut vector[start..start + self.window], scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clew_kernels::kernels;

    #[test]
    fn lengths_and_angles_survive_and_a_single_dimension_is_spread_out() {
        for dimension in [1, 2, 3, 7, 64, 100, 129, 384, 1_000, 1_024] {
            let rotation = Rotation::new(dimension, 9);
            let mut random = SplitMix::new(dimension as u64);
            let mut draw = || -> Vec<f32> {
                let unit = || (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
                std::iter::repeat_with(unit).take(dimension).collect()
            };
            let (a, b) = (draw(), draw());
            let (mut turned_a, mut turned_b) = (a.clone(), b.clone());
            rotation.apply(&mut turned_a, kernels());
            rotation.apply(&mut turned_b, kernels());
            let near = |x: f32, y: f32| (x - y).abs() < 1e-3 * (1.0 + y.abs());
            assert!(near(
                kernels().f32().dot(&turned_a, &turned_b),
                kernels().f32().dot(&a, &b)
            ));
            assert!(near(
                kernels().f32().dot(&turned_a, &turned_a),
                kernels().f32().dot(&a, &a)
            ));

            let mut spike = vec![0.0; dimension];
            spike[dimension / 2] = 1.0;
            rotation.apply(&mut spike, kernels());
            let largest = spike.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(
                largest <= 6.0 / (dimension as f32).sqrt(),
                "{largest} of {dimension}"
            );
        }
    }
}

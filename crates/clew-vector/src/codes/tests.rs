//! What estimates by rotated codes promise: no bias, and errors that shrink with every bit.

use clew_kernels::{CodeBits, kernels};

use super::*;
use crate::Space;
use crate::random::SplitMix;
use crate::rows::Probe;

/// No power of two, so that the rotation needs both of its windows.
const DIMENSION: usize = 100;
const SEEDS: u64 = 400;
const ROWS: usize = 8;

/// Roughly normal numbers.
fn normal(random: &mut SplitMix, count: usize) -> Vec<f32> {
    let mut unit = || (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
    let one = |_| (0..4).map(|_| unit()).sum::<f32>() * 1.7;
    (0..count).map(one).collect()
}

/// Mean and root of the mean square of the errors of estimated products, over rotations, in parts of
/// the lengths of query and row.
fn errors(bits: CodeBits, rows: &[Vec<f32>], query: &[f32]) -> (f64, f64) {
    let encoder = Encoder {
        space: Space::L2,
        bits,
        kernels: kernels(),
    };
    let pitch = pitch_bytes(DIMENSION, bits);
    let (mut sum, mut squares) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let frame = Frame::new(vec![0.0; DIMENSION], seed);
        let (mut codes, mut factors) = (vec![0; ROWS * pitch], Vec::new());
        let mut residual = Residual::default();
        for (row, code) in rows.iter().zip(codes.chunks_mut(pitch)) {
            frame.residual(row, 1.0, &mut residual);
            factors.push(encoder.encode(&residual, code));
        }
        let codes = RotatedCodes {
            frame: &frame,
            codes: &codes,
            factors: &factors,
            pitch,
            bits,
            error: 0.0,
        };
        let mut prepared = RotatedQuery::default();
        prepared.prepare(&codes, Space::L2, (query, 1.0));
        let probe = RotatedProbe {
            codes,
            query: &prepared,
            kernels: kernels(),
        };
        let mut estimates = [0.0; ROWS];
        probe.measure(&[0, 1, 2, 3, 4, 5, 6, 7], &mut estimates);
        for (row, estimate) in rows.iter().zip(estimates) {
            let exact = kernels().f32().l2(query, row);
            let length = |of: &[f32]| kernels().f32().dot(of, of).sqrt();
            // A squared distance holds the product twice.
            let error = (estimate - exact) / (2.0 * length(query) * length(row));
            sum += f64::from(error);
            squares += f64::from(error) * f64::from(error);
        }
    }
    let count = (SEEDS * ROWS as u64) as f64;
    (sum / count, (squares / count).sqrt())
}

#[test]
fn estimates_have_no_bias_and_err_less_with_every_bit() {
    let mut random = SplitMix::new(5);
    let query = normal(&mut random, DIMENSION);
    // Rows that point where the query does: an estimate that shrinks products would show.
    let rows: Vec<Vec<f32>> = (0..ROWS)
        .map(|_| {
            let noise = normal(&mut random, DIMENSION);
            query.iter().zip(noise).map(|(x, y)| x + 0.7 * y).collect()
        })
        .collect();
    let measured = CodeBits::ALL.map(|bits| errors(bits, &rows, &query));
    for (bits, (mean, error)) in CodeBits::ALL.into_iter().zip(measured) {
        // Rows of one rotation err alike at worst, so only rotations count.
        let uncertainty = error / (SEEDS as f64).sqrt();
        assert!(
            mean.abs() < 3.0 * uncertainty,
            "{mean} of {error} in {bits:?}"
        );
    }
    let [one, two, four, eight] = measured.map(|(_, error)| error);
    // For normal numbers and the best steps, rounding leaves .755, .367, .108 and, with that of the
    // query, .011 of a length across the row; of a product, that divided by the root of dimensions.
    for (ratio, least, most) in [
        (one / two, 1.7, 2.5),
        (two / four, 2.8, 4.2),
        (four / eight, 7.0, 13.0),
    ] {
        assert!((least..most).contains(&ratio), "{measured:?}");
    }
}

#[test]
fn rows_of_codes_take_their_bits_filled_up_to_whole_loads() {
    let pitches = |dimension| CodeBits::ALL.map(|bits| pitch_bytes(dimension, bits));
    assert_eq!(pitches(65), [32, 32, 64, 96]);
    assert_eq!(pitches(384), [64, 96, 192, 384]);
    assert_eq!(pitches(1_024), [128, 256, 512, 1_024]);
}

//! The kernels over small codes: every table this CPU can run, against sums made one by one.

use clew_kernels::{CodeBits, CodeQuery, CodeRows, Kernels, available};

const LENGTH_MAX: usize = 300;
const ROWS: usize = 5;
const PICKS: [u32; 4] = [4, 0, 2, 2];

/// A plain multiplicative generator: the same bytes in every run.
fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

fn score(
    (kernels, bits): (&Kernels, CodeBits),
    numbers: &[i8],
    (codes, pitch, factors): (&[u8], usize, &[[f32; 2]]),
    picks: &[u32],
    out: &mut [f32],
) {
    let query = CodeQuery {
        numbers,
        step: 1.0,
        offset: 0.0,
        base: 0.0,
    };
    let rows = CodeRows {
        codes,
        pitch,
        factors,
    };
    kernels.codes(bits).score_picked(&query, &rows, picks, out);
}

/// The code of a dimension, as the layout of rows says.
fn code(bits: CodeBits, row: &[u8], at: usize) -> u8 {
    let (byte, shift) = match bits {
        CodeBits::One => (row[at / 8], at % 8),
        _ => (
            row[at % row.len()],
            at / row.len() * usize::from(bits.count()),
        ),
    };
    byte >> shift & (u8::MAX >> (8 - bits.count()))
}

fn check_scores(bits: CodeBits, query: &[i8], rows: &[u8], pitch: usize) {
    let expected = PICKS.map(|pick| -> i32 {
        let row = &rows[pick as usize * pitch..][..pitch];
        let terms = query.iter().enumerate();
        terms
            .map(|(at, &x)| i32::from(x) * i32::from(code(bits, row, at)))
            .sum()
    });
    for kernels in available() {
        let mut out = [0.0; 4];
        let facts = [[0.0, 1.0]; ROWS];
        score(
            (&kernels, bits),
            query,
            (rows, pitch, &facts),
            &PICKS,
            &mut out,
        );
        assert_eq!(
            out,
            expected.map(|sum| sum as f32),
            "{bits:?} of {} at {pitch}",
            kernels.isa()
        );
    }
}

fn check_u1(query: &[i8], rows: &[u8], pitch: usize) {
    let expected = PICKS.map(|pick| -> i32 {
        let row = &rows[pick as usize * pitch..][..pitch];
        let terms = query.iter().enumerate();
        terms
            .map(|(at, &x)| i32::from(x) * i32::from(row[at / 8] >> (at % 8) & 1))
            .sum()
    });
    for kernels in available() {
        let mut out = [0.0; 4];
        kernels.dot_u1_picked(query, rows, (pitch, &PICKS), &mut out);
        assert_eq!(
            out,
            expected.map(|sum| sum as f32),
            "{} at {pitch}",
            kernels.isa()
        );
    }
}

#[test]
fn codes_of_every_length_are_summed_exactly() {
    for len in 0..LENGTH_MAX {
        let rows = bytes(ROWS * (len + 3), 1);
        for bits in CodeBits::ALL {
            let query = signed(&bytes(bits.dimensions_per_byte() * len, 2));
            check_scores(bits, &query, &rows, len);
        }
        // Rows of bits may be longer than the query: factors can lie behind the code.
        check_u1(&signed(&bytes(8 * len, 4)), &rows, len + 3);
    }
}

#[test]
fn extreme_codes_are_summed_exactly() {
    for len in [1, 31, 32, 63, 64, 65, 255, 256, 300] {
        for (byte, number) in [(255, 127), (255, -128), (0, -128), (128, -128), (127, 127)] {
            for bits in CodeBits::ALL {
                let query = vec![number; bits.dimensions_per_byte() * len];
                check_scores(bits, &query, &vec![byte; ROWS * len], len);
            }
            check_u1(&vec![number; 8 * len], &vec![byte; ROWS * len], len);
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_by_every_table() {
    for kernels in available() {
        let refused = |run: &dyn Fn(&Kernels)| {
            let run = std::panic::AssertUnwindSafe(|| run(&kernels));
            assert!(std::panic::catch_unwind(run).is_err(), "{}", kernels.isa());
        };
        for bits in CodeBits::ALL {
            let per_byte = bits.dimensions_per_byte();
            let facts = [[0.0; 2]; 2];
            let rows = (&[0; 8][..], 4, &facts[..]);
            let query = vec![0; 4 * per_byte];
            refused(&|k| score((k, bits), &query[1..], rows, &[0], &mut [0.0]));
            refused(&|k| score((k, bits), &query, rows, &[2], &mut [0.0]));
            refused(&|k| score((k, bits), &query, rows, &[0, 1], &mut [0.0]));
            let values = vec![0.0; 2 * per_byte + 1];
            refused(&|k| k.codes(bits).pack(&values, 1.0, &mut [0; 2]));
        }
        refused(&|k| k.dot_u1_picked(&[0; 12], &[0; 8], (2, &[0]), &mut [0.0]));
        refused(&|k| k.dot_u1_picked(&[0; 24], &[0; 8], (2, &[0]), &mut [0.0]));
        refused(&|k| k.hadamard(&mut [0.0; 12], 1.0));
        refused(&|k| assert_eq!(k.quantize_i8(&[0.0; 5], &mut [0; 4]).1, 0));
        refused(&|k| assert!(k.dot_bytes(&[0.0; 5], &[0; 4]) >= 0.0));
    }
}

#[test]
fn the_transform_is_its_own_inverse_and_keeps_lengths() {
    for bits in 0..11 {
        let len = 1_usize << bits;
        let values: Vec<f32> = bytes(len, 5)
            .iter()
            .map(|&b| f32::from(b) - 128.0)
            .collect();
        for kernels in available() {
            let mut block = values.clone();
            let scale = 1.0 / (len as f32).sqrt();
            kernels.hadamard(&mut block, scale);
            // The first output is the sum of all inputs.
            let sum = values.iter().sum::<f32>() * scale;
            assert!((block[0] - sum).abs() <= 0.01, "{} at {len}", kernels.isa());
            let norm = |of: &[f32]| of.iter().map(|x| x * x).sum::<f32>();
            assert!((norm(&block) / norm(&values) - 1.0).abs() < 1e-4);
            kernels.hadamard(&mut block, scale);
            for (found, expected) in block.iter().zip(&values) {
                assert!(
                    (found - expected).abs() < 0.01,
                    "{} at {len}",
                    kernels.isa()
                );
            }
        }
    }
}

#[test]
fn values_are_rounded_to_the_nearest_code() {
    for len in 0..LENGTH_MAX {
        let values: Vec<f32> = bytes(len, 6)
            .iter()
            .map(|&b| f32::from(b) / 9.0 - 14.0)
            .collect();
        for kernels in available() {
            for bits in CodeBits::ALL {
                check_rounding((&kernels, bits), &values);
            }
        }
    }
}

fn check_rounding((kernels, bits): (&Kernels, CodeBits), values: &[f32]) {
    // So that values reach beyond the levels, whatever their number.
    let inverse_step = bits.zero_level() / 9.5;
    let per_byte = bits.dimensions_per_byte();
    let mut packed = vec![0xA5; values.len().div_ceil(per_byte)];
    kernels.codes(bits).pack(values, inverse_step, &mut packed);
    let (mut level_value, mut level_level) = (0.0, 0.0);
    for (at, &value) in values.iter().enumerate() {
        let level = f32::from(code(bits, &packed, at)) - bits.zero_level();
        let wanted = (value * inverse_step).clamp(-bits.zero_level(), bits.zero_level());
        assert!(
            (level - wanted).abs() <= 0.5 + 1e-4,
            "{value} became {level} in {bits:?}"
        );
        level_value += level * value;
        level_level += level * level;
    }
    for at in values.len()..packed.len() * per_byte {
        assert_eq!(code(bits, &packed, at), 0);
    }
    let [found_value, found_level] = kernels.codes(bits).fit(values, inverse_step);
    let near = |a: f32, b: f32| (a - b).abs() <= 1e-4 * (1.0 + b.abs());
    assert!(
        near(found_value, level_value),
        "{found_value} not {level_value}"
    );
    assert!(
        near(found_level, level_level),
        "{found_level} not {level_level}"
    );
}

#[test]
fn values_are_rounded_to_the_nearest_byte() {
    for len in 0..LENGTH_MAX {
        let values: Vec<f32> = bytes(len, 6)
            .iter()
            .map(|&b| f32::from(b) / 9.0 - 14.0)
            .collect();
        for kernels in available() {
            let mut whole = vec![0; len];
            let (step, sum) = kernels.quantize_i8(&values, &mut whole);
            let largest = values.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
            assert!(step > 0.0 && step <= (largest / 127.0).max(f32::MIN_POSITIVE));
            assert_eq!(sum, whole.iter().map(|&x| i32::from(x)).sum::<i32>());
            for (&found, value) in whole.iter().zip(&values) {
                assert!((f32::from(found) * step - value).abs() <= 0.501 * step);
            }
        }
    }
}

#[test]
fn products_with_bytes_are_one_number_in_every_instruction_set() {
    for len in 0..LENGTH_MAX {
        let values: Vec<f32> = bytes(len, 7)
            .iter()
            .map(|&b| f32::from(b) / 9.0 - 14.0)
            .collect();
        let whole = signed(&bytes(len, 8));
        let pairs = values.iter().zip(&whole);
        let exact: f64 = pairs.map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
        let scalar = available()[0].dot_bytes(&values, &whole);
        let most = 15.0 * 128.0 * len as f64;
        assert!((f64::from(scalar) - exact).abs() <= 1e-6 * most, "{len}");
        for kernels in available() {
            let found = kernels.dot_bytes(&values, &whole);
            assert_eq!(found.to_bits(), scalar.to_bits(), "{}", kernels.isa());
        }
    }
}

#[test]
fn scores_are_made_of_base_factors_and_sum() {
    for kernels in available() {
        let query = CodeQuery {
            numbers: &[1, -2, 3, 4],
            step: 0.5,
            offset: 7.0,
            base: 100.0,
        };
        let rows = CodeRows {
            codes: &[0x21, 0x43, 0x65, 0x87],
            pitch: 2,
            factors: &[[10.0, 2.0], [20.0, -4.0]],
        };
        let mut out = [0.0; 2];
        let four = kernels.codes(CodeBits::Four);
        four.score_picked(&query, &rows, &[1, 0], &mut out);
        // Codes 5, 7 | 6, 8 and 1, 3 | 2, 4 make sums of 41 and 17.
        let expected = [120.0 - 4.0 * (20.5 - 7.0), 110.0 + 2.0 * (8.5 - 7.0)];
        assert_eq!(out, expected, "{}", kernels.isa());
    }
}

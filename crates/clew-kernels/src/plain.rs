//! Plain loops over `f32` that turn vectors into codes. They are written once, in blocks of lanes,
//! and compiled again under every instruction set: the compiler widens them by itself.

const LANES: usize = 16;
/// Adding and taking away this number rounds to the nearest whole number, ties to even; and its low
/// bits then are that number.
const ROUND: f32 = 12_582_912.0;
const ROUND_BITS: u32 = ROUND.to_bits();

/// The four smallest steps of the transform, inside one block of lanes.
#[inline(always)]
fn mix_lanes(block: &mut [f32; LANES]) {
    for half in [1, 2, 4, 8] {
        let old = *block;
        for (at, slot) in block.iter_mut().enumerate() {
            let (own, other) = (old[at], old[at ^ half]);
            *slot = if at & half == 0 {
                own + other
            } else {
                other - own
            };
        }
    }
}

/// Two steps at once over four parts of a block: each number is read and written once.
#[inline(always)]
fn two_steps(block: &mut [f32], quarter: usize) {
    for part in block.chunks_exact_mut(4 * quarter) {
        let (low, high) = part.split_at_mut(2 * quarter);
        let ((a, b), (c, d)) = (low.split_at_mut(quarter), high.split_at_mut(quarter));
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let (p, q, r, s) = (*a + *b, *a - *b, *c + *d, *c - *d);
            (*a, *b, *c, *d) = (p + r, q + s, p - r, q - s);
        }
    }
}

#[inline(always)]
fn one_step(block: &mut [f32], half: usize) {
    for pair in block.chunks_exact_mut(2 * half) {
        let (low, high) = pair.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            (*x, *y) = (*x + *y, *x - *y);
        }
    }
}

#[inline(always)]
fn hadamard_plain(block: &mut [f32], scale: f32, mix_lanes: impl Fn(&mut [f32; LANES])) {
    // The transform halves again and again.
    assert!(block.len().is_power_of_two());
    let mut half = 1;
    if block.len() >= LANES {
        block.as_chunks_mut().0.iter_mut().for_each(mix_lanes);
        half = LANES;
    }
    while 2 * half < block.len() {
        two_steps(block, half);
        half *= 4;
    }
    if half < block.len() {
        one_step(block, half);
    }
    for value in block {
        *value *= scale;
    }
}

/// The greatest code of so many bits.
const fn top(bits: u32) -> f32 {
    #[allow(clippy::cast_precision_loss, reason = "at most 255")]
    {
        ((1_u32 << bits) - 1) as f32
    }
}

/// The code of a value, still as `f32`: codes 0 to `top` stand for `-top / 2` to `top / 2` steps.
#[inline(always)]
fn code(value: f32, inverse_step: f32, top: f32) -> f32 {
    (value * inverse_step + 0.5 * top).clamp(0.0, top) + ROUND
}

#[inline(always)]
fn fit_plain<const BITS: u32>(values: &[f32], inverse_step: f32) -> [f32; 2] {
    let top = const { top(BITS) };
    let mut sums = [[0.0; LANES]; 2];
    let mut add = |lane: usize, value: f32| {
        let level = code(value, inverse_step, top) - ROUND - 0.5 * top;
        sums[0][lane] += level * value;
        sums[1][lane] += level * level;
    };
    let (blocks, tail) = values.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &value) in block.iter().enumerate() {
            add(lane, value);
        }
    }
    for (lane, &value) in tail.iter().enumerate() {
        add(lane, value);
    }
    [sums[0].iter().sum(), sums[1].iter().sum()]
}

#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "a code has at most eight bits"
)]
fn pack_plain<const BITS: u32>(values: &[f32], inverse_step: f32, out: &mut [u8]) {
    let per_byte = const { (8 / BITS) as usize };
    // Every dimension needs its part of a byte.
    assert!(values.len() <= per_byte * out.len());
    let top = const { top(BITS) };
    let whole = |value: f32| (code(value, inverse_step, top).to_bits() - ROUND_BITS) as u8;
    out.fill(0);
    if BITS == 1 {
        for (byte, eight) in out.iter_mut().zip(values.chunks(8)) {
            for (bit, &value) in eight.iter().enumerate() {
                *byte |= whole(value) << bit;
            }
        }
        return;
    }
    let (first, rest) = values.split_at(out.len().min(values.len()));
    for (byte, &value) in out.iter_mut().zip(first) {
        *byte = whole(value);
    }
    for (part, values) in (1..).zip(rest.chunks(out.len().max(1))) {
        let shift = part * BITS;
        for (byte, &value) in out.iter_mut().zip(values) {
            *byte |= whole(value) << shift;
        }
    }
}

/// Rounds values to bytes so that the largest becomes 127, and answers the size of a step and the
/// sum of the bytes.
#[inline(always)]
#[allow(
    clippy::cast_possible_truncation,
    reason = "the value was scaled to eight bits"
)]
fn quantize_i8_plain(values: &[f32], out: &mut [i8]) -> (f32, i32) {
    // Every value has its own byte.
    assert_eq!(values.len(), out.len());
    let mut largest = [0.0_f32; LANES];
    let (blocks, tail) = values.as_chunks::<LANES>();
    for block in blocks {
        for (most, value) in largest.iter_mut().zip(block) {
            *most = if value.abs() > *most {
                value.abs()
            } else {
                *most
            };
        }
    }
    for (most, value) in largest.iter_mut().zip(tail) {
        *most = most.max(value.abs());
    }
    let step = (largest.into_iter().fold(0.0, f32::max) / 127.0).max(f32::MIN_POSITIVE);
    let (inverse, mut sum) = (1.0 / step, 0);
    for (byte, &value) in out.iter_mut().zip(values) {
        let rounded = (value * inverse).clamp(-127.0, 127.0) + ROUND;
        let whole = rounded.to_bits().wrapping_sub(ROUND_BITS).cast_signed();
        sum += whole;
        *byte = whole as i8;
    }
    (step, sum)
}

/// The product of numbers with bytes, in one order of sums everywhere.
#[inline(always)]
fn dot_bytes_plain(values: &[f32], bytes: &[i8]) -> f32 {
    // Vectors of different length have no product; the shorter one must not win silently.
    assert_eq!(values.len(), bytes.len());
    let mut sums = [0.0_f32; LANES];
    let ((blocks, tail), (byte_blocks, byte_tail)) =
        (values.as_chunks::<LANES>(), bytes.as_chunks::<LANES>());
    for (block, bytes) in blocks.iter().zip(byte_blocks) {
        for ((sum, value), byte) in sums.iter_mut().zip(block).zip(bytes) {
            *sum += value * f32::from(*byte);
        }
    }
    let rest = tail.iter().zip(byte_tail);
    let rest: f32 = rest.map(|(value, byte)| value * f32::from(*byte)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Compiles the loops under the features of one instruction set.
macro_rules! plain_loops {
    ($module:ident, $mix:path $(, #[$attribute:meta])?) => {
        pub(crate) mod $module {
            $(#[$attribute])?
            pub(crate) fn hadamard(block: &mut [f32], scale: f32) {
                super::hadamard_plain(block, scale, |lanes| $mix(lanes));
            }

            $(#[$attribute])?
            pub(crate) fn fit<const BITS: u32>(values: &[f32], inverse_step: f32) -> [f32; 2] {
                super::fit_plain::<BITS>(values, inverse_step)
            }

            $(#[$attribute])?
            pub(crate) fn pack<const BITS: u32>(values: &[f32], inverse_step: f32, out: &mut [u8]) {
                super::pack_plain::<BITS>(values, inverse_step, out);
            }

            $(#[$attribute])?
            pub(crate) fn quantize_i8(values: &[f32], out: &mut [i8]) -> (f32, i32) {
                super::quantize_i8_plain(values, out)
            }

            $(#[$attribute])?
            pub(crate) fn dot_bytes(values: &[f32], bytes: &[i8]) -> f32 {
                super::dot_bytes_plain(values, bytes)
            }
        }
    };
}

plain_loops!(scalar, super::mix_lanes);
#[cfg(target_arch = "x86_64")]
plain_loops!(avx2, crate::codes::avx2::mix_lanes, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "x86_64")]
plain_loops!(avx512, crate::codes::avx512::mix_lanes, #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]);
#[cfg(target_arch = "aarch64")]
plain_loops!(neon, super::mix_lanes, #[target_feature(enable = "neon")]);

//! Codes of all rows, made in one pass over the vectors.

use std::thread;

use clew_kernels::CodeBits;

use crate::codes::{
    BitCodes, ByteCodes, ByteFacts, Encoder, FACTORS, Frame, Pairing, Residual, RotatedCodes,
    RotatedProbe, RotatedQuery, pitch_bytes,
};
use crate::graph::Coded;
use crate::rows::{Probe, Rows};
use crate::watch::{BuildPhase, BuildProgress, Steps};
use crate::{Space, VectorError};

/// Rows used as queries, and rows measured from each, to learn the typical error.
const ERROR_QUERIES: usize = 64;
const ERROR_ROWS: usize = 64;

/// What an image keeps of the codes.
#[derive(Debug)]
pub(crate) struct OwnedCodes {
    pub(crate) frame: Frame,
    pub(crate) codes: Vec<u8>,
    pub(crate) factors: Vec<[f32; FACTORS]>,
    pub(crate) bits: CodeBits,
    /// See [`RotatedCodes::error`].
    pub(crate) error: f32,
}

impl OwnedCodes {
    /// The codes as a reader sees them.
    pub(super) fn view(&self) -> RotatedCodes<'_> {
        RotatedCodes {
            frame: &self.frame,
            codes: &self.codes,
            factors: &self.factors,
            pitch: pitch_bytes(self.frame.centre.len(), self.bits),
            bits: self.bits,
            error: self.error,
        }
    }
}

/// One thread's rows of every kind of code.
struct Share<'a> {
    first: usize,
    codes: &'a mut [u8],
    factors: &'a mut [[f32; FACTORS]],
    bits: &'a mut [u8],
    bytes: &'a mut [i8],
    facts: &'a mut [ByteFacts],
}

/// Encodes every row: codes for the image, and codes to build its graph by.
pub(crate) fn encode(
    rows: &Rows<'_>,
    (space, bits): (Space, CodeBits),
    (seed, threads): (u64, usize),
    progress: &BuildProgress,
) -> Result<(OwnedCodes, Coded), VectorError> {
    let code_pitch = pitch_bytes(rows.numbers, bits);
    let (count, dimension, kernels) = (rows.count(), rows.numbers, rows.kernels);
    progress.begin(BuildPhase::Encode, (0, count));
    let mut owned = OwnedCodes {
        frame: Frame::build(rows, seed),
        codes: vec![0; count * code_pitch],
        factors: vec![[0.0; FACTORS]; count],
        bits,
        error: 0.0,
    };
    let mut signs = BitCodes::new(dimension, count);
    let pairing = pairing(rows, space);
    let mut bytes = ByteCodes::new((dimension, count), pairing, kernels);
    let share = count.div_ceil(threads.max(1)).max(1);
    let bit_pitch = signs.pitch();
    let (byte_rows, facts) = bytes.parts_mut();
    let codes = owned.codes.chunks_mut(share * code_pitch);
    let kept = codes.zip(owned.factors.chunks_mut(share));
    let built = signs.bytes_mut().chunks_mut(share * bit_pitch);
    let built = built.zip(byte_rows.chunks_mut(share * dimension));
    let shares = kept.zip(built.zip(facts.chunks_mut(share))).enumerate();
    let frame = &owned.frame;
    let encoder = Encoder {
        space,
        bits,
        kernels,
    };
    thread::scope(|scope| {
        for (at, ((codes, factors), ((bits, bytes), facts))) in shares {
            let share = Share {
                first: at * share,
                codes,
                factors,
                bits,
                bytes,
                facts,
            };
            let steps = Steps::new(progress);
            let work = move || encode_share(rows, (encoder, frame, pairing), share, steps);
            if threads > 1 {
                scope.spawn(work);
            } else {
                work();
            }
        }
    });
    progress.check()?;
    owned.error = typical_error(rows, space, &owned);
    let coded = Coded {
        bits: signs,
        bytes,
        row_count: count,
        kernels,
    };
    Ok((owned, coded))
}

fn encode_share(
    rows: &Rows<'_>,
    (encoder, frame, pairing): (Encoder, &Frame, Pairing),
    share: Share<'_>,
    mut steps: Steps<'_>,
) {
    let mut residual = Residual::default();
    let mut floats = vec![0.0; rows.numbers];
    let dimension = rows.numbers;
    let code_pitch = pitch_bytes(dimension, encoder.bits);
    let bit_pitch = share.bits.len() / share.factors.len();
    let kept = share.codes.chunks_mut(code_pitch).zip(share.factors);
    let built = share.bits.chunks_mut(bit_pitch);
    let built = built
        .zip(share.bytes.chunks_mut(dimension))
        .zip(share.facts);
    let first = u32::try_from(share.first).expect("a column holds at most 2^30 rows");
    for (row, ((code, factors), ((bits, bytes), facts))) in (first..).zip(kept.zip(built)) {
        let vector = rows.floats(row, &mut floats);
        frame.residual(vector, rows.scale(row), &mut residual);
        *factors = encoder.encode(&residual, code);
        factors[0] += rows.lacking(row);
        BitCodes::encode(&residual, pairing, bits);
        *facts = ByteCodes::encode(encoder.kernels, &residual, pairing, bytes);
        if !steps.row_done() {
            return;
        }
    }
}

/// Vectors count as equally long when the squares of their lengths differ by no more than this.
const SAME_LENGTH_RATIO: f32 = 0.99;

/// The nearest by inner product among vectors of one length are the nearest by distance, and those
/// make the better graph.
fn pairing(rows: &Rows<'_>, space: Space) -> Pairing {
    if space != Space::InnerProduct {
        return Pairing::Distance;
    }
    let mut floats = vec![0.0; rows.numbers];
    let squared = |row| {
        let vector = rows.floats(row, &mut floats);
        rows.kernels.f32().dot(vector, vector)
    };
    let squares = (0_u32..).take(rows.count()).map(squared);
    let (least, most) = squares.fold((f32::INFINITY, 0.0_f32), |(least, most), squared| {
        (least.min(squared), most.max(squared))
    });
    if least < most * SAME_LENGTH_RATIO {
        Pairing::Product
    } else {
        Pairing::Distance
    }
}

/// Root of the mean squared error of estimated distances, per length of the query's residual.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rounds; an error is smaller than a distance"
)]
fn typical_error(rows: &Rows<'_>, space: Space, owned: &OwnedCodes) -> f32 {
    let codes = owned.view();
    let every = |wanted: usize| {
        (0_u32..)
            .take(rows.count())
            .step_by(rows.count().div_ceil(wanted))
    };
    let others: Vec<u32> = every(ERROR_ROWS).collect();
    let (mut estimates, mut exact) = (vec![0.0; others.len()], vec![0.0; others.len()]);
    let mut query = RotatedQuery::default();
    let mut floats = vec![0.0; rows.numbers];
    let (mut sum, mut count) = (0.0_f64, 0_usize);
    for row in every(ERROR_QUERIES) {
        let vector = rows.floats(row, &mut floats);
        query.prepare(&codes, space, (vector, rows.scale(row)));
        let length = query.length();
        if length <= f32::MIN_POSITIVE {
            continue;
        }
        let probe = RotatedProbe {
            codes,
            query: &query,
            kernels: rows.kernels,
        };
        probe.measure(&others, &mut estimates);
        rows.probe_row(row, vector).measure(&others, &mut exact);
        for (estimate, exact) in estimates.iter().zip(&exact) {
            let gap = f64::from((estimate - exact) / length);
            sum += gap * gap;
            count += 1;
        }
    }
    (sum / count.max(1) as f64).sqrt() as f32
}

//! Where codes are measured from: the column's centre and its rotation.

use clew_kernels::kernels;

use crate::codes::rotation::Rotation;
use crate::rows::Rows;

/// Rows that the centre is the mean of; more would not move it.
const SAMPLE_ROWS: usize = 20_000;

/// Centre and rotation of a column.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) seed: u64,
    pub(crate) centre: Vec<f32>,
    rotation: Rotation,
}

/// A vector as codes see it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Residual {
    pub(crate) values: Vec<f32>,
    /// Squared length of the residual.
    pub(crate) squared: f32,
    /// Product of the centre and the residual.
    pub(crate) with_centre: f32,
}

impl Frame {
    /// The frame of a stored centre; cost is linear in the dimension.
    pub(crate) fn new(centre: Vec<f32>, seed: u64) -> Self {
        let rotation = Rotation::new(centre.len(), seed);
        Frame {
            seed,
            centre,
            rotation,
        }
    }

    /// Centres the frame on the mean of a column's vectors.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounds; a mean lies among its numbers"
    )]
    pub(crate) fn build(rows: &Rows<'_>, seed: u64) -> Self {
        let mut sums = vec![0.0_f64; rows.numbers];
        let mut floats = vec![0.0; rows.numbers];
        let step = rows.count().div_ceil(SAMPLE_ROWS).max(1);
        let sample: Vec<u32> = (0_u32..).take(rows.count()).step_by(step).collect();
        let size = sample.len().max(1) as f64;
        for row in sample {
            let scale = rows.scale(row);
            for (sum, &value) in sums.iter_mut().zip(rows.floats(row, &mut floats)) {
                *sum += f64::from(value * scale);
            }
        }
        let centre = sums.iter().map(|sum| (sum / size) as f32).collect();
        Frame::new(centre, seed)
    }

    /// The residual of `vector` times `scale`.
    pub(crate) fn residual(&self, vector: &[f32], scale: f32, out: &mut Residual) {
        let kernels = kernels();
        out.values.clear();
        let pairs = vector.iter().zip(&self.centre);
        out.values
            .extend(pairs.map(|(value, centre)| value * scale - centre));
        out.with_centre = kernels.f32().dot(&out.values, &self.centre);
        self.rotation.apply(&mut out.values, kernels);
        out.squared = kernels.f32().dot(&out.values, &out.values);
    }
}

//! Product quantization: a vector is cut into parts, and of each part only the nearest of sixteen
//! trained centroids is kept (Jégou, Douze and Schmid, "Product quantization for nearest neighbor
//! search", TPAMI 2011).

use clew_kernels::{ProductSpans, kernels};

use crate::VectorError;
use crate::random::SplitMix;

/// Centroids per part: a code fits into four bits, and a table of them into a register.
pub(crate) const CENTROIDS: usize = 16;
/// Vectors that training needs: a few for each centroid.
pub(crate) const TRAIN_ROWS_MIN: usize = 16 * CENTROIDS;
/// More vectors than this would not move the centroids.
const TRAIN_ROWS_MAX: usize = 256 * CENTROIDS;
const ROUNDS: usize = 8;

/// Codes of four bits for each few dimensions of a vector, by centroids trained on vectors like it.
///
/// ```
/// use clew_vector::ProductQuantizer;
///
/// let rows: Vec<f32> = (0..1_024_u16).map(|at| f32::from(at * 37 % 101)).collect();
/// let quantizer = ProductQuantizer::train(&rows, (4, 2), 7)?;
/// let mut code = vec![0; quantizer.codes()];
/// quantizer.encode(&rows[..4], &mut code);
/// assert!(quantizer.estimate(&rows[..4], &code) < 1_000.0);
/// # Ok::<(), clew_vector::VectorError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ProductQuantizer {
    dimension: usize,
    part: usize,
    /// For each part, dimension after dimension: that of each of the sixteen centroids.
    book: Vec<[f32; CENTROIDS]>,
}

impl ProductQuantizer {
    /// Trains on `rows` of `dimension` numbers, one after the other, cut into parts of `part`
    /// dimensions, of which the last may be shorter; both are at least 1. The same rows and seed give
    /// the same centroids.
    ///
    /// Fails with [`VectorError::TooFewToTrain`] when there are fewer than 256 rows. Uses at most 4,096
    /// of them, evenly spread; costs 8 rounds of 16 distances each.
    pub fn train(
        rows: &[f32],
        (dimension, part): (usize, usize),
        seed: u64,
    ) -> Result<Self, VectorError> {
        // Vectors and parts without dimensions have no codes.
        assert!(dimension > 0 && part > 0);
        let count = rows.len() / dimension;
        if count < TRAIN_ROWS_MIN {
            return Err(VectorError::TooFewToTrain {
                rows: count,
                needed: TRAIN_ROWS_MIN,
            });
        }
        let step = count.div_ceil(TRAIN_ROWS_MAX);
        let sample: Vec<&[f32]> = rows.chunks_exact(dimension).step_by(step).collect();
        let mut random = SplitMix::new(seed);
        let mut book = Vec::with_capacity(dimension);
        for first in (0..dimension).step_by(part) {
            let end = dimension.min(first + part);
            let parts: Vec<&[f32]> = sample.iter().map(|row| &row[first..end]).collect();
            book.extend(train_part(&parts, &mut random));
        }
        Ok(ProductQuantizer {
            dimension,
            part,
            book,
        })
    }

    /// A quantizer of a stored book, which has an entry for each dimension.
    pub(crate) fn from_book(book: Vec<[f32; CENTROIDS]>, part: usize) -> Self {
        ProductQuantizer {
            dimension: book.len(),
            part,
            book,
        }
    }

    /// Dimensions of a code.
    pub(crate) fn part(&self) -> usize {
        self.part
    }

    pub(crate) fn book(&self) -> &[[f32; CENTROIDS]] {
        &self.book
    }

    /// Number of codes of a vector.
    pub fn codes(&self) -> usize {
        self.dimension.div_ceil(self.part)
    }

    /// Writes the codes of a vector, each from 0 to 15. Panics when `vector` is not of the trained
    /// dimension, or `codes` not as long as [`ProductQuantizer::codes`] says.
    pub fn encode(&self, vector: &[f32], codes: &mut [u8]) {
        assert_eq!(vector.len(), self.dimension);
        assert_eq!(codes.len(), self.codes());
        kernels().nearest_centroids(vector, (&self.book, self.part), codes);
    }

    /// The vector that codes stand for. Panics as [`ProductQuantizer::encode`] does.
    pub fn decode(&self, codes: &[u8], vector: &mut [f32]) {
        assert_eq!(vector.len(), self.dimension);
        assert_eq!(codes.len(), self.codes());
        let parts = vector
            .chunks_mut(self.part)
            .zip(self.book.chunks(self.part));
        for (&code, (part, book)) in codes.iter().zip(parts) {
            for (value, entries) in part.iter_mut().zip(book) {
                *value = entries[usize::from(code & 15)];
            }
        }
    }

    /// Estimates the squared Euclidean distance of a query and a coded vector. Panics as
    /// [`ProductQuantizer::encode`] does.
    pub fn estimate(&self, query: &[f32], codes: &[u8]) -> f32 {
        assert_eq!(query.len(), self.dimension);
        let mut vector = vec![0.0; self.dimension];
        self.decode(codes, &mut vector);
        let pairs = query.iter().zip(&vector);
        pairs.map(|(x, y)| (x - y) * (x - y)).sum()
    }

    /// Writes the product of each part of `query` with the part's sixteen centroids, less the least of them.
    pub(crate) fn products(
        &self,
        query: &[f32],
        tables: &mut Vec<[f32; CENTROIDS]>,
    ) -> ProductSpans {
        tables.resize(self.codes(), [0.0; CENTROIDS]);
        kernels().centroid_products(query, (&self.book, self.part), tables)
    }
}

/// K-means over one part of all rows; the centroids start as rows drawn at random.
fn train_part(parts: &[&[f32]], random: &mut SplitMix) -> Vec<[f32; CENTROIDS]> {
    let (dimensions, kernels) = (parts[0].len(), kernels());
    let mut book = vec![[0.0; CENTROIDS]; dimensions];
    let place = |book: &mut [[f32; CENTROIDS]], centroid: usize, random: &mut SplitMix| {
        let at = random.draw() % parts.len() as u64;
        let drawn = usize::try_from(at).map_or(parts[0], |at| parts[at]);
        for (entries, &value) in book.iter_mut().zip(drawn) {
            entries[centroid] = value;
        }
    };
    for centroid in 0..CENTROIDS {
        place(&mut book, centroid, random);
    }
    for _ in 0..ROUNDS {
        let mut sums = vec![[0.0_f64; CENTROIDS]; dimensions];
        let mut members = [0_u32; CENTROIDS];
        for part in parts {
            let mut code = [0];
            kernels.nearest_centroids(part, (&book, dimensions), &mut code);
            let centroid = usize::from(code[0]);
            members[centroid] += 1;
            for (sums, &value) in sums.iter_mut().zip(*part) {
                sums[centroid] += f64::from(value);
            }
        }
        for (centroid, &members) in members.iter().enumerate() {
            if members == 0 {
                place(&mut book, centroid, random);
                continue;
            }
            for (entries, sums) in book.iter_mut().zip(&sums) {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "rounds; a mean lies among its numbers"
                )]
                {
                    entries[centroid] = (sums[centroid] / f64::from(members)) as f32;
                }
            }
        }
    }
    book
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize, dimension: usize, seed: u64) -> Vec<f32> {
        let mut random = SplitMix::new(seed);
        let mut part = || (random.draw() >> 40) as f32 / (1_u64 << 24) as f32 - 0.5;
        let normal = || (0..4).map(|_| part()).sum();
        std::iter::repeat_with(normal)
            .take(count * dimension)
            .collect()
    }

    #[test]
    fn too_few_rows_are_refused_by_name() {
        let error = ProductQuantizer::train(&rows(255, 8, 1), (8, 4), 1).unwrap_err();
        let message = "255 vectors are too few to train product quantization, which needs 256";
        assert_eq!(error.to_string(), message);
        ProductQuantizer::train(&rows(256, 8, 1), (8, 4), 1).unwrap();
    }

    #[test]
    fn estimates_are_near_the_distance_and_better_the_shorter_the_parts() {
        let dimension = 48;
        let rows = rows(1_000, dimension, 2);
        let query: Vec<f32> = rows[..dimension].iter().rev().copied().collect();
        let mut last = 0.0;
        for part in [8, 4, 2, 1] {
            let quantizer = ProductQuantizer::train(&rows, (dimension, part), 3).unwrap();
            let mut code = vec![0; quantizer.codes()];
            let (mut explained, mut total) = (0.0, 0.0);
            for row in rows.chunks(dimension) {
                quantizer.encode(row, &mut code);
                explained += quantizer.estimate(row, &code);
                total += row.iter().map(|x| x * x).sum::<f32>();
                let exact: f32 = row.iter().zip(&query).map(|(x, y)| (x - y).powi(2)).sum();
                let estimate = quantizer.estimate(&query, &code);
                assert!(
                    (estimate - exact).abs() < 0.7 * exact,
                    "{estimate} of {exact}"
                );
            }
            let kept = 1.0 - explained / total;
            assert!(kept > last, "parts of {part} keep {kept} after {last}");
            last = kept;
        }
        assert!(last > 0.98, "sixteen levels per dimension keep {last}");
    }

    #[test]
    fn lengths_that_do_not_divide_equal_rows_and_seeds() {
        let equal = vec![1.5; 300 * 7];
        let quantizer = ProductQuantizer::train(&equal, (7, 4), 3).unwrap();
        assert_eq!(quantizer.codes(), 2);
        let mut code = [9; 2];
        quantizer.encode(&equal[..7], &mut code);
        assert_eq!(quantizer.estimate(&equal[..7], &code), 0.0);

        let rows = rows(300, 7, 8);
        let train = |seed| ProductQuantizer::train(&rows, (7, 3), seed).unwrap();
        assert_eq!(train(1), train(1));
        assert_ne!(train(1), train(2));
    }

    #[test]
    fn products_are_those_of_the_decoded_vector() {
        let rows = rows(300, 10, 8);
        let quantizer = ProductQuantizer::train(&rows, (10, 4), 1).unwrap();
        let mut code = vec![0; quantizer.codes()];
        let mut decoded = vec![0.0; 10];
        quantizer.encode(&rows[10..20], &mut code);
        quantizer.decode(&code, &mut decoded);
        let query = &rows[..10];
        let mut tables = Vec::new();
        let spans = quantizer.products(query, &mut tables);
        let products = tables.iter().zip(&code);
        let sum: f32 = products
            .map(|(products, &code)| products[usize::from(code)])
            .sum();
        let sum = sum + spans.least;
        let exact: f32 = query.iter().zip(&decoded).map(|(x, y)| x * y).sum();
        assert!((sum - exact).abs() < 1e-4);
    }
}

//! Vectors and what is searched for among them: made from a seed, or read from .npy files; and the exact neighbours that
//! recall is counted against.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, Scratch, SearchRequest, Space,
};

use super::super::vectors::npy::{self, Matrix};
use super::dice::Dice;

/// Vectors lie about a surface of so many dimensions, as those of embedding models do.
const LATENT: usize = 32;
/// Rows of a cluster, on the mean.
const CLUSTER_ROWS: usize = 200;
/// How far a vector lies from its cluster's centre, and from the surface.
const WIDTH: f32 = 0.6;
const NOISE: f32 = 0.02;

/// The vectors of a run, each by its number.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) rows: usize,
    pub(super) queries: usize,
    pub(super) dims: usize,
    pub(super) space: Space,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Made(Maker),
    Read {
        base: Matrix<f32>,
        queries: Matrix<f32>,
        truth: Option<Matrix<u64>>,
    },
}

/// Where the files are.
#[derive(Clone, Debug)]
pub(super) struct PointFiles {
    pub(super) base: PathBuf,
    pub(super) queries: PathBuf,
    pub(super) truth: Option<PathBuf>,
}

impl Points {
    pub(super) fn made(
        (rows, queries, dims): (usize, usize, usize),
        space: Space,
        seed: u64,
    ) -> Self {
        Points {
            rows,
            queries,
            dims,
            space,
            source: Source::Made(Maker::new(dims, rows, seed)),
        }
    }

    pub(super) fn read(files: &PointFiles, space: Space) -> anyhow::Result<Self> {
        let (base, queries) = (npy::floats(&files.base)?, npy::floats(&files.queries)?);
        let truth = files.truth.as_deref().map(npy::indices).transpose()?;
        ensure!(base.rows > 0 && queries.rows > 0, "there are no vectors");
        ensure!(
            base.columns == queries.columns,
            "vectors have {} dimensions, and queries {}",
            base.columns,
            queries.columns
        );
        if let Some(truth) = &truth {
            ensure!(
                truth.rows == queries.rows,
                "there are neighbours of {} queries, and {} queries",
                truth.rows,
                queries.rows
            );
            truth.check_below(base.rows)?;
        }
        Ok(Points {
            rows: base.rows,
            queries: queries.rows,
            dims: base.columns,
            space,
            source: Source::Read {
                base,
                queries,
                truth,
            },
        })
    }

    /// The vector of a row.
    pub(super) fn row(&self, row: usize) -> Vec<f32> {
        match &self.source {
            Source::Made(maker) => maker.row(row, self.space),
            Source::Read { base, .. } => base.row(row).to_vec(),
        }
    }

    pub(super) fn query(&self, query: usize) -> Vec<f32> {
        match &self.source {
            // Of the same clusters, and none of the rows.
            Source::Made(maker) => maker.row(self.rows + query, self.space),
            Source::Read { queries, .. } => queries.row(query).to_vec(),
        }
    }

    /// The `k` nearest rows of each query, as exact search finds them; costs a scan of all rows for each query, shared
    /// out among this machine's cores, and holds all vectors in memory meanwhile.
    pub(super) fn truth(&self, k: usize) -> anyhow::Result<Vec<Vec<u64>>> {
        if let Source::Read {
            truth: Some(truth), ..
        } = &self.source
        {
            ensure!(
                truth.columns >= k,
                "{k} neighbours are wanted, and {} of each query are known",
                truth.columns
            );
            return Ok((0..truth.rows)
                .map(|query| truth.row(query)[..k].to_vec())
                .collect());
        }
        let mut builder = ColumnBuilder::new(ColumnOptions::new(self.dims, self.space))?;
        for row in 0..self.rows {
            builder.push(u32::try_from(row)?, &self.row(row))?;
        }
        let how = ImageOptions {
            graph: GraphChoice::Never,
            seed: 0,
            threads: 1,
        };
        let mut image = Vec::new();
        builder.write(how, &mut image)?;
        let column = Column::open(image)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let numbers: Vec<usize> = (0..self.queries).collect();
        let parts = numbers.chunks(self.queries.div_ceil(threads).max(1));
        std::thread::scope(|scope| {
            let parts: Vec<_> = parts
                .map(|part| scope.spawn(|| self.nearest(&column, part, k)))
                .collect();
            let mut all = Vec::new();
            for part in parts {
                all.extend(part.join().ok().context("a search broke down")??);
            }
            Ok(all)
        })
    }

    fn nearest(
        &self,
        column: &Column<Vec<u8>>,
        queries: &[usize],
        k: usize,
    ) -> anyhow::Result<Vec<Vec<u64>>> {
        let mut scratch = Scratch::default();
        let mut nearest = Vec::new();
        for &query in queries {
            let vector = self.query(query);
            let mut request = SearchRequest::new(&vector, k);
            request.exact = true;
            let hits = column.search(&request, &mut scratch)?.hits;
            nearest.push(hits.iter().map(|hit| hit.doc.into()).collect());
        }
        Ok(nearest)
    }
}

/// Makes vectors of clusters on a surface of few dimensions, seen through a random projection, with a little noise.
#[derive(Debug)]
struct Maker {
    seed: u64,
    latent: usize,
    /// A centre for each cluster, row after row.
    centres: Vec<f32>,
    /// A row of latent numbers for each dimension.
    lift: Vec<f32>,
}

/// What the numbers behind a seed are used for.
const CENTRES: u64 = u64::MAX;
const LIFT: u64 = u64::MAX - 1;

impl Maker {
    fn new(dims: usize, rows: usize, seed: u64) -> Self {
        let latent = LATENT.min(dims);
        let normal = |thing, count| {
            let mut made = vec![0.0; count];
            Dice::of(seed, thing).fill_normal(&mut made);
            made
        };
        let mut lift = normal(LIFT, latent * dims);
        let length = (dims as f64).sqrt();
        #[allow(clippy::cast_possible_truncation, reason = "a scale")]
        lift.iter_mut().for_each(|number| *number /= length as f32);
        Maker {
            seed,
            latent,
            centres: normal(CENTRES, latent * rows.div_ceil(CLUSTER_ROWS).max(1)),
            lift,
        }
    }

    fn row(&self, row: usize, space: Space) -> Vec<f32> {
        let mut dice = Dice::of(self.seed, row as u64);
        let clusters = (self.centres.len() / self.latent) as f64;
        // Uneven: the first are larger.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of the number of clusters lies below it"
        )]
        let cluster = (dice.share().powi(2) * clusters) as usize;
        let mut point = vec![0.0; self.latent];
        dice.fill_normal(&mut point);
        let centre = &self.centres[cluster * self.latent..][..self.latent];
        for (number, centre) in point.iter_mut().zip(centre) {
            *number = centre + WIDTH * *number;
        }
        let mut vector = vec![0.0; self.lift.len() / self.latent];
        dice.fill_normal(&mut vector);
        for (number, axis) in vector.iter_mut().zip(self.lift.chunks_exact(self.latent)) {
            let lifted: f32 = axis.iter().zip(&point).map(|(a, b)| a * b).sum();
            *number = lifted + NOISE * *number;
        }
        if space != Space::L2 {
            let length = vector.iter().map(|number| number * number).sum::<f32>();
            let length = length.sqrt().max(f32::MIN_POSITIVE);
            vector.iter_mut().for_each(|number| *number /= length);
        }
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_those_of_a_scan_and_rows_those_of_the_seed() {
        let points = Points::made((300, 5, 24), Space::L2, 7);
        assert_eq!(
            points.row(3),
            Points::made((300, 9, 24), Space::L2, 7).row(3)
        );
        assert_ne!(
            points.row(3),
            Points::made((300, 5, 24), Space::L2, 8).row(3)
        );
        let truth = points.truth(10).unwrap();
        assert_eq!(truth.len(), 5);
        for (query, found) in truth.iter().enumerate() {
            let query = points.query(query);
            let mut all: Vec<(f32, u64)> = (0..300)
                .map(|row| {
                    let row_values = points.row(row);
                    let pairs = row_values.iter().zip(&query);
                    (pairs.map(|(a, b)| (a - b) * (a - b)).sum(), row as u64)
                })
                .collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let wanted: Vec<u64> = all[..10].iter().map(|(_, row)| *row).collect();
            assert_eq!(*found, wanted);
        }
    }

    #[test]
    fn made_vectors_lie_in_clusters() {
        let points = Points::made((2000, 20, 64), Space::Cosine, 1);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        for (query, nearest) in points.truth(1).unwrap().iter().enumerate() {
            let query = points.query(query);
            assert!((dot(&query, &query) - 1.0).abs() < 1e-4);
            let near = dot(&query, &points.row(usize::try_from(nearest[0]).unwrap()));
            let mean = (0..2000)
                .map(|row| dot(&query, &points.row(row)))
                .sum::<f32>()
                / 2000.0;
            assert!(near > 0.7 && mean < 0.4, "nearest {near}, mean {mean}");
        }
    }
}

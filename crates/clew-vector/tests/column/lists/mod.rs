//! Columns of inverted lists: as good as their effort, exact where they have to be, and never wrong
//! about damage.

mod built;
mod damage;
mod found;
mod together;

use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, IvfOptions, ListCodes, Method,
    Scratch, SearchOutcome, SearchRequest, Space, Strategy,
};

/// A plain multiplicative generator: the same numbers in every run.
struct Noise(u64);

impl Noise {
    fn unit(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_F42D_4C95_7F2D)
            .wrapping_add(0x1405_7B7E_F767_814F);
        ((self.0 >> 40) as f32) / (1_u64 << 24) as f32 - 0.5
    }

    /// About normal.
    fn normal(&mut self) -> f32 {
        (0..6).map(|_| self.unit()).sum()
    }

    fn vector(&mut self, dimension: usize) -> Vec<f32> {
        (0..dimension).map(|_| self.normal()).collect()
    }
}

/// Vectors around `clusters` centres, and a few more like them as queries.
pub(crate) fn clustered(
    count: usize,
    dimension: usize,
    seed: u64,
) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    const CLUSTERS: usize = 40;
    let mut noise = Noise(seed);
    let centres: Vec<_> = (0..CLUSTERS).map(|_| noise.vector(dimension)).collect();
    let mut all: Vec<Vec<f32>> = (0..count + 50)
        .map(|at| {
            let near = noise.vector(dimension);
            let pairs = centres[at * 7 % CLUSTERS].iter().zip(near);
            pairs.map(|(centre, x)| centre + 0.6 * x).collect()
        })
        .collect();
    let queries = all.split_off(count);
    (all, queries)
}

fn lists(codes: ListCodes) -> Method {
    Method::Lists(IvfOptions { lists: 0, codes })
}

fn options(dimension: usize, space: Space, codes: ListCodes) -> ColumnOptions {
    ColumnOptions {
        method: lists(codes),
        ..ColumnOptions::new(dimension, space)
    }
}

const HOW: ImageOptions = ImageOptions {
    graph: GraphChoice::Always,
    seed: 11,
    threads: 1,
};

fn builder(options: ColumnOptions, rows: &[Vec<f32>]) -> ColumnBuilder {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, row) in (0_u32..).zip(rows) {
        builder.push(doc, row).unwrap();
    }
    builder
}

fn image(options: ColumnOptions, rows: &[Vec<f32>]) -> Vec<u8> {
    let mut image = Vec::new();
    builder(options, rows).write(HOW, &mut image).unwrap();
    image
}

fn open(image: Vec<u8>) -> Column<Vec<u8>> {
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

pub(crate) fn docs(outcome: &SearchOutcome) -> Vec<u32> {
    outcome.hits.iter().map(|hit| hit.doc).collect()
}

fn ask(column: &Column<Vec<u8>>, request: &SearchRequest<'_>) -> SearchOutcome {
    column.search(request, &mut Scratch::default()).unwrap()
}

pub(crate) fn exact(column: &Column<Vec<u8>>, request: &SearchRequest<'_>) -> SearchOutcome {
    let request = SearchRequest {
        exact: true,
        ..*request
    };
    let outcome = ask(column, &request);
    assert_eq!(outcome.strategy, Strategy::Exact);
    outcome
}

/// Share of the exact hits that were found, by lists throughout.
fn recall<'a>(
    column: &Column<Vec<u8>>,
    requests: impl IntoIterator<Item = SearchRequest<'a>>,
) -> f64 {
    let (mut found, mut wanted) = (0, 0);
    for request in requests {
        let outcome = ask(column, &request);
        assert_eq!(outcome.strategy, Strategy::Lists);
        assert!(outcome.hits.is_sorted_by(|a, b| a.distance <= b.distance));
        let truth = docs(&exact(column, &request));
        assert_eq!(outcome.hits.len(), truth.len(), "hits are missing");
        wanted += truth.len();
        found += truth
            .iter()
            .filter(|doc| docs(&outcome).contains(doc))
            .count();
    }
    found as f64 / wanted as f64
}

fn requests<'a>(
    queries: &'a [Vec<f32>],
    probes: Option<usize>,
) -> impl Iterator<Item = SearchRequest<'a>> {
    queries.iter().map(move |query| SearchRequest {
        probes,
        ..SearchRequest::new(query, 10)
    })
}

const COUNT: usize = 12_000;

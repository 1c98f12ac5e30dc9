//! What every search promises, whatever the column, the filter and the effort: as many hits as there
//! are, each of them once, in order, and no others.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::*;

#[derive(Debug)]
struct Case {
    column: Column<Vec<u8>>,
    query: Vec<f32>,
    words: Vec<u64>,
    passing: BTreeSet<u32>,
    k: usize,
    ef_search: usize,
    exact: bool,
}

/// Columns of one row to a few hundred; of the widest vectors few, or the test would take long.
fn a_case() -> impl Strategy<Value = Case> {
    let space = prop::sample::select(vec![Space::L2, Space::Cosine, Space::InnerProduct]);
    let shape = prop_oneof![
        (
            1_usize..400,
            prop::sample::select(vec![1_usize, 2, 65, 130])
        ),
        (1_usize..20, Just(4_096_usize)),
    ];
    let graph = prop::sample::select(vec![GraphChoice::Never, GraphChoice::Always]);
    let asked = (0_usize..60, 0_usize..40, any::<bool>());
    let share = prop::sample::select(vec![0.0, 0.02, 0.3, 0.9, 1.0]);
    (space, shape, graph, asked, (share, any::<u64>())).prop_map(
        |(space, (count, dimension), graph, (k, ef_search, exact), (share, seed))| {
            let mut noise = Noise(seed);
            let options = ColumnOptions::new(dimension, space);
            let mut builder = ColumnBuilder::new(options).unwrap();
            let stride = 1 + u32::try_from(seed % 3).unwrap();
            let mut passing = BTreeSet::new();
            let mut words = vec![0_u64; (count * stride as usize).div_ceil(64)];
            for doc in (0_u32..).step_by(stride as usize).take(count) {
                let vector: Vec<f32> = (0..dimension).map(|_| noise.normal() + 0.01).collect();
                builder.push(doc, &vector).unwrap();
                if f64::from(noise.unit()) < share {
                    passing.insert(doc);
                    words[doc as usize / 64] |= 1 << (doc % 64);
                }
            }
            let how = ImageOptions {
                graph,
                seed,
                threads: 1,
            };
            let mut image = Vec::new();
            builder.write(how, &mut image).unwrap();
            Case {
                column: Column::open(image).unwrap(),
                query: (0..dimension).map(|_| noise.normal() + 0.01).collect(),
                words,
                passing,
                k,
                ef_search,
                exact,
            }
        },
    )
}

/// Checks hits that should be all, or `k`, of those that pass.
fn check_hits(hits: &[Hit], k: usize, passing: &BTreeSet<u32>) {
    assert_eq!(hits.len(), k.min(passing.len()));
    let docs: BTreeSet<u32> = hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(docs.len(), hits.len());
    assert!(docs.is_subset(passing));
}

fn in_order(hits: &[Hit]) -> bool {
    hits.is_sorted_by(|a, b| (a.distance, a.doc) < (b.distance, b.doc))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn as_many_hits_as_there_are_come_in_order_and_none_comes_twice(case in a_case()) {
        let Case { column, passing, k, .. } = &case;
        let mut scratch = Scratch::default();
        let request = SearchRequest {
            ef_search: case.ef_search,
            exact: case.exact,
            filter: Some(Filter { bits: &case.words, count: passing.len() }),
            ..SearchRequest::new(&case.query, *k)
        };
        let alone = column.search(&request, &mut scratch).unwrap();
        check_hits(&alone.hits, *k, passing);
        prop_assert!(in_order(&alone.hits));
        let mut scratches = [Scratch::default(), Scratch::default()];
        for answer in column.search_batch(&[request, request], &mut scratches) {
            prop_assert_eq!(&answer.unwrap(), &alone);
        }

        let mut pages = column.pages(&request).unwrap();
        let mut hits = Vec::new();
        while !pages.is_done() {
            let page = column.next_page(&mut pages, 7, &mut scratch).unwrap().hits;
            prop_assert!(in_order(&page) && (page.len() == 7 || pages.is_done()));
            hits.extend(page);
        }
        check_hits(&hits, usize::MAX, passing);
        prop_assert!(!case.exact || in_order(&hits));
    }
}

#[test]
fn rows_that_cannot_be_hits_are_not_measured_exactly() {
    let (data, column) = shared();
    for vector in data.vectors.iter().take(20) {
        // Nothing but the vector itself lies as near as this.
        let request = SearchRequest {
            ef_search: EF,
            max_distance: Some(0.01),
            ..SearchRequest::new(vector, 1)
        };
        let found = column.search(&request, &mut Scratch::default()).unwrap();
        assert_eq!((found.hits.len(), found.profile.reranked), (1, 1));
    }
}

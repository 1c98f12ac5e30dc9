//! Documents of several vectors each: every kind of search gives each of them once, by its nearest
//! vector. The judge is a column of the same vectors where each is a document of its own.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::Strategy as Draw;

use super::*;
use crate::{Element, Strategy};

/// Document and vector of each row.
type Rows = Vec<(u32, Vec<f32>)>;

fn build(options: ColumnOptions, rows: &Rows, graph: GraphChoice) -> Column<Vec<u8>> {
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in rows {
        builder.push(*doc, vector).unwrap();
    }
    let how = ImageOptions {
        graph,
        seed: 5,
        threads: 1,
    };
    let mut image = Vec::new();
    builder.write(how, &mut image).unwrap();
    let column = Column::open(image).unwrap();
    column.verify().unwrap();
    column
}

fn multi(options: ColumnOptions) -> ColumnOptions {
    ColumnOptions {
        multi: true,
        ..options
    }
}

/// A column of several vectors per document, and one of the same rows, each a document.
struct Pair {
    rows: Rows,
    column: Column<Vec<u8>>,
    judge: Column<Vec<u8>>,
}

impl Pair {
    fn build(options: ColumnOptions, rows: Rows, graph: GraphChoice) -> Self {
        let alone = (0_u32..).zip(&rows);
        let alone = alone.map(|(row, (_, vector))| (row, vector.clone()));
        Pair {
            column: build(multi(options), &rows, graph),
            judge: build(options, &alone.collect(), GraphChoice::Never),
            rows,
        }
    }

    fn docs(&self) -> Vec<u32> {
        let mut docs: Vec<u32> = self.rows.iter().map(|(doc, _)| *doc).collect();
        docs.dedup();
        docs
    }

    /// Every document that passes, with the hit that it should make, best first.
    fn truth(&self, query: &[f32], passes: impl Fn(u32) -> bool) -> Vec<Hit> {
        let request = SearchRequest {
            exact: true,
            ..SearchRequest::new(query, self.rows.len())
        };
        let ranked = self.judge.search(&request, &mut Scratch::default());
        let mut best: BTreeMap<u32, Hit> = BTreeMap::new();
        for hit in ranked.unwrap().hits {
            let doc = self.rows[hit.doc as usize].0;
            if passes(doc) {
                best.entry(doc).or_insert(Hit { doc, ..hit });
            }
        }
        let mut hits: Vec<Hit> = best.into_values().collect();
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.doc.cmp(&b.doc)));
        hits
    }
}

fn words_of(docs: &[u32]) -> Vec<u64> {
    let mut words = vec![0_u64; docs.last().map_or(0, |last| *last as usize / 64 + 1)];
    for doc in docs {
        words[*doc as usize / 64] |= 1 << (doc % 64);
    }
    words
}

fn in_order(hits: &[Hit]) -> bool {
    hits.is_sorted_by(|a, b| (a.distance, a.doc) < (b.distance, b.doc))
}

/// Checks hits that need not be the nearest, but must be real, each document once, and enough.
fn check_hits(hits: &[Hit], truth: &[Hit], k: usize) {
    assert_eq!(hits.len(), k.min(truth.len()));
    let mut docs: Vec<u32> = hits.iter().map(|hit| hit.doc).collect();
    docs.sort_unstable();
    docs.dedup();
    assert_eq!(docs.len(), hits.len(), "a document came twice");
    for hit in hits {
        assert!(truth.contains(hit), "{hit:?} is not its nearest vector");
    }
}

fn all_pages(column: &Column<Vec<u8>>, request: &SearchRequest<'_>, size: usize) -> Vec<Hit> {
    let (mut pages, mut hits) = (column.pages(request).unwrap(), Vec::new());
    while !pages.is_done() {
        let page = column.next_page(&mut pages, size, &mut Scratch::default());
        let page = page.unwrap().hits;
        assert!(in_order(&page));
        hits.extend(page);
    }
    hits
}

/// All hits by asking again behind the last one, in a fresh search each time.
fn all_behind(column: &Column<Vec<u8>>, request: &SearchRequest<'_>) -> Vec<Hit> {
    let (mut request, mut hits) = (*request, Vec::new());
    loop {
        let page = column.search(&request, &mut Scratch::default()).unwrap();
        request.after = page.hits.last().map(Hit::place);
        if page.hits.is_empty() {
            return hits;
        }
        hits.extend(page.hits);
    }
}

#[derive(Debug)]
struct Case {
    options: ColumnOptions,
    rows: Rows,
    query: Vec<f32>,
    graph: GraphChoice,
    /// Share of the documents that pass.
    share: f32,
    /// Which documents pass, at the same share.
    salt: u16,
    k: usize,
    ef_search: usize,
}

/// Documents of one to six vectors, some of them equal, from a few dozen rows to some hundreds.
fn a_case() -> impl Draw<Value = Case> {
    let space = prop::sample::select(vec![Space::L2, Space::Cosine, Space::InnerProduct]);
    let shape = (
        1_usize..120,
        prop::sample::select(vec![1_usize, 3, 65, 130]),
    );
    let graph = prop::sample::select(vec![GraphChoice::Never, GraphChoice::Always]);
    let element = prop::sample::select(vec![Element::F32, Element::F16]);
    let share = prop::sample::select(vec![0.0_f32, 0.02, 0.3, 0.9, 1.0]);
    let asked = (0_usize..150, 0_usize..40);
    (
        space,
        shape,
        (graph, element),
        asked,
        (share, any::<u64>(), any::<u16>()),
    )
        .prop_map(
            |(space, (docs, dimension), (graph, element), (k, ef_search), (share, seed, salt))| {
                let mut noise = Noise(seed);
                let vector = |noise: &mut Noise| -> Vec<f32> {
                    (0..dimension).map(|_| noise.normal() + 0.01).collect()
                };
                let (mut rows, mut doc): (Rows, u32) = (Vec::new(), 0);
                for _ in 0..docs {
                    doc += u32::try_from(1 + noise.below(3)).unwrap();
                    for _ in 0..=noise.below(6) {
                        let again = !rows.is_empty() && noise.below(5) == 0;
                        let own = match again {
                            true => rows[noise.below(rows.len())].1.clone(),
                            false => vector(&mut noise),
                        };
                        rows.push((doc, own));
                    }
                }
                Case {
                    options: ColumnOptions {
                        element,
                        ..ColumnOptions::new(dimension, space)
                    },
                    rows,
                    query: vector(&mut noise),
                    graph,
                    share,
                    salt,
                    k,
                    ef_search,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn each_document_comes_once_by_its_nearest_vector(case in a_case()) {
        let pair = Pair::build(case.options, case.rows, case.graph);
        let (column, query) = (&pair.column, &case.query);
        let docs = pair.docs();
        prop_assert_eq!(column.docs().collect::<Vec<_>>(), docs.clone());
        prop_assert_eq!((column.len(), column.doc_count().unwrap()), (pair.rows.len(), docs.len()));

        let passes = |doc: u32| scattered(f64::from(case.share))(doc as usize + usize::from(case.salt));
        let passing: Vec<u32> = docs.iter().copied().filter(|&doc| passes(doc)).collect();
        let words = words_of(&passing);
        let truth = pair.truth(query, passes);
        let filter = (case.share < 1.0).then_some(Filter { bits: &words, count: passing.len() });
        let walked = SearchRequest {
            ef_search: case.ef_search,
            filter,
            ..SearchRequest::new(query, case.k)
        };
        let exact = SearchRequest { exact: true, ..walked };
        let k = case.k.min(truth.len());
        let mut scratch = Scratch::default();
        prop_assert_eq!(&column.search(&exact, &mut scratch).unwrap().hits[..], &truth[..k]);
        let found = column.search(&walked, &mut scratch).unwrap();
        check_hits(&found.hits, &truth, k);
        prop_assert!(in_order(&found.hits));
        let target = SearchRequest { target_recall: Some(0.9), ..walked };
        check_hits(&column.search(&target, &mut scratch).unwrap().hits, &truth, k);

        let mut scratches = [Scratch::default(), Scratch::default()];
        for (answer, request) in column.search_batch(&[exact, walked, exact], &mut scratches).into_iter().zip([exact, walked, exact]) {
            prop_assert_eq!(answer.unwrap(), column.search(&request, &mut scratch).unwrap());
        }

        prop_assert_eq!(&all_pages(column, &exact, 7), &truth);
        check_hits(&all_pages(column, &walked, 7), &truth, usize::MAX);
        let seven = SearchRequest { k: 7, ..exact };
        prop_assert_eq!(&all_behind(column, &seven), &truth);

        if let Some(middle) = truth.get(truth.len() / 2) {
            let near = truth.partition_point(|hit| hit.distance <= middle.distance);
            let radial = |request| SearchRequest { max_distance: Some(middle.distance), ..request };
            let found = column.search(&radial(exact), &mut scratch).unwrap().hits;
            prop_assert_eq!(&found[..], &truth[..near.min(k)]);
            let found = column.search(&radial(walked), &mut scratch).unwrap().hits;
            check_hits(&found, &truth[..near], found.len());
        }
    }

    #[test]
    fn what_was_pushed_for_a_document_comes_back_in_its_order(case in a_case()) {
        let pair = Pair::build(case.options, case.rows, case.graph);
        for doc in 0..=pair.docs().last().copied().unwrap() + 1 {
            let own = pair.rows.iter().filter(|(other, _)| *other == doc);
            let own: Vec<f32> = own.flat_map(|(_, vector)| vector.iter().copied()).collect();
            let mut rounded = Vec::new();
            let own = case.options.element.round(&own, &mut rounded);
            prop_assert_eq!(&*pair.column.vectors(doc).unwrap(), own);
            let first = pair.column.vector(doc).unwrap();
            let dimension = case.options.dimension;
            prop_assert_eq!(first.as_deref(), (!own.is_empty()).then(|| &own[..dimension]));
        }
    }
}

/// 20,000 vectors around centres, one to six to a document, those of a document around one or two.
fn large() -> &'static (Pair, Vec<Vec<f32>>) {
    static LARGE: LazyLock<(Pair, Vec<Vec<f32>>)> = LazyLock::new(|| {
        let data = data(COUNT);
        let (mut noise, mut rows, mut doc, mut left) = (Noise(9), Vec::new(), 0, 0);
        let mut order: Vec<usize> = (0..COUNT).collect();
        order.sort_by_key(|&row| (data.clusters[row] % 100, row));
        for row in order {
            if left == 0 {
                doc += 1;
                left = 1 + noise.below(6);
            }
            left -= 1;
            rows.push((doc, data.vectors[row].clone()));
        }
        let options = ColumnOptions::new(DIMENSION, Space::L2);
        (
            Pair::build(options, rows, GraphChoice::Always),
            data.queries,
        )
    });
    &LARGE
}

#[test]
fn walks_find_the_nearest_documents() {
    let (pair, queries) = large();
    let half: Vec<u32> = pair.docs().into_iter().filter(|doc| doc % 2 == 0).collect();
    let words = words_of(&half);
    let half = Filter {
        bits: &words,
        count: half.len(),
    };
    for filter in [None, Some(half)] {
        let (mut found, mut targeted, mut wanted) = (0, 0, 0);
        for query in queries.iter().take(50) {
            let truth = pair.truth(query, |doc| {
                filter.is_none_or(|filter| filter.contains(doc))
            });
            let request = SearchRequest {
                ef_search: EF,
                filter,
                ..SearchRequest::new(query, K)
            };
            let outcome = pair.column.search(&request, &mut Scratch::default());
            let outcome = outcome.unwrap();
            let walk = [Strategy::Graph, Strategy::FilteredGraph];
            assert!(walk.contains(&outcome.strategy), "{:?}", outcome.strategy);
            assert!(outcome.distances < COUNT as u64 / 4);
            check_hits(&outcome.hits, &truth, K);
            let near = |hits: &[Hit]| hits.iter().filter(|hit| truth[..K].contains(hit)).count();
            found += near(&outcome.hits);
            let target = SearchRequest {
                target_recall: Some(0.95),
                ..request
            };
            let outcome = pair.column.search(&target, &mut Scratch::default());
            targeted += near(&outcome.unwrap().hits);
            wanted += K;
        }
        assert!(found * 100 >= wanted * 97, "{found} of {wanted}");
        assert!(targeted * 100 >= wanted * 93, "{targeted} of {wanted}");
    }
}

#[test]
fn one_document_with_most_of_the_rows_hides_no_other() {
    let mut noise = Noise(3);
    let near: Vec<f32> = (0..80).map(|_| noise.normal()).collect();
    let mut about =
        |spread: f32| -> Vec<f32> { near.iter().map(|x| x + spread * noise.normal()).collect() };
    let mut rows: Rows = (0..3_000).map(|_| (7, about(0.1))).collect();
    rows.extend((8..100).map(|doc| (doc, about(3.0))));
    let options = ColumnOptions::new(80, Space::L2);
    let pair = Pair::build(options, rows, GraphChoice::Always);
    let truth = pair.truth(&near, |_| true);
    for ef_search in [1, 50, 500] {
        let request = SearchRequest {
            ef_search,
            ..SearchRequest::new(&near, 20)
        };
        let outcome = pair.column.search(&request, &mut Scratch::default());
        let hits = outcome.unwrap().hits;
        check_hits(&hits, &truth, 20);
        let found = hits.iter().filter(|hit| truth[..20].contains(hit)).count();
        assert!(found >= 18, "{found} of 20 at {ef_search}");
    }
}

#[test]
fn a_merge_moves_the_rows_of_a_document_together() {
    let (pair, queries) = large();
    // Every fifth document dies, one in fifty loses a vector, and new ones come behind.
    let (mut rows, mut new_docs): (Rows, BTreeMap<u32, u32>) = (Vec::new(), BTreeMap::new());
    let mut docs = 0;
    for own in pair.rows.chunk_by(|a, b| a.0 == b.0) {
        let old = own[0].0;
        if old % 5 == 0 {
            continue;
        }
        let lost = usize::from(old % 50 == 1 && own.len() > 1);
        rows.extend(own[lost..].iter().map(|(_, vector)| (docs, vector.clone())));
        new_docs.insert(old, docs);
        docs += 1;
    }
    let fresh = pair.rows.iter().filter(|(doc, _)| doc % 5 == 0).take(600);
    rows.extend(fresh.map(|(doc, vector)| (docs + doc, vector.clone())));
    let options = multi(ColumnOptions::new(DIMENSION, Space::L2));
    let mut builder = ColumnBuilder::new(options).unwrap();
    for (doc, vector) in &rows {
        builder.push(*doc, vector).unwrap();
    }
    let how = ImageOptions {
        graph: GraphChoice::Always,
        seed: 5,
        threads: 1,
    };
    let mut image = Vec::new();
    let new_doc = |old: u32| new_docs.get(&old).copied();
    builder
        .write_from(how, (&pair.column, &new_doc), &mut image)
        .unwrap();
    let merged = Column::open(image).unwrap();
    merged.verify().unwrap();
    let merged = Pair {
        judge: {
            let alone = (0_u32..).zip(&rows);
            let alone = alone.map(|(row, (_, vector))| (row, vector.clone()));
            let options = ColumnOptions::new(DIMENSION, Space::L2);
            build(options, &alone.collect(), GraphChoice::Never)
        },
        column: merged,
        rows,
    };
    let mut found = 0;
    for query in queries.iter().take(40) {
        let truth = merged.truth(query, |_| true);
        let request = SearchRequest {
            ef_search: EF,
            ..SearchRequest::new(query, K)
        };
        let outcome = merged.column.search(&request, &mut Scratch::default());
        let outcome = outcome.unwrap();
        assert_eq!(outcome.strategy, Strategy::Graph);
        check_hits(&outcome.hits, &truth, K);
        found += outcome
            .hits
            .iter()
            .filter(|hit| truth[..K].contains(hit))
            .count();
    }
    assert!(found * 100 >= 40 * K * 97, "{found}");
}

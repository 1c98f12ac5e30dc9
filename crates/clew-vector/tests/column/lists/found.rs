//! What lists find: nearly all, with every space, code and stored type, and under every filter.

use std::collections::BTreeSet;

use clew_vector::{
    ColumnOptions, Element, Filter, ListCodes, Scratch, SearchRequest, Space, Strategy,
};

use super::{
    COUNT, Noise, ask, clustered, docs, exact, image, lists, open, options, recall, requests,
};

#[test]
fn lists_of_every_space_and_code_find_nearly_all() {
    let (rows, queries) = clustered(COUNT, 96, 1);
    for space in [Space::L2, Space::Cosine, Space::InnerProduct] {
        for codes in [ListCodes::Chosen, ListCodes::Product] {
            let column = open(image(options(96, space, codes), &rows));
            assert!(column.has_lists() && !column.has_graph());
            assert_eq!(column.options().method, lists(codes));
            let usual = recall(&column, requests(&queries, None));
            assert!(usual > 0.93, "{space:?} {codes:?}: {usual}");
            let all = recall(&column, requests(&queries, Some(usize::MAX)));
            assert!(
                all >= usual - 0.01 && all > 0.985,
                "{space:?} {codes:?}: {all}"
            );
        }
    }
}

#[test]
fn more_lists_are_more_work_and_better_hits() {
    let (rows, queries) = clustered(COUNT, 96, 2);
    let column = open(image(options(96, Space::L2, ListCodes::Chosen), &rows));
    let (mut last_recall, mut last_codes) = (0.0, 0);
    for probes in [1, 4, 16, 64] {
        let now = recall(&column, requests(&queries, Some(probes)));
        let outcomes = requests(&queries, Some(probes)).map(|one| ask(&column, &one));
        let codes: u64 = outcomes.map(|outcome| outcome.profile.codes).sum();
        assert!(now >= last_recall && codes > last_codes, "{probes}: {now}");
        (last_recall, last_codes) = (now, codes);
    }
    // Without a number, the effort follows `ef_search`.
    let mut last_codes = 0;
    for ef_search in [10, 40, 160] {
        let request = SearchRequest {
            ef_search,
            ..SearchRequest::new(&queries[0], 10)
        };
        let codes = ask(&column, &request).profile.codes;
        assert!(codes > last_codes, "ef {ef_search}: {codes}");
        last_codes = codes;
    }
}

#[test]
fn stored_types_and_odd_dimensions_have_lists_too() {
    for (element, dimension, count) in [
        (Element::F16, 70, 6_000),
        (Element::Bf16, 97, 6_000),
        (Element::F32, 33, 6_000),
        // More codes than entries of 8 bits fit into a sum.
        (Element::F32, 1_100, 2_000),
    ] {
        let (rows, queries) = clustered(count, dimension, 3);
        let options = ColumnOptions {
            element,
            ..options(dimension, Space::L2, ListCodes::Chosen)
        };
        let column = open(image(options, &rows));
        let found = recall(&column, requests(&queries, None));
        assert!(found > 0.9, "{element:?} of {dimension}: {found}");
    }
    let mut noise = Noise(4);
    let whole = |noise: &mut Noise| -> Vec<f32> {
        noise
            .vector(80)
            .iter()
            .map(|x| (x * 40.0).round())
            .collect()
    };
    let rows: Vec<_> = (0..6_000).map(|_| whole(&mut noise)).collect();
    let queries: Vec<_> = (0..20).map(|_| whole(&mut noise)).collect();
    let bytes = ColumnOptions {
        element: Element::I8,
        ..options(80, Space::L2, ListCodes::Chosen)
    };
    let column = open(image(bytes, &rows));
    let found = recall(&column, requests(&queries, Some(usize::MAX)));
    assert!(found > 0.95, "bytes without clusters: {found}");
}

#[test]
fn a_filter_gets_all_its_hits_however_far_away_they_lie() {
    let (rows, queries) = clustered(COUNT, 64, 5);
    let column = open(image(options(64, Space::Cosine, ListCodes::Chosen), &rows));
    let mut strategies = Vec::new();
    for every in [1, 2, 10, 100, 1_000, 5_000] {
        let mut bits = vec![0_u64; COUNT.div_ceil(64)];
        for doc in (0..COUNT).step_by(every) {
            bits[doc / 64] |= 1 << (doc % 64);
        }
        let count = COUNT.div_ceil(every);
        let filter = Some(Filter { bits: &bits, count });
        let (mut found, mut wanted) = (0, 0);
        for request in requests(&queries, Some(3)) {
            let request = SearchRequest { filter, ..request };
            let outcome = ask(&column, &request);
            strategies.push(outcome.strategy);
            let truth = docs(&exact(&column, &request));
            assert_eq!(outcome.hits.len(), count.min(10));
            assert!(
                docs(&outcome)
                    .iter()
                    .all(|&doc| (doc as usize).is_multiple_of(every))
            );
            wanted += truth.len();
            found += truth
                .iter()
                .filter(|doc| docs(&outcome).contains(doc))
                .count();
        }
        assert!(
            found * 10 >= wanted * 7,
            "one in {every}: {found} of {wanted}"
        );
    }
    assert!(strategies.contains(&Strategy::Lists));
    assert!(strategies.contains(&Strategy::Exact), "few rows are picked");

    // All that pass lie in one far list, and the planner is told that many do.
    let far: Vec<usize> = (0..COUNT).filter(|at| at * 7 % 40 == 3).take(12).collect();
    let mut bits = vec![0_u64; COUNT.div_ceil(64)];
    for doc in &far {
        bits[doc / 64] |= 1 << (doc % 64);
    }
    let request = SearchRequest {
        filter: Some(Filter {
            bits: &bits,
            count: COUNT,
        }),
        probes: Some(1),
        ..SearchRequest::new(&queries[0], 10)
    };
    let outcome = ask(&column, &request);
    assert_eq!(outcome.strategy, Strategy::Lists);
    assert_eq!(outcome.hits.len(), 10);

    let nothing = SearchRequest {
        filter: Some(Filter {
            bits: &[],
            count: COUNT,
        }),
        ..SearchRequest::new(&queries[0], 10)
    };
    assert_eq!(ask(&column, &nothing).hits, []);
}

#[test]
fn duplicates_and_more_hits_than_rows_are_no_problem() {
    let one = Noise(6).vector(96);
    let mut moved = one.clone();
    moved[0] += 4.0;
    let equal = vec![one.clone(); 700];
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let column = open(image(options(96, Space::L2, codes), &equal));
        let request = SearchRequest::new(&one, 1_000);
        let outcome = ask(&column, &request);
        assert_eq!(outcome.strategy, Strategy::Lists);
        assert_eq!(docs(&outcome), (0..700).collect::<Vec<u32>>());
        assert!(outcome.hits.iter().all(|hit| hit.distance == 0.0));
        let near = SearchRequest {
            max_distance: Some(0.5),
            probes: Some(1),
            ..SearchRequest::new(&moved, 3)
        };
        assert_eq!(ask(&column, &near).hits, []);
    }
    // So few are scanned whatever there is beside them.
    for count in [1, 2, 31, 33] {
        let (rows, queries) = clustered(count, 8, 6);
        let column = open(image(options(8, Space::L2, ListCodes::Chosen), &rows));
        let request = SearchRequest::new(&queries[0], 100);
        assert_eq!(
            docs(&ask(&column, &request)),
            docs(&exact(&column, &request))
        );
    }
}

#[test]
fn too_few_rows_for_a_code_book_are_scanned() {
    let (rows, queries) = clustered(255, 8, 6);
    let column = open(image(options(8, Space::L2, ListCodes::Product), &rows));
    assert!(!column.has_lists());
    let outcome = ask(&column, &SearchRequest::new(&queries[0], 3));
    assert_eq!(outcome.strategy, Strategy::Exact);
    assert_eq!(column.options().method, lists(ListCodes::Product));
}

#[test]
fn pages_and_batches_of_a_column_of_lists() {
    let (rows, queries) = clustered(3_000, 64, 7);
    let column = open(image(options(64, Space::L2, ListCodes::Chosen), &rows));
    let request = SearchRequest::new(&queries[0], 10);
    let mut pages = column.pages(&request).unwrap();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let page = column.next_page(&mut pages, 10, &mut Scratch::default());
        seen.extend(docs(&page.unwrap()));
    }
    let thirty = docs(&exact(&column, &SearchRequest::new(&queries[0], 30)));
    let found = thirty.iter().filter(|doc| seen.contains(doc)).count();
    assert!(found >= 28, "{found}: {seen:?}, not {thirty:?}");
    while !pages.is_done() {
        let page = column.next_page(&mut pages, 500, &mut Scratch::default());
        let page = page.unwrap();
        assert!(page.hits.is_sorted_by(|a, b| a.distance <= b.distance));
        seen.extend(docs(&page));
    }
    let all: BTreeSet<u32> = seen.iter().copied().collect();
    assert_eq!(
        (seen.len(), all.len()),
        (3_000, 3_000),
        "one is lost, or comes twice"
    );

    let all: Vec<_> = requests(&queries, None).collect();
    let mut scratches = [Scratch::default(), Scratch::default()];
    for (request, outcome) in all.iter().zip(column.search_batch(&all, &mut scratches)) {
        assert_eq!(docs(&outcome.unwrap()), docs(&ask(&column, request)));
    }
}

#[test]
fn vectors_without_a_direction_are_as_far_as_nothing_can_tell() {
    let (mut rows, queries) = clustered(6_000, 96, 5);
    for row in rows.iter_mut().step_by(3) {
        row.fill(0.0);
    }
    for codes in [ListCodes::Chosen, ListCodes::Product] {
        let column = open(image(options(96, Space::Cosine, codes), &rows));
        assert!(column.has_lists());
        let requests = queries.iter().map(|query| SearchRequest::new(query, 20));
        assert!(recall(&column, requests) >= 0.9, "{codes:?}");
        let nowhere = vec![0.0; 96];
        let found = ask(&column, &SearchRequest::new(&nowhere, 5));
        assert_eq!(docs(&found), [0, 1, 2, 3, 4]);
        assert!(found.hits.iter().all(|hit| hit.distance == 1.0));
        // Behind those that point away from the query there is nothing.
        let all = ask(&column, &SearchRequest::new(&queries[0], rows.len()));
        let zeros = all.hits.iter().filter(|hit| hit.doc % 3 == 0);
        assert!(zeros.clone().all(|hit| hit.distance == 1.0));
        assert_eq!(zeros.count(), 2_000);
    }
}

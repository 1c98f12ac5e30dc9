//! Walks, with filters and without, and how many hits come back.

use super::*;

#[test]
fn a_walk_finds_the_nearest_in_every_space() {
    let (data, euclidean) = shared();
    let walked: &[Strategy] = &[Strategy::Graph];
    check_recall(euclidean, &data.queries, None, (None, 0.98, walked));
    for space in [Space::Cosine, Space::InnerProduct] {
        let column = column(data, space, 1);
        check_recall(&column, &data.queries, None, (None, 0.98, walked));
    }
}

#[test]
fn filters_of_every_selectivity_find_the_nearest_that_pass() {
    let (data, column) = shared();
    let any: &[Strategy] = &[
        Strategy::FilteredGraph,
        Strategy::Exact,
        Strategy::ExactAfterGraph,
        Strategy::Codes,
        Strategy::CodesAfterGraph,
    ];
    let tenth_of_clusters = |row: usize| data.clusters[row].is_multiple_of(10);
    let but_own_clusters = |row: usize| !data.clusters[row].is_multiple_of(4);
    for (words, count) in [
        bits(COUNT, 1, scattered(0.9)),
        bits(COUNT, 1, scattered(0.5)),
        bits(COUNT, 1, scattered(0.1)),
        bits(COUNT, 1, scattered(0.01)),
        bits(COUNT, 1, scattered(0.001)),
        bits(COUNT, 1, tenth_of_clusters),
        bits(COUNT, 1, but_own_clusters),
    ] {
        let filter = Some(Filter {
            bits: &words,
            count,
        });
        for plan in [None, Some(Plan::ScanCodes)] {
            check_recall(column, &data.queries, filter, (plan, 0.95, any));
        }
        // Where some clusters pass and others do not, a walk that never gives up still arrives.
        let walked: &[Strategy] = &[Strategy::FilteredGraph];
        if count > COUNT / 20 {
            let swept = (Some(Plan::Sweep), 0.95, walked);
            check_recall(column, &data.queries, filter, swept);
        }
    }
}

#[test]
fn a_filter_that_lets_only_the_farthest_pass_is_answered_by_a_scan_of_codes() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    for passing in [COUNT / 2, COUNT / 10, COUNT / 100, COUNT / 1_000] {
        let (mut found, mut wanted, mut scans) = (0, 0, 0);
        for query in &data.queries {
            let all = SearchRequest {
                ef_search: EF,
                exact: true,
                ..SearchRequest::new(query, COUNT)
            };
            let ranked = column.search(&all, &mut scratch).unwrap().hits;
            let farthest = &ranked[COUNT - passing..];
            let mut words = vec![0_u64; COUNT.div_ceil(64)];
            for hit in farthest {
                words[hit.doc as usize / 64] |= 1 << (hit.doc % 64);
            }
            let filter = Some(Filter {
                bits: &words,
                count: passing,
            });
            let request = SearchRequest {
                k: K,
                filter,
                exact: false,
                ..all
            };
            let outcome = column.search(&request, &mut scratch).unwrap();
            let strategies = [Strategy::Codes, Strategy::CodesAfterGraph, Strategy::Exact];
            scans += usize::from(strategies.contains(&outcome.strategy));
            assert!(outcome.distances < COUNT as u64, "{}", outcome.distances);
            let truth = &farthest[..K];
            wanted += K;
            let hits = outcome.hits.iter();
            found += hits.filter(|hit| truth.contains(hit)).count();
        }
        assert!(
            found * 100 >= wanted * 95,
            "{found} of {wanted} of {passing}"
        );
        assert!(scans * 10 >= QUERIES * 9, "{scans} scans");
    }
}

#[test]
fn deletes_cost_a_walk_next_to_nothing() {
    let (data, column) = shared();
    let (words, count) = bits(COUNT, 1, scattered(0.95));
    let (mut scratch, mut all, mut alive) = (Scratch::default(), 0, 0);
    for query in &data.queries {
        let request = SearchRequest {
            ef_search: EF,
            ..SearchRequest::new(query, K)
        };
        all += column.search(&request, &mut scratch).unwrap().distances;
        let filter = Some(Filter {
            bits: &words,
            count,
        });
        alive += column
            .search(&SearchRequest { filter, ..request }, &mut scratch)
            .unwrap()
            .distances;
    }
    assert!(alive < all * 5 / 4, "{alive} distances instead of {all}");
}

#[test]
fn k_hits_come_back_whenever_k_documents_pass() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let one_cluster = |row: usize| data.clusters[row] == 3;
    let few = |row: usize| row.is_multiple_of(1_000);
    for (words, count) in [
        bits(COUNT, 1, scattered(0.001)),
        bits(COUNT, 1, one_cluster),
        bits(COUNT, 1, few),
    ] {
        assert!(count >= K);
        let filter = Some(Filter {
            bits: &words,
            count,
        });
        for query in &data.queries {
            for plan in [None, Some(Plan::ScanCodes), Some(Plan::Sweep)] {
                let request = SearchRequest {
                    ef_search: 16,
                    filter,
                    ..SearchRequest::new(query, K)
                };
                let outcome = run(column, &request, plan, &mut scratch);
                assert_eq!(outcome.hits.len(), K, "{plan:?}");
                let passes = |doc: u32| words[doc as usize / 64] >> (doc % 64) & 1 == 1;
                assert!(outcome.hits.iter().all(|hit| passes(hit.doc)));
                let all = SearchRequest {
                    k: COUNT,
                    ..request
                };
                let everything = column.search(&all, &mut scratch).unwrap();
                assert_eq!(everything.hits.len(), count);
            }
        }
    }
}

#[test]
fn a_walk_that_nobody_waits_for_ends() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let request = SearchRequest {
        ef_search: 5_000,
        ..SearchRequest::new(&data.queries[0], K)
    };
    let mut distances = || {
        let found = run(column, &request, Some(Plan::Walk), &mut scratch);
        found.distances
    };
    let whole = distances();
    let token = clew_platform::CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let cut_short = distances();
    assert!(cut_short * 4 < whole, "{cut_short} of {whole}");
}

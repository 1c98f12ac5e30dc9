//! Batches, pages and continuations, each against the search it must agree with.

use std::collections::BTreeSet;

use super::*;
use crate::{HitPlace, Pages};

const EVERY_WAY: [(&str, usize); 3] = [("all", 1), ("third", 3), ("few", 1_000)];

/// A filter that lets every `n`-th row pass.
fn every(n: usize) -> (Vec<u64>, usize) {
    bits(COUNT, 1, |row| row.is_multiple_of(n))
}

fn assert_same_hits(a: &SearchOutcome, b: &SearchOutcome) {
    let key = |hit: &Hit| (hit.distance.to_bits(), hit.score.to_bits(), hit.doc);
    let keys = |outcome: &SearchOutcome| outcome.hits.iter().map(key).collect::<Vec<_>>();
    assert_eq!(keys(a), keys(b));
}

#[test]
fn a_batch_answers_each_request_as_if_alone() {
    let (data, column) = shared();
    let (third, few) = (every(3), every(1_000));
    let filter = |(bits, count)| Filter { bits, count };
    let filters = [
        None,
        Some(filter((&third.0, third.1))),
        Some(filter((&few.0, few.1))),
    ];
    let wrong = vec![0.0; DIMENSION + 1];
    let mut requests: Vec<SearchRequest<'_>> = data
        .queries
        .iter()
        .enumerate()
        .map(|(at, query)| SearchRequest {
            exact: at % 4 != 0,
            filter: filters[at % 3],
            max_distance: (at % 7 == 0).then_some(40.0),
            ..SearchRequest::new(query, [0, 1, 10, 700][at / 3 % 4])
        })
        .collect();
    requests.insert(5, SearchRequest::new(&wrong, 3));
    for threads in [0, 1, 2, 5] {
        let mut scratches: Vec<Scratch> = (0..threads).map(|_| Scratch::default()).collect();
        let answers = column.search_batch(&requests, &mut scratches);
        assert_eq!(answers.len(), requests.len());
        for (request, answer) in requests.iter().zip(answers) {
            match (column.search(request, &mut Scratch::default()), answer) {
                (Ok(alone), Ok(answer)) => {
                    assert_same_hits(&alone, &answer);
                    assert_eq!(alone, answer, "{threads} threads");
                }
                (Err(alone), Err(answer)) => assert_eq!(alone.to_string(), answer.to_string()),
                (alone, answer) => panic!("{alone:?} alone, {answer:?} in a batch"),
            }
        }
    }
    assert!(column.search_batch(&[], &mut []).is_empty());
}

/// All pages, of sizes that change, until there are no more.
fn all_pages(
    column: &Column<Vec<u8>>,
    request: &SearchRequest<'_>,
    sizes: &[usize],
) -> (Pages, Vec<Vec<Hit>>) {
    let mut pages = column.pages(request).unwrap();
    let (mut scratch, mut all) = (Scratch::default(), Vec::new());
    for &size in sizes.iter().cycle() {
        let page = column.next_page(&mut pages, size, &mut scratch).unwrap();
        assert!(page.hits.len() <= size);
        let order = |a: &Hit, b: &Hit| (a.distance, a.doc) < (b.distance, b.doc);
        assert!(page.hits.is_sorted_by(order));
        let last = page.hits.len() < size;
        all.push(page.hits);
        if last {
            break;
        }
    }
    let more = column.next_page(&mut pages, 10, &mut scratch).unwrap();
    assert!(more.hits.is_empty() && pages.is_done());
    (pages, all)
}

#[test]
fn exact_pages_are_the_exact_search_cut_into_pieces() {
    let (data, column) = shared();
    for (query, (name, n)) in data.queries.iter().zip(EVERY_WAY.iter().cycle()).take(6) {
        let (words, count) = every(*n);
        let filter = (*n > 1).then_some(Filter {
            bits: &words,
            count,
        });
        for max_distance in [None, Some(60.0)] {
            let request = SearchRequest {
                exact: true,
                filter,
                max_distance,
                ..SearchRequest::new(query, COUNT)
            };
            let whole = column.search(&request, &mut Scratch::default()).unwrap();
            let paged = SearchRequest { k: 10, ..request };
            let (_, pages) = all_pages(column, &paged, &[10, 1, 300, 5_000]);
            let hits: Vec<Hit> = pages.concat();
            assert_eq!(hits, whole.hits, "{name}");
        }
    }
}

#[test]
fn pages_of_a_walk_repeat_nothing_and_lose_nothing() {
    let (data, column) = shared();
    for (query, (name, n)) in data.queries.iter().zip(EVERY_WAY.iter().cycle()).take(6) {
        let (words, count) = every(*n);
        let filter = (*n > 1).then_some(Filter {
            bits: &words,
            count,
        });
        let request = SearchRequest {
            filter,
            ..SearchRequest::new(query, 10)
        };
        let (_, pages) = all_pages(column, &request, &[10, 70, 3_000]);
        let docs: Vec<u32> = pages.iter().flatten().map(|hit| hit.doc).collect();
        let distinct: BTreeSet<u32> = docs.iter().copied().collect();
        assert_eq!((docs.len(), distinct.len()), (count, count), "{name}");
        assert!(docs.iter().all(|doc| (*doc as usize).is_multiple_of(*n)));
    }
}

#[test]
fn ten_pages_of_a_walk_find_what_one_large_search_finds_and_cost_little_more() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let (half, half_count) = every(2);
    let half = Filter {
        bits: &half,
        count: half_count,
    };
    for filter in [None, Some(half)] {
        let (mut found, mut wanted, mut paged, mut whole) = (0, 0, 0, 0);
        let (mut first, mut later) = (0, 0);
        for query in data.queries.iter().take(50) {
            let request = SearchRequest {
                ef_search: EF,
                filter,
                ..SearchRequest::new(query, K)
            };
            let mut pages = column.pages(&request).unwrap();
            let mut hits = Vec::new();
            for at in 0..10 {
                let page = column.next_page(&mut pages, K, &mut scratch).unwrap();
                let walk = if filter.is_none() {
                    Strategy::Graph
                } else {
                    Strategy::FilteredGraph
                };
                assert_eq!(page.strategy, walk);
                assert_eq!(page.hits.len(), K);
                paged += page.distances;
                *(if at == 0 { &mut first } else { &mut later }) += page.distances;
                hits.extend(page.hits);
            }
            assert!(pages.size_bytes() < COUNT * 8, "{}", pages.size_bytes());
            let all = SearchRequest {
                k: 10 * K,
                ef_search: 10 * K + EF,
                ..request
            };
            whole += run(column, &all, Some(Plan::Walk), &mut scratch).distances;
            let truth = SearchRequest { exact: true, ..all };
            let truth = column.search(&truth, &mut scratch).unwrap().hits;
            wanted += truth.len();
            found += truth.iter().filter(|hit| hits.contains(hit)).count();
        }
        assert!(found * 100 >= wanted * 97, "{found} of {wanted}");
        assert!(paged <= whole * 5 / 4, "{paged} in pages, {whole} at once");
        // A page of ten hits goes on less than half as far as the first one, which keeps 64.
        assert!(
            2 * later < 9 * first,
            "{first} for the first, {later} for nine"
        );
    }
}

#[test]
fn a_search_behind_a_place_goes_on_there_without_memory() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let (mut found, mut wanted) = (0, 0);
    for (query, (_, n)) in data.queries.iter().zip(EVERY_WAY.iter().cycle()).take(30) {
        let (words, count) = every(*n);
        let filter = (*n > 1).then_some(Filter {
            bits: &words,
            count,
        });
        for exact in [true, false] {
            let mut request = SearchRequest {
                filter,
                exact,
                ..SearchRequest::new(query, 8)
            };
            let whole = SearchRequest {
                k: 40,
                exact: true,
                ..request
            };
            let truth = column.search(&whole, &mut scratch).unwrap().hits;
            let mut hits: Vec<Hit> = Vec::new();
            while hits.len() < truth.len() {
                let page = column.search(&request, &mut scratch).unwrap().hits;
                if page.is_empty() {
                    break;
                }
                request.after = page.last().map(Hit::place);
                hits.extend(page);
            }
            assert!(hits.is_sorted_by(|a, b| (a.distance, a.doc) < (b.distance, b.doc)));
            if exact {
                hits.truncate(truth.len());
                assert_eq!(hits, truth);
            } else {
                wanted += truth.len();
                found += truth.iter().filter(|hit| hits.contains(hit)).count();
            }
        }
    }
    assert!(found * 100 >= wanted * 97, "{found} of {wanted}");
}

#[test]
fn a_place_among_equal_distances_is_decided_by_the_document() {
    let vectors = vec![vec![1.0_f32; 80]; 300];
    let column = ways::small_column(&vectors, Space::L2, 1);
    for exact in [true, false] {
        let request = SearchRequest {
            exact,
            after: Some(HitPlace {
                distance: 0.0,
                doc: 41,
            }),
            ..SearchRequest::new(&vectors[0], 5)
        };
        let outcome = column.search(&request, &mut Scratch::default()).unwrap();
        let docs: Vec<u32> = outcome.hits.iter().map(|hit| hit.doc).collect();
        if exact {
            assert_eq!(docs, [42, 43, 44, 45, 46]);
        }
        assert!(docs.len() == 5 && docs.iter().all(|doc| *doc > 41));
        let behind_all = SearchRequest {
            after: Some(HitPlace {
                distance: 0.0,
                doc: 299,
            }),
            ..request
        };
        let none = column.search(&behind_all, &mut Scratch::default()).unwrap();
        assert!(none.hits.is_empty());
    }
}

#[test]
fn pages_end_at_the_distance_asked_for() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let (mut found, mut wanted) = (0, 0);
    for query in data.queries.iter().take(30) {
        let exact = SearchRequest {
            exact: true,
            ..SearchRequest::new(query, 60)
        };
        let truth = column.search(&exact, &mut scratch).unwrap().hits;
        let request = SearchRequest {
            max_distance: Some(truth[44].distance),
            exact: false,
            ..SearchRequest::new(query, 10)
        };
        let (_, pages) = all_pages(column, &request, &[10]);
        let hits = pages.concat();
        assert!(hits.iter().all(|hit| truth[..45].contains(hit)));
        wanted += 45;
        found += hits.len();
    }
    assert!(found * 100 >= wanted * 97, "{found} of {wanted}");
}

#[test]
fn pages_of_another_column_are_refused() {
    let (data, column) = shared();
    let small = ways::small_column(&data.vectors[..300], Space::L2, 1);
    let mut pages = column
        .pages(&SearchRequest::new(&data.queries[0], 3))
        .unwrap();
    let refused = small.next_page(&mut pages, 3, &mut Scratch::default());
    assert!(matches!(refused, Err(VectorError::OtherColumn)));
    let page = column.next_page(&mut pages, 3, &mut Scratch::default());
    assert_eq!(page.unwrap().hits.len(), 3);
}

#[test]
fn a_profile_says_what_was_expected_and_what_was_done() {
    let (data, column) = shared();
    let mut scratch = Scratch::default();
    let request = SearchRequest {
        ef_search: EF,
        ..SearchRequest::new(&data.queries[0], K)
    };
    let outcome = column.search(&request, &mut scratch).unwrap();
    let walked = outcome.profile;
    let walk_ns = walked.prices.walk_ns.unwrap();
    assert!(walk_ns < walked.prices.scan_ns && walk_ns < walked.prices.codes_ns.unwrap());
    assert_eq!(
        (walked.rows, walked.survivors, walked.ef),
        (COUNT, None, EF)
    );
    assert_eq!(walked.vectors, 0);
    assert!(walked.reranked >= K as u64 && walked.codes > walked.reranked);
    assert_eq!(walked.codes + walked.reranked, outcome.distances);
    // Each of the candidates that the walk kept had its list read.
    let least = walked.codes * 72 + walked.reranked * 512 + EF as u64 * 48 * 4;
    assert_eq!(walked.bytes_read, least);
    let exact = SearchRequest {
        exact: true,
        ..request
    };
    let scanned = column.search(&exact, &mut scratch).unwrap().profile;
    assert_eq!((scanned.codes, scanned.reranked), (0, 0));
    assert_eq!(scanned.bytes_read, (COUNT * DIMENSION * 4) as u64);
    assert_eq!(scanned.prices.walk_ns, None);
}

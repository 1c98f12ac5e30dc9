//! All columns at once.

use clew_vector::Strategy;

use super::*;
use crate::header::sections;

#[test]
fn at_once_they_find_as_much_as_each_alone_and_measure_less() {
    const K: usize = 10;
    for whole in WHOLES.iter() {
        let mut scratch = Scratch::default();
        let (mut found, mut found_alone, mut wanted) = (0, 0, 0);
        let (mut measured, mut measured_alone) = (0, 0);
        for query in &whole.queries {
            let request = SearchRequest {
                probes: Some(12),
                ..SearchRequest::new(query, K)
            };
            let outcomes = at_once(&all_of(whole), &request, &mut scratch);
            assert!(outcomes.iter().all(|one| one.strategy == Strategy::Lists));
            let hits: usize = outcomes.iter().map(|one| one.hits.len()).sum();
            assert_eq!(hits, K, "no more than are wanted of all");
            assert_eq!(at_once(&all_of(whole), &request, &mut scratch), outcomes);
            let parts = whole.parts.iter();
            let alone = parts.map(|part| search(part, &request, &mut scratch));
            let alone: Vec<SearchOutcome> = alone.collect();
            for (outcome, alone) in outcomes.iter().zip(&alone) {
                // The same lists were gone through, and what is found there is found alone as well.
                assert_eq!(outcome.profile.codes, alone.profile.codes);
                assert!(outcome.hits.is_sorted_by(|a, b| a.distance <= b.distance));
                let is_known = |hit| alone.hits.contains(hit);
                assert!(outcome.hits.iter().all(is_known));
            }
            let truth: Vec<SearchOutcome> = whole
                .parts
                .iter()
                .map(|part| exact(part, &request))
                .collect();
            let truth = merged(&truth, K).0;
            let (hits, took) = merged(&outcomes, K);
            let (hits_alone, took_alone) = merged(&alone, K);
            wanted += truth.len();
            found += hits.iter().filter(|hit| truth.contains(hit)).count();
            found_alone += hits_alone.iter().filter(|hit| truth.contains(hit)).count();
            measured += took;
            measured_alone += took_alone;
        }
        let lost = found_alone as f64 - found as f64;
        assert!(
            lost <= 0.01 * wanted as f64,
            "{found} {found_alone} of {wanted}"
        );
        assert!(found as f64 >= 0.9 * wanted as f64, "{found} of {wanted}");
        assert!(
            4 * measured < 3 * measured_alone,
            "{measured} {measured_alone}"
        );
    }
}

#[test]
fn what_cannot_go_with_the_others_is_left_to_be_searched_alone() {
    let whole = &WHOLES[0];
    let query = &whole.queries[0];
    let request = SearchRequest {
        probes: Some(12),
        ..SearchRequest::new(query, 10)
    };
    let go = |asked: &Asked<'_>, request: &SearchRequest<'_>| -> Vec<bool> {
        let found = Column::search_together(asked, request, &mut Scratch::default());
        found.iter().map(Option::is_some).collect()
    };
    // Others have centres that none shares, or no lists, or too few documents that may be hits for lists to be worth it.
    let (rows, _) = clustered(2 * PART_ROWS, DIMENSION, 9);
    let lonely = Arc::new(SharedCentres::new(1));
    let lonely = column(options(Space::L2, ListCodes::Chosen), &rows, &lonely);
    let graph = ColumnOptions::new(DIMENSION, Space::L2);
    let graph = column(graph, &rows[..300], &Arc::new(SharedCentres::new(1)));
    let few = Filter {
        bits: &[0b1001],
        count: 2,
    };
    let [a, b, c] = [0, 1, 2].map(|at| &whole.parts[at]);
    let asked = vec![
        (a, None),
        (&lonely, None),
        (b, None),
        (&graph, None),
        (c, Some(few)),
    ];
    assert_eq!(go(&asked, &request), [true, false, true, false, false]);
    let alone = [
        SearchRequest {
            exact: true,
            ..request
        },
        SearchRequest {
            target_recall: Some(7.0),
            ..request
        },
        SearchRequest {
            vector: &query[1..],
            ..request
        },
    ];
    for request in alone {
        assert_eq!(go(&all_of(whole), &request), [false; PARTS]);
    }
    assert!(Column::search_together(&Asked::new(), &request, &mut Scratch::default()).is_empty());
}

#[test]
fn a_damaged_column_answers_alone_and_harms_no_other() {
    let whole = &WHOLES[1];
    let (rows, _) = clustered(PARTS * PART_ROWS, DIMENSION, 8);
    let centres = Arc::new(SharedCentres::new(PARTS));
    let mut image = Vec::new();
    let options = options(Space::Cosine, ListCodes::Product);
    let first = builder(options, &rows[..PART_ROWS]).sharing(centres);
    first.write(HOW, &mut image).unwrap();
    let mut given_up = 0;
    for (kind, start, len) in sections(&image) {
        let mut bad = image.clone();
        bad[start + len / 2] ^= 4;
        let Ok(bad) = Column::open(bad) else { continue };
        let mut asked = all_of(whole);
        asked[0].0 = &bad;
        for query in &whole.queries {
            let request = SearchRequest {
                probes: Some(40),
                ..SearchRequest::new(query, 10)
            };
            let scratch = &mut Scratch::default();
            let found = Column::search_together(&asked, &request, scratch);
            let is_whole = found.iter().all(Option::is_some);
            given_up += usize::from(!is_whole);
            for ((part, _), found) in asked.iter().zip(found).skip(1) {
                let found = found.map_or_else(|| part.search(&request, scratch), Ok);
                let found = found.unwrap_or_else(|error| panic!("section {kind}: {error}"));
                let near = exact(
                    part,
                    &SearchRequest {
                        k: PART_ROWS,
                        ..request
                    },
                )
                .hits;
                assert!(found.hits.iter().all(|hit| near.contains(hit)));
            }
        }
    }
    assert!(given_up > 0);
}

#[test]
fn a_search_of_all_that_nobody_waits_for_ends() {
    let whole = &WHOLES[0];
    let request = SearchRequest {
        probes: Some(1_000),
        ..SearchRequest::new(&whole.queries[0], 10)
    };
    let codes = || -> u64 {
        let found = at_once(&all_of(whole), &request, &mut Scratch::default());
        found.iter().map(|one| one.profile.codes).sum()
    };
    let all = codes();
    assert_eq!(all, (PARTS * PART_ROWS) as u64);
    let token = clew_platform::CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let cut_short = codes();
    assert!(cut_short * 4 < all, "{cut_short} of {all}");
}

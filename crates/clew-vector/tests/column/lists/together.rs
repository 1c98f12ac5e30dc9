//! Searches that go through lists together.

use std::sync::LazyLock;

use clew_vector::{Column, Filter, ListCodes, Scratch, SearchRequest, Space};
use proptest::prelude::*;

use super::{ask, clustered, exact, image, open, options, requests};

type Searchable = (Column<Vec<u8>>, Vec<Vec<f32>>);

/// Columns of lists by either codes, and vectors to search for, of which some are the same.
static TOGETHER: LazyLock<[Searchable; 3]> = LazyLock::new(|| {
    let of = |(count, dimension), space, codes| {
        let (rows, mut queries) = clustered(count, dimension, 17);
        queries.extend_from_within(..8);
        queries.extend(rows.iter().step_by(count / 60).cloned());
        (
            open(image(options(dimension, space, codes), &rows)),
            queries,
        )
    };
    [
        of((6_000, 64), Space::L2, ListCodes::Chosen),
        of((4_000, 530), Space::Cosine, ListCodes::Chosen),
        of((5_000, 48), Space::InnerProduct, ListCodes::Product),
    ]
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn searches_through_lists_find_together_what_each_finds_alone(
        which in 0_usize..3,
        asks in prop::collection::vec((
            any::<prop::sample::Index>(),
            prop_oneof![Just(0_usize), 1_usize..40, Just(300)],
            prop::option::of(1_usize..90),
            prop::option::of(0_usize..3),
            prop::option::of(0.3_f32..1.2),
        ), 1..150),
        threads in 0_usize..4,
    ) {
        let (column, queries) = &TOGETHER[which];
        let filters = [2, 3, 40].map(|n| {
            let passes = |doc: usize| doc < column.len() && doc.is_multiple_of(n);
            let word = |at: usize| (0..64).fold(0, |word, bit| word | u64::from(passes(64 * at + bit)) << bit);
            let bits: Vec<u64> = (0..column.len().div_ceil(64)).map(word).collect();
            let count = bits.iter().map(|word| word.count_ones() as usize).sum();
            (bits, count)
        });
        let requests: Vec<SearchRequest<'_>> = asks.iter().map(|(query, k, probes, filter, within)| {
            let vector = query.get(queries);
            let nearest = || exact(column, &SearchRequest::new(vector, 1)).hits[0].distance;
            SearchRequest {
                probes: *probes,
                filter: filter.map(|at: usize| Filter { bits: &filters[at].0, count: filters[at].1 }),
                max_distance: within.map(|times| nearest() + times),
                ..SearchRequest::new(vector, *k)
            }
        }).collect();
        let mut scratches: Vec<Scratch> = (0..threads).map(|_| Scratch::default()).collect();
        for (request, together) in requests.iter().zip(column.search_batch(&requests, &mut scratches)) {
            let (alone, together) = (ask(column, request), together.unwrap());
            prop_assert_eq!(&alone.hits, &together.hits);
            prop_assert_eq!(alone.strategy, together.strategy);
            prop_assert_eq!(alone.profile.codes, together.profile.codes);
        }
    }
}

#[test]
fn lists_that_nobody_waits_for_are_read_no_further() {
    let (column, queries) = &TOGETHER[0];
    let requests: Vec<_> = requests(queries, Some(60)).collect();
    let codes = || {
        let found = column.search_batch(&requests, &mut []).into_iter();
        found.map(|one| one.unwrap().profile.codes).sum::<u64>()
    };
    let whole = codes();
    let token = clew_platform::CancellationToken::new();
    token.cancel("by user request");
    let _entered = token.enter();
    let cut_short = codes();
    assert!(cut_short * 4 < whole, "{cut_short} of {whole}");
}

use proptest::prelude::*;

use super::*;

const WORKING: Effort<'_> = Effort {
    threads: 1,
    stopped: &|| false,
};

fn holdings(docs: &[Vec<u32>]) -> Holdings {
    let mut starts = vec![0];
    let mut held = Vec::new();
    for doc in docs {
        held.extend_from_slice(doc);
        starts.push(u32::try_from(held.len()).unwrap());
    }
    let kinds = held.iter().max().map_or(0, |most| *most as usize + 1);
    Holdings::new(starts, held, kinds)
}

/// The bits that the gaps of all kinds take when the documents are in an order.
fn bits(docs: &[Vec<u32>], order: &[u32]) -> f64 {
    let mut last = std::collections::BTreeMap::new();
    let mut bits = 0.0;
    for (place, &doc) in (1_u32..).zip(order) {
        for &kind in &docs[doc as usize] {
            let before = last.insert(kind, place).unwrap_or(0);
            bits += f64::from(place - before).log2();
        }
    }
    bits
}

fn next(seed: &mut u64) -> u32 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    u32::try_from(*seed >> 33).unwrap()
}

/// Documents of topics, each of which has words of its own beside those that all share, in no order.
fn topics(count: usize, topics: u32) -> Vec<Vec<u32>> {
    let mut seed = 7;
    let mut doc = || {
        let topic = next(&mut seed) % topics;
        let own = |n: u32| 200 + topic * 50 + n % 50;
        let mut held: Vec<u32> = (0..8).map(|_| own(next(&mut seed))).collect();
        held.extend((0..8).map(|_| next(&mut seed) % 200));
        held.sort_unstable();
        held.dedup();
        held
    };
    (0..count).map(|_| doc()).collect()
}

#[test]
fn documents_of_a_topic_come_together() {
    let docs = topics(4000, 40);
    let found = order(holdings(&docs), &WORKING).unwrap();
    let before: Vec<u32> = (0..4000).collect();
    let (was, is) = (bits(&docs, &before), bits(&docs, &found));
    // By the topics themselves.
    let mut sorted = before;
    sorted.sort_by_key(|&doc| docs[doc as usize].last().copied().unwrap_or(0) / 50);
    let best = bits(&docs, &sorted);
    assert!(
        is < was * 0.8,
        "{was} bits before, {is} after, {best} at best"
    );
    assert!(
        is < best * 1.05,
        "{was} bits before, {is} after, {best} at best"
    );
}

#[test]
fn threads_do_not_change_the_order() {
    let docs = topics(3001, 17);
    let one = order(holdings(&docs), &WORKING);
    for threads in [1, 2, 3, 8] {
        let effort = Effort { threads, ..WORKING };
        assert_eq!(order(holdings(&docs), &effort), one, "{threads} threads");
    }
}

#[test]
fn an_order_without_anything_to_gain_stays() {
    let alike = vec![vec![0, 1, 2]; 500];
    let apart: Vec<Vec<u32>> = (0..500).map(|doc| vec![doc]).collect();
    let empty = vec![Vec::new(); 500];
    for docs in [alike, apart, empty, vec![vec![0]; 3], Vec::new()] {
        let found = order(holdings(&docs), &WORKING).unwrap();
        let all: Vec<u32> = (0..u32::try_from(docs.len()).unwrap()).collect();
        assert_eq!(found, all);
    }
}

#[test]
fn it_stops_when_told_to() {
    let docs = topics(500, 5);
    for threads in [1, 2] {
        let stopped = &|| true;
        let effort = Effort { threads, stopped };
        assert_eq!(order(holdings(&docs), &effort), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_document_has_one_place(
        docs in proptest::collection::vec(proptest::collection::btree_set(0..40_u32, 0..12), 0..400),
        threads in 1..4_usize,
    ) {
        let docs: Vec<Vec<u32>> = docs.into_iter().map(|held| held.into_iter().collect()).collect();
        let found = order(holdings(&docs), &Effort { threads, ..WORKING }).unwrap();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        let all: Vec<u32> = (0..u32::try_from(docs.len()).unwrap()).collect();
        prop_assert_eq!(sorted, all);
    }
}

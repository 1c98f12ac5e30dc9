use proptest::prelude::*;
use tantivy_fst::{IntoStreamer, Streamer};

use super::*;

fn built(terms: &[Vec<u8>]) -> Map<Vec<u8>> {
    let mut automaton = Automaton::new(terms.len());
    for term in terms {
        automaton.add(term);
    }
    Map::from_bytes(automaton.finish()).unwrap()
}

/// The library reads what was built: every term in order, each by itself, what follows one, and no others.
fn check(terms: &[Vec<u8>]) {
    let map = built(terms);
    let mut stream = map.stream();
    let mut read = Vec::new();
    while let Some((term, value)) = stream.next() {
        assert_eq!(value, read.len() as u64);
        read.push(term.to_vec());
    }
    assert!(read == terms);
    for (value, term) in terms.iter().enumerate() {
        assert_eq!(map.get(term), Some(value as u64));
        let mut longer = term.clone();
        longer.push(7);
        assert_eq!(
            map.get(&longer).is_some(),
            terms.binary_search(&longer).is_ok()
        );
    }
    if let Some(middle) = terms.get(terms.len() / 2) {
        let mut stream = map.range().ge(middle).into_stream();
        let behind = std::iter::from_fn(|| stream.next().map(|(_, value)| value)).count();
        assert_eq!(behind, terms.len() - terms.len() / 2);
    }
}

fn sorted(mut terms: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    terms.sort_unstable();
    terms.dedup();
    terms
}

#[test]
fn nodes_of_any_width_are_read_back() {
    for width in [1, 2, 31, 32, 33, 62, 63, 64, 255, 256_usize] {
        let bytes = (0..width).map(|byte| u8::try_from(byte * 255 / width.max(2)).unwrap());
        let terms = bytes.flat_map(|byte| [vec![byte], vec![byte, byte], vec![1, byte, 9]]);
        check(&sorted(terms.collect()));
    }
    check(&sorted((0..=255).map(|byte| vec![byte]).collect()));
    check(&sorted(
        (0..=255).flat_map(|byte| [vec![], vec![byte, 0]]).collect(),
    ));
}

#[test]
fn nothing_and_the_empty_term_are_read_back() {
    check(&[]);
    check(&[vec![]]);
    check(&[vec![], vec![0], vec![0, 0]]);
}

#[test]
fn it_is_hardly_larger_than_the_librarys() {
    let ends = ["", "s", "ed", "ing", "er", "ers", "able", "ation", "ations"];
    let words = (1..4_000_u64).flat_map(|number| {
        let stem = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let letters = stem.map(|byte| char::from(b'a' + byte % 16));
        let length = usize::from(3 + stem[0] % 5);
        let stem: String = letters.into_iter().take(length).collect();
        let ends = ends.into_iter().skip(length % 2);
        ends.map(move |end| format!("{stem}{end}").into_bytes())
    });
    let numbers = (0..20_000).map(|number| number.to_string().into_bytes());
    let terms = sorted(words.chain(numbers).collect());
    check(&terms);
    let values = terms.iter().zip(0..);
    let theirs = Map::from_iter(values).unwrap().as_fst().size();
    let ours = built(&terms).as_fst().size();
    // These share more than words do, of which a hundredth more is written than there.
    assert!(ours <= theirs + theirs / 4, "{ours} beside {theirs}");
}

proptest! {
    #[test]
    fn any_terms_are_read_back(
        terms in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![4 => b'a'..b'e', 1 => any::<u8>()], 0..9),
            0..400,
        )
    ) {
        check(&sorted(terms));
    }
}

use tantivy::Term;
use tantivy::schema::Field;

use super::*;

fn check(phrase: &[&str], slop: i64, text: &str, expected: f32) {
    let term = |word: &str| Term::from_field_text(Field::from_field_id(0), word);
    let wanted: Vec<PhrasePlace> = (0..)
        .zip(phrase)
        .map(|(offset, word)| PhrasePlace {
            offset,
            terms: word.split('|').map(term).collect(),
        })
        .collect();
    let mut in_doc = PhraseInDoc::new(&wanted);
    for (place, words) in phrase.iter().enumerate() {
        let list = in_doc.list_of(place);
        in_doc.begin(list);
        let stands = |word: &&str| words.split('|').any(|wanted| wanted == *word);
        let found = (0_u32..)
            .zip(text.split(' '))
            .filter(|(_, word)| stands(word));
        in_doc.add(list, &found.map(|(at, _)| at).collect::<Vec<_>>());
        in_doc.end(list);
    }
    let found = in_doc.frequency(slop);
    assert!(
        (found - expected).abs() < 1e-6,
        "{phrase:?}~{slop} {text}: {found}"
    );
    if slop > 0 && found > 0.0 {
        let in_order = in_doc.walked(slop, 0);
        assert!(
            (in_order - expected).abs() < 1e-6,
            "{phrase:?}~{slop} {text}: {in_order}"
        );
    }
}

#[test]
fn words_that_had_to_be_moved_count_less() {
    check(&["a", "b"], 0, "a b c a b", 2.0);
    check(&["a", "b"], 2, "a b", 1.0);
    check(&["a", "b"], 2, "a x b", 0.5);
    check(&["a", "b"], 2, "b a", 1.0 / 3.0);
    check(&["a", "b"], 1, "b a", 0.0);
    check(&["a", "b"], 1, "a x x b", 0.0);
    check(&["a", "b"], 3, "a b x x a x b", 1.5);
    check(&["a", "b", "c"], 4, "a x b x c", 1.0 / 3.0);
}

#[test]
fn a_place_may_hold_any_of_several_words() {
    check(&["a", "b|c"], 0, "a b a c a x", 2.0);
    check(&["a", "b|c"], 1, "a x c", 0.5);
}

#[test]
fn the_same_word_twice_stands_in_two_places() {
    check(&["a", "a"], 0, "a a", 1.0);
    check(&["a", "a"], 2, "a", 0.0);
    check(&["a", "a"], 2, "a a", 1.0);
    check(&["a", "a"], 1, "a x a", 0.5);
    check(&["a", "b", "a"], 2, "a b", 0.0);
}

#[test]
fn many_places_are_walked_as_few_are() {
    for few in [2, 3, 5] {
        for text in ["a b a c b a a b", "b b a a c a", "c a a a b a b a c"] {
            let words: Vec<&str> = text.split(' ').collect();
            for phrase in words.windows(few) {
                let term = |word: &&str| Term::from_field_text(Field::from_field_id(0), word);
                let wanted = (0..).zip(phrase).map(|(offset, word)| PhrasePlace {
                    offset,
                    terms: vec![term(word)],
                });
                let mut in_doc = PhraseInDoc::new(&wanted.collect::<Vec<_>>());
                for (place, word) in phrase.iter().enumerate() {
                    let stands = (0_u32..).zip(&words).filter(|(_, other)| *other == word);
                    let list = in_doc.list_of(place);
                    in_doc.begin(list);
                    in_doc.add(list, &stands.map(|(at, _)| at).collect::<Vec<_>>());
                }
                let (one_by_one, in_order) = (in_doc.walked(4, FEW), in_doc.walked(4, 0));
                assert!((one_by_one - in_order).abs() < 1e-6, "{phrase:?} {text}");
            }
        }
    }
}

#[test]
fn places_of_one_word_share_where_it_stands() {
    let term = Term::from_field_text(Field::from_field_id(0), "a");
    let place = |offset| PhrasePlace {
        offset,
        terms: vec![term.clone()],
    };
    let wanted: Vec<PhrasePlace> = (0..5000).map(place).collect();
    let mut in_doc = PhraseInDoc::new(&wanted);
    assert_eq!(in_doc.lists().count(), 1);
    let kept: usize = in_doc.places.iter().map(|place| place.rivals.len()).sum();
    assert_eq!(kept, 0);
    // A document with fewer of them is none, without a step.
    in_doc.add(0, &(0..4999).collect::<Vec<u32>>());
    assert!(in_doc.frequency(50).abs() < 1e-6);
}

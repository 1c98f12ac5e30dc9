//! How often a phrase is in a document, given where its words stand: each time counts less the
//! farther words had to be moved.
//!
//! Places are walked together: the one that lies first, seen from the phrase's beginning, moves on,
//! and whenever it passes the next one the distance that was left between first and last is one
//! match. Places that want the same word never stand on the same one.

use super::PhrasePlace;

/// A place of the phrase in one document.
pub(super) struct PlaceInDoc {
    offset: i64,
    /// Which other places want one of the same words.
    rivals: Vec<usize>,
    /// Where its words stand, less its offset: a phrase as it was written has them all the same.
    positions: Vec<i64>,
    at: usize,
}

/// The places of a phrase, without positions yet.
pub(super) fn places(wanted: &[PhrasePlace]) -> Vec<PlaceInDoc> {
    let shares =
        |a: &PhrasePlace, b: &PhrasePlace| a.terms.iter().any(|term| b.terms.contains(term));
    let one = |(own, place): (usize, &PhrasePlace)| PlaceInDoc {
        offset: i64::try_from(place.offset).unwrap_or(i64::MAX),
        rivals: (0..wanted.len())
            .filter(|other| *other != own && shares(&wanted[*other], place))
            .collect(),
        positions: Vec::new(),
        at: 0,
    };
    wanted.iter().enumerate().map(one).collect()
}

impl PlaceInDoc {
    pub(super) fn begin(&mut self) {
        self.positions.clear();
        self.at = 0;
    }

    pub(super) fn add(&mut self, positions: &[u32]) {
        let moved = positions
            .iter()
            .map(|position| i64::from(*position) - self.offset);
        self.positions.extend(moved);
    }

    pub(super) fn end(&mut self) {
        self.positions.sort_unstable();
        self.positions.dedup();
    }

    fn position(&self) -> i64 {
        self.positions[self.at]
    }

    /// Goes to the next position, if there is one.
    fn advance(&mut self) -> bool {
        let is_more = self.at + 1 < self.positions.len();
        self.at += usize::from(is_more);
        is_more
    }
}

/// How often the phrase is there.
pub(super) fn frequency(places: &mut [PlaceInDoc], slop: i64) -> f32 {
    if places.iter().any(|place| place.positions.is_empty()) {
        return 0.0;
    }
    if slop == 0 {
        exact(places)
    } else {
        Walk::new(places).map_or(0.0, |walk| walk.frequency(slop))
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "positions of a document are far fewer than 2^24"
)]
fn exact(places: &[PlaceInDoc]) -> f32 {
    let Some((first, rest)) = places.split_first() else {
        return 0.0;
    };
    let everywhere = |position: &&i64| {
        rest.iter()
            .all(|place| place.positions.binary_search(position).is_ok())
    };
    first.positions.iter().filter(everywhere).count() as f32
}

struct Walk<'a> {
    places: &'a mut [PlaceInDoc],
    /// The farthest position that a place has come to.
    end: i64,
}

impl<'a> Walk<'a> {
    /// At the first positions, none of them on the same word.
    fn new(places: &'a mut [PlaceInDoc]) -> Option<Self> {
        let end = places.iter().map(PlaceInDoc::position).max()?;
        let count = places.len();
        let mut walk = Walk { places, end };
        (0..count).all(|place| walk.part(place)).then_some(walk)
    }

    /// The place that lies first; of several the one that is earlier in the phrase.
    fn first(&self, without: Option<usize>) -> Option<usize> {
        let others = (0..self.places.len()).filter(|place| Some(*place) != without);
        others.min_by_key(|place| (self.places[*place].position(), self.places[*place].offset))
    }

    fn advance(&mut self, place: usize) -> bool {
        let is_more = self.places[place].advance();
        self.end = self.end.max(self.places[place].position());
        is_more
    }

    /// Moves places on that stand on the same word as another one, until none does.
    fn part(&mut self, mut place: usize) -> bool {
        loop {
            let word = |at: usize| self.places[at].position() + self.places[at].offset;
            let mut rivals = self.places[place].rivals.iter().copied();
            let Some(rival) = rivals.find(|rival| word(*rival) == word(place)) else {
                return true;
            };
            let order = |at: usize| (self.places[at].position(), self.places[at].offset);
            place = if order(place) < order(rival) {
                place
            } else {
                rival
            };
            if !self.advance(place) {
                return false;
            }
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "lengths that count are no greater than the slop"
    )]
    fn frequency(mut self, slop: i64) -> f32 {
        let mut sum = 0.0;
        let mut count = |length: i64| {
            if length <= slop {
                sum += 1.0 / (1.0 + length as f32);
            }
        };
        let Some(mut place) = self.first(None) else {
            return 0.0;
        };
        // Where the next one stands now, even if it has to give way on the first one's account.
        let stand = |walk: &Self, place| {
            let next = walk.first(Some(place));
            next.map_or(i64::MAX, |next| walk.places[next].position())
        };
        let mut next = stand(&self, place);
        let mut length = self.end - self.places[place].position();
        while self.advance(place) && self.part(place) {
            let position = self.places[place].position();
            if position > next {
                count(length);
                let Some(first) = self.first(None) else {
                    break;
                };
                place = first;
                next = stand(&self, place);
                length = self.end - self.places[place].position();
            } else {
                length = length.min(self.end - position);
            }
        }
        count(length);
        sum
    }
}

#[cfg(test)]
mod tests {
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
        let mut places = places(&wanted);
        for (place, words) in places.iter_mut().zip(phrase) {
            place.begin();
            let stands = |word: &&str| words.split('|').any(|wanted| wanted == *word);
            let found = (0_u32..)
                .zip(text.split(' '))
                .filter(|(_, word)| stands(word));
            place.add(&found.map(|(at, _)| at).collect::<Vec<_>>());
            place.end();
        }
        let found = frequency(&mut places, slop);
        assert!(
            (found - expected).abs() < 1e-6,
            "{phrase:?}~{slop} {text}: {found}"
        );
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
}

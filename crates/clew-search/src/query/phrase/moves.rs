//! How often a phrase is in a document, given where its words stand: each time counts less the
//! farther words had to be moved.
//!
//! Places are walked together: the one that lies first, seen from the phrase's beginning, moves on,
//! and whenever it passes the next one the distance that was left between first and last is one
//! match. Places that want the same word never stand on the same one.

use std::collections::{BTreeSet, HashMap};

use clew_platform::Pace;
use tantivy::Term;

use super::PhrasePlace;

/// Up to so many places are looked through one by one.
const FEW: usize = 16;

/// A phrase in one document.
pub(super) struct PhraseInDoc {
    places: Vec<Place>,
    /// Where the words of places stand, each list once: places that want the same words share it.
    lists: Vec<Words>,
}

/// A place of the phrase.
struct Place {
    offset: i64,
    /// The number of its list.
    list: usize,
    /// Which other places want one of the same words; of few places alone.
    rivals: Vec<usize>,
    at: usize,
}

/// Words that a place may hold.
struct Words {
    terms: Vec<Term>,
    /// Their numbers among all words of the phrase, in order.
    numbers: Vec<usize>,
    /// How many places want them.
    places: usize,
    /// Whether other places want one of them.
    is_contested: bool,
    positions: Vec<i64>,
}

impl Words {
    fn shares_with(&self, other: &Self) -> bool {
        let mut numbers = self.numbers.iter();
        numbers.any(|number| other.numbers.binary_search(number).is_ok())
    }
}

impl PhraseInDoc {
    /// A phrase, without positions yet. Costs its words, not the pairs of them.
    pub(super) fn new(wanted: &[PhrasePlace]) -> Self {
        let mut numbers: HashMap<&Term, usize> = HashMap::new();
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut wanted_by: Vec<usize> = Vec::new();
        let (mut places, mut lists) = (Vec::with_capacity(wanted.len()), Vec::<Words>::new());
        for place in wanted {
            let mut own: Vec<usize> = Vec::with_capacity(place.terms.len());
            for term in &place.terms {
                let new = numbers.len();
                own.push(*numbers.entry(term).or_insert(new));
            }
            own.sort_unstable();
            own.dedup();
            wanted_by.resize(numbers.len(), 0);
            for number in &own {
                wanted_by[*number] += 1;
            }
            let list = *known.entry(own).or_insert_with_key(|own| {
                lists.push(Words {
                    terms: place.terms.clone(),
                    numbers: own.clone(),
                    places: 0,
                    is_contested: false,
                    positions: Vec::new(),
                });
                lists.len() - 1
            });
            lists[list].places += 1;
            places.push(Place {
                offset: i64::try_from(place.offset).unwrap_or(i64::MAX),
                list,
                rivals: Vec::new(),
                at: 0,
            });
        }
        for words in &mut lists {
            words.is_contested = words.numbers.iter().any(|number| wanted_by[*number] > 1);
        }
        let mut phrase = PhraseInDoc { places, lists };
        if phrase.places.len() <= FEW {
            for place in 0..phrase.places.len() {
                let others = (0..phrase.places.len()).filter(|other| *other != place);
                let rivals = others.filter(|other| phrase.are_rivals(place, *other));
                phrase.places[place].rivals = rivals.collect();
            }
        }
        phrase
    }

    /// The words of each list.
    pub(super) fn lists(&self) -> impl Iterator<Item = &[Term]> {
        self.lists.iter().map(|words| &words.terms[..])
    }

    /// The number of a place's list.
    pub(super) fn list_of(&self, place: usize) -> usize {
        self.places[place].list
    }

    /// Whether it is known where the words of a list stand.
    pub(super) fn is_read(&self, list: usize) -> bool {
        !self.lists[list].positions.is_empty()
    }

    /// Forgets where the words of a list stand.
    pub(super) fn begin(&mut self, list: usize) {
        self.lists[list].positions.clear();
    }

    /// Adds where one of its words stands.
    pub(super) fn add(&mut self, list: usize, positions: &[u32]) {
        let positions = positions.iter().map(|position| i64::from(*position));
        self.lists[list].positions.extend(positions);
    }

    /// All that was added was.
    pub(super) fn end(&mut self, list: usize) {
        let positions = &mut self.lists[list].positions;
        positions.sort_unstable();
        positions.dedup();
    }

    fn are_rivals(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.places[one].list, self.places[other].list);
        one == other || self.lists[one].shares_with(&self.lists[other])
    }

    fn words(&self, place: usize) -> &Words {
        &self.lists[self.places[place].list]
    }

    /// The word that a place has come to.
    fn word(&self, place: usize) -> i64 {
        self.words(place).positions[self.places[place].at]
    }

    /// The same less the place's offset: a phrase as it was written has all at the same.
    fn position(&self, place: usize) -> i64 {
        self.word(place) - self.places[place].offset
    }

    /// What comes first of several that moved: how far a place has come, and of equal ones which is earlier in the phrase.
    fn order(&self, place: usize) -> (i64, i64) {
        (self.position(place), self.places[place].offset)
    }

    /// How often the phrase is there. Leaves off once the request is over.
    pub(super) fn frequency(&mut self, slop: i64) -> f32 {
        if self.lists.iter().any(|words| words.positions.is_empty()) {
            return 0.0;
        }
        if slop == 0 {
            return self.exact();
        }
        // Each place stands on a word of its own.
        if (self.lists.iter()).any(|words| words.positions.len() < words.places) {
            return 0.0;
        }
        self.walked(slop, FEW)
    }

    /// The same where words may be moved; more places than so many are kept in order.
    fn walked(&mut self, slop: i64, few: usize) -> f32 {
        Walk::new(self, few).map_or(0.0, |walk| walk.frequency(slop))
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "positions of a document are far fewer than 2^24"
    )]
    fn exact(&self) -> f32 {
        let Some((first, rest)) = self.places.split_first() else {
            return 0.0;
        };
        let begun = self.lists[first.list].positions.iter();
        let mut begun: Vec<i64> = begun.map(|word| word - first.offset).collect();
        let mut pace = Pace::of_blocks();
        for place in rest {
            let words = &self.lists[place.list].positions;
            begun.retain(|position| words.binary_search(&(position + place.offset)).is_ok());
            if begun.is_empty() || pace.is_over() {
                return 0.0;
            }
        }
        begun.len() as f32
    }
}

struct Walk<'a> {
    phrase: &'a mut PhraseInDoc,
    /// The farthest position that a place has come to.
    end: i64,
    /// Where there are many places.
    index: Option<Index>,
    pace: Pace,
}

/// Where many places stand.
#[derive(Default)]
struct Index {
    /// Positions, offsets, and the places.
    order: BTreeSet<(i64, i64, usize)>,
    /// Those places that others may be in the way of, by the words that they stand on.
    standing: HashMap<i64, BTreeSet<usize>>,
}

impl<'a> Walk<'a> {
    /// At the first positions, none of them on the same word.
    fn new(phrase: &'a mut PhraseInDoc, few: usize) -> Option<Self> {
        for place in &mut phrase.places {
            place.at = 0;
        }
        let count = phrase.places.len();
        let end = (0..count).map(|place| phrase.position(place)).max()?;
        let mut walk = Walk {
            phrase,
            end,
            index: (count > few).then(Index::default),
            pace: Pace::default(),
        };
        for place in 0..count {
            walk.enter(place);
        }
        (0..count).all(|place| walk.part(place)).then_some(walk)
    }

    /// The place that lies first; of several the one that is earlier in the phrase.
    fn first(&self, without: Option<usize>) -> Option<usize> {
        if let Some(index) = &self.index {
            let mut places = index.order.iter().map(|(.., place)| *place);
            return places.find(|place| Some(*place) != without);
        }
        let others = (0..self.phrase.places.len()).filter(|place| Some(*place) != without);
        others.min_by_key(|place| self.phrase.order(*place))
    }

    /// Writes down where a place stands.
    fn enter(&mut self, place: usize) {
        let Some(index) = &mut self.index else {
            return;
        };
        let (position, offset) = self.phrase.order(place);
        index.order.insert((position, offset, place));
        if self.phrase.words(place).is_contested {
            let standing = index.standing.entry(self.phrase.word(place)).or_default();
            standing.insert(place);
        }
    }

    /// Strikes out where a place stands.
    fn leave(&mut self, place: usize) {
        let Some(index) = &mut self.index else {
            return;
        };
        let (position, offset) = self.phrase.order(place);
        index.order.remove(&(position, offset, place));
        let word = self.phrase.word(place);
        if let Some(standing) = index.standing.get_mut(&word) {
            standing.remove(&place);
            if standing.is_empty() {
                index.standing.remove(&word);
            }
        }
    }

    /// Goes to the next position, if there is one and somebody still waits.
    fn advance(&mut self, place: usize) -> bool {
        let next = self.phrase.places[place].at + 1;
        let is_more = next < self.phrase.words(place).positions.len();
        if !is_more || self.pace.is_over() {
            return false;
        }
        self.leave(place);
        self.phrase.places[place].at = next;
        self.enter(place);
        self.end = self.end.max(self.phrase.position(place));
        true
    }

    /// Another place that wants the word that a place stands on, and stands there, too.
    fn rival(&self, place: usize) -> Option<usize> {
        let phrase = &*self.phrase;
        let word = phrase.word(place);
        let Some(index) = &self.index else {
            let mut rivals = phrase.places[place].rivals.iter().copied();
            return rivals.find(|rival| phrase.word(*rival) == word);
        };
        let mut standing = index.standing.get(&word)?.iter().copied();
        standing.find(|other| *other != place && phrase.are_rivals(place, *other))
    }

    /// Moves places on that stand on the same word as another one, until none does.
    fn part(&mut self, mut place: usize) -> bool {
        while let Some(rival) = self.rival(place) {
            if self.phrase.order(rival) <= self.phrase.order(place) {
                place = rival;
            }
            if !self.advance(place) {
                return false;
            }
        }
        true
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
            next.map_or(i64::MAX, |next| walk.phrase.position(next))
        };
        let mut next = stand(&self, place);
        let mut length = self.end - self.phrase.position(place);
        while self.advance(place) && self.part(place) {
            let position = self.phrase.position(place);
            if position > next {
                count(length);
                let Some(first) = self.first(None) else {
                    break;
                };
                place = first;
                next = stand(&self, place);
                length = self.end - self.phrase.position(place);
            } else {
                length = length.min(self.end - position);
            }
        }
        count(length);
        sum
    }
}

#[cfg(test)]
mod tests;

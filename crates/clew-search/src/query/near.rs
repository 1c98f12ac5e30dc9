//! The words of a dictionary that are near another word, by walking the dictionary's automaton beside one of the
//! word that holds all its states in a few machine words. As soon as all edits are spent, only the one or two
//! characters that may still follow are looked for.

use clew_platform::Pace;
use clew_query::Fuzziness;
use tantivy_fst::raw::{Fst, Node, Transition};

/// Longest word, so that its places and the one behind it fit.
const WORD_MAX: usize = 62;
const EDITS_MAX: usize = 2;

/// A word that is searched for.
pub(crate) struct Near {
    word: Vec<char>,
    /// For each ASCII character at which places the word has it.
    places: [u64; 128],
    edits: usize,
    /// The same as it is told.
    edits_told: u8,
    prefix_length: usize,
    transpositions: bool,
}

/// Where in the word one may be after some characters of a term.
#[derive(Clone, Copy)]
struct State {
    /// Places with at most so many edits.
    reach: [u64; EDITS_MAX + 1],
    /// Places whose next two characters are swapped if the one here comes next.
    swapped: [u64; EDITS_MAX],
    depth: usize,
}

impl Near {
    /// `None` when the word is too long, or too many edits are allowed.
    pub(crate) fn new(word: &str, fuzziness: &Fuzziness) -> Option<Self> {
        let word: Vec<char> = word.chars().collect();
        let length = word.len();
        let edits = usize::from(fuzziness.edits(length));
        if word.len() > WORD_MAX || edits > EDITS_MAX {
            return None;
        }
        let mut places = [0; 128];
        for (place, character) in word.iter().enumerate() {
            if let Some(places) = places.get_mut(*character as usize) {
                *places |= 1 << place;
            }
        }
        Some(Near {
            // A prefix longer than the word is the word.
            prefix_length: fuzziness.prefix_length.min(word.len()),
            word,
            places,
            edits,
            edits_told: fuzziness.edits(length),
            transpositions: fuzziness.transpositions,
        })
    }

    /// Tells every near word of the dictionary, its distance and its number, in no order; some are left out once the
    /// request that the thread works for is over.
    pub(crate) fn find<D>(&self, dictionary: &Fst<D>, found: &mut dyn FnMut(u8, &[u8], u64))
    where
        D: std::ops::Deref<Target = [u8]>,
    {
        let mut walk = Walk {
            near: self,
            node: &|address| dictionary.node(address),
            key: Vec::new(),
            found,
            // Each place fans out to many.
            pace: Pace::of_blocks(),
        };
        walk.at(Place::new(dictionary.root(), 0), &self.start());
    }

    fn start(&self) -> State {
        let mut reach = [0; EDITS_MAX + 1];
        for (edits, places) in reach.iter_mut().enumerate().take(self.edits + 1) {
            // Leaving out the first characters.
            *places = ((2 << edits) - 1) & self.all();
        }
        State {
            reach,
            swapped: [0; EDITS_MAX],
            depth: 0,
        }
    }

    /// The places in the word and the one behind it.
    fn all(&self) -> u64 {
        (2 << self.word.len()) - 1
    }

    fn places_of(&self, character: char) -> u64 {
        match self.places.get(character as usize) {
            Some(places) => *places,
            None => {
                let places = self.word.iter().enumerate();
                let places = places.filter(|(_, have)| **have == character);
                places.fold(0, |all, (place, _)| all | 1 << place)
            }
        }
    }

    /// The state after one more character; `None` when nothing can be near any more.
    fn step(&self, state: &State, character: char) -> Option<State> {
        let here = self.places_of(character);
        if state.depth < self.prefix_length && here >> state.depth & 1 == 0 {
            return None;
        }
        let mut next = State {
            reach: [0; EDITS_MAX + 1],
            swapped: [0; EDITS_MAX],
            depth: state.depth + 1,
        };
        next.reach[0] = (state.reach[0] & here) << 1;
        for edits in 1..=self.edits {
            let before = state.reach[edits - 1];
            next.reach[edits] = (state.reach[edits] & here) << 1
                // One character more than the word has, another one, or one of the word left out.
                | before
                | before << 1
                | next.reach[edits - 1] << 1
                | next.reach[edits - 1]
                | (state.swapped[edits - 1] & here) << 2;
            next.reach[edits] &= self.all();
            if self.transpositions {
                next.swapped[edits - 1] = before & here >> 1;
            }
        }
        (next.reach[self.edits] | self.last_swapped(&next) != 0).then_some(next)
    }

    /// Places that the last edit, a swap, would go on from.
    fn last_swapped(&self, state: &State) -> u64 {
        match self.edits {
            0 => 0,
            edits => state.swapped[edits - 1],
        }
    }

    fn distance(&self, state: &State) -> Option<u8> {
        // What is shorter than the prefix does not begin with it.
        if state.depth < self.prefix_length {
            return None;
        }
        let end = self.word.len();
        let edits = (0..=self.edits).find(|edits| state.reach[*edits] >> end & 1 == 1)?;
        u8::try_from(edits).ok()
    }

    /// The places without any edit left, and those of a swap, when there are no others.
    fn spent(&self, state: &State) -> Option<(u64, u64)> {
        let others = state.reach[..self.edits]
            .iter()
            .fold(0, |all, one| all | one);
        let is_spent = others == 0 && state.depth >= self.prefix_length;
        is_spent.then(|| (state.reach[self.edits], self.last_swapped(state)))
    }

    /// The places whose characters alone may come next; `None` when any may.
    fn only(&self, state: &State) -> Option<u64> {
        if state.depth < self.prefix_length {
            return Some((1 << state.depth) & (self.all() >> 1));
        }
        if self.edits > 0 && state.reach[self.edits - 1] != 0 {
            return None;
        }
        let places = state.reach[self.edits] | self.last_swapped(state);
        Some(places & (self.all() >> 1))
    }
}

/// A walk through a dictionary.
struct Walk<'a, 'f> {
    near: &'a Near,
    node: &'a dyn Fn(usize) -> Node<'f>,
    key: Vec<u8>,
    found: &'a mut dyn FnMut(u8, &[u8], u64),
    pace: Pace,
}

/// Where a walk is, and what the way there adds to the number of its words.
#[derive(Clone, Copy)]
struct Place<'f> {
    node: Node<'f>,
    number: u64,
}

impl<'f> Place<'f> {
    fn new(node: Node<'f>, number: u64) -> Self {
        Place { node, number }
    }
}

impl<'f> Walk<'_, 'f> {
    fn at(&mut self, place: Place<'f>, state: &State) {
        if self.pace.is_over() {
            return;
        }
        if let Some(spent) = self.near.spent(state) {
            return self.finish(place, spent);
        }
        if place.node.is_final()
            && let Some(distance) = self.near.distance(state)
        {
            let number = place.number + place.node.final_output().value();
            (self.found)(distance, &self.key, number);
        }
        match self.near.only(state) {
            Some(places) => self.follow(place, state, places),
            None => self.all(place, state, 0),
        }
    }

    /// All edits are spent: what is left of the word follows from one of these places. Where a swap has begun it
    /// goes on two places behind.
    fn finish(&mut self, place: Place<'f>, (places, swapped): (u64, u64)) {
        if places >> self.near.word.len() & 1 == 1 && place.node.is_final() {
            let number = place.number + place.node.final_output().value();
            (self.found)(self.near.edits_told, &self.key, number);
        }
        let mut left = (places | swapped) & (self.near.all() >> 1);
        while left != 0 {
            let character = self.near.word[left.trailing_zeros() as usize];
            let here = self.near.places_of(character);
            left &= !here;
            let next = (places & here) << 1 | (swapped & here) << 2;
            let before = self.key.len();
            let mut bytes = [0; 4];
            if let Some(to) = self.down(place, character.encode_utf8(&mut bytes).as_bytes()) {
                self.finish(to, (next & self.near.all(), 0));
            }
            self.key.truncate(before);
        }
    }

    /// Goes on with the characters of these places.
    fn follow(&mut self, from: Place<'f>, state: &State, mut places: u64) {
        while places != 0 {
            let character = self.near.word[places.trailing_zeros() as usize];
            places &= !self.near.places_of(character);
            let Some(next) = self.near.step(state, character) else {
                continue;
            };
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let before = self.key.len();
            if let Some(to) = self.down(from, bytes) {
                self.at(to, &next);
            }
            self.key.truncate(before);
        }
    }

    fn down(&mut self, from: Place<'f>, bytes: &[u8]) -> Option<Place<'f>> {
        let mut at = from;
        for byte in bytes {
            let transition = at.node.transition(at.node.find_input(*byte)?);
            self.key.push(*byte);
            at = self.over(at, transition);
        }
        Some(at)
    }

    fn over(&self, from: Place<'f>, transition: Transition) -> Place<'f> {
        let number = from.number + transition.out.value();
        Place::new((self.node)(transition.addr), number)
    }

    /// Goes on with every character; the last `begun` bytes of the key are the beginning of one.
    fn all(&mut self, from: Place<'f>, state: &State, begun: usize) {
        for transition in from.node.transitions() {
            self.key.push(transition.inp);
            let begin = self.key.len() - begun - 1;
            if begun == 0 && transition.inp.is_ascii() {
                if let Some(next) = self.near.step(state, transition.inp.into()) {
                    self.at(self.over(from, transition), &next);
                }
                self.key.pop();
                continue;
            }
            match std::str::from_utf8(&self.key[begin..]) {
                Ok(text) => {
                    let next = text.chars().next();
                    if let Some(next) = next.and_then(|next| self.near.step(state, next)) {
                        self.at(self.over(from, transition), &next);
                    }
                }
                Err(_) if begun < 3 => {
                    self.all(self.over(from, transition), state, begun + 1);
                }
                Err(_) => {}
            }
            self.key.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_query::FuzzyDistance;
    use proptest::prelude::*;
    use tantivy_fst::Map;

    use super::*;
    use crate::query::automaton::Nearby;

    fn check(words: &[String], word: &str, fuzziness: &Fuzziness) {
        let mut sorted = words.to_vec();
        sorted.sort();
        sorted.dedup();
        let numbered = sorted.iter().zip(0u64..);
        let map = Map::from_iter(numbered).unwrap();
        let mut have = Vec::new();
        let near = Near::new(word, fuzziness).unwrap();
        near.find(map.as_fst(), &mut |distance, key, number| {
            assert_eq!(map.get(key), Some(number));
            have.push((String::from_utf8(key.to_vec()).unwrap(), distance));
        });
        have.sort();
        let table = Nearby::new(word, fuzziness);
        let want = sorted
            .iter()
            .filter_map(|text| Some((text.clone(), table.distance(text)?)));
        assert_eq!(have, want.collect::<Vec<_>>(), "{word} {fuzziness:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn near_words_are_those_of_the_table_of_distances(
            words in proptest::collection::vec("[abcé日]{0,6}", 1..60), word in "[abcé日]{0,6}",
            edits in 0u8..=2, prefix_length in 0usize..3, transpositions: bool,
        ) {
            let distance = FuzzyDistance::Fixed(edits);
            check(&words, &word, &Fuzziness { distance, prefix_length, transpositions, ..Fuzziness::auto() });
        }
    }

    #[test]
    fn a_walk_that_nobody_waits_for_ends() {
        let words: Vec<String> = (0..20_000).map(|word| format!("{word:05}")).collect();
        let map = Map::from_iter(words.iter().zip(0u64..)).unwrap();
        let near = Near::new("00000", &Fuzziness::parse("2").unwrap()).unwrap();
        let found = || {
            let mut found = 0;
            near.find(map.as_fst(), &mut |_, _, _| found += 1);
            found
        };
        let all = found();
        let token = clew_platform::CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(found() < all);
    }
}

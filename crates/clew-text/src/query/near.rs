//! The words of a dictionary that are near another word, by walking the dictionary's automaton beside one of the
//! word that holds all its states in a few machine words. As soon as all edits are spent, only the one or two
//! characters that may still follow are looked for.

use tantivy_fst::raw::{Fst, Node};

use super::tree::Fuzziness;

/// Longest word, so that its places and the one behind it fit.
const WORD_MAX: usize = 62;
const EDITS_MAX: usize = 2;

/// A word that is searched for.
pub(crate) struct Near {
    word: Vec<char>,
    /// For each ASCII character at which places the word has it.
    places: [u64; 128],
    edits: usize,
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
        let edits = usize::from(fuzziness.edits(word.len()));
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
            transpositions: fuzziness.transpositions,
        })
    }

    /// Tells every near word of the dictionary, and its distance, in no order.
    pub(crate) fn find<D>(&self, dictionary: &Fst<D>, found: &mut dyn FnMut(u8, &[u8]))
    where
        D: std::ops::Deref<Target = [u8]>,
    {
        let mut walk = Walk {
            near: self,
            node: &|address| dictionary.node(address),
            key: Vec::new(),
            found,
        };
        walk.at(&dictionary.root(), &self.start());
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
    found: &'a mut dyn FnMut(u8, &[u8]),
}

impl<'f> Walk<'_, 'f> {
    fn at(&mut self, node: &Node<'f>, state: &State) {
        if node.is_final()
            && let Some(distance) = self.near.distance(state)
        {
            (self.found)(distance, &self.key);
        }
        match self.near.only(state) {
            Some(places) => self.follow(node, state, places),
            None => self.all(node, state, 0),
        }
    }

    /// Goes on with the characters of these places.
    fn follow(&mut self, node: &Node<'f>, state: &State, mut places: u64) {
        while places != 0 {
            let character = self.near.word[places.trailing_zeros() as usize];
            places &= !self.near.places_of(character);
            let Some(next) = self.near.step(state, character) else {
                continue;
            };
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let before = self.key.len();
            if let Some(node) = self.down(node, bytes) {
                self.at(&node, &next);
            }
            self.key.truncate(before);
        }
    }

    fn down(&mut self, node: &Node<'f>, bytes: &[u8]) -> Option<Node<'f>> {
        let mut at: Option<Node<'f>> = None;
        for byte in bytes {
            let from = at.as_ref().unwrap_or(node);
            let place = from.find_input(*byte)?;
            let address = from.transition_addr(place);
            self.key.push(*byte);
            at = Some((self.node)(address));
        }
        at
    }

    /// Goes on with every character; the last `begun` bytes of the key are the beginning of one.
    fn all(&mut self, node: &Node<'f>, state: &State, begun: usize) {
        for transition in node.transitions() {
            self.key.push(transition.inp);
            let from = self.key.len() - begun - 1;
            match std::str::from_utf8(&self.key[from..]) {
                Ok(text) => {
                    let next = text.chars().next();
                    if let Some(next) = next.and_then(|next| self.near.step(state, next)) {
                        self.at(&(self.node)(transition.addr), &next);
                    }
                }
                Err(_) if begun < 3 => {
                    self.all(&(self.node)(transition.addr), state, begun + 1);
                }
                Err(_) => {}
            }
            self.key.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy_fst::Map;

    use super::*;
    use crate::query::automaton::Nearby;
    use crate::query::tree::FuzzyDistance;

    fn check(words: &[String], word: &str, fuzziness: &Fuzziness) {
        let mut sorted = words.to_vec();
        sorted.sort();
        sorted.dedup();
        let numbered = sorted.iter().zip(0u64..);
        let map = Map::from_iter(numbered).unwrap();
        let mut have = Vec::new();
        let near = Near::new(word, fuzziness).unwrap();
        near.find(map.as_fst(), &mut |distance, key| {
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
}

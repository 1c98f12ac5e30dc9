//! Texts that scripts make of documents, as places in an order that grows: a text that comes between two others gets a place
//! between theirs. Where places become few, or texts many, those that are still wanted are spread anew.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError};

use clew_query::QueryError;

/// Places lie below it, and above zero.
const PLACES: u128 = 1 << 120;
/// How far apart texts are put that come in their order.
const STEP: u128 = 1 << 80;
/// Places left between two texts where they are to be spread anew.
const FEW: u128 = 1 << 16;
/// Bytes of texts from which on those that nobody wants are given up.
const MANY_BYTES: usize = 4 << 20;
/// Bytes of texts that are held at most.
const BYTES_MAX: usize = 256 << 20;
/// How long a text may be, as a word of a field.
const TEXT_BYTES_MAX: usize = 32_766;

/// Texts and their places. They are seen by one thread at a time.
#[derive(Debug, Default)]
pub(super) struct Texts(Mutex<Placed>);

#[derive(Debug, Default)]
struct Placed {
    by_text: BTreeMap<Arc<str>, u128>,
    by_place: BTreeMap<u128, Arc<str>>,
    bytes: usize,
    /// From so many bytes on those that nobody wants are given up.
    many: usize,
    is_crowded: bool,
}

impl Texts {
    fn inside<R>(&self, with: impl FnOnce(&mut Placed) -> R) -> R {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        with(&mut guard)
    }

    /// The place of a text among all so far, which gets one if it has none.
    ///
    /// # Errors
    /// When it is too long, or there are too many.
    pub(super) fn place(&self, text: &str) -> Result<u128, QueryError> {
        self.inside(|placed| match placed.by_text.get(text) {
            Some(place) => Ok(*place),
            None => placed.add(text),
        })
    }

    /// The text at a place.
    pub(super) fn text(&self, place: u128) -> Option<String> {
        self.inside(|placed| placed.by_place.get(&place).map(ToString::to_string))
    }

    /// Whether texts have to be spread anew.
    pub(super) fn is_crowded(&self) -> bool {
        self.inside(|placed| placed.is_crowded)
    }

    /// Gives up all texts but those at these places, which are spread anew; where each is now.
    pub(super) fn spread(&self, wanted: BTreeSet<u128>) -> BTreeMap<u128, u128> {
        self.inside(|placed| {
            let between = PLACES / (wanted.len() as u128 + 1);
            let mut spread = Placed::default();
            let mut moved = BTreeMap::new();
            let mut place = 0;
            for old in wanted {
                let Some(text) = placed.by_place.get(&old) else {
                    continue;
                };
                place += between;
                spread.bytes += text.len();
                spread.by_text.insert(Arc::clone(text), place);
                spread.by_place.insert(place, Arc::clone(text));
                moved.insert(old, place);
            }
            spread.many = spread.bytes.saturating_mul(2);
            *placed = spread;
            moved
        })
    }
}

impl Placed {
    fn add(&mut self, text: &str) -> Result<u128, QueryError> {
        if text.len() > TEXT_BYTES_MAX || self.bytes.saturating_add(text.len()) > BYTES_MAX {
            return Err(QueryError::illegal(format!(
                "texts that scripts make to sort by may have [{TEXT_BYTES_MAX}] bytes, and \
                 [{BYTES_MAX}] together"
            )));
        }
        let before = (Bound::Unbounded, Bound::Excluded(text));
        let behind = (Bound::Excluded(text), Bound::Unbounded);
        let before = self.by_text.range::<str, _>(before).next_back();
        let behind = self.by_text.range::<str, _>(behind).next();
        let low = before.map_or(0, |(_, place)| *place);
        let high = behind.map_or(PLACES, |(_, place)| *place);
        let between = high - low;
        if between < 2 {
            return Err(QueryError::illegal(
                "texts that scripts make to sort by lie too close to each other",
            ));
        }
        let place = match (before, behind) {
            (Some(_), None) => low + STEP.min(between / 2),
            (None, Some(_)) => high - STEP.min(between / 2),
            _ => low + between / 2,
        };
        self.bytes += text.len();
        self.is_crowded |= between / 2 < FEW || self.bytes > self.many.max(MANY_BYTES);
        let text: Arc<str> = text.into();
        self.by_text.insert(Arc::clone(&text), place);
        self.by_place.insert(place, text);
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_texts_however_they_come() {
        let texts = Texts::default();
        let mut wanted = BTreeSet::new();
        // Each comes between the two before it.
        let (mut low, mut high) = ("a".to_string(), String::new());
        for at in 0..300 {
            low.push('a');
            high = format!("{low}{}", "c".repeat(at % 3 + 1));
            wanted.insert(texts.place(&low).unwrap());
            wanted.insert(texts.place(&high).unwrap());
            if texts.is_crowded() {
                wanted = texts.spread(wanted).into_values().collect();
            }
        }
        assert!(texts.place(&low).unwrap() < texts.place(&high).unwrap());
        let shown: Vec<String> = wanted
            .iter()
            .filter_map(|place| texts.text(*place))
            .collect();
        assert!(shown.is_sorted());
        assert_eq!(shown.len(), wanted.len());
    }
}

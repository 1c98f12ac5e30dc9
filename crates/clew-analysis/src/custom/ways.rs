//! `concatenate_graph`: each way through a text as one term, as Lucene's `ConcatenateGraphFilter` has it.

use std::collections::{BTreeMap, BTreeSet};

use super::Term;
use super::part::Part;
use super::room::Room;

/// Ways of a text that become terms unless a filter says otherwise, as in Lucene.
const WAYS_USUAL: usize = 10_000;
/// Most that a filter may ask for.
const WAYS_MAX: usize = 100_000;

/// Bytes of a text that take about as long as a step of a way; there are steps whose words are empty.
const STEP_BYTES: usize = 8;

/// By the place that they begin at: the words that ways may go on with, and where those end.
type Steps<'t> = BTreeMap<usize, Vec<(&'t str, usize)>>;

/// The filter.
#[derive(Clone)]
pub(super) struct Ways {
    separator: String,
    /// Whether a separator stands for each place without a term, too.
    keeps_gaps: bool,
    most: usize,
}

impl Ways {
    /// The filter of a part.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when a parameter makes no sense.
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let separator = part.text("token_separator");
        let separator = separator.unwrap_or_else(|| " ".to_string());
        if separator.encode_utf16().count() > 1 {
            return Err("token_separator must be either empty or a single character".to_string());
        }
        Ok(Ways {
            separator,
            keeps_gaps: part.flag("preserve_position_increments", false)?,
            most: part.number("max_graph_expansions", WAYS_USUAL, 1..=WAYS_MAX)?,
        })
    }

    /// One term for each way through the terms of a text that ends at a byte, all at its beginning, in the order of their
    /// bytes. Costs a look at each term of each way.
    pub(super) fn apply(&self, terms: &[Term], end: usize) -> Vec<Term> {
        let Some(first) = terms.first() else {
            return Vec::new();
        };
        // Filters within others are not told where the text ends.
        let end = terms
            .iter()
            .map(|term| term.token.offset_to)
            .fold(end, usize::max);
        let texts = self.texts(&self.steps(terms), Room::for_terms(terms));
        let term = |text| {
            let mut term = first.clone();
            term.token.text = text;
            (term.token.offset_from, term.token.offset_to) = (0, end);
            (term.token.position, term.token.position_length) = (0, 1);
            term.kind = "word";
            term
        };
        texts.into_iter().map(term).collect()
    }

    /// Where ways may go; gaps are closed unless they are kept.
    fn steps<'t>(&self, terms: &'t [Term]) -> Steps<'t> {
        let mut steps = Steps::new();
        let mut before = terms.first().map_or(0, |term| term.token.position);
        let mut place = 0;
        for term in terms {
            let token = &term.token;
            let step = token.position.saturating_sub(before);
            before = token.position.max(before);
            place += if self.keeps_gaps { step } else { step.min(1) };
            let end = place + token.position_length.max(1);
            steps
                .entry(place)
                .or_default()
                .push((token.text.as_str(), end));
        }
        for words in steps.values_mut() {
            words.sort_unstable();
            words.dedup();
        }
        steps
    }

    /// The texts of all ways for which there is room, each once.
    fn texts(&self, steps: &Steps<'_>, mut room: Room) -> BTreeSet<String> {
        let (mut texts, mut text) = (BTreeSet::new(), String::new());
        // The places that a way has come through; at each the next word to go on with, and how long the text was by then.
        let mut way = vec![(0_usize, 0_usize, 0_usize)];
        while let Some((place, next, bytes)) = way.pop() {
            text.truncate(bytes);
            let words = steps.get(&place);
            let Some(&(word, end)) = words.and_then(|words| words.get(next)) else {
                continue;
            };
            way.push((place, next + 1, bytes));
            text.push_str(word);
            if let Some((&behind, _)) = steps.range(end..).next() {
                let gaps = if self.keeps_gaps { behind - end } else { 0 };
                text.push_str(&self.separator.repeat(gaps + 1));
                way.push((behind, 0, text.len()));
                continue;
            }
            let spent = text.len().max(way.len() * STEP_BYTES);
            if !room.takes(spent) || texts.len() >= self.most {
                break;
            }
            texts.insert(text.clone());
        }
        texts
    }
}

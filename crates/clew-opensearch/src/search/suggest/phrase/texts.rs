//! Texts as they are put together word by word, the likeliest ones.

use super::candidates::Candidate;
use super::model::Model;
use crate::http::error::ApiError;

/// Texts that go on to the next word.
pub(super) const TEXTS_MAX: usize = 100;

/// What texts are made by.
pub(super) struct Maker<'a> {
    pub(super) model: &'a Model<'a>,
    /// How likely a word is meant as it was written.
    pub(super) real_word: f64,
    /// How many words may be corrected.
    pub(super) errors_max: usize,
}

/// Texts as far as they are put together. Those that begin alike share their beginnings, so that one word more costs the
/// same however many come before.
pub(super) struct Texts<'a> {
    /// Every word of every text, each with its place in this list of the one before it.
    words: Vec<Placed<'a>>,
    /// The best ones, in order.
    best: Vec<Text>,
    /// The text as it was written.
    own: Text,
}

#[derive(Clone, Copy)]
struct Placed<'a> {
    before: Option<u32>,
    word: &'a str,
    is_corrected: bool,
}

/// A text as far as it is put together.
#[derive(Clone, Copy, Default)]
pub(super) struct Text {
    /// Its last word.
    last: Option<u32>,
    corrections: usize,
    /// The sum of the logarithms of how likely its words are.
    score: f64,
}

impl Text {
    /// How likely it is; compared with others only.
    pub(super) fn score(&self) -> f64 {
        self.score.exp()
    }
}

impl<'a> Texts<'a> {
    pub(super) fn new() -> Self {
        Texts {
            words: Vec::new(),
            best: vec![Text::default()],
            own: Text::default(),
        }
    }

    /// What the texts of so many words take at most, while a list grows.
    pub(super) fn bytes(words: usize) -> usize {
        let placed = 2 * size_of::<Placed<'_>>();
        (TEXTS_MAX + 1).saturating_mul(words).saturating_mul(placed)
    }

    /// Puts one word more at the end of the best texts, or a candidate in its place.
    pub(super) fn go_on(
        &mut self,
        own: &'a str,
        candidates: &'a [Candidate],
        maker: &Maker<'_>,
    ) -> Result<(), ApiError> {
        let mut next: Vec<(f64, Text, Option<&'a Candidate>)> = Vec::new();
        for so_far in &self.best {
            let (before, length) = self.last_two(so_far);
            let before = &before[2 - length..];
            let likelihood = maker.model.likelihood(before, own)?;
            let worth = (maker.real_word * likelihood).log10();
            next.push((so_far.score + worth, *so_far, None));
            if so_far.corrections >= maker.errors_max {
                continue;
            }
            for candidate in candidates {
                let likelihood = maker.model.likelihood(before, &candidate.text)?;
                let worth = (candidate.likeness * likelihood).log10();
                next.push((so_far.score + worth, *so_far, Some(candidate)));
            }
        }
        let (before, length) = self.last_two(&self.own);
        let likelihood = maker.model.likelihood(&before[2 - length..], own)?;
        let worth = (maker.real_word * likelihood).log10();
        let written = Text {
            score: self.own.score + worth,
            ..self.own
        };
        self.own = self.placed(written, own, None);
        next.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        next.truncate(TEXTS_MAX);
        self.best.clear();
        for (score, so_far, candidate) in next {
            let text = self.placed(Text { score, ..so_far }, own, candidate);
            self.best.push(text);
        }
        Ok(())
    }

    /// A text with one word more.
    fn placed(&mut self, text: Text, own: &'a str, candidate: Option<&'a Candidate>) -> Text {
        // A text of so many words is refused long before.
        let place = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.push(Placed {
            before: text.last,
            word: candidate.map_or(own, |candidate| candidate.text.as_str()),
            is_corrected: candidate.is_some(),
        });
        Text {
            last: Some(place),
            corrections: text.corrections + usize::from(candidate.is_some()),
            ..text
        }
    }

    /// The last two words of a text, at the end of the array, and how many there are.
    fn last_two(&self, text: &Text) -> ([&'a str; 2], usize) {
        let at = |place: Option<u32>| place.and_then(|at| self.words.get(at as usize));
        match at(text.last) {
            None => (["", ""], 0),
            Some(last) => match at(last.before) {
                None => (["", last.word], 1),
                Some(first) => ([first.word, last.word], 2),
            },
        }
    }

    /// The best texts that are likelier than the one that was written, by a factor; all where that is 0.
    pub(super) fn better(&self, confidence: f64) -> Vec<&Text> {
        let least = self.own.score() * confidence;
        let is_better = |text: &&Text| text.score() > least;
        self.best.iter().filter(is_better).collect()
    }

    /// The words of a text, and whether each was corrected.
    pub(super) fn words_of(&self, text: &Text) -> Vec<(&'a str, bool)> {
        let mut words = Vec::new();
        let mut at = text.last;
        while let Some(placed) = at.and_then(|at| self.words.get(at as usize)) {
            words.push((placed.word, placed.is_corrected));
            at = placed.before;
        }
        words.reverse();
        words
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::model::Smoothing;
    use super::*;

    fn with_model(work: impl FnOnce(&Model<'_>)) {
        let frequency = |term: &str| -> Result<u64, ApiError> {
            Ok(match term {
                "design" => 3,
                "patterns" => 2,
                "design patterns" => 1,
                _ => 0,
            })
        };
        work(&Model {
            smoothing: Smoothing::default(),
            gram_size: 2,
            separator: " ",
            vocabulary: [20.0, 10.0],
            frequency: &frequency,
            known: RefCell::default(),
        });
    }

    fn candidate(text: &str) -> Candidate {
        Candidate {
            text: text.to_string(),
            likeness: 0.8,
        }
    }

    #[test]
    fn texts_that_are_likelier_than_what_was_written_are_found() {
        with_model(|model| {
            let maker = Maker {
                model,
                real_word: 0.95,
                errors_max: 1,
            };
            let candidates = [candidate("pattern"), candidate("patterns")];
            let mut texts = Texts::new();
            texts.go_on("design", &[], &maker).ok().unwrap();
            texts.go_on("paterns", &candidates, &maker).ok().unwrap();
            let shown = |confidence: f64| -> Vec<String> {
                let better = texts.better(confidence).into_iter();
                let words = better.map(|text| texts.words_of(text));
                words
                    .map(|words| {
                        words
                            .iter()
                            .map(|word| word.0)
                            .collect::<Vec<_>>()
                            .join(" ")
                    })
                    .collect()
            };
            assert_eq!(shown(1.0), ["design patterns"]);
            assert_eq!(shown(0.0).len(), 3);
            let best = texts.better(1.0)[0];
            assert_eq!(
                texts.words_of(best),
                [("design", false), ("patterns", true)]
            );
        });
    }

    #[test]
    fn a_word_more_costs_the_same_however_many_come_before() {
        with_model(|model| {
            let maker = Maker {
                model,
                real_word: 0.95,
                errors_max: 2,
            };
            let candidates = [candidate("one"), candidate("two")];
            let mut texts = Texts::new();
            for words in 1..=1000 {
                texts.go_on("own", &candidates, &maker).ok().unwrap();
                assert!(texts.words.len() <= words * (TEXTS_MAX + 1));
            }
            assert!(texts.words.len() * size_of::<Placed<'_>>() <= Texts::bytes(1000));
            let corrected = texts.best.iter().map(|text| text.corrections);
            assert!(corrected.max() <= Some(2));
        });
    }
}

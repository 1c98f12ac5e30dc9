//! How likely words follow each other, judged by how often they and shingles of them are in a field (Brants et al., *Large
//! Language Models in Machine Translation*, 2007, for what becomes of those that are not there).

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::dsl::{DslError, number_in};
use crate::http::error::ApiError;

/// Frequencies that are remembered.
const KNOWN_MAX: usize = 100_000;

/// How often a term is in the field.
pub(super) type Frequency<'a> = &'a dyn Fn(&str) -> Result<u64, ApiError>;

/// What is taken for words that never followed each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Smoothing {
    /// A share of how likely fewer of them are.
    Backoff { discount: f64 },
    /// Everything was there a little more often.
    Laplace { alpha: f64 },
    /// Shares of how likely three, two and one of them are.
    Linear { shares: [f64; 3] },
}

impl Default for Smoothing {
    fn default() -> Self {
        Smoothing::Backoff { discount: 0.4 }
    }
}

impl Smoothing {
    /// Reads `smoothing`.
    pub(super) fn read(members: &Map<String, Value>) -> Result<Self, DslError> {
        let mut found = Smoothing::default();
        // Of several the last one counts.
        for (name, body) in members {
            found = Self::of_name(name, body)?;
        }
        Ok(found)
    }

    fn of_name(name: &str, body: &Value) -> Result<Self, DslError> {
        let number = |key: &str| body.get(key).map_or(Ok(None), number_in);
        Ok(match name {
            "stupid_backoff" => Smoothing::Backoff {
                discount: number("discount")?.unwrap_or(0.4),
            },
            "laplace" => Smoothing::Laplace {
                alpha: number("alpha")?.unwrap_or(0.5),
            },
            "linear" => {
                let share = |key: &str| Ok::<_, DslError>(number(key)?.unwrap_or_default());
                let shares = [
                    share("trigram_lambda")?,
                    share("bigram_lambda")?,
                    share("unigram_lambda")?,
                ];
                if (shares.iter().sum::<f64>() - 1.0).abs() > 0.001 {
                    let reason = "linear smoothing lambdas must sum to 1";
                    return Err(DslError::illegal(reason));
                }
                Smoothing::Linear { shares }
            }
            other => {
                return Err(DslError::illegal(format!(
                    "suggester[phrase] doesn't support object field [{other}]"
                )));
            }
        })
    }
}

/// The model of a shard's field.
pub(super) struct Model<'a> {
    pub(super) smoothing: Smoothing,
    /// How many words are looked at together, at most three.
    pub(super) gram_size: usize,
    /// What stands between the words of a shingle.
    pub(super) separator: &'a str,
    /// Tokens of the field, and its different terms.
    pub(super) vocabulary: [f64; 2],
    pub(super) frequency: Frequency<'a>,
    pub(super) known: RefCell<HashMap<String, f64>>,
}

impl Model<'_> {
    /// How likely a word is behind up to two others, the nearest of them last.
    pub(super) fn likelihood(&self, before: &[&str], word: &str) -> Result<f64, ApiError> {
        let wanted = self.gram_size.clamp(1, 3) - 1;
        match before.get(before.len().saturating_sub(wanted)..) {
            None | Some([]) => self.of_one(word),
            Some([last]) => self.of_two(last, word),
            Some([first, last, ..]) => self.of_three(first, last, word),
        }
    }

    fn of_one(&self, word: &str) -> Result<f64, ApiError> {
        let [tokens, terms] = self.vocabulary;
        let more = match self.smoothing {
            Smoothing::Laplace { alpha } => alpha,
            Smoothing::Backoff { .. } | Smoothing::Linear { .. } => 1.0,
        };
        Ok((more + self.count(&[word])?) / (tokens + more * terms))
    }

    fn of_two(&self, last: &str, word: &str) -> Result<f64, ApiError> {
        let together = self.count(&[last, word])?;
        let alone = self.count(&[last])?;
        Ok(match self.smoothing {
            Smoothing::Backoff { discount } if together < 1.0 => discount * self.of_one(word)?,
            Smoothing::Backoff { .. } => together / alone.max(1.0),
            Smoothing::Laplace { alpha } => {
                (alpha + together) / (alone + alpha * self.vocabulary[1])
            }
            Smoothing::Linear {
                shares: [_, two, one],
            } => two * (together / (0.5 + alone)) + one * self.of_one(word)?,
        })
    }

    fn of_three(&self, first: &str, last: &str, word: &str) -> Result<f64, ApiError> {
        let together = self.count(&[first, last, word])?;
        if together < 1.0 {
            return match self.smoothing {
                Smoothing::Backoff { discount } => {
                    let two = self.count(&[last, word])?;
                    let likelihood = self.of_two(last, word)?;
                    // What is discounted already is not discounted twice.
                    Ok(if two < 1.0 {
                        likelihood
                    } else {
                        discount * likelihood
                    })
                }
                Smoothing::Laplace { alpha } => {
                    let before = self.count(&[first, last])?;
                    Ok(alpha / (before + alpha * self.vocabulary[1]))
                }
                Smoothing::Linear { .. } => self.of_two(last, word),
            };
        }
        let before = self.count(&[first, last])?;
        Ok(match self.smoothing {
            Smoothing::Backoff { .. } => together / before.max(1.0),
            Smoothing::Laplace { alpha } => {
                (alpha + together) / (before + alpha * self.vocabulary[1])
            }
            Smoothing::Linear {
                shares: [three, ..],
            } => three * (together / (1.0 + before)) + self.of_two(last, word)?,
        })
    }

    /// How often words are there one behind the other.
    #[allow(
        clippy::cast_precision_loss,
        reason = "a likelihood has no more precision"
    )]
    fn count(&self, words: &[&str]) -> Result<f64, ApiError> {
        let term = words.join(self.separator);
        if let Some(known) = self.known.borrow().get(&term) {
            return Ok(*known);
        }
        let count = (self.frequency)(&term)? as f64;
        let mut known = self.known.borrow_mut();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(term, count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn likelihood(smoothing: &Value, gram_size: usize, words: &[&str]) -> f64 {
        let frequency = |term: &str| -> Result<u64, ApiError> {
            Ok(match term {
                "a" => 3,
                "a b" => 2,
                "a b c" | "b" => 1,
                _ => 0,
            })
        };
        let model = Model {
            smoothing: Smoothing::read(smoothing.as_object().unwrap())
                .ok()
                .unwrap(),
            gram_size,
            separator: " ",
            vocabulary: [10.0, 4.0],
            frequency: &frequency,
            known: RefCell::default(),
        };
        let (word, before) = words.split_last().unwrap();
        model.likelihood(before, word).ok().unwrap()
    }

    #[test]
    fn words_are_likelier_where_they_followed_each_other() {
        let backoff = json!({"stupid_backoff": {"discount": 0.5}});
        for (gram_size, words, expected) in [
            (1, vec!["a"], 4.0 / 14.0),
            (1, vec!["a", "b"], 2.0 / 14.0),
            (2, vec!["a", "b"], 2.0 / 3.0),
            (2, vec!["x", "a", "b"], 2.0 / 3.0),
            (3, vec!["a", "b", "c"], 1.0 / 2.0),
            (3, vec!["x", "a", "b"], 0.5 * 2.0 / 3.0),
            (3, vec!["x", "y", "a"], 0.5 * 4.0 / 14.0),
        ] {
            let found = likelihood(&backoff, gram_size, &words);
            assert!(
                (found - expected).abs() < 1e-9,
                "{gram_size} {words:?} {found}"
            );
        }
        let laplace = json!({"laplace": {"alpha": 0.5}});
        assert!((likelihood(&laplace, 2, &["a", "b"]) - 2.5 / 5.0).abs() < 1e-9);
        assert!((likelihood(&laplace, 3, &["a", "b", "x"]) - 0.5 / 4.0).abs() < 1e-9);
        let linear = json!({"linear": {"trigram_lambda": 0.5, "bigram_lambda": 0.25, "unigram_lambda": 0.25}});
        let two = 0.25 * 2.0 / 3.5 + 0.25 * 2.0 / 14.0;
        assert!((likelihood(&linear, 2, &["a", "b"]) - two).abs() < 1e-9);
    }

    #[test]
    fn models_that_there_are_not_are_refused() {
        // One that names no model has the usual one.
        let usual = Smoothing::read(&Map::new()).ok();
        assert_eq!(usual, Some(Smoothing::default()));
        for wrong in [
            json!({"laplace": {}, "linear": {}}),
            json!({"none": {}}),
            json!({"linear": {}}),
        ] {
            let members = wrong.as_object().unwrap();
            assert!(Smoothing::read(members).is_err(), "{wrong}");
        }
    }
}

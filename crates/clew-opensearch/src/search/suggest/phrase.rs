//! The `phrase` suggester: the whole text, with words put in the place of those that are not in the
//! index. Words are judged one by one, by how alike and how frequent they are.

use clew_engine::Pinned;
use clew_platform::CancellationToken;
use serde_json::{Map, Value, json};

use super::{entry, term};
use crate::http::error::ApiError;
use crate::http::request_memory::RequestMemory;
use crate::state::tasks::cancelled_error;

const SIZE_DEFAULT: usize = 5;
const SIZE_MAX: usize = 100;
/// Texts of as many words are given back as they are, unless `token_limit` says otherwise.
const WORDS_MAX_DEFAULT: usize = 10;

/// Proposes texts in the place of one.
pub(super) fn suggest(
    pinned: &Pinned,
    text: &str,
    body: &Map<String, Value>,
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let mut of_words = Map::new();
    let mut size = SIZE_DEFAULT;
    let mut errors_max = 1.0;
    let mut words_max = WORDS_MAX_DEFAULT;
    let (mut before, mut after) = (None, None);
    for (key, value) in body {
        match key.as_str() {
            "field" | "analyzer" => {
                of_words.insert(key.clone(), value.clone());
            }
            "size" => {
                let asked = value.as_u64().and_then(|size| usize::try_from(size).ok());
                size = asked.unwrap_or(SIZE_DEFAULT).clamp(1, SIZE_MAX);
            }
            "max_errors" => errors_max = value.as_f64().unwrap_or(1.0),
            "token_limit" => words_max = read_words_max(value)?,
            "highlight" => {
                let tag = |key: &str| value.get(key).and_then(Value::as_str);
                (before, after) = (tag("pre_tag"), tag("post_tag"));
            }
            // Words are judged one by one, so what weighs their neighbours has nothing to weigh.
            "confidence"
            | "gram_size"
            | "real_word_error_likelihood"
            | "separator"
            | "force_unigrams"
            | "smoothing"
            | "direct_generator"
            | "shard_size" => {}
            other => {
                return Err(ApiError::bad_request(
                    "parsing_exception",
                    format!("suggester[phrase] doesn't support field [{other}]"),
                ));
            }
        }
    }
    of_words.insert("size".to_string(), size.into());
    let length = text.encode_utf16().count();
    // As many words are too many already.
    if term::count(pinned, text, &of_words)? >= words_max {
        return Ok(Value::Array(vec![entry(text, 0..length, Vec::new())]));
    }
    let words = term::suggest(pinned, text, &of_words, memory)?;
    let words = words.as_array().map(Vec::as_slice).unwrap_or_default();
    let _texts = memory.hold(Texts::bytes(words.len()))?;
    let mut texts = Texts::default();
    for word in words {
        let token = CancellationToken::current();
        if token.stopped().is_some() {
            return Err(cancelled_error(token.reason().unwrap_or_default()));
        }
        let own = word["text"].as_str().unwrap_or_default();
        let options = word["options"].as_array().map(Vec::as_slice);
        texts.go_on(own, options.unwrap_or_default());
    }
    let best = texts.best(allowed(errors_max, words.len()), size);
    let show = |text: &&Corrected| texts.show(text, before, after);
    let options = best.iter().map(show).collect();
    Ok(Value::Array(vec![entry(text, 0..length, options)]))
}

fn read_words_max(value: &Value) -> Result<usize, ApiError> {
    let number = value.as_i64().filter(|number| *number >= 1);
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| ApiError::illegal_argument("token_limit must be >= 1"))
}

/// Texts as far as they are put together. Those that begin alike share their beginnings, so that one word more costs the
/// same however many come before.
struct Texts<'a> {
    /// Every word of every text, each with its place in this list of the one before it.
    words: Vec<Placed<'a>>,
    /// The best ones, in order.
    best: Vec<Corrected>,
}

#[derive(Clone, Copy)]
struct Placed<'a> {
    before: Option<u32>,
    word: &'a str,
    is_corrected: bool,
}

/// A text as far as it is put together.
#[derive(Clone, Copy, Default)]
struct Corrected {
    /// Its last word.
    last: Option<u32>,
    corrections: usize,
    score: f64,
}

impl Default for Texts<'_> {
    fn default() -> Self {
        Texts {
            words: Vec::new(),
            best: vec![Corrected::default()],
        }
    }
}

impl<'a> Texts<'a> {
    /// What the texts of so many words take at most, while a list grows.
    fn bytes(words: usize) -> usize {
        let placed = 2 * size_of::<Placed<'_>>();
        SIZE_MAX.saturating_mul(words).saturating_mul(placed)
    }

    /// Puts one word more at the end of the best texts, or a proposal in its place.
    fn go_on(&mut self, own: &'a str, options: &'a [Value]) {
        let ways = options.iter().map(|option| (worth(option), Some(option)));
        let mut ways: Vec<(f64, Option<&'a Value>)> = ways.chain([(0.0, None)]).collect();
        ways.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut next: Vec<(f64, Corrected, Option<&'a Value>)> = Vec::new();
        for (before, so_far) in self.best.iter().enumerate() {
            // Texts and ways are in order: of the best of each this many come before the next.
            for (worth, option) in ways.iter().take(SIZE_MAX / (before + 1)) {
                next.push((so_far.score + worth, *so_far, *option));
            }
        }
        next.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        next.truncate(SIZE_MAX);
        self.best.clear();
        for (score, so_far, option) in next {
            let proposed = option.map(|option| option["text"].as_str().unwrap_or_default());
            let placed = Placed {
                before: so_far.last,
                word: proposed.unwrap_or(own),
                is_corrected: proposed.is_some(),
            };
            // A text of so many words is refused long before.
            let place = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
            self.words.push(placed);
            self.best.push(Corrected {
                last: Some(place),
                corrections: so_far.corrections + usize::from(placed.is_corrected),
                score,
            });
        }
    }

    /// The best texts in which something was corrected, but not more than may be.
    fn best(&self, allowed: usize, size: usize) -> Vec<&Corrected> {
        let fits = |text: &&Corrected| (1..=allowed).contains(&text.corrections);
        let mut texts: Vec<&Corrected> = self.best.iter().filter(fits).collect();
        texts.sort_by(|a, b| {
            let corrections = b.corrections.cmp(&a.corrections);
            corrections.then(b.score.total_cmp(&a.score))
        });
        texts.truncate(size);
        texts
    }

    /// The words of a text, and whether each was corrected.
    fn words_of(&self, text: &Corrected) -> Vec<(&'a str, bool)> {
        let mut words = Vec::new();
        let mut at = text.last;
        while let Some(placed) = at.and_then(|at| self.words.get(at as usize)) {
            words.push((placed.word, placed.is_corrected));
            at = placed.before;
        }
        words.reverse();
        words
    }

    fn show(&self, text: &Corrected, before: Option<&str>, after: Option<&str>) -> Value {
        let words = self.words_of(text);
        let plain: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let mut option = json!({"text": plain.join(" "), "score": text.score.exp()});
        if before.is_some() || after.is_some() {
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let marked = words.iter().map(|(word, is_corrected)| match is_corrected {
                true => format!("{before}{word}{after}"),
                false => (*word).to_string(),
            });
            option["highlighted"] = marked.collect::<Vec<_>>().join(" ").into();
        }
        option
    }
}

/// How many words may be corrected: a number of them, or below 1 a share.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the conversion saturates"
)]
fn allowed(errors_max: f64, words: usize) -> usize {
    let number = if errors_max < 1.0 {
        errors_max * words as f64
    } else {
        errors_max
    };
    (number.round() as usize).max(1)
}

/// What a proposed word adds to a text's score.
fn worth(option: &Value) -> f64 {
    let score = option["score"].as_f64().unwrap_or_default();
    let frequency = option["freq"].as_f64().unwrap_or_default();
    score.max(f64::MIN_POSITIVE).ln() + frequency.max(1.0).ln() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_many_texts_go_on() {
        let scores = (0..100_u32).map(|n| -f64::from(n) / 7.0);
        let before: Vec<Corrected> = scores
            .map(|score| Corrected {
                score,
                ..Corrected::default()
            })
            .collect();
        let options = (0..200_u32).map(|n| {
            let score = 1.0 / f64::from(n * 7919 % 200 + 1);
            json!({"text": format!("w{n}"), "score": score, "freq": 1})
        });
        let options: Vec<Value> = options.collect();
        let mut all: Vec<f64> = Vec::new();
        for text in &before {
            all.extend(options.iter().map(|option| text.score + worth(option)));
            all.push(text.score);
        }
        all.sort_by(|a, b| b.total_cmp(a));
        all.truncate(SIZE_MAX);
        let mut texts = Texts {
            words: Vec::new(),
            best: before,
        };
        texts.go_on("own", &options);
        let found: Vec<f64> = texts.best.iter().map(|text| text.score).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn a_word_more_costs_the_same_however_many_come_before() {
        let option = |text: &str| json!({"text": text, "score": 0.5, "freq": 1});
        let options = [option("one"), option("two")];
        let mut texts = Texts::default();
        for words in 1..=1000 {
            texts.go_on("own", &options);
            assert!(texts.words.len() <= words * SIZE_MAX);
        }
        assert!(texts.words.len() * size_of::<Placed<'_>>() <= Texts::bytes(1000));
        let best = texts.best(1, 5);
        let words = texts.words_of(best[0]);
        assert_eq!(words.len(), 1000);
        assert_eq!(words.iter().filter(|(_, corrected)| *corrected).count(), 1);
    }
}

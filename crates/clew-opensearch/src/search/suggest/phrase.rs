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
/// What a word takes in a text.
const WORD_BYTES: usize = 64;

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
            | "token_limit"
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
    let words = term::suggest(pinned, text, &of_words, memory)?;
    let words = words.as_array().map(Vec::as_slice).unwrap_or_default();
    // As many texts as go on, and those that they are made from.
    let _texts = memory.hold(2 * SIZE_MAX * words.len() * WORD_BYTES)?;
    let mut texts = vec![Corrected::default()];
    for word in words {
        let token = CancellationToken::current();
        if token.stopped().is_some() {
            return Err(cancelled_error(token.reason().unwrap_or_default()));
        }
        let own = word["text"].as_str().unwrap_or_default();
        let options = word["options"].as_array().map(Vec::as_slice);
        texts = continued(&texts, own, options.unwrap_or_default());
    }
    let allowed = allowed(errors_max, words.len());
    texts.retain(|text| (1..=allowed).contains(&text.corrections));
    texts.sort_by(|a, b| {
        a.corrections
            .cmp(&b.corrections)
            .reverse()
            .then(b.score.total_cmp(&a.score))
    });
    texts.truncate(size);
    let options = texts.iter().map(|text| text.show(before, after)).collect();
    let length = text.encode_utf16().count();
    Ok(Value::Array(vec![entry(text, 0..length, options)]))
}

/// The best of some texts with one word more, or a proposal in its place. They are judged before they are made: each is
/// as long as the text.
fn continued(texts: &[Corrected], own: &str, options: &[Value]) -> Vec<Corrected> {
    let ways = options.iter().map(|option| (worth(option), Some(option)));
    let mut ways: Vec<(f64, Option<&Value>)> = ways.chain([(0.0, None)]).collect();
    ways.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut next: Vec<(f64, &Corrected, Option<&Value>)> = Vec::new();
    for (before, so_far) in texts.iter().enumerate() {
        // Texts and ways are in order: of the best of each this many come before the next.
        for (worth, option) in ways.iter().take(SIZE_MAX / (before + 1)) {
            next.push((so_far.score + worth, so_far, *option));
        }
    }
    next.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    next.truncate(SIZE_MAX);
    let next = next.into_iter().map(|(_, so_far, option)| match option {
        Some(option) => so_far.with(option),
        None => so_far.kept(own),
    });
    next.collect()
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

/// A text as far as it is put together.
#[derive(Clone, Default)]
struct Corrected {
    words: Vec<(String, bool)>,
    corrections: usize,
    score: f64,
}

impl Corrected {
    fn with(&self, option: &Value) -> Self {
        let mut next = self.clone();
        let word = option["text"].as_str().unwrap_or_default();
        next.words.push((word.to_string(), true));
        next.corrections += 1;
        next.score += worth(option);
        next
    }

    fn kept(&self, word: &str) -> Self {
        let mut next = self.clone();
        next.words.push((word.to_string(), false));
        next
    }

    fn show(&self, before: Option<&str>, after: Option<&str>) -> Value {
        let words = |mark: bool| {
            let shown = self.words.iter().map(|(word, corrected)| {
                if mark && *corrected {
                    format!(
                        "{}{word}{}",
                        before.unwrap_or_default(),
                        after.unwrap_or_default()
                    )
                } else {
                    word.clone()
                }
            });
            shown.collect::<Vec<_>>().join(" ")
        };
        let mut option = json!({"text": words(false), "score": self.score.exp()});
        if before.is_some() || after.is_some() {
            option["highlighted"] = words(true).into();
        }
        option
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_many_texts_go_on() {
        let texts = (0..200_u32).map(|n| Corrected {
            score: -f64::from(n) / 7.0,
            ..Corrected::default()
        });
        let texts: Vec<Corrected> = texts.collect();
        let options = (0..200_u32).map(|n| {
            let score = 1.0 / f64::from(n * 7919 % 200 + 1);
            json!({"text": format!("w{n}"), "score": score, "freq": 1})
        });
        let options: Vec<Value> = options.collect();
        let mut all: Vec<f64> = Vec::new();
        for text in &texts {
            all.extend(options.iter().map(|option| text.score + worth(option)));
            all.push(text.score);
        }
        all.sort_by(|a, b| b.total_cmp(a));
        all.truncate(SIZE_MAX);
        let found = continued(&texts, "own", &options);
        let found: Vec<f64> = found.iter().map(|text| text.score).collect();
        assert_eq!(found, all);
    }
}

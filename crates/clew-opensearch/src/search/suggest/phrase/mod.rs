//! The `phrase` suggester: the whole text, with words put in the place of some of it, as likely as they follow each other
//! in the index. Each shard judges by what it has itself, as OpenSearch's do: a word may be meant or misspelled, and stands
//! behind others as often as shingles of the field say (its noisy channel).

mod candidates;
mod model;
mod texts;

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use candidates::{Candidate, Generator, candidates};
use clew_analysis::Token;
use clew_engine::{Pinned, PinnedShard};
use clew_platform::CancellationToken;
use model::{Model, Smoothing};
use serde_json::{Map, Value, json};
use texts::{Maker, TEXTS_MAX, Texts};

use super::{OPTION_BYTES, entry, term};
use crate::http::error::ApiError;
use crate::http::request_memory::RequestMemory;
use crate::state::tasks::cancelled_error;

const SIZE_DEFAULT: usize = 5;
const SIZE_MAX: usize = TEXTS_MAX;
/// Texts of as many words are given back as they are, unless `token_limit` says otherwise.
const WORDS_MAX_DEFAULT: usize = 10;
/// What a word that may stand in the place of another takes.
const CANDIDATE_BYTES: usize = 128;
/// What shingles are called among tokens.
const SHINGLE: &str = "shingle";

/// What is asked for.
struct Asked<'a> {
    /// The field and the analyzer, as a `term` suggester has them.
    of_words: Map<String, Value>,
    size: usize,
    errors_max: f64,
    words_max: usize,
    confidence: f64,
    real_word: f64,
    gram_size: Option<usize>,
    separator: &'a str,
    /// Shingles are no words of the text.
    only_words: bool,
    smoothing: Smoothing,
    generators: Vec<Generator>,
    tags: (Option<&'a str>, Option<&'a str>),
}

/// A text that is proposed.
struct Proposed {
    score: f64,
    highlighted: Option<String>,
}

/// Proposes texts in the place of one.
pub(super) fn suggest(
    pinned: &Pinned,
    text: &str,
    body: &Map<String, Value>,
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let asked = read(body)?;
    let wish = term::read(&asked.of_words)?;
    let tokens = term::words(pinned, &wish, text)?;
    let is_word = |token: &&Token| !asked.only_words || token.kind != SHINGLE;
    let words: Vec<&str> = tokens
        .iter()
        .filter(is_word)
        .map(|t| t.text.as_str())
        .collect();
    if words.is_empty() && !tokens.is_empty() {
        return Err(without_words(wish.field, &asked.generators));
    }
    let shingles = tokens.iter().filter(|token| token.kind == SHINGLE);
    let longest = shingles.map(|token| token.length).max();
    let length = text.encode_utf16().count();
    let mut found: HashMap<String, Proposed> = HashMap::new();
    // As many words are too many already.
    if !words.is_empty() && words.len() < asked.words_max {
        let gram_size = asked.gram_size.or(longest).unwrap_or(1);
        let _texts = memory.hold(Texts::bytes(words.len()))?;
        for shard in pinned.shards() {
            of_shard(
                shard,
                (&asked, wish.field),
                (words.as_slice(), gram_size),
                (&mut found, memory),
            )?;
        }
    }
    let mut found: Vec<(String, Proposed)> = found.into_iter().collect();
    found.sort_by(|(a, one), (b, other)| other.score.total_cmp(&one.score).then_with(|| a.cmp(b)));
    found.truncate(asked.size);
    memory.take((found.len() + 1) * (OPTION_BYTES + 2 * length))?;
    let options = found.into_iter().map(shown).collect();
    Ok(Value::Array(vec![entry(text, 0..length, options)]))
}

/// Why a text of which the analyzer makes shingles alone is refused.
fn without_words(field: &str, generators: &[Generator]) -> ApiError {
    if generators.is_empty() {
        return ApiError::illegal_argument(format!(
            "The default candidate generator for phrase suggest can't operate on field: [{field}] since it doesn't emit \
             unigrams. If this is intentional try to set the candidate generator field explicitly"
        ));
    }
    ApiError::illegal_argument("At least one unigram is required but all tokens were ngrams")
}

/// What one shard proposes.
fn of_shard(
    shard: &PinnedShard,
    (asked, field): (&Asked<'_>, &str),
    (words, gram_size): (&[&str], usize),
    (found, memory): (&mut HashMap<String, Proposed>, &RequestMemory),
) -> Result<(), ApiError> {
    let vocabulary = shard.vocabulary(field)?;
    if vocabulary.tokens == 0 {
        return Ok(());
    }
    let own = [Generator::of_field(field)];
    let generators = match asked.generators.as_slice() {
        [] => own.as_slice(),
        generators => generators,
    };
    let mut known: HashMap<&str, Vec<Candidate>> = HashMap::new();
    for &word in words {
        unless_cancelled()?;
        if let Entry::Vacant(entry) = known.entry(word) {
            let found = candidates(shard, generators, word, asked.size.max(SIZE_DEFAULT))?;
            memory.take((found.len() + 1) * CANDIDATE_BYTES)?;
            entry.insert(found);
        }
    }
    let frequency =
        |term: &str| -> Result<u64, ApiError> { Ok(shard.term_figures(field, term)?.total) };
    let model = Model {
        smoothing: asked.smoothing,
        gram_size,
        separator: asked.separator,
        vocabulary: [number(vocabulary.tokens), number(vocabulary.terms)],
        frequency: &frequency,
        known: RefCell::default(),
    };
    let maker = Maker {
        model: &model,
        real_word: asked.real_word,
        errors_max: allowed(asked.errors_max, words.len()),
    };
    let mut texts = Texts::new();
    for &word in words {
        unless_cancelled()?;
        let candidates = known.get(word).map(Vec::as_slice);
        texts.go_on(word, candidates.unwrap_or_default(), &maker)?;
    }
    for text in texts.better(asked.confidence) {
        let words = texts.words_of(text);
        let plain: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let proposed = Proposed {
            score: text.score(),
            highlighted: highlighted(&words, asked.tags),
        };
        let known = found.entry(plain.join(" ")).or_insert(Proposed {
            score: 0.0,
            highlighted: None,
        });
        if proposed.score > known.score {
            *known = proposed;
        }
    }
    Ok(())
}

fn unless_cancelled() -> Result<(), ApiError> {
    let token = CancellationToken::current();
    match token.stopped() {
        Some(_) => Err(cancelled_error(token.reason().unwrap_or_default())),
        None => Ok(()),
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "a likelihood has no more precision"
)]
fn number(count: u64) -> f64 {
    count as f64
}

/// A text whose corrected words stand between tags, where there are any.
fn highlighted(
    words: &[(&str, bool)],
    (before, after): (Option<&str>, Option<&str>),
) -> Option<String> {
    if before.is_none() && after.is_none() {
        return None;
    }
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let marked = words.iter().map(|(word, is_corrected)| match is_corrected {
        true => format!("{before}{word}{after}"),
        false => (*word).to_string(),
    });
    Some(marked.collect::<Vec<_>>().join(" "))
}

fn shown((text, proposed): (String, Proposed)) -> Value {
    let mut option = json!({"text": text, "score": in_short(proposed.score)});
    if let Some(highlighted) = proposed.highlighted {
        option["highlighted"] = highlighted.into();
    }
    option
}

/// A score with the digits that a number of 32 bits has.
#[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
fn in_short(score: f64) -> f64 {
    let short = (score as f32).to_string();
    short.parse().unwrap_or(score)
}

fn read(body: &Map<String, Value>) -> Result<Asked<'_>, ApiError> {
    let mut asked = Asked {
        of_words: Map::new(),
        size: SIZE_DEFAULT,
        errors_max: 1.0,
        words_max: WORDS_MAX_DEFAULT,
        confidence: 1.0,
        real_word: 0.95,
        gram_size: None,
        separator: " ",
        only_words: true,
        smoothing: Smoothing::default(),
        generators: Vec::new(),
        tags: (None, None),
    };
    for (key, value) in body {
        match key.as_str() {
            "field" | "analyzer" => {
                asked.of_words.insert(key.clone(), value.clone());
            }
            "size" => {
                let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
                asked.size = size.unwrap_or(SIZE_DEFAULT).clamp(1, SIZE_MAX);
            }
            "max_errors" => asked.errors_max = above_zero(key, value)?,
            "confidence" => asked.confidence = value.as_f64().unwrap_or(1.0).max(0.0),
            "real_word_error_likelihood" => asked.real_word = above_zero(key, value)?,
            "token_limit" => asked.words_max = at_least_one(key, value)?,
            "gram_size" => asked.gram_size = Some(at_least_one(key, value)?),
            "separator" => asked.separator = value.as_str().unwrap_or(" "),
            "force_unigrams" => asked.only_words = value.as_bool().unwrap_or(true),
            "smoothing" => asked.smoothing = Smoothing::read(value)?,
            "direct_generator" => asked.generators = Generator::read(value)?,
            "highlight" => {
                let tag = |key: &str| value.get(key).and_then(Value::as_str);
                asked.tags = (tag("pre_tag"), tag("post_tag"));
            }
            // All that a shard finds is looked at.
            "shard_size" => {}
            other => {
                return Err(ApiError::bad_request(
                    "parsing_exception",
                    format!("suggester[phrase] doesn't support field [{other}]"),
                ));
            }
        }
    }
    Ok(asked)
}

fn at_least_one(key: &str, value: &Value) -> Result<usize, ApiError> {
    let number = value.as_i64().filter(|number| *number >= 1);
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| ApiError::illegal_argument(format!("{key} must be >= 1")))
}

fn above_zero(key: &str, value: &Value) -> Result<f64, ApiError> {
    let number = value.as_f64().filter(|number| *number > 0.0);
    number.ok_or_else(|| ApiError::illegal_argument(format!("{key} must be > 0.0")))
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
        (errors_max * words as f64).round()
    } else {
        errors_max
    };
    (number as usize).max(1)
}

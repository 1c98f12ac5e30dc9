//! The `phrase` suggester: the whole text, with words put in the place of some of it, as likely as they follow each other
//! in the index. Each shard judges by what it has itself, as OpenSearch's do: a word may be meant or misspelled, and stands
//! behind others as often as shingles of the field say (its noisy channel).

mod candidates;
mod collate;
mod model;
mod texts;

use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use candidates::{Candidate, Generator, candidates};
use clew_analysis::Token;
use clew_engine::{Pinned, PinnedShard};
use clew_platform::CancellationToken;
use clew_schema::{short_double, text_of};
use collate::Collate;
use model::{Model, Smoothing};
use serde_json::{Map, Value, json};
use texts::{Maker, TEXTS_MAX, Texts};

use super::{OPTION_BYTES, entry, field_of, term};
use crate::dsl::{DslError, number_in};
use crate::http::error::ApiError;
use crate::http::place::Spot;
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
    collate: Option<Collate>,
}

/// A text that is proposed.
struct Proposed {
    score: f64,
    highlighted: Option<String>,
    /// Whether a query found it, where that is told.
    collated: Option<bool>,
}

/// Proposes texts in the place of one.
pub(super) fn suggest(
    pinned: &Pinned,
    text: &str,
    body: &Map<String, Value>,
    (memory, now_ms): (&RequestMemory, i64),
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
                (&mut found, memory, now_ms),
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
    (found, memory, now_ms): (&mut HashMap<String, Proposed>, &RequestMemory, i64),
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
    collect(shard, (asked, now_ms), &texts, found)
}

/// Takes the texts of a shard that are likelier than what was written; where they are held against the index, the likeliest
/// of them, as many as are shown.
fn collect(
    shard: &PinnedShard,
    (asked, now_ms): (&Asked<'_>, i64),
    texts: &Texts<'_>,
    found: &mut HashMap<String, Proposed>,
) -> Result<(), ApiError> {
    let better = texts.better(asked.confidence);
    let most = match asked.collate {
        Some(_) => asked.size.max(SIZE_DEFAULT),
        None => better.len(),
    };
    for text in better.into_iter().take(most) {
        let words = texts.words_of(text);
        let plain: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let plain = plain.join(" ");
        let mut collated = None;
        if let Some(collate) = &asked.collate {
            unless_cancelled()?;
            let is_found = collate.finds(shard, &plain, now_ms)?;
            if !is_found && !collate.tells {
                continue;
            }
            collated = collate.tells.then_some(is_found);
        }
        let known = found.entry(plain).or_insert(Proposed {
            score: 0.0,
            highlighted: None,
            collated: None,
        });
        // It is enough that one shard has it.
        known.collated = known.collated.max(collated);
        if text.score() > known.score {
            known.score = text.score();
            known.highlighted = highlighted(&words, asked.tags);
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
    let (mut text, mut is_open) = (String::new(), false);
    for (place, (word, is_corrected)) in words.iter().enumerate() {
        // Words in a row stand between one pair of tags.
        if is_open && !is_corrected {
            text.push_str(after);
        }
        if place > 0 {
            text.push(' ');
        }
        if *is_corrected && !is_open {
            text.push_str(before);
        }
        text.push_str(word);
        is_open = *is_corrected;
    }
    if is_open {
        text.push_str(after);
    }
    Some(text)
}

fn shown((text, proposed): (String, Proposed)) -> Value {
    let mut option = json!({"text": text, "score": in_short(proposed.score)});
    if let Some(highlighted) = proposed.highlighted {
        option["highlighted"] = highlighted.into();
    }
    if let Some(is_found) = proposed.collated {
        option["collate_match"] = is_found.into();
    }
    option
}

/// A score with the digits that a number of 32 bits has.
#[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
fn in_short(score: f64) -> f64 {
    short_double(score as f32)
}

/// Refuses what is wrong with the settings.
pub(super) fn check(body: &Map<String, Value>) -> Result<(), DslError> {
    read(body).map(|_| ())
}

fn read(body: &Map<String, Value>) -> Result<Asked<'_>, DslError> {
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
        collate: None,
    };
    for (key, value) in body {
        let unknown = |what: &str| {
            let reason = format!("suggester[phrase] {what} [{key}]");
            DslError::parsing(reason).at(Spot::start_of(value))
        };
        match (key.as_str(), value) {
            ("smoothing", Value::Object(members)) => asked.smoothing = Smoothing::read(members)?,
            ("highlight", Value::Object(members)) => asked.tags = tags(members)?,
            ("collate", Value::Object(members)) => asked.collate = Some(Collate::read(members)?),
            ("direct_generator", Value::Array(bodies)) => {
                asked.generators = Generator::read(bodies)?;
            }
            // Two blanks, as OpenSearch has them.
            (_, Value::Object(_) | Value::Array(_)) => {
                return Err(unknown(" doesn't support array field"));
            }
            (_, Value::Null) => return Err(unknown("doesn't support field")),
            _ if asked.set(key, value)? => {}
            _ => return Err(unknown("doesn't support field")),
        }
    }
    field_of(body)?;
    Ok(asked)
}

impl<'a> Asked<'a> {
    /// Takes a plain setting; false if there is none of the name.
    fn set(&mut self, key: &str, value: &'a Value) -> Result<bool, DslError> {
        match key {
            "field" | "analyzer" => {
                self.of_words.insert(key.to_string(), value.clone());
            }
            "size" => {
                self.size = term::whole(value, 1, "size must be positive")?.min(SIZE_MAX);
            }
            "max_errors" => self.errors_max = above_zero("max_error", value)?,
            "confidence" => {
                let confidence = number_in(value)?.filter(|least| *least >= 0.0);
                let reason = "confidence must be >= 0.0";
                self.confidence = confidence.ok_or_else(|| DslError::illegal(reason))?;
            }
            "real_word_error_likelihood" => self.real_word = above_zero(key, value)?,
            "token_limit" => self.words_max = term::whole(value, 1, "token_limit must be >= 1")?,
            "gram_size" => {
                self.gram_size = Some(term::whole(value, 1, "gramSize must be >= 1")?);
            }
            "separator" => self.separator = value.as_str().unwrap_or(" "),
            "force_unigrams" => {
                self.only_words = match value {
                    Value::Bool(flag) => *flag,
                    other => text_of(other)
                        .parse::<bool>()
                        .map_err(|_| DslError::no_flag(&text_of(other)))?,
                };
            }
            // All that a shard finds is looked at.
            "shard_size" => {
                term::whole(value, 1, "ShardSize must be positive")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What corrected words stand between.
fn tags(members: &Map<String, Value>) -> Result<(Option<&str>, Option<&str>), DslError> {
    let (mut before, mut after) = (None, None);
    for (key, value) in members {
        match key.as_str() {
            "pre_tag" => before = value.as_str(),
            "post_tag" => after = value.as_str(),
            other => {
                let reason =
                    format!("suggester[phrase][highlight] doesn't support field [{other}]");
                return Err(DslError::parsing(reason).at(Spot::start_of(value)));
            }
        }
    }
    if before.is_some() != after.is_some() {
        return Err(DslError::illegal(
            "Pre and post tag must both be null or both not be null.",
        ));
    }
    Ok((before, after))
}

fn above_zero(told: &str, value: &Value) -> Result<f64, DslError> {
    let number = number_in(value)?.filter(|number| *number > 0.0);
    number.ok_or_else(|| DslError::illegal(format!("{told} must be > 0.0")))
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

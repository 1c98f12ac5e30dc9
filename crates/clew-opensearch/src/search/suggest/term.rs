//! The `term` suggester: each word of the text that is rare or not there at all, and words of the
//! index that are spelled like it.

use std::cmp::Ordering;

use clew_analysis::{Token, tokens};
use clew_engine::Pinned;
use clew_schema::FieldKind;
use clew_search::{SimilarTerm, Spelling};
use serde_json::{Map, Value, json};

use super::{OPTION_BYTES, entry};
use crate::http::error::ApiError;
use crate::http::request_memory::RequestMemory;

const SIZE_DEFAULT: usize = 5;
const SIZE_MAX: usize = 10_000;
const EDITS_MAX: usize = 2;

/// For which words something is proposed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Those that are not there.
    Missing,
    /// All, but only words that are more frequent.
    Popular,
    /// All.
    Always,
}

struct Wish<'a> {
    field: &'a str,
    analyzer: Option<&'a str>,
    size: usize,
    mode: Mode,
    by_frequency: bool,
    spelling: Spelling,
    docs_min: f64,
}

/// Proposes words for those of a text.
pub(super) fn suggest(
    pinned: &Pinned,
    text: &str,
    body: &Map<String, Value>,
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let wish = read(body)?;
    let mut entries = Vec::new();
    for word in words(pinned, &wish, text)? {
        let options = options(pinned, &wish, &word.text)?;
        memory.take((options.len() + 1) * OPTION_BYTES)?;
        // Places are counted in UTF-16 units, as clients count them.
        let units = |end: usize| text[..end].encode_utf16().count();
        entries.push(entry(
            &word.text,
            units(word.start)..units(word.end),
            options,
        ));
    }
    Ok(Value::Array(entries))
}

fn read(body: &Map<String, Value>) -> Result<Wish<'_>, ApiError> {
    let field = body
        .get("field")
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::illegal_argument("the required field option is missing"))?;
    let mut wish = Wish {
        field,
        analyzer: None,
        size: SIZE_DEFAULT,
        mode: Mode::Missing,
        by_frequency: false,
        spelling: Spelling::default(),
        docs_min: 0.0,
    };
    for (key, value) in body {
        match key.as_str() {
            "field" => {}
            "analyzer" => wish.analyzer = value.as_str(),
            "size" => wish.size = number(key, value)?.clamp(1, SIZE_MAX),
            "suggest_mode" => {
                wish.mode = match value.as_str() {
                    Some("missing") => Mode::Missing,
                    Some("popular") => Mode::Popular,
                    Some("always") => Mode::Always,
                    other => return Err(illegal(key, other)),
                }
            }
            "sort" => {
                wish.by_frequency = match value.as_str() {
                    Some("score") => false,
                    Some("frequency") => true,
                    other => return Err(illegal(key, other)),
                }
            }
            "max_edits" => {
                let edits = number(key, value)?;
                if !(1..=EDITS_MAX).contains(&edits) {
                    return Err(ApiError::illegal_argument(
                        "maxEdits must be between 1 and 2",
                    ));
                }
                wish.spelling.edits_max = edits;
            }
            "prefix_length" | "prefix_len" => wish.spelling.prefix = number(key, value)?,
            "min_word_length" | "min_word_len" => wish.spelling.length_min = number(key, value)?,
            #[allow(clippy::cast_possible_truncation, reason = "a share of 1")]
            "accuracy" => wish.spelling.accuracy = value.as_f64().unwrap_or(0.5) as f32,
            "min_doc_freq" => wish.docs_min = value.as_f64().unwrap_or(0.0),
            // How many candidates each shard looks at: here all are.
            "shard_size" | "max_inspections" | "max_term_freq" | "string_distance"
            | "lowercase_terms" => {}
            other => {
                return Err(ApiError::bad_request(
                    "parsing_exception",
                    format!("suggester[term] doesn't support field [{other}]"),
                ));
            }
        }
    }
    Ok(wish)
}

fn illegal(key: &str, value: Option<&str>) -> ApiError {
    ApiError::illegal_argument(format!("Illegal {key} {}", value.unwrap_or_default()))
}

fn number(key: &str, value: &Value) -> Result<usize, ApiError> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| ApiError::illegal_argument(format!("[{key}] must be a positive number")))
}

/// The words of the text, as the field's analyzer sees them.
fn words(pinned: &Pinned, wish: &Wish<'_>, text: &str) -> Result<Vec<Token>, ApiError> {
    let mapped = pinned.shards().iter().find_map(|shard| {
        let mapped = shard.mapping().field(wish.field)?;
        Some(match &mapped.kind {
            FieldKind::Text { analyzer, .. } => {
                let search = mapped.settings.search_analyzer.clone();
                search.unwrap_or_else(|| analyzer.clone())
            }
            _ => "keyword".to_string(),
        })
    });
    match (mapped, pinned.shards().is_empty()) {
        (Some(own), _) => Ok(tokens(wish.analyzer.unwrap_or(&own), text)),
        (None, true) => Ok(Vec::new()),
        (None, false) => Err(ApiError::illegal_argument(format!(
            "no mapping found for field [{}]",
            wish.field
        ))),
    }
}

fn options(pinned: &Pinned, wish: &Wish<'_>, word: &str) -> Result<Vec<Value>, ApiError> {
    let mut found: Vec<SimilarTerm> = Vec::new();
    // Each shard judges by what it has itself, as OpenSearch's do.
    for shard in pinned.shards() {
        let own_docs = shard.term_docs(wish.field, word)?;
        if wish.mode == Mode::Missing && own_docs > 0 {
            continue;
        }
        let similar = shard.similar_terms(wish.field, word, wish.spelling)?;
        let wanted = similar.into_iter().filter(|term| {
            let enough = reaches(term.docs, wish.docs_min, shard.live_docs());
            enough && (wish.mode != Mode::Popular || term.docs > own_docs)
        });
        for term in wanted {
            match found.iter_mut().find(|have| have.text == term.text) {
                Some(have) => have.docs += term.docs,
                None => found.push(term),
            }
        }
    }
    found.sort_by(|a, b| order(wish.by_frequency, a, b));
    found.truncate(wish.size);
    Ok(found
        .into_iter()
        .map(|term| json!({"text": term.text, "score": term.score, "freq": term.docs}))
        .collect())
}

/// Whether a term is in enough documents: a number of them, or below 1 a share.
#[allow(
    clippy::cast_precision_loss,
    reason = "compared with a share, which has no more precision"
)]
fn reaches(docs: u64, min: f64, all: u64) -> bool {
    let min = if min < 1.0 { min * all as f64 } else { min };
    // More than so many, not as many.
    docs as f64 > min.floor()
}

fn order(by_frequency: bool, a: &SimilarTerm, b: &SimilarTerm) -> Ordering {
    let frequency = b.docs.cmp(&a.docs);
    let score = b.score.total_cmp(&a.score);
    let first = if by_frequency {
        frequency.then(score)
    } else {
        score.then(frequency)
    };
    first.then_with(|| a.text.cmp(&b.text))
}

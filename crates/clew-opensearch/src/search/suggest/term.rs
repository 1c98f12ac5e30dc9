//! The `term` suggester: each word of the text that is rare or not there at all, and words of the
//! index that are spelled like it.

use std::cmp::Ordering;
use std::collections::HashMap;

use clew_analysis::{Token, Utf16Places, tokens};
use clew_engine::{Pinned, PinnedShard};
use clew_query::unless_stopped;
use clew_schema::{FieldKind, text_of};
use clew_search::{Likeness, SimilarTerm, Spelling};
use serde_json::{Map, Value, json};

use super::{OPTION_BYTES, entry, field_of};
use crate::dsl::{DslError, integer_in, number_in};
use crate::http::error::ApiError;
use crate::http::place::Spot;
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

pub(super) struct Wish<'a> {
    pub(super) field: &'a str,
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
    let found = words(pinned, &wish, text)?;
    entries(found, text, memory, |word| options(pinned, &wish, word)).map(Value::Array)
}

/// An entry for each word. What is proposed for a word is looked for once, however often the word comes.
fn entries(
    words: Vec<Token>,
    text: &str,
    memory: &RequestMemory,
    look: impl Fn(&str) -> Result<Vec<Value>, ApiError>,
) -> Result<Vec<Value>, ApiError> {
    let mut entries: Vec<Value> = Vec::new();
    let mut known: HashMap<String, Vec<Value>> = HashMap::new();
    // Places are counted in UTF-16 units, as clients count them.
    let mut places = Utf16Places::new(text);
    for word in words {
        unless_stopped()?;
        let options = match known.get(&word.text) {
            Some(options) => options.clone(),
            None => {
                let options = look(&word.text)?;
                memory.take((options.len() + 1) * OPTION_BYTES)?;
                known.insert(word.text.clone(), options.clone());
                options
            }
        };
        memory.take((options.len() + 1) * OPTION_BYTES)?;
        let place = places.of(word.start, word.end);
        entries.push(entry(&word.text, place, options));
    }
    Ok(entries)
}

/// Reads what is wanted.
pub(super) fn read(body: &Map<String, Value>) -> Result<Wish<'_>, DslError> {
    let mut wish = Wish::default();
    for (key, value) in body {
        let start = Spot::start_of(value);
        if matches!(value, Value::Object(_) | Value::Array(_) | Value::Null) {
            let reason = format!("suggester[term] parsing failed on [{key}]");
            return Err(DslError::parsing(reason).at(start));
        }
        if !wish.set(key, value)? {
            let reason = format!("suggester[term] doesn't support field [{key}]");
            return Err(DslError::parsing(reason).at(start));
        }
    }
    wish.field = field_of(body)?;
    Ok(wish)
}

impl Default for Wish<'_> {
    /// What is wanted of no field yet.
    fn default() -> Self {
        Wish {
            field: "",
            analyzer: None,
            size: SIZE_DEFAULT,
            mode: Mode::Missing,
            by_frequency: false,
            spelling: Spelling::default(),
            docs_min: 0.0,
        }
    }
}

impl<'a> Wish<'a> {
    /// Takes a setting; false if there is none of the name.
    pub(super) fn set(&mut self, key: &str, value: &'a Value) -> Result<bool, DslError> {
        let spelling = &mut self.spelling;
        match key {
            "field" => {}
            "analyzer" => self.analyzer = value.as_str(),
            "size" => self.size = whole(value, 1, "size must be positive")?.min(SIZE_MAX),
            "suggest_mode" => self.mode = mode(&text_of(value))?,
            "sort" => self.by_frequency = is_by_frequency(&text_of(value))?,
            "max_edits" => {
                let reason = "maxEdits must be between 1 and 2";
                spelling.edits_max = whole(value, 1, reason)?;
                if spelling.edits_max > EDITS_MAX {
                    return Err(DslError::illegal(reason));
                }
            }
            "prefix_length" => {
                spelling.prefix = whole(value, 0, "prefixLength must be positive")?;
            }
            "min_word_length" => {
                let reason = "minWordLength must be greater or equal to 1";
                spelling.length_min = whole(value, 1, reason)?;
            }
            "accuracy" => {
                let accuracy = number_in(value)?.filter(|share| (0.0..=1.0).contains(share));
                let reason = "accuracy must be between 0 and 1";
                let accuracy = accuracy.ok_or_else(|| DslError::illegal(reason))?;
                #[allow(clippy::cast_possible_truncation, reason = "a share of 1")]
                let accuracy = accuracy as f32;
                spelling.accuracy = accuracy;
            }
            "min_doc_freq" => self.docs_min = share_or_count(value, "minDocFreq")?,
            // How many candidates each shard looks at: here all are.
            "max_term_freq" => {
                share_or_count(value, "maxTermFreq")?;
            }
            "shard_size" => {
                whole(value, 1, "ShardSize must be positive")?;
            }
            "max_inspections" => {
                whole(value, 0, "maxInspections must be positive")?;
            }
            "string_distance" => spelling.likeness = likeness(&text_of(value))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn mode(name: &str) -> Result<Mode, DslError> {
    let name = name.to_uppercase();
    match name.as_str() {
        "MISSING" => Ok(Mode::Missing),
        "POPULAR" => Ok(Mode::Popular),
        "ALWAYS" => Ok(Mode::Always),
        _ => Err(DslError::illegal(format!(
            "No enum constant org.opensearch.search.suggest.term.TermSuggestionBuilder.SuggestMode.{name}"
        ))),
    }
}

fn is_by_frequency(name: &str) -> Result<bool, DslError> {
    let name = name.to_uppercase();
    match name.as_str() {
        "SCORE" => Ok(false),
        "FREQUENCY" => Ok(true),
        _ => Err(DslError::illegal(format!(
            "No enum constant org.opensearch.search.suggest.SortBy.{name}"
        ))),
    }
}

fn likeness(name: &str) -> Result<Likeness, DslError> {
    let name = name.to_lowercase();
    match name.as_str() {
        "internal" | "damerau_levenshtein" => Ok(Likeness::Damerau),
        "levenshtein" => Ok(Likeness::Levenshtein),
        "jaro_winkler" => Ok(Likeness::JaroWinkler),
        "ngram" => Ok(Likeness::Pairs),
        _ => Err(DslError::illegal(format!("Illegal distance option {name}"))),
    }
}

/// A number of documents, or below 1 a share of them.
fn share_or_count(value: &Value, told: &str) -> Result<f64, DslError> {
    let number = number_in(value)?.filter(|number| *number >= 0.0);
    let number = number.ok_or_else(|| DslError::illegal(format!("{told} must be positive")))?;
    if number > 1.0 && number.fract() != 0.0 {
        return Err(DslError::illegal(format!(
            "if {told} is greater than 1, it must not be a fraction"
        )));
    }
    Ok(number)
}

/// A whole number, and what is told of one that is less than the least.
pub(super) fn whole(value: &Value, least: i64, reason: &str) -> Result<usize, DslError> {
    let number = integer_in(value)?.filter(|number| *number >= least);
    let number = number.ok_or_else(|| DslError::illegal(reason))?;
    Ok(usize::try_from(number).unwrap_or_default())
}

/// The words of the text, as the field's analyzer sees them, or the one that is named.
pub(super) fn words(pinned: &Pinned, wish: &Wish<'_>, text: &str) -> Result<Vec<Token>, ApiError> {
    let mapped = pinned.shards().iter().find_map(|shard| {
        let mapped = shard.mapping().field(wish.field)?;
        if let Some(named) = wish.analyzer {
            return Some(mapped.analysis.resolved(named).to_string());
        }
        Some(match &mapped.kind {
            FieldKind::Text { analyzer, .. } => {
                mapped.search_analyzer().unwrap_or(analyzer).to_string()
            }
            _ => "keyword".to_string(),
        })
    });
    match (mapped, pinned.shards().is_empty()) {
        (Some(analyzer), _) => Ok(tokens(&analyzer, text)),
        (None, true) => Ok(Vec::new()),
        (None, false) => Err(ApiError::illegal_argument(format!(
            "no mapping found for field [{}]",
            wish.field
        ))),
    }
}

fn options(pinned: &Pinned, wish: &Wish<'_>, word: &str) -> Result<Vec<Value>, ApiError> {
    let mut found: Vec<SimilarTerm> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    // Each shard judges by what it has itself, as OpenSearch's do.
    for shard in pinned.shards() {
        for term in wanted(shard, wish, word)? {
            let have = known.get(&term.text).and_then(|at| found.get_mut(*at));
            if let Some(have) = have {
                have.docs += term.docs;
            } else {
                known.insert(term.text.clone(), found.len());
                found.push(term);
            }
        }
    }
    Ok(best(found, wish)
        .into_iter()
        .map(|term| json!({"text": term.text, "score": term.score, "freq": term.docs}))
        .collect())
}

/// The words of a shard that are wanted in the place of one, in no particular order.
fn wanted(shard: &PinnedShard, wish: &Wish<'_>, word: &str) -> Result<Vec<SimilarTerm>, ApiError> {
    let own_docs = shard.term_docs(wish.field, word)?;
    if wish.mode == Mode::Missing && own_docs > 0 {
        return Ok(Vec::new());
    }
    let mut similar = shard.similar_terms(wish.field, word, wish.spelling)?;
    similar.retain(|term| {
        let enough = reaches(term.docs, wish.docs_min, shard.live_docs());
        enough && (wish.mode != Mode::Popular || term.docs > own_docs)
    });
    Ok(similar)
}

/// As many of these words as are asked for, the best first.
fn best(mut found: Vec<SimilarTerm>, wish: &Wish<'_>) -> Vec<SimilarTerm> {
    found.sort_by(|a, b| order(wish.by_frequency, a, b));
    found.truncate(wish.size);
    found
}

/// What one shard proposes in the place of a word, the best first.
pub(super) fn of_shard(
    shard: &PinnedShard,
    wish: &Wish<'_>,
    word: &str,
) -> Result<Vec<SimilarTerm>, ApiError> {
    Ok(best(wanted(shard, wish, word)?, wish))
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits};

    use super::*;

    fn memory() -> RequestMemory {
        RequestMemory::new(&MemoryAccount::new(MemoryLimits::none()))
    }

    #[test]
    fn a_word_that_comes_often_is_looked_for_once() {
        let text = "quik 日本 quik fox quik";
        let looked = RefCell::new(Vec::new());
        let found = entries(tokens("whitespace", text), text, &memory(), |word| {
            looked.borrow_mut().push(word.to_string());
            Ok(vec![json!({"text": format!("{word}!")})])
        });
        let found = found.unwrap();
        assert_eq!(looked.into_inner(), ["quik", "日本", "fox"]);
        let offsets = found.iter().map(|entry| entry["offset"].as_u64().unwrap());
        assert_eq!(offsets.collect::<Vec<_>>(), [0, 5, 8, 13, 17]);
        assert_eq!(found[4]["options"][0]["text"], "quik!");
    }

    #[test]
    fn no_further_word_is_looked_for_once_nobody_waits() {
        let token = CancellationToken::new();
        let _entered = token.enter();
        let text = "one two three four";
        let looked = RefCell::new(0);
        let found = entries(tokens("whitespace", text), text, &memory(), |_| {
            *looked.borrow_mut() += 1;
            token.cancel("enough");
            Ok(Vec::new())
        });
        assert!(found.is_err());
        assert_eq!(looked.into_inner(), 1);
    }
}

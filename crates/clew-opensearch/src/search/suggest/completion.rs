//! The `completion` suggester: texts that begin with what was typed, the heaviest first.

use std::collections::HashSet;

use clew_engine::{Completion, Completions, EngineError, Pinned};
use clew_platform::stopped;
use clew_query::{Fuzziness, FuzzyDistance, QueryError, RegexpOptions, RegexpSyntax};
use clew_schema::ContextWish;
use clew_search::CompletionWish;
use serde_json::{Map, Value};

use super::{OPTION_BYTES, SuggestInput};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::request_memory::RequestMemory;
use crate::http::source_filter::SourceFilter;

const SIZE_DEFAULT: usize = 5;
const SIZE_MAX: usize = 10_000;

struct Asked {
    wish: CompletionWish,
    size: usize,
    skip_duplicates: bool,
}

/// Proposes texts for what was typed; as JSON.
pub(super) fn suggest(
    pinned: &Pinned,
    (typed, given): (&str, SuggestInput),
    (body, filter): (&Map<String, Value>, &SourceFilter),
    memory: &RequestMemory,
) -> Result<Vec<u8>, ApiError> {
    let asked = read(typed, given, body)?;
    let mut found = Completions::default();
    let mut held = Vec::new();
    for shard in pinned.shards() {
        let failed =
            |error: EngineError| ApiError::from(error).all_shards_failed(shard.index().name(), "");
        let bytes = found.add(shard, &asked.wish).map_err(failed)?;
        held.push(memory.hold(bytes)?);
    }
    let length = u64::try_from(typed.encode_utf16().count()).unwrap_or(u64::MAX);
    let mut json = JsonWriter::with_capacity(256);
    json.begin_array().begin_object();
    json.string_field("text", typed)
        .unsigned_field("offset", 0)
        .unsigned_field("length", length);
    json.key("options").begin_array();
    let mut texts: HashSet<String> = HashSet::new();
    for _ in 0..asked.size {
        let is_new = |one: &Completion<'_>| !asked.skip_duplicates || !texts.contains(one.input());
        let one = found.next_where(is_new);
        // Each option reads a document.
        if stopped() {
            return Err(failed_of_stop());
        }
        let Some(one) = one else {
            break;
        };
        if asked.skip_duplicates {
            texts.insert(one.input().to_string());
        }
        write_option(&mut json, &one, (filter, memory))?;
    }
    json.end_array().end_object().end_array();
    Ok(json.into_bytes())
}

/// What a request is answered that is over; nobody sees it.
fn failed_of_stop() -> ApiError {
    EngineError::from(QueryError::Stopped).into()
}

fn write_option(
    json: &mut JsonWriter,
    one: &Completion<'_>,
    (filter, memory): (&SourceFilter, &RequestMemory),
) -> Result<(), ApiError> {
    memory.take(OPTION_BYTES)?;
    json.begin_object();
    json.string_field("text", one.input())
        .string_field("_index", one.index())
        .string_field("_id", one.id()?);
    json.key("_score").float(one.score());
    if *filter != SourceFilter::None {
        let source = one.source()?;
        // Here, where the buffer may grow by its own length, and once more in the answer.
        memory.take(3 * source.len())?;
        json.key("_source");
        filter.write(&source, json);
    }
    if let Some(Value::Object(contexts)) = one.contexts() {
        let listed = contexts.iter().map(|(name, value)| {
            let values = match value {
                Value::Array(items) => items.clone(),
                one => vec![one.clone()],
            };
            (name.clone(), Value::Array(values))
        });
        json.key("contexts").value(&Value::Object(listed.collect()));
    }
    json.end_object();
    Ok(())
}

fn read(typed: &str, given: SuggestInput, body: &Map<String, Value>) -> Result<Asked, ApiError> {
    let field = body
        .get("field")
        .and_then(Value::as_str)
        .ok_or_else(|| ApiError::illegal_argument("the required field option is missing"))?;
    let mut asked = Asked {
        wish: CompletionWish {
            field: field.to_string(),
            typed: typed.to_string(),
            expression: (given == SuggestInput::Expression).then(RegexpOptions::default),
            fuzziness: None,
            contexts: Vec::new(),
        },
        size: SIZE_DEFAULT,
        skip_duplicates: false,
    };
    for (key, value) in body {
        match (key.as_str(), value) {
            ("field" | "analyzer" | "shard_size", _) | ("fuzzy", Value::Bool(false)) => {}
            ("size", value) => {
                let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
                asked.size = size.unwrap_or(SIZE_DEFAULT).clamp(1, SIZE_MAX);
            }
            ("regex", Value::Object(members)) => {
                if given == SuggestInput::Expression {
                    asked.wish.expression = Some(expression(members)?);
                }
            }
            ("skip_duplicates", Value::Bool(flag)) => asked.skip_duplicates = *flag,
            ("fuzzy", Value::Bool(true)) => {
                asked.wish.fuzziness = Some(fuzziness(typed, &Map::new())?)
            }
            ("fuzzy", Value::Object(members)) => {
                asked.wish.fuzziness = Some(fuzziness(typed, members)?)
            }
            ("contexts", Value::Object(members)) => {
                let wishes = members.iter().map(|(name, value)| ContextWish {
                    name: name.clone(),
                    values: context_values(value),
                });
                asked.wish.contexts = wishes.collect();
            }
            (other, _) => {
                return Err(ApiError::bad_request(
                    "parsing_exception",
                    format!("[completion] unknown field [{other}]"),
                ));
            }
        }
    }
    Ok(asked)
}

/// How a regular expression is to be read.
fn expression(members: &Map<String, Value>) -> Result<RegexpOptions, ApiError> {
    let mut options = RegexpOptions::default();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("flags", Value::String(names)) => {
                options.syntax = RegexpSyntax::parse(names).map_err(ApiError::illegal_argument)?;
            }
            ("max_determinized_states", value) => {
                let most = value.as_u64().and_then(|most| usize::try_from(most).ok());
                options.states_max = most.ok_or_else(|| {
                    ApiError::illegal_argument("maxDeterminizedStates must not be negative")
                })?;
            }
            (other, _) => {
                return Err(ApiError::bad_request(
                    "parsing_exception",
                    format!("[regex] unknown field [{other}]"),
                ));
            }
        }
    }
    Ok(options)
}

fn fuzziness(typed: &str, members: &Map<String, Value>) -> Result<Fuzziness, ApiError> {
    let mut found = match members.get("fuzziness") {
        None => Fuzziness::auto(),
        Some(value) => Fuzziness::parse(&clew_ingest::template::plain(value))
            .map_err(ApiError::illegal_argument)?,
    };
    // Shorter beginnings must be as typed.
    let least = members.get("min_length").and_then(Value::as_u64);
    let least = least.map_or(3, |least| usize::try_from(least).unwrap_or(usize::MAX));
    if typed.chars().count() < least {
        found.distance = FuzzyDistance::Fixed(0);
    }
    found.prefix_length = 1;
    if let Some(length) = members.get("prefix_length").and_then(Value::as_u64) {
        found.prefix_length = usize::try_from(length).unwrap_or(usize::MAX);
    }
    Ok(found)
}

/// Values of a context, plain or as objects with a boost.
fn context_values(value: &Value) -> Vec<(Value, f32)> {
    let items = match value {
        Value::Array(items) if !items.iter().all(Value::is_number) || items.is_empty() => {
            items.as_slice()
        }
        one => std::slice::from_ref(one),
    };
    items
        .iter()
        .map(|item| match item.get("context") {
            None => (item.clone(), 1.0),
            Some(inner) => {
                #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
                let boost = item.get("boost").and_then(Value::as_f64).unwrap_or(1.0) as f32;
                (inner.clone(), boost)
            }
        })
        .collect()
}

//! The `completion` suggester: texts that begin with what was typed, the heaviest first.

use std::collections::HashSet;

use clew_engine::{Completion, Completions, EngineError, Pinned};
use clew_opensearch_mapping::context_level;
use clew_platform::stopped;
use clew_query::{Fuzziness, FuzzyDistance, QueryError, RegexpOptions, RegexpSyntax};
use clew_schema::{ContextWish, WantedContext, text_of};
use clew_search::CompletionWish;
use serde_json::{Map, Value};

use super::{OPTION_BYTES, SuggestInput, field_of};
use crate::dsl::{DslError, Field};
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
        let is_new =
            |one: &Completion<'_>| !asked.skip_duplicates || texts.insert(one.input().to_string());
        let one = found.next_where(asked.size, is_new);
        // Each option reads a document.
        if stopped() {
            return Err(QueryError::Stopped.into());
        }
        let Some(one) = one else {
            break;
        };
        write_option(&mut json, &one, (filter, memory))?;
    }
    json.end_array().end_object().end_array();
    Ok(json.into_bytes())
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
    if let Some(contexts) = one.contexts() {
        json.key("contexts").value(contexts);
    }
    json.end_object();
    Ok(())
}

/// Refuses what is wrong with the settings.
pub(super) fn check(body: &Map<String, Value>) -> Result<(), DslError> {
    read("", SuggestInput::Text, body).map(|_| ())
}

/// What the settings of the suggester are called.
const SETTINGS: &[&str] = &[
    "field",
    "analyzer",
    "size",
    "shard_size",
    "skip_duplicates",
    "fuzzy",
    "regex",
    "contexts",
];

fn read(typed: &str, given: SuggestInput, body: &Map<String, Value>) -> Result<Asked, DslError> {
    let mut asked = Asked {
        wish: CompletionWish {
            field: String::new(),
            typed: typed.to_string(),
            expression: (given == SuggestInput::Expression).then(RegexpOptions::default),
            fuzziness: None,
            contexts: Vec::new(),
        },
        size: SIZE_DEFAULT,
        skip_duplicates: false,
    };
    for field in Field::members("completion", body) {
        match (field.name, field.value) {
            ("field" | "analyzer", _) => {
                field.text()?;
            }
            ("size", _) => {
                let size = field.at_least(1, "size must be positive")?;
                asked.size = usize::try_from(size).unwrap_or(SIZE_MAX).min(SIZE_MAX);
            }
            ("shard_size", _) => {
                field.integer()?;
            }
            ("regex", _) => {
                let options = expression(field.object()?);
                let options = options.map_err(|error| field.wrong(error))?;
                if given == SuggestInput::Expression {
                    asked.wish.expression = Some(options);
                }
            }
            ("skip_duplicates", _) => asked.skip_duplicates = field.flag()?,
            ("fuzzy", Value::Bool(false)) => {}
            ("fuzzy", Value::Bool(true)) => {
                asked.wish.fuzziness = Some(fuzziness(typed, &Value::Object(Map::new()))?);
            }
            ("fuzzy", _) => {
                let found = fuzziness(typed, field.object()?);
                asked.wish.fuzziness = Some(found.map_err(|error| field.wrong(error))?);
            }
            ("contexts", Value::Object(members)) => {
                for (name, value) in members {
                    asked.wish.contexts.push(ContextWish {
                        name: name.clone(),
                        values: context_values(value).map_err(|error| field.wrong(error))?,
                    });
                }
            }
            ("contexts", _) => return Err(field.other_sort()),
            _ => return Err(field.unknown(SETTINGS)),
        }
    }
    asked.wish.field = field_of(body)?.to_string();
    Ok(asked)
}

/// How a regular expression is to be read.
fn expression(value: &Value) -> Result<RegexpOptions, DslError> {
    let mut options = RegexpOptions::default();
    for field in Field::all("regex", value)? {
        match field.name {
            "flags" => {
                let syntax = RegexpSyntax::parse(field.text()?);
                options.syntax = syntax.map_err(|error| field.wrong(DslError::illegal(error)))?;
            }
            "max_determinized_states" => {
                let most = field.at_least(0, "maxDeterminizedStates must not be negative")?;
                options.states_max = usize::try_from(most).unwrap_or(usize::MAX);
            }
            _ => return Err(field.unknown(&["flags", "max_determinized_states"])),
        }
    }
    Ok(options)
}

/// What the settings of being near enough are called.
const FUZZY_SETTINGS: &[&str] = &[
    "fuzziness",
    "transpositions",
    "min_length",
    "prefix_length",
    "unicode_aware",
    "max_determinized_states",
];
/// Most edits.
const EDITS_MAX: f64 = 2.0;

fn fuzziness(typed: &str, value: &Value) -> Result<Fuzziness, DslError> {
    let mut found = Fuzziness::auto();
    // Shorter beginnings must be as typed.
    let mut length_min = 3;
    let mut prefix_length = 1;
    let mut transpositions = found.transpositions;
    for field in Field::all("fuzzy", value)? {
        match field.name {
            "fuzziness" => {
                let given = match field.value.as_f64() {
                    Some(edits) if edits > EDITS_MAX => EDITS_MAX.to_string(),
                    _ => text_of(field.value),
                };
                let given = Fuzziness::parse(&given);
                found = given.map_err(|error| field.wrong(DslError::illegal(error)))?;
            }
            "min_length" => {
                length_min = field.at_least(0, "fuzzyMinLength must not be negative")?;
            }
            "prefix_length" => {
                prefix_length = field.at_least(0, "fuzzyPrefixLength must not be negative")?;
            }
            "transpositions" => transpositions = field.flag()?,
            "unicode_aware" => {
                field.flag()?;
            }
            "max_determinized_states" => {
                field.at_least(0, "maxDeterminizedStates must not be negative")?;
            }
            _ => return Err(field.unknown(FUZZY_SETTINGS)),
        }
    }
    if typed.chars().count() < usize::try_from(length_min).unwrap_or(usize::MAX) {
        found.distance = FuzzyDistance::Fixed(0);
    }
    found.transpositions = transpositions;
    found.prefix_length = usize::try_from(prefix_length).unwrap_or(usize::MAX);
    Ok(found)
}

/// Values of a context, plain or as objects that say more.
fn context_values(value: &Value) -> Result<Vec<WantedContext>, DslError> {
    items(value).iter().map(context_value).collect()
}

/// The items of a list that is no point, or the one thing that there is.
fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) if !items.iter().all(Value::is_number) || items.is_empty() => {
            items.as_slice()
        }
        one => std::slice::from_ref(one),
    }
}

fn context_value(item: &Value) -> Result<WantedContext, DslError> {
    let Some(inner) = item.get("context") else {
        return Ok(WantedContext::new(item.clone()));
    };
    let level = |precision: &Value| context_level(precision).map_err(DslError::illegal);
    let around = match item.get("neighbours") {
        Some(Value::Array(levels)) => levels.iter().map(level).collect::<Result<_, _>>()?,
        Some(one) => vec![level(one)?],
        None => Vec::new(),
    };
    #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    let boost = item.get("boost").and_then(Value::as_f64).unwrap_or(1.0) as f32;
    Ok(WantedContext {
        value: inner.clone(),
        boost,
        is_beginning: item
            .get("prefix")
            .is_some_and(|said| text_of(said) == "true"),
        level: item.get("precision").map(level).transpose()?,
        around,
    })
}

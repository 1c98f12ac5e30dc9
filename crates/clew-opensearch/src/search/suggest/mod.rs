//! `suggest`: what somebody may have meant.

mod completion;
mod phrase;
mod term;

use clew_engine::Pinned;
use clew_schema::text_of;
use serde_json::{Map, Value, json};

use super::output::Output;
use super::response::time_is_up;
use crate::dsl::{DslError, DslErrorKind};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::place::{Spot, token};
use crate::http::request_memory::RequestMemory;
use crate::http::source_filter::SourceFilter;
use crate::state::call::Call;

/// Suggestions that one request may ask for.
const SUGGESTIONS_MAX: usize = 100;

/// What a proposal takes until the answer is written, and there, beside a document that it shows.
const OPTION_BYTES: usize = 768;

/// What suggesters found, by name: JSON that is written already, as a tree of thousands of documents takes many times their
/// length, and as long to be given back.
pub(super) type Suggestions = Vec<(String, Vec<u8>)>;

/// What a text is that suggestions are wanted for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SuggestInput {
    Text,
    Expression,
}

/// What proposes something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Suggester {
    Term,
    Phrase,
    Completion,
}

impl Suggester {
    fn of_name(name: &str) -> Option<Self> {
        let all = [Suggester::Term, Suggester::Phrase, Suggester::Completion];
        all.into_iter().find(|known| known.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Suggester::Term => "term",
            Suggester::Phrase => "phrase",
            Suggester::Completion => "completion",
        }
    }

    /// Looks whether the suggester can make something of its settings.
    fn check(self, body: &Map<String, Value>) -> Result<(), DslError> {
        match self {
            Suggester::Term => term::read(body).map(|_| ()),
            Suggester::Phrase => phrase::check(body),
            Suggester::Completion => completion::check(body),
        }
    }
}

/// One suggestion that a request asks for.
struct Asked<'a> {
    name: &'a str,
    text: Option<String>,
    given: SuggestInput,
    kind: Suggester,
    body: &'a Map<String, Value>,
}

/// Refuses what is wrong with `suggest` before anything is looked for.
pub(super) fn check(suggest: &Value) -> Result<(), DslError> {
    asked(suggest).map(|_| ())
}

/// Runs the suggesters of a request over what its search sees. Those that are not done when the time is up propose
/// nothing.
pub(super) async fn run(
    call: &Call,
    pinned: &Pinned,
    suggest: &Value,
    output: &Output,
) -> Result<Suggestions, ApiError> {
    let (suggest, pinned, memory) = (suggest.clone(), pinned.clone(), call.memory.clone());
    let (typed_keys, source) = (output.typed_keys, output.source.clone());
    let (node, now_ms) = (call.api.node_id.clone(), call.api.engine.now_ms());
    call.off_thread(move || {
        let mut answer = Suggestions::new();
        for asked in asked(&suggest)? {
            let found = match proposed(&asked, &pinned, (&source, &memory), now_ms) {
                Err(_) if time_is_up() => b"[]".to_vec(),
                found => found.map_err(|error| told_by_shards(error, &pinned, &node))?,
            };
            let name = if typed_keys {
                format!("{}#{}", asked.kind.name(), asked.name)
            } else {
                asked.name.to_string()
            };
            answer.push((name, found));
        }
        Ok(answer)
    })
    .await?
}

/// What a suggester proposes, as JSON.
fn proposed(
    asked: &Asked<'_>,
    pinned: &Pinned,
    (source, memory): (&SourceFilter, &RequestMemory),
    now_ms: i64,
) -> Result<Vec<u8>, ApiError> {
    let Some(text) = &asked.text else {
        return Err(ApiError::illegal_argument(
            "The required text option is missing",
        ));
    };
    match asked.kind {
        Suggester::Term => term::suggest(pinned, text, asked.body, memory).map(written),
        Suggester::Phrase => {
            phrase::suggest(pinned, text, asked.body, (memory, now_ms)).map(written)
        }
        Suggester::Completion => {
            let typed = (text.as_str(), asked.given);
            completion::suggest(pinned, typed, (asked.body, source), memory)
        }
    }
}

/// What does not fit the indexes is found by their shards.
fn told_by_shards(error: ApiError, pinned: &Pinned, node: &str) -> ApiError {
    match pinned.shards().first() {
        Some(shard) if error.is_kind("illegal_argument_exception") => {
            error.all_shards_failed(shard.index().name(), node)
        }
        _ => error,
    }
}

/// The suggestions that a request asks for.
fn asked(suggest: &Value) -> Result<Vec<Asked<'_>>, DslError> {
    let members = suggest.as_object().into_iter().flatten();
    let (mut shared, mut all) = (None, Vec::new());
    for (name, value) in members {
        match value {
            Value::Object(members) => all.push(one(name, value, members)?),
            Value::Null | Value::Array(_) => {
                let reason = format!("unexpected token [{}] after [{name}]", token(value));
                return Err(DslError::parsing(reason).at(Spot::start_of(value)));
            }
            text if name == "text" => shared = Some(text_of(text)),
            _ => {
                let reason = format!("[suggest] does not support [{name}]");
                return Err(DslError::illegal(reason));
            }
        }
    }
    if all.len() > SUGGESTIONS_MAX {
        return Err(DslError::illegal(format!(
            "more than [{SUGGESTIONS_MAX}] suggestions"
        )));
    }
    for asked in &mut all {
        if asked.text.is_none() {
            asked.text.clone_from(&shared);
        }
    }
    Ok(all)
}

fn one<'a>(
    name: &'a str,
    value: &'a Value,
    members: &'a Map<String, Value>,
) -> Result<Asked<'a>, DslError> {
    let (mut text, mut given) = (None, SuggestInput::Text);
    let mut found = None;
    for (key, value) in members {
        let start = Spot::start_of(value);
        match (key.as_str(), value) {
            (kind, Value::Object(body)) => {
                let Some(suggester) = Suggester::of_name(kind) else {
                    let reason = format!("unknown field [{kind}]");
                    return Err(DslError::of(DslErrorKind::NamedObject, reason).at(start));
                };
                suggester.check(body)?;
                found = Some((suggester, body));
            }
            ("text" | "prefix" | "regex", Value::Null) => {}
            ("text" | "prefix", own) => text = Some(plain_text(own)),
            ("regex", own) => {
                text = Some(plain_text(own));
                given = SuggestInput::Expression;
            }
            (other, _) => {
                let reason = format!("suggestion does not support [{other}]");
                return Err(DslError::parsing(reason).at(start));
            }
        }
    }
    let missing = || {
        let reason = "missing suggestion object";
        DslError::of(DslErrorKind::Malformed, reason).at(Spot::end_of(value))
    };
    let (kind, body) = found.ok_or_else(missing)?;
    Ok(Asked {
        name,
        text,
        given,
        kind,
        body,
    })
}

/// A text, of several the last one.
fn plain_text(value: &Value) -> String {
    match value {
        Value::Array(items) => items.last().map(text_of).unwrap_or_default(),
        one => text_of(one),
    }
}

/// The field that a suggester is to look at.
fn field_of(body: &Map<String, Value>) -> Result<&str, DslError> {
    match body.get("field").and_then(Value::as_str) {
        None => Err(DslError::of(
            DslErrorKind::Malformed,
            "the required field option [field] is missing",
        )),
        Some("") => Err(DslError::illegal("suggestion field name is empty")),
        Some(field) => Ok(field),
    }
}

fn written(found: Value) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(256);
    json.value(&found);
    json.into_bytes()
}

/// An entry of a suggestion: a part of the text and what is proposed for it.
fn entry(text: &str, place: std::ops::Range<usize>, options: Vec<Value>) -> Value {
    json!({
        "text": text,
        "offset": place.start,
        "length": place.len(),
        "options": options,
    })
}

//! `suggest`: what somebody may have meant.

mod completion;
mod phrase;
mod term;

use clew_engine::Pinned;
use serde_json::{Map, Value, json};

use super::output::Output;
use super::response::time_is_up;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
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

/// One suggestion that a request asks for.
struct Asked<'a> {
    name: &'a str,
    text: String,
    given: SuggestInput,
    kind: &'a str,
    body: &'a Map<String, Value>,
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
    call.off_thread(move || {
        let mut answer = Suggestions::new();
        for asked in asked(&suggest)? {
            let found = match asked.kind {
                "term" => term::suggest(&pinned, &asked.text, asked.body, &memory).map(written),
                "phrase" => phrase::suggest(&pinned, &asked.text, asked.body, &memory).map(written),
                "completion" => {
                    let how = (asked.body, &source);
                    let typed = (asked.text.as_str(), asked.given);
                    completion::suggest(&pinned, typed, how, &memory)
                }
                other => {
                    return Err(ApiError::illegal_argument(format!(
                        "suggester [{other}] of suggestion [{}] is not supported",
                        asked.name
                    )));
                }
            };
            let found = match found {
                Err(_) if time_is_up() => b"[]".to_vec(),
                found => found?,
            };
            let name = if typed_keys {
                format!("{}#{}", asked.kind, asked.name)
            } else {
                asked.name.to_string()
            };
            answer.push((name, found));
        }
        Ok(answer)
    })
    .await?
}

fn asked(suggest: &Value) -> Result<Vec<Asked<'_>>, ApiError> {
    let members = suggest
        .as_object()
        .ok_or_else(|| malformed("expected an object for [suggest]"))?;
    let shared = members.get("text").and_then(Value::as_str);
    let named: Vec<_> = members.iter().filter(|(name, _)| *name != "text").collect();
    if named.len() > SUGGESTIONS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{SUGGESTIONS_MAX}] suggestions"
        )));
    }
    named
        .into_iter()
        .map(|(name, value)| one(name, value, shared))
        .collect()
}

fn one<'a>(name: &'a str, value: &'a Value, shared: Option<&str>) -> Result<Asked<'a>, ApiError> {
    let members = value
        .as_object()
        .ok_or_else(|| malformed(&format!("expected an object for suggestion [{name}]")))?;
    let (mut text, mut given) = (shared, SuggestInput::Text);
    let mut found = None;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("text" | "prefix", Value::String(own)) => text = Some(own),
            ("regex", Value::String(own)) => {
                text = Some(own);
                given = SuggestInput::Expression;
            }
            (kind @ ("term" | "phrase" | "completion"), Value::Object(body)) => {
                found = Some((kind, body));
            }
            (other, Value::Object(_)) => {
                return Err(malformed(&format!("No suggestor found for [{other}]")));
            }
            (other, _) => {
                return Err(malformed(&format!("[{name}] does not support [{other}]")));
            }
        }
    }
    let Some((kind, body)) = found else {
        return Err(malformed("Missing suggestion object"));
    };
    let Some(text) = text else {
        return Err(ApiError::illegal_argument(
            "The required text option is missing",
        ));
    };
    Ok(Asked {
        name,
        text: text.to_string(),
        given,
        kind,
        body,
    })
}

fn written(found: Value) -> Vec<u8> {
    let mut json = JsonWriter::with_capacity(256);
    json.value(&found);
    json.into_bytes()
}

fn malformed(reason: &str) -> ApiError {
    ApiError::bad_request("parsing_exception", reason)
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

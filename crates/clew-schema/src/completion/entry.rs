//! A document's inputs, as terms.

use serde_json::{Map, Value};

use super::{CompletionMapping, ENTRY_SEPARATOR};
use crate::plain::{json_token, text_of};

/// Characters that an input cannot have.
const RESERVED: [char; 3] = ['\0', '\u{1e}', ENTRY_SEPARATOR];

/// Inputs of one document's field.
const INPUTS_MAX: usize = 1000;

/// The terms of a value: a text, an object with `input`, `weight` and `contexts`, or a list of these.
///
/// # Errors
/// Says what is wrong, in words.
pub(crate) fn terms(
    path: &str,
    mapping: &CompletionMapping,
    value: &Value,
) -> Result<Vec<String>, String> {
    // What is in a list is told without a name, as OpenSearch does.
    let (items, told) = match value {
        Value::Array(items) => (items.as_slice(), "null"),
        one => (std::slice::from_ref(one), path),
    };
    let mut terms = Vec::new();
    for item in items {
        match item {
            Value::Null => {}
            Value::Object(members) => object(path, mapping, members, &mut terms)?,
            Value::String(text) => {
                check_contexts(path, mapping, &Map::new())?;
                terms.push(term(mapping, text, 1, &Map::new())?);
            }
            other => {
                return Err(format!(
                    "failed to parse [{told}]: expected text or object, but got {}",
                    json_token(other)
                ));
            }
        }
    }
    if terms.len() > INPUTS_MAX {
        return Err(format!("more than [{INPUTS_MAX}] inputs in [{path}]"));
    }
    Ok(terms)
}

fn object(
    path: &str,
    mapping: &CompletionMapping,
    members: &Map<String, Value>,
    terms: &mut Vec<String>,
) -> Result<(), String> {
    let mut inputs: Vec<&str> = Vec::new();
    let mut weight = 1;
    let none = Map::new();
    let mut contexts = &none;
    for (key, value) in members {
        match (key.as_str(), value) {
            ("input", Value::String(text)) => inputs.push(text),
            ("input", Value::Array(items)) => {
                for item in items {
                    inputs.push(item.as_str().ok_or_else(|| {
                        format!(
                            "input array must have string values, but was [{}]",
                            json_token(item)
                        )
                    })?);
                }
            }
            ("input", other) => {
                let found = json_token(other);
                return Err(format!(
                    "input must be a string or array, but was [{found}]"
                ));
            }
            ("weight", value) => weight = read_weight(value)?,
            ("contexts", Value::Object(given)) => contexts = given,
            ("contexts", _) => {
                return Err(format!("[{key}] of a completion field has the wrong type"));
            }
            (other, _) => {
                return Err(format!(
                    "unknown field name [{other}], must be one of [input, weight, contexts]"
                ));
            }
        }
    }
    if inputs.is_empty() {
        return Ok(());
    }
    if mapping.contexts.is_empty() && !contexts.is_empty() {
        return Err(format!(
            "contexts field is not supported for field: [{path}]"
        ));
    }
    for name in contexts.keys() {
        if !mapping.contexts.iter().any(|context| context.name == *name) {
            return Err(format!(
                "Unknown context name [{name}], must be one of the mapped"
            ));
        }
    }
    check_contexts(path, mapping, contexts)?;
    for input in inputs {
        terms.push(term(mapping, input, weight, contexts)?);
    }
    Ok(())
}

/// Contexts that only the input itself can have must be there.
fn check_contexts(
    path: &str,
    mapping: &CompletionMapping,
    given: &Map<String, Value>,
) -> Result<(), String> {
    let elsewhere = mapping
        .contexts
        .iter()
        .any(|context| context.path.is_some());
    if mapping.contexts.is_empty() || elsewhere || !given.is_empty() {
        return Ok(());
    }
    Err(format!(
        "Contexts are mandatory in context enabled completion field [{path}]"
    ))
}

fn read_weight(value: &Value) -> Result<u32, String> {
    let number = match value {
        Value::String(text) => text.parse::<i64>().ok(),
        other => other.as_i64(),
    };
    let number = number.ok_or_else(|| {
        let written = text_of(value);
        format!("weight must be an integer, but was [{written}]")
    })?;
    u32::try_from(number)
        .ok()
        .filter(|weight| i32::try_from(*weight).is_ok())
        .ok_or_else(|| {
            format!("weight must be in the interval [0..2147483647], but was [{number}]")
        })
}

fn term(
    mapping: &CompletionMapping,
    input: &str,
    weight: u32,
    contexts: &Map<String, Value>,
) -> Result<String, String> {
    if let Some((before, found)) = input.char_indices().find(|(_, c)| RESERVED.contains(c)) {
        let position = input
            .get(..before)
            .map_or(0, |text| text.encode_utf16().count());
        return Err(format!(
            "Illegal input [{input}] UTF-16 codepoint [0x{:x}] at position {position} is a reserved character",
            u32::from(found)
        ));
    }
    let kept: String = input.chars().take(mapping.length_max).collect();
    let contexts = if contexts.is_empty() {
        String::new()
    } else {
        Value::Object(contexts.clone()).to_string()
    };
    Ok(format!(
        "{}{ENTRY_SEPARATOR}{weight}{ENTRY_SEPARATOR}{input}{ENTRY_SEPARATOR}{contexts}",
        mapping.normal(&kept)
    ))
}

/// What a term says.
pub struct CompletionEntry<'a> {
    /// The input as its analyzer sees it, by which terms are ordered.
    pub normal: &'a str,
    /// Greater ones come first.
    pub weight: u32,
    /// The input as it was written.
    pub input: &'a str,
    /// What it is told apart by: an object of lists, or nothing.
    pub contexts: Option<Value>,
}

impl<'a> CompletionEntry<'a> {
    /// The parts of a term; `None` of what is no term of such a field.
    pub fn read(term: &'a str) -> Option<Self> {
        let mut parts = term.splitn(4, ENTRY_SEPARATOR);
        let (normal, weight, input) = (parts.next()?, parts.next()?, parts.next()?);
        Some(CompletionEntry {
            normal,
            weight: weight.parse().ok()?,
            input,
            contexts: serde_json::from_str(parts.next()?).ok(),
        })
    }
}

#[cfg(test)]
mod tests;

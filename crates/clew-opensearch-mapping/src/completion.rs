//! The parameters of a `completion` field, and its contexts.

use clew_schema::geo::{DistanceUnit, parse_distance};
use clew_schema::{CompletionContext, CompletionMapping, ContextKind, MappingError};
use serde_json::{Map, Value};

use crate::parameter_values::{show, whole_number};

/// Characters of an input that are kept unless the mapping says otherwise.
pub(crate) const LENGTH_DEFAULT: usize = 50;
/// What cuts inputs unless the mapping says otherwise.
pub(crate) const ANALYZER_DEFAULT: &str = "simple";
/// Contexts of one field.
const CONTEXTS_MAX: usize = 10;
/// Level of the cells of places unless the mapping says otherwise.
const LEVEL_DEFAULT: u32 = 6;
const LEVEL_MAX: u32 = 12;
/// Metres around the equator, and from pole to pole.
const EQUATOR: f64 = 40_075_016.685_57;
const MERIDIAN: f64 = 19_970_326.371_122;

/// Reads the parameters of a field.
pub(crate) fn read_completion(
    parameters: &Map<String, Value>,
) -> Result<CompletionMapping, MappingError> {
    let length = parameters.get("max_input_length").and_then(whole_number);
    let separators = parameters.get("preserve_separators").map(show);
    let contexts = read_contexts(parameters.get("contexts"));
    Ok(CompletionMapping {
        analyzer: match parameters.get("analyzer").and_then(Value::as_str) {
            // Whether there is one of this name, the index knows.
            Some(name) => name.to_string(),
            None => ANALYZER_DEFAULT.to_string(),
        },
        keep_separators: separators.is_none_or(|said| said != "false"),
        length_max: length
            .filter(|length| *length > 0)
            .unwrap_or(LENGTH_DEFAULT),
        contexts: contexts.map_err(MappingError::unreadable)?,
    })
}

/// Reads the contexts of a mapping.
fn read_contexts(value: Option<&Value>) -> Result<Vec<CompletionContext>, String> {
    let items = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    if items.len() > CONTEXTS_MAX {
        return Err(format!(
            "Limit of completion field contexts [{CONTEXTS_MAX}] has been exceeded"
        ));
    }
    items.iter().map(read_context).collect()
}

fn read_context(item: &Value) -> Result<CompletionContext, String> {
    let members = item
        .as_object()
        .ok_or("contexts must be a list of objects")?;
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    let name = text("name").ok_or("Required field [name] is missing")?;
    let kind = match text("type").map(str::to_lowercase).as_deref() {
        Some("category") => ContextKind::Category,
        Some("geo") => ContextKind::Geo {
            level: members
                .get("precision")
                .map_or(Ok(LEVEL_DEFAULT), context_level)?,
        },
        Some(other) => return Err(format!("Unknown context type [{other}]")),
        None => return Err("Required field [type] is missing".to_string()),
    };
    Ok(CompletionContext {
        name: name.to_string(),
        kind,
        path: text("path").map(str::to_string),
    })
}

/// The level of the cells that places are told apart by, which may be said by how wide they are.
///
/// # Errors
/// Says why it is none.
pub fn context_level(precision: &Value) -> Result<u32, String> {
    let level = match precision {
        Value::Number(number) => number.as_u64().and_then(|level| u32::try_from(level).ok()),
        Value::String(text) => match text.parse::<u32>() {
            Ok(level) => Some(level),
            Err(_) => {
                let usual = DistanceUnit::metres();
                Some(level_of(parse_distance(text, usual)?))
            }
        },
        _ => None,
    };
    level
        .filter(|level| (1..=LEVEL_MAX).contains(level))
        .ok_or_else(|| format!("precision must be between 1 and {LEVEL_MAX}, got [{precision}]"))
}

/// The level whose cells are about as wide as this.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most 25 bits are left after the bound"
)]
fn level_of(metres: f64) -> u32 {
    if metres <= 1.0 {
        return LEVEL_MAX;
    }
    let width = metres / (1.0 + MERIDIAN / EQUATOR);
    let bits = (EQUATOR / width).ceil().log2().ceil().clamp(1.0, 25.0) as u32;
    let (full, left) = (bits / 5, bits % 5);
    (full * 2 + u32::from(left > 0)).clamp(1, LEVEL_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_is_the_level_whose_cells_are_about_as_wide() {
        assert_eq!(level_of(5000.0), 5);
        assert_eq!(level_of(0.5), LEVEL_MAX);
    }
}

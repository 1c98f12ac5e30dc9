//! The `encoder` of a method: what vectors are stored as, or how wide the codes are that walks read instead of them.

use clew_schema::{CompressionLevel, MappingError, VectorMapping};
use clew_vector::{CodeBits, Element};
use serde_json::{Map, Value};

use crate::parameter_values::{boolean, show, whole_number};
use crate::words::{out_of_range, refuse};

/// Bits that Lucene's `sq` takes for a number.
const LUCENE_BITS: usize = 7;

/// Whose encoders are meant: both have an `sq`, and they have little in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoders {
    Faiss,
    Lucene,
}

impl Encoders {
    /// Those of the engine that a method names.
    pub(crate) fn of(method: &Map<String, Value>) -> Self {
        match method.get("engine").and_then(Value::as_str) {
            Some(engine) if engine.eq_ignore_ascii_case("lucene") => Encoders::Lucene,
            _ => Encoders::Faiss,
        }
    }
}

/// Applies an encoder to a field: `flat` keeps vectors as they are, `sq` of Faiss halves them, `binary` and Lucene's `sq`
/// say how wide the codes beside them are.
///
/// # Errors
/// In OpenSearch's words: encoders that there are not, with those `known`; parameters that they do not have; vectors that
/// are not floats.
pub(crate) fn read_encoder(
    value: &Value,
    encoders: Encoders,
    vector: &mut VectorMapping,
    known: &str,
) -> Result<(), MappingError> {
    let lucene = encoders == Encoders::Lucene;
    let name = value.get("name").map(show).unwrap_or_default();
    let none = Map::new();
    let parameters = match value.get("parameters").unwrap_or(&Value::Null) {
        Value::Object(parameters) => parameters,
        Value::Null => &none,
        _ => return refuse("Unable to parse parameters for  method component".to_string()),
    };
    let is_listed = known.split(", ").any(|known| known == name);
    if !is_listed {
        return refuse(format!(
            "Invalid encoder: {name}, only [{known}] are supported"
        ));
    }
    if name != "flat" && vector.column.element != Element::F32 {
        return refuse(format!(
            "Encoder {name} is not supported with \"{}\" data type",
            vector.column.element.name()
        ));
    }
    if name == "sq" && !lucene {
        vector.column.element = Element::F16;
    }
    for (key, value) in parameters {
        match (name.as_str(), key.as_str()) {
            ("sq", "bits") if lucene => {
                if whole_number(value) != Some(LUCENE_BITS) {
                    return out_of_range(key);
                }
            }
            ("sq", "confidence_interval") if lucene => check_confidence(key, value)?,
            ("sq", "type") if !lucene => {
                if show(value) != "fp16" {
                    return refuse(format!(
                        "Invalid type of encoder sq: {}, only [fp16] is supported",
                        show(value)
                    ));
                }
            }
            ("sq", "clip") if !lucene => vector.clips = boolean(value)?,
            ("binary", "bits") => {
                if level_of_bits(value).is_none() {
                    return out_of_range(key);
                }
            }
            _ => {
                return refuse(format!("Invalid parameter for encoder \"{name}\": {key}."));
            }
        }
    }
    match encoder_level(value, encoders) {
        CompressionLevel::X4 => vector.column.code_bits = CodeBits::Eight,
        CompressionLevel::X8 => vector.column.code_bits = CodeBits::Four,
        CompressionLevel::X16 => vector.column.code_bits = CodeBits::Two,
        CompressionLevel::X32 => vector.column.code_bits = CodeBits::One,
        CompressionLevel::X1 | CompressionLevel::X2 => {}
    }
    Ok(())
}

/// The level of compression that an encoder stands for.
pub(crate) fn encoder_level(encoder: &Value, encoders: Encoders) -> CompressionLevel {
    let bits = encoder
        .get("parameters")
        .and_then(|parameters| parameters.get("bits"));
    match encoder.get("name").and_then(Value::as_str) {
        Some("sq") if encoders == Encoders::Lucene => CompressionLevel::X4,
        Some("sq") => CompressionLevel::X2,
        Some("binary") => bits
            .and_then(level_of_bits)
            .unwrap_or(CompressionLevel::X32),
        _ => CompressionLevel::X1,
    }
}

/// The level of `binary` codes of so many bits for a number; none where there are no such codes.
fn level_of_bits(bits: &Value) -> Option<CompressionLevel> {
    match whole_number(bits)? {
        1 => Some(CompressionLevel::X32),
        2 => Some(CompressionLevel::X16),
        4 => Some(CompressionLevel::X8),
        _ => None,
    }
}

/// Which of the numbers lie between the ends of Lucene's codes: 0, or from 0.9 on. Codes have their own ends here, and
/// it changes nothing.
fn check_confidence(key: &str, value: &Value) -> Result<(), MappingError> {
    let share = value.as_f64();
    if share.is_some_and(|share| share == 0.0 || (0.9..=1.0).contains(&share)) {
        return Ok(());
    }
    refuse(format!(
        "Validation Failed: parameter validation failed for Double parameter [{key}]."
    ))
}

/// Product codes take one bit per dimension here: `m` and `code_size` may only ask for that many bits in
/// all, `m` parts of `code_size` bits.
pub(crate) fn read_pq(value: &Value, dimension: usize) -> Result<(), MappingError> {
    let Some(parameters) = value.get("parameters").and_then(Value::as_object) else {
        return Ok(());
    };
    if let Some(other) = parameters
        .keys()
        .find(|key| !matches!(key.as_str(), "m" | "code_size"))
    {
        return refuse(format!("Invalid parameter for encoder \"pq\": {other}."));
    }
    let wanted = dimension.div_ceil(4) * 4;
    let bits = |key: &str, default: usize| match parameters.get(key).map(whole_number) {
        None => Ok(default),
        Some(Some(number)) if number > 0 => Ok(number),
        Some(_) => out_of_range(key).map(|()| 0),
    };
    let size = bits("code_size", 4)?;
    let parts = bits("m", dimension.div_ceil(4))?;
    if parts.checked_mul(size) != Some(wanted) {
        return refuse(format!(
            "Encoder pq takes one bit per dimension: m times code_size must be {wanted}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

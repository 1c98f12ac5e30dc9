//! `mode` and `compression_level` of a `knn_vector` field. Vectors stay as exact as their element
//! type says; a level chooses the width of the codes that walks of the graph read instead of them.

use clew_schema::{CompressionLevel, MappingError, VectorCompression, VectorMode};
use clew_vector::{CodeBits, ColumnOptions, Element, Method};
use serde_json::{Map, Value};

use crate::encoder::{Encoders, encoder_level};
use crate::parameter_values::show;

/// Applies both parameters to a column whose type of element and method have been read.
///
/// # Errors
/// In OpenSearch's words: values that do not exist, vectors that are not floats, an encoder that
/// contradicts the level, no compression at all on disk.
pub(crate) fn read_compression(
    name: &str,
    parameters: &Map<String, Value>,
    column: &mut ColumnOptions,
) -> Result<VectorCompression, MappingError> {
    let modes = VectorMode::ALL.map(|mode| (mode.name(), mode));
    let mode = choice("mode", parameters, &modes)?;
    let levels = CompressionLevel::ALL.map(|level| (level.name(), level));
    let level = choice("compression_level", parameters, &levels)?;
    let compression = VectorCompression { mode, level };
    if compression == VectorCompression::default() {
        return Ok(compression);
    }
    if parameters
        .get("data_type")
        .is_some_and(|data_type| !show(data_type).eq_ignore_ascii_case("float"))
    {
        return Err(MappingError::unreadable(format!(
            "Compression and mode cannot be used for non-float32 data type for field {name}"
        )));
    }
    if column.method != Method::Graph {
        return Err(validation(
            "Cannot specify mode or compression level with method \"ivf\"",
        ));
    }
    if (mode, level) == (Some(VectorMode::OnDisk), Some(CompressionLevel::X1)) {
        return Err(validation(
            "Cannot specify \"x1\" compression level when using \"on_disk\" mode",
        ));
    }
    if let Some(encoded) = encoded(parameters) {
        return match level {
            Some(level) if level != encoded => Err(validation(
                "Cannot specify an encoder that conflicts with the provided compression level",
            )),
            _ => Ok(compression),
        };
    }
    let on_disk = (mode == Some(VectorMode::OnDisk)).then_some(CompressionLevel::X32);
    match level.or(on_disk) {
        None | Some(CompressionLevel::X1) => {}
        Some(CompressionLevel::X2) => column.element = Element::F16,
        Some(CompressionLevel::X4) => column.code_bits = CodeBits::Eight,
        Some(CompressionLevel::X8) => column.code_bits = CodeBits::Four,
        Some(CompressionLevel::X16) => column.code_bits = CodeBits::Two,
        Some(CompressionLevel::X32) => column.code_bits = CodeBits::One,
    }
    Ok(compression)
}

/// One of the values there are; null is as good as nothing.
fn choice<T: Copy>(
    key: &str,
    parameters: &Map<String, Value>,
    values: &[(&str, T)],
) -> Result<Option<T>, MappingError> {
    let Some(written) = parameters.get(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let written = show(written);
    if let Some((_, value)) = values.iter().find(|(name, _)| *name == written) {
        return Ok(Some(*value));
    }
    let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
    Err(MappingError::unreadable(format!(
        "Unknown value [{written}] for field [{key}] - accepted values are [null, {}]",
        names.join(", ")
    )))
}

/// The level that the method's own encoder stands for; none where it names none.
fn encoded(parameters: &Map<String, Value>) -> Option<CompressionLevel> {
    let method = parameters.get("method")?.as_object()?;
    let encoder = method.get("parameters")?.get("encoder")?;
    Some(encoder_level(encoder, Encoders::of(method)))
}

fn validation(failure: &str) -> MappingError {
    MappingError::unreadable(format!("Validation Failed: 1: {failure};"))
}

#[cfg(test)]
mod tests;

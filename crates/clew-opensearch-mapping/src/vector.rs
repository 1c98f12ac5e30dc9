//! The parameters of a `knn_vector` field: dimension, type of element, space, method
//! and compression.

use clew_schema::{MappingError, VectorCompression, VectorMapping};
use clew_vector::{ColumnOptions, Element, Method, Space};
use serde_json::{Map, Value};

use crate::compression::read_compression;
use crate::method::read_method;
use crate::parameter_values::{show, whole_number};
use crate::space::read_space;
use crate::words::refuse;

/// Largest dimension that OpenSearch takes; columns take more.
const DIMENSION_MAX: usize = 16_000;

/// Reads the parameters that decide how vectors are stored and found.
pub(crate) fn read_vector(
    name: &str,
    parameters: &Map<String, Value>,
    vector: &mut VectorMapping,
) -> Result<VectorCompression, MappingError> {
    refuse_model(parameters)?;
    let column = &mut vector.column;
    column.dimension = read_dimension(name, parameters.get("dimension"))?;
    if let Some(data_type) = parameters.get("data_type") {
        column.element = read_data_type(data_type)?;
    }
    if column.element == Element::Bit {
        column.space = Space::Hamming;
    }
    if let Some(value) = parameters.get("space_type") {
        column.space = read_space(value)?;
    }
    if let Some(method) = parameters.get("method") {
        let Some(written) = method.as_object() else {
            return refuse(format!("Unable to parse [method] for vector [{name}]"));
        };
        read_method(written, parameters.get("space_type"), vector)?;
    }
    let compression = read_compression(name, parameters, &mut vector.column)?;
    check_pairs(&vector.column)?;
    // A shard whose columns cannot be built would take no document at all.
    match vector.column.validate() {
        Ok(()) => Ok(compression),
        Err(error) => refuse(error.to_string()),
    }
}

/// The one method that sparse vectors may be asked to be searched by.
const SPARSE_METHOD: &str = "seismic";

/// Refuses a method that is not one of sparse vectors. What it says of how little of the vectors is looked at changes
/// nothing: they are searched exactly.
pub(crate) fn check_sparse_method(
    name: &str,
    parameters: &Map<String, Value>,
) -> Result<(), MappingError> {
    let Some(method) = parameters.get("method") else {
        return Ok(());
    };
    match method.get("name").and_then(Value::as_str) {
        Some(SPARSE_METHOD) => Ok(()),
        _ => refuse(format!(
            "[method] of sparse_vector [{name}] must be an object whose [name] is [{SPARSE_METHOD}], not [{method}]"
        )),
    }
}

fn read_dimension(name: &str, dimension: Option<&Value>) -> Result<usize, MappingError> {
    let Some(dimension) = dimension else {
        return refuse(format!("Dimension value missing for vector: {name}"));
    };
    let is_negative = dimension.as_i64().is_some_and(|dimension| dimension < 0);
    match whole_number(dimension) {
        Some(0) => refuse(format!(
            "Dimension value must be greater than 0 for vector: {name}"
        )),
        Some(dimension) if dimension > DIMENSION_MAX => refuse(format!(
            "Dimension value cannot be greater than {DIMENSION_MAX} for vector: {name}"
        )),
        Some(dimension) => Ok(dimension),
        None if is_negative => refuse(format!(
            "Dimension value must be greater than 0 for vector: {name}"
        )),
        None => refuse(format!(
            "Unable to parse [dimension] from provided value [{}] for vector [{name}]",
            show(dimension)
        )),
    }
}

fn read_data_type(value: &Value) -> Result<Element, MappingError> {
    let written = show(value);
    match written.to_lowercase().as_str() {
        "float" => Ok(Element::F32),
        "byte" => Ok(Element::I8),
        "binary" => Ok(Element::Bit),
        _ => refuse(format!(
            "Invalid value provided for [data_type] field. Supported values are [binary,byte,float], but got [{written}]"
        )),
    }
}

/// Refuses what was trained beforehand, and says what there is in its place.
fn refuse_model(parameters: &Map<String, Value>) -> Result<(), MappingError> {
    match parameters.get("model_id").filter(|model| !model.is_null()) {
        None => Ok(()),
        Some(model) => refuse(format!(
            "Model ID '{}' is not created: there are no models here, merges train a field whose own [method] is [ivf]",
            show(model)
        )),
    }
}

/// Refuses what does not go together: spaces and methods that do not take such elements.
fn check_pairs(column: &ColumnOptions) -> Result<(), MappingError> {
    if column.element == Element::Bit && !column.dimension.is_multiple_of(8) {
        return refuse("Dimension should be multiply of 8 for binary vector data type".to_string());
    }
    if (column.element == Element::Bit) != column.space.is_binary() {
        return refuse(format!(
            "Space type \"{}\" is not supported with \"{}\" data type",
            column.space.name(),
            column.element.name()
        ));
    }
    if column.element == Element::Bit && column.method != Method::Graph {
        return refuse(format!(
            "Method \"ivf\" is not supported with \"{}\" data type",
            column.element.name()
        ));
    }
    Ok(())
}

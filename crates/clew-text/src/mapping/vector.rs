//! The parameters of a `knn_vector` field: dimension, type of element, space, method
//! and compression.

use clew_vector::{ColumnOptions, DIMENSION_MAX, Element, HnswOptions, Space};
use serde_json::{Map, Value};

use super::compression::read_compression;
use super::field::VectorMapping;
use super::parameters::{show, whole_number};
use super::schema::MappingError;

/// Reads the parameters that decide how vectors are stored and found.
pub(super) fn read_vector(
    name: &str,
    parameters: &Map<String, Value>,
    vector: &mut VectorMapping,
) -> Result<(), MappingError> {
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
        read_method(written, parameters.get("space_type"), column)?;
        vector.method = Some(method.clone());
    }
    read_compression(name, parameters, &mut vector.column)?;
    check_pairs(&vector.column)
}

fn refuse<T>(reason: String) -> Result<T, MappingError> {
    Err(MappingError::invalid(reason))
}

fn read_dimension(name: &str, dimension: Option<&Value>) -> Result<usize, MappingError> {
    let Some(dimension) = dimension else {
        return refuse(format!("Dimension value missing for vector: {name}"));
    };
    match whole_number(dimension) {
        Some(0) => refuse(format!(
            "Dimension value must be greater than 0 for vector: {name}"
        )),
        Some(dimension) if dimension > DIMENSION_MAX => refuse(format!(
            "Dimension value cannot be greater than {DIMENSION_MAX} for vector: {name}"
        )),
        Some(dimension) => Ok(dimension),
        None => refuse(format!(
            "Unable to parse [dimension] from provided value [{}] for vector [{name}]",
            show(dimension)
        )),
    }
}

fn read_data_type(value: &Value) -> Result<Element, MappingError> {
    match show(value).as_str() {
        "float" => Ok(Element::F32),
        "byte" => Ok(Element::I8),
        "binary" => Ok(Element::Bit),
        other => refuse(format!(
            "Invalid value provided for [data_type] field. Supported values are [binary,byte,float], but got [{other}]"
        )),
    }
}

fn read_space(value: &Value) -> Result<Space, MappingError> {
    let name = show(value);
    // Milvus' names are for its own users.
    Space::from_opensearch(&name)
        .filter(|space| *space != Space::Jaccard)
        .map_or_else(|| refuse(format!("Unable to find space: {name}")), Ok)
}

fn read_method(
    method: &Map<String, Value>,
    outer_space: Option<&Value>,
    column: &mut ColumnOptions,
) -> Result<(), MappingError> {
    for (key, value) in method {
        match (key.as_str(), show(value).as_str()) {
            ("name", "hnsw") | ("engine", "faiss" | "lucene" | "nmslib") => {}
            ("name", other) => {
                return refuse(format!(
                    "Invalid method name: {other}, only [hnsw] is supported"
                ));
            }
            ("engine", other) => return refuse(format!("Invalid engine type: {other}")),
            ("space_type", _) => {
                if outer_space.is_some_and(|outer| outer != value) {
                    return refuse(
                        "Cannot specify conflicting space types in [space_type] and [method]"
                            .to_string(),
                    );
                }
                column.space = read_space(value)?;
            }
            ("parameters", _) => {
                let Some(parameters) = value.as_object() else {
                    return refuse("Unable to parse parameters for main method component".into());
                };
                read_parameters(parameters, column)?;
            }
            _ => return refuse(format!("{key} is not a valid parameter of a method")),
        }
    }
    if !method.contains_key("name") {
        return refuse("name needs to be set".to_string());
    }
    Ok(())
}

fn read_parameters(
    parameters: &Map<String, Value>,
    column: &mut ColumnOptions,
) -> Result<(), MappingError> {
    let HnswOptions { m, ef_construction } = &mut column.hnsw;
    for (key, value) in parameters {
        let number = whole_number(value).and_then(|n| u16::try_from(n).ok());
        match (key.as_str(), number) {
            ("m", Some(wanted)) if (2..=512).contains(&wanted) => *m = wanted,
            ("ef_construction", Some(ef)) if ef >= 2 => *ef_construction = ef,
            ("ef_search", Some(ef)) if ef > 0 => {}
            ("m" | "ef_construction" | "ef_search", _) => {
                return refuse(format!(
                    "Validation Failed: parameter validation failed for Integer parameter [{key}]."
                ));
            }
            ("encoder", _) => column.element = read_encoder(value, column.element)?,
            _ => return refuse(format!("Invalid parameter for method \"hnsw\": {key}.")),
        }
    }
    Ok(())
}

/// `flat` keeps vectors as they are; `sq` of type `fp16` halves them.
fn read_encoder(value: &Value, element: Element) -> Result<Element, MappingError> {
    let parameter = |key: &str| value.get("parameters").and_then(|all| all.get(key));
    let name = value.get("name").map(show).unwrap_or_default();
    match name.as_str() {
        "flat" => Ok(element),
        "sq" => match parameter("type").map(show).as_deref() {
            None | Some("fp16") if element == Element::F32 => Ok(Element::F16),
            None | Some("fp16") => refuse(format!(
                "Encoder sq is not supported with \"{}\" data type",
                element.name()
            )),
            Some(other) => refuse(format!(
                "Invalid type of encoder sq: {other}, only [fp16] is supported"
            )),
        },
        other => refuse(format!(
            "Invalid encoder: {other}, only [flat, sq] are supported"
        )),
    }
}

/// Refuses spaces that do not compare such elements.
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
    Ok(())
}

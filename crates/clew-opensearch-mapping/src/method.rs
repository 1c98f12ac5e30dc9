//! The `method` of a `knn_vector` field: a graph (`hnsw`) or inverted lists (`ivf`), and how hard a search
//! of it tries by itself.

use clew_schema::{MappingError, VectorMapping};
use clew_vector::{EF_CONSTRUCTION_MAX, IvfOptions, LISTS_MAX, ListCodes, Method};
use serde_json::{Map, Value};

use crate::encoder::{Encoders, read_encoder, read_pq};
use crate::parameter_values::{boolean, show, whole_number};
use crate::space::read_space;
use crate::words::{out_of_range, refuse};

/// Reads a method; `outer_space` is the `space_type` beside it.
///
/// # Errors
/// In OpenSearch's words: an unknown method, engine, parameter or encoder, a number out of range, two
/// spaces.
pub(crate) fn read_method(
    method: &Map<String, Value>,
    outer_space: Option<&Value>,
    vector: &mut VectorMapping,
) -> Result<(), MappingError> {
    let Some(name) = method.get("name").map(show) else {
        return refuse("name needs to be set".to_string());
    };
    let ivf = match name.as_str() {
        "hnsw" => false,
        "ivf" => true,
        other => {
            return refuse(format!(
                "Invalid method name: {other}, only [hnsw, ivf] are supported"
            ));
        }
    };
    if ivf {
        vector.column.method = Method::Lists(IvfOptions::default());
    }
    for (key, value) in method {
        match key.as_str() {
            "name" => {}
            "engine" => check_engine(value, ivf)?,
            // As good as nothing said.
            "parameters" if value.is_null() => {}
            "space_type" => {
                if outer_space.is_some_and(|outer| outer != value) {
                    return refuse(
                        "Cannot specify conflicting space types in [space_type] and [method]"
                            .to_string(),
                    );
                }
                vector.column.space = read_space(value)?;
            }
            "exact_structure" => {
                vector.column.exact_structure = boolean(value)?;
            }
            "parameters" => {
                let Some(parameters) = value.as_object() else {
                    return refuse("Unable to parse parameters for main method component".into());
                };
                for (key, value) in parameters {
                    match ivf {
                        false => read_graph_parameter(method, key, value, vector)?,
                        true => read_lists_parameter(key, value, vector)?,
                    }
                }
            }
            _ => return refuse(format!("{key} is not a valid parameter of a method")),
        }
    }
    Ok(())
}

/// Engines mean the same thing here; which methods have which of them is OpenSearch's. None named is as good as one.
fn check_engine(value: &Value, ivf: bool) -> Result<(), MappingError> {
    if value.is_null() {
        return Ok(());
    }
    let name = show(value);
    match name.to_lowercase().as_str() {
        "faiss" => Ok(()),
        "lucene" | "nmslib" if !ivf => Ok(()),
        "lucene" | "nmslib" => refuse(format!("Invalid method name: ivf for engine {name}")),
        _ => refuse(format!("Invalid engine type: {name}")),
    }
}

fn read_graph_parameter(
    method: &Map<String, Value>,
    key: &str,
    value: &Value,
    vector: &mut VectorMapping,
) -> Result<(), MappingError> {
    let hnsw = &mut vector.column.hnsw;
    let number = whole_number(value);
    let narrow = number.and_then(|n| u16::try_from(n).ok());
    match (key, narrow) {
        ("m", Some(wanted)) if (2..=512).contains(&wanted) => hnsw.m = wanted,
        // What OpenSearch takes beyond what a graph of ours can have is the most that it can have.
        ("ef_construction", _) if number.is_some_and(|ef| ef > 0) => {
            let ef = narrow.unwrap_or(u16::MAX);
            hnsw.ef_construction = ef.clamp(2, EF_CONSTRUCTION_MAX);
        }
        ("ef_search", _) if number.is_some_and(|ef| ef > 0) => vector.ef_search = number,
        ("m" | "ef_construction" | "ef_search", _) => return out_of_range(key),
        ("encoder", _) => read_encoder(value, Encoders::of(method), vector, "flat, sq, binary")?,
        _ => return refuse(format!("Invalid parameter for method \"hnsw\": {key}.")),
    }
    Ok(())
}

fn read_lists_parameter(
    key: &str,
    value: &Value,
    vector: &mut VectorMapping,
) -> Result<(), MappingError> {
    let Method::Lists(lists) = &mut vector.column.method else {
        unreachable!("the method was set before its parameters");
    };
    let number = whole_number(value).filter(|&number| number > 0);
    let count = number.and_then(|number| u32::try_from(number).ok());
    match (key, count) {
        ("nlist", Some(count)) if count <= LISTS_MAX => lists.lists = count,
        ("nprobes", Some(count)) if count <= LISTS_MAX => vector.probes = number,
        ("nlist" | "nprobes", _) => return out_of_range(key),
        ("encoder", _) if value.get("name").map(show).as_deref() == Some("pq") => {
            read_pq(value, vector.column.dimension)?;
            lists.codes = ListCodes::Product;
        }
        ("encoder", _) => read_encoder(value, Encoders::Faiss, vector, "flat, sq, pq")?,
        _ => return refuse(format!("Invalid parameter for method \"ivf\": {key}.")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clew_schema::FieldKind;
    use clew_vector::{Element, Space};
    use serde_json::json;

    use super::*;

    fn read(method: &Value) -> Result<VectorMapping, String> {
        let field = json!({"type": "knn_vector", "dimension": 8, "method": method});
        let mapping = crate::try_mapping(&json!({"properties": {"v": field}}))
            .map_err(|error| crate::reason(&error))?;
        match &mapping.field("v").unwrap().kind {
            FieldKind::Vector(vector) => Ok(vector.clone()),
            other => panic!("{other:?} is no vector"),
        }
    }

    #[test]
    fn lists_and_their_parameters_are_read() {
        let lists = |lists, codes| Method::Lists(IvfOptions { lists, codes });
        let plain = read(&json!({"name": "ivf"})).unwrap();
        assert_eq!(plain.column.method, lists(0, ListCodes::Chosen));
        assert_eq!((plain.probes, plain.ef_search), (None, None));
        // Parameters come before the name in the order of keys.
        let method = json!({"engine": "faiss", "parameters": {"nlist": 128, "nprobes": "8",
            "encoder": {"name": "pq", "parameters": {"m": 2, "code_size": 4}}},
            "space_type": "innerproduct", "name": "ivf"});
        let full = read(&method).unwrap();
        assert_eq!(full.column.method, lists(128, ListCodes::Product));
        assert_eq!(full.column.space, Space::InnerProduct);
        assert_eq!(full.probes, Some(8));
        let half = json!({"name": "ivf", "parameters": {"encoder": {"name": "sq"}}});
        assert_eq!(read(&half).unwrap().column.element, Element::F16);
        let graph = json!({"name": "hnsw", "parameters": {"m": 8, "ef_search": 33}});
        let graph = read(&graph).unwrap();
        assert!(!graph.column.exact_structure);
        let named = json!({"name": "hnsw", "exact_structure": true});
        assert!(read(&named).unwrap().column.exact_structure);
        assert_eq!((graph.column.hnsw.m, graph.ef_search), (8, Some(33)));
        assert_eq!(graph.column.method, Method::Graph);
    }

    #[test]
    fn candidates_beyond_what_a_graph_can_have_are_the_most_that_it_can_have() {
        for (given, candidates) in [
            (1, 2),
            (4_096, 4_096),
            (10_000, 4_096),
            (1_u64 << 40, 4_096),
        ] {
            let parameters = json!({"m": 512, "ef_construction": given});
            let column = read(&json!({"name": "hnsw", "parameters": parameters}))
                .unwrap()
                .column;
            assert_eq!(column.hnsw.ef_construction, candidates);
            column.validate().unwrap();
        }
        let none = json!({"name": "hnsw", "parameters": {"ef_construction": 0}});
        assert!(read(&none).is_err());
    }

    #[test]
    fn wrong_methods_are_refused_by_what_is_wrong() {
        let ivf = |parameters: Value| json!({"name": "ivf", "parameters": parameters});
        let number = |key| {
            format!("Validation Failed: parameter validation failed for Integer parameter [{key}].")
        };
        for (method, expected) in [
            (json!({"engine": "faiss"}), "name needs to be set".into()),
            (
                json!({"name": "flat"}),
                "Invalid method name: flat, only [hnsw, ivf] are supported".into(),
            ),
            (
                json!({"name": "ivf", "engine": "lucene"}),
                "Invalid method name: ivf for engine lucene".into(),
            ),
            (ivf(json!({"nlist": 0})), number("nlist")),
            (ivf(json!({"nlist": 300_000})), number("nlist")),
            (ivf(json!({"nprobes": -1})), number("nprobes")),
            (
                ivf(json!({"m": 16})),
                "Invalid parameter for method \"ivf\": m.".into(),
            ),
            (
                ivf(json!({"encoder": {"name": "pq", "parameters": {"m": 3}}})),
                "Encoder pq takes one bit per dimension: m times code_size must be 8".into(),
            ),
            (
                ivf(json!({"encoder": {"name": "pq", "parameters": {"z": 3}}})),
                "Invalid parameter for encoder \"pq\": z.".into(),
            ),
            (
                ivf(json!({"encoder": {"name": "x"}})),
                "Invalid encoder: x, only [flat, sq, pq] are supported".into(),
            ),
        ] {
            assert_eq!(read(&method).unwrap_err(), expected, "{method}");
        }
        let bits = json!({"properties": {"v": {"type": "knn_vector", "dimension": 8,
            "data_type": "binary", "method": {"name": "ivf"}}}});
        let refused = crate::reason(&crate::try_mapping(&bits).unwrap_err());
        assert_eq!(
            refused,
            "Method \"ivf\" is not supported with \"binary\" data type"
        );
    }
}

//! The spaces of vectors by their names, and that of vectors whose fields name none: an index may say one for all of them, as
//! indexes of OpenSearch's first versions did.

use clew_schema::{FieldKind, MappingError, MappingPart, MappingSpec};
use clew_vector::{Element, Space};
use serde_json::{Map, Value};

use crate::parameter_values::show;
use crate::words::refuse;

/// Spaces that vectors are measured in by scripts, and that no column is searched in.
const SCRIPTED_SPACES: [&str; 2] = ["l1", "linf"];

/// Reads the name of a space that vectors of a field are searched in.
pub(crate) fn read_space(value: &Value) -> Result<Space, MappingError> {
    let name = show(value);
    if SCRIPTED_SPACES.contains(&name.as_str()) {
        return refuse(format!(
            "Validation Failed: 1: \"hnsw\" configuration does not support space type: \"{name}\", scripts alone do;"
        ));
    }
    // Milvus' names are for its own users.
    Space::from_opensearch(&name)
        .filter(|space| space.is_in_opensearch())
        .map_or_else(
            || {
                refuse(format!(
                    "Unable to find space: {name} . Valid values are: [l2, cosinesimil, innerproduct, hamming]"
                ))
            },
            Ok,
        )
}

/// Refuses a name that no space has which vectors of a field are searched in.
///
/// # Errors
/// In OpenSearch's words.
pub fn check_space(name: &str) -> Result<(), MappingError> {
    read_space(&Value::from(name)).map(|_| ())
}

/// Gives vectors of numbers the space of that name where neither their fields nor the methods of these name one; and so of
/// fields that dynamic templates will make. It is shown with fields that say nothing else of how they are searched.
///
/// # Errors
/// As [`check_space`].
pub fn set_usual_space(spec: &mut MappingSpec, name: &str) -> Result<(), MappingError> {
    let space = read_space(&Value::from(name))?;
    // Bits have their own, and numbers cannot have it.
    if space.is_binary() {
        return Ok(());
    }
    for part in &mut spec.parts {
        let MappingPart::Field(field) = part else {
            continue;
        };
        let names_one = names_space(&field.shown);
        let FieldKind::Vector(vector) = &mut field.kind else {
            continue;
        };
        if !names_one && vector.column.element != Element::Bit {
            vector.column.space = space;
        }
    }
    for template in spec.templates.iter_mut().flatten() {
        let parameters = &mut template.parameters;
        let has = |key: &str, value: &str| parameters.get(key).is_some_and(|is| is == value);
        if has("type", "knn_vector") && !has("data_type", "binary") && !names_space(parameters) {
            parameters.insert("space_type".to_string(), Value::from(name));
        }
    }
    Ok(())
}

/// Whether a field, or its method, says in which space it is.
fn names_space(parameters: &Map<String, Value>) -> bool {
    let method = parameters.get("method");
    let in_method = method.and_then(|method| method.get("space_type"));
    parameters.contains_key("space_type") || in_method.is_some()
}

#[cfg(test)]
mod tests {
    use clew_schema::Mapping;
    use serde_json::json;

    use super::*;
    use crate::{merge_in_space, shown};

    #[test]
    fn fields_that_name_no_space_get_that_of_the_index() {
        let body = json!({"properties": {
            "plain": {"type": "knn_vector", "dimension": 2},
            "method": {"type": "knn_vector", "dimension": 2, "method": {"name": "hnsw"}},
            "own": {"type": "knn_vector", "dimension": 2, "space_type": "l2"},
            "inner": {"type": "knn_vector", "dimension": 2,
                "method": {"name": "hnsw", "space_type": "innerproduct"}},
            "bits": {"type": "knn_vector", "dimension": 8, "data_type": "binary"},
            "t": {"type": "text"},
        }});
        let mut mapping = Mapping::new();
        merge_in_space(&mut mapping, &body, "cosinesimil").unwrap();
        for (name, wanted) in [
            ("plain", Space::Cosine),
            ("method", Space::Cosine),
            ("own", Space::L2),
            ("inner", Space::InnerProduct),
            ("bits", Space::Hamming),
        ] {
            let FieldKind::Vector(vector) = &mapping.field(name).unwrap().kind else {
                panic!("{name} is no vector");
            };
            assert_eq!(vector.column.space, wanted, "{name}");
        }
        let mut told = body.clone();
        told["properties"]["plain"]["space_type"] = json!("cosinesimil");
        assert_eq!(shown(&mapping), told);
        // The same said again is no change.
        merge_in_space(&mut mapping, &body, "cosinesimil").unwrap();
        assert!(merge_in_space(&mut mapping, &body, "l2").is_err());
    }

    #[test]
    fn names_of_no_space_are_refused() {
        assert!(check_space("cosinesimil").is_ok());
        for name in ["l1", "foo", "JACCARD", ""] {
            assert!(check_space(name).is_err(), "{name}");
        }
    }
}

//! The parameters of `geo_shape` fields, which are kept as they are shown.

use clew_schema::geo::clockwise;
use clew_schema::{FieldKind, FieldSpec, MappingError};
use serde_json::Value;

use crate::parameter_values::{named_boolean, show};
use crate::words::with_field;

/// Parameters of the prefix trees of old, which are gone: they are taken and shown, and change nothing.
const TREE_PARAMETERS: [&str; 6] = [
    "tree",
    "precision",
    "tree_levels",
    "strategy",
    "distance_error_pct",
    "points_only",
];

/// Reads a parameter of a field of shapes; whether it was one.
pub(crate) fn read_shapes(
    spec: &mut FieldSpec,
    key: &str,
    value: &Value,
) -> Result<bool, MappingError> {
    if spec.kind != FieldKind::GeoShape {
        return Ok(false);
    }
    match key {
        "ignore_malformed" => {
            spec.ignore_malformed = named_boolean(&with_field(&spec.path, key), value)?;
        }
        "coerce" | "ignore_z_value" => {
            let flag = named_boolean(&with_field(&spec.path, key), value)?;
            spec.shown.insert(key.to_string(), Value::Bool(flag));
        }
        "orientation" => {
            let is_clockwise = clockwise(&show(value)).map_err(MappingError::unreadable)?;
            let name = if is_clockwise { "LEFT" } else { "RIGHT" };
            spec.shown.insert(key.to_string(), Value::from(name));
        }
        _ if TREE_PARAMETERS.contains(&key) => {
            spec.shown.insert(key.to_string(), value.clone());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use clew_schema::Mapping;
    use serde_json::json;

    use crate::{shown, try_mapping};

    #[test]
    fn what_is_said_of_shapes_is_shown_again() {
        let field = json!({
            "type": "geo_shape", "orientation": "cw", "coerce": true, "ignore_z_value": false,
            "ignore_malformed": true, "strategy": "recursive",
        });
        let mapping = try_mapping(&json!({"properties": {"s": field}})).unwrap();
        for mapping in [Mapping::decode(&mapping.encode(), None).unwrap(), mapping] {
            let found = &shown(&mapping)["properties"]["s"];
            let mut wanted = field.clone();
            wanted["orientation"] = json!("LEFT");
            assert_eq!(found, &wanted);
        }
        for (key, value) in [
            ("orientation", json!("up")),
            ("coerce", json!("x")),
            ("foo", json!(1)),
        ] {
            let mut field = json!({"type": "geo_shape"});
            field[key] = value;
            assert!(
                try_mapping(&json!({"properties": {"s": field}})).is_err(),
                "{key}"
            );
        }
    }
}

use clew_schema::{FieldKind, Mapping};
use serde_json::json;

use super::*;
use crate::{merge, reason, shown, try_mapping};

const HALF: &str = r#""method": {"name": "hnsw", "parameters": {"encoder":
    {"name": "sq", "parameters": {"type": "fp16"}}}}"#;
const FLAT: &str = r#""method": {"name": "hnsw", "parameters": {"encoder": {"name": "flat"}}}"#;
const NO_ENCODER: &str = r#""method": {"name": "hnsw", "parameters": {"m": 8}}"#;

/// A mapping with one vector of these parameters.
fn mapping(parameters: &str) -> Result<Mapping, String> {
    let field = format!(r#"{{"type": "knn_vector", "dimension": 128, {parameters}}}"#);
    let field: Value = serde_json::from_str(&field).unwrap();
    let body = json!({ "properties": { "v": field } });
    let mapping = try_mapping(&body).map_err(|error| reason(&error))?;
    assert_eq!(shown(&mapping), body, "shown as written");
    let decoded = Mapping::decode(&mapping.encode(), None).unwrap();
    assert_eq!(shown(&decoded), body);
    Ok(decoded)
}

fn column(mapping: &Mapping) -> ColumnOptions {
    match &mapping.field("v").unwrap().kind {
        FieldKind::Vector(vector) => vector.column,
        other => panic!("{other:?} is no vector"),
    }
}

#[test]
fn a_level_chooses_the_element_or_the_width_of_codes() {
    use CodeBits::{Eight, Four, One, Two};
    use Element::{F16, F32};
    let with = |method: &str, rest: &str| format!("{method}, {rest}");
    let rows = [
        (r#""mode": "in_memory""#.to_string(), F32, Four),
        (r#""mode": null"#.into(), F32, Four),
        (r#""compression_level": null"#.into(), F32, Four),
        (r#""mode": "on_disk""#.into(), F32, One),
        (
            r#""mode": "on_disk", "compression_level": "16x""#.into(),
            F32,
            Two,
        ),
        (
            r#""mode": "in_memory", "compression_level": "32x""#.into(),
            F32,
            One,
        ),
        (r#""compression_level": "1x""#.into(), F32, Four),
        (r#""compression_level": "2x""#.into(), F16, Four),
        (
            r#""compression_level": "2x", "data_type": "float""#.into(),
            F16,
            Four,
        ),
        (r#""compression_level": "4x""#.into(), F32, Eight),
        (r#""compression_level": "8x""#.into(), F32, Four),
        (r#""compression_level": "16x""#.into(), F32, Two),
        (r#""compression_level": "32x""#.into(), F32, One),
        (with(NO_ENCODER, r#""compression_level": "32x""#), F32, One),
        (with(NO_ENCODER, r#""mode": "on_disk""#), F32, One),
        (with(HALF, r#""compression_level": "2x""#), F16, Four),
        (with(HALF, r#""mode": "on_disk""#), F16, Four),
        (with(FLAT, r#""compression_level": "1x""#), F32, Four),
    ];
    for (parameters, element, code_bits) in rows {
        let column = column(&mapping(&parameters).unwrap());
        let found = (column.element, column.code_bits);
        assert_eq!(found, (element, code_bits), "{parameters}");
    }
}

#[test]
fn what_contradicts_itself_is_refused_in_opensearchs_words() {
    let floats = "Compression and mode cannot be used for non-float32 data type for field v";
    let encoder = "Validation Failed: 1: Cannot specify an encoder that conflicts with the \
                   provided compression level;";
    let with = |method: &str, rest: &str| format!("{method}, {rest}");
    let rows = [
        (
            r#""compression_level": "32x", "data_type": "byte""#.to_string(),
            floats,
        ),
        (r#""mode": "on_disk", "data_type": "binary""#.into(), floats),
        (r#""mode": "in_memory", "data_type": "byte""#.into(), floats),
        (with(HALF, r#""compression_level": "32x""#), encoder),
        (with(FLAT, r#""compression_level": "2x""#), encoder),
        (
            r#""mode": "on_disk", "compression_level": "1x""#.into(),
            "Validation Failed: 1: Cannot specify \"x1\" compression level when using \
             \"on_disk\" mode;",
        ),
        (
            r#""compression_level": "3x""#.into(),
            "Unknown value [3x] for field [compression_level] - accepted values are \
             [null, 1x, 2x, 4x, 8x, 16x, 32x]",
        ),
        (
            r#""mode": "fast""#.into(),
            "Unknown value [fast] for field [mode] - accepted values are \
             [null, in_memory, on_disk]",
        ),
    ];
    for (parameters, expected) in rows {
        assert_eq!(mapping(&parameters).unwrap_err(), expected, "{parameters}");
    }
}

#[test]
fn neither_can_be_changed_later() {
    let on_disk = r#""mode": "on_disk""#;
    let level = |level: &str| format!(r#""compression_level": "{level}""#);
    let rows = [
        (on_disk.to_string(), on_disk.to_string(), None),
        (level("2x"), level("2x"), None),
        (
            on_disk.into(),
            r#""mode": "in_memory""#.into(),
            Some("[mode] from [on_disk] to [in_memory]"),
        ),
        (
            level("32x"),
            level("16x"),
            Some("[compression_level] from [32x] to [16x]"),
        ),
        (
            r#""space_type": "l2""#.into(),
            level("2x"),
            Some("[compression_level] from [null] to [2x]"),
        ),
        (
            FLAT.into(),
            HALF.into(),
            Some("[data_type] from [float] to [float16]"),
        ),
    ];
    for (before, after, refusal) in rows {
        let mut merged = mapping(&before).unwrap();
        let was = merged.encode();
        let result = merge(&mut merged, &shown(&mapping(&after).unwrap()));
        match refusal {
            None => result.unwrap(),
            Some(change) => {
                let expected = format!(
                    "Mapper for [v] conflicts with existing mapper:\n\tCannot update \
                     parameter {change}"
                );
                assert_eq!(reason(&result.unwrap_err()), expected);
                assert_eq!(merged.encode(), was);
            }
        }
    }
}

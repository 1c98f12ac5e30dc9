use clew_schema::FieldKind;
use serde_json::json;

use super::*;

fn read(engine: &str, encoder: &Value, level: Option<&str>) -> Result<VectorMapping, String> {
    let method = json!({"name": "hnsw", "engine": engine, "parameters": {"encoder": encoder}});
    let mut field = json!({"type": "knn_vector", "dimension": 8, "method": method});
    if let Some(level) = level {
        field["compression_level"] = json!(level);
    }
    let mapping = crate::try_mapping(&json!({"properties": {"v": field}}))
        .map_err(|error| crate::reason(&error))?;
    match &mapping.field("v").unwrap().kind {
        FieldKind::Vector(vector) => Ok(vector.clone()),
        other => panic!("{other:?} is no vector"),
    }
}

fn encoder(name: &str, parameters: &Value) -> Value {
    json!({"name": name, "parameters": parameters})
}

#[test]
fn an_encoder_chooses_the_element_or_the_width_of_codes() {
    use CodeBits::{Eight, Four, One, Two};
    use Element::{F16, F32};
    let lucene = json!({"bits": 7, "confidence_interval": 0.9});
    for (engine, encoder, level, element, bits) in [
        ("faiss", json!({"name": "flat"}), Some("1x"), F32, Four),
        ("faiss", json!({"name": "sq"}), Some("2x"), F16, Four),
        (
            "faiss",
            encoder("binary", &json!({"bits": 1})),
            Some("32x"),
            F32,
            One,
        ),
        (
            "FAISS",
            encoder("binary", &json!({"bits": 2})),
            Some("16x"),
            F32,
            Two,
        ),
        (
            "faiss",
            encoder("binary", &json!({"bits": 4})),
            Some("8x"),
            F32,
            Four,
        ),
        ("faiss", json!({"name": "binary"}), None, F32, One),
        ("lucene", json!({"name": "sq"}), Some("4x"), F32, Eight),
        ("lucene", encoder("sq", &lucene), None, F32, Eight),
        (
            "lucene",
            encoder("sq", &json!({"confidence_interval": 0})),
            None,
            F32,
            Eight,
        ),
    ] {
        let column = read(engine, &encoder, level).unwrap().column;
        assert_eq!(
            (column.element, column.code_bits),
            (element, bits),
            "{encoder}"
        );
    }
    let clips = encoder("sq", &json!({"type": "fp16", "clip": true}));
    assert!(read("faiss", &clips, None).unwrap().clips);
    assert!(!read("faiss", &json!({"name": "sq"}), None).unwrap().clips);
}

#[test]
fn wrong_encoders_are_refused_by_what_is_wrong() {
    let integer = "Validation Failed: parameter validation failed for Integer parameter [bits].";
    for (engine, encoder, level, expected) in [
        (
            "faiss",
            encoder("binary", &json!({"bits": 3})),
            None,
            integer,
        ),
        ("lucene", encoder("sq", &json!({"bits": 4})), None, integer),
        (
            "lucene",
            encoder("sq", &json!({"confidence_interval": 0.5})),
            None,
            "Validation Failed: parameter validation failed for Double parameter [confidence_interval].",
        ),
        (
            "faiss",
            encoder("sq", &json!({"bits": 7})),
            None,
            "Invalid parameter for encoder \"sq\": bits.",
        ),
        (
            "faiss",
            encoder("binary", &json!({"bits": 2})),
            Some("32x"),
            "Validation Failed: 1: Cannot specify an encoder that conflicts with the provided compression level;",
        ),
    ] {
        let refused = read(engine, &encoder, level).unwrap_err();
        assert_eq!(refused, expected, "{encoder}");
    }
}

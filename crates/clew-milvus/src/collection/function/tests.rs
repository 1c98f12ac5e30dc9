use serde_json::json;

use super::*;

fn collection() -> Collection {
    let kept = json!({
        "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1,
        "partitions": {"_default": 1}, "loaded": true, "updated_ms": 0,
        "fields": [
            {"id": 100, "name": "id", "data_type": "Int64", "is_primary": true},
            {"id": 101, "name": "v", "data_type": "FloatVector", "params": {"dim": "2"}},
            {"id": 102, "name": "text", "data_type": "VarChar",
             "params": {"max_length": "100", "enable_analyzer": "true"}},
        ],
    });
    serde_json::from_value(kept).unwrap()
}

#[test]
fn kinds_of_functions_have_milvus_numbers() {
    for (name, number) in [
        ("BM25", Some(1)),
        ("TextEmbedding", Some(2)),
        ("MinHash", Some(4)),
        ("Guess", None),
        ("", None),
    ] {
        assert_eq!(kind_number(name), number, "{name}");
    }
}

#[test]
fn a_function_that_comes_later_is_of_words_or_signatures() {
    for kind in [0, 2, 3, 99] {
        let function = proto::FunctionSchema {
            name: "made".into(),
            r#type: kind,
            ..proto::FunctionSchema::default()
        };
        let field = Field::named("other", DataType::FloatVector);
        let refused = collection().add_function_field(field, function);
        let said = refused.unwrap_err().to_string();
        assert!(said.contains("only BM25 and MinHash"), "{said}");
    }
}

#[test]
fn a_function_that_comes_later_fills_the_field_that_comes_with_it() {
    let add = |inputs: &[&str], outputs: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| String::from(*name)).collect();
        let function = proto::FunctionSchema {
            name: "words".into(),
            r#type: FunctionKind::Bm25.number(),
            input_field_names: owned(inputs),
            output_field_names: owned(outputs),
            ..proto::FunctionSchema::default()
        };
        let field = Field::named("sparse", DataType::SparseFloatVector);
        collection().add_function_field(field, function)
    };
    assert_eq!(add(&["text"], &["sparse"]), Ok(()));
    let how_many = "BM25 function should have exactly one input field and exactly one output field";
    let refusals: [(&[&str], &[&str], &str); 5] = [
        (
            &["text"],
            &["v"],
            "function output field \"v\" must be the newly-added field \"sparse\"",
        ),
        (&["text"], &[], how_many),
        (&["text"], &["sparse", "v"], how_many),
        (&[], &["sparse"], how_many),
        (&["no"], &["sparse"], "function input field not found: no"),
    ];
    for (inputs, outputs, said) in refusals {
        let refused = add(inputs, outputs).unwrap_err();
        assert_eq!(refused.code(), 1100, "{said}");
        assert!(refused.to_string().starts_with(said), "{refused}");
    }
}

/// The refusal of a function of names between commas, and of a kind by its number.
fn refusal(name: &str, inputs: &str, outputs: &str, kind: i32) -> MilvusError {
    let names = |list: &str| match list {
        "" => Vec::new(),
        list => list.split(',').map(|name| name.trim().into()).collect(),
    };
    let function = proto::FunctionSchema {
        name: name.into(),
        r#type: kind,
        input_field_names: names(inputs),
        output_field_names: names(outputs),
        ..proto::FunctionSchema::default()
    };
    collection().add_function(function, 1).unwrap_err()
}

#[test]
fn functions_that_are_named_wrongly_or_are_none_are_refused() {
    const TWO_INPUTS: &str =
        "BM25 function input field must be a VARCHAR/TEXT field, got 2 field with type VarChar";
    for (name, inputs, outputs, code, said) in [
        ("", "text", "v", 1101, "function name cannot be empty"),
        (
            "f",
            "",
            "v",
            1101,
            "function input field names cannot be empty, function: f",
        ),
        (
            "f",
            "text",
            "",
            1101,
            "function output field names cannot be empty",
        ),
        (
            "f",
            " ",
            "v",
            1101,
            "function input field name cannot be empty string",
        ),
        (
            "f",
            "text,text",
            "v",
            1100,
            "each function input field should be used",
        ),
        (
            "f",
            "text",
            "text",
            1100,
            "a single field cannot be both input and output",
        ),
        ("f", "text,id", "v", 1100, TWO_INPUTS),
        (
            "f",
            "text",
            "v,id",
            1100,
            "BM25 function only need 1 output field, but got 2",
        ),
        (
            "f",
            "text",
            "v,v",
            1100,
            "each function output field should be used",
        ),
    ] {
        let refused = refusal(name, inputs, outputs, FunctionKind::Bm25.number());
        assert_eq!(refused.code(), code, "{refused}");
        assert!(refused.to_string().starts_with(said), "{refused}");
    }
    for (kind, code) in [(0, 1100), (2, 3000), (3, 1100), (99, 1100)] {
        assert_eq!(refusal("f", "text", "v", kind).code(), code, "{kind}");
    }
}

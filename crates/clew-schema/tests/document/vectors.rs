use clew_schema::{
    DocumentError, FieldId, StoredNumbers, StoredVector, VectorValue, restore_vectors,
};
use clew_vector::Element;

use super::*;

fn vectors() -> Mapping {
    mapping(&json!({
        "v": { "type": "knn_vector", "dimension": 3 },
        "a": { "properties": { "c": { "type": "knn_vector", "dimension": 2, "space_type": "cosinesimil" } } },
        "one": { "type": "knn_vector", "dimension": 1 },
        "byte": { "type": "knn_vector", "dimension": 2, "data_type": "byte" },
        "bits": { "type": "knn_vector", "dimension": 16, "data_type": "binary" },
        "half": {
            "type": "knn_vector", "dimension": 1,
            "method": { "name": "hnsw", "parameters": { "encoder": { "name": "sq" } } },
        },
        "few": { "type": "sparse_vector" },
        "n": { "type": "long" },
    }))
}

/// Documents, their sources without vectors, and with them put back.
#[rustfmt::skip]
const ROUND_TRIPS: &[(&str, &str, &str)] = &[
    (r#"{"v":[1,-2.5,3e-2]}"#, "{}", r#"{"v":[1.0,-2.5,0.03]}"#),
    (r#"{"v":[1,2,3],"n":1}"#, r#"{"n":1}"#, r#"{"n":1,"v":[1.0,2.0,3.0]}"#),
    (r#"{"n":1,"v":[1,2,3]}"#, r#"{"n":1}"#, r#"{"n":1,"v":[1.0,2.0,3.0]}"#),
    (r#"{"one":[1],"v":[1,2,3],"n":1}"#, r#"{"n":1}"#, r#"{"n":1,"one":[1.0],"v":[1.0,2.0,3.0]}"#),
    (r#"{ "n":1 , "v":[1,2,3] , "one":[1] }"#, r#"{ "n":1 }"#, r#"{ "n":1 ,"v":[1.0,2.0,3.0],"one":[1.0]}"#),
    (r#"{"one":4,"n":[1]}"#, r#"{"n":[1]}"#, r#"{"n":[1],"one":[4.0]}"#),
    (r#"{"v":null,"n":1}"#, r#"{"v":null,"n":1}"#, r#"{"v":null,"n":1}"#),
    (r#"{"a":{"c":[0.1,"2"]},"n":2}"#, r#"{"a":{},"n":2}"#, r#"{"a":{"c":[0.1,2.0]},"n":2}"#),
    (r#"{"a.c":[1,2]}"#, "{}", r#"{"a":{"c":[1.0,2.0]}}"#),
    (r#"{"a":[{"c":[1,2]}]}"#, r#"{"a":[{}]}"#, r#"{"a":[{"c":[1.0,2.0]}]}"#),
    (r#"{"few":{"7":0.5,"3":2},"n":1}"#, r#"{"n":1}"#, r#"{"n":1,"few":{"3":2.0,"7":0.5}}"#),
    (r#"{"few":{},"n":1}"#, r#"{"n":1}"#, r#"{"n":1,"few":{}}"#),
    (r#"{"few":null}"#, r#"{"few":null}"#, r#"{"few":null}"#),
    (r#"{"one":[1],"a":{"c":[1,2]},"v":[1,2,3]}"#, r#"{"a":{}}"#, r#"{"a":{"c":[1.0,2.0]},"one":[1.0],"v":[1.0,2.0,3.0]}"#),
];

pub(crate) fn floats<'a>(path: &'a str, numbers: &'a [f32]) -> StoredVector<'a> {
    StoredVector {
        path,
        numbers: StoredNumbers::Dense(Element::F32, numbers.into()),
    }
}

/// A vector of a document, as a column of 32-bit numbers or of weights has it.
pub(crate) fn stored<'a>(path: &'a str, vector: &'a VectorValue) -> StoredVector<'a> {
    match vector {
        VectorValue::Dense(numbers) => floats(path, numbers),
        VectorValue::Sparse(entries) => StoredVector {
            path,
            numbers: StoredNumbers::Sparse(entries),
        },
    }
}

#[test]
fn bytes_come_back_as_whole_numbers() {
    let numbers = [-128.0, 0.0, 7.0];
    let vector = StoredVector {
        path: "v",
        numbers: StoredNumbers::Dense(Element::I8, (&numbers[..]).into()),
    };
    let found = restore_vectors(b"{}", &[vector]);
    assert_eq!(std::str::from_utf8(&found).unwrap(), r#"{"v":[-128,0,7]}"#);
}

#[test]
fn vectors_leave_the_source_and_come_back() {
    let mapping = vectors();
    for (source, stripped, restored) in ROUND_TRIPS {
        let document = parse(&mapping, source);
        let found = std::str::from_utf8(&document.source).unwrap();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(json(found), json(stripped), "{source}");
        let vectors: Vec<StoredVector<'_>> = document
            .vectors
            .iter()
            .map(|(id, vector)| stored(mapping.by_id(*id).unwrap().path.as_str(), vector))
            .collect();
        let back = restore_vectors(&document.source, &vectors);
        assert_eq!(
            json(std::str::from_utf8(&back).unwrap()),
            json(restored),
            "{source}"
        );
        let again = parse(&mapping, std::str::from_utf8(&back).unwrap());
        assert_eq!(again.vectors.len(), document.vectors.len());
        for (id, vector) in &document.vectors {
            assert!(again.vectors.contains(&(*id, vector.clone())), "{source}");
        }
    }
}

#[test]
fn restored_vectors_find_a_free_name() {
    let rows = [
        ("{}", "a.b.v", r#"{"a":{"b":{"v":[1.0]}}}"#),
        (r#"{"a":1}"#, "a.v", r#"{"a":1,"a.v":[1.0]}"#),
        (
            r#"{"a":{"x":1}}"#,
            "a.b.v",
            r#"{"a":{"x":1,"b":{"v":[1.0]}}}"#,
        ),
        (r#"{"a.b":{}}"#, "a.b.v", r#"{"a.b":{"v":[1.0]}}"#),
        (r#"{"v":null}"#, "v", r#"{"v":[1.0]}"#),
        (r#"{"a":[1,{}]}"#, "a.v", r#"{"a":[1,{}],"a.v":[1.0]}"#),
        (r#"{"a\"":{}}"#, "a\".v", r#"{"a\"":{"v":[1.0]}}"#),
        ("nonsense", "v", "nonsense"),
    ];
    for (source, path, expected) in rows {
        let found = restore_vectors(source.as_bytes(), &[floats(path, &[1.0])]);
        assert_eq!(std::str::from_utf8(&found).unwrap(), expected);
    }
}

#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    (r#"{"v":[1,2]}"#, "Vector dimension mismatch. Expected: 3, Given: 2"),
    (r#"{"v":[]}"#, "Vector dimension mismatch. Expected: 3, Given: 0"),
    (r#"{"v":[1,2,3,4]}"#, "Vector dimension mismatch. Expected: 3, Given: 4"),
    (r#"{"v":[1,2,1e39]}"#, "KNN vector values cannot be infinity"),
    (r#"{"v":[1,null,3]}"#, "Current token (VALUE_NULL) not numeric, can not use numeric value accessors\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 13]"),
    (r#"{"v":[[1,2,3]]}"#, "Current token (START_ARRAY) not numeric, can not use numeric value accessors\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 8]"),
    (r#"{"v":{"a":1}}"#, "Current token (START_OBJECT) not numeric, can not use numeric value accessors\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 7]"),
    (r#"{"v":["x",1,2]}"#, "For input string: \"x\""),
    (r#"{"v":["1,5",1,2]}"#, "For input string: \"1,5\""),
    (r#"{"v":["NaN",1,2]}"#, "For input string: \"NaN\""),
    (r#"{"byte":[1,0.5]}"#, "[data_type] field was set as [byte] in index mapping. But, KNN vector values are floats instead of byte integers"),
    (r#"{"byte":[1,128]}"#, "[data_type] field was set as [byte] in index mapping. But, KNN vector values are not within in the byte range [-128, 127]"),
    (r#"{"bits":[1,2,3]}"#, "Vector dimension mismatch. Expected: 2, Given: 3"),
    (r#"{"bits":[1,-129]}"#, "[data_type] field was set as [binary] in index mapping. But, KNN vector values are not within in the byte range [-128, 127]"),
    (r#"{"half":[1e5]}"#, "encoder name is set as [sq] and type is set as [fp16] in index mapping. But, KNN vector values are not within in the FP16 range [-65504.0, 65504.0]"),
    (r#"{"a":{"c":[0,-0.0]}}"#, "zero vector is not supported when space type is [cosinesimil]"),
    (r#"{"a":[{"c":[1,2]},{"c":[1,2]}]}"#, "VectorValuesField \"a.c\" appears more than once in this document (only one value is allowed per field)"),
];

#[test]
fn vectors_that_do_not_fit_are_refused_by_name() {
    let mapping = vectors();
    for (source, expected) in REFUSED {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        assert!(
            document_reason(&error, "7").contains("of type [knn_vector] in document with id '7'"),
            "{source}"
        );
        assert_eq!(document_cause(&error).unwrap().1, *expected, "{source}");
    }
    for source in [
        r#"{"v":[1,2,3"#,
        r#"{"v":[1,,2]}"#,
        r#"{"v":[1,2,]}"#,
        r#"{"v":[01,2,3]}"#,
        r#"{"v":[1 2]}"#,
        r#"{"v":[1.,2,3]}"#,
        r#"{"v":[NaN]}"#,
    ] {
        let error = mapping.parse_document(source.as_bytes()).unwrap_err();
        assert!(
            matches!(error, DocumentError::Malformed { .. }),
            "{source}: {error}"
        );
    }
}

#[test]
fn vectors_beside_the_text_are_checked_like_those_in_it() {
    let mapping = vectors();
    let id = mapping.field("v").unwrap().id;
    let n = mapping.field("n").unwrap().id;
    let parse = |source: &'static str, vectors: Vec<(FieldId, Vec<f32>)>| {
        let vectors = vectors.into_iter().map(|(id, vector)| (id, vector.into()));
        mapping.parse_within(source.as_bytes(), vectors.collect(), &mut |_| true)
    };
    let Ok(Parsed::Document(document)) = parse(r#"{"n":1}"#, vec![(id, vec![1.0, 2.0, 3.0])])
    else {
        panic!("the vector fits");
    };
    assert_eq!(document.vectors, [(id, vec![1.0, 2.0, 3.0].into())]);
    assert_eq!(document.fields.len(), 1);
    for wrong in [
        parse("{}", vec![(id, vec![1.0])]),
        parse("{}", vec![(id, vec![1.0, f32::NAN, 2.0])]),
        parse("{}", vec![(id, vec![1.0; 3]), (id, vec![1.0; 3])]),
        parse(r#"{"v":[1,2,3]}"#, vec![(id, vec![1.0; 3])]),
        parse("{}", vec![(n, vec![1.0; 3])]),
        parse("{}", vec![(FieldId::new(99), vec![1.0; 3])]),
    ] {
        assert!(wrong.is_err());
    }
}

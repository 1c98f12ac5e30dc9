use serde_json::json;

use super::*;

fn read(source: &str) -> Result<Query, DslError> {
    let script = json!({"source": source, "params": {"v": [1.0, 2.0], "field": "f"}});
    script_score(&json!({"query": {"match_all": {}}, "script": script}), 0)
}

#[test]
fn scripts_over_one_vector_are_searches_by_it() {
    let cases = [
        (
            "cosineSimilarity(params.v, doc['f']) + 1.0",
            VectorMeasure::Cosine,
            ScoreFormula::Plus(1.0),
        ),
        (
            "1.0 + cosineSimilarity(params.v, doc[\"f\"])",
            VectorMeasure::Cosine,
            ScoreFormula::Plus(1.0),
        ),
        (
            "1 / (1 + l2Squared(params.v, doc[params.field]))",
            VectorMeasure::L2Squared,
            ScoreFormula::Inverse(1.0),
        ),
        (
            "(1.0 + cosineSimilarity(params.v, doc['f']))",
            VectorMeasure::Cosine,
            ScoreFormula::Plus(1.0),
        ),
        (
            "(cosineSimilarity(params.v, doc['f']) + 1.0) / 2",
            VectorMeasure::Cosine,
            ScoreFormula::HalfOfOneMore,
        ),
        (
            "(1.0 / (1.0 + l1Norm(params.v, doc['f'])))",
            VectorMeasure::L1,
            ScoreFormula::Inverse(1.0),
        ),
        (
            "return innerProduct(params.v, 'f');",
            VectorMeasure::InnerProduct,
            ScoreFormula::Plus(0.0),
        ),
    ];
    for (source, measure, formula) in cases {
        let Ok(Query::VectorScore(scored)) = read(source) else {
            panic!("{source}");
        };
        assert_eq!(scored.field, "f");
        assert_eq!(scored.vector, [1.0, 2.0]);
        assert_eq!((scored.measure, scored.formula), (measure, formula));
    }
}

#[test]
fn other_scripts_are_functions_and_what_is_not_understood_is_refused() {
    for source in [
        "doc['x'].value * 2",
        "cosineSimilarity(params.v, doc['f']) * doc['x'].value",
    ] {
        assert!(
            matches!(read(source), Ok(Query::FunctionScore(_))),
            "{source}"
        );
    }
    for source in [
        "cosineSimilarity(params.w, doc['f'])",
        "cosineSimilarity(params.v, f)",
        "1 / (l2Squared(params.v, doc['f'])",
        "(1.0) + (cosineSimilarity(params.v, doc['f'])",
        "",
    ] {
        assert!(read(source).is_err(), "{source}");
    }
}

#[test]
fn the_plugins_script_stands_among_functions_too() {
    for space in ["l2", "cosinesimil", "innerproduct", "l1", "linf", "hamming"] {
        let params = json!({"field": "f", "query_value": [1, 2], "space_type": space});
        let script = json!({"lang": "knn", "source": "knn_score", "params": params});
        let read = function(&json!({"script": script}));
        let Ok(FunctionKind::Script(script)) = &read else {
            panic!("{space}: {read:?}");
        };
        assert_eq!(script.measures().len(), 1, "{space}");
    }
    let script = json!({"lang": "knn", "source": "knn_score", "params": {"field": "f"}});
    assert!(function(&json!({"script": script})).is_err());
}

#[test]
fn scripts_of_a_bool_look_at_what_its_other_clauses_let_through() {
    let body = json!({"filter": [
        {"exists": {"field": "a"}},
        {"script": {"script": "doc['a'].value > 1"}},
    ]});
    let Ok(Query::Bool(mut clauses)) = super::super::parse_query(&json!({"bool": body})) else {
        panic!("a bool");
    };
    let test = clauses.filter.last_mut().and_then(test_of).expect("a test");
    assert!(matches!(&*test.query, Query::Bool(within) if within.filter.len() == 1));
}

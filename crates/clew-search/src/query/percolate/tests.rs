use clew_query::{Bool, Match, MatchPhrase, NestedQuery, Operator, Pattern, Query, Range};
use clew_schema::Mapping;
use serde_json::json;

use super::*;

fn mapping() -> Mapping {
    clew_opensearch_mapping::mapping(json!({"properties": {
        "title": {"type": "text"},
        "tag": {"type": "keyword"},
        "count": {"type": "integer"},
        "query": {"type": "percolator"},
        "parts": {"type": "nested", "properties": {"name": {"type": "keyword"}}},
    }}))
}

fn matcher(documents: &[serde_json::Value]) -> DocumentMatcher {
    let documents: Vec<_> = documents
        .iter()
        .map(|one| one.to_string().into_bytes())
        .collect();
    DocumentMatcher::build(&mapping(), &documents).unwrap()
}

fn slots(matcher: &DocumentMatcher, query: &Query) -> Vec<usize> {
    let matched = matcher.matches(query, 0).unwrap();
    matched.iter().map(|one| one.slot).collect()
}

fn nested(name: &str) -> Query {
    Query::Nested(NestedQuery {
        path: "parts".to_string(),
        query: Box::new(Query::term("parts.name", name)),
        score: clew_query::JoinScore::Avg,
        ignore_unmapped: false,
        boost: 1.0,
    })
}

fn both(must: Vec<Query>) -> Query {
    Query::Bool(Bool {
        must,
        ..Bool::default()
    })
}

#[test]
fn documents_that_become_too_much_in_further_fields_are_refused_unless_an_index_has_taken_them() {
    let copied = json!({"type": "text", "index": false});
    let names: Vec<String> = (0..200).map(|number| format!("c{number}")).collect();
    let fields = names.iter().map(|name| (name.clone(), copied.clone()));
    let mut fields: serde_json::Map<_, _> = fields.collect();
    let from = json!({"type": "text", "index": false, "copy_to": names});
    fields.insert("from".to_string(), from);
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": fields}));
    let document = json!({"from": "word ".repeat(5_000)});
    let document = document.to_string().into_bytes();
    let refused = DocumentMatcher::build(&mapping, std::slice::from_ref(&document)).err();
    let reason = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(reason.contains("there is no room"), "{reason}");
    assert!(DocumentMatcher::of_accepted(&mapping, document).is_ok());
}

/// Queries of many shapes.
fn queries() -> Vec<Query> {
    vec![
        Query::match_all(),
        Query::MatchNone,
        Query::term("tag", "red"),
        Query::term("count", 3),
        Query::term("count", 4),
        Query::matches("title", "Quick fox"),
        Query::Match(Match {
            operator: Operator::And,
            ..Match::new("title", "slow fox")
        }),
        Query::MatchPhrase(MatchPhrase::new("title", "brown fox")),
        Query::MatchPhrase(MatchPhrase::new("title", "fox brown")),
        Query::Prefix(Pattern::new("tag", "re")),
        Query::Range(Range {
            gte: Some(json!(2)),
            ..Range::new("count")
        }),
        nested("wheel"),
        nested("door"),
        both(vec![
            Query::term("tag", "red"),
            Query::matches("title", "fox dog"),
        ]),
        both(vec![Query::term("tag", "blue"), Query::match_all()]),
        Query::Bool(Bool {
            should: vec![Query::term("tag", "blue"), Query::term("tag", "red")],
            ..Bool::default()
        }),
        Query::Bool(Bool {
            must_not: vec![Query::term("tag", "red")],
            ..Bool::default()
        }),
        Query::Bool(Bool {
            filter: vec![Query::term("tag", "red")],
            should: vec![Query::term("tag", "blue")],
            ..Bool::default()
        }),
    ]
}

#[test]
fn documents_are_told_apart() {
    let matcher = matcher(&[
        json!({"title": "A quick brown fox", "tag": "red", "parts": [{"name": "wheel"}]}),
        json!({"title": "a dog", "count": 3}),
        json!({"title": "a quick dog", "tag": ["blue", "red"], "unknown": {"x": 1}}),
    ]);
    let check = |query: &Query, expected: &[usize]| assert_eq!(slots(&matcher, query), expected);
    check(&Query::match_all(), &[0, 1, 2]);
    check(&Query::term("tag", "red"), &[0, 2]);
    check(&Query::term("count", 3), &[1]);
    check(&Query::matches("title", "QUICK"), &[0, 2]);
    check(&nested("wheel"), &[0]);
    check(&Query::term("parts.name", "wheel"), &[]);
}

#[test]
fn a_document_that_matches_has_a_word_that_the_query_needs() {
    let documents = [
        json!({"title": "a quick brown fox", "tag": "red", "count": 3, "parts": {"name": "wheel"}}),
        json!({"title": "slow fox", "tag": "blue", "count": 1}),
        json!({"title": "dog"}),
        json!({}),
    ];
    let mapping = mapping();
    for document in &documents {
        let matcher = matcher(std::slice::from_ref(document));
        let words = matcher.words().unwrap();
        for query in queries() {
            let is_candidate = match Needs::of(&query, &mapping) {
                Needs::Nothing => true,
                Needs::AnyOf(wanted) => words.iter().any(|word| wanted.contains(word)),
            };
            let matches = !slots(&matcher, &query).is_empty();
            assert!(is_candidate || !matches, "{query:?} on {document}");
        }
    }
}

#[test]
fn queries_with_words_are_not_always_tried() {
    let mapping = mapping();
    let needs = |query: Query| Needs::of(&query, &mapping);
    let count = |needs: Needs| match needs {
        Needs::Nothing => None,
        Needs::AnyOf(words) => Some(words.len()),
    };
    assert_eq!(count(needs(Query::term("tag", "red"))), Some(1));
    assert_eq!(count(needs(Query::matches("title", "a b c"))), Some(3));
    let rare = both(vec![
        Query::matches("title", "a b"),
        Query::term("tag", "x"),
    ]);
    assert_eq!(count(needs(rare)), Some(1));
    assert_eq!(count(needs(both(vec![Query::match_all()]))), None);
    assert_eq!(count(needs(Query::MatchNone)), Some(0));
    let phrase = Query::MatchPhrase(MatchPhrase::new("title", "brown fox"));
    assert_eq!(count(needs(phrase)), Some(1));
}

#[test]
fn queries_that_cannot_wait_are_refused() {
    let mapping = mapping();
    let id = mapping.field("query").unwrap().id;
    let store = |query: &Query| stored_query(&mapping, id, "{}", Some(query));
    assert_eq!(store(&Query::term("tag", "x")).unwrap().len(), 2);
    let error = store(&Query::term("nowhere", "x")).unwrap_err();
    assert_eq!(
        error.reason,
        "No field mapping can be found for the field with name [nowhere]"
    );
    let error = store(&both(vec![nested("x"), Query::term("other", 1)])).unwrap_err();
    assert!(error.reason.contains("[other]"));
    let error = store(&Query::term("count", "many")).unwrap_err();
    let (kind, reason) = (error.kind, error.reason);
    let refused = clew_schema::DocumentError::Unfit { kind, reason };
    let (name, _) = clew_opensearch_mapping::document_cause(&refused).unwrap();
    assert_eq!(name, "query_shard_exception");
}

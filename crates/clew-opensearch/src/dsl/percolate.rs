//! `percolate`: stored queries that documents match.

use std::sync::Arc;

use clew_query::{NoQuery, PercolateNamed, PercolateQuery, Query, QueryReader};
use clew_schema::UnfitKind;
use serde_json::Value;

use super::object::Parameters;
use super::{DslError, DslErrorKind, named, parse_query};

/// Documents that one query may ask about.
const DOCUMENTS_MAX: usize = 10_000;

pub(super) fn percolate(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("percolate", body)?.by_fields("percolate");
    // As in OpenSearch the factor is read, and changes nothing.
    parameters.boost()?;
    let field = parameters.text("field")?;
    let name = parameters.text("name")?;
    let stored = stored(body);
    // Where no document is named, these are read all the same, and change nothing.
    parameters.ignore(&["index", "type", "id", "routing", "preference", "version"]);
    let documents = match (parameters.take("document"), parameters.take("documents")) {
        (Some(other), _) if !other.is_object() => {
            return Err(parameters.other_sort("document", other));
        }
        (Some(document), _) => std::slice::from_ref(document),
        (None, Some(Value::Array(documents))) => documents.as_slice(),
        (None, Some(one)) => std::slice::from_ref(one),
        (None, None) => &[],
    };
    parameters.ignore(&["document_type"]);
    parameters.finish()?;
    // A document that is named counts, whatever stands beside it.
    let documents = if stored.is_some() { &[] } else { documents };
    if documents.is_empty() && stored.is_none() {
        return Err(DslError::illegal(
            "Required one of fields [document, documents, id], but none were specified. ",
        ));
    }
    let field = field.ok_or_else(|| DslError::illegal("Required [field]"))?;
    if documents.len() > DOCUMENTS_MAX {
        return Err(DslError::illegal(format!(
            "[percolate] may ask about at most [{DOCUMENTS_MAX}] documents, got [{}]",
            documents.len()
        )));
    }
    if let Some(other) = documents.iter().find(|document| !document.is_object()) {
        return Err(DslError::parsing(format!(
            "[percolate] expected documents but found [{other}]"
        )));
    }
    let documents = documents.iter().map(|one| one.to_string().into_bytes());
    Ok(Query::Percolate(PercolateQuery {
        field,
        named: stored,
        documents: Arc::new(documents.collect()),
        name,
        reader: query_reader(),
    }))
}

/// The stored document that the query is about, if it names one.
fn stored(body: &Value) -> Option<PercolateNamed> {
    let object = body.as_object()?;
    Some(PercolateNamed {
        document: named::document(object, &named::PLAIN)?,
        version: object.get("version").and_then(Value::as_u64),
    })
}

/// Reads the queries that documents store, for the engine.
pub fn query_reader() -> QueryReader {
    QueryReader(read)
}

fn read(text: &[u8]) -> Result<Query, NoQuery> {
    let value: Value = serde_json::from_slice(text).map_err(|error| NoQuery {
        kind: UnfitKind::Syntax,
        reason: error.to_string(),
    })?;
    parse_query(&value).map_err(|error| NoQuery {
        kind: match error.kind {
            DslErrorKind::Parsing | DslErrorKind::Json => UnfitKind::Syntax,
            DslErrorKind::IllegalArgument
            | DslErrorKind::NumberFormat
            | DslErrorKind::Script
            | DslErrorKind::State
            | DslErrorKind::DateTime
            | DslErrorKind::Create
            | DslErrorKind::ZoneRules
            | DslErrorKind::Initialization
            | DslErrorKind::JavaParse => UnfitKind::Illegal,
            DslErrorKind::XContentParse | DslErrorKind::NamedObject => UnfitKind::Content,
            DslErrorKind::Malformed => UnfitKind::Text,
        },
        reason: error.reason,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents_are_taken_alone_or_many_at_once() {
        let check = |body: Value, expected: Result<usize, &str>| match (percolate(&body), expected)
        {
            (Ok(Query::Percolate(query)), Ok(count)) => assert_eq!(query.documents.len(), count),
            (Err(error), Err(reason)) => assert!(error.reason.contains(reason), "{error}"),
            (read, expected) => panic!("{read:?} where {expected:?} was due"),
        };
        check(json!({"field": "q", "document": {"a": 1}}), Ok(1));
        check(json!({"field": "q", "documents": [{"a": 1}, {}]}), Ok(2));
        check(
            json!({"field": "q", "index": "posts", "routing": "r", "document": {}}),
            Ok(1),
        );
        check(json!({"document": {}}), Err("Required [field]"));
        check(
            json!({"field": "q"}),
            Err("Required one of fields [document, documents, id]"),
        );
        check(
            json!({"field": "q", "document": 1}),
            Err("[percolate] document doesn't support values of type: VALUE_NUMBER"),
        );
        check(
            json!({"field": "q", "document": {}, "x": 1}),
            Err("[percolate] unknown field [x]"),
        );
    }

    #[test]
    fn stored_queries_are_read_as_others_are() {
        let read = query_reader();
        assert_eq!(
            read.read(br#"{"term": {"a": "b"}}"#),
            Ok(Query::term("a", "b"))
        );
        let error = read.read(br#"{"nothing": {}}"#).unwrap_err();
        assert!(
            error.reason.contains("unknown query [nothing]"),
            "{error:?}"
        );
        let (kind, reason) = (error.kind, error.reason);
        let refused = clew_schema::DocumentError::Unfit { kind, reason };
        let (name, _) = clew_opensearch_mapping::document_cause(&refused).unwrap();
        assert_eq!(name, "parsing_exception");
    }
}

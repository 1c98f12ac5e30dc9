//! Whether a query could find nested objects beside whole documents, or others beside those that are asked about, by what
//! OpenSearch knows of it: it adds a clause to those that might, which explanations and descriptions of queries show. Ours find
//! what they are about alone without one.

use clew_query::{Bool, Query};
use clew_schema::{FieldKind, Mapping};

use super::compile::search_fields;
use super::query_string;

/// Whether a query under a mapping with nested objects might find these.
pub(crate) fn may_find_objects(query: &Query, mapping: &Mapping) -> bool {
    let rows = Rows {
        mapping,
        other_than: None,
    };
    mapping.has_nested() && may_find(query, rows)
}

/// Whether a query over the objects of a path might find anything else.
pub(crate) fn may_find_others(query: &Query, mapping: &Mapping, path: &str) -> bool {
    let rows = Rows {
        mapping,
        other_than: Some(path),
    };
    may_find(query, rows)
}

/// What might be found: nested objects, or what is none of a path.
#[derive(Clone, Copy)]
struct Rows<'a> {
    mapping: &'a Mapping,
    other_than: Option<&'a str>,
}

impl Rows<'_> {
    /// Whether some of them have values at a path; of fields of the index itself nothing is known.
    fn have(self, path: &str) -> bool {
        let scope = self.mapping.nested_scope(path);
        let has = match self.other_than {
            None => scope.is_some(),
            own => scope != own,
        };
        path.starts_with('_') || self.mapping.field(path).is_some() && has
    }
}

fn may_find(query: &Query, rows: Rows<'_>) -> bool {
    let mapping = rows.mapping;
    match query {
        Query::MatchNone => false,
        Query::Nested(_) => rows.other_than.is_some(),
        Query::Named { query, .. } | Query::Lenient(query) => may_find(query, rows),
        Query::ConstantScore { filter, .. } => may_find(filter, rows),
        Query::Derived(scope) => may_find(&scope.query, rows),
        Query::Term(term) if !term.case_insensitive => rows.have(&term.field),
        Query::Terms { field, .. } => rows.have(field),
        Query::Match(clause) if clause.fuzziness.is_none() => rows.have(&clause.field),
        Query::Range(range) => match mapping.field(&range.field).map(|field| &field.kind) {
            Some(
                FieldKind::Integer(_)
                | FieldKind::Unsigned
                | FieldKind::Float(_)
                | FieldKind::Date { .. }
                | FieldKind::DateNanos { .. },
            )
            | None => rows.have(&range.field),
            Some(_) => true,
        },
        Query::Bool(clauses) => clauses_may_find(clauses, rows),
        Query::QueryString(string) => {
            let fields = search_fields(&string.fields, mapping);
            match query_string::tree(string, &fields, mapping) {
                Ok(tree) => may_find(&tree, rows),
                Err(_) => true,
            }
        }
        _ => true,
    }
}

/// All clauses that must match might, or any of the others where there are none.
fn clauses_may_find(clauses: &Bool, rows: Rows<'_>) -> bool {
    let mut required = clauses.must.iter().chain(&clauses.filter).peekable();
    if required.peek().is_some() {
        return required.all(|one| may_find(one, rows));
    }
    // Where nothing is asked for but what must not match, all documents are meant.
    clauses.should.is_empty() || clauses.should.iter().any(|one| may_find(one, rows))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_known_of_whole_documents_finds_these_alone() {
        let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
            "t": {"type": "text"}, "n": {"type": "long"},
            "o": {"type": "nested", "properties": {"k": {"type": "keyword"}}},
        }}));
        let exists = |field: &str| Query::Exists {
            field: field.to_string(),
            boost: 1.0,
        };
        let both = |one: Query, other: Query| {
            Query::Bool(Bool {
                must: vec![one],
                filter: vec![other],
                ..Bool::default()
            })
        };
        for (query, want) in [
            (Query::match_all(), true),
            (Query::matches("t", "quick fox"), false),
            (Query::term("o.k", "a"), true),
            (Query::term("nope", "a"), false),
            (exists("n"), true),
            (both(exists("n"), Query::term("n", 1)), false),
            (both(exists("n"), Query::match_all()), true),
            (Query::Bool(Bool::default()), true),
        ] {
            assert_eq!(may_find_objects(&query, &mapping), want, "{query:?}");
        }
        let flat = clew_opensearch_mapping::mapping(json!({"properties": {"t": {"type": "text"}}}));
        assert!(!may_find_objects(&Query::match_all(), &flat));
    }
}

//! Query and sort JSON, and what comes of it.

#![allow(
    clippy::too_many_lines,
    reason = "the tables are long, the functions do one thing"
)]

mod queries;
mod refused;
mod sorts;

use clew_query::{
    Bool, Boosting, FieldBoost, Fuzziness, KnnQuery, Match, MatchPhrase, MinimumShouldMatch,
    Missing, MultiMatch, MultiMatchKind, Operator, Order, Pattern, Query, QueryString, Range,
    SortKey, SortMode, SortValue, Term,
};
use serde_json::{Value, json};

use super::{DslError, DslErrorKind, parse_query, parse_sort};

fn term(field: &str, value: Value) -> Query {
    Query::term(field, value)
}

#[test]
fn every_query_is_proposed_to_who_misspells_it() {
    let names = super::QUERIES.iter().map(|(name, _)| *name);
    for name in names.chain(super::span::names()) {
        let body = json!({ format!("{name}x"): {} });
        let reason = parse_query(&body).unwrap_err().reason;
        assert!(reason.contains(name), "{reason}");
    }
}

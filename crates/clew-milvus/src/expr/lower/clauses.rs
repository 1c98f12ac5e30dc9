//! Clauses put together.

use std::collections::BTreeMap;

use clew_query::{Bool, PredicateQuery, Query, Test};
use serde_json::Value;

use crate::collection::Field;

/// Most values of one clause; the engine refuses more.
const TERMS_MAX: usize = 65_536;

pub(super) fn constant(holds: bool) -> Query {
    if holds {
        Query::match_all()
    } else {
        Query::MatchNone
    }
}

pub(super) fn not(query: Query) -> Query {
    Query::Bool(Bool {
        must_not: vec![query],
        ..Bool::default()
    })
}

pub(super) fn exists(field: &Field) -> Query {
    if !field.nullable {
        return constant(true);
    }
    Query::Exists {
        field: field.name.clone(),
        boost: 1.0,
    }
}

/// Rows with a value that is not one of these.
pub(super) fn but_not(field: &Field, query: Query) -> Query {
    let mut clauses = Bool {
        must_not: vec![query],
        ..Bool::default()
    };
    if field.nullable {
        clauses.filter.push(Query::Exists {
            field: field.name.clone(),
            boost: 1.0,
        });
    }
    Query::Bool(clauses)
}

pub(super) fn tested(test: Test, negated: bool) -> Query {
    match negated {
        true => predicate(Test::Not(Box::new(test)), None),
        false => predicate(test, None),
    }
}

pub(super) fn predicate(test: Test, within: Option<Query>) -> Query {
    Query::Predicate(Box::new(PredicateQuery {
        within: within.map(Box::new),
        test,
        boost: 1.0,
    }))
}

/// All of some: what an index answers narrows what is tested.
pub(super) fn all_of(parts: Vec<Query>) -> Query {
    let (mut indexed, mut tests) = (Bool::default(), Vec::new());
    for part in parts {
        match part {
            Query::Predicate(own) => {
                let own = *own;
                if let Some(within) = own.within {
                    narrow(&mut indexed, *within);
                }
                tests.push(own.test);
            }
            other => narrow(&mut indexed, other),
        }
    }
    if indexed.filter.contains(&Query::MatchNone) {
        return Query::MatchNone;
    }
    indexed.must_not = merged(indexed.must_not);
    let narrowed = match (indexed.filter.len(), indexed.must_not.len()) {
        (0, 0) => None,
        (1, 0) => indexed.filter.pop(),
        _ => Some(Query::Bool(indexed)),
    };
    match tests.len() {
        0 => narrowed.unwrap_or_else(Query::match_all),
        1 => predicate(tests.remove(0), narrowed),
        _ => predicate(Test::And(tests), narrowed),
    }
}

/// Adds one more clause to those that must all match; one that is such a list itself is taken apart, so that a chain
/// is no deeper than its parts.
fn narrow(all: &mut Bool, one: Query) {
    match one {
        Query::MatchAll { .. } => {}
        Query::Bool(own) if own.must.is_empty() && own.should.is_empty() => {
            all.must_not.extend(own.must_not);
            for one in own.filter {
                narrow(all, one);
            }
        }
        exists @ Query::Exists { .. } if all.filter.contains(&exists) => {}
        other => all.filter.push(other),
    }
}

/// Any of some.
pub(super) fn any_of(parts: Vec<Query>) -> Query {
    // Tests without anything to narrow them read each document once for all.
    let (mut others, mut tests) = (Vec::new(), Vec::new());
    let apart = |part| match part {
        Query::Bool(own)
            if own.must.is_empty() && own.filter.is_empty() && own.must_not.is_empty() =>
        {
            own.should
        }
        other => vec![other],
    };
    for part in parts.into_iter().flat_map(apart) {
        match part {
            Query::Predicate(own) if own.within.is_none() => match own.test {
                Test::Or(own) => tests.extend(own),
                other => tests.push(other),
            },
            Query::MatchNone => {}
            all @ Query::MatchAll { .. } => return all,
            other => others.push(other),
        }
    }
    let mut others = merged(others);
    match tests.len() {
        0 => {}
        1 => others.push(predicate(tests.remove(0), None)),
        _ => others.push(predicate(Test::Or(tests), None)),
    }
    match others.len() {
        0 => Query::MatchNone,
        1 => others.remove(0),
        _ => Query::Bool(Bool {
            should: others,
            ..Bool::default()
        }),
    }
}

/// Alternatives of which those that look for terms of one field are one clause.
fn merged(queries: Vec<Query>) -> Vec<Query> {
    let mut kept = Vec::with_capacity(queries.len());
    let mut terms: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for query in queries {
        match query {
            Query::Term(term) if !term.case_insensitive => {
                terms.entry(term.field).or_default().push(term.value);
            }
            Query::Terms { field, values, .. } => terms.entry(field).or_default().extend(values),
            other => kept.push(other),
        }
    }
    for (field, values) in terms {
        kept.extend(terms_of(&field, values));
    }
    kept
}

/// The clauses that look for any of some values: as few as may be.
fn terms_of(field: &str, values: Vec<Value>) -> Vec<Query> {
    let clause = |mut values: Vec<Value>| match values.len() {
        1 => Query::term(field, values.remove(0)),
        _ => Query::Terms {
            field: field.to_string(),
            values,
            boost: 1.0,
        },
    };
    if (1..=TERMS_MAX).contains(&values.len()) {
        return vec![clause(values)];
    }
    let mut values = values.into_iter().peekable();
    let mut clauses = Vec::new();
    while values.peek().is_some() {
        clauses.push(clause(values.by_ref().take(TERMS_MAX).collect()));
    }
    clauses
}

/// Rows that have one of these values.
pub(super) fn one_of(field: &str, values: Vec<Value>) -> Query {
    let mut clauses = terms_of(field, values);
    match clauses.len() {
        0 => Query::MatchNone,
        1 => clauses.remove(0),
        _ => Query::Bool(Bool {
            should: clauses,
            ..Bool::default()
        }),
    }
}

//! Queries put together: what an index answers narrows what is tested.

use clew_query::{Bool, Comparison, FieldStep, Operand, PredicateQuery, Query, Test};
use serde_json::Value;

use crate::collection::{DYNAMIC, Field};

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

/// What the terms of the dynamic field answer of a comparison with a value inside it: whatever passes is among these.
pub(super) fn narrowing(operand: &Operand, how: Comparison, value: &Value) -> Option<Query> {
    let Operand::Field { name, steps } = operand else {
        return None;
    };
    let Value::String(text) = value else {
        // A number can be written in several ways.
        return None;
    };
    if name != DYNAMIC || how != Comparison::Equal || text.is_empty() {
        return None;
    }
    let mut path = DYNAMIC.to_string();
    for step in steps {
        match step {
            FieldStep::Member(name) if !name.is_empty() && !name.contains('.') => {
                path.push('.');
                path.push_str(name);
            }
            // Lists are opened in the terms.
            FieldStep::Element(_) => {}
            FieldStep::Member(_) => return None,
        }
    }
    Some(Query::term(path, text.as_str()))
}

/// All of some: what an index answers narrows what is tested.
pub(super) fn all_of(parts: Vec<Query>) -> Query {
    let (mut indexed, mut tests) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Query::Predicate(own) => {
                let own = *own;
                indexed.extend(own.within.map(|within| *within));
                tests.push(own.test);
            }
            Query::MatchAll { .. } => {}
            other => indexed.push(other),
        }
    }
    let narrowed = match indexed.len() {
        0 => None,
        1 => indexed.pop(),
        _ => Some(Query::Bool(Bool {
            filter: indexed,
            ..Bool::default()
        })),
    };
    match tests.len() {
        0 => narrowed.unwrap_or_else(Query::match_all),
        1 => predicate(tests.remove(0), narrowed),
        _ => predicate(Test::And(tests), narrowed),
    }
}

pub(super) fn any_of(parts: Vec<Query>) -> Query {
    // Tests without anything to narrow them read each document once for all.
    let (mut others, mut tests) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Query::Predicate(own) if own.within.is_none() => tests.push(own.test),
            Query::MatchNone => {}
            other => others.push(other),
        }
    }
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

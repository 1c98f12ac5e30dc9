//! Filter expressions: from their text to a query.
//!
//! Words (`token`) become a tree (`parse`, `tree`), and the tree a query over a collection's fields (`lower`). What an
//! index answers becomes clauses of it; what none does (arithmetic, values inside JSON, comparisons of fields) becomes a
//! test of the documents that those let through. A value that is null, or not there, makes a comparison unknown, and
//! what is unknown does not match, negated or not.

mod instants;
mod isolation;
mod lower;
mod parse;
mod roaring;
mod templates;
mod token;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use clew_query::{Bool, FieldStep, Query, unless_stopped};

use crate::collection::{Collection, Field, StructField};
use crate::error::{MilvusError, Result};
use crate::proto::TemplateValue;
pub(crate) use templates::Templates;
pub(crate) use tree::Expr;

/// What is said of an expression that is no truth.
const NOT_BOOLEAN: &str = "predicate is not a boolean expression";

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ExprError {
    /// The byte where it is.
    at: usize,
    reason: String,
    /// Whether it is right, and there is nothing like it here.
    is_unsupported: bool,
}

impl ExprError {
    fn at(at: usize, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        ExprError {
            at,
            reason,
            is_unsupported: false,
        }
    }

    /// The error as it is told of a part of a condition: one that is no truth has words of the operator that needs it.
    fn of_part(self, said: &str) -> Self {
        match self.reason.starts_with(NOT_BOOLEAN) {
            true => ExprError::at(self.at, said),
            false => self,
        }
    }

    fn unsupported(at: usize, what: impl Into<String>) -> Self {
        ExprError {
            is_unsupported: true,
            ..ExprError::at(at, what)
        }
    }

    /// The error with its line and column.
    fn told(&self, text: &str) -> MilvusError {
        if self.is_unsupported {
            return MilvusError::Unsupported(self.reason.clone());
        }
        const SHOWN: usize = 512;
        let before = text.get(..self.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count();
        let shown: String = text.chars().take(SHOWN).collect();
        if self.reason == NOT_BOOLEAN {
            return MilvusError::Invalid(format!(
                "failed to create query plan: {NOT_BOOLEAN}: {shown}: invalid parameter"
            ));
        }
        MilvusError::Invalid(format!(
            "failed to create query plan: cannot parse expression: {shown}: {}: invalid parameter, at line {line}:{column}",
            self.reason
        ))
    }
}

/// An expression that was read.
pub(crate) struct Parsed {
    text: String,
    expr: Expr,
}

/// Reads an expression.
///
/// # Errors
/// What is wrong with it, with line and column; once the request is over.
pub(crate) fn parse(text: &str) -> Result<Parsed> {
    let syntax = |error: ExprError| ExprError {
        reason: format!("invalid expression: {text}: {}", error.reason),
        ..error
    };
    let expr = unless_left_off(parse::parse(text))?;
    let expr = expr.map_err(|error| syntax(error).told(text))?;
    let text = text.to_string();
    Ok(Parsed { text, expr })
}

/// What was read or lowered, right or wrong, unless it was left off half-way.
fn unless_left_off<T>(read: T) -> Result<T> {
    unless_stopped()?;
    Ok(read)
}

/// What a value of a list takes: in the tree, in the query and its copies, and as a term.
const ITEM_BYTES: usize = 224;
/// The same of a list of which all have to be there: each is a query of its own.
const ALL_ITEM_BYTES: usize = 1100;
const ALL: &[u8] = b"contains_all";

/// Memory that an expression and the values beside it take from when they are read until what is asked for was found, in
/// bytes. Costs a pass over the text; a short one takes too little to tell.
pub(crate) fn memory_bytes(text: &str, values: &HashMap<String, TemplateValue>) -> usize {
    const SHORT_BYTES: usize = 16 << 10;
    /// Its text is in each of them.
    const COPIES: usize = 4;
    let mut windows = text.as_bytes().windows(ALL.len());
    let item_bytes = match windows.any(|name| name.eq_ignore_ascii_case(ALL)) {
        true => ALL_ITEM_BYTES,
        false => ITEM_BYTES,
    };
    let own = match text.len() {
        ..SHORT_BYTES => 0,
        length => COPIES * length + item_bytes * text.matches(',').count(),
    };
    own.saturating_add(templates::memory_bytes(text, values, item_bytes))
}

/// The query that an expression means in a collection.
///
/// # Errors
/// For fields that are not there, values that do not fit theirs, and template values that are missing; once the request is over.
pub(crate) fn lower(
    parsed: &Parsed,
    collection: &Collection,
    templates: &Templates,
) -> Result<Query> {
    let resolved = instants::resolved(&parsed.expr, collection, templates.zone());
    let lowered = resolved.and_then(|resolved| {
        let expr = resolved.as_ref().unwrap_or(&parsed.expr);
        lower::lower(expr, collection, templates)
    });
    unless_left_off(lowered)?.map_err(|error| error.told(&parsed.text))
}

/// The condition that an expression has for the structs of a field by themselves, as `element_filter` says it.
///
/// # Errors
/// As [`lower`].
pub(crate) fn element_filter(
    parsed: &Parsed,
    (collection, field): (&Collection, &StructField),
    templates: &Templates,
) -> Result<Option<Query>> {
    let found = lower::element_filter(&parsed.expr, (collection, field), templates);
    unless_left_off(found)?.map_err(|error| error.told(&parsed.text))
}

/// Refuses an expression, or none, that does not hold the partition key to one value.
///
/// # Errors
/// In Milvus' words.
pub(crate) fn check_isolated(parsed: Option<&Parsed>, key: &Field) -> Result<()> {
    match parsed {
        None => Err(isolation::not_found()),
        Some(parsed) => isolation::check(&parsed.expr, &key.name),
    }
}

/// The keys that an expression names, when that is all it does: `id in [1, 2]` or `id == 1`.
///
/// # Errors
/// When a template value is missing.
pub(crate) fn keys_of(
    parsed: &Parsed,
    primary: &Field,
    templates: &Templates,
) -> Result<Option<Vec<String>>> {
    let keys = lower::keys_of(&parsed.expr, primary, templates);
    unless_left_off(keys)?.map_err(|error| error.told(&parsed.text))
}

/// The member of documents that a path of an expression leads into, and the way there; none where the text is no path.
///
/// # Errors
/// For a field that is not there.
pub(crate) fn inside(
    text: &str,
    collection: &Collection,
) -> Result<Option<(String, Vec<FieldStep>)>> {
    let parsed = parse(text)?;
    let place = lower::inside(&parsed.expr, collection);
    place.map_err(|error| error.told(text))
}

/// What matches both.
pub(crate) fn both(first: Query, second: Query) -> Query {
    Query::Bool(Bool {
        filter: vec![first, second],
        ..Bool::default()
    })
}

/// What matches the first and scores as it does, of what the second lets through.
pub(crate) fn scored_within(scored: Query, filter: Query) -> Query {
    if filter == Query::match_all() {
        return scored;
    }
    Query::Bool(Bool {
        must: vec![scored],
        filter: vec![filter],
        ..Bool::default()
    })
}

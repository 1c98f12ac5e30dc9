//! The query language of a search box: `title:(quick OR brown) -fox "lazy dog"~2 age:>=10`.
//!
//! `lexer` cuts the text into tokens, `parser` builds clauses by recursive descent, `build` turns
//! them into the query tree, whose leaves are made in `leaves`. In the strict language malformed text is an error; the simple one
//! makes the best of any text.

mod build;
mod leaves;
mod lexer;
mod parser;
mod simple;

use clew_query::{FieldBoost, Query, QueryError, QueryString, unless_stopped};
use clew_schema::Mapping;

use crate::query::compile::{CLAUSES_MAX, TEXT_BYTES_MAX};

/// The query tree for a query string; `fields` are those of clauses that name none.
///
/// # Errors
/// Malformed text; [`QueryError::TooManyClauses`]; [`QueryError::Stopped`].
pub(crate) fn tree(
    query: &QueryString,
    fields: &[FieldBoost],
    mapping: &Mapping,
) -> Result<Query, QueryError> {
    // A star by itself is every document in the simple language, too, whatever fields it is for.
    if query.simple && query.query.trim() == "*" {
        return Ok(Query::MatchAll { boost: query.boost });
    }
    if query.query.len() > TEXT_BYTES_MAX {
        return Err(QueryError::TooManyClauses { max: CLAUSES_MAX });
    }
    let build = build::Build::new(query, mapping);
    let clauses = if query.simple {
        let how = (query.default_operator, query.features);
        simple::parse(&query.query, how, &|clause| {
            build.says_nothing_in(clause, fields)
        })?
    } else {
        let tokens = lexer::tokens(&query.query).map_err(|reason| syntax(query, reason))?;
        unless_stopped()?;
        parser::parse(tokens, query.default_operator).map_err(|reason| syntax(query, reason))?
    };
    unless_stopped()?;
    build.tree(&clauses, fields)
}

/// Letters of the longest regular expression in a query string, as it is written between its slashes; 0 without any, and where
/// the text cannot be read. Costs a walk through a text that has slashes.
pub fn longest_expression(query: &QueryString) -> usize {
    let is_read = !query.simple && query.query.len() <= TEXT_BYTES_MAX;
    if !is_read || !query.query.contains('/') {
        return 0;
    }
    let tokens = lexer::tokens(&query.query).unwrap_or_default();
    let letters = tokens.iter().map(|token| match token {
        lexer::Token::Regexp(pattern) => pattern.chars().count(),
        _ => 0,
    });
    letters.max().unwrap_or(0)
}

fn syntax(query: &QueryString, reason: String) -> QueryError {
    QueryError::Syntax {
        query: query.query.clone(),
        reason,
    }
}

/// How a clause takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrence {
    Should,
    Must,
    MustNot,
}

/// A part of a query string.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Clause {
    Group {
        parts: Vec<(Occurrence, Clause)>,
        boost: f32,
    },
    /// `field:` before something.
    Field {
        name: String,
        inner: Box<Clause>,
    },
    Word(Word),
    /// Plain words with nothing between them, which several fields take as one text.
    Words(Vec<String>),
    /// Every document; only beside what is not wanted.
    All,
    Phrase {
        text: String,
        slop: Option<u32>,
        boost: f32,
    },
    Range {
        low: Option<(String, bool)>,
        high: Option<(String, bool)>,
        boost: f32,
    },
    Regexp {
        pattern: String,
        boost: f32,
    },
}

/// A word as it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Word {
    /// With escapes taken out.
    pub(super) text: String,
    /// With escapes, when it has `*` or `?` that are meant as such.
    pub(super) pattern: Option<String>,
    pub(super) fuzzy: Option<Option<String>>,
    pub(super) boost: f32,
}

impl Word {
    /// Without anything that belongs to it.
    fn plain(text: &str) -> Self {
        Word {
            text: text.to_string(),
            pattern: None,
            fuzzy: None,
            boost: 1.0,
        }
    }
}

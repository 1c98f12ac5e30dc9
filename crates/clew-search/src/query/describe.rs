//! Queries in few words, much as Lucene would write them.

use std::fmt::{self, Write};

use clew_query::{Query, Range};
use serde_json::Value;

/// A query in few words, much as Lucene would write it.
pub fn describe(query: &Query) -> String {
    describe_up_to(query, usize::MAX)
}

/// The beginning of it, so many bytes at most.
pub(crate) fn describe_up_to(query: &Query, bytes_max: usize) -> String {
    let mut beginning = Beginning {
        text: String::new(),
        bytes_max,
    };
    // It ends with an error where there is no more room.
    let _ = write_query(&mut beginning, query);
    beginning.text
}

/// A text that grows to a length.
struct Beginning {
    text: String,
    bytes_max: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = self.bytes_max.saturating_sub(self.text.len());
        if more.len() <= room {
            self.text.push_str(more);
            return Ok(());
        }
        self.text.push_str(&more[..more.floor_char_boundary(room)]);
        Err(fmt::Error)
    }
}

fn write_query(out: &mut Beginning, query: &Query) -> fmt::Result {
    match query {
        Query::MatchAll { .. } => out.write_str("*:*"),
        Query::MatchNone => out.write_str("MatchNoDocsQuery(\"\")"),
        Query::Match(clause) => write_pair(out, &clause.field, &clause.text),
        Query::MatchPhrase(phrase) => {
            write!(out, "{}:\"", phrase.field)?;
            write_value(out, &phrase.text)?;
            out.write_str("\"")
        }
        Query::Term(term) => write_pair(out, &term.field, &term.value),
        Query::Terms { field, values, .. } => {
            write!(out, "{field}:(")?;
            write_all(out, " ", values, write_value)?;
            out.write_str(")")
        }
        Query::Exists { field, .. } => write!(out, "FieldExistsQuery [field={field}]"),
        Query::Ids { values, .. } => {
            out.write_str("_id:(")?;
            write_all(out, " ", values, |out, id| out.write_str(id))?;
            out.write_str(")")
        }
        Query::Range(range) => write_range(out, range),
        Query::Prefix(pattern) => write!(out, "{}:{}*", pattern.field, pattern.value),
        Query::Wildcard(pattern) => write!(out, "{}:{}", pattern.field, pattern.value),
        Query::Regexp(pattern) => write!(out, "{}:/{}/", pattern.field, pattern.value),
        Query::Fuzzy { field, value, .. } => write!(out, "{field}:{value}~"),
        Query::QueryString(query) => out.write_str(&query.query),
        Query::Named { query, .. } => write_query(out, query),
        Query::Derived(scope) => write_query(out, &scope.query),
        Query::ConstantScore { filter, .. } => {
            out.write_str("ConstantScore(")?;
            write_query(out, filter)?;
            out.write_str(")")
        }
        Query::DisMax { queries, .. } => {
            out.write_str("(")?;
            write_all(out, " | ", queries, write_query)?;
            out.write_str(")")
        }
        Query::Bool(clauses) => {
            let signed = [
                ("+", &clauses.must),
                ("", &clauses.should),
                ("#", &clauses.filter),
                ("-", &clauses.must_not),
            ];
            let parts = signed.into_iter();
            let parts = parts.flat_map(|(sign, part)| part.iter().map(move |one| (sign, one)));
            let parts: Vec<_> = parts.collect();
            write_all(out, " ", &parts, |out, (sign, part)| {
                out.write_str(sign)?;
                let is_joined = matches!(part, Query::Bool(_));
                out.write_str(if is_joined { "(" } else { "" })?;
                write_query(out, part)?;
                out.write_str(if is_joined { ")" } else { "" })
            })
        }
        _ => out.write_str("query"),
    }
}

fn write_all<T>(
    out: &mut Beginning,
    between: &str,
    all: &[T],
    mut write: impl FnMut(&mut Beginning, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.write_str(between)?;
        }
        write(out, one)?;
    }
    Ok(())
}

fn write_pair(out: &mut Beginning, field: &str, value: &Value) -> fmt::Result {
    write!(out, "{field}:")?;
    write_value(out, value)
}

fn write_range(out: &mut Beginning, range: &Range) -> fmt::Result {
    write!(out, "{}:", range.field)?;
    let end = |out: &mut Beginning, (before, value, after): (&str, &Value, &str)| {
        out.write_str(before)?;
        write_value(out, value)?;
        out.write_str(after)
    };
    match (&range.gte, &range.gt) {
        (Some(low), _) => end(out, ("[", low, ""))?,
        (None, Some(low)) => end(out, ("{", low, ""))?,
        (None, None) => out.write_str("[*")?,
    }
    out.write_str(" TO ")?;
    match (&range.lte, &range.lt) {
        (Some(high), _) => end(out, ("", high, "]")),
        (None, Some(high)) => end(out, ("", high, "}")),
        (None, None) => out.write_str("*]"),
    }
}

fn write_value(out: &mut Beginning, value: &Value) -> fmt::Result {
    match value {
        Value::String(text) => out.write_str(text),
        other => write!(out, "{other}"),
    }
}

#[cfg(test)]
mod tests {
    use clew_query::Bool;

    use super::*;

    #[test]
    fn queries_are_described_as_lucene_would_write_them() {
        let query = Query::Bool(Bool {
            must: vec![Query::term("a", "x")],
            should: vec![Query::matches("b", "y z")],
            must_not: vec![Query::Range(Range {
                gt: Some(1.into()),
                ..Range::new("n")
            })],
            ..Bool::default()
        });
        assert_eq!(describe(&query), "+a:x b:y z -n:{1 TO *]");
        assert_eq!(describe_up_to(&query, 6), "+a:x b");
        let terms = Query::Terms {
            field: "k".to_string(),
            values: vec!["é".into(); 100_000],
            boost: 1.0,
        };
        assert_eq!(describe_up_to(&terms, 8), "k:(é é");
    }
}

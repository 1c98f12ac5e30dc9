//! Queries on what is kept of documents beside their fields: routing keys, and the numbers of their last changes. Every row of
//! a segment is looked at.

use std::collections::BTreeSet;

use clew_platform::Pace;
use clew_query::{FieldQuery, QueryError, Range, go_on_in_set};
use serde_json::Value;

use super::fixed::is_between;
use super::{Compiler, Node};
use crate::query::automaton::{Nearby, Wildcard};
use crate::query::constant::GivenDocs;
use crate::query::literal::text_of;
use crate::query::regexp::Regexp;
use crate::segments::{DocumentRow, SegmentBits};
use crate::snapshot::{ROUTING_FIELD, SEQ_NO_FIELD};

/// Whether a row is what is asked for.
type Wanted<'q> = Box<dyn Fn(&DocumentRow<'_>) -> bool + 'q>;

impl Compiler<'_> {
    /// The answer, if the query is on what is kept in rows.
    pub(super) fn on_rows(
        &self,
        query: FieldQuery<'_>,
        factor: f32,
    ) -> Result<Option<Node>, QueryError> {
        let (wanted, boost) = match query.field() {
            ROUTING_FIELD => routed(query)?,
            SEQ_NO_FIELD => match numbered(query)? {
                Some(wanted) => wanted,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let snapshot = self.context.snapshot;
        let Some(rows) = snapshot.rows() else {
            return Ok(Some(Node::nothing()));
        };
        let mut given = Vec::with_capacity(snapshot.readers.len());
        let mut pace = Pace::default();
        for reader in &snapshot.readers {
            let mut bits = SegmentBits::empty(reader.max_doc());
            rows.each(reader.segment_id(), &mut |doc, row| {
                go_on_in_set(&mut pace)?;
                if wanted(&row) {
                    bits.insert(doc);
                }
                Ok(())
            })?;
            given.push((reader.segment_id(), bits));
        }
        Ok(Some(Node::set(GivenDocs(given), boost * factor)))
    }
}

/// What a query on routing keys asks for, and its factor.
fn routed(query: FieldQuery<'_>) -> Result<(Wanted<'_>, f32), QueryError> {
    let is = |wanted: String| keyed(move |key| key == wanted);
    Ok(match query {
        FieldQuery::Match(clause) | FieldQuery::BoolPrefix(clause) => {
            (is(text_of(&clause.text)), clause.boost)
        }
        FieldQuery::Phrase(phrase) => (is(text_of(&phrase.text)), phrase.boost),
        FieldQuery::PhrasePrefix(phrase) => {
            let beginning = text_of(&phrase.text);
            (keyed(move |key| key.starts_with(&beginning)), phrase.boost)
        }
        FieldQuery::Term(term) if term.case_insensitive => {
            let wanted = Wildcard::in_any_case(&text_of(&term.value))?;
            (keyed(move |key| wanted.matches(key)), term.boost)
        }
        FieldQuery::Term(term) => (is(text_of(&term.value)), term.boost),
        FieldQuery::Terms(_, values, boost) => {
            let values: BTreeSet<String> = values.iter().map(text_of).collect();
            (keyed(move |key| values.contains(key)), boost)
        }
        FieldQuery::Exists(_, boost) => (keyed(|_| true), boost),
        FieldQuery::Prefix(pattern) => {
            let wanted = Wildcard::prefix(&pattern.value, pattern.case_insensitive)?;
            (keyed(move |key| wanted.matches(key)), pattern.boost)
        }
        FieldQuery::Wildcard(pattern) => {
            let wanted = Wildcard::parse(&pattern.value, pattern.case_insensitive)?;
            (keyed(move |key| wanted.matches(key)), pattern.boost)
        }
        FieldQuery::Regexp(pattern) => {
            let wanted = Regexp::new(&pattern.value, pattern.regexp_options())?;
            (keyed(move |key| wanted.matches(key)), pattern.boost)
        }
        FieldQuery::Fuzzy(_, value, fuzziness, boost) => {
            let wanted = Nearby::new(value, &fuzziness);
            (keyed(move |key| wanted.distance(key).is_some()), boost)
        }
        FieldQuery::Range(range) => (keyed(move |key| is_between(range, key)), range.boost),
        FieldQuery::TermsSet(_) => (keyed(|_| false), 1.0),
    })
}

/// Rows with a key that something holds of.
fn keyed<'q>(holds: impl Fn(&str) -> bool + 'q) -> Wanted<'q> {
    Box::new(move |row: &DocumentRow<'_>| row.routing.is_some_and(&holds))
}

/// What a query on numbers of changes asks for, and its factor; `None` where it asks for no number.
fn numbered(query: FieldQuery<'_>) -> Result<Option<(Wanted<'_>, f32)>, QueryError> {
    let (low, high, boost) = match query {
        FieldQuery::Term(term) => {
            let number = number(&term.value)?;
            (number, number, term.boost)
        }
        FieldQuery::Match(clause) => {
            let number = number(&clause.text)?;
            (number, number, clause.boost)
        }
        FieldQuery::Terms(_, values, boost) => {
            let numbers = values.iter().map(number);
            let numbers = numbers.collect::<Result<BTreeSet<i128>, _>>()?;
            let wanted: Wanted<'_> =
                Box::new(move |row: &DocumentRow<'_>| numbers.contains(&i128::from(row.seq_no)));
            return Ok(Some((wanted, boost)));
        }
        FieldQuery::Range(range) => {
            let (low, high) = ends(range)?;
            (low, high, range.boost)
        }
        FieldQuery::BoolPrefix(_)
        | FieldQuery::Phrase(_)
        | FieldQuery::PhrasePrefix(_)
        | FieldQuery::TermsSet(_)
        | FieldQuery::Exists(..)
        | FieldQuery::Prefix(_)
        | FieldQuery::Wildcard(_)
        | FieldQuery::Regexp(_)
        | FieldQuery::Fuzzy(..) => return Ok(None),
    };
    let wanted: Wanted<'_> =
        Box::new(move |row: &DocumentRow<'_>| (low..=high).contains(&i128::from(row.seq_no)));
    Ok(Some((wanted, boost)))
}

/// The first and the last number of a range.
fn ends(range: &Range) -> Result<(i128, i128), QueryError> {
    let end = |value: &Option<Value>, beyond: i128| match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => number(value).map(|number| Some(number + beyond)),
    };
    let low = end(&range.gte, 0)?.max(end(&range.gt, 1)?);
    let upper = [end(&range.lte, 0)?, end(&range.lt, -1)?];
    let high = upper.into_iter().flatten().min();
    Ok((low.unwrap_or(0), high.unwrap_or(i128::MAX)))
}

fn number(value: &Value) -> Result<i128, QueryError> {
    let text = text_of(value);
    let number: Result<i64, _> = text.parse();
    number
        .map(i128::from)
        .map_err(|_| QueryError::create(format!("For input string: \"{text}\"")))
}

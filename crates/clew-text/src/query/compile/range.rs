//! Ranges, and equality on fields that have only a column.

use std::net::Ipv6Addr;
use std::ops::Bound;

use serde_json::Value;
use tantivy::Term as IndexTerm;
use tantivy::query::{InvertedIndexRangeQuery, RangeQuery};
use tantivy::schema::Field;

use super::text::must_be_indexed;
use super::{Compiler, Node};
use crate::mapping::{FieldKind, IntegerKind, MappedField};
use crate::query::analysis_seam::{DateText, Rounding, parse_date};
use crate::query::error::QueryError;
use crate::query::literal::{self, text_of};
use crate::query::tree::Range;

/// The ends of a range, as they were given.
struct Ends<'a> {
    low: Option<(&'a Value, bool)>,
    high: Option<(&'a Value, bool)>,
}

fn ends(range: &Range) -> Ends<'_> {
    Ends {
        low: end(&range.gte, &range.gt),
        high: end(&range.lte, &range.lt),
    }
}

/// The inclusive end when both are given; null means no end.
fn end<'a>(
    inclusive: &'a Option<Value>,
    exclusive: &'a Option<Value>,
) -> Option<(&'a Value, bool)> {
    let given = |value: &'a Option<Value>| value.as_ref().filter(|value| !value.is_null());
    given(inclusive)
        .map(|value| (value, true))
        .or_else(|| given(exclusive).map(|value| (value, false)))
}

impl Compiler<'_> {
    pub(super) fn range(&mut self, range: &Range, factor: f32) -> Result<Node, QueryError> {
        let score = range.boost * factor;
        let Some((mapped, field)) = self.field(&range.field) else {
            return Ok(Node::nothing());
        };
        let ends = ends(range);
        if ends.low.is_none() && ends.high.is_none() {
            return self.exists(&range.field, score);
        }
        match &mapped.kind {
            FieldKind::Integer(kind) => whole(field, *kind, &ends, score),
            FieldKind::Boolean => {
                let numbers = |value: &Value| literal::boolean(value).map(i64::from);
                let low = ends
                    .low
                    .map(|(v, i)| numbers(v).map(|n| (n, i)))
                    .transpose()?;
                let high = ends
                    .high
                    .map(|(v, i)| numbers(v).map(|n| (n, i)))
                    .transpose()?;
                Ok(between(
                    bound(low, |n| IndexTerm::from_field_i64(field, n)),
                    bound(high, |n| IndexTerm::from_field_i64(field, n)),
                    score,
                ))
            }
            FieldKind::Float(kind) => {
                let numbers = |value: &Value| literal::float(value, *kind);
                let low = ends
                    .low
                    .map(|(v, i)| numbers(v).map(|n| (n, i)))
                    .transpose()?;
                let high = ends
                    .high
                    .map(|(v, i)| numbers(v).map(|n| (n, i)))
                    .transpose()?;
                Ok(between(
                    bound(low, |n| IndexTerm::from_field_f64(field, n)),
                    bound(high, |n| IndexTerm::from_field_f64(field, n)),
                    score,
                ))
            }
            FieldKind::Date { format } => {
                let format = range.format.as_ref().unwrap_or(format);
                self.dates(field, format, range, &ends, score)
            }
            FieldKind::Ip => {
                let low = ends
                    .low
                    .map(|(v, i)| literal::address(v).map(|n| (n, i)))
                    .transpose()?;
                let high = ends
                    .high
                    .map(|(v, i)| literal::address(v).map(|n| (n, i)))
                    .transpose()?;
                Ok(addresses(field, low, high, score))
            }
            FieldKind::Keyword { .. } => Ok(between(
                bound(ends.low, |v| IndexTerm::from_field_text(field, &text_of(v))),
                bound(ends.high, |v| {
                    IndexTerm::from_field_text(field, &text_of(v))
                }),
                score,
            )),
            FieldKind::Text { .. } => {
                must_be_indexed(mapped)?;
                Ok(Node::constant(
                    InvertedIndexRangeQuery::new(
                        bound(ends.low, |v| IndexTerm::from_field_text(field, &text_of(v))),
                        bound(ends.high, |v| {
                            IndexTerm::from_field_text(field, &text_of(v))
                        }),
                    ),
                    score,
                ))
            }
            FieldKind::Vector(_) => Ok(Node::nothing()),
        }
    }

    fn dates(
        &self,
        field: Field,
        format: &str,
        range: &Range,
        ends: &Ends<'_>,
        score: f32,
    ) -> Result<Node, QueryError> {
        // A rounded date is a span: "greater than" and "up to" mean its last millisecond.
        let at = |value: &Value, rounding: Rounding| {
            parse_date(&DateText {
                text: &text_of(value),
                format,
                time_zone: range.time_zone.as_deref(),
                now_ms: self.context.now_ms,
                rounding,
            })
            .map_err(QueryError::create)
        };
        let low = match ends.low {
            Some((value, true)) => Some(at(value, Rounding::Down)?),
            Some((value, false)) => Some(at(value, Rounding::Up)?.saturating_add(1)),
            None => None,
        };
        let high = match ends.high {
            Some((value, true)) => Some(at(value, Rounding::Up)?),
            Some((value, false)) => Some(at(value, Rounding::Down)?.saturating_sub(1)),
            None => None,
        };
        Ok(integers(field, low, high, score))
    }

    /// Documents whose column holds the value.
    pub(super) fn equal_in_column(
        &mut self,
        mapped: &MappedField,
        value: &Value,
        score: f32,
    ) -> Result<Node, QueryError> {
        if let (FieldKind::Ip, Some(field)) =
            (&mapped.kind, self.context.snapshot.searchable(mapped))
        {
            let (first, last) = literal::network(value)?;
            return Ok(addresses(
                field,
                Some((first, true)),
                Some((last, true)),
                score,
            ));
        }
        if matches!(mapped.kind, FieldKind::Text { .. }) {
            must_be_indexed(mapped)?;
        }
        if let FieldKind::Integer(kind) = mapped.kind
            && literal::integer(value, kind)?.is_none()
        {
            return Ok(Node::nothing());
        }
        let range = Range {
            gte: Some(value.clone()),
            lte: Some(value.clone()),
            ..Range::new(&mapped.path)
        };
        self.range(&range, score)
    }
}

fn whole(field: Field, kind: IntegerKind, ends: &Ends<'_>, score: f32) -> Result<Node, QueryError> {
    let (least, most) = literal::limits(kind);
    let low = match ends.low {
        Some((value, inclusive)) => match literal::lowest(value, inclusive)? {
            Some(number) if number <= most => Some(number),
            _ => return Ok(Node::nothing()),
        },
        None => None,
    };
    let high = match ends.high {
        Some((value, inclusive)) => match literal::highest(value, inclusive)? {
            Some(number) if number >= least => Some(number),
            _ => return Ok(Node::nothing()),
        },
        None => None,
    };
    Ok(integers(field, low, high, score))
}

/// Both ends inclusive.
fn integers(field: Field, low: Option<i64>, high: Option<i64>, score: f32) -> Node {
    if let (Some(low), Some(high)) = (low, high)
        && low > high
    {
        return Node::nothing();
    }
    let term = |number| IndexTerm::from_field_i64(field, number);
    between(
        bound(low.map(|number| (number, true)), term),
        bound(high.map(|number| (number, true)), term),
        score,
    )
}

fn addresses(
    field: Field,
    low: Option<(Ipv6Addr, bool)>,
    high: Option<(Ipv6Addr, bool)>,
    score: f32,
) -> Node {
    let term = |address| IndexTerm::from_field_ip_addr(field, address);
    between(bound(low, term), bound(high, term), score)
}

fn bound<V>(end: Option<(V, bool)>, term: impl Fn(V) -> IndexTerm) -> Bound<IndexTerm> {
    match end {
        Some((value, true)) => Bound::Included(term(value)),
        Some((value, false)) => Bound::Excluded(term(value)),
        None => Bound::Unbounded,
    }
}

fn between(low: Bound<IndexTerm>, high: Bound<IndexTerm>, score: f32) -> Node {
    Node::constant(RangeQuery::new(low, high), score)
}

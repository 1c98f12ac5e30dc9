//! Ranges, and equality on fields that have only a column.

use std::net::Ipv6Addr;
use std::ops::Bound;

use clew_query::{QueryError, Range};
use clew_schema::{
    DateError, DateFormat, EndReader, FieldKind, FloatKind, GivenEnds, IntegerKind, KeywordStyle,
    MappedField, Mapping, Rounding, wanted_span,
};
use jiff::tz::TimeZone;
use serde_json::Value;
use tantivy::Term as IndexTerm;
use tantivy::query::{InvertedIndexRangeQuery, RangeQuery};
use tantivy::schema::Field;

use super::terms::{check_searched, keyword_text, not_searchable};
use super::text::must_be_indexed;
use super::{Compiler, Node};
use crate::query::column_range::ColumnRange;
use crate::query::constant::AnySpan;
use crate::query::literal::{self, text_of};

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

impl Ends<'_> {
    fn bounds(
        &self,
        term: impl Fn(&Value) -> Result<IndexTerm, QueryError>,
    ) -> Result<(Bound<IndexTerm>, Bound<IndexTerm>), QueryError> {
        let bound = |end: Option<(&Value, bool)>| {
            Ok::<_, QueryError>(match end {
                Some((value, true)) => Bound::Included(term(value)?),
                Some((value, false)) => Bound::Excluded(term(value)?),
                None => Bound::Unbounded,
            })
        };
        Ok((bound(self.low)?, bound(self.high)?))
    }

    /// Documents whose column has a text between the ends.
    fn between(
        &self,
        score: f32,
        term: impl Fn(&Value) -> Result<IndexTerm, QueryError>,
    ) -> Result<Node, QueryError> {
        let (low, high) = self.bounds(term)?;
        Ok(Node::constant(RangeQuery::new(low, high), score))
    }
}

/// A zone by its name or by its offset.
fn time_zone(name: Option<&str>) -> Result<TimeZone, QueryError> {
    let Some(name) = name else {
        return Ok(TimeZone::UTC);
    };
    let wrong = || QueryError::create(format!("Unknown time-zone ID: {name}"));
    if name == "Z" {
        return Ok(TimeZone::UTC);
    }
    let Some(sign) = name
        .chars()
        .next()
        .filter(|first| matches!(first, '+' | '-'))
    else {
        return TimeZone::get(name).map_err(|_| wrong());
    };
    let (hours, minutes) = match name[1..].split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => (&name[1..], "0"),
    };
    let hours: i32 = hours.parse().map_err(|_| wrong())?;
    let minutes: i32 = minutes.parse().map_err(|_| wrong())?;
    if !(0..=18).contains(&hours) || !(0..60).contains(&minutes) {
        return Err(wrong());
    }
    let seconds = (hours * 60 + minutes) * 60 * if sign == '-' { -1 } else { 1 };
    jiff::tz::Offset::from_seconds(seconds)
        .map(TimeZone::fixed)
        .map_err(|_| wrong())
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

/// The refusal of a range of values that have no order.
fn without_order(path: &str, kind: &str) -> QueryError {
    QueryError::create(format!(
        "Field [{path}] of type [{kind}] does not support range queries"
    ))
}

/// The kind by which the ends of a range are read: they may lie between two steps of a scale.
fn without_steps(kind: FloatKind) -> FloatKind {
    match kind {
        FloatKind::Scaled { .. } => FloatKind::Double,
        kind => kind,
    }
}

/// Whether a field's values have no order that ranges could mean.
fn is_without_order(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Keyword { style, .. } => *style == KeywordStyle::Wildcard,
        FieldKind::Float(kind) => *kind == FloatKind::RankFeature,
        FieldKind::Binary { .. }
        | FieldKind::Completion(_)
        | FieldKind::GeoPoint
        | FieldKind::GeoShape => true,
        FieldKind::Text { .. }
        | FieldKind::Integer(_)
        | FieldKind::Unsigned
        | FieldKind::Boolean
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. }
        | FieldKind::Constant { .. }
        | FieldKind::Range { .. }
        | FieldKind::Flat
        | FieldKind::Ip
        | FieldKind::RankFeatures
        | FieldKind::Percolator
        | FieldKind::Vector(_)
        | FieldKind::SparseVector => false,
    }
}

impl Compiler<'_> {
    pub(super) fn range(&self, range: &Range, factor: f32) -> Result<Node, QueryError> {
        let ends = ends(range);
        if ends.low.is_some() || ends.high.is_some() {
            self.check_ordered(&range.field)?;
        }
        self.values_between(range, factor)
    }

    /// Refuses a range of values that have no order.
    fn check_ordered(&self, path: &str) -> Result<(), QueryError> {
        match self.context.snapshot.mapping.field(path) {
            Some(mapped) if is_without_order(&mapped.kind) => {
                Err(without_order(&mapped.path, mapped.kind.type_name()))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Every document has an id; which lie in a range, in the order of their bytes, is for those to ask to whom ids have one.
    fn ids_between(&self, range: &Range, ends: &Ends<'_>, score: f32) -> Result<Node, QueryError> {
        match (&ends.low, &ends.high) {
            (None, None) => Ok(self.everything(score)),
            _ if range.orders_ids => {
                let id = |value: &Value| {
                    let id = text_of(value);
                    Ok(IndexTerm::from_field_text(Mapping::ID, &id))
                };
                let (low, high) = ends.bounds(id)?;
                let between = InvertedIndexRangeQuery::new(low, high);
                Ok(Node::constant(between, score))
            }
            _ => Err(without_order("_id", "_id")),
        }
    }

    fn values_between(&self, range: &Range, factor: f32) -> Result<Node, QueryError> {
        let score = range.boost * factor;
        let ends = ends(range);
        let is_open = ends.low.is_none() && ends.high.is_none();
        if range.field == "_id" {
            return self.ids_between(range, &ends, score);
        }
        let Some((mapped, field)) = self.field(&range.field) else {
            check_searched(&range.field)?;
            return Ok(Node::nothing());
        };
        if is_open {
            return self.exists(&range.field, score);
        }
        let text = |value: &Value| {
            Ok(IndexTerm::from_field_text(
                field,
                &keyword_text(mapped, value),
            ))
        };
        if mapped.kind.is_never_searched() {
            return Err(not_searchable(mapped));
        }
        match &mapped.kind {
            FieldKind::Integer(kind) => self.whole(field, *kind, &ends, score),
            FieldKind::Unsigned => self.unsigned(field, &ends, score),
            FieldKind::Range { .. } => self.spans(mapped, field, range, score),
            FieldKind::Boolean => {
                let (low, high) = ends.bounds(|value| {
                    let truth = i64::from(literal::boolean(value)?);
                    Ok(IndexTerm::from_field_i64(field, truth))
                })?;
                Ok(self.numbers(low, high, score))
            }
            FieldKind::Float(FloatKind::RankFeature) => Err(not_searchable(mapped)),
            FieldKind::Float(kind) => {
                let kind = without_steps(*kind);
                let (low, high) = ends.bounds(|value| {
                    let number = literal::float(value, kind)?;
                    Ok(IndexTerm::from_field_f64(field, number))
                })?;
                Ok(self.numbers(low, high, score))
            }
            FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
                self.dates(mapped, range, &ends, score)
            }
            FieldKind::Ip => addresses_between(field, &ends, score),
            FieldKind::Keyword { .. } | FieldKind::Flat => ends.between(score, text),
            FieldKind::Text { .. } => {
                must_be_indexed(mapped)?;
                let (low, high) = ends.bounds(text)?;
                Ok(Node::constant(
                    InvertedIndexRangeQuery::new(low, high),
                    score,
                ))
            }
            FieldKind::Binary { .. } | FieldKind::RankFeatures | FieldKind::Percolator => {
                Err(not_searchable(mapped))
            }
            FieldKind::Vector(_)
            | FieldKind::SparseVector
            | FieldKind::Constant { .. }
            | FieldKind::Completion(_) => Ok(Node::nothing()),
            FieldKind::GeoPoint | FieldKind::GeoShape => Err(QueryError::unmapped(format!(
                "Geometry fields do not support exact searching, use dedicated geometry queries \
                 instead: [{}]",
                mapped.path
            ))),
        }
    }

    fn dates(
        &self,
        mapped: &MappedField,
        range: &Range,
        ends: &Ends<'_>,
        score: f32,
    ) -> Result<Node, QueryError> {
        let given = range.format.as_deref().map(DateFormat::parse);
        let given = given.transpose()?;
        let (Some(field), Some(format)) = (mapped.field, given.as_ref().or(mapped.date_format()))
        else {
            return Ok(Node::nothing());
        };
        let zone = time_zone(range.time_zone.as_deref())?;
        // A rounded date is a span: "greater than" and "up to" mean its last millisecond.
        let at = |value: &Value, rounding: Rounding| {
            let (text, now_ms) = (text_of(value), self.context.now_ms);
            if matches!(mapped.kind, FieldKind::DateNanos { .. }) {
                format.parse_nanos_with_math_in(&text, now_ms, rounding, &zone)
            } else {
                format.parse_with_math_in(&text, now_ms, rounding, &zone)
            }
            .map_err(|error| match error {
                DateError::BeforeNanos { .. } | DateError::AfterNanos { .. } => {
                    QueryError::Illegal {
                        reason: error.to_string(),
                    }
                }
                other => other.into(),
            })
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
        Ok(self.integers(field, low, high, score))
    }

    /// Documents with a range that lies to this one as wanted.
    fn spans(
        &self,
        mapped: &MappedField,
        field: Field,
        range: &Range,
        score: f32,
    ) -> Result<Node, QueryError> {
        let FieldKind::Range { kind, .. } = mapped.kind else {
            return Ok(Node::nothing());
        };
        let given = range.format.as_deref().map(DateFormat::parse).transpose()?;
        let reader = EndReader {
            kind,
            format: given.as_ref().or(mapped.date_format()),
            now_ms: self.context.now_ms,
            zone: time_zone(range.time_zone.as_deref())?,
        };
        let ends = GivenEnds {
            low: end(&range.gte, &range.gt),
            high: end(&range.lte, &range.lt),
        };
        let Some(span) = wanted_span(&reader, &ends).map_err(QueryError::create)? else {
            return Ok(Node::nothing());
        };
        let set = AnySpan {
            field,
            column: mapped.column(),
            relation: range.relation,
            span,
        };
        Ok(Node::set(set, score))
    }

    /// Documents whose column holds the value.
    pub(super) fn equal_in_column(
        &self,
        mapped: &MappedField,
        value: &Value,
        score: f32,
    ) -> Result<Node, QueryError> {
        if let (FieldKind::Ip, Some(field)) =
            (&mapped.kind, self.context.snapshot.searchable(mapped))
        {
            let (first, last) = literal::network(value)?;
            return Ok(addresses(field, first, last, score));
        }
        if let (FieldKind::Completion(_), Some(field)) =
            (&mapped.kind, self.context.snapshot.searchable(mapped))
        {
            let found = self.with_input(mapped, field, &text_of(value))?;
            return Ok(found.map_or_else(Node::nothing, |set| Node::set(set, score)));
        }
        if matches!(mapped.kind, FieldKind::Text { .. }) {
            must_be_indexed(mapped)?;
        }
        if mapped.kind == FieldKind::Float(FloatKind::RankFeature) {
            return Err(not_searchable(mapped));
        }
        if mapped.kind == FieldKind::Unsigned && literal::unsigned(value)?.is_none() {
            return Ok(Node::nothing());
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
        self.values_between(&range, score)
    }

    fn whole(
        &self,
        field: Field,
        kind: IntegerKind,
        ends: &Ends<'_>,
        score: f32,
    ) -> Result<Node, QueryError> {
        let (least, most, _) = kind.limits();
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
        Ok(self.integers(field, low, high, score))
    }

    fn unsigned(&self, field: Field, ends: &Ends<'_>, score: f32) -> Result<Node, QueryError> {
        let mut bounds = [Bound::Unbounded, Bound::Unbounded];
        let found = [
            ends.low
                .map(|(value, inclusive)| literal::lowest_unsigned(value, inclusive)),
            ends.high
                .map(|(value, inclusive)| literal::highest_unsigned(value, inclusive)),
        ];
        for (bound, found) in bounds.iter_mut().zip(found) {
            match found.transpose()? {
                Some(Some(number)) => {
                    *bound = Bound::Included(IndexTerm::from_field_u64(field, number));
                }
                Some(None) => return Ok(Node::nothing()),
                None => {}
            }
        }
        let [low, high] = bounds;
        if let (Bound::Included(low), Bound::Included(high)) = (&low, &high)
            && low.serialized_value_bytes() > high.serialized_value_bytes()
        {
            return Ok(Node::nothing());
        }
        Ok(self.numbers(low, high, score))
    }

    /// Both ends inclusive.
    fn integers(&self, field: Field, low: Option<i64>, high: Option<i64>, score: f32) -> Node {
        if let (Some(low), Some(high)) = (low, high)
            && low > high
        {
            return Node::nothing();
        }
        let term = |number| Bound::Included(IndexTerm::from_field_i64(field, number));
        self.numbers(
            low.map_or(Bound::Unbounded, term),
            high.map_or(Bound::Unbounded, term),
            score,
        )
    }

    /// Documents whose column has a number between the ends.
    fn numbers(&self, low: Bound<IndexTerm>, high: Bound<IndexTerm>, score: f32) -> Node {
        let columns = self.context.snapshot.columns().clone();
        Node::constant(ColumnRange::new(low, high, columns), score)
    }
}

/// Documents whose column has an address between the ends. Before the first address, and behind the last, there is none.
fn addresses_between(field: Field, ends: &Ends<'_>, score: f32) -> Result<Node, QueryError> {
    let place = |value: &Value| literal::address(value).map(u128::from);
    let low = match ends.low {
        Some((value, true)) => Some(place(value)?),
        Some((value, false)) => place(value)?.checked_add(1),
        None => Some(0),
    };
    let high = match ends.high {
        Some((value, true)) => Some(place(value)?),
        Some((value, false)) => place(value)?.checked_sub(1),
        None => Some(u128::MAX),
    };
    Ok(match (low, high) {
        (Some(low), Some(high)) if low <= high => addresses(field, low.into(), high.into(), score),
        _ => Node::nothing(),
    })
}

/// Both ends inclusive.
fn addresses(field: Field, first: Ipv6Addr, last: Ipv6Addr, score: f32) -> Node {
    let term = |address| Bound::Included(IndexTerm::from_field_ip_addr(field, address));
    Node::constant(RangeQuery::new(term(first), term(last)), score)
}

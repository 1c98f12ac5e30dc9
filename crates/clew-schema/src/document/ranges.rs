//! Ranges as values: both ends, inclusive, as bytes that order like the numbers they stand for. A
//! document's ranges lie in one column, so that the ends of each stay together.

use serde_json::Value;
use tantivy::{f64_to_u64, i64_to_u64, u64_to_f64, u64_to_i64};

use super::convert::{Misfit, misfit};
use super::error::ValueProblem;
use crate::addresses::{parse_address, parse_network};
use crate::date::DateFormat;
use crate::date::Rounding;
use crate::mapping::{FieldKind, MappedField, RangeKind};

/// Moments are shown up to here, on both sides of the epoch: some 285,000 years.
const MOMENT_MAX_MS: i64 = 9_000_000_000_000_000;

/// Bytes of one end.
const END_BYTES: usize = 16;

/// Two ends, inclusive, as numbers whose order is that of what they stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub(crate) low: u128,
    pub(crate) high: u128,
}

/// How a range of a query and one of a document lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RangeRelation {
    /// They have something in common.
    #[default]
    Intersects,
    /// The document's covers the query's.
    Contains,
    /// The document's lies inside the query's.
    Within,
}

impl RangeRelation {
    /// Reads its name.
    ///
    /// # Errors
    /// A reason, when there is no such relation.
    pub fn parse(name: &str) -> Result<Self, String> {
        match name.to_ascii_lowercase().as_str() {
            "intersects" => Ok(RangeRelation::Intersects),
            "contains" => Ok(RangeRelation::Contains),
            "within" => Ok(RangeRelation::Within),
            "disjoint" => Err(format!("[range] query does not support relation [{name}]")),
            _ => Err(format!("{name} is not a valid relation")),
        }
    }
}

impl Span {
    /// Whether a document's range lies to `query` as wanted.
    pub fn relates(self, relation: RangeRelation, query: Span) -> bool {
        match relation {
            RangeRelation::Intersects => self.low <= query.high && self.high >= query.low,
            RangeRelation::Contains => self.low <= query.low && self.high >= query.high,
            RangeRelation::Within => self.low >= query.low && self.high <= query.high,
        }
    }

    /// Both ends of a range of numbers or dates; `None` for addresses.
    pub fn numbers(self, kind: RangeKind) -> Option<(f64, f64)> {
        #[allow(
            clippy::cast_precision_loss,
            reason = "buckets of numbers are of floating-point ones"
        )]
        let whole =
            |end: u128| u64::try_from(end).map_or(f64::INFINITY, |end| u64_to_i64(end) as f64);
        let float = |end: u128| u64::try_from(end).map_or(f64::INFINITY, u64_to_f64);
        match kind {
            RangeKind::Integer | RangeKind::Long | RangeKind::Date => {
                Some((whole(self.low), whole(self.high)))
            }
            RangeKind::Float | RangeKind::Double => Some((float(self.low), float(self.high))),
            RangeKind::Ip => None,
        }
    }

    /// Both ends of a range of dates, in milliseconds since the epoch; what has no end ends as far away as calendars go.
    pub fn moments(self) -> (i64, i64) {
        let moment = |end: u128| {
            let millis = u64::try_from(end).map_or(i64::MAX, u64_to_i64);
            millis.clamp(-MOMENT_MAX_MS, MOMENT_MAX_MS)
        };
        (moment(self.low), moment(self.high))
    }

    fn to_bytes(self) -> Vec<u8> {
        [self.low.to_be_bytes(), self.high.to_be_bytes()].concat()
    }

    /// The span that was written; `None` when the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Span> {
        let (low, high) = bytes.split_at_checked(END_BYTES)?;
        Some(Span {
            low: u128::from_be_bytes(low.try_into().ok()?),
            high: u128::from_be_bytes(high.try_into().ok()?),
        })
    }
}

/// The ends of a range as they were given, and whether each belongs to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct GivenEnds<'v> {
    /// The lower end; true where it belongs to the range.
    pub low: Option<(&'v Value, bool)>,
    /// The upper end; true where it belongs to the range.
    pub high: Option<(&'v Value, bool)>,
}

/// What reads the ends of ranges of one field.
pub struct EndReader<'f> {
    /// What the ends are.
    pub kind: RangeKind,
    /// How dates are written.
    pub format: Option<&'f DateFormat>,
    /// What `now` means, in milliseconds since the epoch.
    pub now_ms: i64,
    /// The zone of dates that name none.
    pub zone: jiff::tz::TimeZone,
}

/// The bytes of a document's range.
pub(super) fn range_of(field: &MappedField, value: &Value) -> Result<Vec<u8>, Misfit> {
    let FieldKind::Range { kind, .. } = field.kind else {
        return misfit("not a range field");
    };
    let reader = EndReader {
        kind,
        format: field.date_format(),
        now_ms: 0,
        zone: jiff::tz::TimeZone::UTC,
    };
    let mut given = GivenEnds::default();
    for (name, end) in value.as_object().into_iter().flatten() {
        let end = Some(end).filter(|end| !end.is_null());
        if let Some(end) = end {
            check_kept(kind, end)?;
        }
        match name.as_str() {
            "gte" | "from" => given.low = end.map(|end| (end, true)),
            "gt" => given.low = end.map(|end| (end, false)),
            "lte" | "to" => given.high = end.map(|end| (end, true)),
            "lt" => given.high = end.map(|end| (end, false)),
            other => {
                return misfit(format!(
                    "error parsing field [{}], with unknown parameter [{other}]",
                    field.path
                ));
            }
        }
    }
    let span = reader.span(&given).map_err(Misfit::Value)?;
    match span {
        Some(span) => Ok(span.to_bytes()),
        None => misfit(format!(
            "min value is greater than max value in range {value}"
        )),
    }
}

/// Refuses ends that queries alone may have: times that are told from the present, and numbers without an end.
fn check_kept(kind: RangeKind, end: &Value) -> Result<(), Misfit> {
    let text = match end {
        Value::String(text) => text.trim().to_string(),
        other => other.to_string(),
    };
    let is_finite = match kind {
        RangeKind::Integer | RangeKind::Long | RangeKind::Ip => true,
        RangeKind::Date if text.starts_with("now") => {
            return misfit("could not read the current timestamp");
        }
        RangeKind::Date => true,
        // What is no number is told where it is read.
        RangeKind::Float => text.parse::<f32>().map_or(true, f32::is_finite),
        RangeKind::Double => text.parse::<f64>().map_or(true, f64::is_finite),
    };
    if is_finite {
        return Ok(());
    }
    let name = match kind {
        RangeKind::Float => "float",
        _ => "double",
    };
    let told = match text.parse::<f64>() {
        Ok(number) if number.is_nan() => "NaN",
        Ok(number) if number < 0.0 => "-Infinity",
        _ => "Infinity",
    };
    misfit(format!(
        "[{name}] supports only finite values, but got [{told}]"
    ))
}

/// The bytes of all addresses of a network.
pub(super) fn network_of(text: &str) -> Result<Vec<u8>, Misfit> {
    let Some((first, last)) = parse_network(text) else {
        return misfit(format!("'{text}' is not an IP string literal."));
    };
    let (low, high) = (first.to_bits(), last.to_bits());
    Ok(Span { low, high }.to_bytes())
}

impl EndReader<'_> {
    /// The span between two ends; `None` when there is nothing between them.
    pub(crate) fn span(&self, given: &GivenEnds<'_>) -> Result<Option<Span>, ValueProblem> {
        let (first, last) = self.limits();
        let low = match given.low {
            None => Some(first),
            Some((value, true)) => Some(self.place(value, Rounding::Down)?),
            Some((value, false)) => self.after(self.place(value, Rounding::Up)?),
        };
        let high = match given.high {
            None => Some(last),
            Some((value, true)) => Some(self.place(value, Rounding::Up)?),
            Some((value, false)) => self.before(self.place(value, Rounding::Down)?),
        };
        Ok(match (low, high) {
            (Some(low), Some(high)) if low <= high => Some(Span { low, high }),
            _ => None,
        })
    }

    /// The least and the greatest place.
    fn limits(&self) -> (u128, u128) {
        let whole = |low: i64, high: i64| (i64_to_u64(low).into(), i64_to_u64(high).into());
        let float = |end: f64| u128::from(f64_to_u64(end));
        match self.kind {
            RangeKind::Integer => whole(i32::MIN.into(), i32::MAX.into()),
            RangeKind::Long | RangeKind::Date => whole(i64::MIN, i64::MAX),
            RangeKind::Float | RangeKind::Double => {
                (float(f64::NEG_INFINITY), float(f64::INFINITY))
            }
            RangeKind::Ip => (0, u128::MAX),
        }
    }

    fn place(&self, value: &Value, rounding: Rounding) -> Result<u128, ValueProblem> {
        let text = match value {
            Value::String(text) => text.trim().to_string(),
            other => other.to_string(),
        };
        let not_a_number = || ValueProblem::not_a_number(text.as_str());
        match self.kind {
            RangeKind::Integer | RangeKind::Long => {
                let number = match text.parse::<i64>() {
                    Ok(number) => Some(number),
                    Err(_) => floor(text.parse().map_err(|_| not_a_number())?),
                };
                let (first, last) = self.limits();
                let place = number.map(|number| u128::from(i64_to_u64(number)));
                place
                    .filter(|place| (first..=last).contains(place))
                    .ok_or_else(|| {
                        let name = match self.kind {
                            RangeKind::Integer => "an integer",
                            _ => "a long",
                        };
                        format!("Value [{text}] is out of range for {name}").into()
                    })
            }
            RangeKind::Float => {
                let number: f32 = text.parse().map_err(|_| not_a_number())?;
                Ok(f64_to_u64(number.into()).into())
            }
            RangeKind::Double => {
                let number = text.parse().map_err(|_| not_a_number())?;
                Ok(f64_to_u64(number).into())
            }
            RangeKind::Date => {
                let format = self.format.ok_or("a range of dates without a format")?;
                format
                    .parse_with_math_in(&text, self.now_ms, rounding, &self.zone)
                    .map(|millis| i64_to_u64(millis).into())
                    .map_err(|error| error.to_string().into())
            }
            RangeKind::Ip => parse_address(&text)
                .map(|address| address.to_bits())
                .ok_or_else(|| format!("'{text}' is not an IP string literal.").into()),
        }
    }

    /// The next place that a value can have.
    fn after(&self, place: u128) -> Option<u128> {
        if self.kind == RangeKind::Float {
            return self.float_step(place, f32::next_up);
        }
        let (_, last) = self.limits();
        place.checked_add(1).filter(|next| *next <= last)
    }

    fn before(&self, place: u128) -> Option<u128> {
        if self.kind == RangeKind::Float {
            return self.float_step(place, f32::next_down);
        }
        let (first, _) = self.limits();
        place.checked_sub(1).filter(|next| *next >= first)
    }

    fn float_step(&self, place: u128, step: fn(f32) -> f32) -> Option<u128> {
        let number = tantivy::u64_to_f64(u64::try_from(place).ok()?);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the place was made from 32 bits"
        )]
        let number = number as f32;
        Some(f64_to_u64(step(number).into()).into())
    }
}

/// The whole part of a number; none of one that has more than 64 bits.
fn floor(number: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the fraction is to be cut off, and what is too large is none"
    )]
    let whole = number.trunc() as i64;
    (-LIMIT..LIMIT).contains(&number).then_some(whole)
}

/// The span that a query asks for; `None` where no value is in it.
///
/// # Errors
/// Why an end is none of the field's values.
pub fn wanted_span(reader: &EndReader<'_>, given: &GivenEnds<'_>) -> Result<Option<Span>, String> {
    reader.span(given).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn span(kind: RangeKind, low: (Value, bool), high: (Value, bool)) -> Option<Span> {
        let format = DateFormat::default();
        let reader = EndReader {
            kind,
            format: Some(&format),
            now_ms: 0,
            zone: jiff::tz::TimeZone::UTC,
        };
        let given = GivenEnds {
            low: Some((&low.0, low.1)),
            high: Some((&high.0, high.1)),
        };
        reader.span(&given).unwrap()
    }

    #[test]
    fn spans_survive_bytes_and_know_how_they_lie() {
        let outer = span(RangeKind::Long, (json!(1), true), (json!(10), true)).unwrap();
        let inner = span(RangeKind::Long, (json!(2), false), (json!(10), false)).unwrap();
        assert_eq!(Span::from_bytes(&outer.to_bytes()), Some(outer));
        for (document, relation, query, expected) in [
            (outer, RangeRelation::Contains, inner, true),
            (inner, RangeRelation::Contains, outer, false),
            (inner, RangeRelation::Within, outer, true),
            (outer, RangeRelation::Within, inner, false),
            (outer, RangeRelation::Intersects, inner, true),
        ] {
            assert_eq!(document.relates(relation, query), expected, "{relation:?}");
        }
    }

    #[test]
    fn documents_have_no_ends_that_are_beyond_their_kind_or_move_with_time() {
        for (kind, end, reason) in [
            (
                RangeKind::Date,
                json!("now"),
                "could not read the current timestamp",
            ),
            (
                RangeKind::Date,
                json!("now-1d/d"),
                "could not read the current timestamp",
            ),
            (
                RangeKind::Float,
                json!(1e40),
                "[float] supports only finite values, but got [Infinity]",
            ),
            (
                RangeKind::Double,
                json!("-Infinity"),
                "[double] supports only finite values, but got [-Infinity]",
            ),
        ] {
            let refused = check_kept(kind, &end).unwrap_err();
            assert_eq!(refused, Misfit::Value(reason.into()), "{end}");
        }
        for (kind, end) in [
            (RangeKind::Date, json!("2024-01-01")),
            (RangeKind::Double, json!(1e40)),
            (RangeKind::Float, json!("x")),
        ] {
            assert_eq!(check_kept(kind, &end), Ok(()), "{end}");
        }
        let reader = EndReader {
            kind: RangeKind::Long,
            format: None,
            now_ms: 0,
            zone: jiff::tz::TimeZone::UTC,
        };
        for end in [json!(9_223_372_036_854_775_808_u64), json!("-1e19")] {
            let given = GivenEnds {
                low: Some((&end, true)),
                high: None,
            };
            let reason = reader.span(&given).unwrap_err().to_string();
            assert!(reason.ends_with("is out of range for a long"), "{reason}");
        }
        let end = json!(1.9e18);
        let given = GivenEnds {
            low: Some((&end, true)),
            high: None,
        };
        assert!(reader.span(&given).unwrap().is_some());
    }

    #[test]
    fn open_ends_move_by_the_least_step() {
        let closed = span(RangeKind::Integer, (json!(3), true), (json!(4), true));
        let open = span(RangeKind::Integer, (json!(2), false), (json!("5"), false));
        assert_eq!(closed, open);
        let none = span(RangeKind::Float, (json!(1.5), false), (json!(1.5), true));
        assert_eq!(none, None);
        let negative = span(RangeKind::Double, (json!(-2.5), true), (json!(-1.5), true)).unwrap();
        assert!(negative.low < negative.high);
    }
}

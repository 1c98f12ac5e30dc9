//! One JSON value for one field: the coercions that OpenSearch makes, and its words where none fits.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use base64::Engine;
use clew_analysis::{for_each_token, makes_long_terms, murmur3, normalize};
use serde_json::Value;
use tantivy::schema::OwnedValue;

use super::error::ValueProblem;
use super::features;
use super::ranges::network_of;
use super::whole::Whole;
use crate::addresses::parse_address;
use crate::completion;
use crate::fraction_text;
use crate::geo::{GeoArea, GeoPoint, ShapeRules, ShapeUse, clockwise, shape_values};
use crate::mapping::{FieldKind, FloatKind, IntegerKind, MappedField, RangeKind};

/// Bytes of the longest term that can be indexed, as in Lucene.
pub(super) const TERM_BYTES_MAX: usize = 32_766;
/// Bytes of a longer one that are shown.
const START_BYTES_SHOWN: usize = 30;

/// A value that is neither object nor array nor null.
#[derive(Debug, Clone)]
pub(super) enum Scalar<'a> {
    Text(Cow<'a, str>),
    /// As it is written.
    Number(&'a str),
    Bool(bool),
}

impl Scalar<'_> {
    /// The value as text, which any field of text takes.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Scalar::Text(text) => text,
            Scalar::Number(text) => text,
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
        }
    }
}

/// Why a value was not converted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It is of the wrong kind or out of range.
    Value(ValueProblem),
    /// It makes a term that is too long.
    ImmenseTerm(ImmenseTerm),
}

/// A term that is too long to be indexed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImmenseTerm {
    /// Its bytes.
    pub(super) length: usize,
    /// The first of them, as Java shows them: with signs.
    pub(super) start: Vec<i8>,
}

impl ImmenseTerm {
    fn new(term: &str) -> Self {
        let start = term.bytes().take(START_BYTES_SHOWN);
        ImmenseTerm {
            length: term.len(),
            start: start.map(u8::cast_signed).collect(),
        }
    }
}

/// What goes into tantivy; `None` when the field leaves the value out. Whether numbers may be `coerced` from text, or
/// by cutting fractions off, is for the caller to say: the index has a word in it.
pub(super) fn convert(
    field: &MappedField,
    scalar: &Scalar<'_>,
    coerced: bool,
) -> Result<Option<OwnedValue>, Misfit> {
    let converted = match &field.kind {
        FieldKind::Text { .. } => Some(OwnedValue::Str(scalar.as_str().to_string())),
        FieldKind::Keyword { ignore_above, .. } => keyword(
            scalar.as_str(),
            *ignore_above,
            field.settings.normalizer.as_deref(),
        )?,
        FieldKind::Integer(IntegerKind::TokenCount) => {
            Some(OwnedValue::I64(token_count(field, scalar.as_str())))
        }
        FieldKind::Integer(IntegerKind::Murmur3) => {
            let [hash, _] = murmur3(scalar.as_str().as_bytes());
            Some(OwnedValue::I64(hash.cast_signed()))
        }
        FieldKind::Unsigned => unsigned(scalar, coerced)?.map(OwnedValue::U64),
        FieldKind::Integer(kind) => integer(scalar, *kind, coerced)?.map(OwnedValue::I64),
        FieldKind::Float(FloatKind::RankFeature) => {
            let value = float(scalar, FloatKind::Float, coerced)?;
            value.map(|value| feature(field, value)).transpose()?
        }
        FieldKind::Float(kind) => float(scalar, *kind, coerced)?.map(OwnedValue::F64),
        FieldKind::Boolean => Some(OwnedValue::I64(i64::from(boolean(scalar)?))),
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
            Some(OwnedValue::I64(date(field, scalar.as_str())?))
        }
        // Bytes that are only part of the document are not looked at.
        FieldKind::Binary { doc_values: false } if !field.settings.store => None,
        FieldKind::Binary { .. } => Some(OwnedValue::Bytes(binary(scalar)?)),
        FieldKind::Constant { value: Some(value) } if scalar.as_str() != value => {
            return misfit(format!(
                "constant keyword field [{}] must have a value of [{value}]",
                field.path
            ));
        }
        FieldKind::Constant { .. } => None,
        FieldKind::Range {
            kind: RangeKind::Ip,
            ..
        } if matches!(scalar, Scalar::Text(_)) => {
            Some(OwnedValue::Bytes(network_of(scalar.as_str())?))
        }
        FieldKind::Range { .. } => {
            return misfit(format!(
                "error parsing field [{}], expected an object but got {}",
                field.path,
                field.path.rsplit('.').next().unwrap_or(&field.path)
            ));
        }
        FieldKind::Percolator => return misfit("a percolator takes queries only"),
        FieldKind::Flat => return misfit("a flat_object takes objects only"),
        FieldKind::RankFeatures => return misfit(features::not_an_object(scalar)),
        FieldKind::Completion(mapping) => {
            let value = Value::from(scalar.as_str());
            match completion::terms(&field.path, mapping, &value) {
                Ok(mut terms) => terms.pop().map(OwnedValue::Str),
                Err(cause) => return misfit(cause),
            }
        }
        FieldKind::Ip => Some(OwnedValue::IpAddr(address(scalar.as_str())?)),
        FieldKind::GeoPoint => Some(OwnedValue::U64(written_point(scalar)?)),
        FieldKind::GeoShape => copied_shape(field, scalar.as_str())?,
        FieldKind::Vector(_) | FieldKind::SparseVector => {
            return misfit("a vector takes no single value");
        }
    };
    Ok(converted)
}

fn written_point(scalar: &Scalar<'_>) -> Result<u64, Misfit> {
    geo_point(match scalar {
        Scalar::Text(text) => GeoPoint::from_json(&text.as_ref().into()),
        _ => Err("geo_point expected".to_string()),
    })
}

/// The number that a point becomes in its column.
pub(super) fn geo_point(read: Result<GeoPoint, String>) -> Result<u64, Misfit> {
    read.and_then(GeoPoint::checked)
        .map(GeoPoint::encode)
        .map_err(|cause| Misfit::Value(cause.into()))
}

/// The values that a shape becomes in its column: one unless it is large, none of an empty one.
pub(super) fn shape(field: &MappedField, value: &Value) -> Result<Vec<Vec<u8>>, Misfit> {
    let said = |name: &str| field.settings.shown.get(name);
    let orientation = said("orientation").and_then(Value::as_str);
    let rules = ShapeRules {
        read_for: ShapeUse::Kept,
        clockwise: orientation.is_some_and(|word| clockwise(word) == Ok(true)),
        closes: said("coerce") == Some(&Value::Bool(true)),
        ignores_height: said("ignore_z_value") != Some(&Value::Bool(false)),
    };
    match GeoArea::shape_from_json(value, rules) {
        Ok(area) => Ok(area.as_ref().map(shape_values).unwrap_or_default()),
        Err(cause) => misfit(cause),
    }
}

/// The value of a shape that another field has as text.
fn copied_shape(field: &MappedField, text: &str) -> Result<Option<OwnedValue>, Misfit> {
    let mut values = shape(field, &Value::from(text))?;
    match values.len() {
        0 | 1 => Ok(values.pop().map(OwnedValue::Bytes)),
        _ => misfit("a shape of so many points cannot be copied"),
    }
}

pub(super) fn misfit<T>(reason: impl Into<ValueProblem>) -> Result<T, Misfit> {
    Err(Misfit::Value(reason.into()))
}

/// Milliseconds or nanoseconds since the epoch, as the field keeps them.
fn date(field: &MappedField, text: &str) -> Result<i64, Misfit> {
    let Some(format) = field.date_format() else {
        return misfit("date field without a format");
    };
    let time = match field.kind {
        FieldKind::DateNanos { .. } => format.parse_nanos(text),
        _ => format.parse_value(text),
    };
    time.or_else(|error| misfit(error.to_string()))
}

/// Refuses a term that is too long.
pub(super) fn check_term(term: &str) -> Result<(), Misfit> {
    if term.len() > TERM_BYTES_MAX {
        return Err(Misfit::ImmenseTerm(ImmenseTerm::new(term)));
    }
    Ok(())
}

/// Refuses a text that has a term which is too long. Costs a run of the analyzer where a long text may have one.
pub(super) fn check_terms(field: &MappedField, text: &str) -> Result<(), Misfit> {
    let FieldKind::Text { analyzer, .. } = &field.kind else {
        return Ok(());
    };
    if !field.indexed || text.len() <= TERM_BYTES_MAX || !makes_long_terms(analyzer) {
        return Ok(());
    }
    let mut found = Ok(());
    for_each_token(analyzer, text, |token| {
        if found.is_ok() {
            found = check_term(&token.text);
        }
    });
    found
}

fn keyword(
    text: &str,
    ignore_above: Option<u32>,
    normalizer: Option<&str>,
) -> Result<Option<OwnedValue>, Misfit> {
    if let Some(max) = ignore_above {
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        // A character has at least as many bytes as the UTF-16 units that are counted.
        if text.len() > max && text.encode_utf16().count() > max {
            return Ok(None);
        }
    }
    let text = match normalizer {
        Some(normalizer) => normalize(normalizer, text),
        None => text.to_string(),
    };
    check_term(&text)?;
    Ok(Some(OwnedValue::Str(text)))
}

/// How many tokens a text has, or how many places they take.
fn token_count(field: &MappedField, text: &str) -> i64 {
    let analyzer = field
        .settings
        .count_analyzer
        .as_deref()
        .unwrap_or("standard");
    let (mut tokens, mut places) = (0, 0);
    for_each_token(analyzer, text, |token| {
        tokens += 1;
        places = token.position + 1;
    });
    let count = if field.settings.count_gaps {
        places
    } else {
        tokens
    };
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Bytes as base64 has them.
fn binary(scalar: &Scalar<'_>) -> Result<Vec<u8>, Misfit> {
    let Scalar::Text(text) = scalar else {
        return misfit("a binary value must be a string in Base64");
    };
    let digits: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let lenient = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new()
            .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent),
    );
    lenient
        .decode(&digits)
        .or_else(|error| misfit(format!("Illegal base64: {error}")))
}

/// The digits of a number; an empty text has none.
///
/// # Errors
/// When it is no number, for a text with these words unless texts are taken as numbers.
#[inline]
fn digits<'s>(
    scalar: &'s Scalar<'_>,
    coerce: bool,
    text_refused: &'static str,
) -> Result<Option<&'s str>, Misfit> {
    match scalar {
        Scalar::Number(text) => Ok(Some(*text)),
        Scalar::Text(text) if coerce => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Scalar::Text(_) => misfit(text_refused),
        Scalar::Bool(value) => not_numeric(*value),
    }
}

/// A whole number from 0 to 2^64 - 1.
fn unsigned(scalar: &Scalar<'_>, coerce: bool) -> Result<Option<u64>, Misfit> {
    let Some(text) = digits(scalar, coerce, "Unsigned long value passed as String")? else {
        return Ok(None);
    };
    if let Ok(value) = text.parse() {
        return Ok(Some(value));
    }
    match Whole::parse(text) {
        None => misfit(ValueProblem::not_a_number(text)),
        Some(whole) if whole.has_fraction && !coerce => {
            misfit(format!("Value [{text}] has a decimal part"))
        }
        Some(whole) => match whole.toward_zero() {
            Some(value) => Ok(Some(value)),
            None => misfit(format!(
                "Value [{text}] is out of range for an unsigned long"
            )),
        },
    }
}

fn integer(scalar: &Scalar<'_>, kind: IntegerKind, coerce: bool) -> Result<Option<i64>, Misfit> {
    let Some(text) = digits(scalar, coerce, "Integer value passed as String")? else {
        return Ok(None);
    };
    let (min, max, _) = kind.limits();
    let value = match text.parse::<i64>() {
        Ok(value) => Some(value),
        Err(_) => whole_part(text, coerce)?,
    };
    match value {
        Some(value) if (min..=max).contains(&value) => Ok(Some(value)),
        value => misfit(out_of_range((scalar, text), kind, value)),
    }
}

/// That a number is beyond its kind. Texts are held against the kind alone, numbers are read as one of another kind first.
fn out_of_range(
    (scalar, text): (&Scalar<'_>, &str),
    kind: IntegerKind,
    value: Option<i64>,
) -> ValueProblem {
    let is_short = value.is_some_and(|value| i16::try_from(value).is_ok());
    let is_int = value.is_some_and(|value| i32::try_from(value).is_ok());
    let range = match kind {
        _ if matches!(scalar, Scalar::Text(_)) => None,
        IntegerKind::Byte if is_short => None,
        IntegerKind::Byte | IntegerKind::Short if is_int => Some("Java short"),
        IntegerKind::Byte | IntegerKind::Short | IntegerKind::Integer => {
            Some("int (-2147483648 - 2147483647)")
        }
        IntegerKind::Long => Some("long (-9223372036854775808 - 9223372036854775807)"),
        IntegerKind::TokenCount | IntegerKind::DocumentCount | IntegerKind::Murmur3 => None,
    };
    match range {
        Some(range) => ValueProblem::OutOfRange {
            text: text.to_string(),
            range,
            place: None,
        },
        None => format!("Value [{text}] is out of range for {}", kind.limits().2).into(),
    }
}

/// The whole part of a decimal number; `None` when it has more than 64 bits.
fn whole_part(text: &str, coerce: bool) -> Result<Option<i64>, Misfit> {
    let Ok(value) = fast_float2::parse::<f64, _>(text) else {
        return misfit(ValueProblem::not_a_number(text));
    };
    // A float rounds what has more than 64 bits, and may make it fit.
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    if !value.is_finite() {
        return misfit(ValueProblem::not_a_number(text));
    }
    if !coerce && value.fract() != 0.0 {
        return misfit(format!(
            "{text} cannot be converted to Integer without data loss"
        ));
    }
    // The digits before the point are exact where the float may not be.
    if let Some((whole, fraction)) = text.split_once('.')
        && fraction.bytes().all(|b| b.is_ascii_digit())
    {
        return Ok(whole
            .parse::<i64>()
            .ok()
            .or(if whole == "-" || whole.is_empty() {
                Some(0)
            } else {
                None
            }));
    }
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the range was checked and the fraction is to be cut off"
        )]
        let whole = value as i64;
        return Ok(Some(whole));
    }
    Ok(None)
}

fn not_numeric<T>(value: bool) -> Result<T, Misfit> {
    let token = if value { "VALUE_TRUE" } else { "VALUE_FALSE" };
    misfit(ValueProblem::not_numeric(token, None))
}

/// What is kept of a `rank_feature`.
fn feature(field: &MappedField, value: f64) -> Result<OwnedValue, Misfit> {
    #[allow(clippy::cast_possible_truncation, reason = "features have 32 bits")]
    let value = value as f32;
    let kept = features::kept(value, field.settings.inverse, (&field.path, "_feature"))?;
    Ok(OwnedValue::F64(f64::from(kept)))
}

fn float(scalar: &Scalar<'_>, kind: FloatKind, coerce: bool) -> Result<Option<f64>, Misfit> {
    let Some(text) = digits(scalar, coerce, "Double value passed as String")? else {
        return Ok(None);
    };
    let (value, name) = match kind {
        FloatKind::Double => (fast_float2::parse::<f64, _>(text), "double"),
        FloatKind::Float | FloatKind::RankFeature => {
            (fast_float2::parse::<f32, _>(text).map(f64::from), "float")
        }
        FloatKind::Half => (fast_float2::parse::<f64, _>(text), "half_float"),
        FloatKind::Scaled { .. } => (fast_float2::parse::<f64, _>(text), "scaled_float"),
    };
    let value = value.map(|value| kind.nearest(value));
    match value {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        Ok(_) => {
            // A half is read as a whole one.
            let read_as = match kind {
                FloatKind::Half => FloatKind::Float,
                kind => kind,
            };
            let read = fast_float2::parse::<f64, _>(text).map(|value| read_as.nearest(value));
            let told = read.map_or_else(|_| text.to_string(), fraction_text);
            let only = match kind {
                FloatKind::Scaled { .. } => "only supports",
                FloatKind::Double | FloatKind::Float | FloatKind::Half | FloatKind::RankFeature => {
                    "supports only"
                }
            };
            misfit(format!("[{name}] {only} finite values, but got [{told}]"))
        }
        Err(_) => misfit(ValueProblem::not_a_number(text)),
    }
}

fn boolean(scalar: &Scalar<'_>) -> Result<bool, Misfit> {
    match scalar {
        Scalar::Bool(value) => Ok(*value),
        Scalar::Text(text) if text == "true" => Ok(true),
        Scalar::Text(text) if text == "false" || text.is_empty() => Ok(false),
        Scalar::Number(text) => {
            let is_whole = text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-');
            let token = if is_whole {
                "VALUE_NUMBER_INT"
            } else {
                "VALUE_NUMBER_FLOAT"
            };
            misfit(ValueProblem::no_flag(token, None))
        }
        Scalar::Text(text) => misfit(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        )),
    }
}

fn address(text: &str) -> Result<Ipv6Addr, Misfit> {
    match parse_address(text) {
        Some(address) => Ok(address),
        None => misfit(format!("'{text}' is not an IP string literal.")),
    }
}

//! Fields and written values, resolved against the mapping.

use std::net::Ipv6Addr;

use clew_query::aggregation::{IncludeExclude, Scalar, Source, TermFilter};
use clew_query::{AggError, RegexpOptions, number_refusal};
use clew_schema::geo::GeoPoint;
use clew_schema::{
    DOC_COUNT, DateFormat, FieldKind, FloatKind, RangeKind, Rounding, parse_address,
};
use clew_search::Regexp;
use jiff::tz::TimeZone;

use crate::field::context::AggContext;
use crate::field::ids::ID_FIELD;
use crate::field::made::{plan_derived, plan_made};
use crate::field::missing::stand_in;
use crate::field::support::{
    check_format, check_hint, check_ranges, has_cells, no_pattern, supports, usual_kind,
};
use crate::field::{TermSet, TermSets, ValueKind, ValuePlan};
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// The name of the index, as every document has it.
const INDEX_FIELD: &str = "_index";

/// Where the values of a source come from, and what they mean.
///
/// # Errors
/// [`AggError::TextField`] and [`AggError::Unsupported`] when the field cannot serve.
pub(crate) fn plan_values(
    source: &Source,
    aggregation: &'static str,
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    if let Some(script) = &source.script {
        return plan_made(source, script, aggregation, context);
    }
    if source.field == INDEX_FIELD {
        return constant(source, (INDEX_FIELD, context.index), aggregation);
    }
    let Some(field) = context.mapping.field(&source.field) else {
        return plan_beside(source, aggregation, context);
    };
    if let Some(reason) = field
        .refusal_of_root()
        .or_else(|| field.refusal_without_column())
    {
        return Err(AggError::invalid(reason));
    }
    let kind = match &field.kind {
        FieldKind::Text { .. } if field.has_fielddata() => ValueKind::Keyword,
        FieldKind::Text { .. } => {
            return Err(AggError::TextField {
                field: source.field.clone(),
            });
        }
        FieldKind::Keyword { .. } => ValueKind::Keyword,
        FieldKind::Integer(_) => ValueKind::Long,
        FieldKind::Float(FloatKind::RankFeature) | FieldKind::RankFeatures => {
            return Err(AggError::invalid(format!(
                "[{}] fields do not support sorting, scripting or aggregating",
                field.kind.type_name()
            )));
        }
        FieldKind::Float(_) => ValueKind::Double,
        FieldKind::Boolean => ValueKind::Boolean,
        FieldKind::Date { .. } => ValueKind::Date,
        FieldKind::DateNanos { .. } => ValueKind::DateNanos,
        FieldKind::Unsigned => ValueKind::Unsigned,
        FieldKind::GeoPoint => ValueKind::Geo,
        FieldKind::GeoShape if aggregation == "geo_bounds" => ValueKind::Corners,
        FieldKind::GeoShape if has_cells(aggregation) => ValueKind::Outlines,
        FieldKind::GeoShape => ValueKind::Shape,
        FieldKind::Binary { doc_values: true } => ValueKind::Bytes,
        FieldKind::Constant { value: Some(value) } => {
            return constant(source, ("constant_keyword", value.as_str()), aggregation);
        }
        FieldKind::Constant { value: None } => return unmapped(source, aggregation),
        FieldKind::Ip => ValueKind::Ip,
        FieldKind::Range { kind, .. } => {
            check_ranges(*kind, field.kind.type_name(), aggregation)?;
            ValueKind::Range(*kind)
        }
        _ => return Err(unsupported(source, field.kind.type_name(), aggregation)),
    };
    let type_name = field.kind.type_name();
    check_format(source, type_name, kind)?;
    let format = format_of(source, &field.kind, kind)?;
    check_hint(source, (type_name, kind), aggregation)?;
    let (kind, missing) = stand_in(source, kind, &format, context.now_ms)?;
    // Whether the aggregation takes such values OpenSearch looks at last.
    if !supports(aggregation, kind) {
        return Err(unsupported(source, type_name, aggregation));
    }
    Ok(ValuePlan {
        field: source.field.clone(),
        column: Some(field.column()),
        kind,
        missing,
        format,
        made: None,
    })
}

/// The values of what is no field of its own: of one inside a flat object, of what stands beside the fields of a
/// document, or of what is not indexed.
fn plan_beside(
    source: &Source,
    aggregation: &'static str,
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    if let Some(flat) = context.mapping.flat_above(&source.field) {
        return Err(unsupported(source, flat.kind.type_name(), aggregation));
    }
    match beside(&source.field) {
        Some((name, Beside::Always)) if matches!(aggregation, "value_count" | "missing") => {
            constant(source, (name, ""), aggregation)
        }
        Some((ID_FIELD, _)) if takes_ids(aggregation) => Ok(ids(source)),
        Some((name, Beside::Unread)) => Err(AggError::invalid(format!(
            "Fielddata is not supported on field [{name}] of type [{name}]"
        ))),
        Some((name, _)) => Err(unsupported(source, name, aggregation)),
        None => not_indexed(source, aggregation, context),
    }
}

/// How values of a field are shown.
fn format_of(source: &Source, field: &FieldKind, kind: ValueKind) -> Result<ValueFormat, AggError> {
    Ok(match field {
        FieldKind::Date { format }
        | FieldKind::DateNanos { format }
        | FieldKind::Range {
            kind: RangeKind::Date,
            format,
        } => ValueFormat::Date {
            format: parse_format(source.format.as_deref().unwrap_or(format))?,
            zone: TimeZone::UTC,
        },
        FieldKind::Boolean => ValueFormat::Boolean,
        FieldKind::Unsigned if source.format.is_none() => ValueFormat::Unsigned,
        _ if matches!(
            kind,
            ValueKind::Long | ValueKind::Double | ValueKind::Unsigned
        ) =>
        {
            ValueFormat::of_numbers(source.format.as_deref())?
        }
        _ => ValueFormat::Raw,
    })
}

/// Whether every document has what stands beside its fields.
enum Beside {
    Always,
    Sometimes,
    /// Whoever asks for its values is told that they cannot be read.
    Unread,
}

/// What stands beside the fields of a document, and has no column: but for ids it can be counted at most.
fn beside(path: &str) -> Option<(&'static str, Beside)> {
    Some(match path {
        ID_FIELD => (ID_FIELD, Beside::Always),
        "_seq_no" => ("_seq_no", Beside::Always),
        "_version" => ("_version", Beside::Always),
        "_routing" => ("_routing", Beside::Unread),
        DOC_COUNT => (DOC_COUNT, Beside::Unread),
        "_source" => ("_source", Beside::Sometimes),
        "_field_names" => ("_field_names", Beside::Sometimes),
        _ => return None,
    })
}

/// Whether an aggregation makes something of ids: buckets of them, or how many there are.
fn takes_ids(aggregation: &str) -> bool {
    matches!(aggregation, "terms" | "rare_terms" | "cardinality")
}

/// Every document has an id, so that nothing stands in for one.
fn ids(source: &Source) -> ValuePlan {
    ValuePlan {
        field: source.field.clone(),
        column: Some(ID_FIELD.to_string()),
        kind: ValueKind::Keyword,
        missing: None,
        format: ValueFormat::Raw,
        made: None,
    }
}

/// A constant of a type is what every document has, so it stands in where documents have nothing else.
fn constant(
    source: &Source,
    (type_name, value): (&'static str, &str),
    aggregation: &'static str,
) -> Result<ValuePlan, AggError> {
    if !supports(aggregation, ValueKind::Keyword) {
        return Err(unsupported(source, type_name, aggregation));
    }
    Ok(ValuePlan {
        field: source.field.clone(),
        column: None,
        kind: ValueKind::Keyword,
        missing: Some(Key::Str(value.into())),
        format: ValueFormat::Raw,
        made: None,
    })
}

/// What no document is indexed with may be made by a script.
fn not_indexed(
    source: &Source,
    aggregation: &'static str,
    context: &AggContext<'_>,
) -> Result<ValuePlan, AggError> {
    match context.derived_field(&source.field) {
        Some(field) => plan_derived(source, field, aggregation, context),
        None => unmapped(source, aggregation),
    }
}

/// An unmapped field has no values, but what stands in for them may be given; its type then says
/// what kind of field is meant.
fn unmapped(source: &Source, aggregation: &'static str) -> Result<ValuePlan, AggError> {
    let hinted = source.value_type.as_deref().and_then(hinted_kind);
    let usual = usual_kind(aggregation);
    let kind = match &source.missing {
        None => ValueKind::Unmapped,
        Some(_) if hinted.or(usual).is_some() => hinted.or(usual).unwrap_or(ValueKind::Unmapped),
        Some(Scalar::Unsigned(_)) => ValueKind::Unsigned,
        Some(Scalar::Integer(_)) => ValueKind::Long,
        Some(Scalar::Float(_)) => ValueKind::Double,
        Some(Scalar::Boolean(_)) => ValueKind::Boolean,
        Some(Scalar::Text(_)) if aggregation.starts_with("date_") => ValueKind::Date,
        Some(Scalar::Text(_)) => ValueKind::Keyword,
    };
    let format = match kind {
        ValueKind::Boolean => ValueFormat::Boolean,
        ValueKind::Date => ValueFormat::Date {
            format: date_format(source, None)?,
            zone: TimeZone::UTC,
        },
        _ => ValueFormat::Raw,
    };
    // What it is said to be counts though there is no value of it.
    if !supports(aggregation, hinted.unwrap_or(kind)) {
        return Err(AggError::invalid(format!(
            "unmapped field is not supported for aggregation [{aggregation}]"
        )));
    }
    let (kind, missing) = stand_in(source, kind, &format, 0)?;
    Ok(ValuePlan {
        field: source.field.clone(),
        column: None,
        kind,
        missing,
        format,
        made: None,
    })
}

/// The kind of values that a request says an unmapped field would have.
pub(super) fn hinted_kind(value_type: &str) -> Option<ValueKind> {
    Some(match value_type {
        "string" => ValueKind::Keyword,
        "byte" | "short" | "integer" | "long" => ValueKind::Long,
        "unsigned_long" => ValueKind::Unsigned,
        "float" | "double" | "number" | "numeric" => ValueKind::Double,
        "boolean" => ValueKind::Boolean,
        "date" => ValueKind::Date,
        "ip" => ValueKind::Ip,
        _ => return None,
    })
}

pub(crate) fn unsupported(
    source: &Source,
    type_name: &'static str,
    aggregation: &'static str,
) -> AggError {
    AggError::Unsupported {
        field: source.field.clone(),
        type_name,
        aggregation,
    }
}

fn parse_format(format: &str) -> Result<DateFormat, AggError> {
    DateFormat::parse(format).map_err(|error| AggError::invalid(error.to_string()))
}

/// The format that a request names, else the field's, else the default.
pub(crate) fn date_format(
    source: &Source,
    field: Option<&ValueFormat>,
) -> Result<DateFormat, AggError> {
    match (&source.format, field) {
        (Some(format), _) => parse_format(format),
        (None, Some(ValueFormat::Date { format, .. })) => Ok(format.clone()),
        (None, _) => Ok(DateFormat::default()),
    }
}

/// A written value as the key of a field's kind.
pub(crate) fn key_of(
    scalar: &Scalar,
    kind: ValueKind,
    format: &ValueFormat,
    now_ms: i64,
) -> Result<Key, AggError> {
    Ok(match kind {
        ValueKind::Keyword | ValueKind::Unmapped => Key::Str(text_of(scalar).into_boxed_str()),
        ValueKind::Long => match scalar {
            // The way through a floating-point number would lose the last digits.
            Scalar::Integer(value) => Key::I64(*value),
            Scalar::Text(text) if text.parse::<i64>().is_ok() => {
                Key::I64(text.parse().unwrap_or_default())
            }
            other => Key::I64(whole(bound_number(other)?)),
        },
        ValueKind::Unsigned => Key::U64(unsigned(scalar)?),
        ValueKind::Geo => {
            let point = GeoPoint::from_json(&text_of(scalar).into());
            Key::U64(point.map_err(AggError::invalid)?.encode())
        }
        ValueKind::Double => Key::F64(bound_number(scalar)?),
        ValueKind::Boolean => Key::I64(match text_of(scalar).as_str() {
            "true" => 1,
            "false" => 0,
            other => {
                return Err(AggError::invalid(format!(
                    "Cannot parse boolean [{other}], expected either [true] or [false]"
                )));
            }
        }),
        ValueKind::Date | ValueKind::DateNanos => {
            Key::I64(bound_ms(scalar, format, &TimeZone::UTC, now_ms)?)
        }
        ValueKind::Ip => Key::Ip(address(&text_of(scalar))?),
        ValueKind::Range(_) => {
            return Err(AggError::invalid(
                "Can't apply missing values on a class \
                 org.opensearch.search.aggregations.support.ValuesSource$Range",
            ));
        }
        ValueKind::Shape | ValueKind::Corners | ValueKind::Outlines | ValueKind::Bytes => {
            return Err(AggError::invalid(
                "Can't apply missing values on shapes and bytes",
            ));
        }
    })
}

pub(crate) fn text_of(scalar: &Scalar) -> String {
    match scalar {
        Scalar::Integer(value) => value.to_string(),
        Scalar::Unsigned(value) => value.to_string(),
        Scalar::Float(value) => value.to_string(),
        Scalar::Text(text) => text.clone(),
        Scalar::Boolean(value) => value.to_string(),
    }
}

pub(crate) fn address(text: &str) -> Result<Ipv6Addr, AggError> {
    parse_address(text)
        .ok_or_else(|| AggError::invalid(format!("'{text}' is not an IP string literal.")))
}

/// A written value as an unsigned whole number, without a way that loses digits.
fn unsigned(scalar: &Scalar) -> Result<u64, AggError> {
    let value = match scalar {
        Scalar::Integer(value) => u64::try_from(*value).ok(),
        Scalar::Unsigned(value) => Some(*value),
        Scalar::Text(text) => text.parse().ok(),
        Scalar::Boolean(value) => Some(u64::from(*value)),
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the number is not negative, and the cast saturates"
        )]
        Scalar::Float(value) => (*value >= 0.0).then_some(*value as u64),
    };
    if let Some(value) = value {
        return Ok(value);
    }
    bound_number(scalar)?;
    Err(AggError::invalid(format!(
        "Value [{}] is out of range for an unsigned long",
        text_of(scalar)
    )))
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a value for a field of whole numbers loses its fraction, and the cast saturates"
)]
pub(super) fn whole(value: f64) -> i64 {
    value as i64
}

/// A written value as a number.
pub(crate) fn bound_number(scalar: &Scalar) -> Result<f64, AggError> {
    let number = match scalar {
        #[allow(
            clippy::cast_precision_loss,
            reason = "bounds are numbers as JSON has them"
        )]
        Scalar::Integer(value) => Some(*value as f64),
        #[allow(
            clippy::cast_precision_loss,
            reason = "bounds are numbers as JSON has them"
        )]
        Scalar::Unsigned(value) => Some(*value as f64),
        Scalar::Float(value) => Some(*value),
        Scalar::Text(text) => text.parse().ok(),
        Scalar::Boolean(value) => Some(f64::from(u8::from(*value))),
    };
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| AggError::invalid(number_refusal(&text_of(scalar))))
}

/// A written value as milliseconds since the epoch. Numbers are milliseconds, or whatever the
/// format reads them as; values that are no dates have no others.
pub(crate) fn bound_ms(
    scalar: &Scalar,
    format: &ValueFormat,
    zone: &TimeZone,
    now_ms: i64,
) -> Result<i64, AggError> {
    let text = match (scalar, format) {
        (Scalar::Integer(value), _) => return Ok(*value),
        (Scalar::Float(value), _) => return Ok(whole(*value)),
        (scalar, _) => text_of(scalar),
    };
    let ValueFormat::Date { format, .. } = format else {
        return bound_number(scalar).map(whole);
    };
    format
        .parse_with_math_in(&text, now_ms, Rounding::Down, zone)
        .map_err(|error| AggError::Query(Box::new(error.into())))
}

/// Which terms count, as keys of the field's kind. Patterns are only for strings.
///
/// # Errors
/// [`AggError`] naming the aggregation that has a pattern for something else, or a value that cannot be read.
pub(crate) fn term_filter(
    filter: &TermFilter,
    values: &ValuePlan,
    name: &str,
) -> Result<TermSets, AggError> {
    let is_text = matches!(
        values.kind,
        ValueKind::Keyword | ValueKind::Unmapped | ValueKind::Ip
    );
    // An empty list of numbers is none, where one of texts has nothing in it.
    let is_none = |one: &&IncludeExclude| {
        !is_text && matches!(one, IncludeExclude::Values(list) if list.is_empty())
    };
    let set = |one: &Option<IncludeExclude>| {
        one.as_ref()
            .filter(|one| !is_none(one))
            .map(|one| term_set(one, values, name))
            .transpose()
    };
    Ok(TermSets {
        include: set(&filter.include)?,
        exclude: set(&filter.exclude)?,
    })
}

fn term_set(asked: &IncludeExclude, values: &ValuePlan, name: &str) -> Result<TermSet, AggError> {
    match asked {
        IncludeExclude::Pattern(pattern) => match values.kind {
            ValueKind::Keyword | ValueKind::Unmapped => {
                Regexp::new(pattern, RegexpOptions::default())
                    .map(TermSet::Pattern)
                    .map_err(|error| AggError::invalid(error.to_string()))
            }
            kind => Err(no_pattern(name, kind)),
        },
        IncludeExclude::Partition { part, count } => Ok(TermSet::Partition {
            part: *part,
            count: *count,
        }),
        IncludeExclude::Values(scalars) => scalars
            .iter()
            .map(|scalar| key_of(scalar, values.kind, &values.format, 0))
            .collect::<Result<Vec<_>, _>>()
            .map(TermSet::Keys),
    }
}

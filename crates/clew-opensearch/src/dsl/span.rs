//! Span queries: words by where they stand, one query inside another.

use clew_query::{
    Fuzziness, IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals, Query,
};
use serde_json::Value;

use super::DslError;
use super::leaf::{fuzziness, rewrite};
use super::object::{Parameters, one_field, plain, whole};
use crate::http::place::Spot;

/// Reads what stands under a span query's name, at a depth.
type Reader = fn(&Value, usize) -> Result<Span, DslError>;

/// The span queries there are.
const SPANS: [(&str, Reader); 9] = [
    ("span_term", |body, _| term(body)),
    ("span_or", or),
    ("span_near", near),
    ("span_not", not),
    ("span_first", first),
    ("span_containing", |body, depth| {
        within("span_containing", body, depth)
    }),
    ("span_within", |body, depth| {
        within("span_within", body, depth)
    }),
    ("span_multi", |body, _| multi(body)),
    ("field_masking_span", masking),
];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SPANS.iter().map(|(name, _)| *name)
}

/// A rule and the field whose positions it is about.
struct Span {
    field: String,
    rule: IntervalRule,
    boost: f32,
}

/// Reads a query if it is one of these.
pub(super) fn span(name: &str, body: &Value, depth: usize) -> Result<Option<Query>, DslError> {
    let Some(span) = named(name, body, depth)? else {
        return Ok(None);
    };
    let (mut field, mut rule) = (span.field, span.rule);
    // Words that are taken for another field's, with nothing of that field beside them, are their own field's.
    while let IntervalRule::InField {
        field: own,
        rule: within,
    } = rule
    {
        (field, rule) = (own, *within);
    }
    Ok(Some(Query::Intervals(Intervals {
        field,
        rule,
        scoring: IntervalScoring::Words,
        boost: span.boost,
    })))
}

fn named(name: &str, body: &Value, depth: usize) -> Result<Option<Span>, DslError> {
    let Some((_, read)) = SPANS.iter().find(|(known, _)| *known == name) else {
        return Ok(None);
    };
    if depth > super::DEPTH_MAX {
        return Err(super::too_deep());
    }
    read(body, depth).map(Some)
}

fn term(body: &Value) -> Result<Span, DslError> {
    let (field, value) = one_field("span_term", body)?;
    let mut parameters = Parameters::of_field("span_term", "value", value)?;
    let boost = parameters.boost()?;
    let value = match parameters.text("value")? {
        Some(value) => Some(value),
        None => parameters.text("term")?,
    };
    parameters.finish()?;
    let value = value.ok_or_else(|| DslError::illegal("value cannot be null"))?;
    Ok(Span {
        field: field.to_string(),
        rule: IntervalRule::Word(value),
        boost,
    })
}

/// A clause inside another span query.
fn clause(
    query: &'static str,
    what: &str,
    value: Option<&Value>,
    depth: usize,
) -> Result<Span, DslError> {
    let Some(value) = value else {
        return Err(lacks(query, what));
    };
    let Value::Object(object) = value else {
        let reason = format!("[{query}] query does not support [{what}]");
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    };
    let mut entries = object.iter();
    let (Some((name, body)), None) = (entries.next(), entries.next()) else {
        return Err(DslError::parsing(format!(
            "[{query}] [{what}] must be one span query"
        )));
    };
    let span = named(name, body, depth + 1)?
        .ok_or_else(|| DslError::parsing(format!("{query} [{what}] must be of type span query")))
        .map_err(|error| error.or_at(Spot::end_of(value)))?;
    if (span.boost - 1.0).abs() > f32::EPSILON {
        return Err(DslError::parsing(format!(
            "{query} [{what}] as a nested span clause can't have non-default boost value [{:?}]",
            span.boost
        )));
    }
    Ok(span)
}

/// What a span query without one of its clauses is told.
fn lacks(query: &str, what: &str) -> DslError {
    match query {
        "span_within" => DslError::parsing(format!("{query} must include [{what}]")),
        "span_containing" => DslError::illegal(format!("inner clause [{what}] cannot be null.")),
        "field_masking_span" => DslError::parsing(format!(
            "span_field_masking must have [{what}] span query clause"
        )),
        _ => DslError::parsing(format!("{query} must have [{what}] span query clause")),
    }
}

fn clauses<'a>(parameters: &mut Parameters<'a>) -> Result<&'a [Value], DslError> {
    let query = parameters.query();
    match parameters.take("clauses") {
        Some(Value::Array(values)) if !values.is_empty() => Ok(values),
        Some(Value::Array(_)) | None => {
            Err(DslError::parsing(format!("{query} must include [clauses]")))
        }
        Some(other) => {
            let reason = format!("[{query}] query does not support [clauses]");
            Err(DslError::parsing(reason).at(Spot::start_of(other)))
        }
    }
}

/// Takes the rule when it is about the same field as the ones before.
fn same_field(
    query: &str,
    field: &mut Option<String>,
    span: Span,
) -> Result<IntervalRule, DslError> {
    match field {
        Some(field) if *field != span.field => {
            let own = &span.field;
            Err(DslError::found_by_shards(match (query, &span.rule) {
                ("span_near", IntervalRule::Word(word)) => {
                    format!("Cannot add clause {own}:{word} to SpanNearQuery for field {field}")
                }
                ("span_near", _) => {
                    format!("Cannot add clause over {own} to SpanNearQuery for field {field}")
                }
                ("span_or" | "span_not", _) => "Clauses must have same field.".to_string(),
                _ => "big and little not same field".to_string(),
            }))
        }
        _ => {
            *field = Some(span.field);
            Ok(span.rule)
        }
    }
}

fn or(body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("span_or", body)?;
    let boost = parameters.boost()?;
    let (mut field, mut rules) = (None, Vec::new());
    for value in clauses(&mut parameters)? {
        let span = clause("span_or", "clauses", Some(value), depth)?;
        rules.push(same_field("span_or", &mut field, span)?);
    }
    parameters.finish()?;
    Ok(Span {
        field: field.unwrap_or_default(),
        rule: IntervalRule::AnyOf(rules),
        boost,
    })
}

fn near(body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("span_near", body)?;
    let boost = parameters.boost()?;
    let slop = super::fields::slop(&mut parameters, "slop")?;
    let in_order = parameters.flag("in_order")?.unwrap_or(true);
    let (mut field, mut rules) = (None, Vec::new());
    let mut gap = 0;
    for value in clauses(&mut parameters)? {
        if let Some(width) = span_gap(value)? {
            if rules.is_empty() {
                return Err(DslError::illegal(
                    "[span_near] the first clause must not be a span_gap",
                ));
            }
            gap += width;
            continue;
        }
        let span = clause("span_near", "clauses", Some(value), depth)?;
        let rule = same_field("span_near", &mut field, span)?;
        rules.push(match std::mem::take(&mut gap) {
            0 => rule,
            before => IntervalRule::Extended {
                rule: Box::new(rule),
                before,
                after: 0,
            },
        });
    }
    parameters.finish()?;
    Ok(Span {
        field: field.unwrap_or_default(),
        rule: IntervalRule::AllOf {
            rules,
            mode: if in_order {
                IntervalMode::Ordered
            } else {
                IntervalMode::Unordered
            },
            max_gaps: Some(slop),
        },
        boost,
    })
}

/// The width of `{"span_gap": {"field": width}}`.
fn span_gap(value: &Value) -> Result<Option<u32>, DslError> {
    let Some(gap) = value.get("span_gap") else {
        return Ok(None);
    };
    let (_, width) = one_field("span_gap", gap)?;
    whole(width)
        .and_then(|width| u16::try_from(width).ok())
        .map(|width| Some(u32::from(width)))
        .ok_or_else(|| DslError::illegal(format!("[span_gap] width [{}] is invalid", plain(width))))
}

/// A whole number of positions.
fn positions(parameters: &mut Parameters<'_>, name: &str) -> Result<Option<u32>, DslError> {
    let query = parameters.query();
    let Some(number) = parameters.whole(name)? else {
        return Ok(None);
    };
    u32::try_from(number)
        .map(Some)
        .map_err(|_| DslError::illegal(format!("[{query}] [{name}] is too large: [{number}]")))
}

fn not(body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("span_not", body)?;
    let boost = parameters.boost()?;
    let include = clause("span_not", "include", parameters.take("include"), depth)?;
    let exclude = clause("span_not", "exclude", parameters.take("exclude"), depth)?;
    let distance = positions(&mut parameters, "dist")?;
    let before = positions(&mut parameters, "pre")?;
    let after = positions(&mut parameters, "post")?;
    parameters.finish()?;
    if distance.is_some() && (before.is_some() || after.is_some()) {
        return Err(DslError::parsing(
            "span_not can either use [dist] or [pre] & [post] (or none)",
        ));
    }
    let (mut field, boost) = (Some(include.field), boost);
    let exclude = same_field("span_not", &mut field, exclude)?;
    // What must stay free around the included span is the same as a longer excluded one.
    let excluded = IntervalRule::Extended {
        rule: Box::new(exclude),
        before: after.or(distance).unwrap_or(0),
        after: before.or(distance).unwrap_or(0),
    };
    Ok(Span {
        field: field.unwrap_or_default(),
        rule: IntervalRule::Related {
            rule: Box::new(include.rule),
            relation: IntervalRelation::NotOverlapping,
            filter: Box::new(excluded),
        },
        boost,
    })
}

fn first(body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("span_first", body)?;
    let boost = parameters.boost()?;
    let inner = clause("span_first", "match", parameters.take("match"), depth)?;
    let end = positions(&mut parameters, "end")?
        .ok_or_else(|| DslError::parsing("span_first must have [end] set for it"))?;
    parameters.finish()?;
    Ok(Span {
        rule: IntervalRule::First {
            rule: Box::new(inner.rule),
            end,
        },
        boost,
        ..inner
    })
}

fn within(name: &'static str, body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new(name, body)?;
    let boost = parameters.boost()?;
    let big = clause(name, "big", parameters.take("big"), depth)?;
    let little = clause(name, "little", parameters.take("little"), depth)?;
    parameters.finish()?;
    let mut field = Some(big.field);
    let little = same_field(name, &mut field, little)?;
    let (rule, relation, filter) = if name == "span_containing" {
        (big.rule, IntervalRelation::Containing, little)
    } else {
        (little, IntervalRelation::ContainedBy, big.rule)
    };
    Ok(Span {
        field: field.unwrap_or_default(),
        rule: IntervalRule::Related {
            rule: Box::new(rule),
            relation,
            filter: Box::new(filter),
        },
        boost,
    })
}

fn masking(body: &Value, depth: usize) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("field_masking_span", body)?;
    let boost = parameters.boost()?;
    let inner = clause(
        "field_masking_span",
        "query",
        parameters.take("query"),
        depth,
    )?;
    let field = parameters
        .text("field")?
        .ok_or_else(|| DslError::parsing("span_field_masking must have [field] set for it"))?;
    parameters.finish()?;
    Ok(Span {
        field,
        rule: IntervalRule::InField {
            field: inner.field,
            rule: Box::new(inner.rule),
        },
        boost,
    })
}

/// A query on a pattern, its words taken as spans.
fn multi(body: &Value) -> Result<Span, DslError> {
    let mut parameters = Parameters::new("span_multi", body)?;
    let boost = parameters.boost()?;
    let Some(given @ Value::Object(inner)) = parameters.take("match") else {
        return Err(DslError::parsing(
            "[span_multi] must have [match] multi term query clause",
        ));
    };
    let wrong = || {
        let reason = "[span_multi] [match] must be of type multi term query";
        DslError::parsing(reason).at(Spot::end_of(given))
    };
    let Some((name, inner)) = inner.iter().next() else {
        return Err(wrong());
    };
    parameters.finish()?;
    let (name, keys): (&'static str, &[&str]) = match name.as_str() {
        "prefix" => ("prefix", &["value"]),
        "wildcard" => ("wildcard", &["value", "wildcard"]),
        "regexp" => ("regexp", &["value"]),
        "fuzzy" => ("fuzzy", &["value"]),
        _ => return Err(wrong()),
    };
    let (field, value) = one_field(name, inner)?;
    let mut parameters = Parameters::of_field(name, "value", value)?;
    parameters.boost()?;
    let ignore_case = parameters.flag("case_insensitive")?.unwrap_or(false);
    let edits = if name == "fuzzy" {
        fuzziness(&mut parameters)?.unwrap_or_else(Fuzziness::auto)
    } else {
        Fuzziness::auto()
    };
    // Words of a span score together, whatever is said.
    rewrite("rewrite", &mut parameters)?;
    parameters.ignore(&["flags", "flags_value", "max_determinized_states"]);
    let mut text = None;
    for key in keys {
        text = text.or(parameters.text(key)?);
    }
    parameters.finish()?;
    let text = text.ok_or_else(|| DslError::illegal("value cannot be null"))?;
    Ok(Span {
        field: field.to_string(),
        rule: match name {
            "prefix" => IntervalRule::Prefix(text, ignore_case),
            "wildcard" => IntervalRule::Wildcard(text, ignore_case),
            "regexp" => IntervalRule::Regexp(text, ignore_case),
            _ => IntervalRule::Fuzzy(text, edits),
        },
        boost,
    })
}

//! Queries on exact values and on terms.

use clew_query::{Fuzziness, Pattern, Query, Range, RegexpSyntax, Rewrite, Term, TermsOf};
use clew_schema::{DateError, DateFormat, RangeRelation, parse_zone};
use serde_json::Value;

use super::object::{Parameters, one_field, plain};
use super::{DslError, DslErrorKind};
use crate::http::error::NO_TEXT;
use crate::http::place::{Spot, token};

pub(super) fn match_all(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("match_all", body)?.by_fields("match_all");
    let boost = parameters.boost().map_err(DslError::handed_on)?;
    parameters.finish().map_err(DslError::handed_on)?;
    Ok(Query::MatchAll { boost })
}

pub(super) fn match_none(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("match_none", body)?;
    parameters.boost()?;
    parameters.finish()?;
    Ok(Query::MatchNone)
}

pub(super) fn term(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("term", body)?;
    let mut parameters = Parameters::of_field("term", "value", value)?;
    let boost = parameters.boost()?;
    let case_insensitive = parameters.flag("case_insensitive")?.unwrap_or(false);
    // The second is what old clients call it.
    let value = parameters.take("value").or(parameters.take("term"));
    let value = value.cloned().unwrap_or(Value::Null);
    parameters.finish()?;
    if value.is_null() {
        return Err(DslError::illegal("value cannot be null"));
    }
    if value.is_array() || value.is_object() {
        return Err(DslError::parsing(
            "[term] query does not support arrays or objects of values",
        ));
    }
    Ok(Query::Term(Term {
        field: field.to_string(),
        value,
        case_insensitive,
        boost,
    }))
}

pub(super) fn terms(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("terms", body)?;
    let boost = parameters.boost()?;
    let is_bitmap = match parameters.text("value_type")?.as_deref() {
        None | Some("default") => false,
        Some("bitmap") => true,
        Some(other) => {
            return Err(DslError::illegal(format!(
                "No enum constant TermsQueryBuilder.ValueType.{other}"
            )));
        }
    };
    let mut found: Option<(String, Vec<Value>)> = None;
    let mut lookup = None;
    let Value::Object(object) = body else {
        return Err(DslError::parsing("[terms] query malformed"));
    };
    for (name, value) in object {
        if matches!(name.as_str(), "boost" | "_name" | "value_type") {
            continue;
        }
        let values = match value {
            Value::Array(values) => values.as_slice(),
            Value::Object(_) => {
                lookup = Some(super::named::terms(name, value, boost)?);
                &[]
            }
            _ => {
                let reason = format!("[terms] query does not support [{name}]");
                return Err(DslError::parsing(reason).at(Spot::start_of(value)));
            }
        };
        if found.is_some() {
            let reason = "[terms] query does not support multiple fields";
            return Err(DslError::parsing(reason).at(Spot::start_of(value)));
        }
        if let Some(none) = values.iter().find(|value| value.is_null()) {
            let reason = "No value specified for terms query";
            return Err(DslError::parsing(reason).at(Spot::start_of(none)));
        }
        found = Some((name.clone(), values.to_vec()));
    }
    let Some((field, values)) = found else {
        return Err(DslError::parsing(
            "[terms] query requires a field name, followed by array of terms or a document \
             lookup specification",
        ));
    };
    if let Some(lookup) = lookup {
        return Ok(Query::TermsOf(TermsOf {
            is_packed: is_bitmap,
            ..lookup
        }));
    }
    let values = if is_bitmap {
        super::bitmap::numbers(&values)?
    } else {
        values
    };
    Ok(Query::Terms {
        field,
        values,
        boost,
    })
}

/// Refuses a format that is none, whatever the field holds.
fn check_format(format: Option<&str>) -> Result<(), DslError> {
    let Some(Err(error)) = format.map(DateFormat::parse) else {
        return Ok(());
    };
    let within = match &error {
        DateError::Format { reason, .. } => Some(Box::new(DslError::illegal(reason.clone()))),
        _ => None,
    };
    Err(DslError {
        within,
        ..DslError::illegal(error.to_string())
    })
}

pub(super) fn range(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("range", body)?;
    if !value.is_object() {
        let reason = format!("[range] query does not support [{field}]");
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    }
    let mut parameters = Parameters::new("range", value)?;
    let mut range = Range::new(field);
    range.boost = parameters.boost()?;
    range.format = parameters.text("format")?;
    check_format(range.format.as_deref())?;
    range.time_zone = parameters.text("time_zone")?;
    check_zone(range.time_zone.as_deref()).map_err(|error| {
        let class = match error.kind {
            DslErrorKind::ZoneRules => "java.time.zone.ZoneRulesException",
            _ => "java.time.DateTimeException",
        };
        let reason = format!("{class}: {}", error.reason);
        DslError {
            within: Some(Box::new(error)),
            ..DslError::illegal(reason)
        }
    })?;
    let lower_inclusive = parameters.flag("include_lower")?.unwrap_or(true);
    let upper_inclusive = parameters.flag("include_upper")?.unwrap_or(true);
    if let Some(from) = parameters.take("from").cloned() {
        *(if lower_inclusive {
            &mut range.gte
        } else {
            &mut range.gt
        }) = Some(from);
    }
    if let Some(to) = parameters.take("to").cloned() {
        *(if upper_inclusive {
            &mut range.lte
        } else {
            &mut range.lt
        }) = Some(to);
    }
    for (name, end) in [
        ("gt", &mut range.gt),
        ("gte", &mut range.gte),
        ("lt", &mut range.lt),
        ("lte", &mut range.lte),
    ] {
        let Some(value) = parameters.take(name) else {
            continue;
        };
        if let Some((inner, at)) = value.as_object().and_then(|members| members.iter().next()) {
            let reason = format!("[range] query does not support [{inner}]");
            return Err(DslError::parsing(reason).at(Spot::start_of(at)));
        }
        *end = Some(value.clone());
    }
    if let Some(relation) = parameters.text("relation")? {
        range.relation = RangeRelation::parse(&relation).map_err(DslError::illegal)?;
    }
    parameters.finish()?;
    Ok(Query::Range(range))
}

/// Names of the database of time zones that are none in Java, which has other meanings for them.
const NO_JAVA_ZONES: [&str; 4] = ["EST", "HST", "MST", "ROC"];

/// Looks whether there is the time zone that a text names, as Java has them: names as they are written, and clocks that are 18
/// hours before or behind UTC at most.
pub(crate) fn check_zone(name: Option<&str>) -> Result<(), DslError> {
    let zone = parse_zone(name).map_err(|unknown| DslError::no_zone(&unknown.0))?;
    let Some(name) = name else {
        return Ok(());
    };
    let known = zone.iana_name().unwrap_or(name);
    // Dashboards write UTC in small letters, too, which Java does not know: there is no other zone that may be meant.
    let is_other_case = known != name && known != "UTC" && known.eq_ignore_ascii_case(name);
    if is_other_case || NO_JAVA_ZONES.contains(&name) {
        return Err(DslError::no_zone(name));
    }
    let offset = zone.to_fixed_offset().map_or(0, jiff::tz::Offset::seconds);
    if offset.abs() <= 18 * 3_600 {
        return Ok(());
    }
    let hours = offset / 3_600;
    let reason = match hours.abs() {
        18 => "Zone offset not in valid range: -18:00 to +18:00".to_string(),
        _ => format!(
            "Zone offset hours not in valid range: value {hours} is not in the range -18 to 18"
        ),
    };
    Err(DslError::of(DslErrorKind::DateTime, reason))
}

pub(super) fn exists(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("exists", body)?;
    let boost = parameters.boost()?;
    let field = match parameters.take("field") {
        Some(none @ Value::Null) => {
            let reason = "[exists] unknown token [VALUE_NULL] after [field]";
            return Err(DslError::parsing(reason).at(Spot::start_of(none)));
        }
        Some(value) if value.is_object() || value.is_array() => {
            return Err(parameters.unknown_token("field", value));
        }
        field => field.map(plain),
    };
    parameters.finish()?;
    let field =
        field.ok_or_else(|| DslError::parsing("[exists] must be provided with a [field]"))?;
    if field.is_empty() {
        return Err(DslError::illegal("field name is null or empty"));
    }
    Ok(Query::Exists { field, boost })
}

pub(super) fn ids(body: &Value) -> Result<Query, DslError> {
    ids_by_fields(body).map_err(DslError::handed_on)
}

fn ids_by_fields(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("ids", body)?.by_fields("ids");
    let boost = parameters.boost()?;
    parameters.ignore(&["type"]);
    let values = match parameters.take("values") {
        Some(Value::Array(values)) => {
            let values: Result<Vec<String>, DslError> = values.iter().map(id).collect();
            values.map_err(|error| parameters.in_field("values", error))?
        }
        Some(value @ Value::String(_)) => vec![plain(value)],
        Some(other) => return Err(parameters.other_sort("values", other)),
        None => Vec::new(),
    };
    parameters.finish()?;
    Ok(Query::Ids { values, boost })
}

/// The id that a value is.
fn id(value: &Value) -> Result<String, DslError> {
    let reason = match value {
        Value::Null => format!("{NO_TEXT}{}", token(value)),
        Value::Array(_) | Value::Object(_) => {
            format!("expected value but got [{}]", token(value))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(plain(value)),
    };
    Err(DslError::of(DslErrorKind::State, reason).at(Spot::start_of(value)))
}

/// A field and the pattern that its terms must match.
fn pattern(query: &'static str, keys: &[&str], body: &Value) -> Result<Pattern, DslError> {
    let (field, value) = one_field(query, body)?;
    let mut parameters = Parameters::of_field(query, "value", value)?;
    let boost = parameters.boost()?;
    let case_insensitive = parameters.flag("case_insensitive")?.unwrap_or(false);
    let syntax = match parameters.text("flags")? {
        Some(flags) if query == "regexp" => {
            RegexpSyntax::parse(&flags).map_err(DslError::illegal)?
        }
        _ => RegexpSyntax::default(),
    };
    let states_max = match query {
        "regexp" => parameters.whole("max_determinized_states")?,
        _ => None,
    };
    let rewrite = rewrite("rewrite", &mut parameters)?;
    parameters.ignore(&["flags_value", "max_determinized_states"]);
    let mut value = None;
    for key in keys {
        value = value.or(parameters.text(key)?);
    }
    parameters.finish()?;
    let value = value.ok_or_else(|| DslError::illegal("value cannot be null"))?;
    let pattern = Pattern::new(field, value);
    Ok(Pattern {
        case_insensitive,
        syntax,
        states_max: states_max.unwrap_or(pattern.states_max),
        rewrite,
        boost,
        ..pattern
    })
}

pub(super) fn prefix(body: &Value) -> Result<Query, DslError> {
    pattern("prefix", &["value"], body).map(Query::Prefix)
}

pub(super) fn wildcard(body: &Value) -> Result<Query, DslError> {
    pattern("wildcard", &["value", "wildcard"], body).map(Query::Wildcard)
}

pub(super) fn regexp(body: &Value) -> Result<Query, DslError> {
    pattern("regexp", &["value"], body).map(Query::Regexp)
}

pub(super) fn fuzzy(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("fuzzy", body)?;
    let mut parameters = Parameters::of_field("fuzzy", "value", value)?;
    let boost = parameters.boost()?;
    let mut fuzziness = fuzziness(&mut parameters)?.unwrap_or_else(Fuzziness::auto);
    fuzziness.rewrite = rewrite("rewrite", &mut parameters)?;
    // The second is what old clients call it.
    let value = parameters.text("value")?.or(parameters.text("term")?);
    parameters.finish()?;
    Ok(Query::Fuzzy {
        field: field.to_string(),
        value: value.ok_or_else(|| DslError::illegal("query value cannot be null"))?,
        fuzziness,
        boost,
    })
}

/// How what stands for many words is to score.
pub(super) fn rewrite(name: &str, parameters: &mut Parameters<'_>) -> Result<Rewrite, DslError> {
    let Some(given) = parameters.text(name)? else {
        return Ok(Rewrite::Usual);
    };
    Rewrite::parse(&given).ok_or_else(|| {
        DslError::found_by_shards(format!("Failed to parse rewrite_method [{given}]"))
    })
}

/// `fuzziness` and what refines it; absent unless `fuzziness` itself is given, except in `fuzzy`.
pub(super) fn fuzziness(parameters: &mut Parameters<'_>) -> Result<Option<Fuzziness>, DslError> {
    let given = parameters
        .text("fuzziness")?
        .map(|text| Fuzziness::parse(&text).map_err(DslError::illegal))
        .transpose()?;
    let mut fuzziness = given.unwrap_or_else(Fuzziness::auto);
    let query = parameters.query();
    let negative = || format!("[{query}] requires prefix length to be non-negative.");
    if let Some(length) = parameters.at_least("prefix_length", 0, negative)? {
        fuzziness.prefix_length = length;
    }
    // Those who ask for words that are like one may say 0, and find none.
    let least = i64::from(query != "fuzzy");
    let none = || format!("[{query}] requires maxExpansions to be positive.");
    if let Some(most) = parameters.at_least("max_expansions", least, none)? {
        fuzziness.max_expansions = most;
    }
    for name in ["transpositions", "fuzzy_transpositions"] {
        if let Some(swaps) = parameters.flag(name)? {
            fuzziness.transpositions = swaps;
        }
    }
    // Without mistakes nothing is rewritten.
    match given {
        Some(_) => fuzziness.rewrite = rewrite("fuzzy_rewrite", parameters)?,
        None => parameters.ignore(&["fuzzy_rewrite"]),
    }
    Ok((given.is_some() || parameters.query() == "fuzzy").then_some(fuzziness))
}

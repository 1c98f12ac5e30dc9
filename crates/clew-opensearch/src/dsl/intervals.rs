//! `intervals`: rules over the words of one field.

use clew_query::{
    Fuzziness, IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals, Query,
    ScriptPurpose,
};
use serde_json::Value;

use super::leaf::fuzziness;
use super::object::{Parameters, one_field};
use super::script::Written;
use super::{DslError, integer_in};
use crate::http::place::Spot;

/// Rules as OpenSearch lists them, which forgets `fuzzy`.
const RULES: &str = "[match, any_of, all_of, prefix, wildcard, regexp]";
/// How deep rules may be nested.
const DEPTH_MAX: usize = 30;

const RELATIONS: [(&str, IntervalRelation); 8] = [
    ("containing", IntervalRelation::Containing),
    ("not_containing", IntervalRelation::NotContaining),
    ("contained_by", IntervalRelation::ContainedBy),
    ("not_contained_by", IntervalRelation::NotContainedBy),
    ("overlapping", IntervalRelation::Overlapping),
    ("not_overlapping", IntervalRelation::NotOverlapping),
    ("before", IntervalRelation::Before),
    ("after", IntervalRelation::After),
];

pub(super) fn intervals(body: &Value) -> Result<Query, DslError> {
    let (field, value) = one_field("intervals", body)?;
    let mut parameters = Parameters::new("intervals", value)?;
    let boost = parameters.boost()?;
    let Some((name, inner)) = parameters.take_any() else {
        return Err(DslError::parsing(
            "Missing intervals from interval query definition",
        ));
    };
    let rule = named_rule(name, inner, 0)?;
    if let Some((second, value)) = parameters.take_any() {
        let reason =
            format!("Only one interval rule can be specified, found [{name}] and [{second}]");
        return Err(DslError::parsing(reason).at(Spot::name_of(value)));
    }
    Ok(Query::Intervals(Intervals {
        field: field.to_string(),
        rule,
        scoring: IntervalScoring::Proximity,
        boost,
    }))
}

/// `{"match": {…}}` and the like.
fn rule(value: &Value, depth: usize) -> Result<IntervalRule, DslError> {
    let Value::Object(object) = value else {
        return Err(DslError::parsing(format!(
            "Expected [START_OBJECT] of an interval rule, expecting one of {RULES}"
        )));
    };
    let mut entries = object.iter();
    match (entries.next(), entries.next()) {
        (Some((name, inner)), None) => named_rule(name, inner, depth),
        (Some(_), Some((second, _))) => Err(DslError::parsing(format!(
            "Expected [END_OBJECT] but got [{second}]"
        ))),
        (None, _) => Err(DslError::parsing(format!(
            "Missing interval rule, expecting one of {RULES}"
        ))),
    }
}

fn named_rule(name: &str, value: &Value, depth: usize) -> Result<IntervalRule, DslError> {
    if depth > DEPTH_MAX {
        return Err(DslError::illegal(format!(
            "The nested depth of the intervals exceeds the maximum nested depth of [{DEPTH_MAX}]"
        )));
    }
    match name {
        "match" => matches(value, depth),
        "prefix" => prefix(value),
        "wildcard" => wildcard(value),
        "regexp" => regexp(value),
        "fuzzy" => fuzzy(value),
        "any_of" => any_of(value, depth),
        "all_of" => all_of(value, depth),
        _ => {
            let reason = format!("Unknown interval type [{name}], expecting one of {RULES}");
            Err(DslError::parsing(reason).at(Spot::name_of(value)))
        }
    }
}

fn matches(value: &Value, depth: usize) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("match", value)?.by_fields("match");
    let text = required(&mut parameters, "query")?;
    let (mode, max_gaps) = joining(&mut parameters)?;
    let rule = IntervalRule::Match {
        text,
        analyzer: parameters.text("analyzer")?,
        mode,
        max_gaps,
    };
    let rule = in_field(rule, &mut parameters)?;
    let rule = filtered(rule, &mut parameters, depth)?;
    parameters.finish()?;
    Ok(rule)
}

fn prefix(value: &Value) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("prefix", value)?.by_fields("prefix");
    let text = required(&mut parameters, "prefix")?;
    let rule = IntervalRule::Prefix(text, false);
    let rule = normalized(rule, &mut parameters)?;
    parameters.finish()?;
    Ok(rule)
}

fn wildcard(value: &Value) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("wildcard", value)?.by_fields("wildcard");
    let text = required(&mut parameters, "pattern")?;
    parameters.ignore(&["max_expansions"]);
    let rule = normalized(IntervalRule::Wildcard(text, false), &mut parameters)?;
    parameters.finish()?;
    Ok(rule)
}

fn regexp(value: &Value) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("regexp", value)?.by_fields("regexp");
    let text = required(&mut parameters, "pattern")?;
    let ignore_case = parameters.flag("case_insensitive")?.unwrap_or(false);
    parameters.ignore(&["flags", "flags_value", "max_expansions"]);
    let rule = in_field(IntervalRule::Regexp(text, ignore_case), &mut parameters)?;
    parameters.finish()?;
    Ok(rule)
}

fn fuzzy(value: &Value) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("fuzzy", value)?.by_fields("fuzzy");
    let term = required(&mut parameters, "term")?;
    let fuzziness = fuzziness(&mut parameters)?.unwrap_or_else(Fuzziness::auto);
    let rule = normalized(IntervalRule::Fuzzy(term, fuzziness), &mut parameters)?;
    parameters.finish()?;
    Ok(rule)
}

fn any_of(value: &Value, depth: usize) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("any_of", value)?.by_fields("any_of");
    let rules = rules(&mut parameters, depth)?;
    let rule = filtered(IntervalRule::AnyOf(rules), &mut parameters, depth)?;
    parameters.finish()?;
    Ok(rule)
}

fn all_of(value: &Value, depth: usize) -> Result<IntervalRule, DslError> {
    let mut parameters = Parameters::new("all_of", value)?.by_fields("all_of");
    let rules = rules(&mut parameters, depth)?;
    let (mode, max_gaps) = joining(&mut parameters)?;
    let rule = IntervalRule::AllOf {
        rules,
        mode,
        max_gaps,
    };
    let rule = filtered(rule, &mut parameters, depth)?;
    parameters.finish()?;
    Ok(rule)
}

fn rules(parameters: &mut Parameters<'_>, depth: usize) -> Result<Vec<IntervalRule>, DslError> {
    match parameters.take("intervals") {
        Some(Value::Array(values)) => {
            let rules: Result<Vec<IntervalRule>, DslError> =
                values.iter().map(|value| rule(value, depth + 1)).collect();
            rules.map_err(|error| parameters.in_field("intervals", error))
        }
        Some(alone) => Ok(vec![rule(alone, depth + 1)?]),
        None => {
            parameters.late(DslError::illegal("Required [intervals]"));
            Ok(Vec::new())
        }
    }
}

fn required(parameters: &mut Parameters<'_>, name: &str) -> Result<String, DslError> {
    let text = parameters.text(name)?;
    if text.is_none() {
        parameters.late(DslError::illegal(format!("Required [{name}]")));
    }
    Ok(text.unwrap_or_default())
}

/// `mode` (or the older `ordered`) and `max_gaps`, where -1 means any.
fn joining(parameters: &mut Parameters<'_>) -> Result<(IntervalMode, Option<u32>), DslError> {
    let ordered = parameters.flag("ordered")?;
    let mode = match parameters.text("mode")? {
        None if ordered == Some(true) => IntervalMode::Ordered,
        None => IntervalMode::Unordered,
        Some(mode) => match mode.to_ascii_lowercase().as_str() {
            "ordered" => IntervalMode::Ordered,
            "unordered" => IntervalMode::Unordered,
            "unordered_no_overlap" => IntervalMode::UnorderedNoOverlap,
            _ => {
                return Err(DslError::illegal(format!(
                    "Unknown interval mode [{mode}], expecting one of [ordered, unordered, \
                     unordered_no_overlap]"
                )));
            }
        },
    };
    let Some(value) = parameters.take("max_gaps") else {
        return Ok((mode, None));
    };
    let gaps = integer_in(value).map_err(|error| parameters.in_field("max_gaps", error))?;
    let gaps = gaps.ok_or_else(|| parameters.other_sort("max_gaps", value))?;
    let max_gaps = (gaps >= 0).then(|| u32::try_from(gaps).unwrap_or(u32::MAX));
    Ok((mode, max_gaps))
}

fn in_field(rule: IntervalRule, parameters: &mut Parameters<'_>) -> Result<IntervalRule, DslError> {
    Ok(match parameters.text("use_field")? {
        Some(field) => IntervalRule::InField {
            field,
            rule: Box::new(rule),
        },
        None => rule,
    })
}

/// A pattern goes through the analyzer's changes of letters, as the words of a text do.
fn normalized(
    rule: IntervalRule,
    parameters: &mut Parameters<'_>,
) -> Result<IntervalRule, DslError> {
    let rule = IntervalRule::Normalized {
        analyzer: parameters.text("analyzer")?,
        rule: Box::new(rule),
    };
    in_field(rule, parameters)
}

fn filtered(
    rule: IntervalRule,
    parameters: &mut Parameters<'_>,
    depth: usize,
) -> Result<IntervalRule, DslError> {
    let Some(filter) = parameters.take("filter") else {
        return Ok(rule);
    };
    let mut filter = Parameters::new("filter", filter)?;
    let Some((name, inner)) = filter.take_any() else {
        return Err(DslError::parsing(
            "Missing interval filter, expecting one of its relations",
        ));
    };
    if name == "script" {
        let script = Written::of("script", inner)?.read(ScriptPurpose::Interval)?;
        filter.finish()?;
        return Ok(IntervalRule::Scripted {
            rule: Box::new(rule),
            script: Box::new(script),
        });
    }
    let Some((_, relation)) = RELATIONS.iter().find(|(have, _)| *have == name) else {
        return Err(DslError::parsing(format!(
            "Unknown interval filter [{name}]"
        )));
    };
    let other = self::rule(inner, depth + 1)?;
    filter.finish()?;
    Ok(IntervalRule::Related {
        rule: Box::new(rule),
        relation: *relation,
        filter: Box::new(other),
    })
}

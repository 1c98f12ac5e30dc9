//! From a request's `aggs` to the typed tree.

use std::collections::BTreeMap;

use clew_query::aggregation::{AggFamily, AggSpec, NamedAgg};
use serde_json::{Map, Value};

use super::body::Body;
use super::path::AggPath;
use super::table;
use super::{AggDslError, AggDslErrorKind};
use crate::http::place::{Spot, token};

/// How deep `aggs` may be nested in each other.
const DEPTH_MAX: usize = 32;

/// Aggregations, and what their request says beside them.
#[derive(Clone, Debug, Default)]
pub struct ParsedAggs {
    /// The tree.
    pub aggs: Vec<NamedAgg>,
    /// What is of concern only to whoever shows the results.
    pub(crate) shown: ShownAggs,
}

/// What a request says of aggregations about showing their results, by the path of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShownAggs {
    /// What is handed back untouched.
    pub(crate) meta: BTreeMap<String, Value>,
    /// How the documents of each `top_hits` are shown, as it was written.
    pub(crate) top_hits: BTreeMap<String, Map<String, Value>>,
}

/// Understands the value of `aggs` (or `aggregations`): an object of named aggregations.
///
/// # Errors
/// [`AggDslError`] in OpenSearch's words, for the first thing that is wrong.
pub fn parse_aggs(value: &Value) -> Result<ParsedAggs, AggDslError> {
    let mut shown = ShownAggs::default();
    let aggs = parse_level(value, None, &mut shown)?;
    Ok(ParsedAggs { aggs, shown })
}

fn parse_level(
    value: &Value,
    above: Option<&AggPath<'_>>,
    shown: &mut ShownAggs,
) -> Result<Vec<NamedAgg>, AggDslError> {
    if above.is_some_and(|above| above.depth() >= DEPTH_MAX) {
        return Err(AggDslError::illegal(format!(
            "aggregations are nested more than [{DEPTH_MAX}] levels deep"
        )));
    }
    let object = value.as_object().ok_or_else(|| {
        let reason = "Unexpected token in [aggs]: expected an object of named aggregations";
        AggDslError::parsing(reason).at(Spot::start_of(value))
    })?;
    object
        .iter()
        .map(|(name, value)| parse_named(AggPath::new(name, above), value, shown))
        .collect()
}

fn parse_named(
    path: AggPath<'_>,
    value: &Value,
    shown: &mut ShownAggs,
) -> Result<NamedAgg, AggDslError> {
    let name = path.name;
    if name.is_empty() || name.contains(['[', ']', '>']) {
        let reason = format!(
            "Invalid aggregation name [{name}]. Aggregation names can contain any character \
             except '[', ']', and '>'"
        );
        return Err(AggDslError::parsing(reason).at(Spot::name_of(value)));
    }
    let object = value.as_object().ok_or_else(|| {
        // OpenSearch does not close the bracket behind the name either.
        let reason = format!(
            "Aggregation definition for [{name} starts with a [{}], expected a [START_OBJECT].",
            token(value)
        );
        AggDslError::parsing(reason).at(Spot::start_of(value))
    })?;
    let mut spec: Option<(&str, AggSpec)> = None;
    // An empty definition is none, also where there may be none.
    let mut subs = Vec::new();
    for (key, value) in object {
        if !value.is_object() {
            let reason = format!(
                "Expected [START_OBJECT] under [{key}], but got a [{}] in [{name}]",
                token(value)
            );
            return Err(AggDslError::parsing(reason).at(Spot::start_of(value)));
        }
        match key.as_str() {
            "meta" => {
                shown.meta.insert(path.to_string(), value.clone());
            }
            "aggs" | "aggregations" => {
                if !subs.is_empty() {
                    return Err(AggDslError::parsing(format!(
                        "Found two sub aggregation definitions under [{name}]"
                    )));
                }
                subs = parse_level(value, Some(&path), shown)?;
            }
            kind => {
                if let Some((first, _)) = spec {
                    let reason = format!(
                        "Found two aggregation type definitions in [{name}]: [{first}] and [{kind}]"
                    );
                    return Err(AggDslError::parsing(reason).at(Spot::start_of(value)));
                }
                spec = Some((kind, parse_spec(kind, path, value, shown)?));
            }
        }
    }
    let Some((kind, spec)) = spec else {
        let reason = format!("Missing definition for aggregation [{name}]");
        return Err(AggDslError::parsing(reason).at(Spot::end_of(value)));
    };
    if !subs.is_empty() {
        check_takes_subs(name, kind, &spec)?;
    }
    Ok(NamedAgg {
        name: name.to_string(),
        spec,
        subs,
    })
}

/// Refuses aggregations inside one that has no buckets.
fn check_takes_subs(name: &str, kind: &str, spec: &AggSpec) -> Result<(), AggDslError> {
    match spec.family() {
        AggFamily::Bucket(_) => Ok(()),
        AggFamily::Metric(_) => {
            let reason =
                format!("Aggregator [{name}] of type [{kind}] cannot accept sub-aggregations");
            Err(AggDslError::of(AggDslErrorKind::Initialization, reason))
        }
        AggFamily::Pipeline(_) => Err(AggDslError::illegal(format!(
            "Aggregation [{name}] cannot define sub-aggregations"
        ))),
    }
}

fn parse_spec(
    kind: &str,
    path: AggPath<'_>,
    value: &Value,
    shown: &mut ShownAggs,
) -> Result<AggSpec, AggDslError> {
    let mut body = Body::of_aggregation(kind, path.name, value);
    let spec = table::read(&mut body).map_err(|error| error.or_at(Spot::end_of(value)))?;
    if let Some(documents) = body.documents.take() {
        shown.top_hits.insert(path.to_string(), documents);
    }
    let left = body.end();
    left.map_err(|error| error.or_at(Spot::end_of(value)))?;
    Ok(spec)
}

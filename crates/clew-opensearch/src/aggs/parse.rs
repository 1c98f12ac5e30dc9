//! From a request's `aggs` to the typed tree.

use std::collections::BTreeMap;

use clew_query::aggregation::{AggSpec, NamedAgg};
use serde_json::{Map, Value};

use super::body::Body;
use super::error::AggDslError;
use super::path::AggPath;
use super::table;

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
        AggDslError::parsing("Unexpected token in [aggs]: expected an object of named aggregations")
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
        return Err(AggDslError::parsing(format!(
            "Invalid aggregation name [{name}]. Aggregation names can contain any character \
             except '[', ']', and '>'"
        )));
    }
    let object = value.as_object().ok_or_else(|| {
        AggDslError::parsing(format!(
            "Aggregation definition for [{name}] starts with a value, expected a START_OBJECT."
        ))
    })?;
    let mut spec: Option<(&str, AggSpec)> = None;
    let mut subs = None;
    for (key, value) in object {
        match key.as_str() {
            "meta" => {
                shown.meta.insert(path.to_string(), value.clone());
            }
            "aggs" | "aggregations" => {
                if subs.is_some() {
                    return Err(AggDslError::parsing(format!(
                        "Found two sub aggregation definitions under [{name}]"
                    )));
                }
                subs = Some(parse_level(value, Some(&path), shown)?);
            }
            kind => {
                if let Some((first, _)) = spec {
                    return Err(AggDslError::parsing(format!(
                        "Found two aggregation type definitions in [{name}]: [{first}] and [{kind}]"
                    )));
                }
                let settings = value.as_object().ok_or_else(|| {
                    AggDslError::parsing(format!(
                        "Expected [START_OBJECT] under [{kind}], but got a value in [{name}]"
                    ))
                })?;
                spec = Some((kind, parse_spec(kind, path, settings, shown)?));
            }
        }
    }
    let Some((_, spec)) = spec else {
        return Err(AggDslError::parsing(format!(
            "Missing definition for aggregation [{name}]"
        )));
    };
    Ok(NamedAgg {
        name: name.to_string(),
        spec,
        subs: subs.unwrap_or_default(),
    })
}

fn parse_spec(
    kind: &str,
    path: AggPath<'_>,
    settings: &Map<String, Value>,
    shown: &mut ShownAggs,
) -> Result<AggSpec, AggDslError> {
    let mut body = Body::new(kind, path.name, settings);
    let spec = table::read(&mut body)?;
    if let Some(documents) = body.documents.take() {
        shown.top_hits.insert(path.to_string(), documents);
    }
    body.end()?;
    Ok(spec)
}

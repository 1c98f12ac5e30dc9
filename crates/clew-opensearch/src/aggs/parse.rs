//! From a request's `aggs` to the typed tree.

use std::collections::BTreeMap;

use clew_query::aggregation::{
    AggSpec, Bounds, CardinalitySpec, DateHistogramSpec, DateInterval, EndKind, ExtendedStatsSpec,
    Generation, HistogramSpec, IncludeExclude, NamedAgg, NestedSpec, RangeItem, RangeSpec,
    RelativesSpec, ReverseNestedSpec, Source, TermFilter, TermsSpec,
};
use serde_json::{Map, Value};

use super::body::{Body, scalar};
use super::error::AggDslError;
use super::interval::{calendar_interval, fixed_interval, legacy_interval, offset_ms};
use super::path::AggPath;
use super::{buckets, geo, metrics, pipelines};

/// Up to this many distinct values are counted exactly, unless the request says otherwise.
const PRECISION_THRESHOLD: u64 = 3_000;
/// The highest threshold a request can ask for.
const PRECISION_THRESHOLD_MAX: u64 = 40_000;
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
    let name = path.name;
    let mut body = Body::new(kind, name, settings);
    let spec = match kind {
        "terms" => AggSpec::Terms(terms(&mut body)?),
        "date_histogram" => AggSpec::DateHistogram(date_histogram(&mut body)?),
        "histogram" => AggSpec::Histogram(histogram(&mut body)?),
        "range" => AggSpec::Range(range(&mut body, EndKind::Numbers)?),
        "date_range" => AggSpec::Range(range(&mut body, EndKind::Dates)?),
        "missing" => AggSpec::Missing(body.source()?),
        "min" => AggSpec::Min(body.source()?),
        "max" => AggSpec::Max(body.source()?),
        "avg" => AggSpec::Avg(body.source()?),
        "sum" => AggSpec::Sum(body.source()?),
        "value_count" => AggSpec::ValueCount(body.source()?),
        "stats" => AggSpec::Stats(body.source()?),
        "extended_stats" => AggSpec::ExtendedStats(ExtendedStatsSpec {
            source: body.source()?,
            sigma: body.number("sigma")?.unwrap_or(2.0),
        }),
        "cardinality" => {
            body.take("execution_hint");
            let asked = body.count("precision_threshold")?;
            let threshold = asked.unwrap_or(PRECISION_THRESHOLD);
            AggSpec::Cardinality(CardinalitySpec {
                source: body.source()?,
                precision_threshold: small(threshold.min(PRECISION_THRESHOLD_MAX)),
            })
        }
        "nested" => AggSpec::Nested(NestedSpec {
            path: body.text("path")?.ok_or_else(|| {
                AggDslError::parsing(format!(
                    "Missing [path] field for nested aggregation [{name}]"
                ))
            })?,
        }),
        "reverse_nested" => AggSpec::ReverseNested(ReverseNestedSpec {
            path: body.text("path")?,
        }),
        "children" => AggSpec::Relatives(RelativesSpec {
            way: Generation::Children,
            kind: child_kind(&mut body, name)?,
        }),
        "parent" => AggSpec::Relatives(RelativesSpec {
            way: Generation::Parents,
            kind: child_kind(&mut body, name)?,
        }),
        "top_hits" => {
            let (spec, documents) = super::top_hits::top_hits(&mut body)?;
            shown.top_hits.insert(path.to_string(), documents);
            AggSpec::TopHits(spec)
        }
        "geo_distance" => AggSpec::Range(range(&mut body, EndKind::Distances)?),
        "ip_range" => AggSpec::Range(range(&mut body, EndKind::Addresses)?),
        kind => match other_spec(kind, &mut body, settings)? {
            Some(spec) => spec,
            None => {
                return Err(AggDslError::parsing(format!(
                    "Unknown aggregation type [{kind}]"
                )));
            }
        },
    };
    body.end()?;
    Ok(spec)
}

/// The kind of the children that an aggregation over relatives is about.
fn child_kind(body: &mut Body<'_>, name: &str) -> Result<String, AggDslError> {
    body.text("type")?.ok_or_else(|| {
        AggDslError::parsing(format!(
            "Missing [child_type] field for children aggregation [{name}]"
        ))
    })
}

/// The types that have files of their own.
fn other_spec<'a>(
    kind: &str,
    body: &mut Body<'a>,
    settings: &'a Map<String, Value>,
) -> Result<Option<AggSpec>, AggDslError> {
    if let Some(spec) = metrics::parse(kind, body)? {
        return Ok(Some(spec));
    }
    if let Some(spec) = geo::parse(kind, body)? {
        return Ok(Some(spec));
    }
    if let Some(spec) = buckets::parse(kind, body, settings)? {
        return Ok(Some(spec));
    }
    Ok(pipelines::parse(kind, body)?.map(AggSpec::Pipeline))
}

/// Counts beyond 32 bits mean "all".
pub(super) fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn terms(body: &mut Body<'_>) -> Result<TermsSpec, AggDslError> {
    // How to execute is for us to know.
    for hint in ["execution_hint", "collect_mode", "shard_min_doc_count"] {
        body.take(hint);
    }
    let size = body.count("size")?.unwrap_or(10);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[size] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok(TermsSpec {
        source: body.source()?,
        size: small(size),
        shard_size: body.count("shard_size")?.map(small),
        min_doc_count: body.count("min_doc_count")?.unwrap_or(1),
        order: body.order()?,
        filter: term_filter(body)?,
        show_error: body.flag("show_term_doc_count_error")?,
    })
}

pub(super) fn term_filter(body: &mut Body<'_>) -> Result<TermFilter, AggDslError> {
    Ok(TermFilter {
        include: term_set(body, "include")?,
        exclude: term_set(body, "exclude")?,
    })
}

fn term_set(body: &mut Body<'_>, key: &str) -> Result<Option<IncludeExclude>, AggDslError> {
    match body.take(key) {
        None => Ok(None),
        Some(Value::String(pattern)) => Ok(Some(IncludeExclude::Pattern(pattern.clone()))),
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| scalar(value).ok_or_else(|| body.wrong(key, value)))
            .collect::<Result<Vec<_>, _>>()
            .map(|values| Some(IncludeExclude::Values(values))),
        Some(Value::Object(settings)) if key == "include" => {
            let mut part = Body::new(key, body.name, settings);
            let count = part.count("num_partitions")?;
            let number = part.count("partition")?;
            part.end()?;
            let (Some(count), Some(number)) = (count, number) else {
                return Err(AggDslError::illegal(
                    "Missing [partition] or [num_partitions] parameter for partition-based include",
                ));
            };
            if count < 2 || number >= count {
                return Err(AggDslError::illegal(format!(
                    "partition must be >= 0 and less than num_partitions, which must be >= 2: \
                     found [{number}] of [{count}]"
                )));
            }
            Ok(Some(IncludeExclude::Partition {
                part: small(number),
                count: small(count),
            }))
        }
        Some(other) => Err(body.wrong(key, other)),
    }
}

/// The interval of a histogram of time, under whichever of its names.
pub(super) fn date_interval(body: &mut Body<'_>) -> Result<DateInterval, AggDslError> {
    let calendar = body.text("calendar_interval")?;
    let fixed = body.text("fixed_interval")?;
    let legacy = body.text("interval")?;
    match (calendar, fixed, legacy) {
        (Some(text), None, None) => calendar_interval(&text),
        (None, Some(text), None) => fixed_interval(&text),
        (None, None, Some(text)) => match text.parse::<i64>() {
            Ok(number) => fixed_interval(&format!("{number}ms")),
            Err(_) => legacy_interval(&text),
        },
        (None, None, None) => Err(AggDslError::illegal(
            "Invalid interval specified, must be non-null and non-empty",
        )),
        (Some(_), Some(_), None) => Err(AggDslError::illegal(
            "Cannot use [fixed_interval] with [calendar_interval] configuration option.",
        )),
        (_, _, Some(_)) => Err(AggDslError::illegal(
            "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration \
             options.",
        )),
    }
}

/// How far the starts of intervals of time are moved.
pub(super) fn date_offset(body: &mut Body<'_>) -> Result<i64, AggDslError> {
    match body.take("offset") {
        None => Ok(0),
        Some(Value::String(text)) => offset_ms(text),
        Some(value) => value.as_i64().ok_or_else(|| body.wrong("offset", value)),
    }
}

fn date_histogram(body: &mut Body<'_>) -> Result<DateHistogramSpec, AggDslError> {
    let interval = date_interval(body)?;
    let offset_ms = date_offset(body)?;
    Ok(DateHistogramSpec {
        source: body.source()?,
        interval,
        time_zone: body.text("time_zone")?,
        offset_ms,
        min_doc_count: body.count("min_doc_count")?.unwrap_or(0),
        extended_bounds: extended_bounds(body)?,
        hard_bounds: body.bounds("hard_bounds")?,
        order: body.order()?,
        keyed: body.flag("keyed")?,
    })
}

fn extended_bounds(body: &mut Body<'_>) -> Result<Option<Bounds>, AggDslError> {
    body.bounds("extended_bounds")
}

fn histogram(body: &mut Body<'_>) -> Result<HistogramSpec, AggDslError> {
    let interval = body
        .number("interval")?
        .ok_or_else(|| AggDslError::illegal("[interval] must be >0 for histogram aggregation"))?;
    if interval <= 0.0 {
        return Err(AggDslError::illegal(format!(
            "[interval] must be >0 for histogram aggregation [{}]",
            body.name
        )));
    }
    Ok(HistogramSpec {
        source: body.source()?,
        interval,
        offset: body.number("offset")?.unwrap_or(0.0),
        min_doc_count: body.count("min_doc_count")?.unwrap_or(0),
        extended_bounds: extended_bounds(body)?,
        hard_bounds: body.bounds("hard_bounds")?,
        order: body.order()?,
        keyed: body.flag("keyed")?,
    })
}

fn range(body: &mut Body<'_>, kind: EndKind) -> Result<RangeSpec, AggDslError> {
    let source: Source = body.source()?;
    let ranges = match body.take("ranges") {
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| range_item(body, value))
            .collect::<Result<Vec<_>, _>>()?,
        Some(other) => return Err(body.wrong("ranges", other)),
        None => Vec::new(),
    };
    if ranges.is_empty() {
        return Err(AggDslError::illegal(format!(
            "No [ranges] specified for the [{}] aggregation",
            body.name
        )));
    }
    Ok(RangeSpec {
        source,
        ranges,
        keyed: body.flag("keyed")?,
        kind,
        time_zone: match kind {
            EndKind::Dates => body.text("time_zone")?,
            _ => None,
        },
        origin: match kind {
            EndKind::Distances => Some(geo::origin(body)?),
            _ => None,
        },
    })
}

fn range_item(body: &Body<'_>, value: &Value) -> Result<RangeItem, AggDslError> {
    let settings = value
        .as_object()
        .ok_or_else(|| body.wrong("ranges", value))?;
    let mut item = Body::new("range", body.name, settings);
    let range = RangeItem {
        key: item.text("key")?,
        from: item.scalar("from")?,
        to: item.scalar("to")?,
        mask: item.text("mask")?,
    };
    item.end()?;
    Ok(range)
}

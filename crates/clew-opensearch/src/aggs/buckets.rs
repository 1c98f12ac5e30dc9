//! Bucket aggregations whose settings hold queries or several sources.

use clew_query::Query;
use clew_query::aggregation::{
    AggSpec, AutoDateSpec, CompositeKind, CompositeSource, CompositeSpec, Direction, FilterShape,
    FiltersSpec, GlobalSpec, MissingOrder, MultiTermsSpec, RareTermsSpec, SampleSpec, Scalar,
    Source, VariableWidthSpec,
};
use serde_json::{Map, Value};

use super::body::{Body, scalar};
use super::error::AggDslError;
use super::interval::calendar;
use super::parse::{date_interval, date_offset, small, term_filter};
use super::{geo, significant};
use crate::dsl;

/// How many filters there may be.
const FILTERS_MAX: usize = 1_000;
/// Documents of each shard in a sample unless the request says otherwise.
const SAMPLE_SIZE: u64 = 100;
/// How many an adjacency matrix may have, as it has a bucket for each pair.
const ADJACENCY_MAX: usize = 100;

/// The aggregation of a type, if it is one of these. A query is the whole of a filter's settings.
pub(super) fn parse<'a>(
    kind: &str,
    body: &mut Body<'a>,
    settings: &'a Map<String, Value>,
) -> Result<Option<AggSpec>, AggDslError> {
    Ok(Some(match kind {
        "filter" => {
            for key in body.rest() {
                body.take(key);
            }
            let query = if settings.is_empty() {
                Query::MatchAll { boost: 1.0 }
            } else {
                dsl::parse_query(&Value::Object(settings.clone()))?
            };
            AggSpec::Filters(FiltersSpec {
                filters: vec![(String::new(), query)],
                shape: FilterShape::Single,
            })
        }
        "filters" => AggSpec::Filters(filters(body)?),
        "adjacency_matrix" => AggSpec::Filters(adjacency(body)?),
        "global" => AggSpec::Global(GlobalSpec),
        "sampler" => AggSpec::Sample(SampleSpec {
            size: sample_size(body)?,
            diverse: None,
        }),
        "diversified_sampler" => AggSpec::Sample(SampleSpec {
            size: sample_size(body)?,
            diverse: Some(diverse(body)?),
        }),
        "scripted_metric" => {
            return Err(AggDslError::illegal(format!(
                "[scripted_metric] aggregation [{}] needs scripts, and there are none",
                body.name
            )));
        }
        "composite" => AggSpec::Composite(composite(body)?),
        "multi_terms" => AggSpec::MultiTerms(multi_terms(body)?),
        "rare_terms" => AggSpec::RareTerms(rare_terms(body)?),
        "significant_terms" => AggSpec::SignificantTerms(significant::parse(body)?),
        "significant_text" => AggSpec::SignificantTerms(significant::parse_text(body)?),
        "variable_width_histogram" => AggSpec::VariableWidth(VariableWidthSpec {
            buckets: variable_width(body)?,
            source: body.source()?,
        }),
        "auto_date_histogram" => AggSpec::AutoDateHistogram(auto_date(body)?),
        _ => return Ok(None),
    }))
}

/// How many of the best documents of each shard a sample has.
fn sample_size(body: &mut Body<'_>) -> Result<u32, AggDslError> {
    let size = body.count("shard_size")?.unwrap_or(SAMPLE_SIZE);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[shardSize] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok(small(size))
}

/// The field whose values make a sample diverse, and how many documents may have the same one.
fn diverse(body: &mut Body<'_>) -> Result<(Source, u32), AggDslError> {
    body.take("execution_hint");
    let most = body.count("max_docs_per_value")?.unwrap_or(1);
    if most == 0 {
        return Err(AggDslError::illegal(format!(
            "[maxDocsPerValue] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok((body.source()?, small(most)))
}

fn filters(body: &mut Body<'_>) -> Result<FiltersSpec, AggDslError> {
    let given = body.take("filters");
    let other_key = body.text("other_bucket_key")?;
    let other = body.flag_or("other_bucket", other_key.is_some())?;
    let keyed = body.flag_or("keyed", true)?;
    let empty = || AggDslError::illegal("[filters] cannot be empty.");
    let (filters, named) = match given {
        Some(Value::Object(object)) => (named_queries(object)?, true),
        Some(Value::Array(list)) => {
            let query = |(at, value)| -> Result<(String, Query), AggDslError> {
                let at: usize = at;
                Ok((at.to_string(), dsl::parse_query(value)?))
            };
            let queries = list.iter().enumerate().map(query);
            (queries.collect::<Result<Vec<_>, _>>()?, false)
        }
        Some(other) => return Err(body.wrong("filters", other)),
        None => return Err(empty()),
    };
    if filters.is_empty() {
        return Err(empty());
    }
    check_count(filters.len(), FILTERS_MAX, body)?;
    let other_key = other_key.unwrap_or_else(|| "_other_".to_string());
    Ok(FiltersSpec {
        filters,
        shape: FilterShape::Named {
            keyed: named && keyed,
            other: other.then_some(other_key),
        },
    })
}

fn named_queries(object: &Map<String, Value>) -> Result<Vec<(String, Query)>, AggDslError> {
    let mut filters = object
        .iter()
        .map(|(name, value)| Ok((name.clone(), dsl::parse_query(value)?)))
        .collect::<Result<Vec<_>, AggDslError>>()?;
    filters.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(filters)
}

fn check_count(count: usize, max: usize, body: &Body<'_>) -> Result<(), AggDslError> {
    if count > max {
        return Err(AggDslError::illegal(format!(
            "Number of filters is too large, must be less than or equal to: [{max}] but was \
             [{count}] in [{}].",
            body.name
        )));
    }
    Ok(())
}

fn adjacency(body: &mut Body<'_>) -> Result<FiltersSpec, AggDslError> {
    let separator = body.text("separator")?.unwrap_or_else(|| "&".to_string());
    let filters = match body.take("filters") {
        Some(Value::Object(object)) => named_queries(object)?,
        Some(other) => return Err(body.wrong("filters", other)),
        None => Vec::new(),
    };
    if filters.is_empty() {
        return Err(AggDslError::illegal(format!(
            "[filters] is missing : [{}]",
            body.name
        )));
    }
    check_count(filters.len(), ADJACENCY_MAX, body)?;
    Ok(FiltersSpec {
        filters,
        shape: FilterShape::Adjacency { separator },
    })
}

fn composite(body: &mut Body<'_>) -> Result<CompositeSpec, AggDslError> {
    let size = body.count("size")?.unwrap_or(10);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[size] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    let sources = match body.take("sources") {
        None => return Err(AggDslError::illegal("Required [sources]")),
        Some(Value::Array(list)) => {
            let sources = list.iter().map(|value| named_source(body, value));
            sources.collect::<Result<Vec<_>, _>>()?
        }
        Some(one) => vec![named_source(body, one)?],
    };
    if sources.is_empty() {
        return Err(AggDslError::illegal(
            "Composite [sources] cannot be null or empty",
        ));
    }
    for (at, source) in sources.iter().enumerate() {
        if sources[..at].iter().any(|other| other.name == source.name) {
            return Err(AggDslError::illegal(format!(
                "Composite source names must be unique, found duplicates: [{}]",
                source.name
            )));
        }
    }
    let after = match body.take("after") {
        None => None,
        Some(Value::Object(object)) => Some(after(body, object)?),
        Some(other) => return Err(body.wrong("after", other)),
    };
    Ok(CompositeSpec {
        sources,
        size: small(size),
        after,
    })
}

fn after(
    body: &Body<'_>,
    object: &Map<String, Value>,
) -> Result<Vec<(String, Option<Scalar>)>, AggDslError> {
    let one = |(name, value): (&String, &Value)| match value {
        Value::Null => Ok((name.clone(), None)),
        value => match scalar(value) {
            Some(scalar) => Ok((name.clone(), Some(scalar))),
            None => Err(body.wrong("after", value)),
        },
    };
    object.iter().map(one).collect()
}

/// `{"name": {"terms": {...}}}`.
fn named_source(body: &Body<'_>, value: &Value) -> Result<CompositeSource, AggDslError> {
    let only = |value: &Value| {
        let object = value.as_object().filter(|object| object.len() == 1)?;
        let (name, value) = object.iter().next()?;
        Some((name.clone(), value.clone()))
    };
    let wrong = || {
        AggDslError::parsing(format!(
            "a source of [{}] must be an object with a name and in it a type",
            body.name
        ))
    };
    let (name, inner) = only(value).ok_or_else(wrong)?;
    let (kind, settings) = only(&inner).ok_or_else(wrong)?;
    let settings = settings.as_object().ok_or_else(wrong)?.clone();
    let mut source = Body::new(&kind, &name, &settings);
    let direction = match source.text("order")?.map(|text| text.to_ascii_lowercase()) {
        None => Direction::Ascending,
        Some(text) if text == "asc" => Direction::Ascending,
        Some(text) if text == "desc" => Direction::Descending,
        Some(text) => {
            return Err(AggDslError::illegal(format!(
                "Unknown order direction [{text}]"
            )));
        }
    };
    let missing_order = match source.text("missing_order")?.as_deref() {
        None | Some("default") => MissingOrder::Default,
        Some("first") => MissingOrder::First,
        Some("last") => MissingOrder::Last,
        Some(text) => {
            return Err(AggDslError::illegal(format!(
                "Unknown missing order [{text}]"
            )));
        }
    };
    let missing_bucket = source.flag("missing_bucket")?;
    if missing_order != MissingOrder::Default && !missing_bucket {
        return Err(AggDslError::illegal(
            "missing_order can only be set if missing_bucket is true",
        ));
    }
    let kind = composite_kind(&kind, &mut source)?;
    source.end()?;
    Ok(CompositeSource {
        name,
        kind,
        missing_bucket,
        missing_order,
        direction,
    })
}

fn composite_kind(kind: &str, source: &mut Body<'_>) -> Result<CompositeKind, AggDslError> {
    Ok(match kind {
        "terms" => CompositeKind::Terms(source.source()?),
        "histogram" => {
            let interval = source.number("interval")?;
            let Some(interval) = interval.filter(|interval| *interval > 0.0) else {
                return Err(AggDslError::illegal(
                    "[interval] must be greater than 0 for [histogram] source",
                ));
            };
            CompositeKind::Histogram {
                source: source.source()?,
                interval,
            }
        }
        "date_histogram" => CompositeKind::DateHistogram {
            interval: date_interval(source)?,
            time_zone: source.text("time_zone")?,
            offset_ms: date_offset(source)?,
            source: source.source()?,
        },
        "geotile_grid" => CompositeKind::Cells {
            grid: geo::geotile(source)?,
            source: source.source()?,
        },
        other => {
            return Err(AggDslError::parsing(format!(
                "invalid source type: {other}"
            )));
        }
    })
}

fn multi_terms(body: &mut Body<'_>) -> Result<MultiTermsSpec, AggDslError> {
    for hint in ["collect_mode", "execution_hint", "shard_min_doc_count"] {
        body.take(hint);
    }
    let list = match body.take("terms") {
        Some(Value::Array(list)) => &list[..],
        Some(other) => return Err(body.wrong("terms", other)),
        None => &[],
    };
    if list.len() < 2 {
        return Err(AggDslError::illegal(format!(
            "multi term aggregation must has at least 2 terms. Found [{}] in [{}] Use terms \
             aggregation for single term aggregation",
            list.len(),
            body.name
        )));
    }
    let source = |value: &Value| -> Result<Source, AggDslError> {
        let settings = value
            .as_object()
            .ok_or_else(|| body.wrong("terms", value))?;
        let mut part = Body::new(body.kind, body.name, settings);
        let source = part.source()?;
        part.end()?;
        Ok(source)
    };
    let sources = list.iter().map(source).collect::<Result<_, _>>()?;
    let size = body.count("size")?.unwrap_or(10);
    if size == 0 {
        return Err(AggDslError::illegal(format!(
            "[size] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    Ok(MultiTermsSpec {
        sources,
        size: small(size),
        shard_size: body.count("shard_size")?.map(small),
        min_doc_count: body.count("min_doc_count")?.unwrap_or(1),
        order: body.order()?,
        show_error: body.flag("show_term_doc_count_error")?,
    })
}

fn rare_terms(body: &mut Body<'_>) -> Result<RareTermsSpec, AggDslError> {
    // Rare terms are found exactly here, so how exact they should be changes nothing.
    if body
        .number("precision")?
        .is_some_and(|wanted| wanted < 0.000_01)
    {
        return Err(AggDslError::illegal(
            "[precision] must be greater than 0.00001",
        ));
    }
    let max_doc_count = body.count("max_doc_count")?.unwrap_or(1);
    if max_doc_count == 0 {
        return Err(AggDslError::illegal(format!(
            "[max_doc_count] must be greater than 0. Found [0] in [{}]",
            body.name
        )));
    }
    if max_doc_count > 100 {
        return Err(AggDslError::illegal(format!(
            "[max_doc_count] must be smallerthan 100in [{}]",
            body.name
        )));
    }
    Ok(RareTermsSpec {
        max_doc_count,
        filter: term_filter(body)?,
        source: body.source()?,
    })
}

fn variable_width(body: &mut Body<'_>) -> Result<u32, AggDslError> {
    // Values are kept one by one until the end, so these two change nothing.
    body.count("shard_size")?;
    body.count("initial_buffer")?;
    let buckets = body.count("buckets")?.unwrap_or(10);
    if buckets == 0 || buckets > 50_000 {
        return Err(AggDslError::illegal(format!(
            "buckets must be between 1 and 50000 for [{}]",
            body.name
        )));
    }
    Ok(small(buckets))
}

fn auto_date(body: &mut Body<'_>) -> Result<AutoDateSpec, AggDslError> {
    let buckets = body.count("buckets")?.unwrap_or(10);
    if buckets == 0 {
        return Err(AggDslError::illegal(format!(
            "buckets must be greater than 0 for [{}]",
            body.name
        )));
    }
    let minimum = match body.text("minimum_interval")? {
        None => None,
        Some(text) => match calendar(&text) {
            Some(unit) if !text.starts_with('1') => Some(unit),
            _ => {
                return Err(AggDslError::illegal(
                    "minimumInterval must be one of [year, month, day, hour, minute, second]",
                ));
            }
        },
    };
    Ok(AutoDateSpec {
        buckets: small(buckets),
        time_zone: body.text("time_zone")?,
        minimum,
        source: body.source()?,
    })
}

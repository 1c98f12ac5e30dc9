//! Hits in buckets (`searchAggregation`): what a search asks of them, and how they are told.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::Answer;
use super::answers::costing;
use super::body::{Body, Refusal, Result, wrong};
use super::parameters::is_grouped;
use crate::error::MilvusError;
use crate::proto::*;
use crate::rows;

/// The member of a search that says of them.
pub(super) const NAME: &str = "searchAggregation";

fn refused(said: impl Into<String>) -> Refusal {
    MilvusError::Invalid(said.into()).into()
}

/// What a search asks of buckets, if it does.
///
/// # Errors
/// For what is no such thing, and what it cannot stand beside.
pub(super) fn read(body: &Body) -> Result<Option<SearchAggregationSpec>> {
    if body.get(NAME).is_none() {
        return Ok(None);
    }
    check_alone(body)?;
    level(&Body(body.object(NAME)?), NAME).map(Some)
}

/// Refuses it of a search that joins others.
pub(super) fn check_hybrid(body: &Body) -> Result<()> {
    match body.get(NAME) {
        None => Ok(()),
        Some(_) => Err(refused(
            "searchAggregation is not supported for hybrid search",
        )),
    }
}

/// Refuses it beside what counts or groups hits otherwise.
fn check_alone(body: &Body) -> Result<()> {
    let inner = Body(body.object("searchParams")?);
    let params = Body(inner.object("params")?);
    let given = |name: &str| inner.get(name).or_else(|| params.get(name));
    let skips = |offset: Option<&Value>| offset.is_some_and(|offset| *offset != json!(0));
    let why = if skips(body.get("offset")) {
        "offset is not supported with searchAggregation"
    } else if is_grouped(body) {
        "groupingField/groupSize/strictGroupSize and searchAggregation cannot be used simultaneously"
    } else if body.get("orderByFields").is_some() {
        "orderByFields and searchAggregation cannot be used simultaneously"
    } else if body.get("ids").is_some() {
        "ids and searchAggregation cannot be used simultaneously"
    } else if skips(given("offset")) {
        "searchParams.offset is not supported with searchAggregation"
    } else if given("group_by_field").is_some() || given("group_by_fields").is_some() {
        "searchParams.group_by_field(s) and searchAggregation cannot be used simultaneously"
    } else {
        return Ok(());
    };
    Err(refused(why))
}

/// A level of buckets; `place` is where it stands.
fn level(body: &Body, place: &str) -> Result<SearchAggregationSpec> {
    let fields = body.texts("fields")?;
    if fields.is_empty() {
        return Err(refused(format!("{place}.fields must be non-empty")));
    }
    let size = size(body, place)?;
    let search_size = body.number("searchSize")?.unwrap_or_default();
    if search_size != 0 && search_size < size {
        return Err(refused(format!(
            "{place}.searchSize must be greater than or equal to size"
        )));
    }
    let mut order = Vec::new();
    for one in objects(body, "order")? {
        order.push(OrderSpec {
            key: one.text_or("key", "")?,
            direction: one.text_or("direction", "")?,
        });
    }
    let inside = |name: &str| -> Result<Option<(Body, String)>> {
        match body.get(name) {
            None => Ok(None),
            Some(_) => Ok(Some((Body(body.object(name)?), format!("{place}.{name}")))),
        }
    };
    let top_hits = match inside("topHits")? {
        None => None,
        Some((body, place)) => Some(top_hits(&body, &place)?),
    };
    let sub_aggregation = match inside("subAggregation")? {
        None => None,
        Some((body, place)) => Some(Box::new(level(&body, &place)?)),
    };
    Ok(SearchAggregationSpec {
        fields,
        size,
        metrics: metrics(body, place)?,
        order,
        top_hits,
        sub_aggregation,
        search_size,
    })
}

/// How many buckets, or hits of one, are told.
fn size(body: &Body, place: &str) -> Result<i64> {
    match body.number("size")? {
        Some(size) if size > 0 => Ok(size),
        _ => Err(refused(format!("{place}.size must be positive"))),
    }
}

fn top_hits(body: &Body, place: &str) -> Result<TopHitsSpec> {
    let mut sort = Vec::new();
    for one in objects(body, "sort")? {
        sort.push(SortSpec {
            field_name: one.text_or("fieldName", "")?,
            direction: one.text_or("direction", "")?,
            null_first: one.flag("nullFirst")?.unwrap_or_default(),
        });
    }
    Ok(TopHitsSpec {
        size: size(body, place)?,
        sort,
    })
}

fn metrics(body: &Body, place: &str) -> Result<HashMap<String, MetricAggSpec>> {
    let mut all = HashMap::new();
    for (alias, given) in body.object("metrics")? {
        let members = given.as_object().cloned();
        let one = Body(members.ok_or_else(|| wrong("metrics", "an object of objects"))?);
        let spec = MetricAggSpec {
            op: one.text_or("op", "")?,
            field_name: one.text_or("fieldName", "")?,
        };
        for (name, text) in [("op", &spec.op), ("fieldName", &spec.field_name)] {
            if text.is_empty() {
                return Err(refused(format!(
                    "{place}.metrics.{alias}.{name} must be non-empty"
                )));
            }
        }
        all.insert(alias, spec);
    }
    Ok(all)
}

/// The objects of a list.
fn objects(body: &Body, name: &str) -> Result<Vec<Body>> {
    let mut all = Vec::new();
    for one in body.list(name) {
        let members = one.as_object().cloned();
        all.push(Body(
            members.ok_or_else(|| wrong(name, "a list of objects"))?,
        ));
    }
    Ok(all)
}

/// How hits are told: the name of the key, and whether whole numbers of 64 bits are texts.
pub(super) struct Telling {
    pub(super) primary: String,
    pub(super) as_texts: bool,
}

impl Telling {
    /// The buckets of each vector or text that was searched for.
    pub(super) fn answer(&self, found: SearchResultData) -> Answer {
        let mut buckets = found.agg_buckets.into_iter();
        let mut data = Vec::with_capacity(found.agg_topks.len());
        for count in &found.agg_topks {
            let count = usize::try_from(*count).unwrap_or_default();
            let own = buckets.by_ref().take(count);
            let own: Vec<Value> = own.map(|bucket| self.bucket(bucket)).collect();
            data.push(json!({"buckets": own}));
        }
        let mut whole = costing(data);
        whole.insert("aggTopks".to_string(), json!(found.agg_topks));
        Answer::Whole(whole)
    }

    fn bucket(&self, bucket: AggBucket) -> Value {
        use bucket_key_entry::Value as Part;
        let key = bucket.key.into_iter().map(|part| {
            let value = match part.value {
                None => Value::Null,
                Some(Part::IntVal(number)) => self.whole(number),
                Some(Part::StringVal(text)) => text.into(),
                Some(Part::BoolVal(truth)) => truth.into(),
            };
            json!({"fieldName": part.field_name, "value": value})
        });
        let key: Vec<Value> = key.collect();
        let metrics = bucket.metrics.into_iter();
        let metrics: Map<String, Value> = metrics
            .map(|(alias, metric)| (alias, self.metric(metric)))
            .collect();
        let hits: Vec<Value> = bucket.hits.into_iter().map(|hit| self.hit(hit)).collect();
        let mut told = Map::new();
        told.insert("key".to_string(), key.into());
        told.insert("count".to_string(), bucket.count.into());
        told.insert("metrics".to_string(), metrics.into());
        told.insert("hits".to_string(), hits.into());
        if !bucket.sub_groups.is_empty() {
            let inner = bucket.sub_groups.into_iter();
            let inner: Vec<Value> = inner.map(|bucket| self.bucket(bucket)).collect();
            told.insert("subGroups".to_string(), inner.into());
        }
        Value::Object(told)
    }

    fn metric(&self, metric: MetricValue) -> Value {
        use metric_value::Value as Number;
        match metric.value {
            None => Value::Null,
            Some(Number::IntVal(number)) => self.whole(number),
            Some(Number::DoubleVal(number)) => number.into(),
            Some(Number::StringVal(text)) => text.into(),
            Some(Number::BoolVal(truth)) => truth.into(),
        }
    }

    fn hit(&self, hit: AggHit) -> Value {
        use agg_hit_field::Value as Part;
        let key = match hit.pk {
            None => Value::Null,
            Some(agg_hit::Pk::IntPk(key)) => self.whole(key),
            Some(agg_hit::Pk::StrPk(key)) => key.into(),
        };
        let mut told = Map::new();
        told.insert("distance".to_string(), rows::single(hit.score));
        told.insert(self.primary.clone(), key);
        for field in hit.fields {
            let value = match field.value {
                None => Value::Null,
                Some(Part::IntVal(number)) => self.whole(number),
                Some(Part::BoolVal(truth)) => truth.into(),
                Some(Part::FloatVal(number)) => rows::single(number),
                Some(Part::DoubleVal(number)) => number.into(),
                Some(Part::StringVal(text)) => text.into(),
                Some(Part::BytesVal(json)) => serde_json::from_slice(&json).unwrap_or_default(),
            };
            told.insert(field.field_name, value);
        }
        Value::Object(told)
    }

    fn whole(&self, number: i64) -> Value {
        match self.as_texts {
            true => number.to_string().into(),
            false => number.into(),
        }
    }
}

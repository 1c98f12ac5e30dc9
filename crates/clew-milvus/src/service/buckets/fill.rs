//! Hits that were found, put into their buckets.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use clew_platform::stopped;
use clew_query::Order;
use prost::Message;

use super::{Buckets, Level, Metric, OrderKey, Source, TopHits};
use crate::collection::{Collection, DataType, Metric as Distance, key_of};
use crate::proto::*;
use crate::service::aggregate::Known;
use crate::service::cell::Cell;
use crate::service::search::Found;

/// A value of a hit. Those of one field are of one kind.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Told {
    Bool(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    Text(String),
    Bytes(Bytes),
}

impl Told {
    /// As values are added up and compared.
    fn cell(self) -> Cell {
        match self {
            Told::Bool(truth) => Cell::Integer(i64::from(truth)),
            Told::Int(number) => Cell::Integer(number),
            Told::Float(number) => Cell::Float(number.into()),
            Told::Double(number) => Cell::Float(number),
            Told::Text(text) => Cell::Text(text),
            Told::Bytes(_) => Cell::Other,
        }
    }

    fn in_hit(self) -> agg_hit_field::Value {
        use agg_hit_field::Value;
        match self {
            Told::Bool(truth) => Value::BoolVal(truth),
            Told::Int(number) => Value::IntVal(number),
            Told::Float(number) => Value::FloatVal(number),
            Told::Double(number) => Value::DoubleVal(number),
            Told::Text(text) => Value::StringVal(text),
            Told::Bytes(bytes) => Value::BytesVal(bytes),
        }
    }
}

/// What a bucket is told by; rows without a value come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
}

impl Key {
    fn of(value: Option<Told>) -> Key {
        match value {
            Some(Told::Bool(truth)) => Key::Bool(truth),
            Some(Told::Int(number)) => Key::Int(number),
            Some(Told::Text(text)) => Key::Text(text),
            Some(Told::Float(_) | Told::Double(_) | Told::Bytes(_)) | None => Key::Null,
        }
    }

    fn told(&self) -> Option<bucket_key_entry::Value> {
        use bucket_key_entry::Value;
        match self {
            Key::Null => None,
            Key::Bool(truth) => Some(Value::BoolVal(*truth)),
            Key::Int(number) => Some(Value::IntVal(*number)),
            Key::Text(text) => Some(Value::StringVal(text.clone())),
        }
    }
}

/// A bucket while it is filled: its key, and which hits are in it, best first.
struct Bucket {
    key: Vec<Key>,
    hits: Vec<usize>,
    /// One for each metric of its level.
    metrics: Vec<Option<Cell>>,
}

/// What is known of hits.
pub(super) struct Table {
    pub(super) collection: Arc<Collection>,
    pub(super) columns: Vec<FieldData>,
    /// The names of what is told of each.
    pub(super) told: Vec<String>,
    pub(super) metric: Distance,
}

impl Table {
    /// What the buckets of so many hits may take: each level has the keys of all hits, once to find buckets by and once to tell
    /// them, and may tell every hit again.
    pub(super) fn bytes(&self, buckets: &Buckets, hits: usize) -> usize {
        const OWNED_BYTES: usize = 64;
        let texts = |name: &str| -> usize {
            let named = self.columns.iter().filter(|one| one.field_name == name);
            named.map(Message::encoded_len).sum()
        };
        let shown = self.columns.iter().filter(|one| self.is_told(one));
        let hit =
            |column: &FieldData| size_of::<AggHitField>() + OWNED_BYTES + column.field_name.len();
        let hit_bytes = size_of::<AggHit>() + OWNED_BYTES + shown.clone().map(hit).sum::<usize>();
        let told = hits
            .saturating_mul(hit_bytes)
            .saturating_add(shown.map(Message::encoded_len).sum());
        let of_level = |level: &Level| {
            let entry = size_of::<BucketKeyEntry>() + 2 * size_of::<Key>() + 2 * OWNED_BYTES;
            let metric = size_of::<MetricValue>() + size_of::<Cell>() + 2 * OWNED_BYTES;
            let bucket = size_of::<AggBucket>()
                + size_of::<Bucket>()
                + 2 * OWNED_BYTES
                + level.fields.len() * entry
                + level.metrics.len() * metric;
            let keys = level.fields.iter().map(|field| 3 * texts(&field.name));
            let metrics = level.metrics.iter().map(|metric| match &metric.of {
                Source::Field(field) => 2 * texts(&field.name),
                Source::Rows | Source::Score => 0,
            });
            let texts = keys.chain(metrics).fold(0, usize::saturating_add);
            let top = level.top_hits.as_ref().map_or(0, |_| told);
            hits.saturating_mul(bucket)
                .saturating_add(texts)
                .saturating_add(top)
        };
        let levels = buckets.levels.iter().map(of_level);
        levels.fold(0, usize::saturating_add)
    }

    /// Whether hits are told with a column.
    fn is_told(&self, column: &FieldData) -> bool {
        column.is_dynamic || self.told.contains(&column.field_name)
    }

    /// The buckets of all lists, one list behind the other, and how many each list has.
    pub(super) fn filled(
        &self,
        buckets: &Buckets,
        found: &[Vec<Found>],
    ) -> (Vec<AggBucket>, Vec<i64>) {
        let flat: Vec<&Found> = found.iter().flatten().collect();
        let (mut all, mut counts) = (Vec::new(), Vec::new());
        let mut from = 0;
        for list in found {
            let mut hits: Vec<usize> = (from..from + list.len()).collect();
            from += list.len();
            // They came group by group.
            hits.sort_by(|a, b| {
                let scores = (flat.get(*a), flat.get(*b));
                let (Some(a), Some(b)) = scores else {
                    return Ordering::Equal;
                };
                match self.metric.is_similarity() {
                    true => b.score.total_cmp(&a.score),
                    false => a.score.total_cmp(&b.score),
                }
            });
            let own = self.level(&buckets.levels, &hits, &flat);
            counts.push(i64::try_from(own.len()).unwrap_or_default());
            all.extend(own);
        }
        (all, counts)
    }

    /// The buckets of the first of some levels, of hits that are best first.
    fn level(&self, levels: &[Level], hits: &[usize], flat: &[&Found]) -> Vec<AggBucket> {
        let Some((level, inner)) = levels.split_first() else {
            return Vec::new();
        };
        let mut places: BTreeMap<Vec<Key>, usize> = BTreeMap::new();
        let mut buckets: Vec<Bucket> = Vec::new();
        for hit in hits {
            let fields = level.fields.iter();
            let key: Vec<Key> = fields
                .map(|field| Key::of(self.value(&field.name, *hit)))
                .collect();
            let next = buckets.len();
            let place = *places.entry(key.clone()).or_insert(next);
            if place == next {
                buckets.push(Bucket {
                    key,
                    hits: Vec::new(),
                    metrics: Vec::new(),
                });
            }
            if let Some(bucket) = buckets.get_mut(place) {
                bucket.hits.push(*hit);
            }
        }
        for bucket in &mut buckets {
            if stopped() {
                return Vec::new();
            }
            let metrics = level.metrics.iter();
            let metrics = metrics.map(|metric| self.result(metric, &bucket.hits, flat));
            bucket.metrics = metrics.collect();
        }
        buckets.sort_by(|a, b| compared(level, a, b));
        buckets.truncate(level.size);
        let told = buckets.into_iter().map(|bucket| {
            let sub_groups = self.level(inner, &bucket.hits, flat);
            self.told(level, bucket, (sub_groups, flat))
        });
        told.collect()
    }

    /// What a metric comes to.
    fn result(&self, metric: &Metric, hits: &[usize], flat: &[&Found]) -> Option<Cell> {
        let mut known = Known::default();
        let is_whole = match &metric.of {
            Source::Rows => {
                return i64::try_from(hits.len()).ok().map(Cell::Integer);
            }
            Source::Score => {
                for found in hits.iter().filter_map(|hit| flat.get(*hit)) {
                    known.add(&Cell::Float(found.score.into()));
                }
                false
            }
            Source::Field(field) => {
                for value in hits.iter().filter_map(|hit| self.value(&field.name, *hit)) {
                    known.add(&value.cell());
                }
                field.data_type.is_integer()
            }
        };
        known.result(metric.operator, is_whole)
    }

    fn told(
        &self,
        level: &Level,
        bucket: Bucket,
        (sub_groups, flat): (Vec<AggBucket>, &[&Found]),
    ) -> AggBucket {
        let keys = level.fields.iter().zip(&bucket.key);
        let key = keys.map(|(field, key)| BucketKeyEntry {
            field_id: field.id,
            field_name: field.name.clone(),
            value: key.told(),
        });
        let metrics = level.metrics.iter().zip(bucket.metrics);
        let metrics = metrics.map(|(metric, value)| {
            let value = value.and_then(metric_value);
            (metric.alias.clone(), MetricValue { value })
        });
        let top = level.top_hits.as_ref();
        AggBucket {
            key: key.collect(),
            count: i64::try_from(bucket.hits.len()).unwrap_or_default(),
            metrics: metrics.collect(),
            hits: top.map_or_else(Vec::new, |top| self.top(top, &bucket.hits, flat)),
            sub_groups,
        }
    }

    /// The hits of a bucket that are told.
    fn top(&self, top: &TopHits, hits: &[usize], flat: &[&Found]) -> Vec<AggHit> {
        let mut hits = hits.to_vec();
        let value = |source: &Source, hit: usize| match source {
            Source::Rows => None,
            Source::Score => flat.get(hit).map(|found| Told::Float(found.score)),
            Source::Field(field) => self.value(&field.name, hit),
        };
        if !top.sort.is_empty() {
            hits.sort_by(|a, b| {
                let mut parts = top.sort.iter().map(|(source, part)| {
                    let (a, b) = (value(source, *a), value(source, *b));
                    part.compare(a.as_ref(), b.as_ref())
                });
                let differs = parts.find(|ordering| *ordering != Ordering::Equal);
                differs.unwrap_or(Ordering::Equal)
            });
        }
        hits.truncate(top.size);
        let told = hits.into_iter().filter_map(|hit| {
            let found = flat.get(hit)?;
            Some(AggHit {
                score: found.score,
                fields: self.fields(hit),
                pk: Some(match self.collection.primary().data_type {
                    DataType::Int64 => agg_hit::Pk::IntPk(found.id.parse().ok()?),
                    _ => agg_hit::Pk::StrPk(key_of(&found.id).to_string()),
                }),
            })
        });
        told.collect()
    }

    /// What is told of a hit.
    fn fields(&self, hit: usize) -> Vec<AggHitField> {
        let shown = self.columns.iter().filter(|column| self.is_told(column));
        let fields = shown.filter_map(|column| {
            let field = self.collection.field(&column.field_name).ok();
            Some(AggHitField {
                field_id: field.map_or(0, |field| field.id),
                field_name: column.field_name.clone(),
                value: Some(told_of(column, hit)?.in_hit()),
            })
        });
        fields.collect()
    }

    fn value(&self, name: &str, hit: usize) -> Option<Told> {
        let mut columns = self.columns.iter();
        let column = columns.find(|column| column.field_name == name && !column.is_dynamic)?;
        told_of(column, hit)
    }
}

/// The value of a row in a column; none where it has none, and of what is no scalar.
fn told_of(column: &FieldData, row: usize) -> Option<Told> {
    use scalar_field::Data;
    if column.valid_data.get(row) == Some(&false) {
        return None;
    }
    let Some(field_data::Field::Scalars(scalars)) = &column.field else {
        return None;
    };
    match scalars.data.as_ref()? {
        Data::BoolData(values) => values.data.get(row).copied().map(Told::Bool),
        Data::IntData(values) => values.data.get(row).map(|value| Told::Int((*value).into())),
        Data::LongData(values) => values.data.get(row).copied().map(Told::Int),
        Data::FloatData(values) => values.data.get(row).copied().map(Told::Float),
        Data::DoubleData(values) => values.data.get(row).copied().map(Told::Double),
        Data::StringData(values) | Data::GeometryWktData(values) => {
            values.data.get(row).cloned().map(Told::Text)
        }
        Data::JsonData(values) => values.data.get(row).cloned().map(Told::Bytes),
        _ => None,
    }
}

fn metric_value(cell: Cell) -> Option<metric_value::Value> {
    use metric_value::Value;
    match cell {
        Cell::Integer(number) => Some(Value::IntVal(number)),
        Cell::Float(number) => Some(Value::DoubleVal(number)),
        Cell::Text(text) => Some(Value::StringVal(text)),
        Cell::Other => None,
    }
}

/// Which of two buckets comes first; of those without a difference the one with the better hit stays first.
fn compared(level: &Level, a: &Bucket, b: &Bucket) -> Ordering {
    let mut parts = level.order.iter().map(|(key, order)| {
        let ascending = match *key {
            OrderKey::Count => a.hits.len().cmp(&b.hits.len()),
            OrderKey::Key => a.key.cmp(&b.key),
            OrderKey::Metric(at) => {
                let value = |bucket: &Bucket| bucket.metrics.get(at).cloned().flatten();
                let compared = value(a).partial_cmp(&value(b));
                compared.unwrap_or(Ordering::Equal)
            }
        };
        match order {
            Order::Asc => ascending,
            Order::Desc => ascending.reverse(),
        }
    });
    let differs = parts.find(|ordering| *ordering != Ordering::Equal);
    differs.unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hits_that_are_told_at_each_level_are_booked_for_each() {
        let kept = json!({
            "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1,
            "partitions": {"_default": 1}, "loaded": true, "updated_ms": 0,
            "fields": [
                {"id": 100, "name": "id", "data_type": "Int64", "is_primary": true},
                {"id": 101, "name": "tag", "data_type": "VarChar", "params": {"max_length": "100"}},
            ],
            "functions": [], "indexes": [],
        });
        let collection: Collection = serde_json::from_value(kept).unwrap();
        let (hits, text) = (1_000, "x".repeat(100));
        let column = FieldData {
            field_name: "tag".to_string(),
            field: Some(field_data::Field::Scalars(ScalarField {
                data: Some(scalar_field::Data::StringData(StringArray {
                    data: vec![text; hits],
                })),
            })),
            ..FieldData::default()
        };
        let field = collection.field("tag").unwrap().clone();
        let table = Table {
            collection: Arc::new(collection),
            columns: vec![column],
            told: vec!["tag".to_string()],
            metric: Distance::L2,
        };
        let booked = |levels: usize, is_told: bool| {
            let level = Level {
                fields: vec![field.clone()],
                size: 10,
                metrics: Vec::new(),
                order: Vec::new(),
                top_hits: is_told.then_some(TopHits {
                    size: 1,
                    sort: Vec::new(),
                }),
            };
            let buckets = Buckets {
                levels: vec![level; levels],
                limit: 10,
                hits: 1,
            };
            table.bytes(&buckets, hits)
        };
        let texts = hits * 100;
        assert!(booked(1, true) > booked(1, false) + texts);
        assert_eq!(booked(4, true), 4 * booked(1, true));
        assert!(booked(1, false) > 3 * texts, "keys");
    }
}

//! Hits in buckets: what is nearest is found in groups by all fields of all levels, as many groups as the levels' sizes
//! allow, and is then put into buckets within buckets, of which something is counted, added up or compared.

mod fill;

use clew_engine::{DocPlace, GroupBy};
use clew_platform::{MemoryPurpose, stopped};
use clew_query::{Missing, Order, QueryError};

use super::Service;
use super::aggregate::Operator;
use super::asked::{Asked, is_set};
use super::hit_groups::group_field;
use super::order::{OrderPart, is_sortable};
use super::read::Guarantee;
use crate::collection::{Collection, DYNAMIC, DataType, Field};
use crate::collections::{Opened, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::held;
use crate::incoming::Refused;
use crate::proto::*;
use crate::rows::{Wanted, keys};
use fill::Table;

/// Most levels, and fields of all of them, as in Milvus.
const LEVELS_MAX: usize = 4;
const FIELDS_MAX: usize = 10;
/// Most metrics of all levels, and most keys of one order.
const METRICS_MAX: usize = 100;
const KEYS_MAX: usize = 10;
/// Most hits of a bucket that are told.
const HITS_MAX: usize = 1_000;
/// Most hits that are put into buckets, of all vectors of a search, as in Milvus by default.
const ENTRIES_MAX: usize = 10_000;
/// What stands for the score in place of a field.
const SCORE: &str = "_score";

/// What the values of hits are.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// Each is one.
    Rows,
    Score,
    Field(Box<Field>),
}

/// What is asked of the hits of a bucket.
#[derive(Clone, Debug)]
struct Metric {
    alias: String,
    operator: Operator,
    of: Source,
}

/// What buckets are brought into an order by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OrderKey {
    Count,
    Key,
    /// Which of the metrics.
    Metric(usize),
}

/// Hits that are told of a bucket.
#[derive(Clone, Debug)]
struct TopHits {
    size: usize,
    sort: Vec<(Source, OrderPart)>,
}

/// The buckets of one level.
#[derive(Clone, Debug)]
struct Level {
    fields: Vec<Field>,
    size: usize,
    metrics: Vec<Metric>,
    order: Vec<(OrderKey, Order)>,
    top_hits: Option<TopHits>,
}

/// What buckets are asked for.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    levels: Vec<Level>,
    /// Groups that are looked for, and hits of each.
    limit: usize,
    hits: usize,
}

impl Buckets {
    /// Whether each is of one row: what they are made by is the primary field alone.
    fn are_rows(&self) -> bool {
        let mut fields = self.levels.iter().flat_map(|level| &level.fields);
        fields.all(|field| field.is_primary)
    }

    /// Reads what a search asks for.
    ///
    /// # Errors
    /// For fields that there are none of, or whose type does not allow it, and for sizes out of bounds.
    fn read(collection: &Collection, spec: SearchAggregationSpec) -> Result<Buckets> {
        let mut buckets = Buckets {
            levels: Vec::new(),
            limit: 1,
            hits: 1,
        };
        let mut next = Some(Box::new(spec));
        while let Some(spec) = next {
            if buckets.levels.len() == LEVELS_MAX {
                return Err(MilvusError::invalid(format!(
                    "search_aggregation nesting exceeds max {LEVELS_MAX} levels"
                )));
            }
            let spec = *spec;
            next = spec.sub_aggregation.clone();
            let metrics = buckets.levels.iter().map(|level| level.metrics.len());
            let metrics = metrics.sum::<usize>() + spec.metrics.len();
            let sorts = spec.top_hits.as_ref().map_or(0, |top| top.sort.len());
            check_count("metrics", metrics, METRICS_MAX)?;
            check_count("keys of an order", spec.order.len().max(sorts), KEYS_MAX)?;
            let (level, searched) = buckets.level(collection, &spec)?;
            let limit = buckets.limit.checked_mul(searched);
            let limit = limit.filter(|limit| *limit <= WINDOW_MAX);
            buckets.limit = limit.ok_or_else(|| {
                MilvusError::invalid(format!(
                    "the buckets of all levels of a search_aggregation are more than {WINDOW_MAX}"
                ))
            })?;
            let hits = level.top_hits.as_ref().map_or(1, |top| top.size);
            buckets.hits = buckets.hits.max(hits);
            buckets.levels.push(level);
        }
        Ok(buckets)
    }

    /// A level, and how many buckets of it are looked for.
    fn level(
        &self,
        collection: &Collection,
        spec: &SearchAggregationSpec,
    ) -> Result<(Level, usize)> {
        if spec.fields.is_empty() {
            return Err(MilvusError::invalid("group_by level has no fields"));
        }
        let mut fields: Vec<Field> = Vec::new();
        for name in &spec.fields {
            let field = key_field(collection, name.trim())?;
            let all = self.fields().chain(&fields);
            if all.clone().any(|other| other.name == field.name) {
                return Err(MilvusError::invalid(format!(
                    "duplicated group_by field \"{}\"",
                    field.name
                )));
            }
            if all.count() >= FIELDS_MAX {
                return Err(MilvusError::invalid(format!(
                    "a search_aggregation has more than {FIELDS_MAX} fields"
                )));
            }
            fields.push(field.clone());
        }
        let size = size_of("size", spec.size)?;
        let searched = match size_of("search_size", spec.search_size)? {
            _ if spec.search_size == 0 => size,
            searched if searched < size => {
                return Err(MilvusError::invalid(
                    "search_aggregation search_size must be greater than or equal to size",
                ));
            }
            searched => searched,
        };
        let metrics = metrics(collection, spec)?;
        let order = spec.order.iter().map(|order| order_of(order, &metrics));
        let order = order.collect::<Result<_>>()?;
        let top_hits = match &spec.top_hits {
            None => None,
            Some(top) => Some(top_hits(collection, top)?),
        };
        let level = Level {
            fields,
            size,
            metrics,
            order,
            top_hits,
        };
        Ok((level, searched))
    }

    /// The fields of all levels.
    fn fields(&self) -> impl Iterator<Item = &Field> + Clone {
        self.levels.iter().flat_map(|level| &level.fields)
    }

    /// The groups that hits are looked for in, each until it is full, as in Milvus: what is known of a bucket is of so many.
    fn group(&self, collection: &Collection) -> Result<GroupBy> {
        let fields = self.fields();
        let fields = fields.map(|field| group_field(collection, &field.name));
        Ok(GroupBy {
            fields: fields.collect::<Result<_>>()?,
            size: self.hits,
            strict: true,
        })
    }

    /// The names of what has to be known of each hit.
    fn names(&self) -> Vec<String> {
        let sources = self.levels.iter().flat_map(|level| {
            let metrics = level.metrics.iter().map(|metric| &metric.of);
            let sorts = level.top_hits.iter().flat_map(|top| &top.sort);
            metrics.chain(sorts.map(|(source, _)| source))
        });
        let named = sources.filter_map(|source| match source {
            Source::Field(field) => Some(&**field),
            Source::Rows | Source::Score => None,
        });
        let all = self.fields().chain(named);
        all.map(|field| field.name.clone()).collect()
    }
}

/// Refuses more than is worked out for each bucket.
fn check_count(what: &str, count: usize, max: usize) -> Result<()> {
    match count <= max {
        true => Ok(()),
        false => Err(MilvusError::invalid(format!(
            "a search_aggregation has {count} {what}, more than {max}"
        ))),
    }
}

/// A number of buckets or hits: 0 is one.
fn size_of(what: &str, given: i64) -> Result<usize> {
    let size = usize::try_from(given).map_err(|_| {
        MilvusError::invalid(format!("search_aggregation {what} must be non-negative"))
    })?;
    Ok(size.max(1))
}

/// A field of the collection; what is JSON has none of its values looked at.
fn plain_field<'c>(collection: &'c Collection, name: &str, usage: &str) -> Result<&'c Field> {
    let of_json = || {
        MilvusError::invalid(format!(
            "{usage} \"{name}\": JSON / dynamic fields are not yet supported with search_aggregation"
        ))
    };
    match collection.field(name) {
        Ok(field) if field.data_type == DataType::Json => Err(of_json()),
        Ok(field) => Ok(field),
        Err(_) if collection.dynamic || name.contains('[') => Err(of_json()),
        Err(_) => Err(MilvusError::invalid(format!(
            "invalid {usage} \"{name}\": field \"{name}\" not found in schema"
        ))),
    }
}

/// A field that buckets are made by.
fn key_field<'c>(collection: &'c Collection, name: &str) -> Result<&'c Field> {
    let field = plain_field(collection, name, "group_by field")?;
    if field.data_type.is_float() {
        return Err(MilvusError::invalid(format!(
            "group_by field \"{name}\": FLOAT / DOUBLE fields are not supported with search_aggregation"
        )));
    }
    group_field(collection, name)?;
    Ok(field)
}

/// What is asked of each bucket of a level, by the names that it is told by.
fn metrics(collection: &Collection, spec: &SearchAggregationSpec) -> Result<Vec<Metric>> {
    let mut all = Vec::with_capacity(spec.metrics.len());
    for (alias, metric) in &spec.metrics {
        if alias.trim().is_empty() {
            return Err(MilvusError::missing("metric alias cannot be empty"));
        }
        let operator = Operator::named(metric.op.trim()).ok_or_else(|| {
            MilvusError::invalid(format!("unsupported metric op \"{}\"", metric.op))
        })?;
        let of = match metric.field_name.trim() {
            "" => return Err(MilvusError::invalid("metric field_name is empty")),
            "*" if operator == Operator::Count => Source::Rows,
            "*" => {
                return Err(MilvusError::invalid(
                    "field_name '*' only supports count op",
                ));
            }
            SCORE => Source::Score,
            name => {
                let field = plain_field(collection, name, "metric field")?;
                operator.check(field)?;
                Source::Field(Box::new(field.clone()))
            }
        };
        all.push(Metric {
            alias: alias.clone(),
            operator,
            of,
        });
    }
    Ok(all)
}

fn direction(given: &str) -> Result<Order> {
    match given.trim().to_ascii_lowercase().as_str() {
        "" | "desc" => Ok(Order::Desc),
        "asc" => Ok(Order::Asc),
        _ => Err(MilvusError::invalid("direction must be asc or desc")),
    }
}

fn order_of(order: &OrderSpec, metrics: &[Metric]) -> Result<(OrderKey, Order)> {
    let key = match order.key.trim() {
        "" => return Err(MilvusError::invalid("order key is empty")),
        "_count" => OrderKey::Count,
        "_key" => OrderKey::Key,
        alias => {
            let at = metrics.iter().position(|metric| metric.alias == alias);
            OrderKey::Metric(at.ok_or_else(|| {
                MilvusError::invalid(format!(
                    "order key \"{alias}\" is neither reserved key nor metric alias"
                ))
            })?)
        }
    };
    Ok((key, direction(&order.direction)?))
}

fn top_hits(collection: &Collection, spec: &TopHitsSpec) -> Result<TopHits> {
    let size = size_of("top_hits size", spec.size)?;
    if size > HITS_MAX {
        return Err(MilvusError::invalid(format!(
            "top_hits size {size} is more than {HITS_MAX}"
        )));
    }
    let mut sort = Vec::with_capacity(spec.sort.len());
    for one in &spec.sort {
        let source = match one.field_name.trim() {
            "" => return Err(MilvusError::invalid("top_hits.sort field_name is empty")),
            SCORE => Source::Score,
            name if name.contains('[') && name.contains(']') => {
                return Err(MilvusError::invalid(format!(
                    "top_hits.sort JSON path is not yet supported: \"{name}\""
                )));
            }
            name => {
                let field = plain_field(collection, name, "top_hits.sort field")?;
                if !is_sortable(field) {
                    return Err(MilvusError::invalid(format!(
                        "top_hits.sort field \"{name}\" has type {} which is not sortable",
                        field.data_type.name()
                    )));
                }
                Source::Field(Box::new(field.clone()))
            }
        };
        let part = OrderPart {
            name: one.field_name.clone(),
            order: direction(&one.direction)?,
            missing: match one.null_first {
                true => Missing::First,
                false => Missing::Last,
            },
        };
        sort.push((source, part));
    }
    Ok(TopHits { size, sort })
}

/// Refuses what buckets cannot be beside. An order of hits changes nothing of them, as in Milvus.
fn check(asked: &Asked, is_ranked: bool, buckets: &Buckets) -> Result<()> {
    let refused = if asked.group.is_some() {
        "group_by_field and search_aggregation cannot be used simultaneously"
    } else if asked.offset > 0 {
        "offset is not supported with search_aggregation"
    } else if is_set(&asked.params, "iterator") {
        "search iterator is not supported with search_aggregation"
    } else if asked.inner.contains_key("radius") {
        "range search is not supported with search_aggregation"
    } else if is_ranked || asked.boosts.is_some() {
        "function_score is not supported with search_aggregation"
    } else if asked.highlights.is_some() {
        "highlighter and search_aggregation cannot be used simultaneously"
    } else if asked.field.is_part() && !asked.finds_structs() {
        "group by is not supported for multi-search-multi on embedding list fields"
    } else if asked.field.is_part() && !buckets.are_rows() {
        "only group by primary key is supported for element-level search"
    } else if asked.field.is_part() {
        "a vector of structs is not supported with search_aggregation"
    } else {
        return Ok(());
    };
    Err(MilvusError::invalid(refused))
}

impl Service {
    /// What is nearest, in buckets. How many hits there may be follows from these alone.
    pub(super) async fn in_buckets(
        &self,
        (opened, guarantee): (Opened, Guarantee),
        (mut asked, is_ranked): (Asked, bool),
        (spec, wanted): (SearchAggregationSpec, Wanted),
    ) -> Result<SearchResults> {
        let collection = opened.named.collection.clone();
        let buckets = Buckets::read(&collection, spec)?;
        check(&asked, is_ranked, &buckets)?;
        let entries = [buckets.limit, buckets.hits].into_iter();
        let entries = entries.fold(asked.probes.count(), usize::saturating_mul);
        if entries > ENTRIES_MAX {
            return Err(MilvusError::invalid(
                "number of search_aggregation result entries is too large",
            ));
        }
        let group = buckets.group(&collection)?;
        self.see(&opened, guarantee).await?;
        self.check_groups(&opened, &group).await?;
        asked.limit = buckets.limit;
        asked.group = Some(group);
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let found = self.nearest(&pinned, &collection, &asked).await?;
        let mut names = wanted.names.clone();
        names.extend(buckets.names());
        if wanted.whole_dynamic {
            names.push(DYNAMIC.to_string());
        }
        let all = Wanted::read(&collection, &names)?.told_by(&asked.params)?;
        all.check_whole_instants()?;
        let places: Vec<DocPlace> = found.iter().flatten().map(|one| one.place).collect();
        let ids: Vec<&str> = found.iter().flatten().map(|one| one.id.as_str()).collect();
        let columns = self.columns(&pinned, (&places, &ids), &all).await?;
        let count = found.len();
        let table = Table {
            collection: collection.clone(),
            columns,
            told: wanted.names,
            metric: asked.metric,
        };
        let filled = move |service: &Service| -> Result<_> {
            let hits: usize = found.iter().map(Vec::len).sum();
            let bytes = table.bytes(&buckets, hits);
            let memory = &service.limits().memory;
            let room = memory.reserve(MemoryPurpose::Searches, bytes);
            let room = room.map_err(Refused::from)?;
            let filled = table.filled(&buckets, &found);
            // What was left off is no answer.
            match stopped() {
                true => Err(QueryError::Stopped.into()),
                false => Ok((filled, room)),
            }
        };
        let ((agg_buckets, agg_topks), room) = self.beside(filled).await?;
        held::hold(room);
        Ok(SearchResults {
            collection_name: opened.named.name.clone(),
            session_ts: self.timestamp(),
            results: Some(SearchResultData {
                num_queries: i64::try_from(count).unwrap_or_default(),
                topks: vec![0; count],
                ids: Some(keys(&collection, std::iter::empty::<&str>())?),
                primary_field_name: collection.primary().name.clone(),
                agg_buckets,
                agg_topks,
                ..SearchResultData::default()
            }),
            ..SearchResults::default()
        })
    }
}

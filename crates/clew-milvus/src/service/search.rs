//! Searches for what is nearest: to vectors, to words, to rows that are there.

use std::collections::BTreeMap;

use clew_engine::{
    DistanceRange, Effort, FieldValues, GroupBy, GroupKey, NearestRequest, Pinned, Purpose,
    SearchRequest as EngineSearch, WantedField,
};
use clew_query::Query;
use clew_search::TrackTotal;
use prost::Message;
use serde_json::Value;

use super::collections::check_loaded;
use super::query::{filter, window};
use super::read::Guarantee;
use super::{Call, Service};
use crate::collection::{Collection, DataType, Field, Metric, TEXT, VectorIndex, pairs};
use crate::collections::{Opened, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::expr::Templates;
use crate::proto::*;
use crate::rows::{Wanted, group_column, keys, numbers, sparse_row};

/// Most vectors of one search.
const QUERIES_MAX: usize = 16_384;
/// Hits of a search that says no number.
const LIMIT: usize = 10;

/// A row that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) place: clew_engine::DocPlace,
    pub(super) score: f32,
    pub(super) group: Option<GroupKey>,
}

/// What one search asks for, read and checked.
pub(super) struct Asked {
    pub(super) field: Field,
    pub(super) metric: Metric,
    is_flat: bool,
    probes: Probes,
    pub(super) filter: Query,
    pub(super) limit: usize,
    pub(super) offset: usize,
    params: BTreeMap<String, String>,
    /// The parameters of the index's structure.
    inner: BTreeMap<String, Value>,
    group: Option<GroupBy>,
    round: Option<u32>,
}

enum Probes {
    Vectors(Vec<Vec<f32>>),
    Texts(Vec<String>),
    /// The vectors of rows that are there.
    Rows(Vec<String>),
}

impl Probes {
    fn count(&self) -> usize {
        match self {
            Probes::Vectors(all) => all.len(),
            Probes::Texts(all) | Probes::Rows(all) => all.len(),
        }
    }
}

impl Service {
    pub(super) async fn search(&self, call: Call, request: SearchRequest) -> Result<SearchResults> {
        let place = (request.db_name.as_str(), request.collection_name.as_str());
        let opened = self.open(&call, place, Purpose::Read)?;
        check_loaded(&opened)?;
        let collection = &opened.named.collection;
        let guarantee = Guarantee {
            timestamp: request.guarantee_timestamp,
            level: request.consistency_level,
            by_default: request.use_default_consistency,
        };
        let wanted = Wanted::read(collection, &request.output_fields)?;
        let asked = Asked::read(collection, request)?;
        self.see(&opened, guarantee).await?;
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let found = self.nearest(&pinned, collection, &asked).await?;
        self.answer(&opened, &pinned, (found, &asked), wanted).await
    }

    /// What is found for each vector or text, best first.
    pub(super) async fn nearest(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        asked: &Asked,
    ) -> Result<Vec<Vec<Found>>> {
        match &asked.probes {
            Probes::Texts(texts) => self.by_words(pinned, collection, (asked, texts)).await,
            Probes::Vectors(probes) => self.by_vectors(pinned, asked, probes.clone()).await,
            Probes::Rows(ids) => {
                let probes = self.vectors_of(pinned, asked, ids).await?;
                self.by_vectors(pinned, asked, probes).await
            }
        }
    }

    async fn by_vectors(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        probes: Vec<Vec<f32>>,
    ) -> Result<Vec<Vec<Found>>> {
        let request = NearestRequest {
            limit: asked.limit,
            offset: asked.offset,
            effort: asked.effort()?,
            range: asked.range()?,
            group: asked.group.clone(),
            filter: Some(asked.filter.clone()).filter(|filter| *filter != Query::match_all()),
            ..NearestRequest::new(pinned.clone(), &asked.field.name, probes)
        };
        let found = self.engine().nearest(request).await?;
        let metric = asked.metric;
        let told = |one: clew_engine::Neighbour| Found {
            id: one.id,
            place: one.place,
            score: metric.score(one.distance),
            group: one.group,
        };
        Ok(found
            .neighbours
            .into_iter()
            .map(|list| list.into_iter().map(told).collect())
            .collect())
    }

    async fn by_words(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        (asked, texts): (&Asked, &[String]),
    ) -> Result<Vec<Vec<Found>>> {
        let function = collection.function_of(&asked.field.name);
        let input = function.and_then(|function| function.inputs.first());
        let input = input.ok_or_else(|| {
            MilvusError::invalid(format!(
                "the field {} is filled by no function",
                asked.field.name
            ))
        })?;
        let mut all = Vec::with_capacity(texts.len());
        for text in texts {
            let words = Query::matches(format!("{input}.{TEXT}"), text.clone());
            let request = EngineSearch {
                from: asked.offset,
                size: asked.limit,
                track_total: TrackTotal::No,
                ..EngineSearch::new(
                    pinned.clone(),
                    crate::expr::scored_within(words, asked.filter.clone()),
                )
            };
            let found = self.found(request).await?;
            let told = found.hits.into_iter().map(|hit| Found {
                id: hit.id,
                place: hit.place,
                score: hit.score.unwrap_or_default(),
                group: None,
            });
            all.push(told.collect());
        }
        Ok(all)
    }

    /// The vectors of rows by their keys.
    async fn vectors_of(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        ids: &[String],
    ) -> Result<Vec<Vec<f32>>> {
        let places = self.engine().places(pinned, ids).await?;
        let mut there = Vec::with_capacity(places.len());
        for (id, place) in ids.iter().zip(places) {
            there.push(place.ok_or_else(|| {
                MilvusError::invalid(format!(
                    "some of the provided primary key IDs do not exist: {id}"
                ))
            })?);
        }
        let wanted = [WantedField::Typed(asked.field.name.clone())];
        let read = self.engine().columns(pinned, &there, &wanted).await?;
        let [FieldValues::Vectors(vectors)] = &read.fields[..] else {
            return Err(MilvusError::Unsupported(format!(
                "searching by the rows of field {}",
                asked.field.name
            )));
        };
        let own = |(vector, id): (&Option<Vec<f32>>, &String)| {
            let vector = vector.clone();
            vector.ok_or_else(|| {
                MilvusError::invalid(format!(
                    "the row {id} has no vector in field {}",
                    asked.field.name
                ))
            })
        };
        vectors.iter().zip(ids).map(own).collect()
    }

    /// Hits as clients are told of them.
    pub(super) async fn answer(
        &self,
        opened: &Opened,
        pinned: &Pinned,
        (found, asked): (Vec<Vec<Found>>, &Asked),
        wanted: Wanted,
    ) -> Result<SearchResults> {
        let collection = &opened.named.collection;
        let topks = found
            .iter()
            .map(|list| i64::try_from(list.len()).unwrap_or_default())
            .collect();
        let count = i64::try_from(found.len()).unwrap_or_default();
        let flat: Vec<Found> = found.into_iter().flatten().collect();
        let places: Vec<_> = flat.iter().map(|one| one.place).collect();
        let ids: Vec<&str> = flat.iter().map(|one| one.id.as_str()).collect();
        let fields_data = self.columns(pinned, (&places, &ids), &wanted).await?;
        let rounded = |score: f32| match asked.round {
            None => score,
            Some(digits) => round(score, digits),
        };
        let group_by_field_value = asked.group.as_ref().map(|group| {
            let field = collection.field(&group.field)?;
            group_column(field, flat.iter().map(|one| one.group.as_ref()))
        });
        Ok(SearchResults {
            collection_name: opened.named.name.clone(),
            session_ts: self.timestamp(),
            results: Some(SearchResultData {
                num_queries: count,
                top_k: i64::try_from(asked.limit).unwrap_or_default(),
                fields_data,
                scores: flat.iter().map(|one| rounded(one.score)).collect(),
                ids: Some(keys(collection, flat.iter().map(|one| one.id.as_str()))?),
                topks,
                output_fields: wanted.names,
                group_by_field_value: group_by_field_value.transpose()?,
                primary_field_name: collection.primary().name.clone(),
                ..SearchResultData::default()
            }),
            ..SearchResults::default()
        })
    }
}

impl Asked {
    /// Reads what a search asks for.
    ///
    /// # Errors
    /// When it names no vector field, or does not fit the one it names.
    pub(super) fn read(collection: &Collection, request: SearchRequest) -> Result<Asked> {
        let params = pairs(request.search_params);
        let field = vector_field(collection, params.get("anns_field"))?;
        let index = collection.index_of(&field.name).ok_or_else(|| {
            MilvusError::IndexNotFound(format!("index not found for field [{}]", field.name))
        })?;
        let index = VectorIndex::of(field, index)?;
        let inner: BTreeMap<String, Value> = match params.get("params").map(String::as_str) {
            None | Some("") => BTreeMap::new(),
            Some(json) => serde_json::from_str(json).map_err(|error| {
                MilvusError::invalid(format!("the search params are no JSON object: {error}"))
            })?,
        };
        check_metric(&index, &params, &inner)?;
        let templates = Templates::read(request.expr_template_values)?;
        let filter = filter(
            collection,
            (&request.dsl, &templates),
            &request.partition_names,
        )?;
        let probes = probes(field, index.metric, request.search_input)?;
        let count = probes.count();
        if count == 0 || count > QUERIES_MAX {
            return Err(MilvusError::invalid(format!(
                "nq [{count}] is invalid, nq (number of search vector per search request) should be in range [1, {QUERIES_MAX}], but got {count}"
            )));
        }
        let limit = top_k(&params)?;
        let offset = window(&params, "offset")?.unwrap_or_default();
        if limit + offset > WINDOW_MAX {
            return Err(MilvusError::invalid(format!(
                "(offset+limit) should be in range [1, {WINDOW_MAX}], but got {}",
                limit + offset
            )));
        }
        Ok(Asked {
            metric: index.metric,
            is_flat: index.is_flat,
            probes,
            filter,
            limit,
            offset,
            group: group_by(collection, &params)?,
            round: params
                .get("round_decimal")
                .and_then(|digits| digits.parse().ok()),
            field: field.clone(),
            params,
            inner,
        })
    }

    /// Hits of several searches are of no group.
    pub(super) fn ungroup(&mut self) {
        self.group = None;
    }

    fn inner_number(&self, name: &str) -> Option<f64> {
        let value = self.inner.get(name)?;
        let text = || value.as_str()?.parse().ok();
        value.as_f64().or_else(text)
    }

    fn inner_count(&self, name: &str, (min, max): (usize, usize)) -> Result<Option<usize>> {
        let given = self
            .inner_number(name)
            .or_else(|| self.params.get(name)?.parse().ok());
        let Some(given) = given else { return Ok(None) };
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be within small bounds"
        )]
        let count = (given.fract() == 0.0 && given >= 0.0 && given < 1e9).then_some(given as usize);
        match count.filter(|count| (min..=max).contains(count)) {
            Some(count) => Ok(Some(count)),
            None => Err(MilvusError::invalid(format!(
                "param '{name}' ({given}) should be in range [{min}, {max}]"
            ))),
        }
    }

    fn effort(&self) -> Result<Effort> {
        let wanted = self.limit + self.offset;
        let ef = self.inner_count("ef", (1, 32_768))?;
        if let Some(ef) = ef
            && ef < wanted
        {
            return Err(MilvusError::invalid(format!(
                "ef({ef}) should be larger than k({wanted})"
            )));
        }
        let list = self.inner_count("search_list", (1, 65_535))?;
        Ok(Effort {
            ef_search: ef.or(list),
            probes: self.inner_count("nprobe", (1, 65_536))?,
            exact: self.is_flat,
        })
    }

    /// The part of all distances that hits may have.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "distances have no more digits"
    )]
    fn range(&self) -> Result<Option<DistanceRange>> {
        let inner = |name: &str| self.inner_number(name).map(|number| number as f32);
        let (radius, near) = (inner("radius"), inner("range_filter"));
        let Some(radius) = radius else {
            return match near {
                None => Ok(None),
                Some(_) => Err(MilvusError::invalid("range_filter needs a radius")),
            };
        };
        if let Some(near) = near {
            let is_ordered = match self.metric.is_similarity() {
                true => near > radius,
                false => near < radius,
            };
            if !is_ordered {
                let than = if self.metric.is_similarity() {
                    "greater"
                } else {
                    "less"
                };
                return Err(MilvusError::invalid(format!(
                    "metric type {}, range_filter({near}) must be {than} than radius({radius})",
                    self.metric.name()
                )));
            }
        }
        Ok(Some(DistanceRange {
            below: self.metric.distance(radius),
            from: near.map(|near| self.metric.distance(near)),
        }))
    }
}

/// The vector field that a search means.
fn vector_field<'c>(collection: &'c Collection, name: Option<&String>) -> Result<&'c Field> {
    let field = match name.map(String::as_str) {
        None | Some("") => {
            let mut vectors = collection.vectors();
            let first = vectors
                .next()
                .ok_or_else(|| MilvusError::invalid("the collection has no vector field"))?;
            if vectors.next().is_some() {
                return Err(MilvusError::invalid(
                    "multiple anns_fields exist, please specify a anns_field in search_params",
                ));
            }
            first
        }
        Some(name) => collection.field(name).map_err(|_| {
            MilvusError::invalid(format!(
                "failed to get field schema by name: fieldName({name}) not found"
            ))
        })?,
    };
    if field.data_type.is_vector() {
        return Ok(field);
    }
    Err(MilvusError::invalid(format!(
        "field ({}) to search is not of vector data type",
        field.name
    )))
}

fn check_metric(
    index: &VectorIndex,
    params: &BTreeMap<String, String>,
    inner: &BTreeMap<String, Value>,
) -> Result<()> {
    let outer = params.get("metric_type").map(String::as_str);
    let inner = inner.get("metric_type").and_then(Value::as_str);
    for given in [outer, inner]
        .into_iter()
        .flatten()
        .filter(|given| !given.is_empty())
    {
        if Metric::named(given) != Some(index.metric) {
            return Err(MilvusError::invalid(format!(
                "metric type not match: invalid parameter[expected={}][actual={given}]",
                index.metric.name()
            )));
        }
    }
    Ok(())
}

fn top_k(params: &BTreeMap<String, String>) -> Result<usize> {
    let given = params.get("topk").or_else(|| params.get("limit"));
    let Some(given) = given else { return Ok(LIMIT) };
    let number: Option<usize> = given.parse().ok();
    number.filter(|number| (1..=WINDOW_MAX).contains(number)).ok_or_else(|| {
        MilvusError::invalid(format!(
            "topk [{given}] is invalid, it should be in range [1, {WINDOW_MAX}], but got {given}"
        ))
    })
}

fn group_by(collection: &Collection, params: &BTreeMap<String, String>) -> Result<Option<GroupBy>> {
    let Some(name) = params.get("group_by_field").filter(|name| !name.is_empty()) else {
        return Ok(None);
    };
    let field = collection.field(name)?;
    let groups = matches!(field.data_type, DataType::Bool | DataType::VarChar)
        || field.data_type.is_integer();
    if !groups {
        return Err(MilvusError::invalid(format!(
            "unsupported data type {} for group by operator",
            field.data_type.name()
        )));
    }
    let size = match params.get("group_size") {
        None => 1,
        Some(given) => given
            .parse()
            .ok()
            .filter(|size| (1..=1_000).contains(size))
            .ok_or_else(|| {
                MilvusError::invalid(format!(
                    "input group size:{given} is invalid, it should be in range [1, 1000]"
                ))
            })?,
    };
    Ok(Some(GroupBy {
        field: name.clone(),
        size,
        strict: params
            .get("strict_group_size")
            .is_some_and(|given| given.eq_ignore_ascii_case("true")),
    }))
}

/// What a search looks for.
fn probes(
    field: &Field,
    metric: Metric,
    input: Option<search_request::SearchInput>,
) -> Result<Probes> {
    use search_request::SearchInput;
    let group = match input {
        Some(SearchInput::Ids(ids)) => return Ok(Probes::Rows(row_ids(ids))),
        Some(SearchInput::PlaceholderGroup(bytes)) => {
            PlaceholderGroup::decode(bytes).map_err(|error| {
                MilvusError::invalid(format!("the vectors of the search cannot be read: {error}"))
            })?
        }
        None => return Err(MilvusError::invalid("the search has no vectors")),
    };
    let Some(holder) = group.placeholders.into_iter().next() else {
        return Err(MilvusError::invalid("the search has no vectors"));
    };
    if metric == Metric::Bm25 && holder.r#type == DataType::VarChar.number() {
        let texts = holder.values.into_iter().map(|bytes| {
            String::from_utf8(bytes.into())
                .map_err(|_| MilvusError::invalid("a text to search for is no UTF-8"))
        });
        return Ok(Probes::Texts(texts.collect::<Result<_>>()?));
    }
    if holder.r#type != field.data_type.number() {
        return Err(MilvusError::invalid(format!(
            "vector type must be the same, field {} - type {}, search info type {}",
            field.name,
            field.data_type.name(),
            DataType::of(holder.r#type).map_or("unknown", DataType::name)
        )));
    }
    let read = holder.values.iter().map(|bytes| probe(field, bytes));
    Ok(Probes::Vectors(read.collect::<Result<_>>()?))
}

fn row_ids(ids: IDs) -> Vec<String> {
    match ids.id_field {
        None => Vec::new(),
        Some(i_ds::IdField::IntId(ids)) => ids.data.iter().map(ToString::to_string).collect(),
        Some(i_ds::IdField::StrId(ids)) => ids.data,
    }
}

fn probe(field: &Field, bytes: &[u8]) -> Result<Vec<f32>> {
    if field.data_type == DataType::SparseFloatVector {
        sparse_row(bytes)?;
        return Err(MilvusError::Unsupported("searching sparse vectors".into()));
    }
    let dimension = field.dimension()?;
    let width = match field.data_type {
        DataType::FloatVector => 4 * dimension,
        DataType::Float16Vector | DataType::BFloat16Vector => 2 * dimension,
        DataType::BinaryVector => dimension / 8,
        _ => dimension,
    };
    if bytes.len() != width {
        return Err(MilvusError::invalid(format!(
            "vector dimension mismatch, expected vector size(byte) {width}, actual {}.",
            bytes.len()
        )));
    }
    Ok(match field.data_type {
        DataType::FloatVector => {
            let (numbers, _) = bytes.as_chunks::<4>();
            numbers
                .iter()
                .map(|number| f32::from_le_bytes(*number))
                .collect()
        }
        packed => numbers(packed, bytes),
    })
}

fn round(score: f32, digits: u32) -> f32 {
    let factor = 10_f32.powi(i32::try_from(digits.min(6)).unwrap_or(6));
    (score * factor).round() / factor
}

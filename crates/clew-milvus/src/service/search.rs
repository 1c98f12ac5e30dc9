//! Searches for what is nearest: to vectors, to words, to rows that are there.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use clew_engine::{
    DocPlace, FieldValues, GroupBy, GroupField, GroupKey, NearestRequest, ObjectHits, Pinned,
    Purpose, WantedField,
};
use clew_query::{Query, unless_stopped};
use prost::Message;

use super::aggregate::check_fields_alone;
use super::asked::{Asked, Probes, is_set};
use super::decay::param;
use super::hit_groups::told_as;
use super::hybrid::Ranker;
use super::read::Guarantee;
use super::{Call, Service};
use crate::collection::{Collection, DataType, Field, Metric, id_of};
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::held;
use crate::proto::*;
use crate::rows::{Wanted, group_column, group_texts, keys};

/// A row that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) place: DocPlace,
    pub(super) score: f32,
    pub(super) group: Option<GroupKey>,
    /// Which of the row's structs it is, where they are hits by themselves.
    pub(super) element: Option<usize>,
}

/// The expression of a search, with those of its rankers.
fn expressions(request: &SearchRequest) -> Cow<'_, str> {
    let functions = request.function_score.iter();
    let functions = functions.flat_map(|score| &score.functions);
    let filters = functions.filter_map(|function| param(function, "filter"));
    let filters: Vec<&str> = filters.collect();
    match filters.is_empty() {
        true => Cow::Borrowed(&request.dsl),
        false => Cow::Owned(format!("{} {}", request.dsl, filters.join(" "))),
    }
}

/// Hits beyond this are told on a thread where it may take its time: a million of them take 0.3 s.
const TOLD_HERE_MAX: usize = 2_000;

/// Whether hits are so many.
pub(super) fn are_many(found: &[Vec<Found>]) -> bool {
    found.iter().map(Vec::len).sum::<usize>() > TOLD_HERE_MAX
}

/// What such a row takes, with its id.
pub(super) const FOUND_BYTES: usize = size_of::<Found>() + 32;

// Here and below what few searches do is boxed: all others would carry the room for it with them, from call to call.
impl Service {
    /// Does something with hits: where they are many, on a thread where it may take its time.
    pub(super) async fn with_hits<T: Send + 'static>(
        &self,
        are_many: bool,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match are_many {
            true => self.beside(move |_| work()).await,
            false => work(),
        }
    }

    /// What becomes of each ranking by itself, as long as somebody wants it.
    pub(super) async fn each_ranking<T: Send + 'static>(
        &self,
        rankings: Vec<Vec<Found>>,
        make: impl Fn(Vec<Found>) -> T + Send + 'static,
    ) -> Result<Vec<T>> {
        let made = move |ranking| -> Result<T> {
            unless_stopped()?;
            Ok(make(ranking))
        };
        self.with_hits(are_many(&rankings), move || {
            rankings.into_iter().map(made).collect()
        })
        .await
    }

    pub(crate) async fn search(
        &self,
        call: Call,
        mut request: SearchRequest,
    ) -> Result<SearchResults> {
        let opened = self.open_named(&call, &request, Purpose::Read)?;
        let collection = &opened.named.collection;
        let guarantee = Guarantee::from(&request);
        let buckets = request.search_aggregation.take();
        if buckets.is_some() {
            // How many hits there are follows from the buckets alone.
            let params = &mut request.search_params;
            params.retain(|pair| !matches!(pair.key.as_str(), "topk" | "limit"));
        }
        check_known(&request)?;
        check_fields_alone(&request.output_fields)?;
        let wanted = Wanted::read(collection, &request.output_fields)?;
        let ranker = Ranker::of_one(collection, request.function_score.as_ref())?;
        let mut asked = self.asked(collection, request).await?;
        if ranker.is_some() || asked.boosts.is_some() {
            check_ranked(&asked)?;
        }
        let wanted = wanted.told_by(&asked.params)?;
        if let Some(spec) = buckets {
            let is_ranked = ranker.is_some();
            let found = self.in_buckets((opened, guarantee), (asked, is_ranked), (spec, wanted));
            return Box::pin(found).await;
        }
        self.see(&opened, guarantee).await?;
        if let Some(group) = &asked.group {
            Box::pin(self.check_groups(&opened, group)).await?;
        }
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        if let Some(step) = asked.step()? {
            let page = self.iterate(&opened, pinned, (&asked, step));
            let (page, pinned, told) = Box::pin(page).await?;
            let answer = self.answer(&opened, &pinned, (vec![page], &asked), wanted);
            let mut answer = answer.await?;
            if let Some(results) = &mut answer.results {
                results.search_iterator_v2_results = Some(told);
            }
            return Ok(answer);
        }
        let order = asked.order.take();
        if ranker.is_none() && asked.boosts.is_none() && order.is_none() {
            let found = self.nearest(&pinned, collection, &asked).await?;
            return match are_many(&found) {
                true => Box::pin(self.told((opened, pinned), (found, asked), wanted)).await,
                false => self.answer(&opened, &pinned, (found, &asked), wanted).await,
            };
        }
        // What is skipped is skipped in the order that is told.
        let (limit, offset) = (asked.limit, std::mem::take(&mut asked.offset));
        asked.limit += offset;
        let mut found = self.nearest(&pinned, collection, &asked).await?;
        asked.limit = limit;
        if let Some(ranker) = &ranker {
            let rankings = vec![(asked.metric, found)];
            found = Box::pin(self.ranked(&pinned, ranker, rankings)).await?;
        }
        let window = (order, limit, offset);
        let found = Box::pin(self.windowed(&pinned, window, found)).await?;
        match are_many(&found) {
            true => Box::pin(self.told((opened, pinned), (found, asked), wanted)).await,
            false => self.answer(&opened, &pinned, (found, &asked), wanted).await,
        }
    }

    /// What a search asks for now.
    pub(super) async fn asked(
        &self,
        collection: &Arc<Collection>,
        request: SearchRequest,
    ) -> Result<Asked> {
        let (collection, now) = (collection.clone(), self.engine().now());
        let bytes = request.encoded_len();
        self.hold_expression(&expressions(&request), &request.expr_template_values)?;
        self.reading(bytes, move || Asked::read(&collection, request, now))
            .await
    }

    /// What is found for each vector or text, best first.
    pub(super) async fn nearest(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        asked: &Asked,
    ) -> Result<Vec<Vec<Found>>> {
        let found = self.nearest_alone(pinned, collection, asked).await?;
        match &asked.boosts {
            None => Ok(found),
            Some(boosts) => Box::pin(self.boosted(pinned, (boosts, asked.metric), found)).await,
        }
    }

    /// The same by distances alone.
    async fn nearest_alone(
        &self,
        pinned: &Pinned,
        collection: &Collection,
        asked: &Asked,
    ) -> Result<Vec<Vec<Found>>> {
        match &asked.probes {
            Probes::Texts(texts) => {
                let found = self.by_words(pinned, collection, (asked, texts));
                Box::pin(found).await
            }
            Probes::Vectors(probes) => self.by_vectors(pinned, asked, probes.clone()).await,
            Probes::Rows(ids) if asked.metric == Metric::Bm25 => {
                let found = self.by_words_of(pinned, collection, (asked, ids));
                Box::pin(found).await
            }
            Probes::Rows(ids) => {
                let (have, probes) = Box::pin(self.vectors_of(pinned, asked, ids)).await?;
                if probes.is_empty() {
                    return Ok(vec![Vec::new(); have.len()]);
                }
                let mut found = self.by_vectors(pinned, asked, probes).await?.into_iter();
                // A row without a vector has nothing near it.
                let mut of_row =
                    |has: bool| has.then(|| found.next()).flatten().unwrap_or_default();
                Ok(have.into_iter().map(&mut of_row).collect())
            }
        }
    }

    async fn by_vectors(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        probes: clew_engine::Probes,
    ) -> Result<Vec<Vec<Found>>> {
        if let (Some(bands), clew_engine::Probes::Dense(signatures)) = (asked.bands, &probes) {
            let found = self.in_bands(pinned, asked, (bands, signatures));
            return Box::pin(found).await;
        }
        let request = nearest_request(pinned, asked, probes)?;
        let found = self.engine().nearest(request).await?;
        // It is told by the answer, and there until then.
        held::hold(found.memory);
        let metric = asked.metric;
        let told = move |one: clew_engine::Neighbour| Found {
            id: one.id,
            place: one.place,
            score: metric.score(one.distance),
            group: one.group,
            element: one.object,
        };
        let hits: usize = found.neighbours.iter().map(Vec::len).sum();
        let lists = found.neighbours.into_iter();
        let tell = move || {
            let list = |list: Vec<clew_engine::Neighbour>| -> Vec<Found> {
                list.into_iter().map(told).collect()
            };
            lists.map(list).collect::<Vec<_>>()
        };
        match hits > TOLD_HERE_MAX {
            true => Box::pin(self.beside(move |_| Ok(tell()))).await,
            false => Ok(tell()),
        }
    }

    /// The vectors of rows by their keys, and which rows have one.
    pub(super) async fn vectors_of(
        &self,
        pinned: &Pinned,
        asked: &Asked,
        ids: &[String],
    ) -> Result<(Vec<bool>, clew_engine::Probes)> {
        if asked.field.is_part() {
            return Err(MilvusError::invalid(
                "array of vector is not supported for search by IDs",
            ));
        }
        let there = self.places_of(pinned, (ids, &asked.within)).await?;
        let wanted = [WantedField::Typed(asked.field.name.clone())];
        let read = self.engine().columns(pinned, &there, &wanted).await?;
        match read.fields.into_iter().next() {
            Some(FieldValues::Vectors(rows)) => Ok(those_of(rows)),
            Some(FieldValues::Sparse(rows)) => Ok(those_of(rows)),
            _ => Err(MilvusError::Unsupported(format!(
                "searching by the rows of field {}",
                asked.field.name
            ))),
        }
    }

    /// Many hits as clients are told of them, on a thread where that may take its time.
    pub(super) async fn told(
        &self,
        (opened, pinned): (Opened, Pinned),
        (found, asked): (Vec<Vec<Found>>, Asked),
        wanted: Wanted,
    ) -> Result<SearchResults> {
        let runtime = tokio::runtime::Handle::current();
        let telling = self.beside(move |service| {
            let answer = service.answer(&opened, &pinned, (found, &asked), wanted);
            Ok(runtime.block_on(held::apart(answer)))
        });
        let (answer, memory) = telling.await?;
        memory.into_iter().for_each(held::hold);
        answer
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
        let topks: Vec<i64> = found
            .iter()
            .map(|list| i64::try_from(list.len()).unwrap_or_default())
            .collect();
        let count = i64::try_from(found.len()).unwrap_or_default();
        // As a rule there is one list, which stays where it is.
        let mut lists = found.into_iter();
        let mut flat: Vec<Found> = lists.next().unwrap_or_default();
        for list in lists {
            flat.extend(list);
        }
        let places: Vec<_> = flat.iter().map(|one| one.place).collect();
        let ids: Vec<&str> = flat.iter().map(|one| one.id.as_str()).collect();
        let fields_data = self.columns(pinned, (&places, &ids), &wanted).await?;
        let highlight_results = match &asked.highlights {
            None => Vec::new(),
            Some(highlights) => {
                let hits = (places.as_slice(), topks.as_slice());
                let marking = self.highlighted((opened, pinned), hits, (asked, highlights));
                Box::pin(marking).await?
            }
        };
        let rounded = |score: f32| match asked.round {
            None => score,
            Some(digits) => round(score, digits),
        };
        let mut groups = match &asked.group {
            None => Vec::new(),
            Some(group) => group_columns((collection, &wanted), group, &flat)?,
        };
        // Several fields have a place of their own.
        let group_by_field_value = match groups.len() {
            1 => groups.pop(),
            _ => None,
        };
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
                highlight_results,
                output_fields: wanted.names,
                group_by_field_value,
                group_by_field_values: groups,
                element_indices: elements(&flat, asked),
                primary_field_name: collection.primary().name.clone(),
                ..SearchResultData::default()
            }),
            ..SearchResults::default()
        })
    }
}

/// What the engine is asked for: so many rows by their distances, beyond those that are skipped.
pub(super) fn nearest_request(
    pinned: &Pinned,
    asked: &Asked,
    probes: clew_engine::Probes,
) -> Result<NearestRequest> {
    Ok(NearestRequest {
        limit: asked.limit,
        offset: asked.offset,
        effort: asked.effort()?,
        range: asked.range()?,
        group: asked.group.clone(),
        filter: Some(asked.filter.clone()).filter(|filter| *filter != Query::match_all()),
        object_filter: asked.object_filter.clone(),
        objects: match asked.metric.is_max_sim() {
            true => ObjectHits::MaxSim,
            false => ObjectHits::Each,
        },
        ..NearestRequest::new(pinned.clone(), asked.field.path(), probes)
    })
}

/// What the hits of each group have in common, field by field.
fn group_columns(
    (collection, wanted): (&Collection, &Wanted),
    group: &GroupBy,
    found: &[Found],
) -> Result<Vec<FieldData>> {
    let column = |(number, field): (usize, &GroupField)| {
        let keys = found.iter();
        let keys = keys.map(|one| one.group.as_ref()?.of_field(number));
        match field.inside.as_ref().map(|inside| inside.kind) {
            Some(None) => Ok(group_texts(&field.path, keys)),
            Some(Some(kind)) => {
                let told = Field {
                    nullable: true,
                    ..Field::named(&field.path, told_as(kind))
                };
                group_column((&told, wanted.zone()), keys)
            }
            None => group_column((collection.field(&field.path)?, wanted.zone()), keys),
        }
    };
    group.fields.iter().enumerate().map(column).collect()
}

/// Refuses what would change the answer and is done by nobody here.
pub(super) fn check_known(request: &SearchRequest) -> Result<()> {
    let asks = [
        ("a namespace", !request.namespace.is_empty()),
        ("a search aggregation", request.search_aggregation.is_some()),
        ("a chain of functions", !request.function_chains.is_empty()),
    ];
    match asks.into_iter().find(|(_, asked)| *asked) {
        Some((what, _)) => Err(MilvusError::Unsupported(what.into())),
        None => Ok(()),
    }
}

/// Refuses what a ranker cannot be beside.
fn check_ranked(asked: &Asked) -> Result<()> {
    let is_paged = is_set(&asked.params, "iterator");
    let said = if asked.boosts.is_some() && (asked.group.is_some() || is_paged) {
        "failed to create query plan: don't support use segment scorer with group_by or search_iterator"
    } else if asked.group.is_some() {
        "Current rerank does not support grouping search"
    } else if asked.order.is_some() {
        "order_by and function rerank cannot be used together: they specify conflicting sort criteria"
    } else if is_paged {
        "function rerank is not supported with search iterator"
    } else {
        return Ok(());
    };
    Err(MilvusError::invalid(said))
}

/// Which struct of its row each hit is, of a search whose hits are structs.
fn elements(found: &[Found], asked: &Asked) -> Option<LongArray> {
    if !asked.finds_structs() {
        return None;
    }
    let numbers = found.iter().map(|one| i64::try_from(one.element?).ok());
    let data = numbers.collect::<Option<Vec<i64>>>()?;
    Some(LongArray { data })
}

/// The keys of rows that are searched by: of the kind that keys are, and each once.
pub(super) fn row_ids(primary: &Field, ids: IDs) -> Result<Vec<String>> {
    let (given, rows): (_, Vec<String>) = match ids.id_field {
        None => (primary.data_type, Vec::new()),
        Some(i_ds::IdField::IntId(ids)) => {
            let texts = ids.data.iter().map(ToString::to_string);
            (DataType::Int64, texts.collect())
        }
        Some(i_ds::IdField::StrId(ids)) => {
            let texts = ids.data.into_iter().map(id_of);
            (DataType::VarChar, texts.collect())
        }
    };
    if given != primary.data_type {
        let (kind, expected) = match primary.data_type {
            DataType::Int64 => ("int64", "int64 IDs"),
            _ => ("varchar", "string IDs"),
        };
        let said = format!("primary key is {kind}, but IDs type mismatch");
        return Err(MilvusError::mismatch(said, expected, "got other type"));
    }
    let different: HashSet<&str> = rows.iter().map(String::as_str).collect();
    let is_each_once = different.len() == rows.len();
    drop(different);
    match is_each_once {
        true => Ok(rows),
        false => Err(MilvusError::invalid(
            "duplicate IDs found in search request",
        )),
    }
}

/// The vectors of those rows that have one, and which do.
fn those_of<V>(rows: Vec<Option<V>>) -> (Vec<bool>, clew_engine::Probes)
where
    Vec<V>: Into<clew_engine::Probes>,
{
    let have = rows.iter().map(Option::is_some).collect();
    let vectors: Vec<V> = rows.into_iter().flatten().collect();
    (have, vectors.into())
}

fn round(score: f32, digits: u32) -> f32 {
    let factor = 10_f32.powi(i32::try_from(digits.min(6)).unwrap_or(6));
    (score * factor).round() / factor
}

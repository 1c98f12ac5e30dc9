//! What a search asks for: read from its parameters, and checked against the collection.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_engine::GroupBy;
use clew_query::{Bm25, Query};
use half::{bf16, f16};
use prost::Message;
use serde_json::Value;

use super::bands::asked_bands;
use super::boost::Boosts;
use super::effort::inner_params;
use super::highlight::Highlights;
use super::hit_groups::group_of_hits;
use super::ordered::HitOrder;
use super::query::{check_said, filter, visible};
use super::search::row_ids;
use super::words::texts_of;
use crate::collection::{Bands, Collection, DataType, Field, Metric, VectorIndex, pairs};
use crate::collections::WINDOW_MAX;
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};
use crate::instant::zone_asked;
use crate::proto::*;
use crate::rows::{numbers, sparse_row};

/// Most vectors of one search.
const QUERIES_MAX: usize = 16_384;
/// What the number of a type of vectors is raised by for a list of them.
pub(crate) const EMBEDDING_LIST: i32 = 200;
/// Hits of a search that says no number.
const LIMIT: usize = 10;

/// What one search asks for, read and checked.
pub(super) struct Asked {
    pub(super) field: Field,
    pub(super) metric: Metric,
    pub(super) is_flat: bool,
    /// Whether it may keep fewer candidates than it has hits.
    pub(super) keeps_few: bool,
    /// How words are weighed, where they are what is looked for.
    pub(super) words: Option<Bm25>,
    /// What hits have in common with what is looked for, where that is a band of a signature.
    pub(super) bands: Option<Bands>,
    pub(super) probes: Probes,
    pub(super) filter: Query,
    /// What rows match that can be seen at all: those that are searched by are among them, whatever the filter says.
    pub(super) within: Query,
    /// What structs have to match, where they are searched.
    pub(super) object_filter: Option<Query>,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) params: BTreeMap<String, String>,
    /// The parameters of the index's structure.
    pub(super) inner: BTreeMap<String, Value>,
    pub(super) group: Option<GroupBy>,
    /// The order that hits are told in, where it is not that of their distance.
    pub(super) order: Option<HitOrder>,
    /// What makes more or less of the scores of some.
    pub(super) boosts: Option<Boosts>,
    pub(super) round: Option<u32>,
    /// What is marked in the texts of hits.
    pub(super) highlights: Option<Box<Highlights>>,
}

/// What is looked for.
pub(super) enum Probes {
    Vectors(clew_engine::Probes),
    Texts(Vec<String>),
    /// The vectors of rows that are there.
    Rows(Vec<String>),
}

impl Probes {
    pub(super) fn count(&self) -> usize {
        match self {
            Probes::Vectors(all) => all.len(),
            Probes::Texts(all) | Probes::Rows(all) => all.len(),
        }
    }
}

impl Asked {
    /// Reads what a search asks for now, a time since the epoch.
    ///
    /// # Errors
    /// When it names no vector field, or does not fit the one it names; of what is right, when the collection is not loaded.
    pub(super) fn read(
        collection: &Collection,
        request: SearchRequest,
        now: Duration,
    ) -> Result<Asked> {
        let params = pairs(request.search_params);
        check_same(collection, &params)?;
        // Where it looks is looked at before what it looks for.
        let within = visible(collection, &request.partition_names, now)?;
        check_said(&params)?;
        let input = request.search_input.as_ref();
        let field = vector_field(collection, params.get("anns_field"), input)?;
        let not_loaded = MilvusError::NotLoadedTo("search", request.collection_name);
        let index = match index_of(collection, field) {
            Err(_) if !collection.loaded => return Err(not_loaded),
            index => index?,
        };
        let inner = inner_params(&params)?;
        check_iterator(field, &index, &params)?;
        let templates =
            Templates::read(request.expr_template_values)?.in_zone(zone_asked(&params)?);
        if let Some(key) = collection.isolated_key() {
            check_isolated(key, &request.dsl)?;
        }
        let chance = u64::from(now.subsec_nanos()) ^ now.as_secs();
        let score = request.function_score.as_ref();
        let boosts = Boosts::read(collection, score, (&templates, chance))?;
        let filter = filter(
            collection,
            (&request.dsl, &templates),
            &request.partition_names,
            now,
        )?;
        let object_filter = object_filter((collection, field), &request.dsl, &templates)?;
        let highlights = request.highlighter.map(|highlighter| {
            Highlights::read(collection, highlighter, (field, index.metric)).map(Box::new)
        });
        let probes = probes((collection, field), index.metric, request.search_input)?;
        let count = probes.count();
        check_queries(count)?;
        let limit = top_k(&params)?;
        let offset = skipped(&params, limit)?;
        let group = group_of_hits(collection, &params, &inner)?;
        let bands = asked_bands(index.bands, (&params, &inner), group.is_some())?;
        let order = HitOrder::read(collection, &params, &inner)?;
        let round = rounded_to(&params)?;
        if !collection.loaded {
            return Err(not_loaded);
        }
        // Which metric there is, Milvus knows where the rows are.
        check_metric(&index, &params, &inner)?;
        Ok(Asked {
            metric: index.metric,
            is_flat: index.is_flat,
            keeps_few: index.keeps_few,
            words: index.words,
            bands,
            probes,
            filter,
            within,
            object_filter,
            limit,
            offset,
            group,
            order,
            boosts,
            round,
            highlights: highlights.transpose()?,
            field: field.clone(),
            params,
            inner,
        })
    }

    /// Whether its hits are structs, of which a row may have several.
    pub(super) fn finds_structs(&self) -> bool {
        self.field.is_part() && !self.metric.is_max_sim()
    }

    /// The analyzer of the texts that are searched for, among those of a field that has several; empty where none is said.
    pub(super) fn analyzer_name(&self) -> &str {
        const NAME: &str = "analyzer_name";
        let inner = || self.inner.get(NAME).and_then(Value::as_str);
        self.param(NAME).or_else(inner).unwrap_or_default()
    }

    /// A parameter as it was given.
    pub(super) fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }
}

/// Refuses searches for nothing, and for too much at once.
pub(super) fn check_queries(count: usize) -> Result<()> {
    match (1..=QUERIES_MAX).contains(&count) {
        true => Ok(()),
        false => Err(MilvusError::invalid(format!(
            "nq [{count}] is invalid, nq (number of search vector per search request) should be in range [1, {QUERIES_MAX}], but got {count}"
        ))),
    }
}

/// The collection that an iterator began in, where it is another one by now: an alias may be one's and then another's.
pub(super) fn other_collection(
    collection: &Collection,
    params: &BTreeMap<String, String>,
) -> Option<i64> {
    let said: i64 = params.get("collection_id")?.parse().ok()?;
    (said > 0 && said != collection.id).then_some(said)
}

fn check_same(collection: &Collection, params: &BTreeMap<String, String>) -> Result<()> {
    match other_collection(collection, params) {
        None => Ok(()),
        Some(other) => Err(MilvusError::invalid(format!(
            "collection id:{other} in the request is not consistent to that in the search context,alias or database may have been changed: {}",
            collection.id
        ))),
    }
}

/// Refuses filters that do not say one value of the partition key.
fn check_isolated(key: &Field, filter: &str) -> Result<()> {
    match filter.trim().is_empty() {
        true => expr::check_isolated(None, key),
        false => expr::check_isolated(Some(&expr::parse(filter)?), key),
    }
}

/// What structs have to match to be hits, of a field that is a part of them.
fn object_filter(
    (collection, field): (&Collection, &Field),
    expression: &str,
    templates: &Templates,
) -> Result<Option<Query>> {
    match collection.struct_of(field) {
        Some(around) if !expression.trim().is_empty() => {
            let parsed = expr::parse(expression)?;
            expr::element_filter(&parsed, (collection, around), templates)
        }
        _ => Ok(None),
    }
}

/// The vector field that a search means.
fn vector_field<'c>(
    collection: &'c Collection,
    name: Option<&String>,
    input: Option<&search_request::SearchInput>,
) -> Result<&'c Field> {
    let field = match name.map(String::as_str) {
        None | Some("") => {
            let mut vectors = collection.vectors();
            let first = vectors
                .next()
                .ok_or_else(|| MilvusError::invalid("the collection has no vector field"))?;
            if vectors.next().is_some() {
                let by_rows = matches!(input, Some(search_request::SearchInput::Ids(_)));
                return Err(MilvusError::invalid(match by_rows {
                    true => "multiple vector fields exist, please specify anns_field in search_params",
                    false => "multiple anns_fields exist, please specify a anns_field in search_params",
                }));
            }
            first
        }
        Some(name) => collection.field(name).map_err(|_| {
            MilvusError::invalid(format!(
                "failed to create query plan: failed to get field schema by name: fieldName({name}) not found: invalid parameter"
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

/// Whether a parameter is there and says so.
pub(super) fn is_set(params: &BTreeMap<String, String>, name: &str) -> bool {
    let given = params.get(name);
    given.is_some_and(|given| given.eq_ignore_ascii_case("true"))
}

/// Refuses iterators over lists of vectors, and older ones over structs: these leave out the rows that they have had, and with these
/// all of their structs.
fn check_iterator(
    field: &Field,
    index: &VectorIndex,
    params: &BTreeMap<String, String>,
) -> Result<()> {
    let is_newer = is_set(params, "search_iter_v2");
    if !field.is_part() || !(is_newer || is_set(params, "iterator")) {
        return Ok(());
    }
    Err(MilvusError::invalid(
        match (index.metric.is_max_sim(), is_newer) {
            (true, _) => {
                "search iterator is not supported for multi-search-multi on embedding list fields"
            }
            (false, true) => return Ok(()),
            (false, false) => {
                "legacy search iterator is not supported for element-level search; use search iterator v2"
            }
        },
    ))
}

fn top_k(params: &BTreeMap<String, String>) -> Result<usize> {
    const NAME: &str = "topk";
    let given = params.get(NAME).or_else(|| params.get("limit"));
    let Some(given) = given else { return Ok(LIMIT) };
    let number: Option<usize> = given.parse().ok();
    match number.filter(|number| (1..=WINDOW_MAX).contains(number)) {
        Some(number) => Ok(number),
        // What an iterator tells in all may be more than a window has; its pages say how much they are.
        None if is_set(params, "iterator") => Ok(WINDOW_MAX),
        None => Err(outside(NAME, given)),
    }
}

/// How many hits are skipped before so many that are told.
fn skipped(params: &BTreeMap<String, String>, limit: usize) -> Result<usize> {
    const NAME: &str = "offset";
    let Some(given) = params.get(NAME) else {
        return Ok(0);
    };
    let number: i64 = given
        .trim()
        .parse()
        .map_err(|_| MilvusError::invalid(format!("{NAME} [{given}] is invalid")))?;
    let offset = usize::try_from(number).ok();
    let offset = offset.filter(|offset| *offset <= WINDOW_MAX);
    let offset = offset.ok_or_else(|| outside(NAME, number))?;
    match limit + offset {
        together if together > WINDOW_MAX => Err(outside("offset+topk", together)),
        _ => Ok(offset),
    }
}

/// A number of hits that there cannot be.
fn outside(name: &str, given: impl std::fmt::Display) -> MilvusError {
    MilvusError::invalid(format!(
        "{name} [{given}] is invalid, it should be in range [1, {WINDOW_MAX}], but got {given}"
    ))
}

/// The digits behind the point that distances are told with; all of them where none are said, or -1.
pub(super) fn rounded_to(params: &BTreeMap<String, String>) -> Result<Option<u32>> {
    const NAME: &str = "round_decimal";
    let Some(given) = params.get(NAME) else {
        return Ok(None);
    };
    match given.parse::<i32>() {
        Ok(-1) => Ok(None),
        Ok(digits @ 0..=6) => Ok(Some(digits.unsigned_abs())),
        _ => Err(MilvusError::invalid(format!(
            "{NAME} [{given}] is invalid, should be -1 or an integer in range [0, 6]"
        ))),
    }
}

/// What a search looks for.
fn probes(
    (collection, field): (&Collection, &Field),
    metric: Metric,
    input: Option<search_request::SearchInput>,
) -> Result<Probes> {
    use search_request::SearchInput;
    let group = match input {
        Some(SearchInput::Ids(ids)) => {
            return Ok(Probes::Rows(row_ids(collection.primary(), ids)?));
        }
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
    if metric == Metric::Bm25 {
        return Ok(Probes::Texts(texts_of("BM25", holder)?));
    }
    if let Some((_, maker)) = collection.signatures_of(field)? {
        let texts = texts_of("MinHash", holder)?;
        let made = texts.iter().map(|text| maker.signature_asked(text));
        let made = made.map(|bits| Ok(numbers(field.data_type, &bits?)));
        return Ok(Probes::Vectors(made.collect::<Result<Vec<_>>>()?.into()));
    }
    let sent = sent_as(field, metric, holder.r#type)?;
    if field.data_type == DataType::SparseFloatVector {
        let read = holder.values.iter().map(|bytes| sparse_row(bytes));
        let read: Vec<_> = read.collect::<Result<_>>()?;
        return Ok(Probes::Vectors(read.into()));
    }
    let read = holder.values.iter().map(|bytes| match metric.is_max_sim() {
        true => probe_list(field, bytes),
        false => probe(field, sent, bytes),
    });
    let read: Vec<_> = read.collect::<Result<_>>()?;
    Ok(Probes::Vectors(read.into()))
}

/// What the vectors of a search are sent as: as the field has them, or in single precision where it has half of it.
fn sent_as(field: &Field, metric: Metric, number: i32) -> Result<DataType> {
    let own = field.data_type;
    let is_half = matches!(own, DataType::Float16Vector | DataType::BFloat16Vector);
    match metric.is_max_sim() {
        // A list of vectors has a number of its own.
        true if number == own.number() + EMBEDDING_LIST => Ok(own),
        false if number == own.number() => Ok(own),
        false if is_half && number == DataType::FloatVector.number() => Ok(DataType::FloatVector),
        _ => Err(MilvusError::invalid(format!(
            "vector type must be the same, field {} - type {}, search info type {}",
            field.name,
            own.name(),
            name_of(number)
        ))),
    }
}

/// The name of a type by its number.
fn name_of(number: i32) -> &'static str {
    DataType::of(number).map_or("unknown", DataType::name)
}

/// The index of a field that is searched.
fn index_of(collection: &Collection, field: &Field) -> Result<VectorIndex> {
    let index = collection.index_of(&field.name).ok_or_else(|| {
        // The field came after the collection was loaded, or was left out then: it takes indexes for all others.
        MilvusError::Unexpected(format!(
            "field {} is not loaded, please reload the collection",
            field.name
        ))
    })?;
    VectorIndex::of(field, index)
}

/// The vectors of a list, one after the other.
fn probe_list(field: &Field, bytes: &[u8]) -> Result<Vec<f32>> {
    let width = vector_width(field.data_type, field.dimension()?);
    if bytes.is_empty() || !bytes.len().is_multiple_of(width) {
        return Err(MilvusError::invalid(format!(
            "vector dimension mismatch, expected a list of vectors of size(byte) {width}, actual {}.",
            bytes.len()
        )));
    }
    let vectors = bytes
        .chunks(width)
        .map(|bytes| probe(field, field.data_type, bytes));
    Ok(vectors.collect::<Result<Vec<_>>>()?.concat())
}

/// Bytes of a vector that is sent as a type.
fn vector_width(sent: DataType, dimension: usize) -> usize {
    match sent {
        DataType::FloatVector => 4 * dimension,
        DataType::Float16Vector | DataType::BFloat16Vector => 2 * dimension,
        DataType::BinaryVector => dimension / 8,
        _ => dimension,
    }
}

fn probe(field: &Field, sent: DataType, bytes: &[u8]) -> Result<Vec<f32>> {
    let width = vector_width(sent, field.dimension()?);
    if bytes.len() != width {
        return Err(MilvusError::invalid(format!(
            "vector dimension mismatch, expected vector size(byte) {width}, actual {}.",
            bytes.len()
        )));
    }
    let mut read = numbers(sent, bytes);
    if sent != field.data_type {
        // With the digits that the field has.
        let is_brain = field.data_type == DataType::BFloat16Vector;
        for number in &mut read {
            *number = match is_brain {
                true => bf16::from_f32(*number).to_f32(),
                false => f16::from_f32(*number).to_f32(),
            };
        }
    }
    Ok(read)
}

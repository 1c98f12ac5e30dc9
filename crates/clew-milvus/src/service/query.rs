//! Queries: rows by an expression, without a vector.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{DocPlace, Pinned, Purpose, SearchRequest};
use clew_query::{Order, Query, SortKey, SortValue, Unmapped};
use clew_search::TrackTotal;
use prost::Message;

use super::aggregate::{GROUP_BY, Grouping};
use super::asked::{is_set, other_collection};
use super::elements::Elements;
use super::loading::check_loaded_to;
use super::order::{ORDER_BY, OrderPart};
use super::read::Guarantee;
use super::{Call, Service, check_namespace};
use crate::collection::{Collection, DataType, pairs, partition_query};
use crate::collections::{Opened, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};
use crate::instant::zone_asked;
use crate::proto::*;
use crate::rows::Wanted;

/// Rows of a query without a limit.
const ROWS_MAX: usize = 1 << 20;
/// Rows that are read at once.
const PAGE_ROWS: usize = 8_192;
/// What a row takes until it is read: its place and its id.
const ROW_BYTES: usize = size_of::<DocPlace>() + size_of::<String>() + 32;

/// What a query asks for.
struct Asked {
    query: Query,
    limit: Option<usize>,
    offset: usize,
    order: Vec<SortKey>,
    elements: Option<Elements>,
}

/// Rows that were found.
struct Told {
    columns: Vec<FieldData>,
    count: usize,
    /// The structs of each that were asked for, where these were.
    elements: Vec<ElementIndices>,
}

impl Service {
    pub(crate) async fn query(
        &self,
        call: Call,
        mut request: QueryRequest,
    ) -> Result<QueryResults> {
        let opened = self.open_named(&call, &request, Purpose::Read)?;
        check_namespace(&request.namespace)?;
        let collection = &opened.named.collection;
        let params = pairs(std::mem::take(&mut request.query_params));
        let matches_any = request.expr.trim().is_empty();
        let (query, elements) = self.filter_of(collection, &params, &mut request).await?;
        // As in Milvus, an offset is of rows that have a limit; without one it is not looked at.
        let (limit, offset) = match params.contains_key("limit") {
            true => window(&params)?,
            false => (None, 0),
        };
        check_page(collection, &params)?;
        let order = OrderPart::read(params.get(ORDER_BY).map(String::as_str), "must be")?;
        check_order(&order, &params, limit)?;
        let names = &request.output_fields;
        let grouping = Grouping::read(collection, names, (params.get(GROUP_BY), &order))?;
        let has_aggregates = grouping.as_ref().is_some_and(Grouping::has_aggregates);
        if matches_any && limit.is_none() && !has_aggregates {
            let why = "empty expression should be used with limit: invalid parameter";
            return Err(MilvusError::invalid(why));
        }
        check_loaded_to("query", &opened)?;
        let guarantee = Guarantee::from(&request);
        let (fields_data, output_fields, session_ts, element_indices) = match grouping {
            Some(grouping) => {
                let asked = (query, &grouping, (limit, offset));
                let told = self.grouped(&opened, asked, (&params, guarantee)).await?;
                (told, request.output_fields, self.timestamp(), Vec::new())
            }
            None => {
                let wanted = Wanted::read(collection, names)?.told_by(&params)?;
                let wanted = wanted.with_primary(collection);
                let is_page = is_set(&params, "iterator");
                let asked = Asked {
                    limit,
                    offset,
                    order: order_of(collection, &order)?,
                    query,
                    elements: elements.map(|all| all.behind(&params)).transpose()?,
                };
                self.see(&opened, guarantee).await?;
                for part in &order {
                    self.check_all_terms(&opened, &part.name).await?;
                }
                let (pinned, time) = self.moment(&opened, (is_page, guarantee))?;
                let told = self.queried(&pinned, asked, &wanted).await?;
                if is_page && told.count == 0 && time == guarantee.timestamp {
                    // Behind the last row nobody asks for more.
                    self.moments().forget(time);
                }
                (told.columns, wanted.names, time, told.elements)
            }
        };
        Ok(QueryResults {
            fields_data,
            output_fields,
            collection_name: opened.named.name.clone(),
            primary_field_name: collection.primary().name.clone(),
            session_ts,
            element_indices,
            ..QueryResults::default()
        })
    }

    /// What rows have to match, and which of their structs are told; what of the request says so is taken.
    async fn filter_of(
        &self,
        collection: &Arc<Collection>,
        params: &BTreeMap<String, String>,
        request: &mut QueryRequest,
    ) -> Result<(Query, Option<Elements>)> {
        let zone = zone_asked(params)?;
        let (collection, now) = (collection.clone(), self.engine().now());
        let bytes = request.encoded_len();
        let text = std::mem::take(&mut request.expr);
        let values = std::mem::take(&mut request.expr_template_values);
        self.hold_expression(&text, &values)?;
        let partitions = std::mem::take(&mut request.partition_names);
        let read = move || {
            let templates = Templates::read(values)?.in_zone(zone);
            let elements = Elements::read(&collection, &text, &templates);
            let query = filter(&collection, (&text, &templates), &partitions, now)?;
            Ok((query, elements?))
        };
        self.reading(bytes, read).await
    }

    /// What is asked of groups of rows; how many rows there are is known without a look at them.
    async fn grouped(
        &self,
        opened: &Opened,
        (query, grouping, window): (Query, &Grouping, (Option<usize>, usize)),
        (params, guarantee): (&BTreeMap<String, String>, Guarantee),
    ) -> Result<Vec<FieldData>> {
        if grouping.is_global() && grouping.counts_rows() && window.0.is_some() {
            return Err(MilvusError::invalid(
                "count entities with pagination is not allowed",
            ));
        }
        let told = Wanted::read(&opened.named.collection, &[])?.told_by(params)?;
        told.check_whole_instants()?;
        self.see(opened, guarantee).await?;
        match grouping.only_count() {
            Some(name) => Ok(vec![counted(
                name,
                self.count_matching(opened, query).await?,
            )]),
            None => {
                self.aggregated(opened, (&query, grouping), window, told.zone())
                    .await
            }
        }
    }

    /// The rows that are asked for. Where structs are, limits and offsets count these, so that some of a row's may be told.
    async fn queried(&self, pinned: &Pinned, asked: Asked, wanted: &Wanted) -> Result<Told> {
        let mut left = asked.limit.unwrap_or(ROWS_MAX);
        let mut skip = asked.offset;
        let of_structs = asked.elements.as_ref();
        let page = of_structs.map_or(PAGE_ROWS, |structs| structs.page_rows().min(PAGE_ROWS));
        if let Some(structs) = of_structs {
            self.hold(structs.bytes(page.min(left.saturating_add(skip))))?;
        }
        let (mut places, mut ids, mut elements) = (Vec::new(), Vec::new(), Vec::new());
        let mut after: Option<Vec<SortValue>> = None;
        while left > 0 {
            let size = left.saturating_add(skip).min(page);
            let request = SearchRequest {
                size,
                sort: asked.order.clone(),
                track_total: TrackTotal::No,
                search_after: after.take(),
                inner_hits: of_structs.map(Elements::wanted).into_iter().collect(),
                ..SearchRequest::new(pinned.clone(), asked.query.clone())
            };
            let found = self.found(request).await?;
            let (count, last) = (
                found.hits.len(),
                found.hits.last().map(|hit| hit.sort.clone()),
            );
            self.hold(count * ROW_BYTES)?;
            for hit in found.hits {
                let structs = of_structs.map(|structs| structs.numbers(&hit));
                let own = structs.as_ref().map_or(1, Vec::len);
                let skipped = skip.min(own);
                let told = (own - skipped).min(left);
                skip -= skipped;
                left -= told;
                if told == 0 {
                    continue;
                }
                elements.extend(structs.map(|all| {
                    let data = all.into_iter().skip(skipped).take(told).collect();
                    let indices = Some(LongArray { data });
                    ElementIndices { indices }
                }));
                places.push(hit.place);
                ids.push(hit.id);
            }
            if count < size {
                break;
            }
            after = last;
        }
        if asked.limit.is_none() && left == 0 {
            return Err(MilvusError::TooLarge(format!(
                "the query has more than {ROWS_MAX} rows: give it a limit, or read them with an iterator"
            )));
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let columns = self.columns(pinned, (&places, &ids), wanted).await?;
        Ok(Told {
            columns,
            count: places.len(),
            elements,
        })
    }
}

/// What rows have to match: an expression, to be in some partitions, and that their time is not over now.
pub(super) fn filter(
    collection: &Collection,
    (expression, templates): (&str, &Templates),
    partitions: &[String],
    now: Duration,
) -> Result<Query> {
    let visible = visible(collection, partitions, now)?;
    if expression.trim().is_empty() {
        return Ok(visible);
    }
    let wanted = expr::lower(&expr::parse(expression)?, collection, templates)?;
    Ok(match visible == Query::match_all() {
        true => wanted,
        false => expr::both(wanted, visible),
    })
}

/// What rows match that can be seen: to be in some partitions, and that their time is not over now.
///
/// # Errors
/// For partitions that cannot be searched.
pub(super) fn visible(
    collection: &Collection,
    partitions: &[String],
    now: Duration,
) -> Result<Query> {
    let partitions = collection.searched_partitions(partitions)?;
    let unexpired = collection.unexpired(now);
    Ok(match (partitions.is_empty(), unexpired) {
        (true, None) => Query::match_all(),
        (true, Some(unexpired)) => unexpired,
        (false, None) => partition_query(&partitions),
        (false, Some(unexpired)) => expr::both(unexpired, partition_query(&partitions)),
    })
}

/// The most rows that are wanted, where that is said, and how many are skipped before them.
///
/// # Errors
/// When they are no numbers, or more than a window together.
pub(super) fn window(params: &BTreeMap<String, String>) -> Result<(Option<usize>, usize)> {
    let number = |name: &str| -> Result<Option<i64>> {
        let Some(given) = params.get(name) else {
            return Ok(None);
        };
        let number = given.parse().map(Some);
        number.map_err(|_| MilvusError::invalid(format!("{name} [{}] is invalid", given.trim())))
    };
    let refused = |why: String| {
        Err(MilvusError::invalid(format!(
            "invalid max query result window, {why}"
        )))
    };
    let (limit, offset) = (number("limit")?, number("offset")?.unwrap_or_default());
    if let Some(limit) = limit.filter(|limit| *limit <= 0) {
        return refused(format!(
            "limit [{limit}] is invalid, should be greater than 0"
        ));
    }
    if offset < 0 {
        return refused(format!(
            "offset [{offset}] is invalid, should be gte than 0"
        ));
    }
    let together = limit.unwrap_or_default().saturating_add(offset);
    if limit.is_some() && usize::try_from(together).map_or(true, |sum| sum > WINDOW_MAX) {
        return refused(format!(
            "(offset+limit) should be in range [1, {WINDOW_MAX}], but got {together}"
        ));
    }
    let count = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok((limit.map(count), count(offset)))
}

/// Everything that was written is seen; whether clients want less must still be said as a truth.
fn check_growing(params: &BTreeMap<String, String>) -> Result<()> {
    const TRUTHS: [&str; 12] = [
        "1", "t", "T", "true", "TRUE", "True", "0", "f", "F", "false", "FALSE", "False",
    ];
    match params.get("ignore_growing") {
        Some(given) if !TRUTHS.contains(&given.as_str()) => Err(MilvusError::invalid(format!(
            "parse ignore growing field failed, {given} is neither true nor false"
        ))),
        _ => Ok(()),
    }
}

/// The same of a query, whose iterator may have begun in another collection.
fn check_page(collection: &Collection, params: &BTreeMap<String, String>) -> Result<()> {
    match other_collection(collection, params) {
        None => check_growing(params),
        Some(_) => Err(MilvusError::invalid(
            "Input collection id is not consistent to collectionID in the context,alias or database may have changed",
        )),
    }
}

/// Refuses what a search says of itself that changes nothing here, and is wrong: besides what queries say too, hints of
/// when to filter, which is done when that is best.
pub(super) fn check_said(params: &BTreeMap<String, String>) -> Result<()> {
    check_growing(params)?;
    match params.get("hints").map_or("", String::as_str) {
        "" | "disable" | "iterative_filter" => Ok(()),
        other => Err(MilvusError::invalid(format!(
            "hints: {other} not supported"
        ))),
    }
}

/// Refuses an order of rows that nobody bounds, and of those that come page by page in the order of their keys.
fn check_order(
    order: &[OrderPart],
    params: &BTreeMap<String, String>,
    limit: Option<usize>,
) -> Result<()> {
    if order.is_empty() {
        return Ok(());
    }
    if limit.is_none() {
        return Err(MilvusError::invalid("ORDER BY requires explicit limit"));
    }
    if is_set(params, "iterator") {
        return Err(MilvusError::invalid(
            "ORDER BY with iterator is not supported",
        ));
    }
    Ok(())
}

/// The order of rows: by the fields that are named, and then by their keys.
fn order_of(collection: &Collection, parts: &[OrderPart]) -> Result<Vec<SortKey>> {
    let mut order = Vec::with_capacity(parts.len() + 1);
    for part in parts {
        order.push(SortKey::Field {
            path: part.field(collection)?.name.clone(),
            order: part.order,
            missing: part.missing.clone(),
            mode: None,
            unmapped: Unmapped::Refused,
            nested: None,
            numeric: None,
        });
    }
    order.push(SortKey::field(&collection.primary().name, Order::Asc));
    Ok(order)
}

fn counted(name: &str, count: u64) -> FieldData {
    FieldData {
        r#type: DataType::Int64.number(),
        field_name: name.to_string(),
        field: Some(field_data::Field::Scalars(ScalarField {
            data: Some(scalar_field::Data::LongData(LongArray {
                data: vec![i64::try_from(count).unwrap_or(i64::MAX)],
            })),
        })),
        ..FieldData::default()
    }
}

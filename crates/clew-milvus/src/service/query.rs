//! Queries: rows by an expression, without a vector.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_engine::{Purpose, SearchRequest};
use clew_query::{Order, Query, SortKey, SortValue};
use clew_search::TrackTotal;

use super::loading::check_loaded;
use super::read::Guarantee;
use super::{Call, Service};
use crate::collection::{Collection, DataType, pairs, partition_query};
use crate::collections::{Opened, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::expr::{self, Templates};
use crate::proto::*;
use crate::rows::Wanted;

/// The name of the column that counts.
const COUNT: &str = "count(*)";
/// Rows of a query without a limit.
const ROWS_MAX: usize = 1 << 20;
/// Rows that are read at once.
const PAGE_ROWS: usize = 8_192;

/// What a query asks for.
struct Asked {
    query: Query,
    limit: Option<usize>,
    offset: usize,
    order: Vec<SortKey>,
}

impl Service {
    pub(crate) async fn query(&self, call: Call, request: QueryRequest) -> Result<QueryResults> {
        let place = (request.db_name.as_str(), request.collection_name.as_str());
        let opened = self.open(&call, place, Purpose::Read)?;
        check_loaded(&opened)?;
        let collection = &opened.named.collection;
        let params = pairs(request.query_params);
        let templates = Templates::read(request.expr_template_values)?;
        let counts = request.output_fields.iter().any(|name| name == COUNT);
        let filter = filter(
            collection,
            (&request.expr, &templates),
            &request.partition_names,
            self.engine().now(),
        )?;
        let (limit, offset) = window(&params)?;
        check_growing(&params)?;
        let asked = Asked {
            limit,
            offset,
            order: order_of(collection, params.get("order_by_fields"))?,
            query: filter,
        };
        if !counts && asked.limit.is_none() && request.expr.trim().is_empty() {
            return Err(MilvusError::invalid(
                "empty expression should be used with limit: invalid parameter",
            ));
        }
        self.see(
            &opened,
            Guarantee {
                timestamp: request.guarantee_timestamp,
                level: request.consistency_level,
                by_default: request.use_default_consistency,
            },
        )
        .await?;
        let fields_data;
        let output_fields;
        if counts {
            if asked.limit.is_some() {
                return Err(MilvusError::invalid(
                    "count entities with pagination is not allowed",
                ));
            }
            let count = self.count_matching(&opened, asked.query).await?;
            fields_data = vec![counted(count)];
            output_fields = vec![COUNT.to_string()];
        } else {
            let wanted = Wanted::read(collection, &request.output_fields)?;
            let wanted = wanted.told_by(&params)?.with_primary(collection);
            for key in &asked.order {
                if let SortKey::Field { path, .. } = key
                    && collection.field(path).is_ok()
                {
                    self.check_all_terms(&opened, path).await?;
                }
            }
            fields_data = self.queried(&opened, asked, &wanted).await?;
            output_fields = wanted.names;
        }
        Ok(QueryResults {
            fields_data,
            output_fields,
            collection_name: opened.named.name.clone(),
            primary_field_name: collection.primary().name.clone(),
            session_ts: self.timestamp(),
            ..QueryResults::default()
        })
    }

    async fn queried(
        &self,
        opened: &Opened,
        asked: Asked,
        wanted: &Wanted,
    ) -> Result<Vec<FieldData>> {
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        let limit = asked.limit.unwrap_or(ROWS_MAX);
        let (mut places, mut ids) = (Vec::new(), Vec::new());
        let mut after: Option<Vec<SortValue>> = None;
        let mut skip = asked.offset;
        while places.len() < limit {
            let size = (limit - places.len()).saturating_add(skip).min(PAGE_ROWS);
            let request = SearchRequest {
                size,
                sort: asked.order.clone(),
                track_total: TrackTotal::No,
                search_after: after.take(),
                ..SearchRequest::new(pinned.clone(), asked.query.clone())
            };
            let found = self.found(request).await?;
            let (count, last) = (
                found.hits.len(),
                found.hits.last().map(|hit| hit.sort.clone()),
            );
            let skipped = skip.min(count);
            skip -= skipped;
            for hit in found.hits.into_iter().skip(skipped) {
                places.push(hit.place);
                ids.push(hit.id);
            }
            if count < size {
                break;
            }
            after = last;
        }
        if asked.limit.is_none() && places.len() >= ROWS_MAX {
            return Err(MilvusError::TooLarge(format!(
                "the query has more than {ROWS_MAX} rows: give it a limit, or read them with an iterator"
            )));
        }
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        self.columns(&pinned, (&places, &ids), wanted).await
    }
}

/// What rows have to match: an expression, to be in some partitions, and that their time is not over now.
pub(super) fn filter(
    collection: &Collection,
    (expression, templates): (&str, &Templates),
    partitions: &[String],
    now: Duration,
) -> Result<Query> {
    let partitions = collection.searched_partitions(partitions)?;
    let wanted = match expression.trim().is_empty() {
        true => Query::match_all(),
        false => expr::lower(&expr::parse(expression)?, collection, templates)?,
    };
    let wanted = match collection.unexpired(now) {
        None => wanted,
        Some(unexpired) => expr::both(wanted, unexpired),
    };
    match partitions.is_empty() {
        true => Ok(wanted),
        false => Ok(expr::both(wanted, partition_query(&partitions))),
    }
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

/// The order of rows: by their keys, unless fields are named.
fn order_of(collection: &Collection, given: Option<&String>) -> Result<Vec<SortKey>> {
    let by_key = SortKey::field(&collection.primary().name, Order::Asc);
    let mut order = Vec::new();
    for part in given.into_iter().flat_map(|given| given.split(',')) {
        let (name, direction) = part.split_once(':').unwrap_or((part, "asc"));
        let field = collection.field(name.trim())?;
        if field.data_type.is_vector()
            || matches!(field.data_type, DataType::Json | DataType::Array)
        {
            return Err(MilvusError::invalid(format!(
                "order by field '{}' of type {} is not sortable",
                field.name,
                field.data_type.name()
            )));
        }
        order.push(match direction.trim().to_ascii_lowercase().as_str() {
            "desc" | "descending" => SortKey::field(&field.name, Order::Desc),
            "asc" | "ascending" | "" => SortKey::field(&field.name, Order::Asc),
            other => {
                return Err(MilvusError::invalid(format!(
                    "order direction '{other}' is neither asc nor desc"
                )));
            }
        });
    }
    order.push(by_key);
    Ok(order)
}

fn counted(count: u64) -> FieldData {
    FieldData {
        r#type: DataType::Int64.number(),
        field_name: COUNT.to_string(),
        field: Some(field_data::Field::Scalars(ScalarField {
            data: Some(scalar_field::Data::LongData(LongArray {
                data: vec![i64::try_from(count).unwrap_or(i64::MAX)],
            })),
        })),
        ..FieldData::default()
    }
}

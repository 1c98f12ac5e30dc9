//! `/entities/…`

use std::collections::HashMap;
use std::sync::Arc;

use prost::Message;
use serde_json::{Value, json};

use super::body::{Body, Refusal, Result, pair, wrong};
use super::collections::level_of;
use super::parameters::{self, GROUPING, LIMIT, ORDER_BY};
use super::ranking::function_score;
use super::{Answer, answers, buckets, keys, unknown, wide};
use crate::collection::{Collection, DataType, Field};
use crate::error::MilvusError;
use crate::instant::ZONE;
use crate::proto::*;
use crate::rows;
use crate::service::{Caller, Door, EMBEDDING_LIST, Service, op_of};

/// Rows that take more as JSON are put together where that may take its time.
const TOLD_HERE_MAX: usize = 256 << 10;

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let name = body.text("collectionName")?;
    let collection = door.collection(caller.clone(), &name);
    let collection = collection.map_err(MilvusError::of_description)?;
    match action {
        "insert" | "upsert" => write(door, (caller, action), (&name, collection), body).await,
        "delete" => {
            let request = DeleteRequest {
                collection_name: name,
                partition_name: body.text_or("partitionName", "")?,
                expr: body.text("filter")?,
                expr_template_values: templates(&body)?,
                ..DeleteRequest::default()
            };
            let done = door.delete(caller, request).await?;
            let told = json!({"deleteCount": done.delete_cnt});
            Ok(Answer::Whole(answers::costing(told)))
        }
        "get" => {
            if body.get("id").is_none() {
                return Err(Refusal::Missing("Key: 'id' is required".to_string()));
            }
            let expr = keys::filter(collection.primary(), &body)?;
            // As many rows as keys, however many these are.
            query(door, caller, (name, expr), (&body, Vec::new())).await
        }
        "query" => {
            let filter = body.text_or("filter", "")?;
            let params = query_params(&body)?;
            query(door, caller, (name, filter), (&body, params)).await
        }
        "search" => {
            let request = search_request(&collection, &name, (&body, "searchParams"))?;
            let (several, is_in_buckets) = (request.nq > 1, request.search_aggregation.is_some());
            let mut found = door.search(caller, request).await?;
            if is_in_buckets {
                return in_buckets(door, wide::are_texts(&body), found).await;
            }
            wide::settle_hits(&body, &mut found);
            hits(door, found, several).await
        }
        "hybrid_search" | "advanced_search" => {
            hybrid(door, caller, (&name, &collection), &body).await
        }
        other => Err(unknown(&format!("entities/{other}"))),
    }
}

/// What becomes of fields that are not simply replaced.
fn field_ops(body: &Body) -> Result<Vec<FieldPartialUpdateOp>> {
    let read = |one: &Value| -> Result<FieldPartialUpdateOp> {
        let text = |member: &str| one.get(member).and_then(Value::as_str).unwrap_or_default();
        Ok(FieldPartialUpdateOp {
            field_name: text("fieldName").to_string(),
            op: op_of(text("op"))?,
        })
    };
    body.list("fieldOps").into_iter().map(read).collect()
}

/// Writes the rows that are the member `data`, by an insert or an upsert.
pub(super) async fn write(
    door: &Door,
    (caller, action): (Caller, &str),
    (name, collection): (&str, Arc<Collection>),
    mut body: Body,
) -> Result<Answer> {
    let data = match body.take("data") {
        Some(Value::Array(rows)) if !rows.is_empty() => rows,
        Some(row @ Value::Object(_)) => vec![row],
        _ => return Err(Refusal::Missing("Key: 'data' is required".to_string())),
    };
    let is_upsert = action == "upsert";
    let is_partial = body.flag("partialUpdate")?.unwrap_or_default();
    let count = data.len();
    let field_ops = field_ops(&body)?;
    let of = collection.clone();
    let read = move |_: &Service| Ok(rows::columns(&of, &data, is_upsert));
    let fields_data = door.service().beside(read).await??;
    if !is_partial && field_ops.is_empty() {
        check_whole(&collection, &fields_data)?;
    }
    let num_rows = u32::try_from(count).unwrap_or(u32::MAX);
    let partition_name = body.text_or("partitionName", "")?;
    let mut done = if is_upsert {
        let request = UpsertRequest {
            collection_name: name.to_string(),
            partition_name,
            fields_data,
            num_rows,
            partial_update: is_partial,
            field_ops,
            ..UpsertRequest::default()
        };
        door.upsert(caller, request).await?
    } else {
        let request = InsertRequest {
            collection_name: name.to_string(),
            partition_name,
            fields_data,
            num_rows,
            ..InsertRequest::default()
        };
        door.insert(caller, request).await?
    };
    wide::settle_ids(&body, &mut done.i_ds);
    let ids = answers::ids(done.i_ds.as_ref());
    let data = match is_upsert {
        true => json!({"upsertCount": done.upsert_cnt, "upsertIds": ids}),
        false => json!({"insertCount": done.insert_cnt, "insertIds": ids}),
    };
    Ok(Answer::Whole(answers::costing(data)))
}

/// Refuses rows of which none has a field that each must have, as rows are of which one lacks it.
fn check_whole(collection: &Collection, columns: &[FieldData]) -> Result<()> {
    let fields = collection.fields.iter().filter(|field| {
        let is_made = field.is_function_output || (field.is_primary && field.auto_id);
        !is_made && !field.nullable && field.default.is_none()
    });
    let lists = collection.structs.iter().filter(|one| !one.nullable);
    let names = fields.map(|field| &field.name);
    let mut names = names.chain(lists.map(|one| &one.name));
    let is_given = |name: &String| columns.iter().any(|column| column.field_name == *name);
    match names.find(|name| !is_given(name)) {
        None => Ok(()),
        Some(name) => Err(Refusal::Rows(format!("field {name} must have a value"))),
    }
}

/// The rows that an expression finds, with the fields that the request names.
pub(super) async fn query(
    door: &Door,
    caller: Caller,
    (collection_name, expr): (String, String),
    (body, mut query_params): (&Body, Vec<KeyValuePair>),
) -> Result<Answer> {
    check_level(body)?;
    let mut output_fields = body.texts("outputFields")?;
    if output_fields.is_empty() {
        output_fields.push("*".to_string());
    }
    if let Some(zone) = body.get(ZONE) {
        query_params.push(pair(ZONE, super::body::text_of(zone)));
    }
    let request = QueryRequest {
        collection_name,
        expr,
        output_fields,
        partition_names: body.texts("partitionNames")?,
        query_params,
        consistency_level: 0,
        expr_template_values: templates(body)?,
        ..QueryRequest::default()
    };
    let mut found = door.query(caller, request).await?;
    wide::settle_columns(body, &mut found.fields_data);
    let rows = answers::row_count(&found.fields_data);
    let bytes = answers::rows_bytes(&found.fields_data, rows);
    door.service().hold(bytes)?;
    let told = move || Answer::Whole(answers::costing(rows::objects(&found.fields_data)));
    telling(door, bytes, told).await
}

/// Puts an answer of so many bytes together, where that may take its time if they are many.
async fn telling(
    door: &Door,
    bytes: usize,
    told: impl FnOnce() -> Answer + Send + 'static,
) -> Result<Answer> {
    match bytes > TOLD_HERE_MAX {
        true => Ok(door.service().beside(move |_| Ok(told())).await?),
        false => Ok(told()),
    }
}

/// Hits as they are told, for which memory is booked first.
pub(super) async fn hits(door: &Door, found: SearchResults, several: bool) -> Result<Answer> {
    let found = found.results.unwrap_or_default();
    let bytes = answers::rows_bytes(&found.fields_data, found.scores.len());
    door.service().hold(bytes)?;
    telling(door, bytes, move || answers::hits(found, several)).await
}

/// Buckets as they are told, for which memory is booked first.
async fn in_buckets(door: &Door, as_texts: bool, found: SearchResults) -> Result<Answer> {
    let found = found.results.unwrap_or_default();
    let bytes = answers::buckets_bytes(&found.agg_buckets);
    door.service().hold(bytes)?;
    let how = buckets::Telling {
        primary: found.primary_field_name.clone(),
        as_texts,
    };
    telling(door, bytes, move || how.answer(found)).await
}

/// Which rows of a query are told, and how: in what order, or in what groups.
fn query_params(body: &Body) -> Result<Vec<KeyValuePair>> {
    let groups = body.texts("groupByFields")?;
    let order = body.texts("orderByFields")?;
    let names = body.texts("outputFields")?;
    let mut params = Vec::new();
    // The number of all rows is one, whatever the window.
    let counts = matches!(names.as_slice(), [name] if name.trim().eq_ignore_ascii_case("count(*)"));
    if !counts || !groups.is_empty() {
        params.push(pair("limit", body.number("limit")?.unwrap_or(LIMIT)));
        params.push(pair("offset", body.number("offset")?.unwrap_or_default()));
    }
    for (key, fields) in [("group_by_fields", groups), (ORDER_BY, order)] {
        if !fields.is_empty() {
            params.push(pair(key, fields.join(",")));
        }
    }
    Ok(params)
}

async fn hybrid(
    door: &Door,
    caller: Caller,
    (name, collection): (&str, &Collection),
    body: &Body,
) -> Result<Answer> {
    check_level(body)?;
    buckets::check_hybrid(body)?;
    let mut requests = Vec::new();
    for one in body.list("search") {
        let members = one
            .as_object()
            .cloned()
            .ok_or_else(|| wrong("search", "a list of objects"))?;
        let one = Body(members);
        buckets::check_hybrid(&one)?;
        // Milvus calls them so where a search is one of several.
        let said = match one.get("params") {
            Some(_) => "params",
            None => "searchParams",
        };
        requests.push(search_request(collection, name, (&one, said))?);
    }
    let rerank = Body(body.object("rerank")?);
    let mut rank_params = vec![
        pair("strategy", rerank.text_or("strategy", "rrf")?),
        pair("params", Value::Object(rerank.object("params")?)),
        pair("limit", body.number("limit")?.unwrap_or(LIMIT)),
    ];
    if let Some(offset) = body.number("offset")? {
        rank_params.push(pair("offset", offset));
    }
    for (name, key) in GROUPING {
        if let Some(value) = body.get(name) {
            rank_params.push(pair(key, super::body::text_of(value)));
        }
    }
    let several = requests.first().is_some_and(|first| first.nq > 1);
    let request = HybridSearchRequest {
        collection_name: name.to_string(),
        partition_names: body.texts("partitionNames")?,
        requests,
        rank_params,
        output_fields: body.texts("outputFields")?,
        consistency_level: 0,
        function_score: function_score(body)?,
        function_chains: body.unread("functionChains"),
        ..HybridSearchRequest::default()
    };
    let mut found = door.hybrid_search(caller, request).await?;
    wide::settle_hits(body, &mut found);
    hits(door, found, several).await
}

/// A search, whose parameters are the member that is `said`.
fn search_request(
    collection: &Collection,
    name: &str,
    (body, said): (&Body, &str),
) -> Result<SearchRequest> {
    let field = vector_field(collection, &body.text_or("annsField", "")?)?;
    check_level(body)?;
    let search_aggregation = buckets::read(body)?;
    let (search_input, nq) = search_input(collection, field, body)?;
    let search_params = parameters::read((body, said), &field.name)?;
    Ok(SearchRequest {
        collection_name: name.to_string(),
        partition_names: body.texts("partitionNames")?,
        dsl: body.text_or("filter", "")?,
        search_input: Some(search_input),
        output_fields: body.texts("outputFields")?,
        search_params,
        search_aggregation,
        nq,
        expr_template_values: templates(body)?,
        consistency_level: 0,
        function_score: function_score(body)?,
        function_chains: body.unread("functionChains"),
        ..SearchRequest::default()
    })
}

/// The vector field of a name, or the only one. Milvus says of any other that the request is no JSON.
fn vector_field<'c>(collection: &'c Collection, name: &str) -> Result<&'c Field> {
    let mut vectors = collection.vectors();
    if !name.is_empty() {
        let found = vectors.find(|field| field.name == name);
        let said = format!("cannot find a vector field named: {name}");
        return found.ok_or(Refusal::NoJson(said));
    }
    let mut vectors = vectors.filter(|field| !field.is_part());
    match (vectors.next(), vectors.next()) {
        (Some(only), None) => Ok(only),
        (Some(first), Some(second)) => Err(Refusal::NoJson(format!(
            "search without annsField, but already found multiple vector fields: [{}, {},,,]",
            first.name, second.name
        ))),
        (None, _) => Err(Refusal::NoJson(
            "cannot find a vector field named: ".to_string(),
        )),
    }
}

/// Refuses levels of consistency that nobody knows; whichever is meant, everything is seen that was written before.
fn check_level(body: &Body) -> Result<()> {
    let name = body.text_or("consistencyLevel", "Strong")?;
    level_of(&name)?;
    Ok(())
}

/// What a search is for, and how many: vectors and texts, or rows by their keys.
fn search_input(
    collection: &Collection,
    field: &Field,
    body: &Body,
) -> Result<(search_request::SearchInput, i64)> {
    let count = |all: &[&Value]| i64::try_from(all.len()).unwrap_or(i64::MAX);
    let (data, ids) = (body.list("data"), body.list("ids"));
    if !data.is_empty() && !ids.is_empty() {
        let said = "primary keys (ids) and query vectors (data) are mutually exclusive. Please provide either 'ids' or 'data', not both";
        return Err(MilvusError::invalid(said).into());
    }
    if ids.is_empty() {
        if data.is_empty() {
            return Err(Refusal::NoInput);
        }
        let vectors = placeholders(field, &data).map_err(|refused| match refused {
            Refusal::Rows(why) => Refusal::NoJson(why),
            other => other,
        })?;
        let input = search_request::SearchInput::PlaceholderGroup(vectors);
        return Ok((input, count(&data)));
    }
    let keys = keys::read(collection.primary(), &ids)?;
    let input = search_request::SearchInput::Ids(keys);
    Ok((input, count(&ids)))
}

/// What is searched for: vectors of the field, or texts.
fn placeholders(field: &Field, data: &[&Value]) -> Result<bytes::Bytes> {
    let are_texts = field.is_function_output && data.iter().all(|one| one.is_string());
    let data_type = if are_texts {
        DataType::VarChar
    } else {
        field.data_type
    };
    let is_list = |one: &&Value| {
        let items = one.as_array();
        items.is_some_and(|items| items.first().is_some_and(Value::is_array))
    };
    // Of structs a list of vectors may be looked for.
    let are_lists = field.is_part() && data.iter().all(is_list);
    let values = data.iter().map(|one| -> Result<bytes::Bytes> {
        match one.as_str().filter(|_| are_texts) {
            Some(text) => Ok(bytes::Bytes::from(text.to_string())),
            None if are_lists => {
                let vectors = one.as_array().into_iter().flatten();
                let vectors = vectors.map(|vector| -> Result<bytes::Bytes> {
                    Ok(rows::vector_bytes(field, vector)?)
                });
                Ok(vectors.collect::<Result<Vec<_>>>()?.concat().into())
            }
            None => Ok(rows::vector_bytes(field, one)?),
        }
    });
    let group = PlaceholderGroup {
        placeholders: vec![PlaceholderValue {
            tag: "$0".to_string(),
            r#type: data_type.number() + if are_lists { EMBEDDING_LIST } else { 0 },
            values: values.collect::<Result<_>>()?,
        }],
    };
    Ok(group.encode_to_vec().into())
}

/// Values that come beside an expression.
fn templates(body: &Body) -> Result<HashMap<String, TemplateValue>> {
    use template_value::Val;
    let params = body.object("exprParams")?;
    let value = |(name, value): (String, Value)| {
        let val = match value {
            Value::Bool(value) => Val::BoolVal(value),
            Value::String(text) => Val::StringVal(text),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Val::Int64Val(whole),
                None => Val::FloatVal(number.as_f64().unwrap_or_default()),
            },
            Value::Array(items) => Val::ArrayVal(TemplateArrayValue {
                data: Some(template_array_value::Data::JsonData(JsonArray {
                    data: items.iter().map(|item| item.to_string().into()).collect(),
                })),
            }),
            Value::Null | Value::Object(_) => {
                return Err(Refusal::Call(MilvusError::Invalid(format!(
                    "the value of {name} is no template value"
                ))));
            }
        };
        Ok((name, TemplateValue { val: Some(val) }))
    };
    params.into_iter().map(value).collect()
}

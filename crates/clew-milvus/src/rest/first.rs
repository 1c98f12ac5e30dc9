//! The first edition of the RESTful API, `/v1/vector/…`, for clients that were written before the second one: what it asks for
//! is put as the second puts it, and what comes of that is told as it was told then.
//!
//! Its collections have a key that is made, a vector, and what rows have beside them. It has no partitions, and asks for one
//! vector at a time.

use std::collections::HashMap;

use axum::extract::Query;
use axum::http::{Method, Uri};
use prost::Message;
use serde_json::{Map, Value, json};

use super::body::{Body, Refusal, Result, mistyped, pair, text_of};
use super::collections::level_of;
use super::parameters::LIMIT;
use super::{Answer, collections, entities, keys, quick, wide};
use crate::collection::DataType;
use crate::error::MilvusError;
use crate::proto::*;
use crate::service::{Caller, Door};

/// What stands before the names of what can be asked for.
const ROOT: &str = "/v1/";
/// What hits call their key, whatever its field is called.
const KEY: &str = "id";
/// The name of the index of a collection that is made here.
const INDEX: &str = "vector_idx";

/// What can be asked for, and how.
static ASKED: [(Method, &str); 10] = [
    (Method::GET, "vector/collections"),
    (Method::GET, "vector/collections/describe"),
    (Method::POST, "vector/collections/create"),
    (Method::POST, "vector/collections/drop"),
    (Method::POST, "vector/insert"),
    (Method::POST, "vector/upsert"),
    (Method::POST, "vector/search"),
    (Method::POST, "vector/query"),
    (Method::POST, "vector/get"),
    (Method::POST, "vector/delete"),
];

/// The name of what is asked for, where there is such a thing.
pub(super) fn name_of(method: &Method, uri: &Uri) -> Option<&'static str> {
    let path = uri.path().strip_prefix(ROOT)?.trim_end_matches('/');
    let mut all = ASKED.iter();
    let found = all.find(|(asked, name)| asked == method && *name == path);
    found.map(|(_, name)| *name)
}

/// What a path says behind its question mark, as if it were a body. What cannot be read says nothing.
pub(super) fn of_query(uri: &Uri) -> Body {
    let said = Query::<HashMap<String, String>>::try_from_uri(uri);
    let said = said.map(|Query(said)| said).unwrap_or_default();
    let members = said.into_iter();
    Body(
        members
            .map(|(name, text)| (name, Value::String(text)))
            .collect(),
    )
}

pub(super) async fn run(
    door: &Door,
    (method, uri): (&Method, &Uri),
    caller: Caller,
    body: Body,
) -> Result<Answer> {
    let answer = match name_of(method, uri).unwrap_or_default() {
        "vector/collections" => collections::run(door, ("list", caller), body).await?,
        "vector/collections/describe" => describe(door, caller, body).await?,
        "vector/collections/create" => create(door, caller, &body).await?,
        "vector/collections/drop" => drop_one(door, caller, &body).await?,
        "vector/insert" => write(door, ("insert", caller), body).await?,
        "vector/upsert" => write(door, ("upsert", caller), body).await?,
        "vector/search" => search(door, caller, &body).await?,
        "vector/query" => query(door, caller, &body).await?,
        "vector/get" => {
            let is_whole = has_text(&body, "collectionName")? && body.get("id").is_some();
            require(is_whole, "collectionName, id")?;
            entities::run(door, ("get", caller), body).await?
        }
        "vector/delete" => delete(door, caller, body).await?,
        _ => {
            let asked = format!("{method} {}", uri.path());
            return Err(MilvusError::Unsupported(asked).into());
        }
    };
    // What it cost, and what belongs to which vector, came later.
    Ok(Answer::Data(data_of(answer)))
}

fn data_of(answer: Answer) -> Value {
    match answer {
        Answer::Data(data) => data,
        Answer::Whole(mut whole) => whole.remove("data").unwrap_or_default(),
    }
}

fn has_text(body: &Body, name: &str) -> Result<bool> {
    Ok(!body.text_or(name, "")?.is_empty())
}

/// Refuses a request that lacks one of these members.
fn require(is_whole: bool, names: &'static str) -> Result<()> {
    match is_whole {
        true => Ok(()),
        false => Err(Refusal::Required(names)),
    }
}

async fn create(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    let dimension = body.number("dimension")?.unwrap_or_default();
    let is_whole = has_text(body, "collectionName")? && dimension != 0;
    require(is_whole, "collectionName, dimension")?;
    let name = body.text("collectionName")?;
    // A collection of a dimension alone is made so in the second edition, too, only by other names and of another metric.
    let asked = json!({
        "dimension": dimension,
        "autoID": true,
        "metricType": body.text_or("metricType", "L2")?,
        "primaryFieldName": body.text_or("primaryField", "")?,
        "vectorFieldName": body.text_or("vectorField", "")?,
        "description": body.text_or("description", "")?,
        "params": {"enableDynamicField": body.flag("enableDynamicField")?.unwrap_or(true)},
    });
    let asked = Body(asked.as_object().cloned().unwrap_or_default());
    let (mut schema, mut index) = quick::read(&asked)?;
    schema.name.clone_from(&name);
    if let Some(index) = index.as_object_mut() {
        index.insert("indexName".to_string(), INDEX.into());
    }
    let request = CreateCollectionRequest {
        collection_name: name,
        schema: schema.encode_to_vec().into(),
        shards_num: 1,
        consistency_level: level_of("Bounded")?,
        ..CreateCollectionRequest::default()
    };
    collections::make(door, caller, request, &[index]).await?;
    Ok(super::done())
}

/// Drops a collection, which there has to be, other than in the second edition.
async fn drop_one(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    require(has_text(body, "collectionName")?, "collectionName")?;
    let request = CollectionRequest {
        collection_name: body.text("collectionName")?,
        ..CollectionRequest::default()
    };
    let has = door.has_collection(caller.clone(), request.clone()).await?;
    if !has.value {
        return Err(MilvusError::NoCollection(request.collection_name).into());
    }
    door.drop_collection(caller, request).await?;
    Ok(super::done())
}

async fn describe(door: &Door, caller: Caller, body: Body) -> Result<Answer> {
    /// What was told of a collection then.
    const TOLD: [&str; 7] = [
        "collectionName",
        "description",
        "fields",
        "indexes",
        "load",
        "shardsNum",
        "enableDynamicField",
    ];
    require(has_text(&body, "collectionName")?, "collectionName")?;
    let mut told = data_of(collections::run(door, ("describe", caller), body).await?);
    if let Some(members) = told.as_object_mut() {
        members.retain(|name, _| TOLD.contains(&name.as_str()));
        let fields = members.get_mut("fields").and_then(Value::as_array_mut);
        for field in fields.into_iter().flatten() {
            if let Some(field) = field.as_object_mut() {
                as_it_was(field);
            }
        }
    }
    Ok(Answer::Data(told))
}

/// What is told of a field, as it was told then: a type bears the one number that it has.
fn as_it_was(field: &mut Map<String, Value>) {
    for later in ["id", "elementType"] {
        field.remove(later);
    }
    let params = field.remove("params").unwrap_or_default();
    let Some(Value::String(kind)) = field.get_mut("type") else {
        return;
    };
    let key = match DataType::named(kind) {
        Some(DataType::VarChar) => "max_length",
        Some(vector) if vector.is_vector() => "dim",
        _ => return,
    };
    let mut pairs = params.as_array().into_iter().flatten();
    let found = pairs.find(|pair| pair.get("key").and_then(Value::as_str) == Some(key));
    let number = found.and_then(|pair| pair.get("value")).map(text_of);
    *kind = format!("{kind}({})", number.as_deref().unwrap_or("0"));
}

async fn write(door: &Door, (action, caller): (&str, Caller), body: Body) -> Result<Answer> {
    let are_rows = match body.get("data") {
        None | Some(Value::Object(_)) => true,
        Some(Value::Array(rows)) => rows.iter().all(Value::is_object),
        Some(_) => false,
    };
    if !are_rows {
        return Err(mistyped("data", "an object or a list of objects"));
    }
    let is_whole = has_text(&body, "collectionName")? && body.get("data").is_some();
    require(is_whole, "collectionName, data")?;
    let name = body.text("collectionName")?;
    let collection = door.collection(caller.clone(), &name);
    let collection = collection.map_err(MilvusError::of_description)?;
    if action == "upsert" && collection.primary().auto_id {
        let said = "cannot upsert an autoID collection";
        return Err(MilvusError::mismatch(said, "autoID: false", "autoID: true").into());
    }
    if matches!(body.get("data"), Some(Value::Array(rows)) if rows.is_empty()) {
        return Err(Refusal::Rows("missing required parameters".to_string()));
    }
    entities::write(door, (caller, action), (&name, collection), body).await
}

async fn delete(door: &Door, caller: Caller, mut body: Body) -> Result<Answer> {
    let (has_filter, has_id) = (has_text(&body, "filter")?, body.get("id").is_some());
    let is_whole = has_text(&body, "collectionName")? && (has_filter || has_id);
    require(is_whole, "collectionName, id/filter")?;
    if !has_filter {
        let collection = door.collection(caller.clone(), &body.text("collectionName")?);
        let collection = collection.map_err(MilvusError::of_description)?;
        let filter = keys::filter(collection.primary(), &body)?;
        body.take("filter");
        body.0.insert("filter".to_string(), filter.into());
    }
    entities::run(door, ("delete", caller), body).await?;
    Ok(super::done())
}

async fn query(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    let is_whole = has_text(body, "collectionName")? && has_text(body, "filter")?;
    require(is_whole, "collectionName, filter")?;
    let asked = (body.text("collectionName")?, body.text("filter")?);
    let mut params = Vec::new();
    for (name, usual) in [("offset", 0), ("limit", LIMIT)] {
        let number = body.number(name)?.unwrap_or(usual);
        // None of them is as many as there are.
        if number > 0 {
            params.push(pair(name, number));
        }
    }
    entities::query(door, caller, asked, (body, params)).await
}

async fn search(door: &Door, caller: Caller, body: &Body) -> Result<Answer> {
    if body.get("searchAggregation").is_some() {
        let said = "searchAggregation is not supported by the first edition of the RESTful API";
        return Err(MilvusError::invalid(said).into());
    }
    let is_whole = has_text(body, "collectionName")? && body.get("vector").is_some();
    require(is_whole, "collectionName, vector")?;
    let request = SearchRequest {
        collection_name: body.text("collectionName")?,
        dsl: body.text_or("filter", "")?,
        search_input: Some(vector(body)?),
        output_fields: body.texts("outputFields")?,
        search_params: search_params(body)?,
        nq: 1,
        ..SearchRequest::default()
    };
    let mut found = door.search(caller, request).await?;
    if let Some(results) = &mut found.results {
        results.primary_field_name = KEY.to_string();
    }
    wide::settle_hits(body, &mut found);
    entities::hits(door, found, false).await
}

/// The vector that is looked for, whose numbers have single precision.
#[allow(
    clippy::cast_possible_truncation,
    reason = "what is too large becomes infinite, and is refused"
)]
fn vector(body: &Body) -> Result<search_request::SearchInput> {
    let refused = || mistyped("vector", "a list of numbers");
    let items = body.get("vector").and_then(Value::as_array);
    let items = items.ok_or_else(refused)?;
    let mut bytes = Vec::with_capacity(size_of::<f32>() * items.len());
    for item in items {
        let number = item.as_f64().map(|number| number as f32);
        let number = number.filter(|number| number.is_finite());
        bytes.extend_from_slice(&number.ok_or_else(refused)?.to_le_bytes());
    }
    let group = PlaceholderGroup {
        placeholders: vec![PlaceholderValue {
            tag: "$0".to_string(),
            r#type: DataType::FloatVector.number(),
            values: vec![bytes.into()],
        }],
    };
    let group = group.encode_to_vec().into();
    Ok(search_request::SearchInput::PlaceholderGroup(group))
}

/// How many hits there may be, and how far away; nothing else can be said of a search.
fn search_params(body: &Body) -> Result<Vec<KeyValuePair>> {
    let given = Body(body.object("params")?);
    let is_number = |value: &Value| value.is_number() || value.is_null();
    if !given.0.values().all(is_number) {
        return Err(mistyped("params", "an object of numbers"));
    }
    let mut params = Map::new();
    for name in ["radius", "range_filter"] {
        if let Some(value) = given.get(name) {
            params.insert(name.to_string(), value.clone());
        }
    }
    if params.contains_key("range_filter") && !params.contains_key("radius") {
        let said = "range_filter is said without radius";
        return Err(Refusal::NoJson(said.to_string()));
    }
    Ok(vec![
        pair("topk", body.number("limit")?.unwrap_or(LIMIT)),
        pair("offset", body.number("offset")?.unwrap_or_default()),
        pair("params", Value::Object(params)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_bear_their_number() {
        for (kind, params, want) in [
            (
                "FloatVector",
                json!([{"key": "dim", "value": "4"}]),
                "FloatVector(4)",
            ),
            (
                "VarChar",
                json!([{"key": "a", "value": "b"}, {"key": "max_length", "value": "9"}]),
                "VarChar(9)",
            ),
            ("SparseFloatVector", Value::Null, "SparseFloatVector(0)"),
            (
                "Array",
                json!([{"key": "max_capacity", "value": "4"}]),
                "Array",
            ),
        ] {
            let told = json!({"id": 100, "name": "f", "type": kind, "params": params, "elementType": "Int8"});
            let mut field = told.as_object().cloned().unwrap();
            as_it_was(&mut field);
            assert_eq!(Value::Object(field), json!({"name": "f", "type": want}));
        }
    }

    #[test]
    fn what_is_asked_for_is_known_by_its_method_and_its_path() {
        let name = |method: Method, uri: &str| name_of(&method, &uri.parse().unwrap());
        assert_eq!(
            name(Method::GET, "/v1/vector/collections/?dbName=a"),
            Some("vector/collections")
        );
        assert_eq!(name(Method::POST, "/v1/vector/get"), Some("vector/get"));
        assert_eq!(name(Method::POST, "/v1/vector/collections"), None);
        assert_eq!(name(Method::GET, "/v2/vector/get"), None);
        let said = of_query(&"/v1/vector/collections?dbName=a%20b&x".parse().unwrap());
        assert_eq!(said.text_or("dbName", "").unwrap(), "a b");
    }
}

//! `/indexes/…`

use serde_json::{Value, json};

use super::body::{Body, Refusal, Result, pair, text_of, wrong};
use super::{Answer, answers, done, unknown};
use crate::error::MilvusError;
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let collection_name = body.text("collectionName")?;
    let described = |index_name: String| DescribeIndexRequest {
        collection_name: collection_name.clone(),
        index_name,
        ..DescribeIndexRequest::default()
    };
    match action {
        "list" => {
            let found = door.describe_index(caller, described(String::new())).await;
            let names: Vec<String> = match found {
                Ok(found) => found
                    .index_descriptions
                    .into_iter()
                    .map(|index| index.index_name)
                    .collect(),
                Err(MilvusError::IndexNotFound(_)) => Vec::new(),
                Err(other) => return Err(other.into()),
            };
            return Ok(Answer::Data(json!(names)));
        }
        "describe" => {
            let found = door
                .describe_index(caller, described(body.text("indexName")?))
                .await?;
            let told: Vec<Value> = found
                .index_descriptions
                .iter()
                .map(answers::index)
                .collect();
            return Ok(Answer::Data(json!(told)));
        }
        "create" => {
            if body.list("indexParams").is_empty() {
                return Err(Refusal::Missing(
                    "Key: 'indexParams' is required".to_string(),
                ));
            }
            for index in body.list("indexParams") {
                create(door, caller.clone(), (&collection_name, index)).await?;
            }
        }
        "drop" => {
            let request = IndexRequest {
                collection_name,
                index_name: body.text("indexName")?,
                ..IndexRequest::default()
            };
            door.drop_index(caller, request).await?;
        }
        "alter_properties" | "drop_properties" => {
            let request = AlterIndexRequest {
                collection_name,
                index_name: body.text("indexName")?,
                extra_params: body.pairs("properties")?,
                delete_keys: body.texts("propertyKeys")?,
                ..AlterIndexRequest::default()
            };
            door.alter_index(caller, request).await?;
        }
        other => return Err(unknown(&format!("indexes/{other}"))),
    }
    Ok(done())
}

/// Makes one index, as it is described in `indexParams`.
pub(super) async fn create(
    door: &Door,
    caller: Caller,
    (collection, index): (&str, &Value),
) -> Result<()> {
    let members = index
        .as_object()
        .cloned()
        .ok_or_else(|| wrong("indexParams", "a list of objects"))?;
    let body = Body(members);
    let request = CreateIndexRequest {
        collection_name: collection.to_string(),
        field_name: body.text("fieldName")?,
        index_name: body.text_or("indexName", "")?,
        extra_params: params(&body)?,
        ..CreateIndexRequest::default()
    };
    door.create_index(caller, request).await?;
    Ok(())
}

/// What is asked of an index, as the call takes it.
pub(super) fn params(body: &Body) -> Result<Vec<KeyValuePair>> {
    let params = body.object("params")?;
    let mut extra_params = Vec::new();
    for (name, key) in [("metricType", "metric_type"), ("indexType", "index_type")] {
        let given = match body.text_or(name, "")? {
            // Milvus' examples have them here, too.
            given if given.is_empty() => params.get(key).map(text_of).unwrap_or_default(),
            given => given,
        };
        if !given.is_empty() {
            extra_params.push(pair(key, given));
        }
    }
    // Together, as Milvus keeps them: clients look there for what was asked for.
    if !params.is_empty() {
        extra_params.push(pair("params", Value::Object(params)));
    }
    Ok(extra_params)
}

//! `/partitions/…`, `/indexes/…`, `/aliases/…` and `/databases/…`

use serde_json::{Value, json};

use super::body::{Body, Refusal, Result, pair, pairs_of, wrong};
use super::{Answer, answers, done, unknown};
use crate::error::MilvusError;
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn partitions(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let collection_name = body.text("collectionName")?;
    let one = |collection_name: String| {
        Ok::<_, Refusal>(PartitionRequest {
            collection_name,
            partition_name: body.text("partitionName")?,
            ..PartitionRequest::default()
        })
    };
    match action {
        "list" => {
            let request = ShowPartitionsRequest {
                collection_name,
                ..ShowPartitionsRequest::default()
            };
            let all = door.show_partitions(caller, request).await?;
            return Ok(Answer::Data(json!(all.partition_names)));
        }
        "has" => {
            let has = door.has_partition(caller, one(collection_name)?).await?;
            return Ok(Answer::Data(json!({"has": has.value})));
        }
        "create" => door.create_partition(caller, one(collection_name)?).await?,
        "drop" => door.drop_partition(caller, one(collection_name)?).await?,
        "get_stats" => {
            let stats = door
                .get_partition_statistics(caller, one(collection_name)?)
                .await?;
            return Ok(Answer::Data(answers::statistics(&stats)));
        }
        "load" => {
            let request = LoadPartitionsRequest {
                collection_name,
                partition_names: body.texts("partitionNames")?,
                ..LoadPartitionsRequest::default()
            };
            door.load_partitions(caller, request).await?
        }
        "release" => {
            let request = ReleasePartitionsRequest {
                collection_name,
                partition_names: body.texts("partitionNames")?,
                ..ReleasePartitionsRequest::default()
            };
            door.release_partitions(caller, request).await?
        }
        other => return Err(unknown(&format!("partitions/{other}"))),
    };
    Ok(done())
}

pub(super) async fn indexes(
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
                create_index(door, caller.clone(), (&collection_name, index)).await?;
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
pub(super) async fn create_index(
    door: &Door,
    caller: Caller,
    (collection, index): (&str, &Value),
) -> Result<()> {
    let members = index
        .as_object()
        .cloned()
        .ok_or_else(|| wrong("indexParams", "a list of objects"))?;
    let body = Body(members);
    let mut extra_params = pairs_of(&body.object("params")?);
    for (name, key) in [("metricType", "metric_type"), ("indexType", "index_type")] {
        let given = body.text_or(name, "")?;
        if !given.is_empty() {
            extra_params.push(pair(key, given));
        }
    }
    let request = CreateIndexRequest {
        collection_name: collection.to_string(),
        field_name: body.text("fieldName")?,
        index_name: body.text_or("indexName", "")?,
        extra_params,
        ..CreateIndexRequest::default()
    };
    door.create_index(caller, request).await?;
    Ok(())
}

pub(super) async fn aliases(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    let put = || {
        Ok::<_, Refusal>(CreateAliasRequest {
            collection_name: body.text("collectionName")?,
            alias: body.text("aliasName")?,
            ..CreateAliasRequest::default()
        })
    };
    match action {
        "list" => {
            let request = ListAliasesRequest {
                collection_name: body.text_or("collectionName", "")?,
                ..ListAliasesRequest::default()
            };
            let all = door.list_aliases(caller, request).await?;
            return Ok(Answer::Data(json!(all.aliases)));
        }
        "describe" => {
            let alias = body.text("aliasName")?;
            let request = DescribeAliasRequest {
                alias,
                ..DescribeAliasRequest::default()
            };
            let found = door.describe_alias(caller, request).await?;
            return Ok(Answer::Data(json!({
                "dbName": found.db_name,
                "aliasName": found.alias,
                "collectionName": found.collection,
            })));
        }
        "create" => door.create_alias(caller, put()?).await?,
        "alter" => door.alter_alias(caller, put()?).await?,
        "drop" => {
            let request = DropAliasRequest {
                alias: body.text("aliasName")?,
                ..DropAliasRequest::default()
            };
            door.drop_alias(caller, request).await?
        }
        other => return Err(unknown(&format!("aliases/{other}"))),
    };
    Ok(done())
}

pub(super) async fn databases(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "list" => {
            let all = door
                .list_databases(caller, ListDatabasesRequest::default())
                .await?;
            return Ok(Answer::Data(json!(all.db_names)));
        }
        "describe" => {
            let request = DescribeDatabaseRequest {
                db_name: body.text("dbName")?,
            };
            let found = door.describe_database(caller, request).await?;
            return Ok(Answer::Data(json!({
                "dbName": found.db_name,
                "dbID": found.db_id,
                "properties": answers::pairs(&found.properties),
            })));
        }
        "create" => {
            let request = CreateDatabaseRequest {
                db_name: body.text("dbName")?,
                properties: body.pairs("properties")?,
            };
            door.create_database(caller, request).await?
        }
        "drop" => {
            let request = DropDatabaseRequest {
                db_name: body.text("dbName")?,
            };
            door.drop_database(caller, request).await?
        }
        "alter" | "alter_properties" | "drop_properties" => {
            let request = AlterDatabaseRequest {
                db_name: body.text("dbName")?,
                properties: body.pairs("properties")?,
                delete_keys: body.texts("propertyKeys")?,
            };
            door.alter_database(caller, request).await?
        }
        other => return Err(unknown(&format!("databases/{other}"))),
    };
    Ok(done())
}

//! `/partitions/…`

use serde_json::json;

use super::body::{Body, Refusal, Result};
use super::{Answer, answers, done, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
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
                partition_names: several(&body)?,
                ..LoadPartitionsRequest::default()
            };
            door.load_partitions(caller, request).await?
        }
        "release" => {
            let request = ReleasePartitionsRequest {
                collection_name,
                partition_names: several(&body)?,
                ..ReleasePartitionsRequest::default()
            };
            door.release_partitions(caller, request).await?
        }
        other => return Err(unknown(&format!("partitions/{other}"))),
    };
    Ok(done())
}

/// Names of partitions; a list without any is one that the call refuses.
fn several(body: &Body) -> Result<Vec<String>> {
    match body.get("partitionNames") {
        None => {
            let said = "Key: 'partitionNames' is required";
            Err(Refusal::Missing(said.to_string()))
        }
        Some(_) => body.texts("partitionNames"),
    }
}

//! `/segments/…`

use serde_json::{Value, json};

use super::body::{Body, Refusal, Result};
use super::{Answer, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    if action != "describe" {
        return Err(unknown(&format!("segments/{action}")));
    }
    let described = DescribeCollectionRequest {
        collection_name: body.text_or("collectionName", "")?,
        collection_id: body.number("collectionID")?.unwrap_or_default(),
        ..DescribeCollectionRequest::default()
    };
    if described.collection_name.is_empty() && described.collection_id == 0 {
        let said = "Key: 'collectionID' is required".to_string();
        return Err(Refusal::Missing(said));
    }
    let wanted = body.list("segmentIDs");
    let wanted: Vec<Option<i64>> = wanted.into_iter().map(Value::as_i64).collect();
    let named = door.describe_collection(caller.clone(), described).await?;
    let request = SegmentInfoRequest {
        collection_name: named.collection_name,
        ..SegmentInfoRequest::default()
    };
    let found = door.get_persistent_segment_info(caller, request).await?;
    let infos = found.infos.into_iter();
    let infos = infos.filter(|info| wanted.is_empty() || wanted.contains(&Some(info.segment_id)));
    let told = infos.map(|info| {
        json!({
            "segmentID": info.segment_id,
            "collectionID": info.collection_id,
            "partitionID": info.partition_id,
            "numRows": info.num_rows,
            "state": info.state,
            "level": info.level,
            "isSorted": info.is_sorted,
        })
    });
    let told: Vec<Value> = told.collect();
    Ok(Answer::Data(json!({"segmentInfos": told})))
}

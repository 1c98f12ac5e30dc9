//! `/resource_groups/…`

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::body::{Body, Refusal, Result, pairs_of, wrong};
use super::{Answer, done, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    match action {
        "list" => {
            let all = door
                .list_resource_groups(caller, ListResourceGroupsRequest::default())
                .await?;
            return Ok(Answer::Data(json!(all.resource_groups)));
        }
        "describe" => {
            let request = DescribeResourceGroupRequest {
                resource_group: body.text("name")?,
            };
            let found = door.describe_resource_group(caller, request).await?;
            let told = group(found.resource_group.unwrap_or_default());
            let told = Map::from_iter([("resource_group".to_string(), told)]);
            return Ok(Answer::Whole(told));
        }
        "create" => {
            let config = match body.get("config") {
                None => None,
                Some(_) => Some(config(&Body(body.object("config")?))?),
            };
            let request = CreateResourceGroupRequest {
                resource_group: body.text("name")?,
                config,
            };
            door.create_resource_group(caller, request).await?
        }
        "drop" => {
            let request = DropResourceGroupRequest {
                resource_group: body.text("name")?,
            };
            door.drop_resource_group(caller, request).await?
        }
        "alter" => {
            if body.get("resource_groups").is_none() {
                let said = "Key: 'resource_groups' is required".to_string();
                return Err(Refusal::Missing(said));
            }
            let mut resource_groups = HashMap::new();
            for (name, value) in body.object("resource_groups")? {
                resource_groups.insert(name, config(&object("resource_groups", &value)?)?);
            }
            let request = UpdateResourceGroupsRequest { resource_groups };
            door.update_resource_groups(caller, request).await?
        }
        "transfer_replica" => {
            let request = TransferReplicaRequest {
                source_resource_group: body.text("sourceRgName")?,
                target_resource_group: body.text("targetRgName")?,
                collection_name: body.text("collectionName")?,
                num_replica: body.number("replicaNum")?.unwrap_or_default(),
                ..TransferReplicaRequest::default()
            };
            door.transfer_replica(caller, request).await?
        }
        other => return Err(unknown(&format!("resource_groups/{other}"))),
    };
    Ok(done())
}

fn object(name: &str, value: &Value) -> Result<Body> {
    let members = value.as_object().cloned();
    Ok(Body(members.ok_or_else(|| wrong(name, "an object"))?))
}

fn config(body: &Body) -> Result<ResourceGroupConfig> {
    let limit = |name: &str| -> Result<Option<ResourceGroupLimit>> {
        if body.get(name).is_none() {
            return Ok(None);
        }
        let number = Body(body.object(name)?).number("node_num")?;
        let node_num = i32::try_from(number.unwrap_or_default())
            .map_err(|_| wrong("node_num", "a number of 32 bits"))?;
        Ok(Some(ResourceGroupLimit { node_num }))
    };
    let transfers = |name: &str| -> Result<Vec<ResourceGroupTransfer>> {
        let all = body.list(name).into_iter().map(|one| {
            let resource_group = object(name, one)?.text("resource_group")?;
            Ok(ResourceGroupTransfer { resource_group })
        });
        all.collect()
    };
    let filter = match body.get("node_filter") {
        None => None,
        Some(_) => {
            let labels = Body(body.object("node_filter")?).object("node_labels")?;
            let node_labels = pairs_of(&labels);
            Some(ResourceGroupNodeFilter { node_labels })
        }
    };
    Ok(ResourceGroupConfig {
        requests: limit("requests")?,
        limits: limit("limits")?,
        transfer_from: transfers("transfer_from")?,
        transfer_to: transfers("transfer_to")?,
        node_filter: filter,
    })
}

fn group(group: ResourceGroup) -> Value {
    let config = group.config.unwrap_or_default();
    let limit =
        |limit: Option<ResourceGroupLimit>| json!({"node_num": limit.unwrap_or_default().node_num});
    let transfers = |all: Vec<ResourceGroupTransfer>| {
        let told = all.into_iter();
        let told = told.map(|one| json!({"resource_group": one.resource_group}));
        told.collect::<Vec<Value>>()
    };
    let nodes = group.nodes.iter().map(
        |node| json!({"node_id": node.node_id, "address": node.address, "hostname": node.hostname}),
    );
    json!({
        "name": group.name,
        "capacity": group.capacity,
        "num_available_node": group.num_available_node,
        "num_loaded_replica": group.num_loaded_replica,
        "config": {
            "requests": limit(config.requests),
            "limits": limit(config.limits),
            "transfer_from": transfers(config.transfer_from),
            "transfer_to": transfers(config.transfer_to),
        },
        "nodes": nodes.collect::<Vec<Value>>(),
    })
}

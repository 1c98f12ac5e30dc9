//! Resource groups: names that parts of a cluster stand under. Here there is one node, which is always in one of them; what
//! they ask for is kept and told again, and searches are the same whichever it is in.

use std::collections::{BTreeMap, BTreeSet};

use clew_engine::{Access, DefinitionChange, Definitions, Purpose};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, NODE, Service};
use crate::collection::NameOf;
use crate::collections::Opened;
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

/// The group that is always there.
pub(super) const DEFAULT_GROUP: &str = "__default_resource_group";
/// What is kept of groups, by their names.
const GROUPS: &str = "milvus_resource_group";
/// Most groups of a node.
const GROUPS_MAX: usize = 1_024;
/// How many nodes the usual group may have.
const DEFAULT_LIMIT: i32 = 1_000_000;

/// What is kept of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Group {
    requests: i32,
    limits: i32,
    #[serde(default)]
    transfer_from: Vec<String>,
    #[serde(default)]
    transfer_to: Vec<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    /// The numbers of collections that were brought here; those that no group has are in the usual one.
    #[serde(default)]
    replicas: BTreeSet<i64>,
}

impl Group {
    /// Reads what a client asks of a group; nothing where it says nothing.
    fn read(name: &str, config: Option<ResourceGroupConfig>) -> Result<Group> {
        let wrong = |said: &str| {
            Err(MilvusError::ResourceGroupConfig(
                name.to_string(),
                said.to_string(),
            ))
        };
        let Some(config) = config else {
            return Ok(Group::default());
        };
        let (Some(requests), Some(limits)) = (config.requests, config.limits) else {
            return wrong("requests or limits is required");
        };
        if requests.node_num < 0 || limits.node_num < 0 {
            return wrong("node num in `requests` or `limits` should not less than 0");
        }
        if limits.node_num < requests.node_num {
            return wrong("limits node num should not less than requests node num");
        }
        let names = |all: Vec<ResourceGroupTransfer>| {
            let names = all.into_iter().map(|one| one.resource_group);
            names.collect::<Vec<String>>()
        };
        let labels = config.node_filter.unwrap_or_default().node_labels;
        Ok(Group {
            requests: requests.node_num,
            limits: limits.node_num,
            transfer_from: names(config.transfer_from),
            transfer_to: names(config.transfer_to),
            labels: crate::collection::pairs(labels),
            replicas: BTreeSet::new(),
        })
    }

    /// Whether another asks for the same.
    fn asks_as(&self, other: &Group) -> bool {
        let plain = |one: &Group| Group {
            replicas: BTreeSet::new(),
            ..one.clone()
        };
        plain(self) == plain(other)
    }

    fn config(&self) -> ResourceGroupConfig {
        let limit = |node_num| Some(ResourceGroupLimit { node_num });
        let transfers = |names: &[String]| {
            let transfer = |name: &String| ResourceGroupTransfer {
                resource_group: name.clone(),
            };
            names.iter().map(transfer).collect()
        };
        let filter = (!self.labels.is_empty()).then(|| ResourceGroupNodeFilter {
            node_labels: crate::collection::key_values(&self.labels),
        });
        ResourceGroupConfig {
            requests: limit(self.requests),
            limits: limit(self.limits),
            transfer_from: transfers(&self.transfer_from),
            transfer_to: transfers(&self.transfer_to),
            node_filter: filter,
        }
    }
}

/// All groups, by name.
struct Groups(BTreeMap<String, Group>);

impl Groups {
    fn read(definitions: &Definitions) -> Groups {
        let usual = Group {
            limits: DEFAULT_LIMIT,
            ..Group::default()
        };
        let mut all = BTreeMap::from([(DEFAULT_GROUP.to_string(), usual)]);
        for (name, value) in definitions.of(GROUPS) {
            if let Ok(group) = Group::deserialize(value) {
                all.insert(name.to_string(), group);
            }
        }
        Groups(all)
    }

    fn group(&self, name: &str) -> Result<&Group> {
        let missing = || MilvusError::ResourceGroupNotFound(name.to_string());
        self.0.get(name).ok_or_else(missing)
    }

    /// The group that the node is in: the usual one, unless another asks for a node and that one does not.
    fn of_node(&self) -> &str {
        let asks = |name: &str| self.0.get(name).is_some_and(|group| group.requests > 0);
        let mut names = self.0.keys().map(String::as_str);
        match asks(DEFAULT_GROUP) {
            true => DEFAULT_GROUP,
            false => names.find(|name| asks(name)).unwrap_or(DEFAULT_GROUP),
        }
    }

    fn nodes_of(&self, name: &str) -> i32 {
        i32::from(self.of_node() == name)
    }

    /// The group that a collection is in.
    fn of_collection(&self, id: i64) -> &str {
        let mut all = self.0.iter();
        let found = all.find(|(_, group)| group.replicas.contains(&id));
        found.map_or(DEFAULT_GROUP, |(name, _)| name)
    }

    fn check_transfers(&self, name: &str, group: &Group) -> Result<()> {
        for (what, names) in [
            ("TransferFrom", &group.transfer_from),
            ("TransferTo", &group.transfer_to),
        ] {
            for other in names {
                let said = match other == name {
                    true => format!("resource group in `{what}` {other} should not be itself"),
                    false if !self.0.contains_key(other) => {
                        format!("resource group in `{what}` {other} not exist")
                    }
                    false => continue,
                };
                return Err(MilvusError::ResourceGroupConfig(name.to_string(), said));
            }
        }
        Ok(())
    }
}

fn put(name: &str, group: &Group) -> DefinitionChange {
    DefinitionChange::put(GROUPS, name, json!(group))
}

/// Refuses to drop a group that something is in, or that another one names; `loaded` are the numbers of collections.
fn check_droppable(
    groups: &Groups,
    (name, group): (&str, &Group),
    loaded: &BTreeSet<i64>,
) -> Result<()> {
    let refused = |said: String, expected: &str| Err(MilvusError::mismatch(said, expected, name));
    if name == DEFAULT_GROUP {
        let said = "default resource group is not deletable";
        return refused(said.to_string(), "not default resource group");
    }
    if let Some(id) = group.replicas.intersection(loaded).next() {
        return Err(MilvusError::mismatch(
            format!("some replicas still loaded in resource group[{name}], release it first"),
            "empty resource group",
            format!("resource group {name} has collection {id} loaded"),
        ));
    }
    if group.limits != 0 {
        let said = "resource group's limits node num is not 0";
        return refused(said.to_string(), "not empty resource group");
    }
    for (other, own) in &groups.0 {
        let ways = [("From", &own.transfer_from), ("To", &own.transfer_to)];
        let named = ways
            .into_iter()
            .find(|(_, all)| all.iter().any(|one| one == name));
        if let Some((way, _)) = named {
            let said = format!(
                "resource group {name} is used by {other}'s `Transfer{way}`, remove that configuration first"
            );
            return refused(said, &format!("not `Transfer{way}` of resource group"));
        }
    }
    Ok(())
}

/// Refuses what is not between two groups that are there.
fn check_two(groups: &Groups, source: &str, target: &str) -> Result<()> {
    if source == target {
        return Err(MilvusError::invalid(format!(
            "source resource group and target resource group should not be the same, resource group: {source}"
        )));
    }
    groups.group(source)?;
    groups.group(target)?;
    Ok(())
}

impl Service {
    fn groups(&self) -> Groups {
        self.engine().with_definitions(Groups::read)
    }

    /// The numbers of the collections that are loaded.
    fn loaded_numbers(&self) -> BTreeSet<i64> {
        let all = self.collections().all(&Access::everything());
        let loaded = all.iter().filter(|named| named.collection.loaded);
        loaded.map(|named| named.collection.id).collect()
    }

    async fn change_groups(
        &self,
        access: Access,
        change: impl FnOnce(&Groups) -> Result<Vec<DefinitionChange>> + Send + 'static,
    ) -> Result<proto::Status> {
        self.beside(move |service| {
            let decide = |all: &Definitions| change(&Groups::read(all));
            service.engine().change_definitions(&access, decide)?;
            Ok(())
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn create_resource_group(
        &self,
        call: Call,
        request: CreateResourceGroupRequest,
    ) -> Result<proto::Status> {
        let name = request.resource_group;
        NameOf::ResourceGroup.check(&name)?;
        let group = Group::read(&name, request.config)?;
        self.change_groups(call.access, move |groups| {
            if let Some(there) = groups.0.get(&name) {
                return match there.asks_as(&group) {
                    true => Ok(Vec::new()),
                    false => Err(MilvusError::ResourceGroupExists(name)),
                };
            }
            if groups.0.len() >= GROUPS_MAX {
                return Err(MilvusError::TooManyResourceGroups(name, GROUPS_MAX));
            }
            groups.check_transfers(&name, &group)?;
            Ok(vec![put(&name, &group)])
        })
        .await
    }

    pub(crate) async fn drop_resource_group(
        &self,
        call: Call,
        request: DropResourceGroupRequest,
    ) -> Result<proto::Status> {
        let name = request.resource_group;
        let loaded = self.loaded_numbers();
        self.change_groups(call.access, move |groups| {
            // Milvus says nothing where there is none.
            let Some(group) = groups.0.get(&name) else {
                return Ok(Vec::new());
            };
            check_droppable(groups, (&name, group), &loaded)?;
            Ok(vec![DefinitionChange::remove(GROUPS, &name)])
        })
        .await
    }

    pub(crate) async fn update_resource_groups(
        &self,
        call: Call,
        request: UpdateResourceGroupsRequest,
    ) -> Result<proto::Status> {
        let mut asked = BTreeMap::new();
        for (name, config) in request.resource_groups {
            let group = Group::read(&name, Some(config))?;
            asked.insert(name, group);
        }
        self.change_groups(call.access, move |groups| {
            let mut changes = Vec::with_capacity(asked.len());
            for (name, group) in asked {
                groups.check_transfers(&name, &group)?;
                let replicas = groups.group(&name)?.replicas.clone();
                changes.push(put(&name, &Group { replicas, ..group }));
            }
            Ok(changes)
        })
        .await
    }

    /// Lets the node go from one group to another, as older clients say it: by what the two ask for.
    pub(crate) async fn transfer_node(
        &self,
        call: Call,
        request: TransferNodeRequest,
    ) -> Result<proto::Status> {
        let (source, target) = (request.source_resource_group, request.target_resource_group);
        let number = request.num_node;
        self.change_groups(call.access, move |groups| {
            check_two(groups, &source, &target)?;
            if number <= 0 {
                return Err(MilvusError::expected(
                    "NumNode > 0",
                    format!("invalid NumNode {number}"),
                ));
            }
            let there = groups.nodes_of(&source);
            if there < number {
                return Err(MilvusError::ResourceGroupNodes {
                    group: source,
                    there,
                    wanted: number,
                });
            }
            let mut from = groups.group(&source)?.clone();
            let mut to = groups.group(&target)?.clone();
            from.requests = (from.requests - number).max(0);
            if source != DEFAULT_GROUP {
                from.limits = (from.limits - number).max(0);
            }
            to.requests += number;
            to.limits = to.limits.max(to.requests);
            if target == DEFAULT_GROUP {
                // It has what no other group asks for.
                to.requests = 0;
            }
            Ok(vec![put(&source, &from), put(&target, &to)])
        })
        .await
    }

    pub(crate) async fn transfer_replica(
        &self,
        call: Call,
        request: TransferReplicaRequest,
    ) -> Result<proto::Status> {
        let opened = self.open_named(&call, &request, Purpose::Watch)?;
        let (source, target) = (request.source_resource_group, request.target_resource_group);
        let (number, id) = (request.num_replica, opened.named.collection.id);
        let is_loaded = opened.named.collection.loaded;
        self.change_groups(call.access, move |groups| {
            check_two(groups, &source, &target)?;
            if number <= 0 {
                return Err(MilvusError::expected(
                    "NumReplica > 0",
                    format!("invalid NumReplica {number}"),
                ));
            }
            let there = i64::from(is_loaded && groups.of_collection(id) == source);
            if there < number {
                return Err(MilvusError::expected(
                    "NumReplica not greater than the number of replica in source resource group",
                    format!("only found [{there}] replicas in source resource group[{source}]"),
                ));
            }
            moved(groups, id, &target)
        })
        .await
    }

    /// Brings a collection that is loaded into the group that was asked for, if one was.
    pub(super) async fn place_replica(&self, opened: &Opened, names: Vec<String>) -> Result<()> {
        if names.len() > 1 {
            return Err(MilvusError::invalid(
                "resource group num can only be 0, 1 or same as replica number",
            ));
        }
        let id = opened.named.collection.id;
        let Some(target) = names.into_iter().next() else {
            return Ok(());
        };
        // Whoever may load a collection may say where.
        self.change_groups(Access::everything(), move |groups| {
            groups.group(&target)?;
            moved(groups, id, &target)
        })
        .await?;
        Ok(())
    }

    /// The group that a collection is in.
    pub(super) fn resource_group_of(&self, id: i64) -> String {
        self.groups().of_collection(id).to_string()
    }

    pub(crate) async fn list_resource_groups(
        &self,
        _: Call,
        _: ListResourceGroupsRequest,
    ) -> Result<ListResourceGroupsResponse> {
        Ok(ListResourceGroupsResponse {
            resource_groups: self.groups().0.into_keys().collect(),
            ..ListResourceGroupsResponse::default()
        })
    }

    pub(crate) async fn describe_resource_group(
        &self,
        _: Call,
        request: DescribeResourceGroupRequest,
    ) -> Result<DescribeResourceGroupResponse> {
        let name = request.resource_group;
        let groups = self.groups();
        let group = groups.group(&name)?;
        let nodes = groups.nodes_of(&name);
        let mut loaded = self.collections().all(&Access::everything());
        loaded.retain(|named| {
            let collection = &named.collection;
            collection.loaded && groups.of_collection(collection.id) == name
        });
        let node = |_| NodeInfo {
            node_id: NODE,
            ..NodeInfo::default()
        };
        Ok(DescribeResourceGroupResponse {
            resource_group: Some(ResourceGroup {
                capacity: match name.as_str() {
                    DEFAULT_GROUP => DEFAULT_LIMIT,
                    _ => group.requests,
                },
                num_available_node: nodes,
                num_loaded_replica: loaded.into_iter().map(|named| (named.name, 1)).collect(),
                config: Some(group.config()),
                nodes: (0..nodes).map(node).collect(),
                name,
            }),
            ..DescribeResourceGroupResponse::default()
        })
    }
}

/// The changes that bring a collection into a group.
fn moved(groups: &Groups, id: i64, target: &str) -> Result<Vec<DefinitionChange>> {
    let mut changes = Vec::new();
    for (name, group) in &groups.0 {
        let mut changed = group.clone();
        match name == target && name != DEFAULT_GROUP {
            true => changed.replicas.insert(id),
            false => changed.replicas.remove(&id),
        };
        if changed != *group {
            changes.push(put(name, &changed));
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(requests: i32) -> Group {
        Group {
            requests,
            limits: requests,
            ..Group::default()
        }
    }

    #[test]
    fn the_node_is_where_one_is_asked_for() {
        let mut groups = Groups(BTreeMap::from([
            (DEFAULT_GROUP.to_string(), Group::default()),
            ("a".to_string(), asking(0)),
        ]));
        assert_eq!(groups.of_node(), DEFAULT_GROUP);
        groups.0.insert("b".to_string(), asking(1));
        groups.0.insert("c".to_string(), asking(1));
        assert_eq!((groups.of_node(), groups.nodes_of("c")), ("b", 0));
        groups.0.insert(DEFAULT_GROUP.to_string(), asking(1));
        assert_eq!(groups.of_node(), DEFAULT_GROUP);
    }

    #[test]
    fn what_a_group_asks_for_must_make_sense() {
        let limit = |node_num| Some(ResourceGroupLimit { node_num });
        let read = |requests, limits| {
            let config = ResourceGroupConfig {
                requests,
                limits,
                ..ResourceGroupConfig::default()
            };
            Group::read("g", Some(config)).map_err(|error| error.code())
        };
        assert_eq!(read(None, limit(1)), Err(303));
        assert_eq!(read(limit(2), limit(1)), Err(303));
        assert_eq!(read(limit(-1), limit(1)), Err(303));
        assert_eq!(read(limit(1), limit(1)), Ok(asking(1)));
    }
}

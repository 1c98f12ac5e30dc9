//! What is let in to searches: collections as wholes, or some of their partitions.

use clew_engine::Purpose;

use super::indexes::not_found;
use super::{Call, NODE, Service};
use crate::collection::{Collection, Field};
use crate::collections::{Changes, Opened};
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

/// What clients are told of whether a collection can be searched.
const NOT_THERE: i32 = 0;
const NOT_LOADED: i32 = 1;
const LOADED: i32 = 3;

impl Service {
    pub(crate) async fn load_collection(
        &self,
        call: Call,
        request: LoadCollectionRequest,
    ) -> Result<proto::Status> {
        check_replicas(request.replica_number)?;
        let name = request.collection_name.clone();
        let opened = self.open(&call, (&request.db_name, &name), Purpose::Change)?;
        self.place_replica(&opened, request.resource_groups).await?;
        let place = (request.db_name, request.collection_name);
        self.set_loaded(call, place, move |collection| {
            if request.refresh && !collection.loaded {
                return Err(MilvusError::CollectionNotLoaded(name));
            }
            check_fields(collection, &request.load_fields)?;
            check_indexed(collection, &name, &request.load_fields)?;
            collection.load();
            Ok(())
        })
        .await
    }

    pub(crate) async fn release_collection(
        &self,
        call: Call,
        request: CollectionRequest,
    ) -> Result<proto::Status> {
        let place = (request.db_name, request.collection_name);
        self.set_loaded(call, place, |collection| {
            collection.release();
            Ok(())
        })
        .await
    }

    pub(crate) async fn load_partitions(
        &self,
        call: Call,
        request: LoadPartitionsRequest,
    ) -> Result<proto::Status> {
        let name = request.collection_name.clone();
        let opened = self.open(&call, (&request.db_name, &name), Purpose::Change)?;
        self.place_replica(&opened, request.resource_groups).await?;
        let place = (request.db_name, request.collection_name);
        self.set_loaded(call, place, move |collection| {
            check_by_name(collection, "load")?;
            // As in Milvus, what a search lacks is told before what is not there.
            check_indexed(collection, &name, &[])?;
            check_named(collection, ("load", &request.partition_names))?;
            check_replicas(request.replica_number).map_err(|too_few| match collection.loaded {
                true => MilvusError::mismatch(
                    "can't change the replica number for loaded partitions",
                    1,
                    request.replica_number,
                ),
                false => too_few,
            })?;
            collection.load_partitions(&request.partition_names);
            Ok(())
        })
        .await
    }

    pub(crate) async fn release_partitions(
        &self,
        call: Call,
        request: ReleasePartitionsRequest,
    ) -> Result<proto::Status> {
        let place = (request.db_name, request.collection_name);
        self.set_loaded(call, place, move |collection| {
            check_by_name(collection, "release")?;
            check_named(collection, ("release", &request.partition_names))?;
            collection.release_partitions(&request.partition_names);
            Ok(())
        })
        .await
    }

    async fn set_loaded(
        &self,
        call: Call,
        place: (String, String),
        change: impl FnOnce(&mut Collection) -> Result<()> + Send + 'static,
    ) -> Result<proto::Status> {
        self.change_collection(call, place, move |_, collection| {
            Ok((change(collection)?, Changes::default()))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn get_loading_progress(
        &self,
        call: Call,
        request: GetLoadingProgressRequest,
    ) -> Result<GetLoadingProgressResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show)?;
        let collection = &opened.named.collection;
        // A partition that there is not is told before that nothing is loaded, as in Milvus.
        collection.check_partitions(&request.partition_names)?;
        check_loaded(&opened)?;
        collection.check_loaded_partitions(&request.partition_names)?;
        // Nothing is read before it is searched, so that what is let in is all there.
        let progress = percent(true);
        Ok(GetLoadingProgressResponse {
            progress,
            refresh_progress: progress,
            ..GetLoadingProgressResponse::default()
        })
    }

    pub(crate) async fn get_load_state(
        &self,
        call: Call,
        request: GetLoadStateRequest,
    ) -> Result<GetLoadStateResponse> {
        let opened = self.open_named(&call, &request, Purpose::Show);
        let state = match opened {
            Err(MilvusError::CollectionNotFound { .. }) => NOT_THERE,
            Err(other) => return Err(other),
            Ok(opened) => {
                let collection = &opened.named.collection;
                let named = &request.partition_names;
                collection.check_partitions(named)?;
                let is_loaded =
                    collection.loaded && named.iter().all(|name| collection.has_loaded(name));
                if is_loaded { LOADED } else { NOT_LOADED }
            }
        };
        Ok(GetLoadStateResponse {
            state,
            ..GetLoadStateResponse::default()
        })
    }

    pub(crate) async fn get_replicas(
        &self,
        call: Call,
        request: GetReplicasRequest,
    ) -> Result<GetReplicasResponse> {
        let either = (request.collection_name.as_str(), request.collection_id);
        let name = self.name_of(&call, &request.db_name, either)?;
        let opened = self.open(&call, (&request.db_name, &name), Purpose::Show)?;
        let collection = &opened.named.collection;
        let only = collection.loaded.then(|| ReplicaInfo {
            replica_id: 1,
            collection_id: collection.id,
            partition_ids: collection.loaded_partitions().map(|(_, id)| id).collect(),
            node_ids: vec![NODE],
            resource_group_name: self.resource_group_of(collection.id),
            ..ReplicaInfo::default()
        });
        Ok(GetReplicasResponse {
            replicas: only.into_iter().collect(),
            ..GetReplicasResponse::default()
        })
    }
}

/// Refuses more copies of what is loaded than the one that the one node has. No number is one.
fn check_replicas(number: i32) -> Result<()> {
    match number {
        ..=1 => Ok(()),
        more => Err(MilvusError::TooFewNodes(more)),
    }
}

/// Refuses collections that are not let in to searches.
fn check_loaded(opened: &Opened) -> Result<()> {
    match opened.named.collection.loaded {
        true => Ok(()),
        false => Err(MilvusError::CollectionNotLoaded(opened.named.name.clone())),
    }
}

/// Refuses to read rows of collections that are not let in to searches; `what` is how.
pub(super) fn check_loaded_to(what: &'static str, opened: &Opened) -> Result<()> {
    match opened.named.collection.loaded {
        true => Ok(()),
        false => Err(MilvusError::NotLoadedTo(what, opened.named.name.clone())),
    }
}

/// Refuses to let in, or not, partitions that keys are spread over one by one: they are let in together.
fn check_by_name(collection: &Collection, what: &str) -> Result<()> {
    match collection.has_partition_key() {
        false => Ok(()),
        true => Err(MilvusError::invalid(format!(
            "disable {what} partitions if partition key mode is used"
        ))),
    }
}

/// Refuses no partitions, and those that are not there.
fn check_named(collection: &Collection, (what, names): (&str, &[String])) -> Result<()> {
    if names.is_empty() {
        return Err(match what {
            "load" => {
                MilvusError::invalid("failed to load partition, due to no partition specified")
            }
            _ => MilvusError::expected("any partition", "empty partition list"),
        });
    }
    collection.check_partitions(names)
}

/// Whether a field is among those to be let in: all of them where none is named.
fn is_meant(collection: &Collection, field: &Field, names: &[String]) -> bool {
    let has = |name: &String| names.contains(name);
    names.is_empty()
        || has(&field.name)
        || collection
            .struct_of(field)
            .is_some_and(|around| has(&around.name))
}

/// Refuses to let in fields alone that are not there, or without those that a search needs. All can be searched afterwards,
/// whichever were named: nothing is read into memory for it.
fn check_fields(collection: &Collection, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let is_there =
        |name: &String| collection.field(name).is_ok() || collection.struct_field(name).is_some();
    if let Some(name) = names.iter().find(|name| !is_there(name)) {
        return Err(MilvusError::invalid(format!(
            "failed to get field schema by name: fieldName({name}) not found"
        )));
    }
    let without = |is_kind: fn(&Field) -> bool| {
        let mut fields = collection.fields.iter();
        fields.find(|field| is_kind(field) && !names.contains(&field.name))
    };
    let mut vectors = collection.vectors();
    let lacking = if let Some(field) = without(|field| field.is_primary) {
        format!("primary key field {}", field.name)
    } else if !vectors.any(|field| is_meant(collection, field, names)) {
        "vector field".to_string()
    } else if let Some(field) = without(|field| field.is_partition_key) {
        format!("partition key field {}", field.name)
    } else if let Some(field) = without(|field| field.is_clustering_key) {
        format!("clustering key field {}", field.name)
    } else {
        return Ok(());
    };
    Err(MilvusError::invalid(format!(
        "load field list [{}] does not contain {lacking}",
        names.join(" ")
    )))
}

/// Refuses to let in vectors that nobody asked an index for.
fn check_indexed(collection: &Collection, name: &str, fields: &[String]) -> Result<()> {
    let bare = collection.vectors().filter(|field| {
        is_meant(collection, field, fields) && collection.index_of(&field.name).is_none()
    });
    let bare: Vec<&str> = bare.map(|field| field.name.as_str()).collect();
    if bare.is_empty() {
        return Ok(());
    }
    if collection.indexes.is_empty() {
        return Err(not_found(name, ""));
    }
    Err(MilvusError::invalid(format!(
        "there is no vector index on field: [{}], please create index firstly",
        bare.join(" ")
    )))
}

/// How much of something can be searched.
pub(super) fn percent(loaded: bool) -> i64 {
    if loaded { 100 } else { 0 }
}

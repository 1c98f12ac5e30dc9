//! Collections: made, described, changed and dropped.

use clew_engine::{AliasAction, EngineError, Index, IndexSettings, Purpose};
use clew_schema::Mapping;
use prost::Message;

use super::aliases::name_taken;
use super::loading::percent;
use super::{Call, Service};
use crate::collection::{
    Collection, NameOf, Named, TERM_BYTES_MAX, TTL_FIELD, WRITTEN, analysis, check_altered,
    check_properties, makes_dynamic, mapping_spec, pairs, written_part,
};
use crate::collections::{Changes, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::instant::{ZONE, zone_of};
use crate::proto::{self, *};
use crate::timestamp;

/// Most shards of a collection.
const SHARDS_MAX: i32 = 16;

impl Service {
    pub(crate) async fn create_collection(
        &self,
        call: Call,
        mut request: CreateCollectionRequest,
    ) -> Result<proto::Status> {
        NameOf::Collection.check(&request.collection_name)?;
        let schema = CollectionSchema::decode(request.schema.clone())
            .map_err(|error| MilvusError::invalid(format!("the schema cannot be read: {error}")))?;
        if request.shards_num > SHARDS_MAX {
            return Err(MilvusError::invalid(format!(
                "maximum shards's number should be limited to {SHARDS_MAX}"
            )));
        }
        let mut said = request.properties.iter().chain(&schema.properties);
        if !said.any(|pair| pair.key == ZONE)
            && let Some(value) = self.zone_of_database(call.database(&request.db_name))
        {
            let key = ZONE.to_string();
            request.properties.push(KeyValuePair { key, value });
        }
        let mut collection = Collection::read(schema, &request)?;
        collection.id = self.new_id();
        collection.updated_ms = self.engine().clock().epoch_ms();
        self.beside(move |service| service.make_collection(&call, &request, &collection))
            .await?;
        Ok(proto::Status::default())
    }

    fn make_collection(
        &self,
        call: &Call,
        request: &CreateCollectionRequest,
        collection: &Collection,
    ) -> Result<()> {
        let database = call.database(&request.db_name);
        let name = request.collection_name.as_str();
        let _placing = self.collections().place_into(database)?;
        if self.open(call, (database, name), Purpose::Show).is_err() {
            self.check_collections(database)?;
        }
        let mut mapping = Mapping::new();
        mapping.set_analysis(analysis(collection)?);
        mapping
            .merge(mapping_spec(collection)?)
            .map_err(EngineError::from)?;
        let settings = IndexSettings {
            shards: u32::try_from(collection.shards).unwrap_or(1),
            max_result_window: WINDOW_MAX,
            id_bytes_max: TERM_BYTES_MAX,
            ..IndexSettings::default()
        };
        let made = self
            .collections()
            .create((database, name), &call.access, (settings, mapping));
        let Err(refused) = made else { return Ok(()) };
        // Making what is there already is no error.
        let opened = self.open(call, (database, name), Purpose::Show);
        match opened {
            Ok(there) if there.named.name != name => {
                let what = format!(
                    "collection name [{name}] conflicts with an existing alias, please choose a unique name"
                );
                Err(name_taken(Some(what), database, name))
            }
            Ok(there) if there.named.collection.is_same(collection) => Ok(()),
            Ok(_) => Err(MilvusError::invalid(format!(
                "create duplicate collection with different parameters, collection: {name}"
            ))),
            Err(_) => Err(refused),
        }
    }

    pub(crate) async fn drop_collection(
        &self,
        call: Call,
        request: CollectionRequest,
    ) -> Result<proto::Status> {
        self.beside(move |service| {
            let name = request.collection_name.as_str();
            let opened = match service.open(&call, (&request.db_name, name), Purpose::Change) {
                // Milvus says nothing where there is none.
                Err(MilvusError::CollectionNotFound { .. }) => return Ok(()),
                opened => opened?,
            };
            if opened.named.name != name {
                return Err(MilvusError::invalid(format!(
                    "cannot drop the collection via alias = {name}"
                )));
            }
            let engine = service.engine();
            engine.change_aliases_by(&call.access, |names| -> Result<_> {
                let index = names.of(&opened.handle)?;
                let aliases = opened.handle.aliases();
                if !aliases.is_empty() {
                    let aliases: Vec<&str> = aliases.keys().map(String::as_str).collect();
                    return Err(MilvusError::invalid(format!(
                        "unable to drop the collection [{name}] because it has associated aliases [{}], please remove all aliases before dropping the collection",
                        aliases.join(" ")
                    )));
                }
                Ok(vec![AliasAction::RemoveIndex { index }])
            })?;
            Ok(())
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn has_collection(
        &self,
        call: Call,
        request: CollectionRequest,
    ) -> Result<BoolResponse> {
        let found = self.open_named(&call, &request, Purpose::Show);
        let value = match found {
            Ok(_) => true,
            Err(MilvusError::CollectionNotFound { .. }) => false,
            Err(other) => return Err(other),
        };
        Ok(BoolResponse {
            value,
            ..BoolResponse::default()
        })
    }

    pub(crate) async fn describe_collection(
        &self,
        call: Call,
        request: DescribeCollectionRequest,
    ) -> Result<DescribeCollectionResponse> {
        let either = (request.collection_name.as_str(), request.collection_id);
        let name = self.name_of(&call, &request.db_name, either)?;
        let opened = self.open(&call, (&request.db_name, &name), Purpose::Show);
        match opened {
            Ok(opened) => Ok(described(&opened.named)),
            Err(MilvusError::CollectionNotFound {
                database,
                collection,
            }) => Err(MilvusError::CannotFindCollection {
                database,
                collection,
            }),
            Err(other) => Err(other),
        }
    }

    pub(crate) async fn batch_describe_collection(
        &self,
        call: Call,
        request: BatchDescribeCollectionRequest,
    ) -> Result<BatchDescribeCollectionResponse> {
        if request.collection_name.is_empty() && request.collection_id.is_empty() {
            return Err(MilvusError::missing("collection names cannot be empty"));
        }
        let database = &request.db_name;
        let by_name = request
            .collection_name
            .iter()
            .map(|name| (name.as_str(), 0));
        let by_number = request.collection_id.iter().map(|id| ("", *id));
        let told = by_name.chain(by_number).map(|either| {
            let name = self.name_of(&call, database, either)?;
            let opened = self.open(&call, (database, &name), Purpose::Show)?;
            Ok(described(&opened.named))
        });
        let mut responses = told.collect::<Result<Vec<_>>>()?;
        for one in &mut responses {
            one.status = Some(proto::Status::default());
        }
        Ok(BatchDescribeCollectionResponse {
            responses,
            ..BatchDescribeCollectionResponse::default()
        })
    }

    /// The name of a collection that is meant by its name or its number.
    pub(super) fn name_of(
        &self,
        call: &Call,
        database: &str,
        (name, id): (&str, i64),
    ) -> Result<String> {
        if !name.is_empty() || id == 0 {
            return Ok(name.to_string());
        }
        let database = call.database(database);
        let all = self.collections().list(database, &call.access)?;
        let found = all.into_iter().find(|named| named.collection.id == id);
        let found = found.ok_or_else(|| MilvusError::CollectionNotFound {
            database: database.to_string(),
            collection: id.to_string(),
        })?;
        Ok(found.name)
    }

    pub(crate) async fn show_collections(
        &self,
        call: Call,
        request: ShowCollectionsRequest,
    ) -> Result<ShowCollectionsResponse> {
        const IN_MEMORY: i32 = 1;
        let database = call.database(&request.db_name);
        let mut all = self.collections().list(database, &call.access)?;
        if request.r#type == IN_MEMORY {
            all.retain(|named| named.collection.loaded);
        }
        if !request.collection_names.is_empty() {
            all.retain(|named| request.collection_names.contains(&named.name));
        }
        let created = |named: &Named| timestamp::of_millis(named.index.created_ms());
        Ok(ShowCollectionsResponse {
            collection_ids: all.iter().map(|named| named.collection.id).collect(),
            created_timestamps: all.iter().map(created).collect(),
            created_utc_timestamps: all.iter().map(|named| named.index.created_ms()).collect(),
            in_memory_percentages: all
                .iter()
                .map(|named| percent(named.collection.loaded))
                .collect(),
            query_service_available: all.iter().map(|named| named.collection.loaded).collect(),
            shards_num: all.iter().map(|named| named.collection.shards).collect(),
            collection_names: all.into_iter().map(|named| named.name).collect(),
            ..ShowCollectionsResponse::default()
        })
    }

    /// Changes what is kept of a collection.
    pub(super) async fn change_collection<T: Send + 'static>(
        &self,
        call: Call,
        (database, name): (String, String),
        change: impl FnOnce(&Service, &mut Collection) -> Result<(T, Changes)> + Send + 'static,
    ) -> Result<T> {
        self.beside(move |service| {
            let place = (call.database(&database), name.as_str());
            service
                .collections()
                .change(place, &call.access, |collection, _| {
                    change(service, collection)
                })
        })
        .await
    }

    pub(crate) async fn alter_collection(
        &self,
        call: Call,
        request: AlterCollectionRequest,
    ) -> Result<proto::Status> {
        check_may_be(call.database(&request.db_name), &request.collection_name)?;
        if request.delete_keys.iter().any(|key| key == TTL_FIELD) {
            // What has gone does not come back.
            let opened = self.open_named(&call, &request, Purpose::Read)?;
            self.see_all_writes(&opened).await?;
            self.expire_rows(&call, &opened.named).await?;
        }
        if makes_dynamic(&request.properties) {
            let place = (request.db_name.as_str(), request.collection_name.as_str());
            self.forget_dynamic(&call, place).await?;
        }
        self.beside(move |service| {
            let place = (
                call.database(&request.db_name),
                request.collection_name.as_str(),
            );
            if !request.properties.is_empty() && !request.delete_keys.is_empty() {
                return Err(both_ways());
            }
            let given = pairs(request.properties);
            check_altered(&given, &request.delete_keys)?;
            check_properties(&given)?;
            let change = |collection: &mut Collection, index: &Index| {
                let before = collection.clone();
                collection.check_held(place.1, "alter", given.keys())?;
                collection.check_held(place.1, "delete", &request.delete_keys)?;
                collection.check_other_ends(&given)?;
                collection.properties.extend(given);
                for key in &request.delete_keys {
                    collection.properties.remove(key);
                }
                collection.settle_said();
                collection.check_ends()?;
                if !before.takes_keys() {
                    collection.check_takes_keys()?;
                }
                zone_of(&collection.properties)?;
                collection.check_isolation_changes(place.1, &before)?;
                let mut changes = Changes::default();
                if let Some(part) = collection.settle_dynamic()?
                    && index.mapping().field(&part.path).is_none()
                {
                    changes.spec = changes.spec.with(part);
                }
                if collection.ttl().is_some() && index.mapping().field(WRITTEN).is_none() {
                    changes.spec = changes.spec.with(written_part());
                }
                Ok(((), changes))
            };
            service.collections().change(place, &call.access, change)
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn alter_collection_field(
        &self,
        call: Call,
        request: AlterCollectionFieldRequest,
    ) -> Result<proto::Status> {
        let place = (request.db_name, request.collection_name);
        let name = request.field_name;
        let collection_name = place.1.clone();
        self.change_collection(call, place, move |_, collection| {
            let given = pairs(request.properties);
            let place = (collection_name.as_str(), name.as_str());
            collection.alter_field(place, given, &request.delete_keys)?;
            Ok(((), Changes::default()))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn get_collection_statistics(
        &self,
        call: Call,
        request: CollectionRequest,
    ) -> Result<StatisticsResponse> {
        let opened = self.open_named(&call, &request, Purpose::Read)?;
        let count = self.row_count(&opened).await?;
        Ok(row_count(count))
    }
}

/// Refuses what no collection can be called as Milvus does where one that is there changes: as none that is there.
pub(super) fn check_may_be(database: &str, name: &str) -> Result<()> {
    match NameOf::Collection.is_allowed(name) {
        true => Ok(()),
        false => Err(MilvusError::CollectionNotFound {
            database: database.to_string(),
            collection: name.to_string(),
        }),
    }
}

/// What is said of a change that both sets and drops properties.
pub(super) fn both_ways() -> MilvusError {
    MilvusError::invalid("cannot provide both DeleteKeys and ExtraParams")
}

pub(super) fn row_count(count: u64) -> StatisticsResponse {
    StatisticsResponse {
        stats: vec![KeyValuePair {
            key: "row_count".to_string(),
            value: count.to_string(),
        }],
        ..StatisticsResponse::default()
    }
}

fn described(named: &Named) -> DescribeCollectionResponse {
    let collection = &named.collection;
    let prefix = crate::index_name::index_name(&named.database, "");
    let aliases = named.index.aliases();
    let aliases = aliases
        .keys()
        .filter_map(|alias| alias.strip_prefix(&prefix));
    let updated = timestamp::of_millis(collection.updated_ms);
    let channels: Vec<String> = (0..collection.shards)
        .map(|shard| format!("clew-dml_{shard}_{}v{shard}", collection.id))
        .collect();
    DescribeCollectionResponse {
        schema: Some(collection.described(&named.name)),
        collection_id: collection.id,
        physical_channel_names: channels.clone(),
        virtual_channel_names: channels,
        created_timestamp: timestamp::of_millis(named.index.created_ms()),
        created_utc_timestamp: named.index.created_ms(),
        shards_num: collection.shards,
        aliases: aliases.map(String::from).collect(),
        consistency_level: collection.consistency_level,
        collection_name: named.name.clone(),
        properties: collection.told_properties(),
        db_name: named.database.clone(),
        num_partitions: i64::try_from(collection.partitions.len()).unwrap_or(1),
        update_timestamp: updated,
        update_timestamp_str: updated.to_string(),
        ..DescribeCollectionResponse::default()
    }
}

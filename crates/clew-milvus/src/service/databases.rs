//! Databases: names that collections stand under.

use std::collections::BTreeMap;

use clew_engine::{Access, DefinitionChange, Definitions};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Call, Service};
use crate::collection::{NameOf, key_values, pairs};
use crate::collections::DATABASES;
use crate::error::{MilvusError, Result};
use crate::index_name::DEFAULT_DATABASE;
use crate::instant::{ZONE, zone_of};
use crate::proto::{self, *};
use crate::timestamp;

/// Most databases of a node.
const DATABASES_MAX: usize = 64;

/// What is kept of a database.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Database {
    id: i64,
    created_ms: u64,
    #[serde(default)]
    properties: BTreeMap<String, String>,
}

impl Service {
    pub(crate) async fn create_database(
        &self,
        call: Call,
        request: CreateDatabaseRequest,
    ) -> Result<proto::Status> {
        let name = request.db_name;
        NameOf::Database.check(&name)?;
        let database = Database {
            id: self.new_id(),
            created_ms: self.engine().clock().epoch_ms(),
            properties: pairs(request.properties),
        };
        zone_of(&database.properties)?;
        self.beside(move |service| {
            service.change_databases(&call, move |all| {
                if name == DEFAULT_DATABASE || all.get(DATABASES, &name).is_some() {
                    return Err(MilvusError::invalid(format!(
                        "database already exist: {name}"
                    )));
                }
                if all.of(DATABASES).count() >= DATABASES_MAX {
                    let reason =
                        format!("database number ({DATABASES_MAX}) exceeds max configuration");
                    return Err(MilvusError::Invalid(reason));
                }
                Ok(DefinitionChange::put(DATABASES, &name, json!(database)))
            })
        })
        .await?;
        Ok(proto::Status::default())
    }

    fn change_databases(
        &self,
        call: &Call,
        change: impl FnOnce(&Definitions) -> Result<DefinitionChange>,
    ) -> Result<()> {
        self.engine()
            .change_definitions(&call.access, |all| Ok::<_, MilvusError>(vec![change(all)?]))?;
        self.denials().forget();
        Ok(())
    }

    /// The properties of the databases that were said any, by name.
    pub(super) fn properties_of_databases(&self) -> Vec<(String, BTreeMap<String, String>)> {
        self.engine().with_definitions(|definitions| {
            let read = definitions.of(DATABASES).filter_map(|(name, value)| {
                let database = Database::deserialize(value).ok()?;
                Some((name.to_string(), database.properties))
            });
            read.collect()
        })
    }

    pub(crate) async fn drop_database(
        &self,
        call: Call,
        request: DropDatabaseRequest,
    ) -> Result<proto::Status> {
        let name = request.db_name;
        NameOf::Database.check(&name)?;
        if name == DEFAULT_DATABASE {
            return Err(MilvusError::invalid("can not drop default database"));
        }
        self.beside(move |service| {
            let _kept = service.collections().keep_places();
            // Milvus says nothing where there is none.
            if service.collections().check_database(&name).is_err() {
                return Ok(());
            }
            let collections = service.collections().list(&name, &call.access)?;
            if let Some(one) = collections.first() {
                return Err(MilvusError::invalid(format!(
                    "database:{name} not empty, must drop all collections before drop database; it has {}",
                    one.name
                )));
            }
            service.change_databases(&call, |_| Ok(DefinitionChange::remove(DATABASES, &name)))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn list_databases(
        &self,
        call: Call,
        _: ListDatabasesRequest,
    ) -> Result<ListDatabasesResponse> {
        let mut all = vec![(
            DEFAULT_DATABASE.to_string(),
            self.database(DEFAULT_DATABASE)?,
        )];
        all.extend(self.engine().with_definitions(|definitions| {
            let databases = definitions
                .of(DATABASES)
                .filter(|(name, _)| *name != DEFAULT_DATABASE);
            let read = databases.filter_map(|(name, value)| {
                Some((name.to_string(), Database::deserialize(value).ok()?))
            });
            read.collect::<Vec<_>>()
        }));
        all.retain(|(name, _)| call.sees_database(name));
        let created =
            |(_, database): &(String, Database)| timestamp::of_millis(database.created_ms);
        Ok(ListDatabasesResponse {
            created_timestamp: all.iter().map(created).collect(),
            db_ids: all.iter().map(|(_, database)| database.id).collect(),
            db_names: all.into_iter().map(|(name, _)| name).collect(),
            ..ListDatabasesResponse::default()
        })
    }

    pub(crate) async fn describe_database(
        &self,
        call: Call,
        request: DescribeDatabaseRequest,
    ) -> Result<DescribeDatabaseResponse> {
        let name = call.database(&request.db_name);
        let database = self.database(name)?;
        Ok(DescribeDatabaseResponse {
            db_name: name.to_string(),
            db_id: database.id,
            created_timestamp: timestamp::of_millis(database.created_ms),
            properties: key_values(&database.properties),
            ..DescribeDatabaseResponse::default()
        })
    }

    pub(crate) async fn alter_database(
        &self,
        call: Call,
        request: AlterDatabaseRequest,
    ) -> Result<proto::Status> {
        let name = call.database(&request.db_name).to_string();
        if request.properties.is_empty() && request.delete_keys.is_empty() {
            return Err(MilvusError::invalid(
                "alter database with empty properties and delete keys, expected to set either properties or delete keys",
            ));
        }
        self.beside(move |service| {
            service.change_databases(&call, |all| {
                let mut database = database_of(all, &name)?;
                database.properties.extend(pairs(request.properties));
                for key in &request.delete_keys {
                    database.properties.remove(key);
                }
                zone_of(&database.properties)?;
                Ok(DefinitionChange::put(DATABASES, &name, json!(database)))
            })
        })
        .await?;
        Ok(proto::Status::default())
    }

    /// Refuses one more collection of a database that has as many as it may have.
    pub(super) fn check_collections(&self, name: &str) -> Result<()> {
        const LIMIT: &str = "database.max.collections";
        let kept = self.database(name)?;
        let limit = kept.properties.get(LIMIT);
        // What is no number, or less than none, is no limit.
        let Some(limit) = limit.and_then(|given| given.parse::<usize>().ok()) else {
            return Ok(());
        };
        let there = self.collections().list(name, &Access::everything())?.len();
        if there < limit {
            return Ok(());
        }
        Err(MilvusError::TooManyCollections {
            database: name.to_string(),
            limit,
        })
    }

    /// The time zone of collections that are made in a database and say none, where it has one.
    pub(super) fn zone_of_database(&self, name: &str) -> Option<String> {
        let mut kept = self.database(name).ok()?;
        kept.properties.remove(ZONE).filter(|zone| !zone.is_empty())
    }

    fn database(&self, name: &str) -> Result<Database> {
        self.engine().with_definitions(|all| database_of(all, name))
    }
}

/// What is kept of a database.
fn database_of(all: &Definitions, name: &str) -> Result<Database> {
    let kept = all.get(DATABASES, name);
    let read = kept.and_then(|value| Database::deserialize(value).ok());
    match read {
        Some(database) => Ok(database),
        None if name == DEFAULT_DATABASE => Ok(default_database()),
        None => Err(MilvusError::DatabaseNotFound(name.to_string())),
    }
}

fn default_database() -> Database {
    Database {
        id: 1,
        ..Database::default()
    }
}

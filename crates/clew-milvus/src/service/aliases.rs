//! Aliases: other names of collections.

use clew_engine::{Alias, AliasAction, Purpose};

use super::{Call, Service};
use crate::collection::NameOf;
use crate::error::{MilvusError, Result};
use crate::index_name::index_name;
use crate::proto::{self, *};

/// Whether an alias may already mean another collection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Moved,
    AnError,
}

/// What is said where a collection and an alias would have the same name, behind what is said of the call itself.
pub(super) fn name_taken(what: Option<String>, database: &str, alias: &str) -> MilvusError {
    let before = what.map(|what| format!("{what}: ")).unwrap_or_default();
    MilvusError::AliasCollectionConflict(format!(
        "{before}alias and collection name conflict[database={database}][alias={alias}]"
    ))
}

fn alias_not_found(database: &str, alias: &str) -> MilvusError {
    MilvusError::AliasNotFound {
        database: database.to_string(),
        alias: alias.to_string(),
    }
}

impl Service {
    pub(crate) async fn create_alias(
        &self,
        call: Call,
        request: CreateAliasRequest,
    ) -> Result<proto::Status> {
        self.put_alias(call, request, Taken::AnError).await
    }

    pub(crate) async fn alter_alias(
        &self,
        call: Call,
        request: CreateAliasRequest,
    ) -> Result<proto::Status> {
        let database = call.database(&request.db_name);
        NameOf::Alias.check(&request.alias)?;
        let name = request.collection_name.as_str();
        self.open(&call, (database, name), Purpose::Show)
            .map_err(|error| match error {
                MilvusError::CollectionNotFound { .. } => {
                    MilvusError::NoCollection(name.to_string())
                }
                other => other,
            })?;
        self.check_no_collection(&call, database, &request.alias)?;
        self.index_of_alias(database, &request.alias)?;
        self.put_alias(call, request, Taken::Moved).await
    }

    async fn put_alias(
        &self,
        call: Call,
        request: CreateAliasRequest,
        taken: Taken,
    ) -> Result<proto::Status> {
        NameOf::Alias.check(&request.alias)?;
        self.beside(move |service| {
            let database = call.database(&request.db_name).to_string();
            let name = request.collection_name.as_str();
            let opened = service.open(&call, (&database, name), Purpose::Change)?;
            let alias = index_name(&database, &request.alias);
            service.check_no_collection(&call, &database, &request.alias)?;
            let engine = service.engine();
            engine.change_aliases_by(&call.access, |names| -> Result<_> {
                let index = names.of(&opened.handle)?;
                let holders = names.of_alias(&alias);
                if holders.iter().any(|holder| holder.name() == index) {
                    return Ok(Vec::new());
                }
                match (taken, holders.first()) {
                    (Taken::AnError, Some(other)) => {
                        return Err(MilvusError::AliasExists {
                            database: database.clone(),
                            alias: request.alias.clone(),
                            collection: other.name().to_string(),
                        });
                    }
                    // It was dropped since it was looked for.
                    (Taken::Moved, None) => return Err(alias_not_found(&database, &request.alias)),
                    (Taken::AnError, None) | (Taken::Moved, Some(_)) => {}
                }
                let removed = holders.iter().map(|other| AliasAction::Remove {
                    index: other.name().to_string(),
                    name: alias.clone(),
                });
                let mut actions: Vec<AliasAction> = removed.collect();
                actions.push(AliasAction::Add {
                    index,
                    name: alias.clone(),
                    alias: Alias::default(),
                });
                Ok(actions)
            })?;
            Ok(())
        })
        .await?;
        Ok(proto::Status::default())
    }

    /// Refuses aliases that are the name of a collection.
    fn check_no_collection(&self, call: &Call, database: &str, alias: &str) -> Result<()> {
        let name = index_name(database, alias);
        let opened = self
            .engine()
            .open_exactly(&name, &call.access, Purpose::Show);
        match opened {
            Ok(_) => Err(name_taken(None, database, alias)),
            Err(_) => Ok(()),
        }
    }

    pub(crate) async fn drop_alias(
        &self,
        call: Call,
        request: DropAliasRequest,
    ) -> Result<proto::Status> {
        NameOf::Alias.check(&request.alias)?;
        self.beside(move |service| {
            let alias = index_name(call.database(&request.db_name), &request.alias);
            // Milvus says nothing where there is none.
            let engine = service.engine();
            engine.change_aliases_by(&call.access, |names| -> Result<_> {
                let first = names.of_alias(&alias).first();
                let removed = first.map(|index| AliasAction::Remove {
                    index: index.name().to_string(),
                    name: alias.clone(),
                });
                Ok(removed.into_iter().collect())
            })?;
            Ok(())
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn describe_alias(
        &self,
        call: Call,
        request: DescribeAliasRequest,
    ) -> Result<DescribeAliasResponse> {
        let database = call.database(&request.db_name);
        let index = self.index_of_alias(database, &request.alias)?;
        let prefix = index_name(database, "");
        Ok(DescribeAliasResponse {
            db_name: database.to_string(),
            collection: index.strip_prefix(&prefix).unwrap_or(&index).to_string(),
            alias: request.alias,
            ..DescribeAliasResponse::default()
        })
    }

    pub(crate) async fn list_aliases(
        &self,
        call: Call,
        request: ListAliasesRequest,
    ) -> Result<ListAliasesResponse> {
        let database = call.database(&request.db_name);
        let only = match request.collection_name.as_str() {
            "" => None,
            name => {
                let opened = self.open(&call, (database, name), Purpose::Show)?;
                Some(opened.handle.name().to_string())
            }
        };
        self.collections().check_database(database)?;
        let prefix = index_name(database, "");
        let all = self.engine().aliases();
        let mut aliases = Vec::new();
        for (alias, indices) in &all {
            let own = alias.strip_prefix(&prefix);
            let own = own.filter(|alias| NameOf::Alias.is_allowed(alias));
            let is_meant = |index: &str| match &only {
                Some(only) => only == index,
                None => call.access.allows(index, Purpose::Show),
            };
            if let Some(alias) = own
                && indices.iter().any(|index| is_meant(index.name()))
            {
                aliases.push(alias.to_string());
            }
        }
        Ok(ListAliasesResponse {
            db_name: database.to_string(),
            collection_name: request.collection_name,
            aliases,
            ..ListAliasesResponse::default()
        })
    }

    /// The name of the index that an alias means.
    fn index_of_alias(&self, database: &str, alias: &str) -> Result<String> {
        let aliases = self.engine().aliases();
        let indices = aliases.get(&index_name(database, alias));
        let first = indices.and_then(|indices| indices.first());
        let missing = || alias_not_found(database, alias);
        Ok(first.ok_or_else(missing)?.name().to_string())
    }
}

//! Another name for a collection, in its database or in another one.

use clew_engine::{EngineError, Purpose};

use super::aliases::name_taken;
use super::collections::check_may_be;
use super::{Call, Service};
use crate::collection::NameOf;
use crate::error::{MilvusError, Result};
use crate::index_name::index_name;
use crate::proto::{self, *};

impl Service {
    pub(crate) async fn rename_collection(
        &self,
        call: Call,
        request: RenameCollectionRequest,
    ) -> Result<proto::Status> {
        NameOf::Collection.check(&request.new_name)?;
        self.beside(move |service| service.rename(&call, &request))
            .await?;
        Ok(proto::Status::default())
    }

    fn rename(&self, call: &Call, request: &RenameCollectionRequest) -> Result<()> {
        let (old, new) = (request.old_name.as_str(), request.new_name.as_str());
        let database = call.database(&request.db_name);
        let to = match request.new_db_name.as_str() {
            "" => database,
            other => other,
        };
        let _placing = self.collections().place_into(to)?;
        if old.is_empty() {
            return Err(MilvusError::invalid(
                "old collection name should not be empty",
            ));
        }
        if (database, old) == (to, new) {
            return Err(MilvusError::invalid(
                "collection name or database name should be different",
            ));
        }
        check_may_be(database, old)?;
        let opened = self.open(call, (database, old), Purpose::Change)?;
        if opened.named.name != old {
            return Err(MilvusError::invalid(format!(
                "unsupported use an alias to rename collection, alias:{old}"
            )));
        }
        let index = index_name(to, new);
        if self.engine().is_alias(&index) {
            let what = format!("cannot rename collection to an existing alias: {new}");
            return Err(name_taken(Some(what), to, new));
        }
        let names = (opened.handle.name(), index.as_str());
        let renamed = self.engine().rename_index_if(&call.access, names, |index| {
            index.check_is(opened.handle.uuid())?;
            // Aliases are names of the database that they were made in.
            if to == database || index.aliases().is_empty() {
                return Ok(());
            }
            let reason =
                "fail to rename db name, must drop all aliases of this collection before rename";
            Err(EngineError::AliasConflict {
                reason: reason.to_string(),
            })
        });
        match renamed {
            Ok(_) => Ok(()),
            Err(EngineError::AliasConflict { reason }) => Err(MilvusError::Invalid(reason)),
            Err(EngineError::IndexExists { .. }) => Err(MilvusError::invalid(format!(
                "duplicated new collection name {to}:{new} with other collection name or alias"
            ))),
            Err(other) => Err(other.into()),
        }
    }
}

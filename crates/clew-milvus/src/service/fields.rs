//! Fields that are added to a collection.

use clew_schema::{FieldSpec, MappingSpec};
use prost::Message;

use super::{Call, Service};
use crate::collection::{Field, check_late, field_parts, long_part};
use crate::error::{MilvusError, Result};
use crate::proto::{self, *};

impl Service {
    pub(crate) async fn add_collection_field(
        &self,
        call: Call,
        request: AddCollectionFieldRequest,
    ) -> Result<proto::Status> {
        let schema = FieldSchema::decode(request.schema)
            .map_err(|error| MilvusError::invalid(format!("the schema cannot be read: {error}")))?;
        check_late(&schema)?;
        let field = Field::read(schema)?;
        if !field.nullable && field.default.is_none() {
            return Err(MilvusError::invalid(format!(
                "added field must be nullable, please check it, field name = {}",
                field.name
            )));
        }
        let place = (request.db_name, request.collection_name);
        self.change_collection(call, place, move |_, collection| {
            let mut parts: Vec<FieldSpec> = field_parts(&field)?;
            if field.may_be_long() {
                parts.push(long_part());
            }
            collection.add_field(field)?;
            let spec = parts
                .into_iter()
                .fold(MappingSpec::default(), MappingSpec::with);
            Ok(((), spec.into()))
        })
        .await?;
        Ok(proto::Status::default())
    }

    pub(crate) async fn add_collection_struct_field(
        &self,
        call: Call,
        request: AddCollectionStructFieldRequest,
    ) -> Result<proto::Status> {
        let field = request
            .struct_array_field_schema
            .ok_or_else(|| MilvusError::invalid("the schema of the struct field is missing"))?;
        let place = (request.db_name, request.collection_name);
        self.change_collection(call, place, move |_, collection| {
            let spec = collection.add_struct(field)?;
            Ok(((), spec.into()))
        })
        .await?;
        Ok(proto::Status::default())
    }
}

//! Fields that are added to a collection, with or without a function that fills them, and those that are dropped.

use clew_schema::{FieldSpec, MappingSpec};
use prost::Message;

use super::indexes::add_index;
use super::{Call, Service};
use crate::collection::{Field, KeptIndex, check_late, field_parts, long_part, pairs};
use crate::collections::Changes;
use crate::error::{MilvusError, Result};
use crate::proto::alter_collection_schema_request::{AddRequest, DropRequest};
use crate::proto::{self, *};

impl Service {
    pub(crate) async fn add_collection_field(
        &self,
        call: Call,
        request: AddCollectionFieldRequest,
    ) -> Result<proto::Status> {
        let schema = FieldSchema::decode(request.schema)
            .map_err(|error| MilvusError::invalid(format!("the schema cannot be read: {error}")))?;
        let place = (request.db_name, request.collection_name);
        self.add_field(call, place, schema).await?;
        Ok(proto::Status::default())
    }

    async fn add_field(
        &self,
        call: Call,
        place: (String, String),
        schema: FieldSchema,
    ) -> Result<()> {
        check_late(&schema)?;
        let field = Field::read(schema).map_err(|error| error.of_collection(&place.1))?;
        if !field.nullable && field.default.is_none() {
            return Err(MilvusError::invalid(format!(
                "added field must be nullable, please check it, field name = {}",
                field.name
            )));
        }
        let reused = self.reuse_name(&call, (&place.0, &place.1), &field).await?;
        self.change_collection(call, place, move |_, collection| {
            let mut parts: Vec<FieldSpec> = field_parts(&field)?;
            if let Some(known) = reused {
                collection.dropped.remove(&field.name);
                parts.retain(|part| !known.contains(&part.path));
            }
            if field.may_be_long() {
                parts.push(long_part());
            }
            collection.add_field(field.clone())?;
            let spec = parts
                .into_iter()
                .fold(MappingSpec::default(), MappingSpec::with);
            let changes = Changes {
                analyzed: Some(field),
                ..spec.into()
            };
            Ok(((), changes))
        })
        .await
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

    pub(crate) async fn alter_collection_schema(
        &self,
        call: Call,
        request: AlterCollectionSchemaRequest,
    ) -> Result<AlterCollectionSchemaResponse> {
        let place = (request.db_name, request.collection_name);
        let action = request.action.unwrap_or_default();
        let changed = match (action.add_request, action.drop_request) {
            (Some(added), None) => self.add_to_schema(call, place, added).await,
            (None, Some(dropped)) => self.drop_from_schema(call, place, dropped).await,
            _ => Err(MilvusError::invalid(
                "a change of the schema either adds or drops something",
            )),
        };
        // Milvus looks at the schema first, and has other words there where there is none.
        changed.map_err(MilvusError::of_description)?;
        Ok(AlterCollectionSchemaResponse::default())
    }

    /// Adds a field; one that a function fills comes with the function and its index.
    async fn add_to_schema(
        &self,
        call: Call,
        place: (String, String),
        added: AddRequest,
    ) -> Result<()> {
        let mut infos = added.field_infos.into_iter();
        let (Some(info), None) = (infos.next(), infos.next()) else {
            return Err(MilvusError::invalid("one field is added at a time"));
        };
        let schema = info
            .field_schema
            .ok_or_else(|| MilvusError::invalid("the schema of the field is missing"))?;
        let mut functions = added.func_schema.into_iter();
        let function = match (functions.next(), functions.next()) {
            (None, _) => return self.add_field(call, place, schema).await,
            (Some(function), None) => function,
            (Some(_), Some(_)) => {
                return Err(MilvusError::invalid("one function is added at a time"));
            }
        };
        check_late(&schema)?;
        let field = Field::read(schema).map_err(|error| error.of_collection(&place.1))?;
        // Without any it is the usual index, as in Milvus.
        let params = pairs(info.extra_params);
        let name = match info.index_name.as_str() {
            "" => field.name.clone(),
            name => name.to_string(),
        };
        self.change_collection(call, place, move |service, collection| {
            let index = KeptIndex {
                id: service.new_id(),
                name,
                field: field.name.clone(),
                params,
            };
            collection.add_function_field(field, function)?;
            Ok(((), add_index(collection, index)?))
        })
        .await
    }

    async fn drop_from_schema(
        &self,
        call: Call,
        place: (String, String),
        dropped: DropRequest,
    ) -> Result<()> {
        let function = dropped.function_name;
        if !function.is_empty() && !dropped.drop_function_output_fields {
            return Err(MilvusError::invalid(format!(
                "detaching a function without dropping its output field is not supported; \
                 drop_function always removes the function together with its output field: {function}"
            )));
        }
        self.change_collection(call, place, move |_, collection| {
            if !function.is_empty() {
                collection.drop_function(&function)?;
            } else if !dropped.field_name.is_empty() {
                collection.drop_field(&dropped.field_name)?;
            } else {
                collection.drop_field_of(dropped.field_id)?;
            }
            Ok(((), Changes::default()))
        })
        .await
    }
}

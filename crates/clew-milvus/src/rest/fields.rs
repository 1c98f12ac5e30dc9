//! `/collections/fields/…`, and fields that functions fill.

use prost::Message;
use serde_json::Value;

use super::body::{Body, Refusal, Result};
use super::collections::{field, function};
use super::{indexes, structs, unknown};
use crate::error::MilvusError;
use crate::proto::alter_collection_schema_request::{Action, AddRequest, DropRequest, FieldInfo};
use crate::proto::*;
use crate::service::{Caller, Door};

/// What a function has to have that comes with its field.
const FUNCTION_NEEDS: [&str; 4] = ["name", "type", "inputFieldNames", "outputFieldNames"];

/// What is done to fields, and told only to be done.
pub(super) async fn change(
    door: &Door,
    (action, caller): (&str, Caller),
    (collection_name, body): (String, &Body),
) -> Result<()> {
    match action {
        "fields/add" => {
            let schema = field(&body.object("schema")?)?;
            let request = AddCollectionFieldRequest {
                collection_name,
                schema: schema.encode_to_vec().into(),
                ..AddCollectionFieldRequest::default()
            };
            door.add_collection_field(caller, request).await?;
        }
        "fields/drop" => {
            let request = dropped_field(collection_name, body)?;
            door.alter_collection_schema(caller, request).await?;
        }
        "add_function_field" => {
            let request = filled_field(collection_name, body)?;
            door.alter_collection_schema(caller, request).await?;
        }
        "drop_function_field" => {
            let drop_request = DropRequest {
                function_name: body.text("functionName")?,
                drop_function_output_fields: true,
                ..DropRequest::default()
            };
            let action = Action {
                drop_request: Some(drop_request),
                ..Action::default()
            };
            let request = changed_schema(collection_name, action);
            door.alter_collection_schema(caller, request).await?;
        }
        "fields/alter_properties" => {
            let request = AlterCollectionFieldRequest {
                collection_name,
                field_name: body.text("fieldName")?,
                properties: body.pairs("fieldParams")?,
                ..AlterCollectionFieldRequest::default()
            };
            door.alter_collection_field(caller, request).await?;
        }
        "struct_fields/add" => {
            let schema = structs::schema(&Body(body.object("schema")?))?;
            let request = AddCollectionStructFieldRequest {
                collection_name,
                struct_array_field_schema: Some(schema),
                ..AddCollectionStructFieldRequest::default()
            };
            door.add_collection_struct_field(caller, request).await?;
        }
        other => return Err(unknown(&format!("collections/{other}"))),
    }
    Ok(())
}

/// The request to drop a field, by its name or by its number.
fn dropped_field(collection_name: String, body: &Body) -> Result<AlterCollectionSchemaRequest> {
    let field_name = body.text_or("fieldName", "")?;
    let id = body.number("fieldId")?;
    let refused = match (field_name.is_empty(), id) {
        (true, None) | (false, Some(_)) => "exactly one of fieldName or fieldId is required",
        (true, Some(..=0)) => "fieldId must be greater than 0",
        (true, Some(_)) | (false, None) => "",
    };
    if !refused.is_empty() {
        return Err(MilvusError::invalid(refused).into());
    }
    let drop_request = DropRequest {
        field_name,
        field_id: id.unwrap_or_default(),
        ..DropRequest::default()
    };
    let action = Action {
        drop_request: Some(drop_request),
        ..Action::default()
    };
    Ok(changed_schema(collection_name, action))
}

/// The request to add a field together with the function that fills it and its index.
fn filled_field(collection_name: String, body: &Body) -> Result<AlterCollectionSchemaRequest> {
    for needed in ["function", "outputField"] {
        if body.get(needed).is_none() {
            return Err(Refusal::Missing(format!("Key: '{needed}' is required")));
        }
    }
    let filling = Body(body.object("function")?);
    for needed in FUNCTION_NEEDS {
        if filling.get(needed).is_none_or(is_empty_text) {
            let said = format!("Key: 'function.{needed}' is required");
            return Err(Refusal::Missing(said));
        }
    }
    let schema = field(&body.object("outputField")?)?;
    let index = Body(body.object("indexParams")?);
    let of = index.text_or("fieldName", "")?;
    if body.get("indexParams").is_some() && of != schema.name {
        return Err(MilvusError::invalid(format!(
            "indexParams.fieldName {of:?} must match outputField.fieldName {:?}",
            schema.name
        ))
        .into());
    }
    let info = FieldInfo {
        index_name: index.text_or("indexName", "")?,
        extra_params: indexes::params(&index)?,
        field_schema: Some(schema),
    };
    let added = AddRequest {
        field_infos: vec![info],
        func_schema: vec![function(&filling)?],
    };
    let action = Action {
        add_request: Some(added),
        ..Action::default()
    };
    Ok(changed_schema(collection_name, action))
}

fn is_empty_text(value: &Value) -> bool {
    value.as_str().is_some_and(str::is_empty)
}

fn changed_schema(collection_name: String, action: Action) -> AlterCollectionSchemaRequest {
    AlterCollectionSchemaRequest {
        collection_name,
        action: Some(action),
        ..AlterCollectionSchemaRequest::default()
    }
}

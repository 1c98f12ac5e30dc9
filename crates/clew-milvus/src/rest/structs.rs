//! Fields of structs as bodies have them.

use super::body::{Body, Result};
use super::collections::{field, members};
use crate::error::MilvusError;
use crate::proto::*;

/// A field of structs of a schema; what is said of all of its fields need not be said of each.
///
/// # Errors
/// When a member is not what it should be.
pub(super) fn schema(body: &Body) -> Result<StructArrayFieldSchema> {
    let name = body.text("fieldName")?;
    let mut type_params = body.pairs("typeParams")?;
    // An `Array` of `Struct` says them where other arrays do.
    type_params.extend(body.pairs("elementTypeParams")?);
    let mut fields = Vec::new();
    for one in body.list("fields") {
        let mut part = field(&members(one)?)?;
        if part.nullable {
            return Err(MilvusError::invalid(format!(
                "sub-field {} of struct {name} cannot be nullable",
                part.name
            ))
            .into());
        }
        for param in &type_params {
            if !part.type_params.iter().any(|own| own.key == param.key) {
                part.type_params.push(param.clone());
            }
        }
        fields.push(part);
    }
    Ok(StructArrayFieldSchema {
        name,
        description: body.text_or("description", "")?,
        fields,
        type_params,
        nullable: body.flag("nullable")?.unwrap_or_default(),
        ..StructArrayFieldSchema::default()
    })
}

//! Upserts that change lists: their values come behind those that are there, or go.

use clew_engine::ListChange;

use super::write::is_given;
use crate::collection::{Collection, DataType, Field};
use crate::error::{MilvusError, Result};
use crate::proto::{FieldData, FieldPartialUpdateOp};

/// What is given takes the place of what is there, as of every field that nothing is said of.
const REPLACE: i32 = 0;

/// The other ways, by their numbers and names.
const OPS: [(i32, &str); 2] = [(1, "ARRAY_APPEND"), (2, "ARRAY_REMOVE")];

/// The number of a way by its name.
pub(crate) fn op_of(name: &str) -> Option<i32> {
    let named = OPS.iter().find(|(_, own)| *own == name);
    let number = named.map(|(number, _)| *number);
    number.or_else(|| (name == "REPLACE").then_some(REPLACE))
}

/// Whether any field is not simply replaced.
pub(super) fn change_lists(ops: &[FieldPartialUpdateOp]) -> bool {
    ops.iter().any(|op| op.op != REPLACE)
}

/// How the lists of fields change, by the fields' names.
///
/// # Errors
/// For fields that have no lists, that are not given, or that are named twice.
pub(super) fn list_changes(
    collection: &Collection,
    columns: &[FieldData],
    ops: &[FieldPartialUpdateOp],
) -> Result<Vec<(String, ListChange)>> {
    let mut changes: Vec<(String, ListChange)> = Vec::new();
    for op in ops.iter().filter(|op| op.op != REPLACE) {
        let name = &op.field_name;
        let known = OPS.iter().find(|(number, _)| *number == op.op);
        let &(number, word) = known.ok_or_else(|| {
            MilvusError::invalid(format!(
                "unknown partial-update op {} for field \"{name}\"",
                op.op
            ))
        })?;
        let field = collection.field(name).ok();
        if collection.struct_field(name).is_some() || field.is_some_and(Field::is_part) {
            return Err(MilvusError::invalid(format!(
                "op {word} is not supported for struct field \"{name}\""
            )));
        }
        let field = field.ok_or_else(|| {
            MilvusError::invalid(format!(
                "partial-update op targets unknown field \"{name}\""
            ))
        })?;
        let wrong = if field.is_primary {
            format!("field \"{name}\" is the primary key and cannot carry a partial-update op")
        } else if field.data_type != DataType::Array {
            let own = field.data_type.name();
            format!("op {word} requires Array field, but field \"{name}\" is {own}")
        } else if !is_given(columns, name) {
            format!("partial-update op targets field \"{name}\" not present in fields_data")
        } else if changes.iter().any(|(other, _)| other == name) {
            format!("duplicate partial-update op for field \"{name}\"")
        } else {
            let how = match number {
                1 => ListChange::Append {
                    length_max: field.max_capacity()?,
                },
                _ => ListChange::Remove,
            };
            changes.push((name.clone(), how));
            continue;
        };
        return Err(MilvusError::invalid(wrong));
    }
    Ok(changes)
}

//! Upserts that change lists: their values come behind those that are there, or go.

use std::collections::BTreeSet;

use clew_engine::ListChange;

use super::write::is_given;
use crate::collection::{Collection, DataType, Field};
use crate::error::{MilvusError, Result};
use crate::proto::{FieldData, FieldPartialUpdateOp};

/// What is given takes the place of what is there, as of every field that nothing is said of.
const REPLACE: i32 = 0;

/// The other ways, by their numbers and names.
const OPS: [(i32, &str); 2] = [(1, "ARRAY_APPEND"), (2, "ARRAY_REMOVE")];

/// The number of a way by its name, in any case and with blanks around it.
///
/// # Errors
/// For a name of none.
pub(crate) fn op_of(name: &str) -> Result<i32> {
    let mut known = OPS.into_iter().chain([(REPLACE, "REPLACE")]);
    let named = known.find(|(_, own)| own.eq_ignore_ascii_case(name.trim()));
    let (number, _) = named.ok_or_else(|| no_op(name))?;
    Ok(number)
}

fn no_op(said: impl std::fmt::Display) -> MilvusError {
    MilvusError::invalid(format!("unsupported partial update op: {said}"))
}

/// Whether any field is not simply replaced.
pub(super) fn change_lists(ops: &[FieldPartialUpdateOp]) -> bool {
    ops.iter().any(|op| op.op != REPLACE)
}

/// How the lists of fields change, by the fields' names.
///
/// # Errors
/// For fields that have no lists, that are not given, that are named twice or not at all.
pub(super) fn list_changes(
    collection: &Collection,
    columns: &[FieldData],
    ops: &[FieldPartialUpdateOp],
) -> Result<Vec<(String, ListChange)>> {
    let mut changes = Vec::new();
    let mut named = BTreeSet::new();
    for op in ops {
        let name = &op.field_name;
        if name.is_empty() {
            let said = "FieldPartialUpdateOp.field_name is required";
            return Err(MilvusError::missing(said));
        }
        if !named.insert(name) {
            return Err(MilvusError::invalid(format!(
                "duplicate partial-update op for field \"{name}\""
            )));
        }
        if op.op == REPLACE {
            continue;
        }
        let known = OPS.iter().find(|(number, _)| *number == op.op);
        let &(number, word) = known.ok_or_else(|| no_op(op.op))?;
        let field = collection.field(name).ok();
        if collection.struct_field(name).is_some() || field.is_some_and(Field::is_part) {
            return Err(MilvusError::invalid(format!(
                "op {word} is not supported for struct field \"{name}\""
            )));
        }
        let field = field.ok_or_else(|| {
            MilvusError::invalid(format!("field \"{name}\" not found in collection schema"))
        })?;
        let wrong = if field.is_primary {
            format!("field \"{name}\" is the primary key and cannot carry a partial-update op")
        } else if field.data_type != DataType::Array {
            let own = field.data_type.name();
            format!("op {word} requires Array field, but field \"{name}\" is {own}")
        } else if !is_given(columns, name) {
            format!("partial-update op targets field \"{name}\" not present in fields_data")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_known_by_their_names_in_any_case() {
        for (name, number) in [("REPLACE", 0), (" array_append ", 1), ("Array_Remove", 2)] {
            assert_eq!(op_of(name), Ok(number), "{name}");
        }
        let refused = op_of("SORT").unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with("unsupported partial update op: SORT"),
            "{refused}"
        );
    }
}

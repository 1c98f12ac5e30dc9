//! Nested objects in a document: each becomes a document of its own, with the values found in it.

use tantivy::schema::{Field, OwnedValue};

use super::collect::Values;
use super::error::DocumentError;
use super::failure::Result;
use super::object_vectors::ObjectVectors;
use super::vector::VectorValue;
use super::walk::Walk;
use crate::mapping::{FieldId, NestedSettings, ObjectNode};

/// A nested object, taken apart.
#[derive(Debug)]
pub struct NestedObject {
    /// The path of the mapping's object.
    pub path: String,
    /// Values for tantivy.
    pub fields: Vec<(Field, OwnedValue)>,
    /// Vectors, at most one of a field.
    pub vectors: Vec<(FieldId, VectorValue)>,
}

/// The nested objects of a document while it is walked.
#[derive(Default)]
pub(super) struct NestedObjects<'m> {
    /// The values of the documents around the one that is being read, the whole document first,
    /// each with the path of the nested object that was entered from it.
    around: Vec<(Values<'m>, String)>,
    /// Objects that are open or done.
    count: usize,
    done: Vec<NestedObject>,
    /// Vectors of objects that are not in the text.
    pub(super) beside: ObjectVectors<'m>,
}

impl NestedObjects<'_> {
    /// Whether the place is in no nested object.
    pub(super) fn is_empty(&self) -> bool {
        self.around.is_empty()
    }

    pub(super) fn into_objects(self) -> Vec<NestedObject> {
        self.done
    }
}

impl<'m> Walk<'m, '_> {
    /// Walks a nested object into values of its own.
    pub(super) fn nested_object(
        &mut self,
        object: &'m ObjectNode,
        nested: NestedSettings,
    ) -> Result<()> {
        let max = self.mapping.limits.nested_objects_max;
        self.nested.count += 1;
        if self.nested.count > max {
            return Err(DocumentError::TooManyNested { max }.into());
        }
        let own = Values::new(self.mapping, Vec::new());
        let outer = std::mem::replace(&mut self.values, own);
        self.nested.around.push((outer, self.path.clone()));
        self.object(Some(object))?;
        self.leave_nested(nested)
    }

    fn leave_nested(&mut self, nested: NestedSettings) -> Result<()> {
        let Some((outer, path)) = self.nested.around.pop() else {
            return Ok(());
        };
        let mut own = std::mem::replace(&mut self.values, outer);
        self.nested.beside.next(&path, &mut own.vectors)?;
        if nested.include_in_parent || nested.include_in_root {
            let times = usize::from(nested.include_in_parent) + usize::from(nested.include_in_root);
            self.take_room(own.bytes().saturating_mul(times))?;
        }
        if nested.include_in_parent {
            own.share_with(&mut self.values);
        }
        // The document around the outermost nested object is the whole one.
        if nested.include_in_root {
            match self.nested.around.first_mut() {
                Some((root, _)) => own.share_with(root),
                None if !nested.include_in_parent => own.share_with(&mut self.values),
                None => {}
            }
        }
        self.nested.done.push(NestedObject {
            path,
            fields: own.take_fields(),
            vectors: own.vectors,
        });
        Ok(())
    }

    /// The values of the innermost document around the place that a field belongs to.
    pub(super) fn values_for(&mut self, field: &str) -> &mut Values<'m> {
        let holds = |path: &str| {
            field
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let around = &mut self.nested.around;
        let inside = around.iter().take_while(|(_, path)| holds(path)).count();
        match around.get_mut(inside) {
            Some((values, _)) => values,
            None => &mut self.values,
        }
    }
}

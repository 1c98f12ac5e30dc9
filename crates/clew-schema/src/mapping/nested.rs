//! Objects of type `nested`: each one in a document is a document of its own, found beside its
//! siblings and joined to the document that it is part of.

use serde::{Deserialize, Serialize};

use super::error::{MappingError, NestedChange};
use super::schema::Mapping;
use super::spec::{NestingSpec, ObjectSettings};

/// Where else the values of a nested object go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedSettings {
    /// Into the document that encloses it.
    pub include_in_parent: bool,
    /// Into the whole document.
    pub include_in_root: bool,
}

impl Mapping {
    /// Whether the object at a path is nested.
    pub fn is_nested(&self, path: &str) -> bool {
        self.objects
            .get(path)
            .is_some_and(|settings| settings.nested.is_some())
    }

    /// Whether any of its objects is nested.
    pub fn has_nested(&self) -> bool {
        self.objects
            .values()
            .any(|settings| settings.nested.is_some())
    }

    /// Whether there is an object at a path, nested or not.
    pub fn has_object(&self, path: &str) -> bool {
        self.tree.find(path).is_some()
    }

    /// The nested object that a path, or what lies above it, belongs to; the innermost one.
    pub fn nested_scope<'p>(&self, path: &'p str) -> Option<&'p str> {
        let above = path.rmatch_indices('.').map(|(at, _)| &path[..at]);
        std::iter::once(path)
            .chain(above)
            .find(|path| self.is_nested(path))
    }

    /// The nested object around a nested one; `None` when that is the document itself.
    pub fn nested_parent<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (above, _) = path.rsplit_once('.')?;
        self.nested_scope(above)
    }

    /// Whether an object is nested after this was said of it; that cannot change.
    pub(super) fn nested_of(
        &self,
        path: &str,
        known: Option<ObjectSettings>,
        said: NestingSpec,
    ) -> Result<Option<NestedSettings>, MappingError> {
        let wanted = match said {
            NestingSpec::Nested(wanted) => Some(wanted),
            NestingSpec::Plain | NestingSpec::Unsaid => None,
        };
        let exists = known.is_some() || self.has_object(path);
        let now = known.and_then(|known| known.nested);
        let change = match (exists, now, wanted) {
            (false, _, wanted) => return Ok(wanted),
            (true, None, None) => return Ok(None),
            // Not said again, or said again as it is.
            (true, Some(now), None) if said == NestingSpec::Unsaid => return Ok(Some(now)),
            (true, Some(now), Some(wanted)) if now == wanted => return Ok(Some(now)),
            (true, Some(now), Some(wanted)) => {
                if now.include_in_parent == wanted.include_in_parent {
                    NestedChange::IncludeInRoot
                } else {
                    NestedChange::IncludeInParent
                }
            }
            (true, None, Some(_)) => NestedChange::ToNested,
            (true, Some(_), None) => NestedChange::ToPlain,
        };
        let path = path.to_string();
        Err(MappingError::Nested { path, change })
    }
}

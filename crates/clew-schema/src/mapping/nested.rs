//! Objects of type `nested`: each one in a document is a document of its own, found beside its
//! siblings and joined to the document that it is part of.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::parameters::{boolean, show};
use super::schema::{Mapping, MappingError, ObjectSettings};

/// Where else the values of a nested object go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nested {
    /// Into the document that encloses it.
    pub(crate) include_in_parent: bool,
    /// Into the whole document.
    pub(crate) include_in_root: bool,
}

impl Nested {
    pub(super) fn read(parameters: Option<&Map<String, Value>>) -> Result<Self, MappingError> {
        let flag = |key: &str| match parameters.and_then(|parameters| parameters.get(key)) {
            Some(value) => boolean(key, value),
            None => Ok(false),
        };
        Ok(Nested {
            include_in_parent: flag("include_in_parent")?,
            include_in_root: flag("include_in_root")?,
        })
    }

    pub(super) fn show(self, shown: &mut Map<String, Value>) {
        shown.insert("type".to_string(), json!("nested"));
        if self.include_in_parent {
            shown.insert("include_in_parent".to_string(), json!(true));
        }
        if self.include_in_root {
            shown.insert("include_in_root".to_string(), json!(true));
        }
    }
}

impl Mapping {
    /// Whether the object at a path is nested.
    pub fn is_nested(&self, path: &str) -> bool {
        self.objects
            .get(path)
            .is_some_and(|settings| settings.nested.is_some())
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

    /// How many objects are nested.
    pub(super) fn nested_count(&self) -> usize {
        let settings = self.objects.values();
        settings.filter(|object| object.nested.is_some()).count()
    }

    pub(super) fn check_nested(&self, before: usize) -> Result<(), MappingError> {
        let (count, max) = (self.nested_count(), self.limits.nested_fields_max);
        if count > max && count > before {
            return Err(MappingError::TooManyNested { max });
        }
        Ok(())
    }

    /// What an object's parameters say about being nested; that cannot change.
    pub(super) fn nested_of(
        &self,
        path: &str,
        known: Option<ObjectSettings>,
        parameters: &Map<String, Value>,
    ) -> Result<Option<Nested>, MappingError> {
        let kind = parameters.get("type").map(show);
        let wanted = match kind.as_deref() {
            Some("nested") => Some(Nested::read(Some(parameters))?),
            _ => None,
        };
        let exists = known.is_some() || self.has_object(path);
        let now = known.and_then(|known| known.nested);
        match (exists, now, wanted) {
            (false, _, wanted) => Ok(wanted),
            (true, None, None) => Ok(None),
            // Not said again, or said again as it is.
            (true, Some(now), None) if kind.is_none() => Ok(Some(now)),
            (true, Some(now), Some(wanted)) if now == wanted => Ok(Some(now)),
            (true, Some(now), Some(wanted)) => {
                let parameter = if now.include_in_parent == wanted.include_in_parent {
                    "include_in_root"
                } else {
                    "include_in_parent"
                };
                Err(refused(format!(
                    "the [{parameter}] parameter can't be updated on a nested object mapping"
                )))
            }
            (true, None, Some(_)) => Err(refused(
                "cannot change object mapping from non-nested to nested".to_string(),
            )),
            (true, Some(_), None) => Err(refused(
                "cannot change object mapping from nested to non-nested".to_string(),
            )),
        }
    }
}

fn refused(reason: String) -> MappingError {
    MappingError::Refused { reason }
}

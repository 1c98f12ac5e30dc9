//! Mappings as builds before format 2 of the catalog kept them: fields in the order of their numbers, each with the
//! parameters that OpenSearch's API would show, so that what was as usual is not there.
//!
//! Only read: such records stay as they are until their mapping changes.

use std::collections::BTreeMap;

use clew_analysis::Analysis;
use serde_json::Value;

use crate::mapping::nested::Nested;
use crate::mapping::parameters::{boolean, read_field, show};
use crate::mapping::read::dynamic;
use crate::mapping::schema::{Definition, Mapping, MappingError, ObjectSettings};
use crate::similarity::Similarities;

impl Mapping {
    /// The mapping of a record; [`Mapping::finish`] must follow.
    ///
    /// # Errors
    /// [`MappingError::Invalid`] when it is no record of this format.
    pub(super) fn decode_format_1(encoded: &Value) -> Result<Mapping, MappingError> {
        let mut mapping = Mapping::unlimited();
        // Mappings from before there were analyzers of settings have none.
        if let Some(analysis) = encoded.get("analysis").filter(|source| !source.is_null()) {
            mapping.set_analysis(Analysis::read(analysis).map_err(MappingError::invalid)?);
        }
        // Nor have those from before there were similarities.
        if let Some(given) = encoded.get("similarities").and_then(Value::as_object) {
            let given = given
                .iter()
                .map(|(name, value)| (name.clone(), show(value)));
            let similarities = Similarities::read(given.collect());
            mapping.set_similarities(
                similarities.map_err(|error| MappingError::invalid(error.to_string()))?,
            );
        }
        for (key, value) in part(encoded, "root", Value::as_object)? {
            mapping.merge_root(key, value)?;
        }
        for (path, value) in part(encoded, "objects", Value::as_object)? {
            let mut settings = ObjectSettings::default();
            if value.get("type").is_some_and(|kind| kind == "nested") {
                settings.nested = Some(Nested::read(value.as_object())?);
            }
            if let Some(value) = value.get("dynamic") {
                settings.dynamic = Some(dynamic(value)?);
            }
            if let Some(value) = value.get("enabled") {
                settings.enabled = boolean("enabled", value)?;
            }
            mapping.objects.insert(path.clone(), settings);
        }
        let mut hidden: BTreeMap<String, Definition> = BTreeMap::new();
        for field in part(encoded, "fields", Value::as_array)? {
            let path = part(field, "path", Value::as_str)?;
            let multi_field = part(field, "multi_field", Value::as_bool)?;
            let parameters = part(field, "mapping", Value::as_object)?;
            // What follows from another field does so again.
            let definition = match hidden.remove(path) {
                Some(definition) => definition,
                None => read_field(path, parameters, multi_field, &mapping.analysis)?,
            };
            mapping.push_kept(definition, &mut hidden)?;
        }
        // Mappings from before there were aliases have none.
        let aliases = encoded.get("aliases").and_then(Value::as_object);
        for (alias, path) in aliases.into_iter().flatten() {
            let path = path.as_str().unwrap_or_default().to_string();
            mapping.aliases.insert(alias.clone(), path);
        }
        Ok(mapping)
    }
}

fn part<'v, T>(
    value: &'v Value,
    name: &str,
    kind: impl Fn(&'v Value) -> Option<T>,
) -> Result<T, MappingError> {
    value
        .get(name)
        .and_then(kind)
        .ok_or_else(|| MappingError::invalid(format!("encoded mapping has no [{name}]")))
}

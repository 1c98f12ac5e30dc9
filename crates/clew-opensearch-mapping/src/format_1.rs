//! Mappings as builds before format 2 of the catalog kept them: fields in the order of their numbers, each with the
//! parameters that OpenSearch's API would show, so that what was as usual is not there.
//!
//! Only read: such records stay as they are until their mapping changes.

use std::collections::{BTreeMap, BTreeSet};

use clew_analysis::Analysis;
use clew_schema::{KeptMapping, Mapping, MappingError, MappingSpec, NumberedSpec, ObjectSettings};
use serde_json::{Map, Value};

use crate::parameter_values::{boolean, show};
use crate::parameters::read_field;
use crate::read::{dynamic, read_nested, read_root};

/// The mapping of a record.
///
/// # Errors
/// When it is no record of this format.
pub(crate) fn read(encoded: &Value) -> Result<KeptMapping, MappingError> {
    let mut kept = Mapping::new().kept();
    // Mappings from before there were analyzers of settings have none.
    kept.analysis = encoded.get("analysis").cloned().unwrap_or_default();
    let analysis = match &kept.analysis {
        Value::Null => Analysis::default(),
        source => Analysis::kept(source),
    };
    // Nor have those from before there were similarities.
    if let Some(given) = encoded.get("similarities").and_then(Value::as_object) {
        let given = given.iter();
        let given = given.map(|(name, value)| (name.clone(), show(value)));
        kept.similarities = given.collect();
    }
    take_root(&mut kept, part(encoded, "root", Value::as_object)?)?;
    for (path, value) in part(encoded, "objects", Value::as_object)? {
        kept.objects.insert(path.clone(), object(value)?);
    }
    let mut followers = BTreeSet::new();
    for field in part(encoded, "fields", Value::as_array)? {
        let path = part(field, "path", Value::as_str)?;
        let multi_field = part(field, "multi_field", Value::as_bool)?;
        let parameters = part(field, "mapping", Value::as_object)?;
        // What follows from another field does so again.
        if followers.remove(path) {
            kept.fields.push(NumberedSpec::Follower(path.to_string()));
            continue;
        }
        let mut spec = read_field(path, parameters, multi_field, &analysis)?;
        // These had doc values then unless they were refused, which they have to ask for today.
        let is_wildcard = parameters
            .get("type")
            .is_some_and(|name| name == "wildcard");
        spec.doc_values |= is_wildcard && !parameters.contains_key("doc_values");
        followers.extend(spec.followers());
        kept.fields.push(NumberedSpec::Field(Box::new(spec)));
    }
    // Mappings from before there were aliases have none.
    let aliases = encoded.get("aliases").and_then(Value::as_object);
    let aliases = aliases.into_iter().flatten();
    let text = |path: &Value| path.as_str().unwrap_or_default().to_string();
    let aliases: BTreeMap<_, _> = aliases
        .map(|(alias, path)| (alias.clone(), text(path)))
        .collect();
    kept.aliases = aliases;
    Ok(kept)
}

/// What is said of the whole; the rest is as usual.
fn take_root(kept: &mut KeptMapping, root: &Map<String, Value>) -> Result<(), MappingError> {
    let mut spec = MappingSpec::default();
    for (key, value) in root {
        read_root(&mut spec, key, value)?;
    }
    kept.dynamic = spec.dynamic;
    kept.date_detection = spec.date_detection.unwrap_or(kept.date_detection);
    kept.numeric_detection = spec.numeric_detection.unwrap_or(kept.numeric_detection);
    if let Some(formats) = spec.date_formats {
        kept.date_formats = formats;
    }
    kept.source = spec.source.unwrap_or_default();
    kept.routing_required = spec.routing_required.unwrap_or_default();
    kept.templates = spec.templates.unwrap_or_default();
    kept.shown = spec.shown;
    Ok(())
}

fn object(value: &Value) -> Result<ObjectSettings, MappingError> {
    let mut settings = ObjectSettings::default();
    if let Some(parameters) = value.as_object().filter(|_| value["type"] == "nested") {
        settings.nested = Some(read_nested("nested", parameters)?);
    }
    if let Some(value) = value.get("dynamic") {
        settings.dynamic = Some(dynamic(value)?);
    }
    if let Some(value) = value.get("enabled") {
        settings.enabled = boolean(value)?;
    }
    Ok(settings)
}

fn part<'v, T>(
    value: &'v Value,
    name: &str,
    kind: impl Fn(&'v Value) -> Option<T>,
) -> Result<T, MappingError> {
    value
        .get(name)
        .and_then(kind)
        .ok_or_else(|| MappingError::unreadable(format!("encoded mapping has no [{name}]")))
}

//! The `mappings` body, read into what it says of a mapping. What can only be told beside what is there already, the
//! mapping tells that is merged with it.

use std::collections::BTreeSet;

use clew_analysis::Analysis;
use clew_schema::{
    DOC_COUNT, Dynamic, IGNORED, MappingError, MappingPart, MappingSpec, NestedSettings,
    NestingSpec, ObjectSpec, UnreadableKind, check_field_name, is_metadata, java_class,
};
use serde_json::{Map, Value};

use crate::alias;
use crate::derived;
use crate::new_values::check_new;
use crate::parameter_values::{as_object, named_boolean, show, unsupported, unsupported_by};
use crate::parameters::read_field;
use crate::source;
use crate::template;
use crate::told::tell_as_there;
use crate::words::with_field;

/// Parameters of the whole mapping that are only shown again; `derived` is so where it was kept before it meant anything.
const ROOT_SHOWN: [&str; 7] = [
    "_meta",
    "_routing",
    "_field_names",
    "_size",
    "_data_stream_timestamp",
    "derived",
    "context_aware_grouping",
];

/// Reads a `mappings` body for an index with these analyzers.
///
/// # Errors
/// What cannot be read ([`MappingError::Unreadable`]), or is the name of no field.
pub fn read(body: &Value, analysis: &Analysis) -> Result<MappingSpec, MappingError> {
    let root = as_object(body, "mappings")?;
    let mut spec = MappingSpec::default();
    for (key, value) in root {
        if key == "derived" {
            spec.derived = derived::read_derived(value)?;
            continue;
        }
        // What is kept of older mappings may have one that fits nothing; a new one would do nothing, and not say so.
        if key == "dynamic_templates" {
            template::check_types(value)?;
        }
        if key != "properties" {
            read_root(&mut spec, key, value)?;
        }
        if key == "dynamic_templates" {
            template::check_conditions(value)?;
        }
    }
    if let Some(properties) = said(root, "properties") {
        let mut reader = Reader {
            analysis,
            parts: Vec::new(),
        };
        reader.properties("", as_properties(properties)?)?;
        spec.parts = reader.parts;
    }
    Ok(spec)
}

/// Reads a parameter of the whole mapping.
pub(crate) fn read_root(
    spec: &mut MappingSpec,
    key: &str,
    value: &Value,
) -> Result<(), MappingError> {
    match key {
        "dynamic" => spec.dynamic = Some(dynamic(value)?),
        "date_detection" => spec.date_detection = Some(named_boolean(key, value)?),
        "numeric_detection" => spec.numeric_detection = Some(named_boolean(key, value)?),
        "dynamic_date_formats" => {
            let names = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            let names = names.iter().map(|name| name.as_str().unwrap_or_default());
            spec.date_formats = Some(names.map(String::from).collect());
        }
        "dynamic_templates" => spec.templates = Some(template::read(value)?),
        // A mapping that looks at documents says nothing.
        "enabled" => {
            if !named_boolean("enabled.enabled", value)? {
                spec.shown.insert(key.to_string(), Value::Bool(false));
            }
            return Ok(());
        }
        // What there was to say with it is past.
        "include_in_all" => return Ok(()),
        "_source" => spec.source = Some(source::read(value)?),
        "_routing" => spec.routing_required = Some(source::read_routing(value)?),
        _ if ROOT_SHOWN.contains(&key) => {}
        _ => {
            return Err(unsupported_by("Root mapping definition", key, value));
        }
    }
    if key != "dynamic" {
        spec.shown.insert(key.to_string(), value.clone());
    }
    Ok(())
}

/// Gathers what has a path, in the order of fields' numbers.
pub(crate) struct Reader<'a> {
    pub(crate) analysis: &'a Analysis,
    pub(crate) parts: Vec<MappingPart>,
}

impl Reader<'_> {
    /// Reads the children of an object.
    fn properties(
        &mut self,
        object: &str,
        properties: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        for (name, value) in properties {
            check_field_name(name)?;
            let is_own = is_metadata(name) || [DOC_COUNT, IGNORED].contains(&name.as_str());
            if object.is_empty() && is_own {
                return Err(MappingError::unreadable(format!(
                    "Field [{name}] is defined more than once"
                )));
            }
            let path = if object.is_empty() {
                name.clone()
            } else {
                format!("{object}.{name}")
            };
            let parameters = value.as_object().ok_or_else(|| {
                // The class is always that of the name.
                MappingError::unreadable(format!(
                    "Expected map for property [fields] on field [{name}] but got a class java.lang.String"
                ))
            })?;
            match type_of(name, parameters)? {
                "object" | "nested" => self.object(&path, parameters)?,
                "alias" => self.parts.push(alias::read(path, parameters)?),
                _ => self.field(&path, parameters)?,
            }
        }
        Ok(())
    }

    /// Reads an object and what lies in it.
    pub(crate) fn object(
        &mut self,
        path: &str,
        parameters: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        let mut spec = ObjectSpec {
            path: path.to_string(),
            dynamic: None,
            enabled: None,
            nesting: read_nesting(path, parameters)?,
        };
        for (key, value) in parameters {
            match key.as_str() {
                "type" | "properties" | "include_in_all" => {}
                // An object may be nested already, which is not said again.
                "include_in_parent" | "include_in_root" if spec.nesting != NestingSpec::Plain => {}
                "dynamic" => spec.dynamic = Some(dynamic(value)?),
                // OpenSearch tells its name so.
                "enabled" => spec.enabled = Some(named_boolean("enabled.enabled", value)?),
                _ => return Err(unsupported(path, key, value)),
            }
        }
        self.parts.push(MappingPart::Object(spec));
        match said(parameters, "properties") {
            Some(properties) => self.properties(path, as_properties(properties)?),
            None => Ok(()),
        }
    }

    /// Reads a field and its multi-fields.
    pub(crate) fn field(
        &mut self,
        path: &str,
        parameters: &Map<String, Value>,
    ) -> Result<(), MappingError> {
        self.one_field(path, parameters, false)?;
        let Some(multi_fields) = said(parameters, "fields") else {
            return Ok(());
        };
        let mut seen = BTreeSet::new();
        let multi_fields = multi_fields.as_object().ok_or_else(|| {
            MappingError::unreadable(format!(
                "expected map for property [fields] on field [{}] or [fields] but got a class {}",
                show(multi_fields),
                java_class(multi_fields)
            ))
        })?;
        for (name, value) in multi_fields {
            check_field_name(name)?;
            if name.contains('.') || !seen.insert(name) {
                return Err(MappingError::unreadable(format!(
                    "Field name [{name}] which is a multi field of [{path}] cannot contain '.'"
                )));
            }
            let parameters = value.as_object().ok_or_else(|| {
                MappingError::unreadable(format!(
                    "illegal field [{name}], only fields can be specified inside fields"
                ))
            })?;
            if !parameters.contains_key("type") {
                return Err(MappingError::unreadable(format!(
                    "no type specified for property [{name}]"
                )));
            }
            let type_name = type_of(name, parameters)?;
            if NO_MULTI_FIELD.contains(&type_name) {
                return Err(MappingError::unreadable(format!(
                    "Type [{type_name}] cannot be used in multi field"
                )));
            }
            self.one_field(&format!("{path}.{name}"), parameters, true)?;
        }
        Ok(())
    }

    /// Reads a field alone.
    fn one_field(
        &mut self,
        path: &str,
        parameters: &Map<String, Value>,
        is_multi_field: bool,
    ) -> Result<(), MappingError> {
        let mut field = read_field(path, parameters, is_multi_field, self.analysis)?;
        check_new(&field, parameters, self.analysis)?;
        tell_as_there(&mut field, parameters, self.analysis);
        self.parts.push(MappingPart::Field(Box::new(field)));
        Ok(())
    }
}

/// A member that says anything: an empty list, which is how PHP writes a map without members, does not.
fn said<'v>(parameters: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    let is_empty_list = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    parameters.get(name).filter(|value| !is_empty_list(value))
}

fn as_properties(value: &Value) -> Result<&Map<String, Value>, MappingError> {
    value
        .as_object()
        .ok_or_else(|| MappingError::unfit(UnreadableKind::Shape, "properties must be a map type"))
}

/// Types that no multi-field can have.
const NO_MULTI_FIELD: [&str; 7] = [
    "object",
    "nested",
    "knn_vector",
    "alias",
    "flat_object",
    "flattened",
    "percolator",
];

fn read_nesting(path: &str, parameters: &Map<String, Value>) -> Result<NestingSpec, MappingError> {
    match parameters.get("type").map(show).as_deref() {
        None => Ok(NestingSpec::Unsaid),
        Some("nested") => read_nested(path, parameters).map(NestingSpec::Nested),
        Some(_) => Ok(NestingSpec::Plain),
    }
}

/// Where else the values of a nested object go.
pub(crate) fn read_nested(
    path: &str,
    parameters: &Map<String, Value>,
) -> Result<NestedSettings, MappingError> {
    let flag = |key: &str| match parameters.get(key) {
        Some(value) => named_boolean(&with_field(path, key), value),
        None => Ok(false),
    };
    Ok(NestedSettings {
        include_in_parent: flag("include_in_parent")?,
        include_in_root: flag("include_in_root")?,
    })
}

/// The type a field declares; one with properties is an object without saying so.
pub(crate) fn type_of<'v>(
    name: &str,
    parameters: &'v Map<String, Value>,
) -> Result<&'v str, MappingError> {
    match parameters.get("type") {
        Some(Value::String(type_name)) => Ok(type_name),
        Some(other) => Err(MappingError::unreadable(format!(
            "No handler for type [{}] declared on field [{name}]",
            show(other)
        ))),
        None if parameters.contains_key("properties") => Ok("object"),
        None if parameters.len() == 1 && parameters.contains_key("enabled") => Ok("object"),
        None if parameters.len() == 1 && parameters.contains_key("dynamic") => Ok("object"),
        None => Err(MappingError::unreadable(format!(
            "No type specified for field [{name}]"
        ))),
    }
}

pub(crate) fn dynamic(value: &Value) -> Result<Dynamic, MappingError> {
    match show(value).as_str() {
        "strict" => Ok(Dynamic::Strict),
        "false_allow_templates" => Ok(Dynamic::FalseAllowTemplates),
        "strict_allow_templates" => Ok(Dynamic::StrictAllowTemplates),
        // OpenSearch tells its name so.
        _ => Ok(if named_boolean("dynamic.dynamic", value)? {
            Dynamic::True
        } else {
            Dynamic::False
        }),
    }
}

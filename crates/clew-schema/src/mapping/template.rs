//! Dynamic templates: how new names of documents become fields, where the mapping says so.

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parameters::show;
use super::schema::MappingError;
use crate::glob;

/// What is said of a template.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TemplateSpec {
    name: String,
    /// Whether patterns are regular expressions; else `*` stands for any characters.
    is_regex: bool,
    /// Which names are meant.
    names: PatternsSpec,
    /// Which paths are meant.
    paths: PatternsSpec,
    /// The type that a value seems to have; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mapping_type: Option<String>,
    /// The parameters of the fields that it makes, as they were written: what they come to is known
    /// once their placeholders are filled.
    parameters: Map<String, Value>,
}

/// Patterns as they were written; none at all means everything.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternsSpec {
    like: Vec<String>,
    unlike: Vec<String>,
}

/// One template, with its patterns understood.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DynamicTemplate {
    pub(super) spec: TemplateSpec,
    names: Patterns,
    paths: Patterns,
}

impl DynamicTemplate {
    /// Understands the patterns of a template.
    ///
    /// # Errors
    /// When one of them is no regular expression.
    pub(super) fn new(spec: TemplateSpec) -> Result<Self, MappingError> {
        let understood = |patterns: &PatternsSpec| {
            Ok::<_, MappingError>(Patterns {
                like: understand(&patterns.like, spec.is_regex)?,
                unlike: understand(&patterns.unlike, spec.is_regex)?,
            })
        };
        let (names, paths) = (understood(&spec.names)?, understood(&spec.paths)?);
        Ok(DynamicTemplate { spec, names, paths })
    }
}

/// What names are held against as a whole.
#[derive(Clone, Debug)]
enum Pattern {
    /// With `*` for any characters.
    Glob(String),
    /// A regular expression.
    Regex(Regex),
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            Pattern::Glob(pattern) => glob::matches(pattern, text),
            Pattern::Regex(expression) => expression.is_match(text),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Pattern::Glob(a), Pattern::Glob(b)) => a == b,
            (Pattern::Regex(a), Pattern::Regex(b)) => a.as_str() == b.as_str(),
            (Pattern::Glob(_), Pattern::Regex(_)) | (Pattern::Regex(_), Pattern::Glob(_)) => false,
        }
    }
}

/// Which names or paths are meant; no pattern at all means every one.
#[derive(Clone, Debug, PartialEq, Default)]
struct Patterns {
    like: Vec<Pattern>,
    unlike: Vec<Pattern>,
}

impl Patterns {
    fn matches(&self, text: &str) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(text));
        (self.like.is_empty() || any(&self.like)) && !any(&self.unlike)
    }
}

/// Reads `dynamic_templates`.
///
/// # Errors
/// When it is not a list of templates with names.
pub(super) fn read(value: &Value) -> Result<Vec<DynamicTemplate>, MappingError> {
    let malformed = || MappingError::invalid("A dynamic template must be defined with a name");
    let items = value.as_array().ok_or_else(|| {
        MappingError::invalid(
            "Dynamic template syntax error. An array of named objects is expected.",
        )
    })?;
    let mut templates = Vec::with_capacity(items.len());
    for item in items {
        let object = item.as_object().filter(|object| object.len() == 1);
        let (name, body) = object.and_then(|o| o.iter().next()).ok_or_else(malformed)?;
        templates.push(read_one(name, body.as_object().ok_or_else(malformed)?)?);
    }
    Ok(templates)
}

fn read_one(name: &str, body: &Map<String, Value>) -> Result<DynamicTemplate, MappingError> {
    let is_regex = match body.get("match_pattern").map(show).as_deref() {
        Some("regex") => true,
        None | Some("simple") => false,
        Some(other) => {
            return Err(MappingError::invalid(format!(
                "No matching pattern matched on [{other}]"
            )));
        }
    };
    let mut template = TemplateSpec {
        name: name.to_string(),
        is_regex,
        ..TemplateSpec::default()
    };
    let mut has_mapping = false;
    for (key, value) in body {
        match key.as_str() {
            "match" => template.names.like = texts(value),
            "unmatch" => template.names.unlike = texts(value),
            "path_match" => template.paths.like = texts(value),
            "path_unmatch" => template.paths.unlike = texts(value),
            "match_mapping_type" => {
                template.mapping_type = Some(show(value)).filter(|kind| kind != "*");
            }
            "match_pattern" => {}
            "mapping" => {
                template.parameters = value.as_object().cloned().unwrap_or_default();
                has_mapping = true;
            }
            other => {
                return Err(MappingError::invalid(format!(
                    "Illegal dynamic template parameter: [{other}]"
                )));
            }
        }
    }
    if !has_mapping {
        return Err(MappingError::invalid(format!(
            "template [{name}] must have mapping set"
        )));
    }
    DynamicTemplate::new(template)
}

fn texts(value: &Value) -> Vec<String> {
    let values = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    values.iter().map(show).collect()
}

fn understand(patterns: &[String], is_regex: bool) -> Result<Vec<Pattern>, MappingError> {
    patterns
        .iter()
        .map(|pattern| {
            if !is_regex {
                return Ok(Pattern::Glob(pattern.clone()));
            }
            match Regex::new(&format!("(?s)^(?:{pattern})$")) {
                Ok(expression) => Ok(Pattern::Regex(expression)),
                Err(_) => Err(MappingError::invalid(format!(
                    "Pattern [{pattern}] is not a regular expression"
                ))),
            }
        })
        .collect()
}

/// The parameters of a field for a new path, by the first template that fits. `dynamic_type` is
/// what its value seems to be, `fallback` the type it gets where the template names none.
pub(crate) fn apply(
    templates: &[DynamicTemplate],
    path: &str,
    dynamic_type: &str,
    fallback: &str,
) -> Option<Map<String, Value>> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let template = templates.iter().find(|template| {
        let wanted = template.spec.mapping_type.as_deref();
        wanted.is_none_or(|wanted| wanted == dynamic_type)
            && template.names.matches(name)
            && template.paths.matches(path)
    })?;
    let filled = fill(
        &Value::Object(template.spec.parameters.clone()),
        name,
        fallback,
    );
    let Value::Object(mut parameters) = filled else {
        return None;
    };
    if !parameters.contains_key("type") && !parameters.contains_key("properties") {
        parameters.insert("type".to_string(), fallback.into());
    }
    Some(parameters)
}

/// The template with its placeholders replaced.
fn fill(value: &Value, name: &str, dynamic_type: &str) -> Value {
    let text = |text: &str| {
        text.replace("{name}", name)
            .replace("{dynamic_type}", dynamic_type)
            .replace("{dynamicType}", dynamic_type)
    };
    match value {
        Value::String(inner) => Value::String(text(inner)),
        Value::Array(items) => items
            .iter()
            .map(|item| fill(item, name, dynamic_type))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (text(key), fill(member, name, dynamic_type)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_template_that_fits_makes_the_field() {
        let templates = read(&json!([
            {"ids": {"match": "*_id", "mapping": {"type": "keyword"}}},
            {"raw": {"match_mapping_type": "string", "path_match": "raw.*", "path_unmatch": "*.not",
                "mapping": {"index": false}}},
            {"numbers": {"match_pattern": "regex", "match": "^n\\d+$",
                "mapping": {"type": "{dynamic_type}", "meta": {"from": "{name}"}}}},
        ]))
        .unwrap();
        for (path, kind, fallback, expected) in [
            ("user_id", "long", "long", Some(json!({"type": "keyword"}))),
            (
                "raw.x",
                "string",
                "text",
                Some(json!({"index": false, "type": "text"})),
            ),
            ("raw.x", "long", "long", None),
            ("raw.not", "string", "text", None),
            (
                "n12",
                "long",
                "long",
                Some(json!({"type": "long", "meta": {"from": "n12"}})),
            ),
            ("other", "long", "long", None),
        ] {
            let made = apply(&templates, path, kind, fallback).map(Value::Object);
            assert_eq!(made, expected, "{path}");
        }
    }

    #[test]
    fn templates_that_say_too_little_are_refused() {
        for body in [
            json!({}),
            json!([{}]),
            json!([{"a": {}}]),
            json!([{"a": {"match": "x"}}]),
        ] {
            assert!(read(&body).is_err(), "{body}");
        }
    }
}

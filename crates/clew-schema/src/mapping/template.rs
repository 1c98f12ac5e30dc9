//! Dynamic templates: how new names of documents become fields, where the mapping says so.

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::MappingError;
use crate::glob;

/// What is said of a template.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSpec {
    /// Its name.
    pub name: String,
    /// Whether patterns are regular expressions; else `*` stands for any characters.
    pub is_regex: bool,
    /// Which names are meant.
    pub names: NamePatterns,
    /// Which paths are meant.
    pub paths: NamePatterns,
    /// The type that a value seems to have; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping_type: Option<String>,
    /// The parameters of the fields that it makes, as a protocol writes them: what they come to is known for a name
    /// and a value alone, and to a reader of that protocol ([`MappingReader`](super::MappingReader)).
    pub parameters: Map<String, Value>,
}

/// Patterns as they were written; none at all means everything.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamePatterns {
    /// What is meant.
    pub like: Vec<String>,
    /// What of that is not.
    pub unlike: Vec<String>,
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
        let understood = |patterns: &NamePatterns| {
            Ok::<_, MappingError>(Patterns {
                like: understand(&patterns.like, &spec)?,
                unlike: understand(&patterns.unlike, &spec)?,
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

fn understand(patterns: &[String], of: &TemplateSpec) -> Result<Vec<Pattern>, MappingError> {
    patterns
        .iter()
        .map(|pattern| {
            if !of.is_regex {
                return Ok(Pattern::Glob(pattern.clone()));
            }
            match Regex::new(&format!("(?s)^(?:{pattern})$")) {
                Ok(expression) => Ok(Pattern::Regex(expression)),
                Err(_) => {
                    let (pattern, template) = (pattern.clone(), of.name.clone());
                    Err(MappingError::Pattern { pattern, template })
                }
            }
        })
        .collect()
}

/// A field or an object that a template makes of a new name.
#[derive(Clone, Debug)]
pub struct TemplateField {
    /// Its path.
    pub path: String,
    /// The parameters of the template, as they were written.
    pub parameters: Map<String, Value>,
    /// The type that it gets where the template names none.
    pub fallback: &'static str,
}

/// What the first template that fits makes of a new path. `dynamic_type` is what its value seems to be, `fallback` the
/// type it gets where the template names none.
pub(crate) fn apply(
    templates: &[DynamicTemplate],
    path: &str,
    dynamic_type: &str,
    fallback: &'static str,
) -> Option<TemplateField> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let template = templates.iter().find(|template| {
        let wanted = template.spec.mapping_type.as_deref();
        wanted.is_none_or(|wanted| wanted == dynamic_type)
            && template.names.matches(name)
            && template.paths.matches(path)
    })?;
    Some(TemplateField {
        path: path.to_string(),
        parameters: template.spec.parameters.clone(),
        fallback,
    })
}

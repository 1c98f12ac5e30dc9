//! Templates of both generations in one list, as `_cat/templates` shows them.

use clew_engine::Definitions;
use serde_json::Value;

use super::compose::patterns_of;
use super::patterns::{bracketed, read};
use super::{COMPOSABLE, LEGACY};

/// A line of the list.
pub(crate) struct ListedTemplate {
    pub(crate) name: String,
    pub(crate) patterns: String,
    /// Order or priority.
    pub(crate) order: String,
    pub(crate) version: String,
    pub(crate) composed_of: String,
}

/// Every template, legacy ones first.
pub(crate) fn all(definitions: &Definitions) -> Vec<ListedTemplate> {
    let number = |template: &Value, key: &str| {
        let number = template.get(key).filter(|number| !number.is_null());
        number.map_or(String::new(), Value::to_string)
    };
    let line = |name: &str, template: &Value, order: &str, composed_of: String| ListedTemplate {
        name: name.to_string(),
        patterns: bracketed(&patterns_of(template)),
        order: number(template, order),
        version: number(template, "version"),
        composed_of,
    };
    let legacy = definitions
        .of(LEGACY)
        .map(|(name, template)| line(name, template, "order", String::new()));
    let composable = definitions.of(COMPOSABLE).map(|(name, template)| {
        let parts = template.get("composed_of").and_then(read);
        line(
            name,
            template,
            "priority",
            bracketed(&parts.unwrap_or_default()),
        )
    });
    legacy.chain(composable).collect()
}

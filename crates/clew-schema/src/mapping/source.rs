//! What the mapping says of `_source`: whether it is handed out, and which parts of it.

use serde_json::Value;

use super::schema::Mapping;

impl Mapping {
    /// Whether documents are handed out as they came.
    pub fn is_source_enabled(&self) -> bool {
        let source = self.root.shown.get("_source");
        let enabled = source.and_then(|source| source.get("enabled"));
        !matches!(enabled, Some(Value::Bool(false)))
            && enabled.and_then(Value::as_str) != Some("false")
    }

    /// Patterns of paths that are handed out, and of those that are not; an empty first list means
    /// all.
    pub fn source_paths_shown(&self) -> (Vec<String>, Vec<String>) {
        let list = |key: &str| match self.root.shown.get("_source").and_then(|s| s.get(key)) {
            Some(Value::Array(items)) => {
                let texts = items.iter().filter_map(Value::as_str);
                texts.map(String::from).collect()
            }
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        };
        (list("includes"), list("excludes"))
    }

    /// Whether every document must name its routing.
    pub fn is_routing_required(&self) -> bool {
        let routing = self.root.shown.get("_routing");
        let required = routing.and_then(|routing| routing.get("required"));
        required == Some(&Value::Bool(true)) || required.and_then(Value::as_str) == Some("true")
    }

    /// Paths of objects, those that only follow from the paths of fields too.
    pub fn object_paths(&self) -> Vec<String> {
        let mut paths: std::collections::BTreeSet<String> = self.objects.keys().cloned().collect();
        for field in self.fields.iter().filter(|field| !field.multi_field) {
            paths.extend(
                field
                    .path
                    .match_indices('.')
                    .map(|(at, _)| field.path[..at].to_string()),
            );
        }
        paths.into_iter().collect()
    }
}

//! What the mapping says of `_source`: whether it is handed out, and which parts of it.

use serde::{Deserialize, Serialize};

use super::schema::Mapping;

/// What of a document is handed out as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceShown {
    /// Whether it is handed out at all.
    pub enabled: bool,
    /// Patterns of paths that are handed out; none means all.
    pub includes: Vec<String>,
    /// Patterns of paths that are left out.
    pub excludes: Vec<String>,
}

impl Default for SourceShown {
    fn default() -> Self {
        SourceShown {
            enabled: true,
            includes: Vec::new(),
            excludes: Vec::new(),
        }
    }
}

impl Mapping {
    /// Whether documents are handed out as they came.
    pub fn is_source_enabled(&self) -> bool {
        self.root.source.enabled
    }

    /// Patterns of paths that are handed out, and of those that are not; an empty first list means
    /// all.
    pub fn source_paths_shown(&self) -> (&[String], &[String]) {
        (&self.root.source.includes, &self.root.source.excludes)
    }

    /// Whether every document must name its routing.
    pub fn is_routing_required(&self) -> bool {
        self.root.routing_required
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

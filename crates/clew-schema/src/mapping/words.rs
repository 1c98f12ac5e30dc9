//! What a field of words says that its index keeps of them: `norms` and `index_options`.
//!
//! The index keeps words with their places, and texts with their lengths, whatever is said. What is said decides what
//! queries may go by, so that they answer as where the rest is not there.

use serde_json::Value;

use super::field::{FieldKind, KeywordStyle, MappedField, TextStyle};
use crate::similarity::Counted;

impl MappedField {
    /// What scores may go by.
    pub fn counted(&self) -> Counted {
        let FieldKind::Text { style, .. } = &self.kind else {
            return Counted::ALL;
        };
        let keeps_any = *style != TextStyle::MatchOnly;
        Counted {
            lengths: keeps_any && !self.says("norms", &["false"]),
            frequencies: keeps_any && !self.says("index_options", &["docs"]),
        }
    }

    /// Whether scores go by how many different values a document has, of which the column tells.
    pub fn counts_values(&self) -> bool {
        let kind = &self.kind;
        let is_keyword =
            matches!(kind, FieldKind::Keyword { style, .. } if *style == KeywordStyle::Keyword);
        is_keyword && self.says("norms", &["true"])
    }

    /// Whether queries may ask where words stand in a text.
    pub fn keeps_positions(&self) -> bool {
        !self.says("index_options", &["docs", "freqs"])
    }

    fn says(&self, parameter: &str, values: &[&str]) -> bool {
        match self.settings.shown.get(parameter) {
            Some(Value::String(said)) => values.contains(&said.as_str()),
            Some(Value::Bool(said)) => values.contains(if *said { &"true" } else { &"false" }),
            _ => false,
        }
    }
}

//! Fields for words that are still being typed: beside the words themselves, pairs and triples of
//! neighbours, and the beginnings of all of these.

use clew_analysis::with_filters;
use serde_json::{Value, json};

use super::field::{FieldKind, FieldSettings, TextStyle};
use super::parameters::show;
use super::schema::{Definition, MappingError};

/// The parameter that says how many neighbours are looked at together.
pub(super) const SIZE_PARAMETER: &str = "max_shingle_size";
pub(super) const SIZE_DEFAULT: u8 = 3;
/// Characters of the longest beginning that is kept.
const BEGINNING_MAX: u64 = 20;
/// What the field of beginnings is called.
const BEGINNINGS: &str = "_index_prefix";

/// Sets what such fields have unless their mapping says otherwise.
pub(super) fn prepare(definition: &mut Definition) {
    if let FieldKind::Text {
        style: TextStyle::AsYouType { .. },
        ..
    } = definition.new.kind
    {
        definition.settings.doc_values = false;
    }
}

/// Reads how many neighbours are looked at together.
pub(super) fn read_size(value: &Value) -> Result<u8, MappingError> {
    let size = show(value).parse().ok();
    size.filter(|size: &u8| (2..=4).contains(size))
        .ok_or_else(|| {
            MappingError::invalid(format!(
                "[{SIZE_PARAMETER}] must be at least [2] and at most [4], got [{}]",
                show(value)
            ))
        })
}

/// The fields beside one for typing: their names, kinds and settings.
pub(super) fn beside(definition: &Definition) -> Vec<(String, FieldKind, FieldSettings)> {
    let FieldKind::Text {
        analyzer,
        style: TextStyle::AsYouType { neighbours },
    } = &definition.new.kind
    else {
        return Vec::new();
    };
    let settings = &definition.settings;
    let search = settings.search_analyzer.as_ref().unwrap_or(analyzer);
    let size = *neighbours;
    let exactly = |size: u8| shingles(size, size, false);
    let made = |analyzer: &str, filters: &[Value]| {
        with_filters(analyzer, filters).unwrap_or_else(|| analyzer.to_string())
    };
    let field = |name: String, indexed: &[Value], searched: &[Value]| {
        let kind = FieldKind::text(made(analyzer, indexed));
        let settings = FieldSettings {
            search_analyzer: Some(made(search, searched)),
            position_gap: settings.position_gap,
            hidden: true,
            similarity: settings.similarity.clone(),
            ..FieldSettings::default()
        };
        (name, kind, settings)
    };
    let mut fields = Vec::new();
    for count in 2..=size {
        let filters = [exactly(count)];
        fields.push(field(format!("_{count}gram"), &filters, &filters));
    }
    let beginnings = json!({"type": "edge_ngram", "min_gram": 1, "max_gram": BEGINNING_MAX});
    // A word and what begins with it have the same beginnings.
    let once = json!({"type": "remove_duplicates"});
    let indexed = [shingles(2, size, true), beginnings, once];
    fields.push(field(BEGINNINGS.to_string(), &indexed, &[exactly(size)]));
    fields
}

fn shingles(min: u8, max: u8, words: bool) -> Value {
    json!({
        "type": "shingle",
        "min_shingle_size": min,
        "max_shingle_size": max,
        "output_unigrams": words,
    })
}

#[cfg(test)]
mod tests {
    use clew_analysis::tokens;

    use crate::mapping::{FieldKind, Mapping};

    fn terms(mapping: &Mapping, path: &str, text: &str) -> Vec<String> {
        let field = mapping.field(path).unwrap();
        let FieldKind::Text { analyzer, .. } = &field.kind else {
            panic!("{path} has no words");
        };
        let mut terms: Vec<String> = tokens(analyzer, text).into_iter().map(|t| t.text).collect();
        terms.sort();
        terms
    }

    #[test]
    fn neighbours_and_beginnings_are_kept_beside_the_words() {
        let mut mapping = Mapping::new();
        let typed = serde_json::json!({"properties": {
            "t": {"type": "search_as_you_type"},
            "s": {"type": "text", "fields": {
                "typed": {"type": "search_as_you_type", "max_shingle_size": 2},
            }},
        }});
        mapping.merge_opensearch(&typed).unwrap();
        for mapping in [Mapping::decode(&mapping.encode()).unwrap(), mapping] {
            assert_eq!(
                terms(&mapping, "t", "One two three"),
                ["one", "three", "two"]
            );
            assert_eq!(
                terms(&mapping, "t._2gram", "One two three"),
                ["one two", "two three"]
            );
            assert_eq!(
                terms(&mapping, "t._3gram", "One two three"),
                ["one two three"]
            );
            assert_eq!(
                terms(&mapping, "t._index_prefix", "ab c"),
                ["a", "ab", "ab ", "ab c", "c"]
            );
            assert_eq!(terms(&mapping, "s.typed._2gram", "a b"), ["a b"]);
            assert!(mapping.field("s.typed._3gram").is_none());
        }
    }

    #[test]
    fn sizes_are_checked() {
        for size in [1, 5] {
            let mut mapping = Mapping::new();
            let typed = serde_json::json!({"properties": {
                "t": {"type": "search_as_you_type", "max_shingle_size": size},
            }});
            assert!(mapping.merge_opensearch(&typed).is_err(), "{size}");
        }
    }
}

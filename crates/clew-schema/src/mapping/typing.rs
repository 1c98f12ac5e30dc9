//! Fields for words that are still being typed: beside the words themselves, pairs and triples of
//! neighbours, and the beginnings of all of these.

use clew_analysis::with_filters;
use serde_json::{Value, json};

use super::definition::Definition;
use super::field::{FieldKind, FieldSettings, TextStyle};

/// Characters of the longest beginning that is kept.
const BEGINNING_MAX: u64 = 20;
/// What the field of beginnings is called.
const BEGINNINGS: &str = "_index_prefix";

/// The names of the fields beside one for typing.
pub(super) fn names(neighbours: u8) -> impl Iterator<Item = String> {
    let together = (2..=neighbours).map(|count| format!("_{count}gram"));
    together.chain(std::iter::once(BEGINNINGS.to_string()))
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
    let exact = (2..=size).map(exactly);
    let mut filters: Vec<_> = exact
        .map(|filter| (vec![filter.clone()], vec![filter]))
        .collect();
    let beginnings = json!({"type": "edge_ngram", "min_gram": 1, "max_gram": BEGINNING_MAX});
    // A word and what begins with it have the same beginnings.
    let once = json!({"type": "remove_duplicates"});
    let indexed = [shingles(2, size, true), beginnings, once];
    filters.push((indexed.to_vec(), vec![exactly(size)]));
    let fields = names(size).zip(filters);
    let fields = fields.map(|(name, (indexed, searched))| field(name, &indexed, &searched));
    fields.collect()
}

fn shingles(min: u8, max: u8, words: bool) -> Value {
    json!({
        "type": "shingle",
        "min_shingle_size": min,
        "max_shingle_size": max,
        "output_unigrams": words,
    })
}

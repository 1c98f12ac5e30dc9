//! Fields for words that are still being typed: beside the words themselves, pairs and triples of
//! neighbours, and the beginnings of all of these.

use clew_analysis::with_filters;
use serde_json::{Value, json};

use super::definition::Definition;
use super::field::{FieldKind, FieldSettings, MappedField, TextStyle};
use super::schema::Mapping;

/// Characters of the longest beginning that is kept.
pub const BEGINNING_CHARS_MAX: usize = 20;
/// What the field of beginnings is called.
const BEGINNINGS: &str = "_index_prefix";

/// What a field beside one for typing holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BesideTyping {
    /// So many words that stand together.
    Neighbours,
    /// How words, and neighbours, begin.
    Beginnings,
}

/// The names of the fields beside one for typing.
pub(super) fn names(neighbours: u8) -> impl Iterator<Item = String> {
    let together = (2..=neighbours).map(neighbours_name);
    together.chain(std::iter::once(BEGINNINGS.to_string()))
}

fn neighbours_name(count: u8) -> String {
    format!("_{count}gram")
}

impl Mapping {
    /// The field of words that stand together, as many of the wanted ones as are kept, beside a field for typing.
    pub fn neighbours_beside(&self, field: &MappedField, wanted: usize) -> Option<&MappedField> {
        let most = neighbours_of(field)?;
        let count = u8::try_from(wanted).unwrap_or(most).min(most);
        self.field(&format!("{}.{}", field.path, neighbours_name(count)))
    }

    /// The field of beginnings that belongs to one of words that stand together.
    pub fn beginnings_beside(&self, field: &MappedField) -> Option<&MappedField> {
        match self.beside_typing(field)? {
            BesideTyping::Neighbours => {
                let (above, _) = field.path.rsplit_once('.')?;
                self.field(&format!("{above}.{BEGINNINGS}"))
            }
            BesideTyping::Beginnings => None,
        }
    }

    /// What a field holds that stands beside one for typing; `None` of any other one.
    pub fn beside_typing(&self, field: &MappedField) -> Option<BesideTyping> {
        if !field.settings.hidden {
            return None;
        }
        let (above, name) = field.path.rsplit_once('.')?;
        neighbours_of(self.field(above)?)?;
        Some(match name {
            BEGINNINGS => BesideTyping::Beginnings,
            _ => BesideTyping::Neighbours,
        })
    }
}

/// How many words that stand together a field for typing keeps; `None` of any other one.
fn neighbours_of(field: &MappedField) -> Option<u8> {
    match &field.kind {
        FieldKind::Text {
            style: TextStyle::AsYouType { neighbours },
            ..
        } => Some(*neighbours),
        _ => None,
    }
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
    let beginnings = json!({"type": "edge_ngram", "min_gram": 1, "max_gram": BEGINNING_CHARS_MAX});
    // A word and what begins with it have the same beginnings.
    let once = json!({"type": "remove_duplicates"});
    let indexed = [shingles(2, size, true), beginnings, once];
    filters.push((indexed.to_vec(), vec![exactly(size)]));
    let fields = names(size).zip(filters);
    let fields = fields.map(|(name, (indexed, searched))| {
        let is_last = name == BEGINNINGS;
        let (name, kind, mut settings) = field(name, &indexed, &searched);
        if is_last {
            // How many beginnings there are says nothing.
            settings.shown.insert("norms".to_string(), false.into());
        }
        (name, kind, settings)
    });
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

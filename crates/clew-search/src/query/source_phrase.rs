//! Phrases on a field that keeps no positions: documents that have all the words are read again and
//! their text is looked through. Slow by nature, and the price of the smaller index.

use std::sync::Arc;

use clew_analysis::for_each_token;
use clew_platform::Pace;
use clew_query::unless_stopped_in_set;
use clew_schema::{FieldKind, MappedField, Mapping, Sources};
use serde_json::Value as Json;
use tantivy::schema::Field;
use tantivy::{SegmentReader, Term as IndexTerm};
use tantivy_common::BitSet;

use super::constant::{DocumentSet, FoundDocs, add_postings, knows};
use super::phrase::{PhrasePlace, frequency};

/// Words at places relative to each other.
#[derive(Debug)]
pub(crate) struct SourcePhrase {
    field: Field,
    analyzer: String,
    position_gap: usize,
    /// Where the source has the text: the field's own place, and those that are copied to it.
    paths: Vec<String>,
    words: Vec<PhrasePlace>,
    slop: u32,
}

impl SourcePhrase {
    /// The phrase over at least one word.
    pub(crate) fn new(
        mapping: &Arc<Mapping>,
        mapped: &MappedField,
        words: Vec<(usize, IndexTerm)>,
        slop: u32,
    ) -> Self {
        let analyzer = match &mapped.kind {
            FieldKind::Text { analyzer, .. } => analyzer.clone(),
            _ => "keyword".to_string(),
        };
        SourcePhrase {
            field: words.first().map_or(Mapping::ID, |(_, term)| term.field()),
            analyzer,
            position_gap: mapped.settings.position_gap,
            paths: mapping.source_paths(mapped),
            words: words
                .into_iter()
                .map(|(offset, term)| PhrasePlace {
                    offset,
                    terms: vec![term],
                })
                .collect(),
            slop,
        }
    }

    /// Documents with all the words, wherever these are.
    fn candidates(&self, reader: &SegmentReader) -> tantivy::Result<Option<BitSet>> {
        let inverted = reader.inverted_index(self.field)?;
        let mut all: Option<BitSet> = None;
        let mut pace = Pace::of_blocks();
        for term in self.words.iter().flat_map(|place| &place.terms) {
            let Some(info) = inverted.terms().get(term.serialized_value_bytes())? else {
                return Ok(None);
            };
            let mut bits = BitSet::with_max_value(reader.max_doc());
            add_postings(&mut bits, (&inverted, &info), &mut pace)?;
            unless_stopped_in_set()?;
            all = Some(match all {
                None => bits,
                Some(before) => {
                    let mut both = BitSet::with_max_value(reader.max_doc());
                    let docs = (0..reader.max_doc()).filter(|d| before.contains(*d));
                    for doc in docs.filter(|doc| bits.contains(*doc)) {
                        both.insert(doc);
                    }
                    both
                }
            });
        }
        Ok(all)
    }

    /// Whether the document's text has the phrase.
    fn is_in(&self, source: &Json) -> bool {
        let mut texts = Vec::new();
        for path in &self.paths {
            texts_at(source, path, &mut texts);
        }
        let mut places: Vec<Vec<u32>> = vec![Vec::new(); self.words.len()];
        let mut first_position = 0;
        for text in texts {
            let mut next = first_position;
            for_each_token(&self.analyzer, &text, |token| {
                let position = first_position + token.position;
                next = position + 1;
                let is_here =
                    |word: &IndexTerm| word.serialized_value_bytes() == token.text.as_bytes();
                for (place, found) in self.words.iter().zip(&mut places) {
                    if place.terms.iter().any(is_here) {
                        found.extend(u32::try_from(position));
                    }
                }
            });
            first_position = next + self.position_gap;
        }
        frequency(&self.words, &places, self.slop) > 0.0
    }
}

/// The texts at a dotted path, through objects and arrays.
pub fn texts_at(value: &Json, path: &str, texts: &mut Vec<String>) {
    match value {
        Json::Array(items) => {
            for item in items {
                texts_at(item, path, texts);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                if name == path {
                    leaf_texts(member, texts);
                } else if let Some(rest) = path.strip_prefix(name.as_str())
                    && let Some(rest) = rest.strip_prefix('.')
                {
                    texts_at(member, rest, texts);
                }
            }
        }
        _ => {}
    }
}

fn leaf_texts(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| leaf_texts(item, texts)),
        Json::String(text) => texts.push(text.clone()),
        Json::Number(_) | Json::Bool(_) => texts.push(value.to_string()),
        Json::Null | Json::Object(_) => {}
    }
}

impl DocumentSet for SourcePhrase {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        if !knows(reader, self.field) {
            return Ok(FoundDocs::Nothing);
        }
        let Some(candidates) = self.candidates(reader)? else {
            return Ok(FoundDocs::Nothing);
        };
        let mut sources = Sources::open(reader)?.cursor();
        let mut bits = BitSet::with_max_value(reader.max_doc());
        for doc in (0..reader.max_doc()).filter(|doc| candidates.contains(*doc)) {
            unless_stopped_in_set()?;
            if reader.is_deleted(doc) {
                continue;
            }
            if let Ok(source) = serde_json::from_slice(sources.get(doc)?)
                && self.is_in(&source)
            {
                bits.insert(doc);
            }
        }
        Ok(FoundDocs::Bits(bits))
    }
}

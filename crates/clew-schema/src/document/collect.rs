//! What a document is made of, gathered while it is walked.

use std::collections::HashSet;
use std::ops::Range;

use clew_analysis::for_each_token;
use tantivy::schema::{Field, OwnedValue};
use tantivy::tokenizer::{PreTokenizedString, Token};

use super::copies::value_bytes;
use super::vector::VectorValue;
use crate::mapping::{FieldId, FieldKind, MappedField, Mapping};

/// The values of one document.
pub(super) struct Values<'m> {
    mapping: &'m Mapping,
    fields: Vec<(Field, OwnedValue)>,
    /// One bit for each field that has had a value.
    seen: Vec<u64>,
    /// Whether a field that treats several values together has several.
    has_several: bool,
    /// Whether another field says which analyzer the texts of one go through.
    has_choice: bool,
    pub(super) vectors: Vec<(FieldId, VectorValue)>,
}

impl<'m> Values<'m> {
    pub(super) fn new(mapping: &'m Mapping, vectors: Vec<(FieldId, VectorValue)>) -> Self {
        Values {
            mapping,
            // With room for the id.
            fields: Vec::with_capacity(mapping.fields.len().min(64) + 1),
            seen: vec![0; mapping.fields.len() / 64 + 1],
            has_several: false,
            has_choice: false,
            vectors,
        }
    }

    pub(super) fn push(&mut self, field: &MappedField, value: OwnedValue) {
        let Some(tantivy_field) = field.field else {
            return;
        };
        let number = field.id.0 as usize;
        let bit = 1u64 << (number % 64);
        if let Some(word) = self.seen.get_mut(number / 64) {
            let together = matches!(
                field.kind,
                FieldKind::Text { .. }
                    | FieldKind::Keyword { .. }
                    | FieldKind::Flat
                    | FieldKind::Binary { .. }
                    | FieldKind::Range { .. }
                    | FieldKind::Ip
                    | FieldKind::RankFeatures
            );
            self.has_several |= together && *word & bit != 0;
            *word |= bit;
        }
        self.has_choice |= field.settings.choice.is_some();
        self.fields.push((tantivy_field, value));
    }

    /// Whether the field has a value already.
    pub(super) fn has(&self, field: &MappedField) -> bool {
        let own = field.field;
        own.is_some() && self.fields.iter().any(|(held, _)| Some(*held) == own)
    }

    /// One of some terms that the field has already.
    pub(super) fn term_of(&self, field: &MappedField, terms: &[&str]) -> Option<String> {
        let values = self
            .fields
            .iter()
            .filter(|(own, _)| field.field == Some(*own));
        let mut tokens = values.filter_map(|(_, value)| match value {
            OwnedValue::PreTokStr(tokens) => Some(&tokens.tokens),
            _ => None,
        });
        tokens.find_map(|tokens| {
            let mut found = tokens
                .iter()
                .filter(|token| terms.contains(&token.text.as_str()));
            found.next().map(|token| token.text.clone())
        })
    }

    /// About what they take where they are given to another document too.
    pub(super) fn bytes(&self) -> usize {
        self.fields
            .iter()
            .map(|(_, value)| value_bytes(value))
            .sum()
    }

    /// Gives the values to another document too.
    pub(super) fn share_with(&self, other: &mut Values<'_>) {
        for (field, value) in &self.fields {
            if let Some(mapped) = self.mapping.fields.iter().find(|f| f.field == Some(*field)) {
                other.push(mapped, value.clone());
            }
        }
    }

    /// What tantivy takes.
    pub(super) fn take_fields(&mut self) -> Vec<(Field, OwnedValue)> {
        let mut fields = std::mem::take(&mut self.fields);
        if std::mem::take(&mut self.has_choice) {
            cut_by_choice(self.mapping, &mut fields);
        }
        if self.has_several {
            put_together(self.mapping, fields)
        } else {
            fields
        }
    }
}

/// Texts become the words of the analyzer that the document chooses, all texts of a field together; those of the field's own
/// analyzer stay as they are.
fn cut_by_choice(mapping: &Mapping, values: &mut Vec<(Field, OwnedValue)>) {
    for mapped in &mapping.fields {
        let (Some(choice), Some(own)) = (&mapped.settings.choice, mapped.field) else {
            continue;
        };
        let chooser = mapping.field(&choice.by);
        let chosen = texts_of(values, chooser.and_then(|chooser| chooser.field));
        let Some(analyzer) = chosen.first().and_then(|value| choice.analyzers.get(value)) else {
            continue;
        };
        let texts = texts_of(values, Some(own));
        if texts.is_empty() {
            continue;
        }
        let gap = mapped.settings.position_gap;
        let words = joined(analyzer, gap, texts.iter().map(String::as_str));
        values.retain(|(field, _)| *field != own);
        values.push((own, OwnedValue::PreTokStr(words)));
    }
}

/// The texts that a field has among others.
fn texts_of(values: &[(Field, OwnedValue)], own: Option<Field>) -> Vec<String> {
    let of_field = values.iter().filter(|(field, _)| Some(*field) == own);
    let texts = of_field.filter_map(|(_, value)| match value {
        OwnedValue::Str(text) => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// Texts of one field become one value with gaps between them; keywords and addresses become sets,
/// as their columns are in Lucene.
fn put_together(
    mapping: &Mapping,
    mut values: Vec<(Field, OwnedValue)>,
) -> Vec<(Field, OwnedValue)> {
    values.sort_by_key(|(field, _)| field.field_id());
    let mut out: Vec<(Field, OwnedValue)> = Vec::with_capacity(values.len());
    let by_field = |field: Field| mapping.fields.iter().find(|f| f.field == Some(field));
    for group in values.chunk_by(|a, b| a.0 == b.0) {
        let field = group[0].0;
        let mapped = by_field(field);
        match mapped.map(|mapped| &mapped.kind) {
            Some(FieldKind::Text { analyzer, .. }) if group.len() > 1 => {
                let gap = mapped.map_or(0, |mapped| mapped.settings.position_gap);
                let texts = group.iter().filter_map(|(_, value)| match value {
                    OwnedValue::Str(text) => Some(text.as_str()),
                    _ => None,
                });
                out.push((field, OwnedValue::PreTokStr(joined(analyzer, gap, texts))));
            }
            Some(FieldKind::RankFeatures) if group.len() > 1 => {
                let tokens = group.iter().filter_map(|(_, value)| match value {
                    OwnedValue::PreTokStr(features) => Some(features.tokens.iter().cloned()),
                    _ => None,
                });
                let all = PreTokenizedString {
                    text: String::new(),
                    tokens: tokens.flatten().collect(),
                };
                out.push((field, OwnedValue::PreTokStr(all)));
            }
            Some(
                FieldKind::Keyword { .. }
                | FieldKind::Flat
                | FieldKind::Binary { .. }
                | FieldKind::Range { .. }
                | FieldKind::Ip,
            ) => {
                out.extend(distinct(group));
            }
            _ => out.extend(group.iter().cloned()),
        }
    }
    out
}

/// So many values are looked for one by one.
const FEW: usize = 16;

/// Values of one field, each once, in the order in which they come first. Costs the values, not their pairs.
fn distinct(group: &[(Field, OwnedValue)]) -> Vec<(Field, OwnedValue)> {
    let mut out: Vec<(Field, OwnedValue)> = Vec::with_capacity(group.len());
    let (mut texts, mut bytes, mut addresses) = (HashSet::new(), HashSet::new(), HashSet::new());
    for value in group {
        let is_new = match &value.1 {
            _ if group.len() <= FEW => !out.contains(value),
            OwnedValue::Str(text) => texts.insert(text.as_str()),
            OwnedValue::Bytes(value) => bytes.insert(value.as_slice()),
            OwnedValue::IpAddr(address) => addresses.insert(*address),
            _ => !out.contains(value),
        };
        if is_new {
            out.push(value.clone());
        }
    }
    out
}

/// The tokens of all texts, positions of each text a gap after the one before.
fn joined<'t>(
    analyzer: &str,
    gap: usize,
    texts: impl Iterator<Item = &'t str>,
) -> PreTokenizedString {
    let mut tokens: Vec<Token> = Vec::new();
    let mut first_position = 0;
    for text in texts {
        let mut next = first_position;
        for_each_token(analyzer, text, |token| {
            let mut token = token.clone();
            token.position += first_position;
            next = token.position + 1;
            tokens.push(token);
        });
        first_position = next + gap;
    }
    PreTokenizedString {
        text: String::new(),
        tokens,
    }
}

/// Stretches of the source that are left out, in order.
#[derive(Default)]
pub(super) struct Cuts(Vec<Range<usize>>);

impl Cuts {
    /// Leaves out a stretch, which begins at or after the one before.
    pub(super) fn cut(&mut self, range: Range<usize>) {
        match self.0.last_mut() {
            Some(last) if last.start == range.start => last.end = range.end,
            _ => self.0.push(range),
        }
    }

    /// What remains; `None` when nothing is cut.
    pub(super) fn apply(&self, source: &[u8]) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        let cut: usize = self.0.iter().map(Range::len).sum();
        let mut out = Vec::with_capacity(source.len().saturating_sub(cut));
        let mut at = 0;
        for range in &self.0 {
            out.extend_from_slice(source.get(at..range.start).unwrap_or_default());
            at = range.end;
        }
        out.extend_from_slice(source.get(at..).unwrap_or_default());
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_values_those_are_left_that_are_left_of_few() {
        let field = Field::from_field_id(0);
        let texts = (0..100).map(|n| OwnedValue::Str(format!("b{}", n * 7 % 40)));
        let bytes = (0..100).map(|n| OwnedValue::Bytes(vec![n % 50]));
        let addresses = (0..100).map(|n| OwnedValue::IpAddr((n * 5 % 60_u128).into()));
        let values = texts.chain(bytes).chain(addresses);
        let values: Vec<(Field, OwnedValue)> = values.map(|value| (field, value)).collect();
        let mut naive: Vec<(Field, OwnedValue)> = Vec::new();
        for value in &values {
            if !naive.contains(value) {
                naive.push(value.clone());
            }
        }
        assert_eq!(distinct(&values), naive);
        for few in values.chunks(5) {
            assert_eq!(distinct(few), few);
        }
    }
}

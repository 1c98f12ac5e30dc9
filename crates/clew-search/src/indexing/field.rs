//! One indexed field of a segment that is being filled: how its values become terms, and how long its documents are.

use std::collections::HashSet;
use std::io;

use clew_analysis::{LengthOf, StandardTerms};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::document::{ReferenceValueLeaf, Value};
use tantivy::schema::{FieldEntry, FieldType, IndexRecordOption};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, TokenizerManager};
use tantivy::{DocId, f64_to_u64, i64_to_u64};

use super::occurrences::{Full, Occurrences};

/// Positions between the values of a field, as tantivy counts them.
const VALUE_GAP: u32 = 1;
/// Bytes of the longest term that tantivy's dictionaries take; longer ones are left out, as they are there.
const MAX_TOKEN_LEN: usize = u16::MAX as usize - 5;

/// What is wrong with a value.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It is not of the field's type.
    Type,
    /// The segment holds more than its numbers count.
    Size,
}

impl From<Full> for Refusal {
    fn from(Full: Full) -> Self {
        Refusal::Size
    }
}

/// How a field's values become terms.
enum Cut {
    /// Each text is one term.
    Whole,
    /// The usual words, without tokens.
    Standard(StandardTerms),
    Words(TextAnalyzer),
    U64,
    I64,
    F64,
    Ip,
}

/// How far the last document has come.
#[derive(Default)]
struct LastDocument {
    /// How long it is, by what counts in its field.
    length: u32,
    /// Its words, where each counts once.
    words: HashSet<String>,
    /// Where its next value begins.
    position: u32,
}

impl LastDocument {
    /// Begins the next one.
    fn begin(&mut self) {
        (self.length, self.position) = (0, 0);
        if !self.words.is_empty() {
            self.words = HashSet::default();
        }
    }
}

/// One indexed field of a segment that is being filled.
pub(super) struct FieldPostings {
    cut: Cut,
    occurrences: Occurrences,
    /// The length of each document up to the last that has any, as tantivy rounds it; `None` when it is not kept.
    norms: Option<Vec<u8>>,
    /// What counts in the length of a text.
    counts: LengthOf,
    last: LastDocument,
}

impl FieldPostings {
    /// Postings for a field; `None` when it has none.
    pub(super) fn new(entry: &FieldEntry, tokenizers: &TokenizerManager) -> Option<Self> {
        if !entry.is_indexed() {
            return None;
        }
        let mut counts = LengthOf::Places;
        let (cut, record) = match entry.field_type() {
            FieldType::Str(options) => {
                let options = options.get_indexing_options()?;
                let cut = match options.tokenizer() {
                    "raw" => Cut::Whole,
                    "standard" => Cut::Standard(StandardTerms::default()),
                    name => {
                        counts = clew_analysis::length_of(name);
                        Cut::Words(tokenizers.get(name)?)
                    }
                };
                (cut, options.index_option())
            }
            FieldType::U64(_) => (Cut::U64, IndexRecordOption::Basic),
            FieldType::I64(_) => (Cut::I64, IndexRecordOption::Basic),
            FieldType::F64(_) => (Cut::F64, IndexRecordOption::Basic),
            FieldType::IpAddr(_) => (Cut::Ip, IndexRecordOption::Basic),
            _ => return None,
        };
        Some(FieldPostings {
            cut,
            occurrences: Occurrences::new(record),
            norms: entry.has_fieldnorms().then(Vec::new),
            counts,
            last: LastDocument::default(),
        })
    }

    /// Memory that it holds.
    pub(super) fn mem_usage(&self) -> usize {
        let cut = match &self.cut {
            Cut::Standard(terms) => terms.mem_usage(),
            _ => 0,
        };
        cut + self.occurrences.mem_usage() + self.norms.as_ref().map_or(0, Vec::capacity)
    }

    /// Adds a value of a document, which is the last one or comes after it.
    pub(super) fn add<'a>(&mut self, doc: DocId, value: impl Value<'a>) -> Result<(), Refusal> {
        if self.occurrences.begin(doc) {
            self.last.begin();
        }
        let value = value.as_leaf().ok_or(Refusal::Type)?;
        self.cut(value)?;
        if let Some(norms) = &mut self.norms {
            norms.resize(doc as usize + 1, 0);
            norms[doc as usize] = FieldNormReader::fieldnorm_to_id(self.last.length);
        }
        Ok(())
    }

    fn cut(&mut self, value: ReferenceValueLeaf<'_>) -> Result<(), Refusal> {
        let FieldPostings {
            cut,
            occurrences,
            last,
            ..
        } = self;
        let mut number = |value: Option<u64>| {
            last.length += 1;
            let value = value.ok_or(Refusal::Type)?.to_be_bytes();
            Ok(occurrences.push(&value, value.len(), 0)?)
        };
        match (cut, value.as_str()) {
            (Cut::U64, _) => number(value.as_u64()),
            (Cut::I64, _) => number(value.as_i64().map(i64_to_u64)),
            (Cut::F64, _) => number(value.as_f64().map(f64_to_u64)),
            (Cut::Ip, _) => {
                last.length += 1;
                let address = value.as_ip_addr().ok_or(Refusal::Type)?;
                let bytes = address.to_bits().to_be_bytes();
                Ok(occurrences.push(&bytes, bytes.len(), 0)?)
            }
            (Cut::Standard(terms), Some(text)) => {
                let mut end = last.position;
                terms.each(text, |bytes, length| {
                    last.length += 1;
                    let position = end;
                    end = end.checked_add(1).ok_or(Full)?;
                    occurrences.push(bytes, length, position)
                })?;
                last.position = end.saturating_add(VALUE_GAP);
                Ok(())
            }
            (Cut::Standard(_) | Cut::Whole | Cut::Words(_), _) => self.cut_tokens(value),
        }
    }

    /// Adds the tokens of a text, or those that a value is made of.
    fn cut_tokens(&mut self, value: ReferenceValueLeaf<'_>) -> Result<(), Refusal> {
        let FieldPostings {
            cut,
            occurrences,
            counts,
            last,
            ..
        } = self;
        let (start, mut end) = (last.position, last.position);
        let mut before = None;
        let mut token = |token: &Token| {
            if token.text.len() > MAX_TOKEN_LEN {
                return Ok(());
            }
            let position = u32::try_from(token.position).map_err(|_| Full)?;
            let length = u32::try_from(token.position_length).map_err(|_| Full)?;
            let position = start.checked_add(position).ok_or(Full)?;
            end = end.max(position.saturating_add(length));
            // As Lucene counts: a synonym makes no text longer.
            let is_beside = before.replace(position) == Some(position);
            last.length += u32::from(match counts {
                LengthOf::Places => !is_beside,
                LengthOf::Words => true,
                LengthOf::Distinct => {
                    let is_known = last.words.contains(&token.text);
                    !is_known && last.words.insert(token.text.clone())
                }
            });
            occurrences.push(token.text.as_bytes(), token.text.len(), position)
        };
        match (value.as_str(), cut) {
            (Some(text), Cut::Words(analyzer)) => {
                let mut stream = analyzer.token_stream(text);
                while stream.advance() {
                    token(stream.token())?;
                }
            }
            (Some(text), _) if text.len() <= MAX_TOKEN_LEN => {
                last.length += 1;
                occurrences.push(text.as_bytes(), text.len(), start)?;
                end = start.saturating_add(1);
            }
            (Some(_), _) => {}
            (None, _) => {
                let cut = value.into_pre_tokenized_text().ok_or(Refusal::Type)?;
                for word in &cut.tokens {
                    token(word)?;
                }
            }
        }
        last.position = end.saturating_add(VALUE_GAP);
        Ok(())
    }

    /// The lengths of that many documents.
    pub(super) fn norms(&mut self, doc_count: DocId) -> Option<&[u8]> {
        let norms = self.norms.as_mut()?;
        norms.resize(doc_count as usize, 0);
        Some(norms)
    }

    /// Number of occurrences.
    pub(super) fn token_count(&self) -> u64 {
        self.occurrences.count() as u64
    }

    /// Ends what was added, so that it can be written.
    pub(super) fn settle(&mut self) -> Result<(), Refusal> {
        Ok(self.occurrences.settle()?)
    }

    /// All terms with their postings, as a segment's files have them: dictionary, postings, positions.
    pub(super) fn serialize(&self, norms: Option<FieldNormReader>) -> io::Result<[Vec<u8>; 3]> {
        self.occurrences.serialize(norms)
    }
}

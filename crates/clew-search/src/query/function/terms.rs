//! How often words are in a shard and in its documents, for scripts that ask by names which they may only work out as
//! they run: what was found is kept for as long as the script is.

use std::sync::Arc;

use clew_query::{ScriptError, ScriptErrorKind, TermCount};
use clew_schema::{FieldKind, Mapping};
use parking_lot::Mutex;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, Term};

use crate::snapshot::{Snapshot, occurrences_in, searchable_in};

/// How many different words and fields one script may ask for.
const ASKED_MAX: usize = 256;

/// What was found of a word of a field, or of all its words.
#[derive(Debug)]
struct Asked<T> {
    field: String,
    term: Option<String>,
    found: T,
}

impl<T> Asked<T> {
    fn is(&self, field: &str, term: Option<&str>) -> bool {
        self.field == field && self.term.as_deref() == term
    }

    /// Where it is in a list, and if it is not there yet, behind all others.
    fn place(
        list: &mut Vec<Self>,
        (field, term): (&str, Option<&str>),
        find: impl FnOnce() -> tantivy::Result<T>,
    ) -> Result<usize, ScriptError> {
        if let Some(place) = list.iter().position(|asked| asked.is(field, term)) {
            return Ok(place);
        }
        if list.len() == ASKED_MAX {
            return Err(ScriptError::new(
                ScriptErrorKind::Limit,
                format!("a script may ask how often [{ASKED_MAX}] different words are there"),
            ));
        }
        let found = find();
        let found =
            found.map_err(|error| ScriptError::new(ScriptErrorKind::State, error.to_string()))?;
        list.push(Asked {
            field: field.to_string(),
            term: term.map(str::to_string),
            found,
        });
        Ok(list.len() - 1)
    }
}

/// The words of a shard.
#[derive(Debug)]
pub(super) struct ShardTerms {
    mapping: Arc<Mapping>,
    readers: Vec<SegmentReader>,
    totals: Mutex<Vec<Asked<i64>>>,
}

impl ShardTerms {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        ShardTerms {
            mapping: Arc::clone(&snapshot.mapping),
            readers: snapshot.readers.clone(),
            totals: Mutex::default(),
        }
    }

    /// How often a word is in its field, or how many words that has, in all documents, deleted ones included. Reads
    /// the postings of the word when it is asked for first.
    fn total(&self, field: &str, term: Option<&str>) -> Result<i64, ScriptError> {
        let mut totals = self.totals.lock();
        let place = Asked::place(&mut totals, (field, term), || self.count(field, term))?;
        Ok(totals.get(place).map_or(0, |asked| asked.found))
    }

    fn count(&self, path: &str, term: Option<&str>) -> tantivy::Result<i64> {
        let mut sum: u64 = 0;
        for reader in &self.readers {
            let Some(field) = self.field(path, reader) else {
                continue;
            };
            let inverted = reader.inverted_index(field)?;
            sum += match term {
                None => inverted.total_num_tokens(),
                Some(term) => match inverted.get_term_info(&Term::from_field_text(field, term))? {
                    Some(info) => occurrences_in(&inverted, &info)?,
                    None => 0,
                },
            };
        }
        Ok(i64::try_from(sum).unwrap_or(i64::MAX))
    }

    /// The field that has the words, if it has any: numbers and the like have none.
    fn field(&self, path: &str, reader: &SegmentReader) -> Option<Field> {
        let mapped = self.mapping.field(path)?;
        let has_words = matches!(
            mapped.kind,
            FieldKind::Keyword { .. } | FieldKind::Text { .. }
        );
        if !has_words {
            return None;
        }
        searchable_in(reader.schema(), mapped)
    }
}

/// The postings of a word in a segment.
struct Found {
    postings: Option<SegmentPostings>,
    /// The document that was asked for last.
    at: DocId,
}

/// The words of one segment.
pub(super) struct SegmentTerms {
    reader: SegmentReader,
    found: Mutex<Vec<Asked<Found>>>,
}

impl SegmentTerms {
    pub(super) fn of(reader: &SegmentReader) -> Self {
        SegmentTerms {
            reader: reader.clone(),
            found: Mutex::default(),
        }
    }

    /// What a script asks for at a document of this segment of a shard.
    ///
    /// # Errors
    /// When postings cannot be read, or too many words are asked for.
    pub(super) fn count(
        &self,
        shard: &ShardTerms,
        count: TermCount<'_>,
        doc: DocId,
    ) -> Result<i64, ScriptError> {
        match count {
            TermCount::InDocument { field, term } => self.in_document(shard, (field, term), doc),
            TermCount::InShard { field, term } => shard.total(field, Some(term)),
            TermCount::OfField { field } => shard.total(field, None),
        }
    }

    /// Documents come in order as a rule, and the postings go along with them.
    fn in_document(
        &self,
        shard: &ShardTerms,
        (path, term): (&str, &str),
        doc: DocId,
    ) -> Result<i64, ScriptError> {
        let open = || -> tantivy::Result<Found> {
            let postings = match shard.field(path, &self.reader) {
                None => None,
                Some(field) => self.reader.inverted_index(field)?.read_postings(
                    &Term::from_field_text(field, term),
                    IndexRecordOption::WithFreqs,
                )?,
            };
            Ok(Found { postings, at: 0 })
        };
        let mut found = self.found.lock();
        if let Some(behind) = found
            .iter()
            .position(|asked| asked.is(path, Some(term)) && doc < asked.found.at)
        {
            found.swap_remove(behind);
        }
        let place = Asked::place(&mut found, (path, Some(term)), open)?;
        let Some(Found { postings, at }) = found.get_mut(place).map(|asked| &mut asked.found)
        else {
            return Ok(0);
        };
        *at = doc;
        let Some(postings) = postings else {
            return Ok(0);
        };
        if postings.doc() < doc {
            postings.seek(doc);
        }
        let is_there = postings.doc() == doc;
        Ok(i64::from(if is_there { postings.term_freq() } else { 0 }))
    }
}

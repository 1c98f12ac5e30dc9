//! A segment's files as far as ranking reads them itself: postings, positions, lengths and dictionaries.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clew_kernels::prefetch_span;
use clew_schema::CheckedBytes;
use parking_lot::{Mutex, RwLock};
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{CompositeFile, Directory, OwnedBytes};
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, HasLen, SegmentReader, TantivyError};

use super::bm25::NormTable;
use super::dictionary::Dictionary;
use super::impacts::{DOCS_MIN, FrequentWords};
use super::list::BLOCK;
use super::lists::Lists;

/// A count of tokens comes before the postings of a field.
const TOKENS_BYTES: usize = 8;

/// What is asked for of a list before it is read, from its beginning and up to its end.
const FIRST_BYTES: usize = 128;
const LAST_BYTES: usize = 192;

/// Opened once for a segment.
#[derive(Debug)]
pub(crate) struct SegmentFiles {
    postings: CompositeFile,
    positions: CompositeFile,
    dictionaries: CompositeFile,
    max_doc: u32,
    /// Fields that were searched; a segment's files never change.
    fields: RwLock<BTreeMap<Field, Option<Arc<FieldFiles>>>>,
}

impl SegmentFiles {
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let open = |ending: &str| -> tantivy::Result<CompositeFile> {
            let name = format!("{}.{ending}", reader.segment_id().uuid_string());
            match reader.index().directory().open_read(&PathBuf::from(name)) {
                Ok(file) => Ok(CompositeFile::open(&file)?),
                // Only what some field keeps is written.
                Err(OpenReadError::FileDoesNotExist(_)) => Ok(CompositeFile::empty()),
                Err(error) => Err(error.into()),
            }
        };
        Ok(SegmentFiles {
            postings: open("idx")?,
            positions: open("pos")?,
            dictionaries: open("term")?,
            max_doc: reader.max_doc(),
            fields: RwLock::default(),
        })
    }

    /// The posting lists of some words of a field.
    ///
    /// # Errors
    /// When the field cannot be read.
    pub(crate) fn lists(
        &self,
        reader: &SegmentReader,
        (field, infos): (Field, Vec<TermInfo>),
    ) -> tantivy::Result<Lists> {
        Ok(Lists::new(self.field(reader, field)?, infos))
    }

    /// The postings of a field; `None` when the segment has none.
    pub(super) fn field(
        &self,
        reader: &SegmentReader,
        field: Field,
    ) -> tantivy::Result<Option<Arc<FieldFiles>>> {
        if let Some(known) = self.fields.read().get(&field) {
            return Ok(known.clone());
        }
        let opened = self.open_field(reader, field)?.map(Arc::new);
        self.fields.write().insert(field, opened.clone());
        Ok(opened)
    }

    /// The memory that impacts take.
    pub(crate) fn impacts_bytes(&self) -> usize {
        let fields = self.fields.read();
        let bytes = |files: &Arc<FieldFiles>| files.frequent.lock().as_ref().map(|one| one.bytes());
        fields.values().flatten().filter_map(bytes).sum()
    }

    fn open_field(
        &self,
        reader: &SegmentReader,
        field: Field,
    ) -> tantivy::Result<Option<FieldFiles>> {
        let Some(postings) = self.postings.open_read(field) else {
            return Ok(None);
        };
        let entry = reader.schema().get_field_entry(field);
        let Some(option) = entry.field_type().get_index_record_option() else {
            return Ok(None);
        };
        if postings.len() < TOKENS_BYTES {
            return Err(damaged());
        }
        let (tokens, postings) = postings.split(TOKENS_BYTES);
        let tokens = tokens.read_bytes()?;
        let tokens: [u8; TOKENS_BYTES] = tokens.as_slice().try_into().map_err(|_| damaged())?;
        let lengths = reader.fieldnorms_readers().get_inner_file();
        let lengths = lengths.open_read(field).map(|file| file.read_bytes());
        let positions = self.positions.open_read(field);
        let positions = positions.map(CheckedBytes::open_for_all);
        let Some(words) = self.dictionaries.open_read(field) else {
            return Ok(None);
        };
        Ok(Some(FieldFiles {
            dictionary: Dictionary::open(&words.read_bytes()?).ok_or_else(damaged)?,
            tokens: u64::from_le_bytes(tokens),
            docs: self.max_doc,
            option,
            postings: CheckedBytes::open_for_all(postings)?,
            positions: positions.transpose()?,
            lengths: lengths.transpose()?,
            frequent: Mutex::default(),
            reading: Mutex::default(),
        }))
    }
}

fn damaged() -> TantivyError {
    io::Error::new(io::ErrorKind::InvalidData, "postings end too early").into()
}

/// One field of a segment.
pub(super) struct FieldFiles {
    pub(super) dictionary: Dictionary,
    pub(super) tokens: u64,
    pub(super) docs: u32,
    pub(super) option: IndexRecordOption,
    postings: CheckedBytes,
    positions: Option<CheckedBytes>,
    lengths: Option<OwnedBytes>,
    /// The words with impacts that were read last.
    frequent: Mutex<Option<Arc<FrequentWords>>>,
    /// Held while they are read.
    reading: Mutex<()>,
}

impl fmt::Debug for FieldFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "FieldFiles({} tokens)", self.tokens)
    }
}

impl FieldFiles {
    /// Whether impacts are of use. Of a field without lengths all documents of a word are alike.
    pub(super) fn can_have_impacts(&self) -> bool {
        self.lengths.is_some() && self.option.has_freq() && self.docs >= DOCS_MIN
    }

    /// The words with impacts; `None` before they were read under an average length near this one.
    pub(super) fn frequent(&self, table: &NormTable) -> Option<Arc<FrequentWords>> {
        self.frequent
            .lock()
            .clone()
            .filter(|words| words.fit(table))
    }

    /// Reads the impacts of the frequent words, unless another snapshot has; those under another average length go.
    pub(super) fn read_impacts(&self, table: &NormTable) -> Arc<FrequentWords> {
        let _alone = self.reading.lock();
        if let Some(known) = self.frequent(table) {
            return known;
        }
        // Their room is free for the new ones, as soon as no search holds them.
        *self.frequent.lock() = None;
        let read = Arc::new(FrequentWords::read(self, table));
        *self.frequent.lock() = Some(read.clone());
        read
    }

    /// A word's postings; `None` when they are damaged, which whoever keeps the files has noted then: it answers nothing
    /// from what is found without them.
    pub(super) fn postings(&self, info: &TermInfo) -> Option<&[u8]> {
        self.postings.get(info.postings_range.clone()).ok()
    }

    /// A word's positions; `None` when there are none, or as with [`FieldFiles::postings`].
    pub(super) fn positions(&self, info: &TermInfo) -> Option<&[u8]> {
        let positions = self.positions.as_ref()?;
        positions.get(info.positions_range.clone()).ok()
    }

    /// Asks for what is read first of a word's postings, and last: the documents behind the full blocks.
    pub(super) fn prefetch(&self, info: &TermInfo) {
        let (postings, range) = (self.postings.unchecked().as_slice(), &info.postings_range);
        let (first, last) = (FIRST_BYTES.min(range.len()), LAST_BYTES.min(range.len()));
        prefetch_span(postings, range.start, first);
        prefetch_span(postings, range.end - last, last);
    }

    pub(super) fn lengths(&self) -> Lengths<'_> {
        match &self.lengths {
            Some(bytes) => Lengths::Stored(bytes.as_slice()),
            None => Lengths::One,
        }
    }
}

/// The stored lengths of all documents: one byte each, in their order.
#[derive(Clone, Copy)]
pub(super) enum Lengths<'a> {
    Stored(&'a [u8]),
    /// The field keeps no lengths: every document counts as one word.
    One,
}

/// The stored form of a length of one.
const ONE: u8 = 1;

impl Lengths<'_> {
    #[inline]
    pub(super) fn id(self, doc: u32) -> u8 {
        match self {
            Lengths::Stored(bytes) => bytes[doc as usize],
            Lengths::One => ONE,
        }
    }

    /// What the lengths of documents contribute. Never inlined, so that profiles show what reading lengths costs; it is
    /// called once for a block.
    #[inline(never)]
    pub(super) fn contributions(
        self,
        docs: &[DocId],
        table: &NormTable,
        contributions: &mut [f32; BLOCK],
    ) {
        match self {
            Lengths::Stored(bytes) => {
                for (one, doc) in contributions.iter_mut().zip(docs) {
                    *one = table.of(bytes[*doc as usize]);
                }
            }
            Lengths::One => contributions[..docs.len()].fill(table.of(ONE)),
        }
    }
}

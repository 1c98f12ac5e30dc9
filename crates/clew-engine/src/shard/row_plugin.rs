//! The `.rows` file of a segment: id, routing, sequence number and version of each document, at
//! fixed places, so that a hit's id costs some mapped reads rather than a decompressed store block.
//! The row of a nested object has its path in the place of the id, which only the document has.
//! Layout: `docs/formats/segment.md`.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clew_schema::{CheckedBytes, Packed};
use clew_search::Blocks;
use tantivy::directory::TerminatingWrite;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::indexer::doc_id_mapping::{DocIdMapping, MappingType};
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, SegmentReader,
    TantivyError,
};

use super::document::{Row, SegmentDocument};

const EXTENSION: &str = "rows";
const MAGIC: [u8; 8] = *b"CLEWROW3";
/// Of files with rows of nested objects.
const MAGIC_NESTED: [u8; 8] = *b"CLEWROW4";
/// In the column of routing keys; a key of n bytes is n more than the last of these.
const NO_ROUTING: u64 = 0;
/// The row is a nested object's.
const NESTED: u64 = 1;
const ROUTING: u64 = 2;

/// The columns of a file: sequence number, version, where the id begins in the strings (the routing
/// key follows it), bytes of the id, and what there is of a routing key.
const COLUMNS: usize = 5;
type RawRow = [u64; COLUMNS];

/// Magic word and number of rows, then base and width of each column.
const HEADER_BYTES: usize = 16 + COLUMNS * Packed::HEADER_BYTES;

fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.into())
}

pub(super) fn plugin_error(error: impl std::fmt::Display) -> TantivyError {
    TantivyError::InternalError(error.to_string())
}

/// Rejects what the plugins cannot follow: tantivy keeps sorted and remapped orders to itself.
pub(super) fn assert_stacked(mapping: MappingType) -> tantivy::Result<()> {
    match mapping {
        MappingType::Shuffled => Err(plugin_error("a sorted merge is not supported")),
        MappingType::Stacked | MappingType::StackedWithDeletes => Ok(()),
    }
}

/// Writes, merges and opens `.rows` files.
pub(super) struct RowPlugin;

impl SegmentPlugin for RowPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }
    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        Ok(Box::new(RowWriter::default()))
    }
    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        assert_stacked(context.doc_id_mapping.mapping_type())?;
        let mut merged = RowWriter::default();
        for reader in context.readers {
            let rows = Rows::open(reader)?;
            for doc in reader.doc_ids_alive() {
                merged.push(&rows.get(doc)?);
            }
        }
        merged.write(context.target_segment)
    }
}

/// Writes the rows of a segment in another order, given by their old places.
pub(super) fn reorder(
    reader: &SegmentReader,
    target: &Segment,
    order: &[DocId],
) -> tantivy::Result<()> {
    let rows = Rows::open(reader)?;
    let mut reordered = RowWriter::default();
    for &doc in order {
        reordered.push(&rows.get(doc)?);
    }
    reordered.write(target)
}

#[derive(Default)]
struct RowWriter {
    rows: Vec<RawRow>,
    strings: Vec<u8>,
    /// Where the paths of nested objects are among the strings.
    paths: BTreeMap<String, u64>,
}

impl RowWriter {
    fn push(&mut self, row: &RowRef<'_>) {
        let length = |s: &str| s.len() as u64;
        let RowRef {
            id,
            routing,
            seq_no,
            version,
            nested,
        } = *row;
        if let Some(path) = nested {
            let offset = self.offset_of(path);
            self.rows
                .push([seq_no, version, offset, length(path), NESTED]);
            return;
        }
        let offset = self.strings.len() as u64;
        let routed = routing.map_or(NO_ROUTING, |key| ROUTING + length(key));
        self.rows
            .push([seq_no, version, offset, length(id), routed]);
        self.strings.extend_from_slice(id.as_bytes());
        self.strings
            .extend_from_slice(routing.unwrap_or_default().as_bytes());
    }
    /// Where a nested object's path is; each one is written once.
    fn offset_of(&mut self, path: &str) -> u64 {
        if let Some(offset) = self.paths.get(path) {
            return *offset;
        }
        let offset = self.strings.len() as u64;
        self.strings.extend_from_slice(path.as_bytes());
        self.paths.insert(path.to_string(), offset);
        offset
    }
    fn write(&self, segment: &Segment) -> tantivy::Result<()> {
        let mut out = segment.open_write(component())?;
        let is_plain = self.paths.is_empty();
        out.write_all(if is_plain { &MAGIC } else { &MAGIC_NESTED })?;
        out.write_all(&(self.rows.len() as u64).to_le_bytes())?;
        let column = |at: usize| self.rows.iter().map(move |row| row[at]);
        let columns: [Packed; COLUMNS] = std::array::from_fn(|at| Packed::of(column(at)));
        for packed in &columns {
            out.write_all(&packed.header())?;
        }
        let mut bytes = Vec::with_capacity(self.rows.len() * size_of::<u64>());
        for (at, packed) in columns.iter().enumerate() {
            bytes.clear();
            packed.write(column(at), &mut bytes);
            out.write_all(&bytes)?;
        }
        out.write_all(&self.strings)?;
        out.terminate()?;
        Ok(())
    }
}

impl PluginWriter for RowWriter {
    fn add_document(
        &mut self,
        doc: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        assert_eq!(
            doc as usize,
            self.rows.len(),
            "documents come in doc-id order"
        );
        let document = as_segment_document(document);
        let Row {
            id,
            routing,
            seq_no,
            version,
            nested,
        } = &document.row;
        self.push(&RowRef {
            id,
            routing: routing.as_deref(),
            seq_no: *seq_no,
            version: *version,
            nested: nested.as_deref(),
        });
        Ok(())
    }
    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        mapping: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        assert!(mapping.is_none(), "segments keep insertion order");
        self.write(segment)
    }
    fn mem_usage(&self) -> usize {
        self.rows.capacity() * size_of::<RawRow>() + self.strings.capacity()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

pub(super) fn as_segment_document(document: &dyn ErasedDocument) -> &SegmentDocument {
    document
        .as_any()
        .downcast_ref()
        .expect("shards write only SegmentDocuments")
}

/// Rows that are checked together: to ask for the checks of each number takes longer than to read it.
const GROUP_ROWS: usize = 256;

/// So many bytes behind a place. Beyond the end of memory there is no string either.
fn after(from: usize, count: u64) -> usize {
    from.saturating_add(usize::try_from(count).unwrap_or(usize::MAX))
}

/// An open `.rows` file. What is read of it is checked then.
#[derive(Clone)]
pub(super) struct Rows {
    bytes: CheckedBytes,
    /// A bit for each group of rows that was checked.
    checked: Arc<[AtomicU64]>,
    count: usize,
    columns: [Packed; COLUMNS],
    /// Where the strings begin.
    strings: usize,
    has_nested: bool,
}

/// A borrowed row.
pub(crate) struct RowRef<'a> {
    pub(crate) id: &'a str,
    pub(crate) routing: Option<&'a str>,
    pub(crate) seq_no: u64,
    pub(crate) version: u64,
    /// The path of the nested object that the row is, which then has no id.
    pub(crate) nested: Option<&'a str>,
}

impl Rows {
    /// Opens a segment's rows; O(1).
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = CheckedBytes::open(reader.open_read(component())?)?;
        let damaged = || plugin_error("rows file is damaged");
        let header = bytes.get(0..HEADER_BYTES)?;
        let (numbers, headers) = header.split_at(16);
        let has_nested = numbers[..8] == MAGIC_NESTED;
        let is_known = has_nested || numbers[..8] == MAGIC;
        if !is_known || numbers[8..] != u64::from(reader.max_doc()).to_le_bytes() {
            return Err(damaged());
        }
        let count = reader.max_doc() as usize;
        let (mut columns, mut start) = (Vec::with_capacity(COLUMNS), HEADER_BYTES);
        for header in headers.as_chunks().0 {
            let opened = Packed::open(header, count, start, bytes.len());
            let (column, end) = opened.ok_or_else(damaged)?;
            columns.push(column);
            start = end;
        }
        let columns = columns.try_into().map_err(|_| damaged())?;
        let groups = count.div_ceil(GROUP_ROWS).div_ceil(u64::BITS as usize);
        Ok(Rows {
            bytes,
            checked: (0..groups).map(|_| AtomicU64::new(0)).collect(),
            count,
            columns,
            strings: start,
            has_nested,
        })
    }

    /// Which rows are documents and which are nested objects; `None` when all are documents. Reads
    /// every row of a file that has nested objects.
    pub(super) fn blocks(&self) -> tantivy::Result<Option<Blocks>> {
        if !self.has_nested {
            return Ok(None);
        }
        let count = DocId::try_from(self.count).expect("doc ids are 32 bits wide");
        let mut blocks = Blocks::new(count);
        for doc in 0..count {
            blocks.push(doc, self.get(doc)?.nested);
        }
        Ok(Some(blocks))
    }

    /// The numbers of a row that was checked.
    fn numbers(&self, row: usize) -> RawRow {
        self.columns
            .map(|column| column.get(self.bytes.unchecked(), row))
    }

    fn check_group(&self, group: usize) -> io::Result<()> {
        let (word, bit) = (&self.checked[group / 64], 1 << (group % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            self.check_rows(group * GROUP_ROWS..self.count.min((group + 1) * GROUP_ROWS))?;
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Checks all that is read of some rows. The strings of documents follow each other as they do.
    #[cold]
    fn check_rows(&self, rows: Range<usize>) -> io::Result<()> {
        let last = rows.end - 1;
        for column in &self.columns {
            self.bytes
                .check(column.place(rows.start).start..column.place(last).end)?;
        }
        if self.has_nested {
            return Ok(());
        }
        let [_, _, first, ..] = self.numbers(rows.start);
        let [_, _, offset, id_bytes, routed] = self.numbers(last);
        let key_bytes = routed.saturating_sub(ROUTING);
        let end = offset.saturating_add(id_bytes).saturating_add(key_bytes);
        let place = |offset: u64| {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            self.strings.saturating_add(offset)
        };
        self.bytes.check(place(first)..place(end))
    }

    /// A document's row.
    ///
    /// # Errors
    /// When the row is damaged.
    pub(super) fn get(&self, doc: DocId) -> tantivy::Result<RowRef<'_>> {
        let doc = self.checked_row(doc)?;
        let [seq_no, version, offset, id_bytes, routed] = self.numbers(doc);
        let (id, id_end) = self.text(after(self.strings, offset), id_bytes)?;
        if routed == NESTED {
            return Ok(RowRef {
                id: "",
                routing: None,
                seq_no,
                version,
                nested: Some(id),
            });
        }
        let key_bytes = routed.checked_sub(ROUTING);
        let routing = key_bytes.map(|bytes| Ok::<_, TantivyError>(self.text(id_end, bytes)?.0));
        Ok(RowRef {
            id,
            routing: routing.transpose()?,
            seq_no,
            version,
            nested: None,
        })
    }

    /// A document's id alone.
    ///
    /// # Errors
    /// When the row is damaged.
    pub(super) fn id(&self, doc: DocId) -> tantivy::Result<&str> {
        self.id_in(self.id_place(doc)?)
    }

    /// Where a document's id lies, to be read by [`Rows::id_in`]; nowhere, of a nested object's row. Of a row in a hundred, each
    /// column costs a cache line of its own, and so does the id: whoever wants many finds all of their places first, so
    /// that the processor fetches several at once, where it would wait for each of them in turn.
    ///
    /// # Errors
    /// When the row is damaged.
    pub(super) fn id_place(&self, doc: DocId) -> tantivy::Result<Range<usize>> {
        let row = self.checked_row(doc)?;
        let [_, _, offset, id_bytes, routed] = &self.columns;
        let number = |column: &Packed| column.get(self.bytes.unchecked(), row);
        if self.has_nested && number(routed) == NESTED {
            return Ok(0..0);
        }
        let start = after(self.strings, number(offset));
        Ok(start..after(start, number(id_bytes)))
    }

    /// The id at a place.
    ///
    /// # Errors
    /// When it is damaged.
    pub(super) fn id_in(&self, place: Range<usize>) -> tantivy::Result<&str> {
        if place.is_empty() {
            return Ok("");
        }
        self.string(place)
    }

    fn checked_row(&self, doc: DocId) -> io::Result<usize> {
        let doc = doc as usize;
        assert!(doc < self.count, "doc ids are below the segment's count");
        self.check_group(doc / GROUP_ROWS)?;
        Ok(doc)
    }

    /// A string, and where it ends.
    fn text(&self, start: usize, bytes: u64) -> tantivy::Result<(&str, usize)> {
        let end = after(start, bytes);
        Ok((self.string(start..end)?, end))
    }

    fn string(&self, place: Range<usize>) -> tantivy::Result<&str> {
        if self.has_nested {
            // Paths lie where the first row has put them.
            self.bytes.check(place.clone())?;
        }
        let bytes = self.bytes.unchecked().get(place);
        let bytes = bytes.ok_or_else(|| plugin_error("rows file is damaged"))?;
        std::str::from_utf8(bytes).map_err(plugin_error)
    }
}

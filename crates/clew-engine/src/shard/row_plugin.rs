//! The `.rows` file of a segment: id, routing, sequence number and version of each document, at
//! fixed places, so that a hit's id costs one mapped read rather than a decompressed store block.
//! The row of a nested object has its path in the place of the id, which only the document has.
//! Layout: `docs/formats/segment.md`.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::Write;

use bytemuck::{Pod, Zeroable};
use clew_text::Blocks;
use tantivy::directory::{OwnedBytes, TerminatingWrite};
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
const MAGIC: [u8; 8] = *b"CLEWROW1";
/// Of files with rows of nested objects.
const MAGIC_NESTED: [u8; 8] = *b"CLEWROW2";
const NO_ROUTING: u32 = u32::MAX;
/// In the place of the routing key's length: the row is a nested object's.
const NESTED: u32 = u32::MAX - 1;

/// One fixed-size row; the strings follow all rows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawRow {
    seq_no: u64,
    version: u64,
    /// Offset of the id in the strings part; the routing key follows it.
    offset: u64,
    id_bytes: u32,
    /// `NO_ROUTING` when there is none.
    routing_bytes: u32,
}

const HEADER_BYTES: usize = 16;
const ROW_BYTES: usize = size_of::<RawRow>();

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
                merged.push(&rows.get(doc));
            }
        }
        merged.write(context.target_segment)
    }
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
        let length = |s: &str| u32::try_from(s.len()).expect("ids and routing keys are limited");
        let RowRef {
            id,
            routing,
            seq_no,
            version,
            nested,
        } = *row;
        if let Some(path) = nested {
            let offset = self.offset_of(path);
            self.rows.push(RawRow {
                seq_no,
                version,
                offset,
                id_bytes: length(path),
                routing_bytes: NESTED,
            });
            return;
        }
        self.rows.push(RawRow {
            seq_no,
            version,
            offset: self.strings.len() as u64,
            id_bytes: length(id),
            routing_bytes: routing.map_or(NO_ROUTING, length),
        });
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
        out.write_all(bytemuck::cast_slice(&self.rows))?;
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
        self.rows.capacity() * ROW_BYTES + self.strings.capacity()
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

/// An open `.rows` file.
#[derive(Clone)]
pub(super) struct Rows {
    bytes: OwnedBytes,
    count: usize,
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
        let bytes = reader.open_read(component())?.read_bytes()?;
        let damaged = || plugin_error("rows file is damaged");
        let header = bytes.get(..HEADER_BYTES).ok_or_else(damaged)?;
        let count = u64::from_le_bytes(header[8..].try_into().map_err(|_| damaged())?);
        let count = usize::try_from(count).map_err(|_| damaged())?;
        let fits = count
            .checked_mul(ROW_BYTES)
            .is_some_and(|n| n <= bytes.len() - HEADER_BYTES);
        let has_nested = header[..8] == MAGIC_NESTED;
        let is_known = has_nested || header[..8] == MAGIC;
        if !is_known || !fits || count != reader.max_doc() as usize {
            return Err(damaged());
        }
        Ok(Rows {
            bytes,
            count,
            has_nested,
        })
    }

    /// Which rows are documents and which are nested objects; `None` when all are documents. Reads
    /// every row of a file that has nested objects.
    pub(super) fn blocks(&self) -> Option<Blocks> {
        self.has_nested.then(|| {
            let count = DocId::try_from(self.count).expect("doc ids are 32 bits wide");
            let mut blocks = Blocks::new(count);
            for doc in 0..count {
                blocks.push(doc, self.get(doc).nested);
            }
            blocks
        })
    }

    /// A document's row. Strings that lie outside the file read as empty.
    pub(super) fn get(&self, doc: DocId) -> RowRef<'_> {
        let doc = doc as usize;
        assert!(doc < self.count, "doc ids are below the segment's count");
        let start = HEADER_BYTES + doc * ROW_BYTES;
        let raw: RawRow = bytemuck::pod_read_unaligned(&self.bytes[start..start + ROW_BYTES]);
        let strings = HEADER_BYTES + self.count * ROW_BYTES;
        let id_start = strings.saturating_add(usize::try_from(raw.offset).unwrap_or(usize::MAX));
        let id_end = id_start.saturating_add(raw.id_bytes as usize);
        let text = |from: usize, to: usize| {
            self.bytes
                .get(from..to)
                .and_then(|b| std::str::from_utf8(b).ok())
                .unwrap_or_default()
        };
        let (seq_no, version) = (raw.seq_no, raw.version);
        if raw.routing_bytes == NESTED {
            return RowRef {
                id: "",
                routing: None,
                seq_no,
                version,
                nested: Some(text(id_start, id_end)),
            };
        }
        let routing = (raw.routing_bytes != NO_ROUTING)
            .then(|| text(id_end, id_end.saturating_add(raw.routing_bytes as usize)));
        RowRef {
            id: text(id_start, id_end),
            routing,
            seq_no,
            version,
            nested: None,
        }
    }
}

//! An immutable segment, opened: tantivy's reader plus our own files beside it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use clew_schema::{
    FieldId, Mapping, SourceCursor, Sources, StoredNumbers, StoredObjectVectors, StoredVector,
    lacks_object_vectors, restored,
};
use clew_search::{Blocks, DocumentRow, DocumentRows, Scope, TakeRow};
use clew_vector::Column;
use tantivy::directory::OwnedBytes;
use tantivy::index::SegmentId;
use tantivy::query::EmptyQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Index, SegmentReader, TERMINATED, Term};

use super::alive::AliveBits;
use super::row_plugin::{RowRef, Rows};
use super::vector_file::VectorFile;
use crate::base::write_request::Document;

/// The files of a segment, open; shared by all views that show it.
pub(crate) struct SegmentFiles {
    pub(super) id: SegmentId,
    pub(super) doc_count: u32,
    pub(super) bytes: u64,
    rows: Rows,
    vectors: VectorFile,
    sources: Arc<Sources>,
    /// Which rows are documents and which are nested objects, when there are any of these.
    blocks: Option<Arc<Blocks>>,
}

/// The rows of a view's segments, as searches see them.
pub(super) struct SegmentRows(pub(super) Vec<Arc<SegmentFiles>>);

impl DocumentRows for SegmentRows {
    fn each(&self, segment: SegmentId, take: &mut TakeRow<'_>) -> tantivy::Result<()> {
        let Some(files) = self.of(segment) else {
            return Ok(());
        };
        for doc in 0..files.doc_count {
            let RowRef {
                routing, seq_no, ..
            } = files.rows.get(doc)?;
            take(doc, DocumentRow { routing, seq_no })?;
        }
        Ok(())
    }

    fn seq_no(&self, segment: SegmentId, doc: DocId) -> tantivy::Result<Option<u64>> {
        let row = self.of(segment).map(|files| files.rows.get(doc));
        Ok(row.transpose()?.map(|row| row.seq_no))
    }
}

impl SegmentRows {
    fn of(&self, segment: SegmentId) -> Option<&SegmentFiles> {
        let mut all = self.0.iter();
        let found = all.find(|files| files.id == segment);
        found.map(Arc::as_ref)
    }
}

/// A segment as one view shows it: its files, and which of its documents live.
#[derive(Clone)]
pub(crate) struct SegmentView {
    pub(super) files: Arc<SegmentFiles>,
    /// Its living documents are whole ones: to it, nested objects are dead.
    pub(crate) reader: SegmentReader,
    /// The living rows, those of nested objects among them; `None` while all live.
    pub(crate) alive: Option<Arc<AliveBits>>,
}

impl SegmentView {
    /// Opens the files of a segment; O(1) in its size.
    pub(super) fn open(
        index: &Index,
        id: SegmentId,
        doc_count: u32,
        alive: Option<Arc<AliveBits>>,
        bytes: u64,
    ) -> tantivy::Result<Self> {
        let mut reader = open_reader(index, id, doc_count, alive.as_deref())?;
        let rows = Rows::open(&reader)?;
        let blocks = rows.blocks()?.map(Arc::new);
        if let Some(blocks) = &blocks {
            let visible = visible(doc_count, alive.as_deref(), blocks);
            reader = open_reader(index, id, doc_count, Some(&visible))?;
        }
        let files = SegmentFiles {
            id,
            doc_count,
            bytes,
            rows,
            blocks,
            vectors: VectorFile::open(&reader)?,
            sources: Sources::open(&reader)?,
        };
        Ok(SegmentView {
            files: Arc::new(files),
            reader,
            alive,
        })
    }

    /// Whether a merge wrote it.
    pub(super) fn merged(&self) -> bool {
        self.files.sources.merged()
    }

    /// The same files under another schema or with other deletes.
    pub(super) fn reopen(
        &self,
        index: &Index,
        alive: Option<Arc<AliveBits>>,
    ) -> tantivy::Result<Self> {
        let files = self.files.clone();
        let visible = files
            .blocks
            .as_ref()
            .map(|blocks| visible(files.doc_count, alive.as_deref(), blocks));
        let shown = visible.as_ref().or(alive.as_deref());
        let reader = open_reader(index, files.id, files.doc_count, shown)?;
        Ok(SegmentView {
            files,
            reader,
            alive,
        })
    }

    /// The number of whole documents, dead ones included.
    pub(crate) fn root_count(&self) -> u32 {
        match &self.files.blocks {
            Some(blocks) => blocks.roots().count(),
            None => self.files.doc_count,
        }
    }
    /// Which rows are documents and which are nested objects; `None` when all are documents.
    pub(crate) fn blocks(&self) -> Option<&Arc<Blocks>> {
        self.files.blocks.as_ref()
    }
    /// The rows of a document and of its nested objects, which lie before it.
    pub(super) fn rows_of(&self, doc: DocId) -> std::ops::RangeInclusive<DocId> {
        let first = self.blocks().map_or(doc, |blocks| blocks.first_row(doc));
        first..=doc
    }
    /// The number of rows, dead ones included.
    pub(crate) fn doc_count(&self) -> u32 {
        self.files.doc_count
    }
    /// The number of living rows.
    pub(crate) fn alive_count(&self) -> u32 {
        self.alive
            .as_ref()
            .map_or(self.files.doc_count, |alive| alive.alive_count())
    }
    /// The beginning of the names of the files.
    pub(crate) fn id(&self) -> SegmentId {
        self.files.id
    }
    /// The size of the files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.bytes
    }
    /// The living document with an id.
    pub(crate) fn find(&self, id: &str) -> tantivy::Result<Option<DocId>> {
        self.find_where(id, |doc| {
            self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
        })
    }

    /// The document with an id that passes a check; of one id at most one document lives.
    pub(super) fn find_where(
        &self,
        id: &str,
        check: impl Fn(DocId) -> bool,
    ) -> tantivy::Result<Option<DocId>> {
        let postings = self.reader.inverted_index(Mapping::ID)?;
        let term = Term::from_field_text(Mapping::ID, id);
        let Some(info) = postings.get_term_info(&term)? else {
            return Ok(None);
        };
        let mut docs = postings.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        while docs.doc() != TERMINATED && !check(docs.doc()) {
            docs.advance();
        }
        Ok((docs.doc() != TERMINATED).then(|| docs.doc()))
    }

    /// A document's row.
    pub(crate) fn row(&self, doc: DocId) -> tantivy::Result<RowRef<'_>> {
        self.files.rows.get(doc)
    }
    /// A document's id; empty for a nested object.
    pub(crate) fn row_id(&self, doc: DocId) -> tantivy::Result<&str> {
        self.files.rows.id(doc)
    }
    /// Where a document's id lies, for whoever reads many: first all places, then all ids.
    pub(crate) fn id_place(&self, doc: DocId) -> tantivy::Result<Range<usize>> {
        self.files.rows.id_place(doc)
    }
    /// The id at a place of this segment.
    pub(crate) fn id_in(&self, place: Range<usize>) -> tantivy::Result<&str> {
        self.files.rows.id_in(place)
    }
    /// Reads stored sources, each without its vectors; unpacks a block once for neighbours.
    pub(crate) fn sources(&self) -> SourceCursor {
        self.files.sources.cursor()
    }
    /// The columns of the segment's vectors.
    pub(crate) fn vectors(&self) -> &VectorFile {
        &self.files.vectors
    }

    /// A document's source as it is stored, without its vectors.
    pub(crate) fn stored_source(&self, doc: DocId) -> tantivy::Result<Vec<u8>> {
        let mut sources = self.files.sources.cursor();
        let source = sources.get(doc)?;
        Ok(source.to_vec())
    }

    /// A document as it was written.
    pub(crate) fn document(&self, doc: DocId, mapping: &Mapping) -> tantivy::Result<Document> {
        let source = self.source(doc, mapping)?;
        let row = self.row(doc)?;
        Ok(Document {
            id: row.id.to_string(),
            version: row.version,
            seq_no: row.seq_no,
            routing: row.routing.map(str::to_string),
            source: Bytes::from(source),
        })
    }

    /// A document's source with its vectors put back.
    pub(crate) fn source(&self, doc: DocId, mapping: &Mapping) -> tantivy::Result<Vec<u8>> {
        let mut sources = self.files.sources.cursor();
        let source = sources.get(doc)?;
        let mut vectors = Vec::new();
        let mut of_objects = Vec::new();
        for (field, column) in self.files.vectors.columns() {
            let Some(path) = path_of(mapping, field) else {
                continue;
            };
            if let Some(around) = mapping.nested_scope(path) {
                of_objects.extend(self.object_vectors((source, doc), (path, around), column)?);
                continue;
            }
            if let Some(numbers) = column.vector(doc).map_err(|e| self.files.vectors.told(e))? {
                let element = column.options().element;
                let numbers = StoredNumbers::Dense(element, numbers);
                vectors.push(StoredVector { path, numbers });
            }
        }
        for (field, column) in self.files.vectors.sparse_columns() {
            let Some(path) = path_of(mapping, field) else {
                continue;
            };
            if let Some(entries) = column.vector(doc).map_err(|e| self.files.vectors.told(e))? {
                let numbers = StoredNumbers::Sparse(entries);
                vectors.push(StoredVector { path, numbers });
            }
        }
        Ok(restored(source, &vectors, &of_objects))
    }

    /// The vectors of a document's nested objects that its source lacks.
    fn object_vectors<'a>(
        &'a self,
        (source, doc): (&[u8], DocId),
        (path, around): (&'a str, &'a str),
        column: &'a Column<OwnedBytes>,
    ) -> tantivy::Result<Option<StoredObjectVectors<'a>>> {
        let name = path.get(around.len() + 1..).unwrap_or_default();
        if !lacks_object_vectors(source, around, name) {
            return Ok(None);
        }
        let mut vectors = Vec::new();
        for row in self.objects_of(doc, around) {
            vectors.push(column.vector(row).map_err(|e| self.files.vectors.told(e))?);
        }
        let element = column.options().element;
        Ok(Some(StoredObjectVectors {
            around,
            name,
            element,
            vectors,
        }))
    }

    /// The rows of a document's nested objects of a path, in order.
    pub(crate) fn objects_of(&self, doc: DocId, path: &str) -> impl Iterator<Item = DocId> {
        let own = self.blocks().and_then(|blocks| {
            let own = blocks.of(Scope::Nested(path))?;
            Some((own, blocks.first_row(doc)..doc))
        });
        let own = own.into_iter();
        own.flat_map(|(own, rows)| rows.filter(|row| own.contains(*row)))
    }
}

/// The path of a vector field.
pub(super) fn path_of(mapping: &Mapping, field: FieldId) -> Option<&str> {
    let field = mapping.by_id(field)?;
    field.kind.is_vector().then_some(field.path.as_str())
}

/// The living rows that are whole documents.
fn visible(count: u32, alive: Option<&AliveBits>, blocks: &Blocks) -> AliveBits {
    let mut visible = alive.map_or_else(|| AliveBits::full(count), AliveBits::clone);
    visible.keep(blocks.roots().words());
    visible
}

fn open_reader(
    index: &Index,
    id: SegmentId,
    doc_count: u32,
    alive: Option<&AliveBits>,
) -> tantivy::Result<SegmentReader> {
    let segment = index.segment(index.new_segment_meta(id, doc_count));
    SegmentReader::open_with_custom_alive_set(&segment, alive.map(AliveBits::to_tantivy))
}

/// A searcher over no segments, for the schema and the tokenizers that queries ask it for.
pub(super) fn empty_searcher(index: &Index) -> tantivy::Result<tantivy::Searcher> {
    let reader = index
        .reader_builder()
        .reload_policy(tantivy::ReloadPolicy::Manual)
        .try_into()?;
    let searcher = reader.searcher();
    debug_assert_eq!(searcher.search(&EmptyQuery, &tantivy::collector::Count)?, 0);
    Ok(searcher)
}

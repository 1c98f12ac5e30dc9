//! The `.vec` file of a segment: the column image of each vector field, and a directory of them.
//! This is where tantivy's segment life meets `clew-vector`, which knows no tantivy.
//! Layout: `docs/formats/segment.md`.

use std::any::Any;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use clew_platform::advise_random;
use clew_schema::{CheckedBytes, FieldId, FieldKind, Mapping};
use clew_vector::{Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, VectorError};
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{OwnedBytes, TerminatingWrite};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, SegmentReader,
};

use super::merge_job::MergeJob;
use super::row_plugin::{as_segment_document, assert_stacked, plugin_error};

const EXTENSION: &str = "vec";
const MAGIC: [u8; 8] = *b"CLEWVEC1";
/// Columns begin at multiples of this, so that mapped rows fill whole cache lines.
const ALIGNMENT: u64 = 64;
const TRAILER_BYTES: usize = 16;
const ENTRY_BYTES: usize = 24;
/// Graphs of one data set come out the same on every run.
const GRAPH_SEED: u64 = 0x636c_6577;

pub(super) fn component() -> SegmentComponent {
    SegmentComponent::Custom(EXTENSION.into())
}

/// Whether a file is one of vectors, whose parts are held against sums of their own whenever they are read.
pub(super) fn has_own_sums(name: &str) -> bool {
    name.strip_suffix(EXTENSION)
        .is_some_and(|name| name.ends_with('.'))
}

/// Writes, merges and opens `.vec` files of an index's mapping.
pub(super) struct VectorPlugin {
    mapping: Arc<Mapping>,
    /// The merge that it takes part in.
    job: Option<Arc<MergeJob>>,
}

impl VectorPlugin {
    pub(super) fn new(mapping: Arc<Mapping>) -> Self {
        VectorPlugin { mapping, job: None }
    }

    /// Takes part in a merge.
    pub(super) fn merging(mapping: Arc<Mapping>, job: Arc<MergeJob>) -> Self {
        let job = Some(job);
        VectorPlugin { mapping, job }
    }

    fn columns(&self) -> impl Iterator<Item = (FieldId, &ColumnOptions)> {
        self.mapping
            .fields()
            .iter()
            .filter_map(|field| match &field.kind {
                FieldKind::Vector(vector) => Some((field.id, &vector.column)),
                _ => None,
            })
    }
}

impl SegmentPlugin for VectorPlugin {
    fn extensions(&self) -> &[&str] {
        &[EXTENSION]
    }

    fn create_writer(&self, _: &PluginWriterContext) -> tantivy::Result<Box<dyn PluginWriter>> {
        let columns = self
            .columns()
            .map(|(field, options)| Ok((field, ColumnBuilder::new(*options)?)))
            .collect::<Result<_, clew_vector::VectorError>>()
            .map_err(plugin_error)?;
        Ok(Box::new(VectorWriter { columns }))
    }

    /// Rows are renumbered as tantivy stacks the segments' living documents. A column that is large
    /// enough gets a graph: that of its largest part, into which the others are inserted.
    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        assert_stacked(context.doc_id_mapping.mapping_type())?;
        let sources: Vec<VectorFile> = context
            .readers
            .iter()
            .map(VectorFile::open)
            .collect::<tantivy::Result<_>>()?;
        let mut out = FileWriter::create(context.target_segment)?;
        let job = self.job.as_ref();
        let job = job.ok_or_else(|| plugin_error("segments are merged by the shard"))?;
        for (field, options) in self.columns() {
            let rows = sources.iter().zip(context.readers.iter());
            let rows = rows.map(|(source, reader)| {
                let len = source.column(field).map_or(0, Column::len);
                len.min(reader.num_docs() as usize)
            });
            let rows = rows.sum();
            if rows == 0 {
                continue;
            }
            let (graph, _memory) = job.admit(options, rows).map_err(plugin_error)?;
            let builder = ColumnBuilder::with_room(*options, rows).map_err(plugin_error)?;
            let mut builder = builder.watched_by(job.watch(field));
            let mut new_doc = 0;
            let base = sources
                .iter()
                .zip(context.readers.iter())
                .enumerate()
                .filter(|(_, (source, _))| {
                    source.column(field).is_some_and(|column| {
                        // What was built under other options says nothing of who is near.
                        column.options() == options && (column.has_graph() || column.has_lists())
                    })
                })
                .max_by_key(|(_, (_, reader))| reader.num_docs())
                .map(|(at, _)| at);
            // New documents of the base's living ones, in order of the old.
            let mut kept: Vec<(DocId, DocId)> = Vec::new();
            for (at, (reader, source)) in context.readers.iter().zip(&sources).enumerate() {
                let column = source.column(field);
                for doc in reader.doc_ids_alive() {
                    job.state.progress.check().map_err(plugin_error)?;
                    if base == Some(at) {
                        kept.push((doc, new_doc));
                    }
                    let vector = column.map(|column| column.vector(doc)).transpose();
                    let vector = vector.map_err(|error| source.told(error))?;
                    if let Some(vector) = vector.flatten() {
                        builder.push(new_doc, &vector).map_err(plugin_error)?;
                    }
                    new_doc += 1;
                }
            }
            let new_doc_of = |old: DocId| {
                let at = kept.binary_search_by_key(&old, |&(old, _)| old).ok()?;
                Some(kept[at].1)
            };
            let base = base.and_then(|at| sources[at].column(field));
            let base = base.map(|base| (base, &new_doc_of as &dyn Fn(DocId) -> Option<DocId>));
            out.add(field, builder, (graph, job.limits.threads), base)?;
        }
        out.finish()
    }
}

/// A column whose graph a merge starts from, and what its documents have become.
type Base<'a> = (&'a Column<OwnedBytes>, &'a dyn Fn(DocId) -> Option<DocId>);

struct VectorWriter {
    columns: BTreeMap<FieldId, ColumnBuilder>,
}

impl PluginWriter for VectorWriter {
    fn add_document(
        &mut self,
        doc: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        for (field, vector) in &as_segment_document(document).vectors {
            let column = self
                .columns
                .get_mut(field)
                .expect("vectors follow the mapping");
            column.push(doc, vector).map_err(plugin_error)?;
        }
        Ok(())
    }

    /// A refresh never builds a graph: it would make new documents wait for it. The merger builds
    /// one in the background for segments that deserve it.
    fn serialize(
        self: Box<Self>,
        segment: &Segment,
        mapping: Option<&DocIdMapping>,
    ) -> tantivy::Result<()> {
        assert!(mapping.is_none(), "segments keep insertion order");
        let mut out = FileWriter::create(segment)?;
        for (field, builder) in self.columns {
            out.add(field, builder, (GraphChoice::Never, 1), None)?;
        }
        out.finish()
    }

    fn mem_usage(&self) -> usize {
        self.columns.values().map(ColumnBuilder::mem_bytes).sum()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Writes column images one after the other, then the directory and the trailer.
struct FileWriter<W: TerminatingWrite> {
    out: Counted<W>,
    entries: Vec<(FieldId, u64, u64)>,
}

struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.written += n as u64;
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl FileWriter<tantivy::directory::WritePtr> {
    fn create(segment: &Segment) -> tantivy::Result<Self> {
        let out = Counted {
            out: segment.open_write(component())?,
            written: 0,
        };
        Ok(FileWriter {
            out,
            entries: Vec::new(),
        })
    }

    fn add(
        &mut self,
        field: FieldId,
        builder: ColumnBuilder,
        (graph, threads): (GraphChoice, usize),
        base: Option<Base<'_>>,
    ) -> tantivy::Result<()> {
        if builder.is_empty() {
            return Ok(());
        }
        let padding = self.out.written.next_multiple_of(ALIGNMENT) - self.out.written;
        self.out
            .write_all(&[0; 64][..usize::try_from(padding).expect("padding is below 64")])?;
        let start = self.out.written;
        let how = ImageOptions {
            graph,
            seed: GRAPH_SEED,
            threads,
        };
        match base {
            Some(base) => builder.write_from(how, base, &mut self.out),
            None => builder.write(how, &mut self.out),
        }
        .map_err(plugin_error)?;
        self.entries.push((field, start, self.out.written - start));
        Ok(())
    }

    fn finish(mut self) -> tantivy::Result<()> {
        for (field, start, len) in &self.entries {
            self.out.write_all(&u64::from(field.get()).to_le_bytes())?;
            self.out.write_all(&start.to_le_bytes())?;
            self.out.write_all(&len.to_le_bytes())?;
        }
        self.out
            .write_all(&(self.entries.len() as u64).to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.out.terminate()?;
        Ok(())
    }
}

/// The open columns of a segment.
#[derive(Clone, Default)]
pub(crate) struct VectorFile {
    /// `None` when there is no file.
    bytes: Option<CheckedBytes>,
    columns: BTreeMap<FieldId, Arc<Column<OwnedBytes>>>,
}

impl VectorFile {
    /// Opens a segment's columns; O(1) in the number of vectors.
    pub(super) fn open(reader: &SegmentReader) -> tantivy::Result<Self> {
        let bytes = match reader.open_read(component()) {
            Ok(file) => CheckedBytes::open(file)?,
            Err(OpenReadError::FileDoesNotExist(_)) => return Ok(VectorFile::default()),
            Err(error) => return Err(error.into()),
        };
        let damaged = || plugin_error("vector file is damaged");
        let trailer = bytes.len().checked_sub(TRAILER_BYTES).ok_or_else(damaged)?;
        let number = |at: usize| -> tantivy::Result<usize> {
            let word = bytes.get(at..at + 8)?.try_into().map_err(|_| damaged())?;
            usize::try_from(u64::from_le_bytes(word)).map_err(|_| damaged())
        };
        if *bytes.get(trailer + 8..bytes.len())? != MAGIC {
            return Err(damaged());
        }
        let directory = number(trailer)?
            .checked_mul(ENTRY_BYTES)
            .and_then(|entries| trailer.checked_sub(entries))
            .ok_or_else(damaged)?;
        let mut columns = BTreeMap::new();
        for entry in (directory..trailer).step_by(ENTRY_BYTES) {
            let field = u32::try_from(number(entry)?).map_err(|_| damaged())?;
            let (start, len) = (number(entry + 8)?, number(entry + 16)?);
            let end = start.checked_add(len).filter(|&end| end <= directory);
            if start > end.ok_or_else(damaged)? {
                return Err(damaged());
            }
            // The blocks of a column have sums of their own, which are held against when they are read.
            let image = bytes.unchecked().slice(start..start + len);
            let column = Column::open_mapped(image, advise_random).map_err(plugin_error)?;
            columns.insert(FieldId::new(field), Arc::new(column));
        }
        let bytes = Some(bytes);
        Ok(VectorFile { bytes, columns })
    }

    /// What an error of a column comes to: when it is damage, all of the file is held against its own sums, which tell
    /// the shard, and where it is.
    pub(crate) fn told(&self, error: VectorError) -> io::Error {
        if matches!(error, VectorError::Corrupt { .. })
            && let Some(bytes) = &self.bytes
            && let Err(damage) = bytes.check(0..bytes.len())
        {
            return damage;
        }
        io::Error::new(io::ErrorKind::InvalidData, error)
    }

    /// A field's column; `None` when no document of the segment has a vector there.
    pub(crate) fn column(&self, field: FieldId) -> Option<&Column<OwnedBytes>> {
        self.columns.get(&field).map(Arc::as_ref)
    }

    /// Fields whose graph has been found damaged since this was asked last.
    pub(crate) fn take_graph_damage(&self) -> impl Iterator<Item = (FieldId, VectorError)> {
        self.columns()
            .filter_map(|(field, column)| Some((field, column.take_graph_damage()?)))
    }

    /// All columns, by field.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (FieldId, &Column<OwnedBytes>)> {
        self.columns
            .iter()
            .map(|(field, column)| (*field, column.as_ref()))
    }
}

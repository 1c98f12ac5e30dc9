//! Writes and merges the `.vec` files of segments (`vector_file.rs`): this is where tantivy's segment life meets
//! `clew-vector`, which knows no tantivy.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_schema::{FieldId, FieldKind, Mapping, VectorValue};
use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, SparseColumnBuilder,
    VectorError,
};
use tantivy::directory::OwnedBytes;
use tantivy::index::Segment;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, SegmentReader,
};

use super::merge_job::MergeJob;
use super::row_plugin::{as_segment_document, assert_stacked, plugin_error};
use super::vector_file::{EXTENSION, FileWriter, VectorFile};

/// Graphs of one data set come out the same on every run.
const GRAPH_SEED: u64 = 0x636c_6577;

/// Writes and merges `.vec` files of an index's mapping.
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

    fn sparse_fields(&self) -> impl Iterator<Item = FieldId> {
        let fields = self.mapping.fields().iter();
        let sparse = fields.filter(|field| field.kind == FieldKind::SparseVector);
        sparse.map(|field| field.id)
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
            .collect::<Result<_, VectorError>>()
            .map_err(plugin_error)?;
        let sparse = self.sparse_fields();
        let sparse = sparse.map(|field| (field, SparseColumnBuilder::new()));
        Ok(Box::new(VectorWriter {
            columns,
            sparse: sparse.collect(),
        }))
    }

    /// Rows are renumbered as tantivy stacks the segments' living documents.
    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        assert_stacked(context.doc_id_mapping.mapping_type())?;
        let job = self.job.as_ref();
        let job = job.ok_or_else(|| plugin_error("segments are merged by the shard"))?;
        let open = |reader| {
            Ok(Part {
                reader,
                file: VectorFile::open(reader)?,
            })
        };
        let parts = context.readers.iter().map(open);
        let parts: Vec<Part<'_>> = parts.collect::<tantivy::Result<_>>()?;
        let mut out = FileWriter::create(context.target_segment)?;
        for (field, options) in self.columns() {
            merge_dense((field, options), &parts, job, &mut out)?;
        }
        for field in self.sparse_fields() {
            merge_sparse(field, &parts, job, &mut out)?;
        }
        out.finish()
    }
}

/// A segment that is merged.
struct Part<'a> {
    reader: &'a SegmentReader,
    file: VectorFile,
}

/// A column that is large enough gets a graph: that of its largest part, into which the others are inserted; or lists, around the
/// centres that the shards have in common.
fn merge_dense(
    (field, options): (FieldId, &ColumnOptions),
    parts: &[Part<'_>],
    job: &MergeJob,
    out: &mut FileWriter,
) -> tantivy::Result<()> {
    let rows = parts.iter().map(|part| {
        let len = part.file.column(field).map_or(0, Column::len);
        len.min(part.reader.num_docs() as usize)
    });
    let rows = rows.sum();
    if rows == 0 {
        return Ok(());
    }
    let admitted = job.admit(options, rows).map_err(plugin_error)?;
    let builder = ColumnBuilder::with_room(*options, rows).map_err(plugin_error)?;
    let mut builder = builder.watched_by(job.watch(field));
    if admitted.shares_centres {
        builder = builder.sharing(job.centres.of(field));
    }
    let mut new_doc = 0;
    let base = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| {
            part.file.column(field).is_some_and(|column| {
                // What was built under other options says nothing of who is near.
                column.is_of(options) && (column.has_graph() || column.has_lists())
            })
        })
        .max_by_key(|(_, part)| part.reader.num_docs())
        .map(|(at, _)| at);
    // New documents of the base's living ones, in order of the old.
    let mut kept: Vec<(DocId, DocId)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let column = part.file.column(field);
        for doc in part.reader.doc_ids_alive() {
            job.state.progress.check().map_err(plugin_error)?;
            if base == Some(at) {
                kept.push((doc, new_doc));
            }
            let vector = column.map(|column| column.vector(doc)).transpose();
            let vector = vector.map_err(|error| part.file.told(error))?;
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
    let base = base.and_then(|at| parts[at].file.column(field));
    let base = base.map(|base| (base, &new_doc_of as &dyn Fn(DocId) -> Option<DocId>));
    write_dense(
        field,
        builder,
        (admitted.graph, job.limits.threads),
        base,
        out,
    )
}

/// Sparse vectors are pushed in their new order, and their postings made anew.
fn merge_sparse(
    field: FieldId,
    parts: &[Part<'_>],
    job: &MergeJob,
    out: &mut FileWriter,
) -> tantivy::Result<()> {
    let columns = parts
        .iter()
        .filter_map(|part| part.file.sparse_column(field));
    let (rows, weights) = columns.fold((0, 0), |(rows, weights), column| {
        (rows + column.len(), weights + column.weight_count())
    });
    if rows == 0 {
        return Ok(());
    }
    let _memory = job.admit_sparse(rows, weights).map_err(plugin_error)?;
    let mut builder = SparseColumnBuilder::with_room(rows, weights);
    let mut new_doc = 0;
    for part in parts {
        let column = part.file.sparse_column(field);
        for doc in part.reader.doc_ids_alive() {
            job.state.progress.check().map_err(plugin_error)?;
            let vector = column.map(|column| column.vector(doc)).transpose();
            let vector = vector.map_err(|error| part.file.told(error))?;
            if let Some(vector) = vector.flatten() {
                builder.push(new_doc, vector).map_err(plugin_error)?;
            }
            new_doc += 1;
        }
    }
    write_sparse(field, builder, out)
}

fn write_dense(
    field: FieldId,
    builder: ColumnBuilder,
    (graph, threads): (GraphChoice, usize),
    base: Option<Base<'_>>,
    out: &mut FileWriter,
) -> tantivy::Result<()> {
    if builder.is_empty() {
        return Ok(());
    }
    let how = ImageOptions {
        graph,
        seed: GRAPH_SEED,
        threads,
    };
    out.add(field, |image| match base {
        Some(base) => builder.write_from(how, base, image),
        None => builder.write(how, image),
    })
}

fn write_sparse(
    field: FieldId,
    builder: SparseColumnBuilder,
    out: &mut FileWriter,
) -> tantivy::Result<()> {
    if builder.is_empty() {
        return Ok(());
    }
    out.add(field, |image| builder.write(image))
}

/// A column whose graph a merge starts from, and what its documents have become.
type Base<'a> = (&'a Column<OwnedBytes>, &'a dyn Fn(DocId) -> Option<DocId>);

struct VectorWriter {
    columns: BTreeMap<FieldId, ColumnBuilder>,
    sparse: BTreeMap<FieldId, SparseColumnBuilder>,
}

impl PluginWriter for VectorWriter {
    fn add_document(
        &mut self,
        doc: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        for (field, vector) in &as_segment_document(document).vectors {
            const FOLLOWS: &str = "vectors follow the mapping";
            let pushed = match vector {
                VectorValue::Dense(numbers) => {
                    let column = self.columns.get_mut(field).expect(FOLLOWS);
                    column.push(doc, numbers)
                }
                VectorValue::Sparse(entries) => {
                    let column = self.sparse.get_mut(field).expect(FOLLOWS);
                    column.push(doc, entries)
                }
            };
            pushed.map_err(plugin_error)?;
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
            write_dense(field, builder, (GraphChoice::Never, 1), None, &mut out)?;
        }
        for (field, builder) in self.sparse {
            write_sparse(field, builder, &mut out)?;
        }
        out.finish()
    }

    fn mem_usage(&self) -> usize {
        let dense = self.columns.values().map(ColumnBuilder::mem_bytes);
        let sparse = self.sparse.values().map(SparseColumnBuilder::mem_bytes);
        dense.chain(sparse).sum()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

//! Writes and merges the `.vec` files of segments (`vector_file.rs`): this is where tantivy's segment life meets
//! `clew-vector`, which knows no tantivy.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_schema::{FieldId, FieldKind, Mapping, VectorValue};
use clew_vector::{
    Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, LeftOff, SparseColumnBuilder,
    UnfinishedGraph, VectorError,
};
use tantivy::directory::OwnedBytes;
use tantivy::index::{Segment, SegmentId};
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{
    DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin, SegmentReader,
};

use super::left_off::{BookedGraph, LeftOffGraph, PartDocs};
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
        let mut left_off = job.state.left_off.take();
        for (field, options) in self.columns() {
            let of_field = left_off.take_if(|left_off| left_off.field == field);
            merge_dense((field, options), (&parts, of_field), job, &mut out)?;
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

/// A column that is large enough gets a graph: that of its largest part, or one that the upkeep has left off, into which the others
/// are inserted; or lists, around the centres that the shards have in common.
fn merge_dense(
    (field, options): (FieldId, &ColumnOptions),
    (parts, left_off): (&[Part<'_>], Option<LeftOffGraph>),
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
    let left_off = left_off.and_then(|left_off| left_off.booked(&job.limits.memory));
    let place = Arc::new(LeftOff::default());
    let builder = ColumnBuilder::with_room(*options, rows).map_err(plugin_error)?;
    let builder = builder.watched_by(job.watch(field));
    let mut builder = builder.leaving_off_at(place.clone());
    if admitted.shares_centres {
        builder = builder.sharing(job.centres.of(field));
    }
    let left_off = left_off.as_ref().map(BookedGraph::graph);
    let start = Start::choose(parts, (field, options), left_off);
    let kept = push_all(&mut builder, (parts, field), &start, job)?;
    let new_doc_of = |old: DocId| {
        let at = kept.binary_search_by_key(&old, |&(old, _)| old).ok()?;
        Some(kept[at].1)
    };
    let base = match start {
        Start::Nothing => Base::Nothing,
        Start::Part(at) => match parts[at].file.column(field) {
            Some(column) => Base::Column(column, &new_doc_of),
            None => Base::Nothing,
        },
        Start::LeftOff(graph) => Base::Unfinished(graph.graph(), &new_doc_of),
    };
    let how = (admitted.graph, job.limits.threads);
    let written = write_dense(field, builder, how, base, out);
    if job.state.is_waited_for()
        && let Some(graph) = place.take()
    {
        // What the column would have taken is as good as free.
        drop(admitted);
        leave_off((field, graph), parts, job);
    }
    written
}

/// Keeps what was built of a graph for the merge that somebody waits for.
fn leave_off((field, graph): (FieldId, UnfinishedGraph), parts: &[Part<'_>], job: &MergeJob) {
    let docs = parts.iter().map(|part| PartDocs {
        segment: part.reader.segment_id(),
        docs: part.reader.doc_ids_alive().collect(),
    });
    let graph = LeftOffGraph::new(field, graph, docs.collect());
    if let Some(graph) = graph.booked(&job.limits.memory) {
        job.state.left_off.keep(graph);
    }
}

/// Where a graph, or lists, of a column that is merged come from.
enum Start<'a> {
    Nothing,
    /// The part at this place.
    Part(usize),
    LeftOff(&'a LeftOffGraph),
}

impl<'a> Start<'a> {
    /// Whichever leaves the least to insert.
    fn choose(
        parts: &[Part<'_>],
        (field, options): (FieldId, &ColumnOptions),
        left_off: Option<&'a LeftOffGraph>,
    ) -> Self {
        let largest = parts
            .iter()
            .enumerate()
            .filter(|(_, part)| {
                part.file.column(field).is_some_and(|column| {
                    // What was built under other options says nothing of who is near.
                    column.is_of(options) && (column.has_graph() || column.has_lists())
                })
            })
            .max_by_key(|(_, part)| part.reader.num_docs());
        let rows = largest.map_or(0, |(_, part)| part.reader.num_docs() as usize);
        match (left_off, largest) {
            (Some(graph), _) if graph.graph().linked_rows() > rows => Start::LeftOff(graph),
            (_, Some((at, _))) => Start::Part(at),
            (_, None) => Start::Nothing,
        }
    }

    /// The number that it has a document of a part by, if it does.
    fn number(&self, (at, segment): (usize, SegmentId), doc: DocId) -> Option<DocId> {
        match self {
            Start::Nothing => None,
            Start::Part(own) => (*own == at).then_some(doc),
            Start::LeftOff(graph) => graph.number(segment, doc),
        }
    }
}

/// Adds the vectors of all living documents in their order. For those that `start` has: what it calls them, ascending, and what
/// they have become.
fn push_all(
    builder: &mut ColumnBuilder,
    (parts, field): (&[Part<'_>], FieldId),
    start: &Start<'_>,
    job: &MergeJob,
) -> tantivy::Result<Vec<(DocId, DocId)>> {
    let mut kept: Vec<(DocId, DocId)> = Vec::new();
    let mut new_doc = 0;
    for (at, part) in parts.iter().enumerate() {
        let column = part.file.column(field);
        let place = (at, part.reader.segment_id());
        for doc in part.reader.doc_ids_alive() {
            job.state.progress.check().map_err(plugin_error)?;
            kept.extend(start.number(place, doc).map(|old| (old, new_doc)));
            let vector = column.map(|column| column.vector(doc)).transpose();
            let vector = vector.map_err(|error| part.file.told(error))?;
            if let Some(vector) = vector.flatten() {
                builder.push(new_doc, &vector).map_err(plugin_error)?;
            }
            new_doc += 1;
        }
    }
    kept.sort_unstable();
    Ok(kept)
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
    base: Base<'_>,
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
        Base::Nothing => builder.write(how, image),
        Base::Column(column, new_doc) => builder.write_from(how, (column, new_doc), image),
        Base::Unfinished(graph, new_doc) => {
            builder.write_from_unfinished(how, (graph, new_doc), image)
        }
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

/// What a column is built from, and what the documents of that have become.
#[derive(Clone, Copy)]
enum Base<'a> {
    Nothing,
    Column(&'a Column<OwnedBytes>, NewDocOf<'a>),
    Unfinished(&'a UnfinishedGraph, NewDocOf<'a>),
}

type NewDocOf<'a> = &'a dyn Fn(DocId) -> Option<DocId>;

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
            let how = (GraphChoice::Never, 1);
            write_dense(field, builder, how, Base::Nothing, &mut out)?;
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

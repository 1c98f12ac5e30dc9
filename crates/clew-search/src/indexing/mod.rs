//! Writing a segment: documents become postings, columns and what the index's plugins keep.
//!
//! tantivy's own writer looks every word up in one table of all fields and appends to a list for each term; most of its
//! time goes into waiting for memory. This one does the same in fewer places (`terms`, `occurrences`), and writes the very
//! same files through tantivy's serializers, or parts of them (`postings`); all but the automata of its dictionaries
//! (`automaton`), which mean the same.

mod automaton;
mod field;
mod occurrences;
mod postings;
mod terms;
#[cfg(test)]
mod tests;

use std::io::Write;

use clew_analysis::{in_one_turn, take_left_out};
use tantivy::directory::{CompositeWrite, Directory, WritePtr};
use tantivy::fastfield::FastFieldsWriter;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::document::ErasedDocument;
use tantivy::schema::{Field, Schema};
use tantivy::store::StoreWriter;
use tantivy::{DocId, Document, PluginWriter, PluginWriterContext, TantivyDocument, TantivyError};
use tantivy_common::TerminatingWrite;

use field::{FieldPostings, Refusal};

/// What plugins are told that they may use; ours do not ask.
const PLUGIN_BUDGET_BYTES: usize = 16 << 20;

/// A segment that is being filled, in memory but for what plugins write early.
pub struct SegmentBuilder {
    segment: Segment,
    schema: Schema,
    /// By tantivy's field number; `None` for fields without postings.
    fields: Vec<Option<FieldPostings>>,
    columns: FastFieldsWriter,
    columns_out: WritePtr,
    store: StoreWriter,
    plugins: Vec<Box<dyn PluginWriter>>,
    doc_count: DocId,
    /// Whether the analysis of a document left something out since that was last asked.
    left_out: bool,
}

impl SegmentBuilder {
    /// Starts to fill a segment of an index that knows the analyzers of its fields.
    ///
    /// # Errors
    /// When the segment's files cannot be made.
    pub fn new(segment: Segment) -> tantivy::Result<Self> {
        let schema = segment.schema();
        let index = segment.index();
        let fields = schema
            .fields()
            .map(|(_, entry)| FieldPostings::new(entry, index.tokenizers()))
            .collect();
        let columns = FastFieldsWriter::from_schema_and_tokenizer_manager(
            &schema,
            index.fast_field_tokenizer().clone(),
        )?;
        let settings = index.settings();
        let create = |component| {
            index
                .directory()
                .open_write(&segment.relative_path(component))
        };
        let store = StoreWriter::new(
            create(SegmentComponent::Store)?,
            settings.docstore_compression,
            settings.docstore_blocksize,
            settings.docstore_compress_dedicated_thread,
        )?;
        let context = PluginWriterContext {
            segment: &segment,
            memory_budget_in_bytes: PLUGIN_BUDGET_BYTES,
        };
        let plugins = index.custom_plugins().iter();
        let plugins: tantivy::Result<Vec<_>> = plugins
            .map(|plugin| plugin.create_writer(&context))
            .collect();
        Ok(SegmentBuilder {
            fields,
            columns,
            columns_out: create(SegmentComponent::FastFields)?,
            store,
            plugins: plugins?,
            doc_count: 0,
            left_out: false,
            schema,
            segment,
        })
    }

    /// Number of documents, which is the next one's number.
    pub fn doc_count(&self) -> DocId {
        self.doc_count
    }

    /// Whether the analysis of a document left something out since this was last asked: what there was no room for, or what an
    /// expression would have taken too long to find.
    pub fn take_left_out(&mut self) -> bool {
        std::mem::take(&mut self.left_out)
    }

    /// Memory that it holds. Costs a look at every field.
    pub fn mem_usage(&self) -> usize {
        let fields = self.fields.iter().flatten().map(FieldPostings::mem_usage);
        let plugins = self.plugins.iter().map(|plugin| plugin.mem_usage());
        fields.sum::<usize>()
            + self.columns.mem_usage()
            + self.store.mem_usage()
            + plugins.sum::<usize>()
    }

    /// Adds a document.
    ///
    /// # Errors
    /// When a value is not of its field's type, or the segment is full; the segment is of no use any more.
    pub fn add<D: Document>(&mut self, document: &D) -> tantivy::Result<()> {
        // Whoever adds holds up others: all texts of a document have the time of one.
        let _turn = in_one_turn();
        take_left_out();
        let doc = self.doc_count;
        for (field, value) in document.iter_fields_and_values() {
            let at = field.field_id() as usize;
            if let Some(Some(postings)) = self.fields.get_mut(at) {
                let added = postings.add(doc, value);
                added.map_err(|refusal| refused(&self.schema, field, &refusal))?;
            }
        }
        self.left_out |= take_left_out();
        self.columns.add_document(document)?;
        // No field is stored: sources have a file of their own.
        self.store
            .store(&TantivyDocument::default(), &self.schema)?;
        let erased: &dyn ErasedDocument = document;
        for plugin in &mut self.plugins {
            plugin.add_document(doc, erased, &self.schema)?;
        }
        self.doc_count += 1;
        Ok(())
    }

    /// Writes all files.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn finish(mut self) -> tantivy::Result<()> {
        self.write_norms()?;
        self.write_postings()?;
        self.columns.serialize(&mut self.columns_out, None)?;
        self.columns_out.terminate()?;
        self.store.close()?;
        for plugin in self.plugins {
            plugin.serialize(&self.segment, None)?;
        }
        Ok(())
    }

    fn write_norms(&mut self) -> tantivy::Result<()> {
        let out = self.segment.open_write(SegmentComponent::FieldNorms)?;
        let mut out = FieldNormsSerializer::from_write(out)?;
        for (field, postings) in numbered(&mut self.fields) {
            if let Some(norms) = postings.norms(self.doc_count) {
                out.serialize_field(field, norms)?;
            }
        }
        Ok(out.close()?)
    }

    /// The postings' blocks carry their best scores, for which the lengths are read back.
    fn write_postings(&mut self) -> tantivy::Result<()> {
        let norms = self.segment.open_read(SegmentComponent::FieldNorms)?;
        let norms = FieldNormReaders::open(norms)?;
        let mut files = Vec::new();
        for component in [
            SegmentComponent::Terms,
            SegmentComponent::Postings,
            SegmentComponent::Positions,
        ] {
            files.push(CompositeWrite::wrap(self.segment.open_write(component)?));
        }
        for (field, postings) in numbered(&mut self.fields) {
            if postings.token_count() > 0 {
                let settled = postings.settle();
                settled.map_err(|refusal| refused(&self.schema, field, &refusal))?;
                let parts = postings.serialize(norms.get_field(field)?)?;
                for (file, part) in files.iter_mut().zip(parts) {
                    file.for_field(field).write_all(&part)?;
                }
            }
        }
        for file in files {
            file.close()?;
        }
        Ok(())
    }
}

fn numbered(
    fields: &mut [Option<FieldPostings>],
) -> impl Iterator<Item = (Field, &mut FieldPostings)> {
    let fields = (0..).map(Field::from_field_id).zip(fields);
    fields.filter_map(|(field, postings)| Some((field, postings.as_mut()?)))
}

fn refused(schema: &Schema, field: Field, refusal: &Refusal) -> TantivyError {
    let name = schema.get_field_name(field);
    match refusal {
        Refusal::Type => {
            TantivyError::SchemaError(format!("a value of field [{name}] is of another type"))
        }
        Refusal::Size => {
            TantivyError::InvalidArgument(format!("too much for one segment in field [{name}]"))
        }
    }
}

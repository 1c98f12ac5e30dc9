//! Has the sources of a segment's documents written and merged beside tantivy's files; the format is `clew-schema`'s.

use std::any::Any;

use clew_schema::{SourceWriter, merge_sources, source_component};
use tantivy::directory::{TerminatingWrite, WritePtr};
use tantivy::index::Segment;
use tantivy::indexer::doc_id_mapping::DocIdMapping;
use tantivy::schema::Schema;
use tantivy::schema::document::ErasedDocument;
use tantivy::{DocId, PluginMergeContext, PluginWriter, PluginWriterContext, SegmentPlugin};

use super::row_plugin::{as_segment_document, assert_stacked};

/// Writes, merges and opens `.source` files.
pub(super) struct SourcePlugin;

impl SegmentPlugin for SourcePlugin {
    fn extensions(&self) -> &[&str] {
        &["source"]
    }
    fn create_writer(
        &self,
        context: &PluginWriterContext,
    ) -> tantivy::Result<Box<dyn PluginWriter>> {
        let out = context.segment.open_write(source_component())?;
        Ok(Box::new(Sources(SourceWriter::new(out))))
    }
    fn merge(&self, context: PluginMergeContext) -> tantivy::Result<()> {
        assert_stacked(context.doc_id_mapping.mapping_type())?;
        let out = context.target_segment.open_write(source_component())?;
        merge_sources(context.readers, out)?.terminate()?;
        Ok(())
    }
}

struct Sources(SourceWriter<WritePtr>);

impl PluginWriter for Sources {
    fn add_document(
        &mut self,
        _: DocId,
        document: &dyn ErasedDocument,
        _: &Schema,
    ) -> tantivy::Result<()> {
        self.0.push(&as_segment_document(document).source)?;
        Ok(())
    }
    fn serialize(self: Box<Self>, _: &Segment, map: Option<&DocIdMapping>) -> tantivy::Result<()> {
        assert!(map.is_none(), "segments keep insertion order");
        self.0.finish()?.terminate()?;
        Ok(())
    }
    fn mem_usage(&self) -> usize {
        self.0.memory_bytes()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

//! What a search sees of one shard: the mapping, the segments' readers, and BM25's statistics (`statistics`),
//! which are kept for as long as the segments live.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use clew_schema::{
    MappedField, Mapping,
    similarity::{FieldStatistics, K1},
};
use parking_lot::{Mutex, RwLock};
use tantivy::index::SegmentId;
use tantivy::schema::{Field, Schema};
use tantivy::{DocId, Searcher, SegmentReader, Term};

use crate::ranked::{FoundWord, SearchedField, SegmentFiles, Weight, WordIn};
use crate::segments::Blocks;
use crate::segments::Columns;
use crate::segments::DocumentRows;
use crate::segments::FilterCache;
use crate::segments::{Ids, KeptIds};

mod statistics;

pub(crate) use statistics::occurrences_in;

type PerSegment = BTreeMap<(SegmentId, Field), FieldStatistics>;

/// The field that has the name of the index in every document.
pub(crate) const INDEX_FIELD: &str = "_index";

/// The field that has the routing key of a document.
pub(crate) const ROUTING_FIELD: &str = "_routing";

/// The field that has the number of a document's last change.
pub(crate) const SEQ_NO_FIELD: &str = "_seq_no";

/// Tells the name of an index, which may change while searches go on.
pub trait NamedIndex: Send + Sync {
    /// The name now.
    fn name(&self) -> &str;
}

/// One shard's searchable segments.
pub struct Snapshot {
    /// The mapping.
    pub mapping: Arc<Mapping>,
    /// The segments, in the order that ties are broken by.
    pub readers: Vec<SegmentReader>,
    /// For each segment with nested objects, which of its rows they are. May be shorter.
    blocks: Vec<Option<Arc<Blocks>>>,
    stub: Searcher,
    /// Factor on the scores of terms.
    term_factor: f32,
    per_segment: Arc<Mutex<PerSegment>>,
    per_field: Mutex<BTreeMap<Field, FieldStatistics>>,
    /// The shards, this one among them, whose statistics are taken together; `None` where its own are.
    peers: Option<Arc<[Snapshot]>>,
    /// Fields that were searched; `None` where ranking cannot read some segment by itself.
    fields: RwLock<BTreeMap<Field, Option<Arc<SearchedField>>>>,
    /// Segment by segment; `None` where the files cannot be read.
    files: Vec<Option<Arc<SegmentFiles>>>,
    filters: Arc<FilterCache>,
    columns: Arc<Columns>,
    ids: KeptIds,
    /// What the documents have as `_index`; `None` for those that are in no index.
    index: Option<Arc<dyn NamedIndex>>,
    /// The shard's number in it.
    shard: u32,
    /// What is kept of documents beside their fields; `None` where nothing is.
    rows: Option<Arc<dyn DocumentRows>>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Snapshot")
            .field("segments", &self.readers.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// A snapshot of these segments. `stub` is a searcher over no segments of the same index; the
    /// readers must have been opened under its schema, which may lack the mapping's newest fields.
    pub fn new(mapping: Arc<Mapping>, readers: Vec<SegmentReader>, stub: Searcher) -> Self {
        let files = readers.iter().map(open_files).collect();
        Snapshot::over(mapping, readers, stub, files)
    }

    /// The same of segments whose files were opened.
    fn over(
        mapping: Arc<Mapping>,
        readers: Vec<SegmentReader>,
        stub: Searcher,
        files: Vec<Option<Arc<SegmentFiles>>>,
    ) -> Self {
        Snapshot {
            mapping,
            readers,
            blocks: Vec::new(),
            stub,
            term_factor: 1.0,
            per_segment: Arc::default(),
            per_field: Mutex::default(),
            peers: None,
            fields: RwLock::default(),
            files,
            filters: Arc::default(),
            columns: Arc::default(),
            ids: KeptIds::default(),
            index: None,
            shard: 0,
            rows: None,
        }
    }

    /// The same as that of a shard of an index.
    #[must_use]
    pub fn in_index(self, index: Arc<dyn NamedIndex>, shard: u32) -> Self {
        Snapshot {
            index: Some(index),
            shard,
            ..self
        }
    }

    /// The shard's number in its index.
    pub(crate) fn shard(&self) -> u32 {
        self.shard
    }

    /// The name of the index that the documents are in.
    pub(crate) fn index_name(&self) -> Option<&str> {
        self.index.as_deref().map(NamedIndex::name)
    }

    /// The same with what is kept of its documents beside their fields.
    #[must_use]
    pub fn with_rows(self, rows: Arc<dyn DocumentRows>) -> Self {
        Snapshot {
            rows: Some(rows),
            ..self
        }
    }

    /// What is kept of documents beside their fields.
    pub(crate) fn rows(&self) -> Option<&Arc<dyn DocumentRows>> {
        self.rows.as_ref()
    }

    /// The same with nested objects in its segments, in their order.
    #[must_use]
    pub fn with_blocks(self, blocks: Vec<Option<Arc<Blocks>>>) -> Self {
        Snapshot { blocks, ..self }
    }

    /// The same with BM25 as newer versions write it, without the factor of `k1 + 1`: so OpenSearch
    /// scores documents that are in no index.
    #[must_use]
    pub(crate) fn with_plain_scores(self) -> Self {
        Snapshot {
            term_factor: 1.0 / (1.0 + K1),
            ..self
        }
    }

    /// Factor on the scores of terms.
    pub(crate) fn term_factor(&self) -> f32 {
        self.term_factor
    }

    /// Whether scores are those of documents that are in no index.
    pub(crate) fn has_plain_scores(&self) -> bool {
        self.term_factor < 1.0
    }

    /// The fields that left a value of a document out because it did not fit.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn ignored(&self, (segment, doc): (usize, DocId)) -> tantivy::Result<Vec<String>> {
        let mut names = Vec::new();
        let field = self.mapping.ignored();
        let (Some(field), Some(reader)) = (
            field.filter(|field| self.searchable(field).is_some()),
            self.readers.get(segment),
        ) else {
            return Ok(names);
        };
        if let Some(column) = reader.fast_fields().str(&field.column())? {
            for ord in column.term_ords(doc) {
                let mut name = String::new();
                if column.ord_to_str(ord, &mut name)? {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    /// Which rows of a segment are nested objects; `None` when there are none.
    pub fn blocks(&self, segment: usize) -> Option<&Arc<Blocks>> {
        self.blocks.get(segment)?.as_ref()
    }

    /// The same without segments: what sort keys are checked against.
    pub fn without_segments(&self) -> Self {
        Snapshot {
            index: self.index.clone(),
            shard: self.shard,
            ..Snapshot::new(self.mapping.clone(), Vec::new(), self.stub.clone())
        }
    }

    /// The snapshot that follows this one; what was counted of segments in both is kept.
    pub fn successor(
        &self,
        mapping: Arc<Mapping>,
        readers: Vec<SegmentReader>,
        stub: Searcher,
    ) -> Self {
        let living: BTreeSet<SegmentId> = readers.iter().map(SegmentReader::segment_id).collect();
        let kept = self
            .per_segment
            .lock()
            .iter()
            .filter(|((segment, _), _)| living.contains(segment))
            .map(|(key, statistics)| (*key, *statistics))
            .collect();
        let files = readers.iter().map(|reader| {
            let id = reader.segment_id();
            let known = self.readers.iter().position(|own| own.segment_id() == id);
            let known = known.and_then(|at| self.files[at].clone());
            known.or_else(|| open_files(reader))
        });
        let files = files.collect();
        // Another mapping may give the same words of a filter another meaning.
        let filters = if Arc::ptr_eq(&self.mapping, &mapping) {
            self.filters.keep(&living);
            self.filters.clone()
        } else {
            Arc::new(self.filters.emptied())
        };
        self.columns.keep(&living);
        Snapshot {
            term_factor: self.term_factor,
            per_segment: Arc::new(Mutex::new(kept)),
            filters,
            columns: self.columns.clone(),
            ids: self.ids.kept(&living),
            index: self.index.clone(),
            shard: self.shard,
            ..Snapshot::over(mapping, readers, stub, files)
        }
    }

    /// The ids of a segment's documents, in their order.
    pub(crate) fn ids(&self, reader: &SegmentReader) -> tantivy::Result<Arc<Ids>> {
        self.ids.of(reader)
    }

    /// The files that ranking reads by itself.
    pub(crate) fn files(&self, segment: usize) -> Option<&SegmentFiles> {
        self.files.get(segment)?.as_deref()
    }

    /// What is kept of the columns of numbers.
    pub(crate) fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }

    /// The sets of documents that filters have left, kept for the next search.
    pub fn filters(&self) -> &FilterCache {
        &self.filters
    }

    /// A field as ranking reads it; `None` when some segment cannot be read so.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub(crate) fn searched(&self, field: Field) -> tantivy::Result<Option<Arc<SearchedField>>> {
        if let Some(known) = self.fields.read().get(&field) {
            return Ok(known.clone());
        }
        let files: Option<Vec<_>> = self.files.iter().map(Option::as_deref).collect();
        let opened = match files {
            Some(files) => {
                let segments = self.readers.iter().zip(files);
                Some(Arc::new(SearchedField::open(field, segments)?))
            }
            None => None,
        };
        let mut fields = self.fields.write();
        Ok(fields.entry(field).or_insert(opened).clone())
    }

    /// A word as ranking reads it; `None` when some segment cannot be read so, or its scores are next to nothing.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub(crate) fn ranked_word(
        &self,
        mapped: &MappedField,
        (field, found): (Field, FoundWord),
        weight: Weight,
    ) -> tantivy::Result<Option<WordIn>> {
        let searched = match weight.ranks() {
            true => self.searched(field)?,
            false => None,
        };
        let Some(searched) = searched else {
            return Ok(None);
        };
        Ok(Some(WordIn {
            field: searched.measured(self.statistics(mapped)?),
            found,
            weight,
        }))
    }

    /// Whether [`Snapshot::read_impacts`] would make searches faster; says so once for a field. One that is weighed with others
    /// lives for one search.
    pub fn wants_impacts(&self) -> bool {
        let fields = self.fields.read();
        let wanting = fields
            .values()
            .flatten()
            .filter(|field| field.take_wants_impacts());
        self.peers.is_none() && wanting.count() > 0
    }

    /// Reads how much the frequent words of the fields that were searched add to the score of each document, for the
    /// searches from now on. It takes about 0.2 s of CPU for a million short documents, and memory: a byte for each
    /// document and frequent word, 32 MiB for a field of a segment and 256 MiB for the process at most.
    pub fn read_impacts(&self) {
        let fields: Vec<_> = self.fields.read().values().flatten().cloned().collect();
        fields.iter().for_each(|field| field.read_impacts());
    }

    /// The memory that these take.
    pub fn impacts_bytes(&self) -> usize {
        self.files
            .iter()
            .flatten()
            .map(|files| files.impacts_bytes())
            .sum()
    }

    /// The searcher over no segments, which tantivy wants for its schema.
    pub(crate) fn stub(&self) -> &Searcher {
        &self.stub
    }

    /// Documents that are not deleted.
    pub fn live_docs(&self) -> u64 {
        self.readers.iter().map(|r| u64::from(r.num_docs())).sum()
    }

    /// Documents that are deleted but still in the segments.
    pub(crate) fn dead_docs(&self) -> u64 {
        let dead = |r: &SegmentReader| u64::from(r.num_deleted_docs());
        self.readers.iter().map(dead).sum()
    }

    /// The field's tantivy field, when the segments were opened under a schema that has it.
    pub(crate) fn searchable(&self, field: &MappedField) -> Option<Field> {
        searchable_in(self.stub.schema(), field)
    }

    /// Where the postings of a term lie.
    ///
    /// # Errors
    /// When a term dictionary cannot be read.
    pub(crate) fn find(&self, term: &Term) -> tantivy::Result<FoundWord> {
        if let Some(field) = self.searched(term.field())? {
            return Ok(field.find(term.serialized_value_bytes()));
        }
        let mut infos = Vec::with_capacity(self.readers.len());
        for reader in &self.readers {
            infos.push(reader.inverted_index(term.field())?.get_term_info(term)?);
        }
        Ok(FoundWord::new(infos))
    }
}

/// The field's tantivy field, when segments of this schema have it.
pub(crate) fn searchable_in(schema: &Schema, field: &MappedField) -> Option<Field> {
    field
        .field
        .filter(|field| (field.field_id() as usize) < schema.num_fields())
}

fn open_files(reader: &SegmentReader) -> Option<Arc<SegmentFiles>> {
    SegmentFiles::open(reader).ok().map(Arc::new)
}

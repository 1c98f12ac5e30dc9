//! Scripts over the columns of a segment.

use std::net::Ipv6Addr;
use std::sync::Arc;

use clew_query::{
    Emitted, Script, ScriptDocument, ScriptError, ScriptErrorKind, ScriptPurpose, ScriptState,
    ScriptValue, TermCount, seed_of,
};
use clew_schema::geo::GeoPoint;
use clew_schema::{Mapping, SourceCursor, Sources};
use parking_lot::Mutex;
use serde_json::Value;
use tantivy::columnar::{Column, StrColumn};
use tantivy::directory::error::OpenReadError;
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader, TantivyError};

use super::chance::{Lots, SegmentLots};
use super::columns::{OpenColumn, ScriptColumn, id_of};
use super::terms::{SegmentTerms, ShardTerms};
use crate::query::resolver::SegmentHits;
use crate::snapshot::{INDEX_FIELD, Snapshot};

/// What the vectors of a script's measures are, by segment.
pub(crate) type Measured = Arc<Vec<(SegmentId, SegmentHits)>>;

/// A script under a mapping.
#[derive(Debug)]
pub(crate) struct CompiledScript {
    script: Script,
    purpose: ScriptPurpose,
    columns: Vec<ScriptColumn>,
    measures: Vec<Measured>,
    /// The words that it may ask for; others have none.
    terms: Option<ShardTerms>,
    lots: Lots,
    now_ms: i64,
}

impl CompiledScript {
    pub(crate) fn new(
        script: &Script,
        purpose: ScriptPurpose,
        mapping: &Mapping,
        (measures, now_ms): (Vec<Measured>, i64),
    ) -> Self {
        let fields = script.fields().iter();
        let columns = fields.map(|path| match mapping.field(path) {
            _ if purpose == ScriptPurpose::Values && path == Script::GIVEN => ScriptColumn::Given,
            Some(field) => ScriptColumn::of(field, script.measures()),
            None => ScriptColumn::Unmapped,
        });
        CompiledScript {
            script: script.clone(),
            purpose,
            columns: columns.collect(),
            measures,
            terms: None,
            lots: Lots::default(),
            now_ms,
        }
    }

    /// The same over a shard: its words, what it draws, and what its documents have beside their fields.
    ///
    /// # Errors
    /// When the ids of documents are asked for, and cannot be read.
    pub(crate) fn over(mut self, snapshot: &Snapshot) -> tantivy::Result<Self> {
        self.terms = Some(ShardTerms::of(snapshot));
        self.lots = Lots::of(snapshot);
        for (path, column) in self.script.fields().iter().zip(&mut self.columns) {
            if !column.is_mapped()
                && let Some(own) = ScriptColumn::beside(snapshot, path)?
            {
                *column = own;
            }
        }
        Ok(self)
    }

    /// The same over documents of an index, whose name each has as `_index`.
    pub(crate) fn in_index(mut self, name: Option<&str>) -> Self {
        for (path, column) in self.script.fields().iter().zip(&mut self.columns) {
            if let Some(name) = name.filter(|_| path == INDEX_FIELD && !column.is_mapped()) {
                *column = ScriptColumn::Same(Some(name.to_string()));
            }
        }
        self
    }
}

/// A script over one segment.
pub(crate) struct OpenScript {
    compiled: Arc<CompiledScript>,
    columns: Vec<OpenColumn>,
    terms: SegmentTerms,
    lots: SegmentLots,
    segment: SegmentId,
    /// Where the script asks for sources, and there are any.
    sources: Option<Mutex<SourceCursor>>,
}

impl OpenScript {
    pub(crate) fn new(
        compiled: Arc<CompiledScript>,
        reader: &SegmentReader,
    ) -> tantivy::Result<Self> {
        let columns = compiled.columns.iter();
        let columns = columns.map(|column| column.open(reader));
        let sources = match compiled
            .script
            .may_read_source()
            .then(|| Sources::open(reader))
        {
            None => None,
            Some(Ok(sources)) => Some(Mutex::new(sources.cursor())),
            // Documents in memory that a query is tried on have none.
            Some(Err(TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)))) => None,
            Some(Err(error)) => return Err(error),
        };
        Ok(OpenScript {
            columns: columns.collect::<tantivy::Result<_>>()?,
            sources,
            terms: SegmentTerms::of(reader),
            lots: compiled.lots.in_segment(reader.segment_id()),
            segment: reader.segment_id(),
            compiled,
        })
    }

    /// A document's source, where the script asks for it; a nested object by itself has none.
    fn source(&self, doc: DocId) -> Result<Option<Value>, ScriptError> {
        let Some(sources) = &self.sources else {
            return Ok(None);
        };
        let mut sources = sources.lock();
        let source = sources.get(doc).map_err(unreadable)?;
        Ok(serde_json::from_slice(source).ok())
    }

    /// A document with a score as the script sees it.
    fn seen<'s>(
        &self,
        (doc, score): (DocId, f64),
        source: Option<ScriptValue<'s>>,
    ) -> OneDocument<'_, 's> {
        OneDocument {
            open: self,
            doc,
            score,
            given: None,
            source,
        }
    }

    /// The text that the script makes of a document whose score is known, if any.
    ///
    /// # Errors
    /// What went wrong in the script, or that it made something else.
    pub(crate) fn text(&self, doc: DocId, score: f64) -> Result<Option<String>, ScriptError> {
        let source = self.source(doc)?;
        let source = source.as_ref().map(ScriptValue::of_json);
        let mut document = self.seen((doc, score), source);
        self.compiled.script.text_if_any(&mut document)
    }

    /// What the script emits of a document.
    ///
    /// # Errors
    /// What went wrong in the script.
    pub(crate) fn emitted(&self, doc: DocId) -> Result<Vec<Emitted>, ScriptError> {
        let source = self.source(doc)?;
        let source = source.as_ref().map(ScriptValue::of_json);
        let mut document = self.seen((doc, 0.0), source);
        self.compiled.script.emitted(&mut document)
    }

    /// What the script makes of a document whose score is known.
    ///
    /// # Errors
    /// What went wrong in the script, or that it made no score.
    pub(crate) fn checked(&self, doc: DocId, score: f64) -> Result<f64, ScriptError> {
        let script = &self.compiled.script;
        let source = self.source(doc)?;
        let source = source.as_ref().map(ScriptValue::of_json);
        let mut document = self.seen((doc, score), source);
        if self.compiled.purpose == ScriptPurpose::Filter {
            return Ok(f64::from(u8::from(script.holds(&mut document)?)));
        }
        let number = script.number(&mut document)?;
        let is_score = self.compiled.purpose == ScriptPurpose::Score;
        if is_score && (number.is_nan() || number < 0.0) {
            return Err(ScriptError::new(
                ScriptErrorKind::Score,
                format!(
                    "script_score script returned an invalid score [{number:?}] for doc [{doc}]. \
                     Must be a non-negative score!"
                ),
            )
            .of(script.source()));
        }
        Ok(number)
    }
}

/// A value that a script is given beside a document.
#[derive(Clone, Debug, PartialEq)]
pub enum GivenValue {
    /// A number.
    Float(f64),
    /// A text.
    Text(Box<str>),
}

impl GivenValue {
    fn seen<'a>(&self) -> ScriptValue<'a> {
        match self {
            GivenValue::Float(number) => ScriptValue::Float(*number),
            GivenValue::Text(text) => ScriptValue::Text(text.to_string().into()),
        }
    }
}

/// A script that makes values of documents, under a mapping.
#[derive(Clone, Debug)]
pub struct ValueScript(Arc<CompiledScript>);

impl ValueScript {
    /// Of a script for [`ScriptPurpose::Values`] over the documents of an index with this name; `now_ms` is when the request
    /// came, in milliseconds since the epoch.
    pub fn new(script: &Script, mapping: &Mapping, index: &str, now_ms: i64) -> Self {
        let known = (Vec::new(), now_ms);
        let compiled = CompiledScript::new(script, ScriptPurpose::Values, mapping, known);
        ValueScript(Arc::new(compiled.in_index(Some(index))))
    }

    /// Whether it looks at the scores of documents.
    pub fn sees_score(&self) -> bool {
        self.0.script.sees_score()
    }

    /// The same over a segment, whose columns it opens.
    ///
    /// # Errors
    /// When a column cannot be read.
    pub fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenValueScript> {
        let open = OpenScript::new(self.0.clone(), reader)?;
        Ok(OpenValueScript(open))
    }
}

/// The same over one segment.
pub struct OpenValueScript(OpenScript);

impl OpenValueScript {
    /// Hands over what the script makes of a document with a score, and of a value that it is given.
    ///
    /// # Errors
    /// What went wrong in the script.
    pub fn value<T>(
        &self,
        (doc, score): (DocId, f32),
        given: Option<&GivenValue>,
        take: impl FnOnce(ScriptValue<'_>) -> T,
    ) -> Result<T, ScriptError> {
        let source = self.0.source(doc)?;
        let source = source.as_ref().map(ScriptValue::of_json);
        let mut document = OneDocument {
            given,
            ..self.0.seen((doc, f64::from(score)), source)
        };
        self.0.compiled.script.run(&mut document).map(take)
    }

    /// Has the script gather something of a document with a score.
    ///
    /// # Errors
    /// As [`ScriptState::gather`].
    pub fn gather<'s>(
        &'s self,
        (doc, score): (DocId, f32),
        state: &mut ScriptState<'s>,
    ) -> Result<(), ScriptError> {
        // What is gathered may have parts of it.
        let source = self.0.source(doc)?;
        let source = source.as_ref().map(ScriptValue::copied).transpose()?;
        let mut document = self.0.seen((doc, f64::from(score)), source);
        state.gather(&self.0.compiled.script, &mut document)
    }
}

/// A document as its script sees it.
struct OneDocument<'o, 's> {
    open: &'o OpenScript,
    doc: DocId,
    score: f64,
    given: Option<&'o GivenValue>,
    /// Its source, where the script may look at that.
    source: Option<ScriptValue<'s>>,
}

fn values<'a, V>(
    column: Option<&Column<V>>,
    doc: DocId,
    value: impl Fn(V) -> ScriptValue<'a>,
) -> Vec<ScriptValue<'a>>
where
    V: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static,
{
    let values = column
        .into_iter()
        .flat_map(|column| column.values_for_doc(doc));
    let mut values: Vec<V> = values.collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values.into_iter().map(value).collect()
}

fn words<'a>(column: &StrColumn, doc: DocId) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
    // Places in a dictionary are in the order of its words.
    let mut places: Vec<u64> = column.ords().values_for_doc(doc).collect();
    places.sort_unstable();
    places.dedup();
    let word = |place| {
        let mut word = String::new();
        let read = column.ord_to_str(place, &mut word);
        read.map_err(|error| ScriptError::new(ScriptErrorKind::State, error.to_string()))?;
        Ok(ScriptValue::Text(word.into()))
    };
    places.into_iter().map(word).collect()
}

impl<'a> ScriptDocument<'a> for OneDocument<'_, 'a> {
    fn is_mapped(&self, field: usize) -> bool {
        let column = self.open.compiled.columns.get(field);
        column.is_some_and(ScriptColumn::is_mapped)
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let doc = self.doc;
        let Some(column) = self.open.columns.get(field) else {
            return Ok(Vec::new());
        };
        Ok(match column {
            OpenColumn::Whole(column) => values(column.as_ref(), doc, ScriptValue::Whole),
            OpenColumn::Truth(column) => {
                values(column.as_ref(), doc, |flag| ScriptValue::Bool(flag != 0))
            }
            OpenColumn::Millis(column) => values(column.as_ref(), doc, ScriptValue::Date),
            OpenColumn::Nanos(column) => values(column.as_ref(), doc, |nanos: i64| {
                ScriptValue::Date(nanos.div_euclid(1_000_000))
            }),
            OpenColumn::Unsigned(column) => values(column.as_ref(), doc, unsigned),
            OpenColumn::Float(column) => values(column.as_ref(), doc, ScriptValue::Float),
            OpenColumn::Text(None) => Vec::new(),
            OpenColumn::Text(Some(column)) => words(column, doc)?,
            OpenColumn::Address(column) => values(column.as_ref(), doc, |address: Ipv6Addr| {
                ScriptValue::Text(address.to_canonical().to_string().into())
            }),
            OpenColumn::Points(column) => values(column.as_ref(), doc, |code| {
                ScriptValue::Point(GeoPoint::decode(code))
            }),
            OpenColumn::Same(value) => {
                let value = value.iter();
                let texts = value.map(|text| ScriptValue::Text(text.clone().into()));
                texts.collect()
            }
            OpenColumn::Ids(ids) => {
                let id = ids.as_ref().map(|ids| id_of(ids, doc)).transpose();
                let id = id.map_err(unreadable)?.flatten();
                id.map(|id| ScriptValue::Text(id.into()))
                    .into_iter()
                    .collect()
            }
            OpenColumn::Changes(changes, segment) => {
                let number = changes.of(*segment, doc).map_err(unreadable)?;
                number.map(unsigned).into_iter().collect()
            }
            OpenColumn::Vector(measure) => {
                let there = self.near(*measure).is_some();
                there
                    .then_some(ScriptValue::Bool(true))
                    .into_iter()
                    .collect()
            }
            OpenColumn::Given => self.given.map(GivenValue::seen).into_iter().collect(),
            OpenColumn::None => {
                let path = self.open.compiled.script.fields().get(field);
                let reason = match self.open.compiled.columns.get(field) {
                    Some(ScriptColumn::Refused(reason)) => reason.clone(),
                    _ => format!(
                        "No field found for [{}] in mapping",
                        path.map_or("", String::as_str)
                    ),
                };
                return Err(ScriptError::new(ScriptErrorKind::Argument, reason));
            }
        })
    }

    fn score(&mut self) -> f64 {
        self.score
    }

    fn measure(&mut self, measure: usize) -> Option<f64> {
        self.near(measure)
    }

    fn source(&self) -> Option<ScriptValue<'a>> {
        self.source.clone()
    }

    fn term_count(&mut self, count: TermCount<'_>) -> Result<i64, ScriptError> {
        let shard = self.open.compiled.terms.as_ref();
        shard.map_or(Ok(0), |shard| self.open.terms.count(shard, count, self.doc))
    }

    fn chance(&mut self, seed: i64, decides: Option<&str>) -> f64 {
        self.open.lots.draw(seed_of(seed), decides, self.doc)
    }

    fn now_ms(&self) -> i64 {
        self.open.compiled.now_ms
    }
}

impl OneDocument<'_, '_> {
    fn near(&self, measure: usize) -> Option<f64> {
        let segments = self.open.compiled.measures.get(measure)?;
        let mut segments = segments.iter();
        let (_, found) = segments.find(|(segment, _)| *segment == self.open.segment)?;
        let at = found
            .binary_search_by_key(&self.doc, |(doc, _)| *doc)
            .ok()?;
        found.get(at).map(|(_, near)| f64::from(*near))
    }
}

fn unreadable(error: TantivyError) -> ScriptError {
    ScriptError::new(ScriptErrorKind::State, error.to_string())
}

fn unsigned<'a>(number: u64) -> ScriptValue<'a> {
    match i64::try_from(number) {
        Ok(whole) => ScriptValue::Whole(whole),
        #[allow(
            clippy::cast_precision_loss,
            reason = "beyond 63 bits scripts have no whole numbers"
        )]
        Err(_) => ScriptValue::Float(number as f64),
    }
}

//! `highlight`: what a request asks for (`reading`), and the pieces of text in its hits.

mod reading;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::Hit;
use clew_platform::CancellationToken;
use clew_query::Query;
use clew_schema::Mapping;
use clew_search::{HighlightError, HighlightField, Highlighter};
use serde_json::{Map, Value};

use super::guard::limit;
use super::lookup::{Queries, Visit};
use super::percolated;
use super::response::time_is_up;
use crate::dsl::DslError;
use crate::http::error::ApiError;
use crate::state::tasks::cancelled_error;

/// Characters of a field that are looked through, unless its index says otherwise.
pub(super) const ANALYZED_MAX: usize = 1_000_000;
pub(super) const ANALYZED_MAX_SETTING: &str = "index.highlight.max_analyzed_offset";

/// A request's highlighting.
#[derive(Clone, Debug)]
pub(super) struct Highlight {
    pub(super) fields: Arc<Vec<HighlightField>>,
    /// The search's query.
    pub(super) query: Query,
}

impl Queries for Highlight {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.query.for_each_mut(visit)?;
        if self
            .fields
            .iter()
            .all(|field| field.options.query.is_none())
        {
            return Ok(());
        }
        let mut fields = Arc::make_mut(&mut self.fields).iter_mut();
        fields.try_for_each(|field| field.options.query.each(visit))
    }
}

impl Highlight {
    /// Reads the object; `None` when it names no fields.
    pub(super) fn parse(value: &Value) -> Result<Option<Self>, DslError> {
        let fields = Arc::new(reading::fields_of(value)?);
        Ok((!fields.is_empty()).then(|| Highlight {
            fields,
            query: Query::MatchNone,
        }))
    }
}

/// The pieces of one answer's hits.
pub(super) struct Highlights<'a> {
    highlight: Option<&'a Highlight>,
    /// What is looked for in the documents of each index, by its unique id.
    prepared: RefCell<BTreeMap<String, Highlighter<'a>>>,
}

impl<'a> Highlights<'a> {
    pub(super) fn new(highlight: Option<&'a Highlight>) -> Self {
        Highlights {
            highlight,
            prepared: RefCell::default(),
        }
    }

    /// A hit's pieces by field, when it has any, and there is time to find them.
    pub(super) fn of(&self, hit: &Hit) -> Result<Option<Value>, ApiError> {
        match self.pieces(hit) {
            Err(_) if time_is_up() => Ok(None),
            pieces => pieces,
        }
    }

    fn pieces(&self, hit: &Hit) -> Result<Option<Value>, ApiError> {
        let (Some(highlight), Some(source)) = (self.highlight, hit.source.as_ref()) else {
            return Ok(None);
        };
        let Ok(source) = serde_json::from_slice::<Value>(source) else {
            return Ok(None);
        };
        let mut prepared = self.prepared.borrow_mut();
        let highlighter = prepared
            .entry(hit.index.uuid().to_string())
            .or_insert_with(|| highlight.prepare(hit, &highlight.query));
        let own = highlighter.highlight(&source);
        let own = own.map_err(|error| refusal(&error, hit))?.into_iter();
        let mapping = hit.index.mapping();
        // Of a source that the mapping leaves out only what is stored by itself is shown.
        let is_stored = |path: &str| mapping.field(path).is_some_and(|f| f.settings.store);
        let own = own.filter(|(path, _)| mapping.is_source_enabled() || is_stored(path));
        let own = own.map(|(path, pieces)| (path, pieces.into()));
        let mut shown: Map<String, Value> = own.collect();
        percolated::add_highlights(hit, highlight, &mut shown)?;
        Ok((!shown.is_empty()).then_some(Value::Object(shown)))
    }
}

impl Highlight {
    /// Makes a query ready for documents of a hit's index.
    pub(super) fn prepare(&self, hit: &Hit, query: &Query) -> Highlighter<'_> {
        let analyzed_max = analyzed_max(hit);
        Highlighter::new(hit.index.mapping(), query, &self.fields, analyzed_max)
    }

    /// The pieces of a field of a hit that stands in a mapping and a document of its own.
    pub(super) fn pieces_within(
        &self,
        hit: &Hit,
        (mapping, document): (Mapping, &Value),
        field: &HighlightField,
    ) -> Result<Vec<(String, Vec<String>)>, ApiError> {
        let fields = std::slice::from_ref(field);
        let mapping = Arc::new(mapping);
        let highlighter = Highlighter::new(mapping, &self.query, fields, analyzed_max(hit));
        let pieces = highlighter.highlight(document);
        pieces.map_err(|error| refusal(&error, hit))
    }
}

/// Characters of a field that are looked through in documents of a hit's index.
fn analyzed_max(hit: &Hit) -> usize {
    limit(&hit.index, ANALYZED_MAX_SETTING, ANALYZED_MAX)
}

/// Why a hit cannot be highlighted, in OpenSearch's words.
pub(super) fn refusal(error: &HighlightError, hit: &Hit) -> ApiError {
    let advice = format!(
        "maximum allowed to be analyzed for highlighting. This maximum can be set by changing the \
         [{ANALYZED_MAX_SETTING}] index level setting. For large texts, indexing with offsets or \
         term vectors is recommended!"
    );
    match error {
        HighlightError::TooLong { field, max } => ApiError::illegal_argument(format!(
            "The length of [{field}] field of [{}] doc of [{}] index has exceeded [{max}] - {advice}",
            hit.id,
            hit.index.name()
        )),
        HighlightError::TooSmall { size, least } => ApiError::illegal_argument(format!(
            "fragCharSize({size}) is too small. It must be {least} or higher."
        )),
        HighlightError::NoVectors { field } => ApiError::illegal_argument(format!(
            "the field [{field}] should be indexed with term vector with position offsets to be used with fast vector \
             highlighter"
        )),
        HighlightError::TooMuch { max } => ApiError::illegal_argument(format!(
            "max_analyzer_offset has exceeded [{max}] - {advice}"
        )),
        _ => {
            let token = CancellationToken::current();
            cancelled_error(token.reason().unwrap_or_default())
        }
    }
}

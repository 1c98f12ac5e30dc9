//! What the answer to a search shall look like, beside what is found.

use std::collections::BTreeMap;

use serde_json::Value;

use super::derived::DerivedFields;
use super::fields::FieldList;
use super::highlight::Highlight;
use super::inner::InnerSpec;
use super::script_fields::ScriptFields;
use super::top_hits::ShownTopHits;
use crate::http::source_filter::SourceFilter;

/// What the answer shall look like.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub(super) source: SourceFilter,
    pub(super) fields: FieldList,
    /// What scripts make of hits.
    pub(super) scripts: ScriptFields,
    /// Fields that scripts make.
    pub(super) derived: DerivedFields,
    pub(super) version: bool,
    pub(super) seq_no: bool,
    /// `stored_fields: "_none_"`: hits without id and source.
    pub(super) bare: bool,
    pub(super) total_as_int: bool,
    pub(super) typed_keys: bool,
    pub(super) sorted: bool,
    pub(super) profile: bool,
    /// Times of the profile stand there in words, too.
    pub(super) human: bool,
    /// Hits say where their score comes from, and where they are.
    pub(super) explain: bool,
    /// The answer says whether fewer matches were looked at than there are.
    pub(super) terminates: bool,
    pub(super) highlight: Option<Highlight>,
    /// What is wanted from inside the hits.
    pub(super) inner: Vec<InnerSpec>,
    /// The field that hits are collapsed by.
    pub(super) collapsed: Option<String>,
    /// What is handed back with results of aggregations, by the paths there.
    pub(super) agg_meta: BTreeMap<String, Value>,
    /// How documents among the aggregations are shown.
    pub(super) top_hits: ShownTopHits,
}

impl Output {
    /// Whether hits must carry their source.
    pub(super) fn needs_source(&self) -> bool {
        let shown = self.source != SourceFilter::None || self.fields.needs_source();
        shown || self.highlight.is_some() || !self.scripts.is_empty()
    }
}

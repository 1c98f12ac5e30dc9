//! A search's body and URI parameters, read into the engine's request and into what the answer
//! shall look like. Keys that would change the result but are not known are refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Index, Pinned, ProfileDetail, SearchControl, SearchRequest};
use clew_query::aggregation::NamedAgg;
use clew_query::{Query, SortKey, SortValue};
use clew_search::TrackTotal;
use serde_json::{Value, json};

use super::collapse::CollapseSpec;
use super::control::Control;
use super::derived::DerivedFields;
use super::fields::FieldList;
use super::guard::limit;
use super::highlight::Highlight;
use super::inner::{self, InnerSpec};
use super::members::{
    check_sort_of, flag, float, groups, is_empty, list, track_total, unknown_key, whole,
};
use super::output::Output;
use super::scope::{Boosts, read_boosts};
use super::script_fields::{SCRIPTS_MAX, SCRIPTS_SETTING, ScriptFields};
use super::sort_values;
use super::suggest;
use super::top_hits::{Around, ShownTopHits};
use super::uri_query::{min_score_of_params, query_of_params};
use crate::aggs::{ParsedAggs, ShownAggs, parse_aggs};
use crate::dsl::{self, HybridQuery};
use crate::http::error::ApiError;
use crate::http::params::Params;
use crate::http::place::{Spot, token};
use crate::http::source_filter::SourceFilter;

const SIZE_DEFAULT: usize = 10;
/// Matches are counted exactly up to here unless the request says otherwise.
const TRACK_TOTAL_DEFAULT: u64 = 10_000;

/// A search as it was asked for.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) from: usize,
    pub(super) size: usize,
    pub(super) output: Output,
    pub(super) indices_boost: Boosts,
    pub(super) control: Control,
    pub(super) suggest: Option<Value>,
    pub(super) query: Option<Query>,
    /// The queries that the query is the union of, where they rank together.
    pub(super) hybrid: Option<HybridQuery>,
    pub(super) collapse: Option<CollapseSpec>,
    /// The same as it was written.
    collapse_body: Option<Value>,
    pub(super) post_filter: Option<Query>,
    pub(super) aggs: Vec<NamedAgg>,
    /// How their results are shown, as it was written.
    shown_aggs: ShownAggs,
    pub(super) sort: Vec<SortKey>,
    search_after: Vec<Value>,
    track_total: Option<TrackTotal>,
    track_scores: bool,
    min_score: Option<f32>,
    timeout: Option<Duration>,
    stored_fields: bool,
    /// Groups that the search is counted in.
    groups: Vec<String>,
    source: Option<SourceFilter>,
}

impl Spec {
    /// `text` is the body's text, which is only looked at to say where an error is.
    pub(super) fn parse(body: &Value, text: &[u8], params: &Params) -> Result<Arc<Self>, ApiError> {
        Spec::read(body, text, params)?.finished(params)
    }

    /// The same, before it is looked at what goes together; in the place where it stays, as it is large.
    pub(super) fn read(body: &Value, text: &[u8], params: &Params) -> Result<Arc<Self>, ApiError> {
        let Value::Object(members) = body else {
            let found = token(body);
            let reason = format!("Expected [START_OBJECT] but found [{found}]");
            let error = ApiError::parsing_at(Spot::start_of(body), reason);
            return Err(error.placed(body, text));
        };
        let mut read = Arc::new(Spec::empty());
        let spec = Arc::make_mut(&mut read);
        for (key, value) in members {
            check_sort_of(key, value, text)?;
            spec.read_member(key, value, text)
                .map_err(|error| error.placed(body, text))?;
        }
        if !params.is_empty() {
            spec.read_params(params)?;
        }
        Ok(read)
    }

    /// What was read, once it is looked at what goes together.
    pub(super) fn finished(mut self: Arc<Self>, params: &Params) -> Result<Arc<Self>, ApiError> {
        Arc::make_mut(&mut self).finish(Some(params))?;
        Ok(self)
    }

    pub(super) fn empty() -> Self {
        Spec {
            from: 0,
            size: SIZE_DEFAULT,
            output: Output {
                source: SourceFilter::All,
                fields: FieldList::default(),
                scripts: ScriptFields::default(),
                derived: DerivedFields::default(),
                version: false,
                seq_no: false,
                bare: false,
                total_as_int: false,
                typed_keys: false,
                sorted: false,
                profile: false,
                human: false,
                explain: false,
                terminates: false,
                highlight: None,
                inner: Vec::new(),
                collapsed: None,
                agg_meta: BTreeMap::new(),
                top_hits: ShownTopHits::default(),
            },
            indices_boost: Boosts::new(),
            control: Control::default(),
            suggest: None,
            query: None,
            hybrid: None,
            collapse: None,
            collapse_body: None,
            post_filter: None,
            aggs: Vec::new(),
            shown_aggs: ShownAggs::default(),
            sort: Vec::new(),
            search_after: Vec::new(),
            track_total: None,
            track_scores: false,
            min_score: None,
            timeout: None,
            stored_fields: false,
            groups: Vec::new(),
            source: None,
        }
    }

    pub(super) fn read_member(
        &mut self,
        key: &str,
        value: &Value,
        text: &[u8],
    ) -> Result<(), ApiError> {
        if self.control.read_member(key, value)? {
            return Ok(());
        }
        match key {
            "highlight" => self.output.highlight = Highlight::parse(value)?,
            "suggest" => {
                suggest::check(value)?;
                self.suggest = Some(value.clone());
            }
            "query" => {
                let (query, hybrid) = dsl::parse_search_query(value)?;
                (self.query, self.hybrid) = (Some(query), hybrid);
                self.output.inner = inner::of_query(value)?;
            }
            "post_filter" => self.post_filter = Some(dsl::parse_query(value)?),
            "aggs" | "aggregations" => {
                let ParsedAggs { aggs, shown } = parse_aggs(value)?;
                (self.aggs, self.shown_aggs) = (aggs, shown);
            }
            "sort" => self.sort = dsl::parse_sort(value)?,
            "from" => self.from = whole(key, value)?,
            "size" => self.size = whole(key, value)?,
            "search_after" => {
                self.search_after = list(key, value)?;
                sort_values::check_singles(value)?;
            }
            "_source" => self.source = Some(SourceFilter::from_json(value)?),
            "fields" | "docvalue_fields" => self.output.fields.extend(key, value)?,
            "stored_fields" if value.is_object() => return Err(unknown_key(key, value, text)),
            "stored_fields" => self.read_stored_fields(value)?,
            "track_total_hits" => self.track_total = Some(track_total(value)?),
            "track_scores" => self.track_scores = flag(value)?,
            "version" => self.output.version = flag(value)?,
            "seq_no_primary_term" => self.output.seq_no = flag(value)?,
            "min_score" => self.min_score = Some(float(value)?),
            "timeout" => {
                let time = value
                    .as_str()
                    .map_or_else(|| value.to_string(), String::from);
                self.timeout = crate::http::setting_values::parse_time(key, &time)?;
            }
            "stats" => self.groups = groups(key, value)?,
            "profile" => self.output.profile = flag(value)?,
            "indices_boost" => self.indices_boost = read_boosts(value)?,
            // Answers show these scores when the URI asks for them.
            "include_named_queries_score" => {
                flag(value)?;
            }
            // These only tell a cluster where to run, or how to count a search.
            "ext" | "verbose_pipeline" if is_empty(value) => {}
            "collapse" => {
                // It is read once more beside the query, whose words its hits show; what is wrong is told at its place.
                CollapseSpec::read(value, None)?;
                self.collapse_body = Some(value.clone());
            }
            "script_fields" if is_empty(value) => {}
            "script_fields" => self.output.scripts = ScriptFields::read(value)?,
            "derived" => self.output.derived = DerivedFields::read(key, value, text)?,
            "ext" if !is_empty(value) => return Err(unsupported(key)),
            // What these say was done to the body already.
            "search_pipeline" => {}
            "verbose_pipeline" if value.is_boolean() => {}
            _ => return Err(unknown_key(key, value, text)),
        }
        Ok(())
    }

    fn read_stored_fields(&mut self, value: &Value) -> Result<(), ApiError> {
        self.stored_fields = true;
        let names = match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => vec![text.as_str()],
            other => {
                let found = token(other);
                let reason = format!(
                    "Expected [VALUE_STRING] or [START_ARRAY] in [stored_fields] but found \
                     [{found}]"
                );
                return Err(ApiError::parsing_at(Spot::start_of(other), reason));
            }
        };
        self.output.bare = names.contains(&"_none_");
        if names.contains(&"_source") {
            self.source.get_or_insert(SourceFilter::All);
        }
        if self.output.bare || names.is_empty() {
            return Ok(());
        }
        self.output.fields.extend("stored_fields", value)
    }

    /// Parameters of the URI win over the body.
    fn read_params(&mut self, params: &Params) -> Result<(), ApiError> {
        if let Some(query) = query_of_params(params)? {
            (self.query, self.hybrid) = (Some(dsl::parse_query(&query)?), None);
        }
        if let Some(from) = params.unsigned("from")? {
            self.from = usize::try_from(from).unwrap_or(usize::MAX);
        }
        if let Some(size) = params.unsigned("size")? {
            self.size = usize::try_from(size).unwrap_or(usize::MAX);
        }
        let sort = params.list("sort");
        if let Some(sort) = sort.and_then(|names| dsl::parse_uri_sort(&names)) {
            self.sort = sort;
        }
        if let Some(filter) = SourceFilter::from_params(params)? {
            self.source = Some(filter);
        }
        if let Some(names) = params.list("docvalue_fields") {
            self.output
                .fields
                .extend("docvalue_fields", &json!(names))?;
        }
        if let Some(names) = params.list("stored_fields") {
            self.read_stored_fields(&json!(names))?;
        }
        if let Some(text) = params.get("track_total_hits") {
            self.track_total = Some(match text {
                "" | "true" => TrackTotal::Exact,
                "false" => TrackTotal::No,
                _ => track_total(&json!(params.integer("track_total_hits")?))?,
            });
        }
        if let Some(field) = params.get("suggest_field") {
            let text = params.get("suggest_text").or(params.get("q"));
            let term = json!({
                "field": field,
                "size": params.unsigned("suggest_size")?.unwrap_or(5),
                "suggest_mode": params.get("suggest_mode").unwrap_or("missing"),
            });
            self.suggest = Some(json!({field: {"text": text.unwrap_or_default(), "term": term}}));
        }
        self.control.read_params(params)?;
        self.control.scroll = params.time("scroll")?;
        self.track_scores = params.flag("track_scores", self.track_scores)?;
        self.min_score = min_score_of_params(params)?.or(self.min_score);
        self.timeout = params.time("timeout")?.or(self.timeout);
        self.output.version = params.flag("version", self.output.version)?;
        self.output.seq_no = params.flag("seq_no_primary_term", self.output.seq_no)?;
        self.output.typed_keys = params.flag("typed_keys", false)?;
        self.output.total_as_int = params.flag("rest_total_hits_as_int", false)?;
        self.output.human = params.flag("human", false)?;
        Ok(())
    }

    /// Brings together what depends on each other; without parameters of a URI for what is no search
    /// of its own.
    pub(super) fn finish(&mut self, params: Option<&Params>) -> Result<(), ApiError> {
        if let (true, Some(params)) = (self.control.scroll.is_some(), params) {
            self.check_scroll(params)?;
        }
        // Those of a search are held against the settings of its indexes.
        if params.is_none() {
            self.output.scripts.check(SCRIPTS_MAX)?;
        }
        self.control.check(self.sort.is_empty())?;
        self.output.explain = self.control.explain;
        self.output.terminates = self.control.terminates();
        if let (Some(highlight), Some(query)) = (&mut self.output.highlight, &self.query) {
            highlight.query = query.clone();
        }
        if self.output.total_as_int {
            match self.track_total {
                None => self.track_total = Some(TrackTotal::Exact),
                Some(TrackTotal::UpTo(limit)) => {
                    return Err(ApiError::illegal_argument(format!(
                        "[rest_total_hits_as_int] cannot be used if the tracking of total hits is \
                         not accurate, got {limit}"
                    )));
                }
                Some(TrackTotal::Exact | TrackTotal::No) => {}
            }
        }
        if !self.search_after.is_empty() && self.from > 0 {
            return Err(ApiError::validation(
                "`from` parameter must be set to 0 when `search_after` is used.",
            ));
        }
        // Who asks for values that scripts make, or that are stored, asks for the source by name.
        let default = if self.stored_fields || !self.output.scripts.is_empty() {
            SourceFilter::None
        } else {
            SourceFilter::All
        };
        self.output.source = self.source.take().unwrap_or(default);
        if self.output.bare {
            self.output.source = SourceFilter::None;
        }
        self.output.sorted = !self.sort.is_empty();
        self.output.agg_meta = std::mem::take(&mut self.shown_aggs.meta);
        if !self.shown_aggs.top_hits.is_empty() {
            let around = Around {
                inner: &self.output.inner,
                query: &self.query,
                total_as_int: self.output.total_as_int,
                derived: &self.output.derived,
            };
            self.output.top_hits = ShownTopHits::read(&self.shown_aggs.top_hits, &around)?;
        }
        if let Some(body) = &self.collapse_body {
            let mut collapse = CollapseSpec::read(body, self.query.as_ref())?;
            self.output.collapsed = Some(collapse.field.clone());
            self.output.inner.append(&mut collapse.inner);
            self.collapse = Some(collapse);
        }
        Ok(())
    }

    /// What makes no sense in a scroll, all at once.
    fn check_scroll(&mut self, params: &Params) -> Result<(), ApiError> {
        let wrong = [
            (
                self.track_total == Some(TrackTotal::No),
                "disabling [track_total_hits] is not allowed in a scroll context",
            ),
            (
                self.from > 0,
                "using [from] is not allowed in a scroll context",
            ),
            (self.size == 0, "[size] cannot be [0] in a scroll context"),
            (
                !self.control.rescore.is_empty(),
                "using [rescore] is not allowed in a scroll context",
            ),
            (
                params.flag("request_cache", false)?,
                "[request_cache] cannot be used in a scroll context",
            ),
            (
                !self.search_after.is_empty(),
                "`search_after` cannot be used in a scroll context.",
            ),
            (
                self.control.pit.is_some(),
                "using [point in time] is not allowed in a scroll context",
            ),
        ];
        let failures: Vec<&str> = wrong
            .iter()
            .filter(|(is_wrong, _)| *is_wrong)
            .map(|(_, failure)| *failure)
            .collect();
        if !failures.is_empty() {
            return Err(ApiError::validations(&failures));
        }
        self.track_total.get_or_insert(TrackTotal::Exact);
        Ok(())
    }

    /// Refuses more scripts than an index allows.
    pub(super) fn check_scripts(&self, index: &Index) -> Result<(), ApiError> {
        let scripts = &self.output.scripts;
        if scripts.is_empty() {
            return Ok(());
        }
        scripts.check(limit(index, SCRIPTS_SETTING, SCRIPTS_MAX))
    }

    /// Whether it goes on behind a page.
    pub(super) fn goes_on(&self) -> bool {
        !self.search_after.is_empty()
    }

    /// Whether nothing is asked but for suggestions, beside which there are no hits.
    fn only_suggests(&self) -> bool {
        self.suggest.is_some() && self.query.is_none() && self.aggs.is_empty()
    }

    /// Refuses an order that means different things in different indexes.
    pub(super) fn check_sort(&self, indices: &[Arc<Index>]) -> Result<(), ApiError> {
        sort_values::check(&self.sort, indices)
    }

    /// The values that hits come after.
    pub(super) fn after(&self, index: &Index) -> Result<Option<Vec<SortValue>>, ApiError> {
        if self.search_after.is_empty() {
            return Ok(None);
        }
        sort_values::read(&self.search_after, &self.sort, index).map(Some)
    }

    /// The engine's request, without the values that hits come after. What is searched for and counted goes there; what is
    /// left in the spec is for writing the answer.
    pub(super) fn request(&mut self, pinned: Pinned) -> Result<Box<SearchRequest>, ApiError> {
        let only_suggests = self.only_suggests();
        let output = &self.output;
        if !output.fields.is_empty() {
            for index in pinned.each_index() {
                output.fields.check(index)?;
                output.derived.check_fields(&output.fields, index)?;
            }
        }
        let source = output.needs_source();
        let vectors = source
            && pinned.each_index().any(|index| {
                index.mapping().vectors().any(|field| {
                    output.source.may_keep(&field.path) || output.fields.wants(&field.path)
                })
            });
        let query = match self.query.take() {
            Some(query) => query,
            None if only_suggests => Query::MatchNone,
            None => Query::match_all(),
        };
        let inner = self.output.inner.iter().filter(|spec| !spec.is_group());
        let collapse = self.collapse.as_ref();
        Ok(Box::new(SearchRequest {
            derived: output.derived.shared(),
            post_filter: self.post_filter.take(),
            sort: self.sort.clone(),
            from: self.from,
            size: self.size,
            track_total: self
                .track_total
                .unwrap_or(TrackTotal::UpTo(TRACK_TOTAL_DEFAULT)),
            track_scores: self.track_scores,
            min_score: self.min_score,
            aggs: std::mem::take(&mut self.aggs),
            source,
            vectors,
            timeout: self.timeout,
            profile: if output.profile {
                ProfileDetail::Everything
            } else {
                ProfileDetail::Nothing
            },
            inner_hits: inner.map(InnerSpec::request).collect(),
            groups: std::mem::take(&mut self.groups),
            control: SearchControl {
                collapse: collapse.map(|collapse| collapse.request(&self.output.inner)),
                explain_top_hits: self.output.top_hits.explains(),
                ..self.control.engine()
            },
            ..SearchRequest::new(pinned, query)
        }))
    }
}

fn unsupported(key: &str) -> ApiError {
    ApiError::illegal_argument(format!("[{key}] is not supported"))
}

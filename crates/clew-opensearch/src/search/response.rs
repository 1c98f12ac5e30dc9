//! A search's answer, written in one pass into one buffer.

use std::time::Instant;

use clew_aggregation::TopHitsResult;
use clew_engine::{EngineError, Hit, MatchedQuery, PRIMARY_TERM, SearchResponse};
use clew_platform::{CancellationToken, Reservation, Stop};
use clew_query::{QueryError, SortValue};
use clew_search::{Explained, Relation, Total};
use serde_json::{Map, Value, json};

use super::fields::FieldsForm;
use super::highlight::Highlights;
use super::inner::{self, InnerSpec};
use super::profile::{self, FetchNotes, FetchPhase, Fetching};
use super::request::Output;
use super::suggest::Suggestions;
use super::{percolated, shown_source, sort_values};
use crate::aggs::{AggPath, Rendering, render_aggs, shown_bytes};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::request_memory::{RequestMemory, json_bytes, words_bytes};
use crate::http::source_filter::SourceFilter;
use crate::state::call::Call;

/// What is longer than what was found is booked in pieces of this.
const BOOKED_BYTES: usize = 64 << 10;

/// A search's result and how it is to be shown.
pub(super) struct Answer {
    pub(super) spec: Output,
    pub(super) response: SearchResponse,
    pub(super) took_ms: u64,
    /// Id of this node.
    pub(super) node: String,
    /// What the next page is asked for with.
    pub(super) scroll_id: Option<String>,
    /// The point in time that was searched.
    pub(super) pit_id: Option<String>,
    /// What the suggesters found.
    pub(super) suggest: Option<Suggestions>,
    /// Steps in which the shards' answers were put together.
    pub(super) phases: u64,
    /// What the request takes, with what is booked for the answer already.
    pub(super) memory: RequestMemory,
}

impl Answer {
    /// The answer to a search that is over in one request.
    pub(super) fn new(
        call: &Call,
        spec: Output,
        response: SearchResponse,
        started: Instant,
    ) -> Self {
        Answer {
            spec,
            response,
            took_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            node: call.api.node_id.clone(),
            scroll_id: None,
            pit_id: None,
            suggest: None,
            phases: 1,
            memory: call.memory.clone(),
        }
    }

    /// Whether writing takes longer than the hits are long: texts are looked through for what was searched, and proposals
    /// show documents of their own.
    pub(super) fn takes_long(&self) -> bool {
        let mut inner = self.spec.inner.iter();
        self.spec.highlight.is_some()
            || self.suggest.is_some()
            || self.spec.top_hits.analyzes_texts()
            || inner.any(InnerSpec::analyzes_texts)
    }

    /// Takes memory for what was found, which is there once more as it is shown; how much.
    ///
    /// # Errors
    /// 429 when it does not fit beside others.
    pub(super) fn book(&self) -> Result<usize, ApiError> {
        let found = self.response.memory.bytes() + shown_bytes(&self.response.aggs);
        self.memory.take(found)?;
        Ok(found)
    }

    pub(super) fn write(&self) -> Result<Vec<u8>, ApiError> {
        let sources: usize = self
            .response
            .hits
            .iter()
            .filter_map(|hit| hit.source.as_ref())
            .map(|s| s.len())
            .sum();
        let mut json = JsonWriter::with_capacity(512 + sources + self.response.hits.len() * 160);
        json.begin_object();
        if let Some(id) = &self.scroll_id {
            json.string_field("_scroll_id", id);
        }
        if let Some(id) = &self.pit_id {
            json.string_field("pit_id", id);
        }
        json.unsigned_field("took", self.took_ms);
        let timed_out = json.unless_so("timed_out");
        if self.spec.terminates {
            json.boolean_field("terminated_early", self.response.terminated_early);
        }
        if self.phases != 1 {
            json.unsigned_field("num_reduce_phases", self.phases);
        }
        self.write_shards(&mut json);
        json.key("hits").begin_object();
        write_total(&mut json, self.response.total, self.spec.total_as_int);
        json.key("max_score");
        write_score(&mut json, self.response.max_score);
        json.key("hits").begin_array();
        let notes = self.spec.profile.then(FetchNotes::default);
        let fetching = notes.as_ref().map(|notes| notes.of("fetch"));
        let now_ms = self.response.now_ms;
        let writer = HitWriter::new(&self.spec, &self.spec, &self.node, now_ms).noting(fetching);
        let writer = writer.over(&self.memory);
        // What hits are shown with beside what was found: pieces of texts, values of fields, explanations.
        let mut booked = json.len() + self.response.memory.bytes();
        for hit in &self.response.hits {
            unless_cancelled()?;
            if time_is_up() {
                break;
            }
            writer.write(&mut json, hit)?;
            if json.len() > booked {
                let more = (json.len() - booked).max(BOOKED_BYTES);
                self.memory.take(more)?;
                booked += more;
            }
        }
        json.end_array().end_object();
        self.write_aggs(&mut json, notes.as_ref())?;
        if let Some(suggest) = &self.suggest {
            write_suggestions(&mut json, suggest);
        }
        if let Some(notes) = &notes {
            json.key("profile");
            json.value(&profile::render(&self.response, &self.node, notes));
        }
        json.end_object();
        // Something may be missing then: hits, pieces of their texts, proposals.
        if self.response.timed_out || time_is_up() {
            json.is_so(timed_out);
        }
        Ok(json.into_bytes())
    }

    fn write_aggs(
        &self,
        json: &mut JsonWriter,
        notes: Option<&FetchNotes>,
    ) -> Result<(), ApiError> {
        if self.response.aggs.is_empty() {
            return Ok(());
        }
        json.key("aggregations");
        let (shown, response) = (&self.spec.top_hits, &self.response);
        let top_hits = |path: &AggPath<'_>, result: &TopHitsResult| {
            shown.render(path, result, response, notes)
        };
        let how = Rendering::new(self.spec.typed_keys, &self.spec.agg_meta, &top_hits);
        let shown = render_aggs(&self.response.aggs, how)?;
        if !json.value_while(&shown, &|| unless_cancelled().is_ok()) {
            unless_cancelled()?;
        }
        Ok(())
    }

    fn write_shards(&self, json: &mut JsonWriter) {
        let shards = self.response.shards;
        json.key("_shards").begin_object();
        json.unsigned_field("total", u64::from(shards.total));
        json.unsigned_field("successful", u64::from(shards.successful));
        json.unsigned_field("skipped", u64::from(shards.skipped));
        json.unsigned_field("failed", u64::from(shards.failed));
        if !self.response.failures.is_empty() {
            json.key("failures").begin_array();
            for failure in &self.response.failures {
                json.value(&json!({
                    "shard": failure.shard,
                    "index": failure.index,
                    "node": self.node,
                    "reason": ApiError::from(&failure.error).cause(),
                }));
            }
            json.end_array();
        }
        json.end_object();
    }
}

/// Writes the suggestions for which there is time; the others propose nothing.
fn write_suggestions(json: &mut JsonWriter, suggestions: &[(String, Vec<u8>)]) {
    json.key("suggest").begin_object();
    for (name, found) in suggestions {
        json.key(name);
        match time_is_up() {
            true => json.raw(b"[]"),
            false => json.raw(found),
        };
    }
    json.end_object();
}

/// Writes how many documents match; nothing when that was not counted.
pub(super) fn write_total(json: &mut JsonWriter, total: Option<Total>, as_int: bool) {
    let Some(Total { value, relation }) = total else {
        if as_int {
            json.key("total").value(&Value::from(-1));
        }
        return;
    };
    json.key("total");
    if as_int {
        json.unsigned(value);
        return;
    }
    let relation = match relation {
        Relation::Eq => "eq",
        Relation::Gte => "gte",
    };
    json.begin_object().unsigned_field("value", value);
    json.string_field("relation", relation).end_object();
}

/// Writes hits that are all shown alike.
pub(super) struct HitWriter<'a> {
    spec: &'a Output,
    /// The search's own, which says how totals are shown.
    outer: &'a Output,
    node: &'a str,
    /// What scripts have as the time.
    now_ms: i64,
    highlights: Highlights<'a>,
    /// What texts are booked on while they are looked through.
    memory: Option<&'a RequestMemory>,
    /// Where it is noted what fetching costs, if somebody asks.
    fetching: Option<Fetching<'a>>,
}

impl<'a> HitWriter<'a> {
    pub(super) fn new(spec: &'a Output, outer: &'a Output, node: &'a str, now_ms: i64) -> Self {
        HitWriter {
            spec,
            outer,
            node,
            now_ms,
            highlights: Highlights::new(spec.highlight.as_ref()),
            memory: None,
            fetching: None,
        }
    }

    /// The same, with notes of what fetching costs.
    pub(super) fn noting(self, fetching: Option<Fetching<'a>>) -> Self {
        HitWriter { fetching, ..self }
    }

    /// Does a part of showing a hit, and notes what it takes if somebody asks.
    fn phase<T>(&self, hit: &Hit, phase: FetchPhase, work: impl FnOnce() -> T) -> T {
        let Some(fetching) = self.fetching else {
            return work();
        };
        let began = Instant::now();
        let done = work();
        fetching.phase(hit, phase, began.elapsed());
        done
    }

    /// The same, for a request that has memory.
    pub(super) fn over(self, memory: &'a RequestMemory) -> Self {
        HitWriter {
            memory: Some(memory),
            ..self
        }
    }

    /// Books what a hit's texts become while they are shown: JSON that is read, and words.
    fn reading(&self, hit: &Hit) -> Result<Option<Reservation>, ApiError> {
        let source = hit.source.as_deref().unwrap_or_default();
        let mut bytes = 0;
        if self.spec.highlight.is_some() {
            bytes += json_bytes(source) + words_bytes(source.len());
        }
        if !self.spec.fields.is_empty() || !self.spec.scripts.is_empty() {
            bytes += 2 * json_bytes(source);
        }
        let memory = self.memory.filter(|_| bytes > 0);
        memory.map(|memory| memory.hold(bytes)).transpose()
    }

    pub(super) fn write(&self, json: &mut JsonWriter, hit: &Hit) -> Result<(), ApiError> {
        let spec = self.spec;
        let _reading = self.reading(hit)?;
        if let Some(fetching) = self.fetching {
            fetching.read(hit);
        }
        json.begin_object();
        self.write_names(json, hit);
        if spec.source == SourceFilter::None {
            self.write_source(json, hit);
        } else {
            self.phase(hit, FetchPhase::Source, || self.write_source(json, hit));
        }
        self.write_fields(json, hit)?;
        write_matched_queries(json, &hit.matched_queries);
        let highlight = || self.highlights.of(&inner::with_whole_source(hit));
        let shown = match spec.highlight {
            None => highlight(),
            Some(_) => self.phase(hit, FetchPhase::Highlight, highlight),
        };
        if let Some(shown) = shown? {
            json.key("highlight").value(&shown);
        }
        if spec.sorted {
            json.key("sort").begin_array();
            for value in &hit.sort {
                sort_values::write(json, value);
            }
            json.end_array();
        }
        if let Some(explanation) = &hit.explanation {
            json.key("_explanation").value(&explained(explanation));
        }
        let around = (self.outer, self.now_ms, self.fetching);
        inner::write(json, &spec.inner, hit, around)?;
        json.end_object();
        Ok(())
    }

    /// Writes what a hit is: where it is from, its name, its version, its score.
    fn write_names(&self, json: &mut JsonWriter, hit: &Hit) {
        let spec = self.spec;
        if spec.explain {
            let shard = format!("[{}][{}]", hit.index.name(), hit.shard);
            json.string_field("_shard", &shard)
                .string_field("_node", self.node);
        }
        json.string_field("_index", hit.index.name());
        if !spec.bare {
            json.string_field("_id", &hit.id);
        }
        if let Some(place) = inner::place(&hit.nested) {
            json.key("_nested").value(&place);
        }
        if spec.version {
            self.phase(hit, FetchPhase::Version, || {
                json.unsigned_field("_version", hit.version);
            });
        }
        if spec.seq_no {
            self.phase(hit, FetchPhase::SeqNo, || {
                json.unsigned_field("_seq_no", hit.seq_no)
                    .unsigned_field("_primary_term", PRIMARY_TERM);
            });
        }
        json.key("_score");
        write_score(json, hit.score);
        if let (Some(routing), false) = (&hit.routing, spec.bare) {
            json.string_field("_routing", routing);
        }
        if !hit.ignored.is_empty() && !spec.bare {
            json.key("_ignored").begin_array();
            for name in &hit.ignored {
                json.string(name);
            }
            json.end_array();
        }
    }

    /// The values of fields that are asked for.
    fn values(&self, hit: &Hit) -> Map<String, Value> {
        let fields = &self.spec.fields;
        let Some(fetching) = self.fetching else {
            return fields.values(hit, &mut |_| {});
        };
        let mut since = Instant::now();
        fields.values(hit, &mut |form| {
            let phase = match form {
                FieldsForm::Fields => FetchPhase::Fields,
                FieldsForm::DocValues => FetchPhase::DocValues,
                // They are read with the document.
                FieldsForm::Stored => return,
            };
            fetching.phase(hit, phase, since.elapsed());
            since = Instant::now();
        })
    }

    fn write_fields(&self, json: &mut JsonWriter, hit: &Hit) -> Result<(), ApiError> {
        let spec = self.spec;
        let mut values = if spec.fields.is_empty() {
            serde_json::Map::new()
        } else {
            self.values(&inner::with_whole_source(hit))
        };
        if let (Some(field), Some(group)) = (&spec.collapsed, &hit.group)
            && *group != SortValue::Null
        {
            values.insert(field.clone(), json!([sort_values::shown(group)]));
        }
        percolated::add_slots(hit, &mut values);
        if !spec.scripts.is_empty() {
            let whole = inner::with_whole_source(hit);
            let scripts = || spec.scripts.add(&whole, self.now_ms, &mut values);
            self.phase(hit, FetchPhase::Scripts, scripts)?;
        }
        if !values.is_empty() {
            json.key("fields").value(&Value::Object(values));
        }
        Ok(())
    }

    fn write_source(&self, json: &mut JsonWriter, hit: &Hit) {
        let filter = &self.spec.source;
        let mapping = hit.index.mapping();
        let Some(source) = &hit.source else {
            return;
        };
        if hit.nested.is_empty() {
            shown_source::write(&mapping, filter, source, json);
        } else if *filter != SourceFilter::None
            && mapping.is_source_enabled()
            && let Some(part) = inner::filtered(hit, filter)
        {
            json.key("_source").value(&part);
        }
    }
}

/// An error once nobody wants the answer any more.
fn unless_cancelled() -> Result<(), ApiError> {
    match CancellationToken::current().stopped() {
        Some(Stop::Cancelled) => Err(EngineError::from(QueryError::Stopped).into()),
        Some(Stop::TimedOut) | None => Ok(()),
    }
}

/// Whether the time is up in which an answer is to be there. One that nobody wants any more is over, too, but no answer.
pub(super) fn time_is_up() -> bool {
    CancellationToken::current().stopped() == Some(Stop::TimedOut)
}

/// An explanation as clients read it.
pub(crate) fn explained(explained: &Explained) -> Value {
    let details: Vec<Value> = explained.details.iter().map(self::explained).collect();
    json!({
        "value": explained.value,
        "description": explained.description,
        "details": details,
    })
}

/// The names of queries that a hit matches: a list, or by name what it scores by them.
fn write_matched_queries(json: &mut JsonWriter, matched: &[MatchedQuery]) {
    let Some(first) = matched.first() else {
        return;
    };
    json.key("matched_queries");
    if first.score.is_none() {
        json.begin_array();
        for one in matched {
            json.string(&one.name);
        }
        json.end_array();
        return;
    }
    json.begin_object();
    for one in matched {
        json.key(&one.name);
        write_score(json, one.score);
    }
    json.end_object();
}

pub(super) fn write_score(json: &mut JsonWriter, score: Option<f32>) {
    match score {
        Some(score) => json.float(score),
        None => json.null(),
    };
}

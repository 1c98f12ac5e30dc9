//! A search's answer, written in one pass into one buffer.

use std::sync::Arc;
use std::time::Instant;

use clew_aggregation::TopHitsResult;
use clew_engine::SearchResponse;
use clew_platform::{CancellationToken, Stop, whole_ms};
use clew_query::QueryError;
use serde_json::json;

use super::hits::{HitWriter, write_score, write_total};
use super::inner::InnerSpec;
use super::profile::{self, FetchNotes};
use super::request::Spec;
use super::suggest::Suggestions;
use crate::aggs::{AggPath, Rendering, render_aggs, shown_bytes};
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::request_memory::RequestMemory;
use crate::state::call::Call;

/// What is longer than what was found is booked in pieces of this.
const BOOKED_BYTES: usize = 64 << 10;

/// A search's result and how it is to be shown.
pub(super) struct Answer {
    pub(super) spec: Arc<Spec>,
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
        spec: Arc<Spec>,
        response: SearchResponse,
        started: Instant,
    ) -> Self {
        Answer {
            spec,
            response,
            took_ms: whole_ms(started.elapsed()),
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
        let output = &self.spec.output;
        let mut inner = output.inner.iter();
        output.highlight.is_some()
            || self.suggest.is_some()
            || output.top_hits.analyzes_texts()
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
        let output = &self.spec.output;
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
        if output.terminates {
            json.boolean_field("terminated_early", self.response.terminated_early);
        }
        if self.phases != 1 {
            json.unsigned_field("num_reduce_phases", self.phases);
        }
        self.write_shards(&mut json);
        let notes = output.profile.then(FetchNotes::default);
        self.write_hits(&mut json, notes.as_ref())?;
        self.write_aggs(&mut json, notes.as_ref())?;
        if let Some(suggest) = &self.suggest {
            write_suggestions(&mut json, suggest);
        }
        if let Some(notes) = &notes {
            let mut profile = profile::render(&self.response, &self.node, notes);
            if output.human {
                profile::tell_in_words(&mut profile);
            }
            json.key("profile");
            json.value(&profile);
        }
        json.end_object();
        // Something may be missing then: hits, pieces of their texts, proposals.
        if self.response.timed_out || time_is_up() {
            json.is_so(timed_out);
        }
        Ok(json.into_bytes())
    }

    /// Writes the hits, as many as there is time for, and takes memory for what they are longer than what was found.
    fn write_hits(
        &self,
        json: &mut JsonWriter,
        notes: Option<&FetchNotes>,
    ) -> Result<(), ApiError> {
        let output = &self.spec.output;
        json.key("hits").begin_object();
        write_total(json, self.response.total, output.total_as_int);
        json.key("max_score");
        // Of no shard at all OpenSearch says that the best score is 0.
        let none = (self.response.shards.total == 0).then_some(0.0);
        write_score(json, self.response.max_score.or(none));
        json.key("hits").begin_array();
        let fetching = notes.map(|notes| notes.of("fetch"));
        let now_ms = self.response.now_ms;
        let writer = HitWriter::new(output, output, &self.node, now_ms).noting(fetching);
        let writer = writer.over(&self.memory);
        // What hits are shown with beside what was found: pieces of texts, values of fields, explanations.
        let mut booked = json.len() + self.response.memory.bytes();
        for hit in &self.response.hits {
            match CancellationToken::current().stopped() {
                Some(Stop::Cancelled) => return Err(QueryError::Stopped.into()),
                Some(Stop::TimedOut) => break,
                None => {}
            }
            writer.write(json, hit)?;
            if json.len() > booked {
                let more = (json.len() - booked).max(BOOKED_BYTES);
                self.memory.take(more)?;
                booked += more;
            }
        }
        json.end_array().end_object();
        Ok(())
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
        let output = &self.spec.output;
        let (shown, answer) = (&output.top_hits, (&self.response, self.node.as_str()));
        let top_hits =
            |path: &AggPath<'_>, result: &TopHitsResult| shown.render(path, result, answer, notes);
        let how = Rendering::new(output.typed_keys, &output.agg_meta, &top_hits);
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

/// An error once nobody wants the answer any more.
fn unless_cancelled() -> Result<(), ApiError> {
    match CancellationToken::current().stopped() {
        Some(Stop::Cancelled) => Err(QueryError::Stopped.into()),
        Some(Stop::TimedOut) | None => Ok(()),
    }
}

/// Whether the time is up in which an answer is to be there. One that nobody wants any more is over, too, but no answer.
pub(super) fn time_is_up() -> bool {
    CancellationToken::current().stopped() == Some(Stop::TimedOut)
}

//! Hits, written into an answer: those of a search, those inside of hits, and those of `top_hits` aggregations.

use std::time::Instant;

use clew_engine::{Hit, MatchedQuery, PRIMARY_TERM};
use clew_platform::Reservation;
use clew_query::SortValue;
use clew_schema::short_double;
use clew_search::{Explained, Relation, Total};
use serde_json::{Map, Value, json};

use super::fields::FieldsForm;
use super::highlight::{Highlight, Highlights};
use super::output::Output;
use super::profile::{FetchPhase, Fetching};
use super::{inner, percolated, shown_source, sort_values};
use crate::aggs::java_order;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;
use crate::http::request_memory::{RequestMemory, json_bytes, words_bytes};
use crate::http::source_filter::SourceFilter;

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
        if let Some(highlight) = &spec.highlight {
            let pieces = || self.highlighted(highlight, hit);
            if let Some(shown) = self.phase(hit, FetchPhase::Highlight, pieces)? {
                json.key("highlight").value(&shown);
            }
        }
        if spec.sorted {
            json.key("sort").begin_array();
            for value in &hit.sort {
                sort_values::write(json, value);
            }
            json.end_array();
        }
        // Of several aggregations only some may have asked for it.
        if let Some(explanation) = hit.explanation.as_ref().filter(|_| spec.explain) {
            json.key("_explanation").value(&explained(explanation));
        }
        let around = ((self.outer, self.node), self.now_ms, self.fetching);
        inner::write(json, &spec.inner, hit, around)?;
        json.end_object();
        Ok(())
    }

    /// What is wrong with a field of a hit, which its shard finds.
    fn failed_shard(&self, hit: &Hit, error: ApiError) -> ApiError {
        match error.is_kind("illegal_argument_exception") {
            true => error.all_shards_failed(hit.index.name(), self.node),
            false => error,
        }
    }

    /// A hit's pieces by field, when it has any, those of derived fields behind the others.
    fn highlighted(&self, highlight: &Highlight, hit: &Hit) -> Result<Option<Value>, ApiError> {
        let whole = inner::with_whole_source(hit);
        let shown = self.highlights.of(&whole);
        let shown = shown.map_err(|error| self.failed_shard(hit, error))?;
        let of_hit = (&*whole, self.now_ms);
        let derived = self.spec.derived.pieces(highlight, of_hit)?;
        let mut shown = match shown {
            Some(Value::Object(shown)) => shown,
            _ => Map::new(),
        };
        shown.extend(derived);
        Ok((!shown.is_empty()).then_some(Value::Object(shown)))
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
        // Of a nested object nothing is told that its document has.
        let tells_more = hit.nested.is_empty() && !spec.bare;
        if let (Some(routing), true) = (&hit.routing, tells_more) {
            json.string_field("_routing", routing);
        }
        if !hit.ignored.is_empty() && tells_more {
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
        let has_more = spec.collapsed.is_some() || !hit.percolated.is_empty();
        if spec.fields.is_empty() && spec.scripts.is_empty() && !has_more {
            return Ok(());
        }
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
        if !spec.fields.is_empty() {
            let whole = inner::with_whole_source(hit);
            let of_hit = (&*whole, self.now_ms);
            spec.derived.add(&spec.fields, of_hit, &mut values)?;
        }
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
        let Some(source) = &hit.source else {
            return;
        };
        let mapping = hit.index.mapping();
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

/// The figures of an explanation that are numbers of documents.
const COUNTS: [&str; 2] = [
    "n, number of documents containing term",
    "N, total number of documents with field",
];

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what counts documents is whole and not negative; the conversion saturates"
)]
fn count(figure: f32) -> u64 {
    figure as u64
}

/// An explanation as clients read it.
pub(crate) fn explained(explained: &Explained) -> Value {
    let details: Vec<Value> = explained.details.iter().map(self::explained).collect();
    let value = match COUNTS.contains(&explained.description.as_str()) {
        true => count(explained.value).into(),
        false => Value::from(short_double(explained.value)),
    };
    json!({
        "value": value,
        "description": explained.description,
        "details": details,
    })
}

/// The names of queries that a hit matches, as a map of Java has them: a list, or by name what it scores by them.
fn write_matched_queries(json: &mut JsonWriter, matched: &[MatchedQuery]) {
    let Some(first) = matched.first() else {
        return;
    };
    let names: Vec<String> = matched.iter().map(|one| one.name.clone()).collect();
    let ordered = java_order(&names).into_iter();
    let ordered = ordered.filter_map(|at| matched.get(at));
    json.key("matched_queries");
    if first.score.is_none() {
        json.begin_array();
        for one in ordered {
            json.string(&one.name);
        }
        json.end_array();
        return;
    }
    json.begin_object();
    for one in ordered {
        json.key(&one.name);
        write_score(json, one.score);
    }
    json.end_object();
}

/// Writes what a hit scores, if anything.
pub(super) fn write_score(json: &mut JsonWriter, score: Option<f32>) {
    match score {
        Some(score) => json.float(score),
        None => json.null(),
    };
}

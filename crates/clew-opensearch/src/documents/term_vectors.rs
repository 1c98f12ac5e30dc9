//! `_termvectors` and `_mtermvectors`: the terms of one document, field by field. They are made from
//! the document's source when they are asked for; nothing is stored for them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use clew_analysis::{Analysis, POSITION_GAP, Utf16Places, tokens};
use clew_engine::{Access, Engine, EngineError, Freshness, IndexHandle, Pinned, Purpose};
use clew_platform::{Pace, stopped, whole_ms};
use clew_query::{go_on, unless_stopped};
use clew_schema::{FieldKind, MappedField, short_double};
use clew_search::plain_texts;
use serde_json::{Map, Value, json};

use crate::documents::document::freshness;
use crate::documents::term_filter::{Frequency, TermFilter};
use crate::http::error::ApiError;
use crate::http::json_writer::json_while;
use crate::http::reply::Reply;
use crate::http::request_memory::{RequestMemory, json_bytes, words_bytes};
use crate::state::call::Call;

/// Documents of one request.
const DOCS_MAX: usize = 1000;
/// What a place of a term takes until it is written, and as it is.
const PLACE_BYTES: usize = 1280;

/// What a request wants of one document.
#[derive(Clone, Debug)]
struct Asked {
    index: String,
    id: Option<String>,
    /// A document that is given with the request.
    doc: Option<Value>,
    routing: Option<String>,
    freshness: Freshness,
    fields: Option<Vec<String>>,
    positions: bool,
    offsets: bool,
    term_statistics: bool,
    field_statistics: bool,
    /// Which terms are told; all without one.
    filter: Option<TermFilter>,
    /// Analyzers by the fields that they stand in for those of the mapping.
    analyzers: BTreeMap<String, String>,
}

impl Asked {
    fn from_params(call: &Call) -> Result<Self, ApiError> {
        let params = &call.params;
        let fields = params
            .list("fields")
            .map(|names| names.into_iter().map(String::from).collect());
        Ok(Asked {
            index: call.path("index").unwrap_or_default().to_string(),
            id: call.path("id").map(String::from),
            doc: None,
            routing: params.get("routing").map(String::from),
            freshness: freshness(params)?,
            fields,
            positions: params.flag("positions", true)?,
            offsets: params.flag("offsets", true)?,
            term_statistics: params.flag("term_statistics", false)?,
            field_statistics: params.flag("field_statistics", true)?,
            filter: None,
            analyzers: BTreeMap::new(),
        })
    }

    fn read(&mut self, members: &Map<String, Value>) -> Result<(), ApiError> {
        for (key, value) in members {
            match key.as_str() {
                "_index" => self.index = text(key, value)?,
                "_id" => self.id = Some(text(key, value)?),
                "routing" => self.routing = Some(text(key, value)?),
                "doc" => self.doc = Some(value.clone()),
                "fields" => {
                    let names = value
                        .as_array()
                        .ok_or_else(|| wrong("field [fields] must be an array"))?;
                    let names = names.iter().map(|name| text(key, name));
                    self.fields = Some(names.collect::<Result<_, _>>()?);
                }
                "positions" => self.positions = truth(key, value)?,
                "offsets" => self.offsets = truth(key, value)?,
                "term_statistics" | "termStatistics" => {
                    self.term_statistics = truth(key, value)?;
                }
                "field_statistics" | "fieldStatistics" => {
                    self.field_statistics = truth(key, value)?;
                }
                "dfs" if truth(key, value)? => {
                    return Err(ApiError::illegal_argument(
                        "distributed frequencies is not supported anymore for term vectors",
                    ));
                }
                "payloads" | "version" | "version_type" | "dfs" => {}
                "filter" => self.filter = Some(TermFilter::read(value)?),
                "per_field_analyzer" | "perFieldAnalyzer" => {
                    let named = value.as_object().into_iter().flatten();
                    let named = named.map(|(field, name)| Ok((field.clone(), text(key, name)?)));
                    self.analyzers = named.collect::<Result<_, ApiError>>()?;
                }
                other => {
                    return Err(wrong(&format!("unknown field [{other}]")));
                }
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ApiError> {
        if self.index.is_empty() {
            return Err(ApiError::validation("index is missing"));
        }
        let both = "either [id] or [doc] can be specified, but not both!";
        match (&self.id, &self.doc) {
            (None, None) => Err(ApiError::validation("id or doc is missing")),
            (Some(_), Some(_)) => Err(wrong(both)),
            (Some(_), None) | (None, Some(_)) => Ok(()),
        }
    }

    fn wants(&self, field: &MappedField) -> bool {
        let has_terms = matches!(
            field.kind,
            FieldKind::Text { .. } | FieldKind::Keyword { .. }
        );
        match &self.fields {
            None => field.settings.term_vectors || (self.doc.is_some() && has_terms),
            Some(patterns) => {
                let named = |pattern: &String| clew_schema::glob::matches(pattern, &field.path);
                has_terms && patterns.iter().any(named)
            }
        }
    }
}

fn wrong(what: &str) -> ApiError {
    let reason = format!("failed to parse term vectors request. {what}");
    ApiError::bad_request("parse_exception", reason)
}

fn text(key: &str, value: &Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(ApiError::bad_request(
            "parse_exception",
            format!("[{key}] must be a string"),
        )),
    }
}

fn truth(key: &str, value: &Value) -> Result<bool, ApiError> {
    value.as_bool().ok_or_else(|| {
        ApiError::bad_request("parse_exception", format!("[{key}] must be true or false"))
    })
}

/// `GET|POST /{index}/_termvectors/{id}`.
pub(crate) async fn one(call: Call) -> Result<Reply, ApiError> {
    let mut asked = Asked::from_params(&call)?;
    if let Some(body) = call.json()? {
        // A document of it is taken out, and once more.
        call.memory.take(json_bytes(&call.body).saturating_mul(2))?;
        asked.read(body.as_object().ok_or_else(not_an_object)?)?;
    }
    asked.check()?;
    let (access, memory) = (call.access.clone(), call.memory.clone());
    let found = call.blocking(move |engine| {
        let found = answer((engine, &access), &asked, &memory);
        Ok(found.map(|found| written(&found)))
    });
    Ok(Reply::raw_json(found.await??))
}

/// An answer's JSON, which may be long; nothing once the request is over, as nobody sees it.
fn written(answer: &Value) -> Vec<u8> {
    json_while(answer, &|| !stopped()).unwrap_or_default()
}

/// `GET|POST /_mtermvectors`.
pub(crate) async fn many(call: Call) -> Result<Reply, ApiError> {
    let mut base = Asked::from_params(&call)?;
    let body = call.json()?.unwrap_or_else(|| json!({}));
    // What holds for each of the `ids`, wherever it stands.
    if let Some(parameters) = body.get("parameters") {
        base.read(parameters.as_object().ok_or_else(not_an_object)?)?;
    }
    let mut all = Vec::new();
    let mut add = |id: &str| {
        all.push(Asked {
            id: Some(id.to_string()),
            ..base.clone()
        });
    };
    call.params
        .list("ids")
        .into_iter()
        .flatten()
        .for_each(&mut add);
    let members = body.as_object().ok_or_else(not_an_object)?;
    for (key, value) in members.iter().filter(|(key, _)| *key != "parameters") {
        let items = value.as_array().ok_or_else(not_an_object)?;
        match key.as_str() {
            "ids" => {
                for id in items {
                    let id = Some(text("ids", id)?);
                    all.push(Asked { id, ..base.clone() });
                }
            }
            "docs" => {
                for item in items {
                    let mut asked = base.clone();
                    asked.read(item.as_object().ok_or_else(not_an_object)?)?;
                    all.push(asked);
                }
            }
            other => {
                return Err(ApiError::bad_request(
                    "parse_exception",
                    format!("unknown parameter [{other}] in a request for term vectors"),
                ));
            }
        }
    }
    if all.is_empty() {
        return Err(ApiError::validation(
            "multi term vectors: no documents requested",
        ));
    }
    if all.len() > DOCS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{DOCS_MAX}] documents in one request"
        )));
    }
    all.iter().try_for_each(Asked::check)?;
    let (access, memory) = (call.access.clone(), call.memory.clone());
    let found = call
        .blocking(move |engine| {
            // Once the request is over nobody sees the answer.
            let wanted = all.iter().take_while(|_| !stopped());
            let answers = wanted.map(|asked| match answer((engine, &access), asked, &memory) {
                Ok(found) => found,
                Err(error) => refused(asked, &error),
            });
            let docs = ("docs".to_string(), Value::Array(answers.collect()));
            Ok(written(&Value::Object(Map::from_iter([docs]))))
        })
        .await?;
    Ok(Reply::raw_json(found))
}

/// What is said of a document that has no term vectors.
fn refused(asked: &Asked, error: &ApiError) -> Value {
    let whole = serde_json::from_slice(&error.body()).unwrap_or(Value::Null);
    let Value::Object(mut whole) = whole else {
        return Value::Null;
    };
    whole.remove("status");
    whole.insert("_index".to_string(), asked.index.clone().into());
    whole.insert("_id".to_string(), json!(asked.id));
    Value::Object(whole)
}

fn not_an_object() -> ApiError {
    ApiError::bad_request("parse_exception", "expected an object with lists")
}

fn answer(
    (engine, access): (&Engine, &Access),
    asked: &Asked,
    memory: &RequestMemory,
) -> Result<Value, ApiError> {
    let started = Instant::now();
    let (index, routing) = engine.open_one(
        (&asked.index, asked.routing.as_deref()),
        access,
        Purpose::Read,
    )?;
    let mut answer = json!({"_index": index.name()});
    // Its source is read, and cut into words.
    let held;
    let source = match (&asked.doc, &asked.id) {
        (Some(doc), _) => {
            answer["_version"] = 0.into();
            held = memory.hold(words_bytes(text_bytes(doc)))?;
            Some(doc.clone())
        }
        (None, Some(id)) => {
            answer["_id"] = id.as_str().into();
            let found = engine.get(&index, id, routing.as_deref(), asked.freshness)?;
            answer["_version"] = found.as_ref().map_or(0, |document| document.version).into();
            let source = found.as_ref().map_or(&[][..], |document| &document.source);
            held = memory.hold(json_bytes(source) + words_bytes(source.len()))?;
            found.and_then(|document| serde_json::from_slice(&document.source).ok())
        }
        (None, None) => {
            held = memory.hold(0)?;
            None
        }
    };
    answer["found"] = source.is_some().into();
    answer["took"] = whole_ms(started.elapsed()).into();
    if let Some(source) = source {
        answer["term_vectors"] = vectors(engine, &index, asked, (&source, memory))?;
    }
    drop(held);
    Ok(answer)
}

fn vectors(
    engine: &Engine,
    index: &IndexHandle,
    asked: &Asked,
    (source, memory): (&Value, &RequestMemory),
) -> Result<Value, ApiError> {
    let mapping = index.mapping();
    let pinned = engine.pin(std::slice::from_ref(index))?;
    let mut all = Map::new();
    let mut pace = Pace::of_blocks();
    for field in mapping.fields().iter().filter(|field| asked.wants(field)) {
        let path = match field.path.rsplit_once('.') {
            Some((parent, _)) if field.multi_field => parent,
            _ => field.path.as_str(),
        };
        let (analyzer, gap) = cutting(field, asked, mapping.analysis())?;
        let texts = plain_texts(source, path);
        let terms = terms_of((analyzer.as_str(), gap), &texts, (asked, memory))?;
        if terms.is_empty() {
            continue;
        }
        let terms = told(&pinned, &field.path, terms, asked.filter.as_ref())?;
        let mut shown = Map::new();
        if asked.field_statistics {
            shown.insert(
                "field_statistics".to_string(),
                field_statistics(&pinned, &field.path)?,
            );
        }
        let mut shown_terms = Map::new();
        for (term, tokens, score) in terms {
            // Statistics are looked up in each segment.
            go_on(&mut pace)?;
            let mut one = Map::new();
            if asked.term_statistics {
                let (docs, total) = term_statistics(&pinned, &field.path, &term)?;
                if docs > 0 {
                    one.insert("doc_freq".to_string(), docs.into());
                    one.insert("ttf".to_string(), total.into());
                }
            }
            one.insert("term_freq".to_string(), tokens.len().into());
            if let Some(score) = score {
                one.insert("score".to_string(), short_double(score).into());
            }
            if asked.positions || asked.offsets {
                one.insert("tokens".to_string(), Value::Array(tokens));
            }
            shown_terms.insert(term, Value::Object(one));
        }
        shown.insert("terms".to_string(), Value::Object(shown_terms));
        all.insert(field.path.clone(), Value::Object(shown));
    }
    Ok(Value::Object(all))
}

/// The analyzer that cuts the values of a field into terms, and how many positions lie between two values.
fn cutting(
    field: &MappedField,
    asked: &Asked,
    known: &Analysis,
) -> Result<(String, usize), ApiError> {
    if let Some(name) = asked.analyzers.get(&field.path) {
        let found = known.analyzer(name).map(|found| (found, POSITION_GAP));
        return found.ok_or_else(|| {
            let path = &field.path;
            ApiError::illegal_argument(format!("analyzer [{name}] not found for field [{path}]"))
        });
    }
    Ok(match &field.kind {
        FieldKind::Text { analyzer, .. } => (analyzer.clone(), field.settings.position_gap),
        _ => ("keyword".to_string(), 0),
    })
}

/// A term, where it stands, and how much it tells where terms are chosen by that.
type ToldTerm = (String, Vec<Value>, Option<f32>);

/// The terms of a field that are told: all, or those that a filter leaves.
fn told(
    pinned: &Pinned,
    path: &str,
    terms: BTreeMap<String, Vec<Value>>,
    filter: Option<&TermFilter>,
) -> Result<Vec<ToldTerm>, ApiError> {
    let Some(filter) = filter else {
        let all = terms.into_iter();
        return Ok(all.map(|(term, tokens)| (term, tokens, None)).collect());
    };
    let docs_of_field = field_docs(pinned, path)?;
    let mut pace = Pace::of_blocks();
    let (mut left, mut scores) = (Vec::new(), Vec::new());
    for (term, tokens) in terms {
        go_on(&mut pace)?;
        let frequency = Frequency {
            in_document: u64::try_from(tokens.len()).unwrap_or(u64::MAX),
            docs: term_statistics(pinned, path, &term)?.0,
            docs_of_field,
        };
        if let Some(score) = filter.score(&term, frequency) {
            left.push((term, tokens, Some(score)));
            scores.push(score);
        }
    }
    let best: BTreeSet<usize> = filter.best(&scores).into_iter().collect();
    let told = left.into_iter().enumerate();
    let told = told.filter(|(place, _)| best.contains(place));
    Ok(told.map(|(_, term)| term).collect())
}

/// The terms of a field's values, each with the places where it stands.
fn terms_of(
    (analyzer, gap): (&str, usize),
    values: &[String],
    (asked, memory): (&Asked, &RequestMemory),
) -> Result<BTreeMap<String, Vec<Value>>, ApiError> {
    let mut terms: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let (mut position_base, mut offset_base) = (0, 0);
    for value in values {
        unless_stopped()?;
        let found = tokens(analyzer, value);
        memory.take(found.len().saturating_mul(PLACE_BYTES))?;
        let mut units = Utf16Places::new(value);
        for token in &found {
            let mut place = Map::new();
            if asked.positions {
                let position = position_base + token.position;
                place.insert("position".to_string(), position.into());
            }
            if asked.offsets {
                let stands = units.of(token.start, token.end);
                place.insert(
                    "start_offset".to_string(),
                    (offset_base + stands.start).into(),
                );
                place.insert("end_offset".to_string(), (offset_base + stands.end).into());
            }
            let places = terms.entry(token.text.clone()).or_default();
            places.push(Value::Object(place));
        }
        offset_base += units.length() + 1;
        position_base += found.last().map_or(0, |last| last.position + 1) + gap;
    }
    Ok(terms)
}

/// Bytes of all texts in a value.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(members) => members.values().map(text_bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn field_statistics(pinned: &Pinned, path: &str) -> Result<Value, EngineError> {
    let (mut docs, mut terms, mut tokens) = (0, 0, 0);
    for shard in pinned.shards() {
        let figures = shard.field_figures(path)?;
        docs += figures.docs;
        terms += figures.terms;
        tokens += figures.tokens;
    }
    Ok(json!({"sum_doc_freq": terms, "doc_count": docs, "sum_ttf": tokens}))
}

/// Documents that have a field.
fn field_docs(pinned: &Pinned, path: &str) -> Result<u64, EngineError> {
    let mut docs = 0;
    for shard in pinned.shards() {
        docs += shard.field_figures(path)?.docs;
    }
    Ok(docs)
}

fn term_statistics(pinned: &Pinned, path: &str, term: &str) -> Result<(u64, u64), EngineError> {
    let (mut docs, mut total) = (0, 0);
    for shard in pinned.shards() {
        let figures = shard.term_figures(path, term)?;
        docs += figures.docs;
        total += figures.total;
    }
    Ok((docs, total))
}

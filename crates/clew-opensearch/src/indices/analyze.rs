//! `_analyze`: the terms of a text.

mod shown;

use std::collections::BTreeMap;

use clew_analysis::{
    POSITION_GAP, PartLimits, Parts, Token, explained, shown_name, take_left_out, tokens,
};
use clew_engine::Index;
use clew_platform::stopped;
use clew_schema::{FieldKind, text_of};
use serde_json::{Map, Value, json};

use crate::dsl::Field;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::request_memory::words_bytes;
use crate::state::call::Call;
use shown::Shown;

/// Terms of one request unless the index says otherwise.
pub(super) const TOKENS_MAX: usize = 10_000;
pub(super) const TOKENS_MAX_SETTING: &str = "index.analyze.max_token_count";

/// What a request says.
#[derive(Debug, Default)]
struct Asked {
    texts: Vec<String>,
    analyzer: Option<String>,
    field: Option<String>,
    normalizer: Option<String>,
    /// `tokenizer`, `filter` and `char_filter` as the request has them.
    parts: Map<String, Value>,
    explain: bool,
    /// What of each term is shown when it is explained; everything when empty.
    attributes: Vec<String>,
}

/// What a request may say.
const MEMBERS: [&str; 9] = [
    "text",
    "analyzer",
    "field",
    "explain",
    "normalizer",
    "attributes",
    "tokenizer",
    "filter",
    "char_filter",
];

impl Asked {
    fn from_call(call: &Call) -> Result<Self, ApiError> {
        let body = call.json()?.unwrap_or_else(|| json!({}));
        let mut asked = Asked {
            analyzer: call.params.get("analyzer").map(String::from),
            field: call.params.get("field").map(String::from),
            texts: call
                .params
                .get("text")
                .into_iter()
                .map(String::from)
                .collect(),
            explain: call.params.flag("explain", false)?,
            ..Asked::default()
        };
        if !body.is_object() {
            return Err(ApiError::bad_request(
                "parsing_exception",
                "expected an object",
            ));
        }
        call.read(&body, |body| {
            let mut members = Field::all("analyze_request", body)?;
            members.try_for_each(|member| asked.read(member))
        })?;
        if asked.texts.is_empty() {
            call.require_source()?;
            return Err(ApiError::validation("text is missing"));
        }
        Ok(asked)
    }

    fn read(&mut self, member: Field<'_>) -> Result<(), ApiError> {
        let wrong = || member.other_sort();
        match (member.name, member.value) {
            ("text", Value::Array(items)) => {
                // In a list numbers and flags are texts, too.
                let texts = items.iter().map(|item| match item {
                    Value::Null | Value::Array(_) | Value::Object(_) => None,
                    Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(text_of(item)),
                });
                self.texts = texts.collect::<Option<_>>().ok_or_else(wrong)?;
            }
            ("text", Value::String(text)) => self.texts = vec![text.clone()],
            ("analyzer", Value::String(name)) => self.analyzer = Some(name.clone()),
            ("field", Value::String(name)) => self.field = Some(name.clone()),
            ("explain", Value::Bool(flag)) => self.explain = *flag,
            ("normalizer", Value::String(name)) => self.normalizer = Some(name.clone()),
            ("attributes", Value::Array(items)) => {
                let names = items
                    .iter()
                    .map(|item| item.as_str().map(str::to_lowercase));
                self.attributes = names.collect::<Option<_>>().ok_or_else(wrong)?;
            }
            ("attributes", Value::String(name)) => self.attributes = vec![name.to_lowercase()],
            ("tokenizer", Value::String(_) | Value::Object(_))
            | ("filter" | "char_filter", Value::Array(_)) => {
                self.parts
                    .insert(member.name.to_string(), member.value.clone());
            }
            (
                "text" | "analyzer" | "field" | "explain" | "normalizer" | "attributes"
                | "tokenizer" | "filter" | "char_filter",
                _,
            ) => return Err(wrong().into()),
            _ => return Err(member.unknown(&MEMBERS).into()),
        }
        Ok(())
    }

    /// Whether what is asked for goes together.
    fn check(&self, index: Option<&Index>) -> Result<(), ApiError> {
        let has_more = !self.parts.is_empty();
        let has_normalizer = self.normalizer.is_some();
        let wrongs = [
            (
                has_normalizer && index.is_none(),
                "index is required if normalizer is specified",
            ),
            (
                has_normalizer && (self.analyzer.is_some() || self.parts.contains_key("tokenizer")),
                "tokenizer/analyze should be null if normalizer is specified",
            ),
            (
                has_more && self.analyzer.is_some(),
                "cannot define extra components on a named analyzer",
            ),
            (
                has_more && has_normalizer,
                "cannot define extra components on a named normalizer",
            ),
            (
                has_more && self.field.is_some(),
                "cannot define extra components on a field-specific analyzer",
            ),
        ];
        let found = wrongs.into_iter().filter(|(is_wrong, _)| *is_wrong);
        let found: Vec<&str> = found.map(|(_, reason)| reason).collect();
        if found.is_empty() {
            return Ok(());
        }
        Err(ApiError::validations(&found))
    }

    /// Positions between two texts: none where the analyzer is not one of fields of an index.
    fn gap(&self, index: Option<&Index>) -> usize {
        let is_keyword = |index: &Index| {
            let mapping = index.mapping();
            let mapped = self.field.as_ref().and_then(|field| mapping.field(field));
            mapped.is_some_and(|mapped| matches!(mapped.kind, FieldKind::Keyword { .. }))
        };
        let is_plain = match index {
            Some(index) => self.normalizer.is_some() || is_keyword(index),
            None => self.parts.is_empty(),
        };
        if is_plain {
            return 0;
        }
        // Of the field, or else of the analyzer.
        let of_index = |index: &Index| {
            let mapping = index.mapping();
            match (&self.field, &self.analyzer) {
                (Some(field), _) => mapping
                    .field(field)
                    .map(|field| field.settings.position_gap),
                (None, Some(name)) => Some(mapping.analysis().position_gap(name)),
                (None, None) => None,
            }
        };
        index.and_then(of_index).unwrap_or(POSITION_GAP)
    }

    /// What the parts of a kind are called, as the request or the settings of the index name them.
    fn part_names(&self, key: &str, source: &Value) -> Vec<String> {
        let own = match (&self.analyzer, &self.normalizer) {
            (Some(name), _) => source.get("analyzer").and_then(|all| all.get(name)),
            (None, Some(name)) => source.get("normalizer").and_then(|all| all.get(name)),
            (None, None) => None,
        };
        let written = own.and_then(|own| own.get(key)).or(self.parts.get(key));
        let name = |part: &Value| match part {
            Value::String(name) => name.clone(),
            part => {
                let kind = part.get("type").and_then(Value::as_str);
                format!("__anonymous__{}", kind.unwrap_or_default())
            }
        };
        match written {
            Some(Value::Array(parts)) => parts.iter().map(name).collect(),
            Some(part) => vec![name(part)],
            None => Vec::new(),
        }
    }

    /// The analyzer that is meant.
    fn analyzer(&self, index: Option<&Index>) -> Result<String, ApiError> {
        let mapping = index.map(Index::mapping);
        let analysis = mapping.as_ref().map(|mapping| mapping.analysis().clone());
        let analysis = analysis.unwrap_or_default();
        let limits = index.map(|index| part_limits(&index.settings().given));
        let limits = limits.unwrap_or_default();
        self.check(index)?;
        if let Some(name) = &self.normalizer {
            return match (analysis.normalizer(name), name.as_str()) {
                (_, "lowercase") => analysis
                    .assembled(&json!({"filter": ["lowercase"]}), limits)
                    .map_err(ApiError::illegal_argument),
                (Some(own), _) => Ok(own),
                (None, _) => Err(ApiError::illegal_argument(format!(
                    "failed to find normalizer under [{name}]"
                ))),
            };
        }
        if !self.parts.is_empty() && self.analyzer.is_none() {
            let parts = Value::Object(self.parts.clone());
            let assembled = analysis.assembled(&parts, limits);
            return assembled.map_err(|reason| {
                ApiError::illegal_argument(match index {
                    Some(_) => reason.replace("failed to find global ", "failed to find "),
                    None => reason,
                })
            });
        }
        if let Some(name) = &self.analyzer {
            return analysis.analyzer(name).ok_or_else(|| {
                let whose = if index.is_some() { "" } else { "global " };
                ApiError::illegal_argument(format!("failed to find {whose}analyzer [{name}]"))
            });
        }
        let Some(field) = &self.field else {
            return Ok("standard".to_string());
        };
        let Some(index) = index else {
            return Err(ApiError::illegal_argument(
                "analysis based on a specific field requires an index",
            ));
        };
        let mapping = index.mapping();
        let mapped = mapping.field(field);
        let normalizer = mapped.and_then(|mapped| mapped.settings.normalizer.as_deref());
        match mapped.map(|mapped| &mapped.kind) {
            Some(FieldKind::Text { analyzer, .. }) => Ok(analyzer.clone()),
            Some(FieldKind::Keyword { .. }) => match normalizer {
                Some("lowercase") => analysis
                    .assembled(&json!({"filter": ["lowercase"]}), limits)
                    .map_err(ApiError::illegal_argument),
                normalizer => Ok(normalizer.unwrap_or("keyword").to_string()),
            },
            Some(_) => Err(ApiError::illegal_argument(format!(
                "Can't process field [{field}], Analysis requests are only supported on tokenized \
                 fields"
            ))),
            None => Ok("standard".to_string()),
        }
    }
}

/// `GET|POST /{index}/_analyze`.
pub(crate) async fn analyze(call: Call) -> Result<Reply, ApiError> {
    // Before the texts are read: of a long body they are nearly all, and are copied.
    let read = call.memory.hold(words_bytes(call.body.len()))?;
    let asked = Asked::from_call(&call)?;
    drop(read);
    let index = match call.path("index") {
        Some(name) => Some(call.open_one(name, None)?.0),
        None => None,
    };
    let analyzer = asked.analyzer(index.as_deref())?;
    let gap = asked.gap(index.as_deref());
    let source = index
        .as_deref()
        .map(|index| index.mapping().analysis().source().clone());
    let source = source.unwrap_or_default();
    let max = index
        .and_then(|index| index.settings().given.get(TOKENS_MAX_SETTING)?.parse().ok())
        .unwrap_or(TOKENS_MAX);
    // Explained, they are there once for each step.
    let text_bytes = asked.texts.iter().map(String::len).sum();
    let copies = if asked.explain { 4 } else { 1 };
    let _words = call
        .memory
        .hold(words_bytes(text_bytes).saturating_mul(copies))?;
    let shown = call.off_thread(move || {
        take_left_out();
        let shown = if asked.explain {
            asked.explanation(&analyzer, (max, gap), &source)?
        } else {
            let shown = Shown::of(&asked.texts, (max, gap), |text| tokens(&analyzer, text))?;
            json!({"tokens": shown.plain()})
        };
        match take_left_out() {
            true => Err(too_much()),
            false => Ok(shown),
        }
    });
    Ok(Reply::json(&shown.await??))
}

impl Asked {
    /// What became of the texts in each step.
    fn explanation(
        &self,
        analyzer: &str,
        bounds: (usize, usize),
        source: &Value,
    ) -> Result<Value, ApiError> {
        let show = |of: &dyn Fn(&str) -> Vec<Token>| -> Result<Vec<Value>, ApiError> {
            Ok(Shown::of(&self.texts, bounds, of)?.explained(&self.attributes))
        };
        let called = |key: &str, number: usize, kind: &String| {
            let name = self.part_names(key, source).into_iter().nth(number);
            name.unwrap_or_else(|| kind.clone())
        };
        let steps: Option<Vec<Parts>> = self
            .texts
            .iter()
            .take_while(|_| !stopped())
            .map(|text| explained(analyzer, text))
            .collect();
        let name = shown_name(analyzer);
        let in_parts = |steps: &Vec<Parts>| !steps.is_empty() && !is_of_a_type(name, source);
        let Some(steps) = steps.filter(in_parts) else {
            return Ok(json!({"detail": {
                "custom_analyzer": false,
                "analyzer": {"name": name, "tokens": show(&|text| tokens(analyzer, text))?},
            }}));
        };
        // The steps of a text, in the order of the texts.
        let at = |text: &str| self.texts.iter().position(|one| one == text).unwrap_or(0);
        let first = &steps[0];
        let char_filters = first
            .char_filters
            .iter()
            .enumerate()
            .map(|(number, (kind, _))| {
                let name = called("char_filter", number, kind);
                let texts: Vec<&String> = steps
                    .iter()
                    .map(|step| &step.char_filters[number].1)
                    .collect();
                json!({"name": name, "filtered_text": texts})
            });
        let char_filters: Vec<Value> = char_filters.collect();
        let tokenizer = json!({
            "name": called("tokenizer", 0, &first.tokenizer.0),
            "tokens": show(&|text| steps[at(text)].tokenizer.1.clone())?,
        });
        let mut filters = Vec::new();
        for (number, (kind, _)) in first.filters.iter().enumerate() {
            let name = called("filter", number, kind);
            let tokens = show(&|text| steps[at(text)].filters[number].1.clone())?;
            filters.push(json!({"name": name, "tokens": tokens}));
        }
        Ok(json!({"detail": {
            "custom_analyzer": true,
            "charfilters": char_filters,
            "tokenizer": tokenizer,
            "tokenfilters": filters,
        }}))
    }
}

/// Whether an index has made an analyzer of one of the types that there are, whose parts nobody has named.
fn is_of_a_type(name: &str, source: &Value) -> bool {
    let own = source.get("analyzer").and_then(|all| all.get(name));
    let kind = own.and_then(|own| own.get("type")).and_then(Value::as_str);
    kind.is_some_and(|kind| kind != "custom")
}

fn too_much() -> ApiError {
    ApiError::bad_request(
        "illegal_state_exception",
        "the analyzer makes more of a text than it may make, or an expression takes too long in it: of a document, words \
         would be left out",
    )
}

/// How far the lengths of what analyzers cut may be apart.
pub(crate) fn part_limits(given: &BTreeMap<String, String>) -> PartLimits {
    let number = |name: &str, usual: i64| {
        let written = given.get(name);
        written.and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let usual = PartLimits::default();
    PartLimits {
        ngram_diff: number("index.max_ngram_diff", usual.ngram_diff),
        shingle_diff: number("index.max_shingle_diff", usual.shingle_diff),
    }
}

//! `_analyze`: the terms of a text.

use clew_engine::Index;
use clew_text::FieldKind;
use clew_text::analysis::{POSITION_GAP, Token, is_analyzer, tokens};
use serde_json::{Value, json};

use crate::call::Call;
use crate::error::ApiError;
use crate::reply::Reply;

/// Terms of one request unless the index says otherwise.
const TOKENS_MAX: usize = 10_000;
const TOKENS_MAX_SETTING: &str = "index.analyze.max_token_count";

/// What a request says.
#[derive(Debug, Default)]
struct Asked {
    texts: Vec<String>,
    analyzer: Option<String>,
    field: Option<String>,
    explain: bool,
}

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
        };
        let members = body
            .as_object()
            .ok_or_else(|| ApiError::bad_request("parsing_exception", "expected an object"))?;
        for (key, value) in members {
            asked.read(key, value)?;
        }
        if asked.texts.is_empty() {
            return Err(ApiError::validation("text is missing"));
        }
        Ok(asked)
    }

    fn read(&mut self, key: &str, value: &Value) -> Result<(), ApiError> {
        let wrong = || {
            ApiError::bad_request(
                "x_content_parse_exception",
                format!("[analyze_request] failed to parse field [{key}]"),
            )
        };
        match (key, value) {
            ("text", Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(String::from));
                self.texts = texts.collect::<Option<_>>().ok_or_else(wrong)?;
            }
            ("text", Value::String(text)) => self.texts = vec![text.clone()],
            ("analyzer", Value::String(name)) => self.analyzer = Some(name.clone()),
            ("field", Value::String(name)) => self.field = Some(name.clone()),
            ("explain", Value::Bool(flag)) => self.explain = *flag,
            ("attributes", _) => {}
            ("tokenizer" | "filter" | "char_filter" | "normalizer", _) => {
                return Err(ApiError::illegal_argument(format!(
                    "[{key}] is not supported in [_analyze], name an [analyzer] or a [field]"
                )));
            }
            ("text" | "analyzer" | "field" | "explain", _) => return Err(wrong()),
            _ => {
                return Err(ApiError::bad_request(
                    "x_content_parse_exception",
                    format!("[analyze_request] unknown field [{key}]"),
                ));
            }
        }
        Ok(())
    }

    /// The analyzer that is meant.
    fn analyzer(&self, index: Option<&Index>) -> Result<String, ApiError> {
        if let Some(name) = &self.analyzer {
            if let Some(own) = index.and_then(|index| index.mapping().analysis().analyzer(name)) {
                return Ok(own);
            }
            if is_analyzer(name) {
                return Ok(name.clone());
            }
            return Err(ApiError::illegal_argument(format!(
                "failed to find global analyzer [{name}]"
            )));
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
        match mapping.field(field).map(|mapped| &mapped.kind) {
            Some(FieldKind::Text { analyzer, .. }) => Ok(analyzer.clone()),
            Some(FieldKind::Keyword { .. }) => Ok("keyword".to_string()),
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
    let asked = Asked::from_call(&call)?;
    let index = match call.path("index") {
        Some(name) => Some(call.api.engine.single_index(name, None)?.0),
        None => None,
    };
    let analyzer = asked.analyzer(index.as_deref())?;
    let max = index
        .and_then(|index| index.settings().given.get(TOKENS_MAX_SETTING)?.parse().ok())
        .unwrap_or(TOKENS_MAX);
    let explain = asked.explain;
    let (name, texts) = (analyzer.clone(), asked.texts);
    let shown = tokio::task::spawn_blocking(move || show(&name, &texts, max, explain))
        .await
        .map_err(|error| ApiError::internal(error.to_string()))??;
    Ok(Reply::json(&if explain {
        json!({"detail": {
            "custom_analyzer": false,
            "analyzer": {"name": analyzer, "tokens": shown},
        }})
    } else {
        json!({"tokens": shown})
    }))
}

/// The terms of several texts, which follow each other like values of one field.
fn show(
    analyzer: &str,
    texts: &[String],
    max: usize,
    explain: bool,
) -> Result<Vec<Value>, ApiError> {
    let mut shown = Vec::new();
    let (mut position_base, mut offset_base) = (0, 0);
    for text in texts {
        let found = tokens(analyzer, text);
        if shown.len() + found.len() > max {
            return Err(ApiError::bad_request(
                "illegal_state_exception",
                format!(
                    "The number of tokens produced by calling _analyze has exceeded the allowed \
                     maximum of [{max}]. This limit can be set by changing the \
                     [{TOKENS_MAX_SETTING}] index level setting."
                ),
            ));
        }
        // Counted on from token to token: from the start each time would be quadratic.
        let (mut at, mut units) = (0, offset_base);
        for token in &found {
            units += text[at..token.start].encode_utf16().count();
            let length = text[token.start..token.end].encode_utf16().count();
            let mut one = json!({
                "token": token.text,
                "start_offset": units,
                "end_offset": units + length,
                "type": kind(analyzer, token),
                "position": position_base + token.position,
            });
            if explain {
                let bytes: Vec<String> = token.text.bytes().map(|b| format!("{b:x}")).collect();
                one["bytes"] = format!("[{}]", bytes.join(" ")).into();
                one["positionLength"] = 1.into();
                one["termFrequency"] = 1.into();
            }
            shown.push(one);
            at = token.start;
        }
        offset_base = units + text[at..].encode_utf16().count() + 1;
        position_base += found.last().map_or(0, |last| last.position) + POSITION_GAP + 1;
    }
    Ok(shown)
}

/// What the tokenizer calls a token of this kind.
fn kind(analyzer: &str, token: &Token) -> &'static str {
    if !matches!(analyzer, "standard" | "english") {
        return "word";
    }
    let mut letters = token.text.chars();
    match letters.next() {
        Some('\u{3040}'..='\u{309f}') => "<HIRAGANA>",
        Some('\u{30a0}'..='\u{30ff}') => "<KATAKANA>",
        Some('\u{ac00}'..='\u{d7af}') => "<HANGUL>",
        Some('\u{3400}'..='\u{9fff}') => "<IDEOGRAPHIC>",
        Some(first) if first.is_numeric() && letters.all(|c| !c.is_alphabetic()) => "<NUM>",
        _ => "<ALPHANUM>",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_counted_as_clients_count_them() {
        let texts = ["Größe 😀 x1".to_string(), "42".to_string()];
        let shown = show("standard", &texts, 10, false).unwrap();
        let part = |at: usize, key: &str| shown[at][key].clone();
        assert_eq!(part(0, "token"), "größe");
        assert_eq!(part(0, "end_offset"), 5);
        let last = shown.len() - 1;
        assert_eq!(part(last, "type"), "<NUM>");
        assert_eq!(part(last, "start_offset"), 12);
        assert!(part(last, "position").as_u64().unwrap() > 100);
        assert!(show("standard", &texts, 2, false).is_err());
    }
}

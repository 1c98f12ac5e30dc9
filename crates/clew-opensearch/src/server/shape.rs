//! The parameters that change an answer after it was written: `filter_path`, `pretty`, `format`. A long answer is
//! changed away from the async threads, as that takes as long as to find it.

use std::sync::Arc;

use bytes::Bytes;
use clew_engine::Engine;
use clew_platform::stopped;
use serde_json::Value;

use crate::http::formats::Format;
use crate::http::json_writer::{json_while, pretty_while};
use crate::http::params::Params;
use crate::http::reply_filter;
use crate::http::while_waited::WhileWaited;

/// Answers up to this are changed where they are: in some tens of microseconds.
const INLINE_BYTES_MAX: usize = 16 << 10;

/// Whether an answer is to be changed.
pub(super) fn is_reshaped(params: &Params) -> bool {
    patterns(params).is_some() || is_pretty(params) || answered_in(params) != Format::Json
}

/// What it is to be written in.
pub(super) fn answered_in(params: &Params) -> Format {
    let named = params.get("format").and_then(Format::named);
    named.unwrap_or(Format::Json)
}

fn patterns(params: &Params) -> Option<Vec<&str>> {
    let patterns = params.list("filter_path");
    patterns.filter(|patterns| !patterns.is_empty())
}

fn is_pretty(params: &Params) -> bool {
    params.flag("pretty", false).unwrap_or(false)
}

/// An answer of JSON as its parameters want it.
pub(super) async fn reshaped(engine: &Engine, body: Bytes, params: &Arc<Params>) -> Bytes {
    if !is_reshaped(params) {
        return body;
    }
    if body.len() <= INLINE_BYTES_MAX {
        return reshape(&body, params).unwrap_or(body);
    }
    let (long, wanted) = (body.clone(), params.clone());
    let waited = WhileWaited::begin();
    let work = engine.run_beside(move || reshape(&long, &wanted));
    let changed = waited.token().scope(Box::pin(work)).await;
    changed.ok().flatten().unwrap_or(body)
}

/// `None` where the answer is no JSON, or nobody waits for it any more, which is asked between the steps.
fn reshape(body: &[u8], params: &Params) -> Option<Bytes> {
    let goes_on = || !stopped();
    let mut value = serde_json::from_slice::<Value>(body).ok()?;
    if let Some(patterns) = patterns(params).filter(|_| goes_on()) {
        value = reply_filter::filter(value, &patterns);
    }
    if !goes_on() {
        return None;
    }
    let format = answered_in(params);
    if format != Format::Json {
        return Some(format.document(&value).into());
    }
    let text = if is_pretty(params) {
        let mut text = pretty_while(&value, &goes_on)?;
        text.push(b'\n');
        text
    } else {
        json_while(&value, &goes_on)?
    };
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;
    use serde_json::json;

    use super::*;

    fn params(query: &str) -> Params {
        Params::parse(query).unwrap()
    }

    #[test]
    fn answers_are_changed_as_their_parameters_want_it() {
        let body = json!({"a": {"b": [1, 2]}, "c": true}).to_string();
        let check = |query: &str, wanted: &str| {
            let changed = reshape(body.as_bytes(), &params(query)).unwrap();
            assert_eq!(changed, wanted.as_bytes(), "{query}");
        };
        check("filter_path=a.b", r#"{"a":{"b":[1,2]}}"#);
        check("pretty&filter_path=c", "{\n  \"c\": true\n}\n");
        check("format=yaml&filter_path=c", "---\nc: true\n");
        check("format=YAML&filter_path=c", "---\nc: true\n");
        assert!(reshape(b"no JSON", &params("pretty")).is_none());
    }

    #[test]
    fn nothing_is_changed_for_a_client_that_has_gone() {
        let waited = WhileWaited::begin();
        let token = waited.token();
        let _entered = token.enter();
        for query in ["pretty", "filter_path=a", "format=yaml"] {
            assert!(reshape(br#"{"a":1}"#, &params(query)).is_some());
        }
        drop(waited);
        assert!(CancellationToken::current().stopped().is_some());
        for query in ["pretty", "filter_path=a", "format=yaml"] {
            assert!(reshape(br#"{"a":1}"#, &params(query)).is_none());
        }
    }
}

//! `/common/run_analyzer`: the words of texts.

use serde_json::{Value, json};

use super::body::{Body, Refusal, Result, text_of};
use super::{Answer, unknown};
use crate::proto::*;
use crate::service::{Caller, Door};

pub(super) async fn run(
    door: &Door,
    (action, caller): (&str, Caller),
    body: Body,
) -> Result<Answer> {
    if action != "run_analyzer" {
        return Err(unknown(&format!("common/{action}")));
    }
    let texts = body.texts("text")?;
    if texts.is_empty() {
        return Err(Refusal::Missing("Key: 'text' is required".to_string()));
    }
    let request = RunAnalyzerRequest {
        analyzer_params: body.get("analyzerParams").map(text_of).unwrap_or_default(),
        placeholder: texts.into_iter().map(bytes::Bytes::from).collect(),
        with_detail: body.flag("withDetail")?.unwrap_or_default(),
        with_hash: body.flag("withHash")?.unwrap_or_default(),
        collection_name: body.text_or("collectionName", "")?,
        field_name: body.text_or("fieldName", "")?,
        analyzer_names: body.texts("analyzerNames")?,
        ..RunAnalyzerRequest::default()
    };
    let (details, hashes) = (request.with_detail, request.with_hash);
    let found = door.run_analyzer(caller, request).await?;
    let token = |token: &AnalyzerToken| {
        let mut told = json!({"token": token.token});
        if details {
            told["start_offset"] = token.start_offset.into();
            told["end_offset"] = token.end_offset.into();
            told["position"] = token.position.into();
            told["position_length"] = token.position_length.into();
        }
        if hashes {
            told["hash"] = token.hash.into();
        }
        told
    };
    let results = found.results.iter().map(|one| {
        let tokens: Vec<Value> = one.tokens.iter().map(token).collect();
        json!({"tokens": tokens})
    });
    let results: Vec<Value> = results.collect();
    Ok(Answer::Data(json!(results)))
}

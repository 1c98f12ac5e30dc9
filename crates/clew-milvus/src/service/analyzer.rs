//! The words of a text, as an analyzer cuts it.

use clew_engine::Purpose;
use clew_platform::fnv1a_32;

use super::{Call, Service};
use crate::collection::{TEXT, analyzer_settings};
use crate::error::{MilvusError, Result};
use crate::proto::*;

impl Service {
    pub(crate) async fn run_analyzer(
        &self,
        call: Call,
        request: RunAnalyzerRequest,
    ) -> Result<RunAnalyzerResponse> {
        let name = if request.collection_name.is_empty() {
            let (analysis, name) = analyzer_settings(&request.analyzer_params)?;
            analysis.analyzer(&name).unwrap_or(name)
        } else {
            let place = (request.db_name.as_str(), request.collection_name.as_str());
            let opened = self.open(&call, place, Purpose::Show)?;
            let mapping = opened.handle.mapping();
            let path = format!("{}.{TEXT}", request.field_name);
            let field = mapping.field(&path).map(|field| &field.kind);
            match field {
                Some(clew_schema::FieldKind::Text { analyzer, .. }) => analyzer.clone(),
                _ => {
                    return Err(MilvusError::invalid(format!(
                        "field {} has no analyzer",
                        request.field_name
                    )));
                }
            }
        };
        let mut results = Vec::with_capacity(request.placeholder.len());
        for text in &request.placeholder {
            let text = std::str::from_utf8(text)
                .map_err(|_| MilvusError::invalid("a text to analyze is no UTF-8"))?;
            let tokens = clew_analysis::tokens(&name, text);
            let told = |token: clew_analysis::Token| told(token, &request);
            results.push(AnalyzerResult {
                tokens: tokens.into_iter().map(told).collect(),
            });
        }
        Ok(RunAnalyzerResponse {
            results,
            ..RunAnalyzerResponse::default()
        })
    }
}

fn told(token: clew_analysis::Token, request: &RunAnalyzerRequest) -> AnalyzerToken {
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let hash = if request.with_hash {
        fnv1a_32(token.text.as_bytes())
    } else {
        0
    };
    let plain = AnalyzerToken {
        hash,
        ..AnalyzerToken::default()
    };
    match request.with_detail {
        false => AnalyzerToken {
            token: token.text,
            ..plain
        },
        true => AnalyzerToken {
            start_offset: signed(token.start),
            end_offset: signed(token.end),
            position: signed(token.position),
            position_length: signed(token.length),
            token: token.text,
            ..plain
        },
    }
}

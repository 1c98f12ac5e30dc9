//! The words of a text, as an analyzer cuts it.

use clew_engine::Purpose;
use clew_platform::{MemoryPurpose, Reservation, crc32};
use clew_query::unless_stopped;
use clew_schema::FieldKind;

use super::{Call, Service};
use crate::collection::{TEXT, analyzer_settings};
use crate::error::{MilvusError, Result};
use crate::held;
use crate::incoming::Refused;
use crate::proto::*;

/// What a text takes for each of its bytes while it is cut: a word of one letter, with the space behind it, 130 bytes.
pub(super) const CUT_BYTES: usize = 65;
/// What a word takes that is told, with what becomes of it as JSON.
const TOLD_BYTES: usize = 512;

impl Service {
    pub(crate) async fn run_analyzer(
        &self,
        call: Call,
        request: RunAnalyzerRequest,
    ) -> Result<RunAnalyzerResponse> {
        let names = if request.collection_name.is_empty() {
            let (analysis, name) = analyzer_settings(&request.analyzer_params)?;
            vec![analysis.analyzer(&name).unwrap_or(name)]
        } else {
            self.analyzers_of_field(&call, &request)?
        };
        let texts = request.placeholder.iter();
        let bytes = texts.map(|text| size_of::<AnalyzerResult>() + text.len());
        let bytes = bytes.sum();
        let mut room = self.limits().memory.open(MemoryPurpose::Searches);
        let read = move || -> Result<_> {
            let results = words(&request, &names, &mut room)?;
            Ok((results, room))
        };
        let (results, room) = self.reading(bytes, read).await?;
        held::hold(room);
        Ok(RunAnalyzerResponse {
            results,
            ..RunAnalyzerResponse::default()
        })
    }

    /// The analyzers of a field that texts go through: one for all of them, or one for each.
    ///
    /// # Errors
    /// In Milvus' words, when the request does not name a field, or as many analyzers as neither one nor each text takes.
    fn analyzers_of_field(&self, call: &Call, request: &RunAnalyzerRequest) -> Result<Vec<String>> {
        check_names(request)?;
        let opened = self.open_named(call, request, Purpose::Show)?;
        let mapping = opened.handle.mapping();
        let field = mapping.field(&format!("{}.{TEXT}", request.field_name));
        let Some((field, FieldKind::Text { analyzer, .. })) =
            field.map(|field| (field, &field.kind))
        else {
            return Err(MilvusError::invalid(format!(
                "field {} has no analyzer",
                request.field_name
            )));
        };
        let Some(choice) = &field.settings.choice else {
            return Ok(vec![analyzer.clone()]);
        };
        let chosen = |name: &String| choice.analyzers.get(name).unwrap_or(analyzer).clone();
        Ok(match request.analyzer_names.as_slice() {
            [] => vec![analyzer.clone()],
            names => names.iter().map(chosen).collect(),
        })
    }
}

/// The words of all texts, each cut by the analyzer that is its turn. What they take is booked before they are there.
///
/// # Errors
/// When a text is none, nobody waits for the words, or there is no room for them.
fn words(
    request: &RunAnalyzerRequest,
    names: &[String],
    room: &mut Reservation,
) -> Result<Vec<AnalyzerResult>> {
    let mut results = Vec::with_capacity(request.placeholder.len());
    for (text, name) in request.placeholder.iter().zip(names.iter().cycle()) {
        unless_stopped()?;
        let text = std::str::from_utf8(text)
            .map_err(|_| MilvusError::invalid("a text to analyze is no UTF-8"))?;
        let before = room.bytes();
        room.grow(text.len().saturating_mul(CUT_BYTES))
            .map_err(Refused::from)?;
        let tokens = clew_analysis::tokens(name, text);
        let told_bytes = tokens.len().saturating_mul(TOLD_BYTES);
        room.grow(told_bytes).map_err(Refused::from)?;
        let told = |token: clew_analysis::Token| told(token, request);
        results.push(AnalyzerResult {
            tokens: tokens.into_iter().map(told).collect(),
        });
        room.shrink_to(before.saturating_add(told_bytes));
    }
    Ok(results)
}

/// Refuses what goes together with no field.
fn check_names(request: &RunAnalyzerRequest) -> Result<()> {
    let (names, texts) = (request.analyzer_names.len(), request.placeholder.len());
    Err(MilvusError::invalid(
        if !request.analyzer_params.is_empty() {
            "run analyzer can't use analyzer params and (collection,field) in same time".to_string()
        } else if request.field_name.is_empty() {
            "must set field name when collection name was set".to_string()
        } else if names > 1 && names != texts {
            format!(
                "only support set one analyzer name for all text or set analyzer name for each text, but now analzer name num: {names}, text num: {texts}"
            )
        } else {
            return Ok(());
        },
    ))
}

/// The dimension that a word has in the sparse vectors which Milvus makes of texts, by which its users compare words with
/// vectors: the checksum of its first bytes, below the greatest number.
fn dimension_of(word: &str) -> u32 {
    const CHECKED_BYTES_MAX: usize = 100;
    let bytes = word.as_bytes();
    crc32(&bytes[..bytes.len().min(CHECKED_BYTES_MAX)]) % u32::MAX
}

fn told(token: clew_analysis::Token, request: &RunAnalyzerRequest) -> AnalyzerToken {
    let signed = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let hash = if request.with_hash {
        dimension_of(&token.text)
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

#[cfg(test)]
mod tests {
    use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits};

    use super::*;

    #[test]
    fn words_are_booked_and_told_to_somebody_alone() {
        let account = MemoryAccount::new(MemoryLimits {
            searches: 1 << 20,
            ..MemoryLimits::none()
        });
        let told = |texts: &[&str]| {
            let texts = texts.iter().map(|text| text.to_string().into());
            let request = RunAnalyzerRequest {
                placeholder: texts.collect(),
                ..RunAnalyzerRequest::default()
            };
            let mut room = account.open(MemoryPurpose::Searches);
            let results = words(&request, &["standard".to_string()], &mut room)?;
            let counts: Vec<usize> = results.iter().map(|one| one.tokens.len()).collect();
            Ok::<_, MilvusError>((counts, room.bytes()))
        };
        assert_eq!(
            told(&["a b", "", "c"]).unwrap(),
            (vec![2, 0, 1], 3 * TOLD_BYTES)
        );
        for text in ["a ".repeat(10_000), "a ".repeat(5_000)] {
            assert_eq!(told(&[&text]).unwrap_err().code(), 3);
        }
        assert_eq!(account.total().used, 0);
        let token = CancellationToken::new();
        token.cancel("the client has gone");
        let _entered = token.enter();
        assert!(told(&["a"]).is_err());
    }

    #[test]
    fn words_have_the_dimensions_that_milvus_gives_them() {
        let long = "word".repeat(50);
        for (word, want) in [
            ("milvus", 725_768_567),
            ("中文", 1_510_599_991),
            (long.as_str(), 38_741_788),
            ("", 0),
        ] {
            assert_eq!(dimension_of(word), want, "{word}");
        }
    }
}

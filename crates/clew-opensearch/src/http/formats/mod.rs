//! The formats of bodies beside JSON: YAML, CBOR and Smile. A request's body becomes JSON before anything else reads it, and
//! an answer is written as JSON and changed last, so no endpoint knows of them.

mod cbor;
mod json_text;
mod smile;
mod smile_text;
mod yaml;
mod yaml_bounds;
mod yaml_text;

use axum::http::{HeaderValue, StatusCode};
use bytes::Bytes;
use clew_engine::Engine;
use serde_json::Value;

use crate::http::body::BodyLimits;
use crate::http::error::{ApiError, Cause};
use json_text::JsonText;

/// Bodies up to this are read where they are.
const INLINE_BYTES_MAX: usize = 16 << 10;

/// What a body is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, or lines of it.
    Json,
    Yaml,
    Cbor,
    Smile,
}

/// What a body is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// One value.
    Value,
    /// Values one after another, each ended by its format's separator: a line feed, Smile's 0xFF.
    Lines,
}

impl Format {
    /// The format of a media type as headers have it, whatever parameters it has.
    pub(crate) fn of_media_type(text: &str) -> Option<Self> {
        // Nearly all say just this.
        if text == "application/json" {
            return Some(Format::Json);
        }
        let media = text.split(';').next().unwrap_or_default();
        let (kind, name) = media.trim().split_once('/')?;
        let ends_with = |end: &str| {
            let at = name.len().checked_sub(end.len());
            let found = at.and_then(|at| name.get(at..));
            found.is_some_and(|found| found.eq_ignore_ascii_case(end))
        };
        // A comma: several types.
        if !kind.eq_ignore_ascii_case("application") || name.contains(',') {
            return None;
        }
        match Format::named(name) {
            None if ends_with("json") || ends_with("json+nd") => Some(Format::Json),
            named => named,
        }
    }

    /// The format that the parameter `format` names.
    pub(crate) fn named(text: &str) -> Option<Self> {
        let all = [Format::Json, Format::Yaml, Format::Cbor, Format::Smile];
        all.into_iter()
            .find(|format| text.eq_ignore_ascii_case(format.name()))
    }

    /// Its name in the parameter `format`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Yaml => "yaml",
            Format::Cbor => "cbor",
            Format::Smile => "smile",
        }
    }

    /// The media type of answers.
    pub(crate) fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Format::Json => "application/json; charset=UTF-8",
            Format::Yaml => "application/yaml",
            Format::Cbor => "application/cbor",
            Format::Smile => "application/smile",
        })
    }

    /// A value as a document.
    pub(crate) fn document(self, value: &Value) -> Vec<u8> {
        match self {
            Format::Json => value.to_string().into_bytes(),
            Format::Yaml => yaml_text::document(value).into_bytes(),
            Format::Cbor => cbor::document(value),
            Format::Smile => smile_text::document(value),
        }
    }
}

/// Reads a body into JSON.
type Reader = fn(&[u8], &mut JsonText) -> Result<(), ApiError>;

/// The JSON of a body; a long one is read beside the searches, which go before it.
///
/// # Errors
/// 406 for lines in a format that has no separator of them, 400 for what cannot be read, 413 and 429 as for a body that is
/// inflated: what the JSON takes is booked as it grows.
pub(crate) async fn json_of(
    engine: &Engine,
    body: Bytes,
    (format, content): (Format, Content),
    limits: &BodyLimits,
) -> Result<Bytes, ApiError> {
    let is_short = body.len() <= INLINE_BYTES_MAX;
    let reader: Reader = match (format, content) {
        (Format::Json, _) => return Ok(body),
        (Format::Yaml, Content::Value) => yaml::read,
        (Format::Cbor, Content::Value) => cbor::read,
        (Format::Smile, Content::Value) => smile::read,
        (Format::Smile, Content::Lines) => smile::read_lines,
        (Format::Yaml | Format::Cbor, Content::Lines) => return Err(no_lines(format)),
    };
    let mut json = JsonText::beside(body.len(), limits);
    let work = move || -> Result<Bytes, ApiError> {
        reader(&body, &mut json)?;
        Ok(json.into_bytes())
    };
    if is_short {
        return work();
    }
    engine.run_beside(work).await?
}

fn no_lines(format: Format) -> ApiError {
    let name = format.name().to_ascii_uppercase();
    ApiError::text(
        StatusCode::NOT_ACCEPTABLE,
        format!("Content-Type [{name}] does not support stream parsing. Use JSON or SMILE instead"),
    )
}

/// Adds to the bytes of a whole number, which has no more than 16.
fn add_big(bytes: &mut Vec<u8>, part: &[u8]) -> Result<(), ApiError> {
    bytes.extend_from_slice(part);
    match bytes.len() <= 16 {
        true => Ok(()),
        false => Err(malformed(
            "json_parse_exception",
            "a whole number is longer than the limit of [16] bytes",
        )),
    }
}

/// What cannot be read, under the name of the error of its format.
fn malformed(kind: &'static str, reason: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, Cause::new(kind, reason))
}

#[cfg(test)]
mod tests;

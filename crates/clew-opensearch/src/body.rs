//! Bodies of requests and answers: bounded reading, gzip in both directions.

use std::io::{Read, Write};

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;

use crate::error::{ApiError, Cause};

/// Answers below this are sent as they are: a network packet is not filled anyway.
const COMPRESS_BYTES_MIN: usize = 1024;

/// Work on more bytes than this leaves the async threads.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// Reads a whole body, inflating it when it is gzip'd.
///
/// # Errors
/// 413 when it is (or inflates to) more than `bytes_max`, 415 for another encoding.
pub(crate) async fn read(
    headers: &HeaderMap,
    body: Body,
    bytes_max: usize,
) -> Result<Bytes, ApiError> {
    let raw = read_raw(body, bytes_max).await?;
    match headers
        .get(header::CONTENT_ENCODING)
        .map(|value| value.as_bytes())
    {
        None | Some(b"identity") => Ok(raw),
        Some(b"gzip" | b"x-gzip") if raw.len() <= INLINE_BYTES_MAX / 8 => inflate(&raw, bytes_max),
        Some(b"gzip" | b"x-gzip") => tokio::task::spawn_blocking(move || inflate(&raw, bytes_max))
            .await
            .map_err(|error| ApiError::internal(error.to_string()))?,
        Some(other) => Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Cause::new(
                "illegal_argument_exception",
                format!(
                    "Content-Encoding [{}] is not supported",
                    String::from_utf8_lossy(other)
                ),
            ),
        )),
    }
}

/// Reads up to the limit. What is above it is read and dropped up to the limit again, because a
/// client that is still sending when the connection closes never sees the answer.
async fn read_raw(mut body: Body, bytes_max: usize) -> Result<Bytes, ApiError> {
    let mut whole = BytesMut::new();
    let mut first: Option<Bytes> = None;
    let mut seen_bytes = 0usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ApiError::bad_request("parse_exception", format!("cannot read the body: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        seen_bytes = seen_bytes.saturating_add(data.len());
        if seen_bytes > bytes_max {
            whole = BytesMut::new();
            first = None;
            if seen_bytes > bytes_max.saturating_mul(2) {
                break;
            }
            continue;
        }
        // A body of one frame is passed on without a copy.
        match first.take() {
            None if whole.is_empty() => first = Some(data),
            None => whole.extend_from_slice(&data),
            Some(earlier) => {
                whole.extend_from_slice(&earlier);
                whole.extend_from_slice(&data);
            }
        }
    }
    if seen_bytes > bytes_max {
        return Err(too_long(bytes_max));
    }
    Ok(first.unwrap_or_else(|| whole.freeze()))
}

fn inflate(compressed: &[u8], bytes_max: usize) -> Result<Bytes, ApiError> {
    let mut inflated = Vec::with_capacity((compressed.len() * 4).min(bytes_max));
    let limit = u64::try_from(bytes_max)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    MultiGzDecoder::new(compressed)
        .take(limit)
        .read_to_end(&mut inflated)
        .map_err(|error| {
            ApiError::bad_request(
                "parse_exception",
                format!("cannot inflate the body: {error}"),
            )
        })?;
    if inflated.len() > bytes_max {
        return Err(too_long(bytes_max));
    }
    Ok(inflated.into())
}

fn too_long(bytes_max: usize) -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        Cause::new(
            "content_too_long_exception",
            format!("the request's body is longer than the limit of [{bytes_max}] bytes"),
        ),
    )
}

/// Whether the client takes gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .any(|value| {
            value.to_str().unwrap_or_default().split(',').any(|coding| {
                let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
                name.trim().eq_ignore_ascii_case("gzip") && quality.trim() != "q=0"
            })
        })
}

/// The gzip'd bytes, or the same bytes when that would not pay.
pub(crate) async fn compress(plain: Bytes) -> (Bytes, bool) {
    if plain.len() < COMPRESS_BYTES_MIN {
        return (plain, false);
    }
    if plain.len() <= INLINE_BYTES_MAX {
        return (deflate(&plain), true);
    }
    let task = plain.clone();
    match tokio::task::spawn_blocking(move || deflate(&task)).await {
        Ok(packed) => (packed, true),
        Err(_) => (plain, false),
    }
}

fn deflate(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    encoder.write_all(plain).expect("a vector takes every byte");
    encoder.finish().expect("a vector takes every byte").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip_header() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        headers
    }

    #[tokio::test]
    async fn a_body_that_inflates_beyond_the_limit_is_refused() {
        let packed = deflate(&vec![b'a'; 100_000]);
        assert!(packed.len() < 1000);
        let error = read(&gzip_header(), Body::from(packed.clone()), 99_999)
            .await
            .unwrap_err();
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let whole = read(&gzip_header(), Body::from(packed), 100_000)
            .await
            .unwrap();
        assert_eq!(whole.len(), 100_000);
    }

    #[tokio::test]
    async fn a_body_at_the_limit_is_read_and_one_byte_more_is_refused() {
        let none = HeaderMap::new();
        assert_eq!(read(&none, Body::from("abcd"), 4).await.unwrap(), "abcd");
        let error = read(&none, Body::from("abcde"), 4).await.unwrap_err();
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[tokio::test]
    async fn truncated_gzip_is_an_error_of_the_client() {
        let packed = deflate(&vec![b'a'; 100_000]);
        let cut = packed.slice(..packed.len() / 2);
        let error = read(&gzip_header(), Body::from(cut), 1 << 20)
            .await
            .unwrap_err();
        assert_eq!(error.status(), StatusCode::BAD_REQUEST);
    }
}

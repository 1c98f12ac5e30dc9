//! Bodies of requests and answers: bounded reading, gzip in both directions. A body's memory is reserved before
//! it is there, and given back when the last slice of its bytes goes.

pub(in crate::http) mod growing;

use std::io::{self, Read, Write};
use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use clew_engine::Engine;
use clew_platform::{MemoryAccount, MemoryPurpose, Reservation, stopped};
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use growing::GrowingBody;
use http_body_util::BodyExt;

use crate::http::error::{ApiError, Cause};
use crate::http::while_waited::WhileWaited;

/// Answers below this are sent as they are: a network packet is not filled anyway.
const COMPRESS_BYTES_MIN: usize = 1024;

/// Work on more bytes than this leaves the async threads.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// A frame costs at least as much time as copying so many bytes does.
const FRAME_COST_BYTES: usize = 512;

/// Inflated at once.
const STEP_BYTES: usize = 64 << 10;
/// Deflate makes nothing smaller than by this factor.
const INFLATION_MAX: usize = 1032;

/// What bodies may take.
#[derive(Clone, Debug)]
pub(crate) struct BodyLimits {
    /// Longest body, before and after inflating it.
    pub(crate) bytes_max: usize,
    /// The account of all bodies together.
    pub(crate) memory: Arc<MemoryAccount>,
}

impl BodyLimits {
    /// The longest body that there is ever room for beside what its request has already.
    fn bytes_max_beside(&self, bytes: usize) -> usize {
        let largest = self.memory.largest(MemoryPurpose::Bodies);
        self.bytes_max.min(largest.saturating_sub(bytes))
    }
}

/// Reads a whole body, inflating it when it is gzip'd; a long one beside the searches, which go before it.
///
/// # Errors
/// 413 when it is (or inflates to) more than the limit, 429 when there is no room for it beside the others, 415 for
/// another encoding.
pub(crate) async fn read(
    engine: &Engine,
    headers: &HeaderMap,
    mut body: Body,
    limits: &BodyLimits,
) -> Result<Bytes, ApiError> {
    let raw = collect(&mut body, limits).await?;
    if !is_packed(headers)? {
        return Ok(raw);
    }
    if raw.len() <= INLINE_BYTES_MAX / 8 {
        return inflate(&raw, limits);
    }
    let limits = limits.clone();
    engine.run_beside(move || inflate(&raw, &limits)).await?
}

/// Whether a body is to be inflated.
fn is_packed(headers: &HeaderMap) -> Result<bool, ApiError> {
    match headers
        .get(header::CONTENT_ENCODING)
        .map(|value| value.as_bytes())
    {
        None | Some(b"identity") => Ok(false),
        Some(b"gzip" | b"x-gzip") => Ok(true),
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

/// Reads up to the limit. What is left of a body that is refused is the server's business: it takes it off the connection,
/// because a client that is still sending when the connection closes never sees the answer.
async fn collect(body: &mut Body, limits: &BodyLimits) -> Result<Bytes, ApiError> {
    let declared = body.size_hint().exact();
    let mut whole = GrowingBody::beside(0, limits);
    if let Some(declared) = declared {
        whole.reserve(usize::try_from(declared).unwrap_or(usize::MAX))?;
    }
    let mut first: Option<Bytes> = None;
    let mut since_turn = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            ApiError::bad_request("parse_exception", format!("cannot read the body: {error}"))
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        // A client that sends faster than this reads would keep the thread for itself.
        since_turn += data.len().max(FRAME_COST_BYTES);
        if since_turn > INLINE_BYTES_MAX {
            since_turn = 0;
            tokio::task::yield_now().await;
        }
        // A body of one frame is passed on without a copy.
        match first.take() {
            None if whole.is_empty() => {
                whole.reserve(data.len())?;
                first = Some(data);
            }
            None => whole.push(&data)?,
            Some(earlier) => {
                whole.push(&earlier)?;
                whole.push(&data)?;
            }
        }
    }
    Ok(match first {
        Some(only) => hold(only, whole.into_memory()),
        None => whole.into_bytes(),
    })
}

fn inflate(compressed: &[u8], limits: &BodyLimits) -> Result<Bytes, ApiError> {
    // Both are there at once.
    let mut whole = GrowingBody::beside(compressed.len(), limits);
    // The last four bytes say how long the last part is, modulo 2^32; mostly it is the only one.
    if let Some(length) = compressed.last_chunk() {
        let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        whole.reserve(length.min(compressed.len().saturating_mul(INFLATION_MAX)))?;
    }
    let mut step = vec![0; STEP_BYTES.min(whole.capacity().max(COMPRESS_BYTES_MIN))];
    let mut decoder = MultiGzDecoder::new(compressed);
    loop {
        let read = decoder.read(&mut step).map_err(|error| {
            ApiError::bad_request(
                "parse_exception",
                format!("cannot inflate the body: {error}"),
            )
        })?;
        if read == 0 {
            return Ok(whole.into_bytes());
        }
        whole.push(&step[..read])?;
    }
}

/// Why what another server answers could not be read.
pub(crate) enum Unread {
    /// It is, or inflates to, more than the limit.
    TooLong,
    /// There is no room for it beside others.
    NoRoom(ApiError),
    /// It broke off, or is not packed as it says.
    Broken(io::Error),
}

/// Reads what another server answers, inflating it where it is gzip'd; blocks for as long as that comes.
///
/// # Errors
/// As told by [`Unread`].
pub(crate) fn read_answer(
    body: impl Read,
    is_packed: bool,
    limits: &BodyLimits,
) -> Result<Bytes, Unread> {
    let mut body: Box<dyn Read + '_> = match is_packed {
        true => Box::new(MultiGzDecoder::new(body)),
        false => Box::new(body),
    };
    let mut whole = GrowingBody::beside(0, limits);
    let mut step = vec![0; STEP_BYTES];
    loop {
        let read = match body.read(&mut step) {
            Ok(0) => return Ok(whole.into_bytes()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Unread::Broken(error)),
        };
        whole.push(&step[..read]).map_err(|error| {
            match error.status() == StatusCode::PAYLOAD_TOO_LARGE {
                true => Unread::TooLong,
                false => Unread::NoRoom(error),
            }
        })?;
    }
}

/// Bytes that hold memory of the account for as long as a slice of them is there.
pub(crate) fn hold(bytes: impl AsRef<[u8]> + Send + 'static, memory: Reservation) -> Bytes {
    struct Held<T> {
        bytes: T,
        _memory: Reservation,
    }
    impl<T: AsRef<[u8]>> AsRef<[u8]> for Held<T> {
        fn as_ref(&self) -> &[u8] {
            self.bytes.as_ref()
        }
    }
    if bytes.as_ref().is_empty() {
        return Bytes::new();
    }
    Bytes::from_owner(Held {
        bytes,
        _memory: memory,
    })
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

/// The gzip'd bytes, or the same bytes when that would not pay; many of them are packed beside the searches, which go before.
pub(crate) async fn compress(engine: &Engine, plain: Bytes) -> (Bytes, bool) {
    if plain.len() < COMPRESS_BYTES_MIN {
        return (plain, false);
    }
    if plain.len() <= INLINE_BYTES_MAX {
        return (deflate(&plain), true);
    }
    let (task, waited) = (plain.clone(), WhileWaited::begin());
    let packing = engine.run_beside(move || deflate(&task));
    match waited.token().scope(Box::pin(packing)).await {
        Ok(packed) => (packed, true),
        Err(_) => (plain, false),
    }
}

/// What is packed between two looks at whether somebody waits for it.
const PIECE_BYTES: usize = 1 << 20;

fn deflate(plain: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 3), Compression::fast());
    // What is left off is for nobody.
    for piece in plain.chunks(PIECE_BYTES).take_while(|_| !stopped()) {
        encoder.write_all(piece).expect("a vector takes every byte");
    }
    encoder.finish().expect("a vector takes every byte").into()
}

#[cfg(test)]
mod tests;

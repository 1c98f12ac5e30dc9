//! gRPC as far as one call needs it: a message in its frame, and an answer with its status behind it.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tonic::{Code, Status};

use super::answer::{AnswerBody, Refused};
use super::body::{Share, uncompressed};
use super::otlp;

/// The call that exporters of logs make.
pub(super) const EXPORT: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/// Whether the message is compressed, and its length.
const FRAME_HEAD_BYTES: usize = 5;

/// The one message of a body, uncompressed.
pub(super) fn message(
    body: &[u8],
    encoding: Option<&str>,
    bytes_max: usize,
    share: &mut Share,
) -> Result<Bytes, Refused> {
    let wrong = || Refused::Invalid("a call has one whole message".to_owned());
    let (head, message) = body
        .split_first_chunk::<FRAME_HEAD_BYTES>()
        .ok_or_else(wrong)?;
    let [compressed, length @ ..] = *head;
    if u32::from_be_bytes(length) as usize != message.len() {
        return Err(wrong());
    }
    let encoding = match compressed {
        0 => None,
        1 => Some(encoding.unwrap_or("identity")),
        _ => return Err(wrong()),
    };
    uncompressed(message.to_vec(), encoding, bytes_max, share)
}

/// The answer to a call whose events are delivered: an empty message.
pub(super) fn done() -> Response<AnswerBody> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let frame = Bytes::from_static(&[0; FRAME_HEAD_BYTES]);
    let body = Full::new(frame).with_trailers(std::future::ready(Some(Ok(trailers))));
    let mut response = Response::new(body.boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

/// The answer to a call whose events are not.
pub(super) fn refused(refused: &Refused) -> Response<AnswerBody> {
    let (code, details) = otlp::status(refused);
    let status = Status::with_details(Code::from_i32(code), refused.reason(), details.into());
    status.into_http::<Full<Bytes>>().map(BodyExt::boxed_unsync)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::super::body::Budget;
    use super::*;

    #[test]
    fn a_message_is_taken_out_of_its_frame() {
        let budget = Arc::new(Budget::new(100));
        let take = |body: &[u8]| message(body, Some("gzip"), 50, &mut Share::new(&budget));
        assert_eq!(take(b"\0\0\0\0\x02ab").unwrap(), &b"ab"[..]);
        assert_eq!(take(b"\0\0\0\0\0").unwrap(), &b""[..]);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"ab").unwrap();
        let gzip = gzip.finish().unwrap();
        let mut frame = vec![1, 0, 0, 0, u8::try_from(gzip.len()).unwrap()];
        frame.extend(gzip);
        assert_eq!(take(&frame).unwrap(), &b"ab"[..]);
        for wrong in [
            &b""[..],
            b"\0\0\0\0",
            b"\0\0\0\0\x03ab",
            b"\0\0\0\0\x01ab",
            b"\x02\0\0\0\x02ab",
        ] {
            assert!(take(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_full_collector_asks_to_come_again() {
        let response = refused(&Refused::Full);
        assert_eq!(response.headers()["grpc-status"], "8");
        let details = response.headers().contains_key("grpc-status-details-bin");
        assert!(details, "without them clients do not come again");
        let response = refused(&Refused::Invalid("no".to_owned()));
        assert_eq!(response.headers()["grpc-status"], "3");
        assert_eq!(response.headers()["grpc-message"], "no");
    }
}

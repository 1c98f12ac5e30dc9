//! What a request is answered, whatever it spoke: taken, wrong, or to be sent again.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};

/// The body of an answer.
pub(super) type AnswerBody = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// Why the events of a request were not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The request is wrong and always will be.
    Invalid(String),
    /// A body is larger than is taken.
    TooLarge { bytes_max: usize },
    /// It shows no credential that is let in.
    Unauthorized,
    /// It did not come in time.
    Late,
    /// A compression that is not known.
    Encoding(String),
    /// There is no room at present.
    Full,
    /// The events were not delivered in time, or the collector ends.
    NotDelivered,
}

/// Seconds after which a sender should come again.
pub(super) const RETRY_AFTER_S: u32 = 1;

impl Refused {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Refused::Invalid(_) => StatusCode::BAD_REQUEST,
            Refused::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Refused::Unauthorized => StatusCode::UNAUTHORIZED,
            Refused::Late => StatusCode::REQUEST_TIMEOUT,
            Refused::Encoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refused::Full => StatusCode::TOO_MANY_REQUESTS,
            Refused::NotDelivered => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Refused::Invalid(reason) => reason.clone(),
            Refused::TooLarge { bytes_max } => {
                format!("the body has more than {bytes_max} bytes, as it is or uncompressed")
            }
            Refused::Unauthorized => {
                "who sends has to say who it is, and is not known by what it said".to_owned()
            }
            Refused::Late => "the request did not come in time".to_owned(),
            Refused::Encoding(name) => {
                format!("content is encoded by [{name}]; gzip, deflate and zstd are known")
            }
            Refused::Full => "the collector has no room for more events at present".to_owned(),
            Refused::NotDelivered => "the events could not be delivered in time".to_owned(),
        }
    }

    /// Whether the same request may be taken later.
    pub(super) fn is_for_now(&self) -> bool {
        matches!(self, Refused::Full | Refused::NotDelivered)
    }
}

/// An answer with a body of some type.
pub(super) fn answer(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Bytes>,
) -> Response<AnswerBody> {
    let mut response = Response::new(Full::new(body.into()).boxed_unsync());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// An answer in JSON.
pub(super) fn json(status: StatusCode, body: &serde_json::Value) -> Response<AnswerBody> {
    answer(status, "application/json", body.to_string())
}

/// The same answer, asking to come again if that may help.
pub(super) fn for_now(
    mut response: Response<AnswerBody>,
    refused: &Refused,
) -> Response<AnswerBody> {
    if refused.is_for_now() {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_S));
    }
    response
}

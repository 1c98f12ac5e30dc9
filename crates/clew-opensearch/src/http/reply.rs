//! An endpoint's answer before it is filtered, compressed and framed.

use axum::http::StatusCode;
use bytes::Bytes;
use clew_log::Glsn;
use clew_platform::Reservation;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;

/// What an answer's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentType {
    Json,
    Text,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// 200 unless said otherwise.
    pub status: StatusCode,
    pub(crate) content_type: ContentType,
    /// The body as it is before it is filtered and compressed.
    pub body: Bytes,
    /// Whether `filter_path` picks parts of it: what is wrong with a request is told whole.
    pub(crate) filtered: bool,
    /// The log position of the request's last write.
    pub(crate) glsn: Option<Glsn>,
    pub(crate) allow: Option<String>,
    /// The path of what was made.
    pub(crate) location: Option<String>,
    /// Server-sent events instead of a body, for as long as there are any.
    pub(crate) events: Option<mpsc::Receiver<Bytes>>,
    /// What was reserved for the body, where that was done already.
    pub(crate) memory: Option<Reservation>,
    /// Headers that clients show to whoever runs them.
    pub(crate) warnings: Vec<&'static str>,
}

impl Reply {
    /// An answer of JSON.
    pub fn json(value: &Value) -> Self {
        Self::bytes(serde_json::to_vec(value).expect("a JSON value has text keys only"))
    }

    pub(crate) fn written(json: JsonWriter) -> Self {
        Self::bytes(json.into_bytes())
    }

    /// An answer of JSON that is written already.
    pub fn raw_json(json: Vec<u8>) -> Self {
        Self::bytes(json)
    }

    /// An answer of plain text.
    pub fn text(text: String) -> Self {
        Reply {
            content_type: ContentType::Text,
            ..Self::bytes(text.into_bytes())
        }
    }

    pub(crate) fn acknowledged() -> Self {
        Self::bytes(br#"{"acknowledged":true}"#.to_vec())
    }

    /// No body, only a status.
    pub fn empty(status: StatusCode) -> Self {
        Self::text(String::new()).with_status(status)
    }

    /// The same with another status than 200.
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Tells the client the log position of its last write.
    pub fn at(mut self, glsn: impl Into<Option<Glsn>>) -> Self {
        self.glsn = glsn.into();
        self
    }

    /// Tells where what was made is found.
    pub(crate) fn located(mut self, path: Option<String>) -> Self {
        self.location = path;
        self
    }

    /// Hands over what was reserved for the answer.
    pub(crate) fn over(mut self, memory: Reservation) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Warns of something more, if there is something to warn of.
    pub(crate) fn warned(mut self, warning: Option<&'static str>) -> Self {
        self.warnings.extend(warning);
        self
    }

    pub(crate) fn error(error: &ApiError) -> Self {
        Reply {
            status: error.status(),
            allow: error.allow().map(String::from),
            filtered: false,
            ..Self::bytes(error.body())
        }
    }

    /// What methods a path takes, as the refusal of another one tells.
    pub(crate) fn options(refusal: &ApiError) -> Self {
        Reply {
            allow: refusal.allow().map(String::from),
            ..Self::empty(StatusCode::OK)
        }
    }

    /// Server-sent events as they come.
    pub(crate) fn events(events: mpsc::Receiver<Bytes>) -> Self {
        Reply {
            events: Some(events),
            ..Self::text(String::new())
        }
    }

    fn bytes(body: Vec<u8>) -> Self {
        Reply {
            status: StatusCode::OK,
            content_type: ContentType::Json,
            body: body.into(),
            filtered: true,
            glsn: None,
            allow: None,
            location: None,
            events: None,
            memory: None,
            warnings: Vec::new(),
        }
    }
}

//! Errors in the shape that OpenSearch's clients read: a type name, a reason, root causes, a status.
//! Which engine error becomes which of them is said in `error_table`.

mod phase;

use axum::http::StatusCode;
use serde_json::Value;

use crate::http::json_fault::behind_token;
use crate::http::json_writer::JsonWriter;
use crate::http::place::{Places, Spot};

/// Errors that Java's own readers make without a word, and that are told so.
const WITHOUT_REASON: [&str; 2] = ["e_o_f_exception", "no_viable_alt_exception"];
/// Errors of readers of bodies, which are the root of what is told around them.
const OF_READERS: [&str; 5] = [
    "named_object_not_found_exception",
    "parse_exception",
    "parsing_exception",
    "script_exception",
    "x_content_parse_exception",
];
/// More buckets than `search.max_buckets` allows.
pub(crate) const TOO_MANY_BUCKETS: &str = "too_many_buckets_exception";

/// A query without a name; its place is told behind the reason.
pub(crate) const EMPTY_CLAUSE: &str = "query malformed, empty clause";

/// How errors begin that are found when all of an object is read; they have no place.
pub(crate) const NOT_BUILT: &str = "Failed to build [";

/// How errors begin of values that have no text; the place of one is told behind the reason.
pub(crate) const NO_TEXT: &str = "Can't get text on a ";

/// One cause in a chain: `{"type":..,"reason":..,<extra>,"caused_by":{..}}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cause {
    kind: &'static str,
    reason: String,
    extra: Vec<(&'static str, Value)>,
    /// Where in the request's body it is, until that is told.
    spot: Option<Spot>,
    caused_by: Option<Box<Cause>>,
}

impl Cause {
    /// A cause by the name of its type, and why.
    pub fn new(kind: &'static str, reason: impl Into<String>) -> Self {
        Cause {
            kind,
            reason: reason.into(),
            extra: Vec::new(),
            spot: None,
            caused_by: None,
        }
    }

    pub(crate) fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.extra.push((key, value.into()));
        self
    }

    /// Says where in the request's body it is; [`ApiError::placed`] tells that.
    pub(crate) fn at(mut self, spot: Option<Spot>) -> Self {
        self.spot = spot;
        self
    }

    /// Tells the places of itself and of what caused it, each as errors of its type do.
    fn placed(mut self, places: &mut Places<'_>) -> Self {
        let place = self.spot.take().and_then(|spot| places.find(spot));
        if let Some((line, column)) = place {
            let kind = self.kind;
            match kind {
                "parsing_exception" => self = self.with("line", line).with("col", column),
                "x_content_parse_exception" if self.reason.starts_with(NOT_BUILT) => {}
                "x_content_parse_exception" | "named_object_not_found_exception" => {
                    self.reason = format!("[{line}:{column}] {}", self.reason);
                }
                "json_parse_exception" => {
                    self.reason.push_str(&behind_token(line, column));
                }
                "illegal_state_exception" if self.reason.starts_with(NO_TEXT) => {
                    self.reason.push_str(&format!(" at {line}:{column}"));
                }
                _ if self.reason == EMPTY_CLAUSE => {
                    self.reason
                        .push_str(&format!(" found at [{line}:{column}]"));
                }
                _ => {}
            }
        }
        if let Some(within) = self.caused_by.take() {
            let is_handed_on = within.reason == self.reason;
            let within = within.placed(places);
            if is_handed_on {
                self.reason.clone_from(&within.reason);
            }
            self.caused_by = Some(Box::new(within));
        }
        self
    }

    pub(crate) fn caused_by(mut self, cause: Cause) -> Self {
        self.caused_by = Some(Box::new(cause));
        self
    }

    fn value(&self) -> Value {
        let mut json = JsonWriter::with_capacity(256);
        json.begin_object();
        self.write_members(&mut json, Chain::Whole);
        json.end_object();
        serde_json::from_slice(&json.into_bytes()).unwrap_or(Value::Null)
    }

    /// Writes the members of the cause's object, without the braces.
    fn write_members(&self, json: &mut JsonWriter, chain: Chain) {
        json.string_field("type", self.kind);
        if self.reason.is_empty() && WITHOUT_REASON.contains(&self.kind) {
            json.key("reason").null();
        } else {
            json.string_field("reason", &self.reason);
        }
        for (key, value) in &self.extra {
            json.key(key).value(value);
        }
        if let (Chain::Whole, Some(cause)) = (chain, &self.caused_by) {
            json.key("caused_by").begin_object();
            cause.write_members(json, chain);
            json.end_object();
        }
    }
}

#[derive(Clone, Copy)]
enum Chain {
    Whole,
    TopOnly,
}

/// A request's failure.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    /// Boxed, because every result of this crate has room for an error.
    shape: Box<Shape>,
    /// Whether OpenSearch finds it only when the shards have the request.
    is_of_shards: bool,
}

/// What is told as the root of an error.
#[derive(Clone, Debug)]
enum Root {
    /// The error itself.
    Itself,
    /// A cause of its own.
    Other(Cause),
    /// None: OpenSearch takes the roots of a search from the shards that failed, and none has.
    Nothing,
}

#[derive(Clone, Debug)]
enum Shape {
    /// `{"error":{...},"status":N}`.
    Structured { cause: Cause, root: Root },
    /// `{"error":"text","status":N}`, which the routing layer of OpenSearch uses.
    Text { text: String, allow: Option<String> },
    /// `{"error":"text"}`.
    BareText(String),
}

impl ApiError {
    /// A failure with one cause.
    pub fn new(status: StatusCode, cause: Cause) -> Self {
        let root = Root::Itself;
        Self::shaped(status, Shape::Structured { cause, root })
    }

    /// A 400 of the commonest type.
    pub fn illegal_argument(reason: impl Into<String>) -> Self {
        Self::bad_request("illegal_argument_exception", reason)
    }

    /// A 400 of this type.
    pub fn bad_request(kind: &'static str, reason: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Cause::new(kind, reason))
    }

    /// An argument that is illegal as its text is no number.
    pub(crate) fn no_number(reason: impl Into<String>, text: &str) -> Self {
        let within = format!("For input string: \"{text}\"");
        let cause = Cause::new("illegal_argument_exception", reason)
            .caused_by(Cause::new("number_format_exception", within));
        Self::new(StatusCode::BAD_REQUEST, cause)
    }

    /// A number of copies of a shard to wait for that is none.
    pub(crate) fn no_copies(text: &str) -> Self {
        Self::no_number(format!("cannot parse ActiveShardCount[{text}]"), text)
    }

    /// What a reader that goes through a body by hand refuses of a value; [`Self::placed`] tells the place.
    pub(crate) fn parsing_at(spot: Spot, reason: impl Into<String>) -> Self {
        let cause = Cause::new("parsing_exception", reason).at(Some(spot));
        Self::new(StatusCode::BAD_REQUEST, cause)
    }

    /// A member that an object of a request does not have.
    pub(crate) fn unknown_field(object: &str, field: &str, value: &Value) -> Self {
        let reason = format!("[{object}] unknown field [{field}]");
        let cause = Cause::new("x_content_parse_exception", reason);
        Self::new(
            StatusCode::BAD_REQUEST,
            cause.at(Some(Spot::name_of(value))),
        )
    }

    /// What went wrong, where it was the server's fault and not the request's.
    pub(crate) fn server_fault(&self) -> Option<&str> {
        match &*self.shape {
            Shape::Structured { cause, .. } if self.status.is_server_error() => Some(&cause.reason),
            _ => None,
        }
    }

    /// Names another root cause than the cause itself.
    pub(crate) fn with_root(mut self, cause: Cause) -> Self {
        if let Shape::Structured { root, .. } = &mut *self.shape {
            *root = Root::Other(cause);
        }
        self
    }

    /// A request that lacks something, in the words of OpenSearch's request validation.
    pub(crate) fn validation(failure: &str) -> Self {
        Self::bad_request(
            "action_request_validation_exception",
            format!("Validation Failed: 1: {failure};"),
        )
    }

    /// Several things that a request lacks.
    pub(crate) fn validations(failures: &[&str]) -> Self {
        let mut reason = "Validation Failed: ".to_string();
        for (number, failure) in (1..).zip(failures) {
            reason.push_str(&format!("{number}: {failure};"));
        }
        Self::bad_request("action_request_validation_exception", reason)
    }

    pub(crate) fn no_handler(uri: &str, method: &str) -> Self {
        let text = format!("no handler found for uri [{uri}] and method [{method}]");
        Self::shaped(StatusCode::BAD_REQUEST, Shape::BareText(text))
    }

    pub(crate) fn wrong_method(uri: &str, method: &str, allowed: &[&str]) -> Self {
        let allow = allowed.join(", ");
        let text = format!(
            "Incorrect HTTP method for uri [{uri}] and method [{method}], allowed: [{allow}]"
        );
        Self::shaped(
            StatusCode::METHOD_NOT_ALLOWED,
            Shape::Text {
                text,
                allow: Some(allow),
            },
        )
    }

    pub(crate) fn text(status: StatusCode, text: String) -> Self {
        Self::shaped(status, Shape::Text { text, allow: None })
    }

    fn shaped(status: StatusCode, shape: Shape) -> Self {
        ApiError {
            status,
            shape: Box::new(shape),
            is_of_shards: false,
        }
    }

    /// A thread of ours panicked; the panic itself is in the log.
    pub fn internal(reason: impl Into<String>) -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Cause::new("exception", reason),
        )
    }

    /// Says where in the request's body it is, unless that is said already.
    pub(crate) fn or_at(self, spot: Spot) -> Self {
        self.map_cause(|cause| {
            let spot = cause.spot.or(Some(spot));
            cause.at(spot)
        })
    }

    /// The same of a request for one index, where it is told otherwise that nothing has the name.
    pub(crate) fn of_one_index(self) -> Self {
        self.map_cause(|mut cause| {
            let kinds = cause.extra.iter_mut();
            for (_, kind) in kinds.filter(|(key, _)| *key == "resource.type") {
                *kind = "index_expression".into();
            }
            cause
        })
    }

    /// Says which index the error is about.
    pub(crate) fn in_index(self, index: &str, uuid: &str) -> Self {
        self.map_cause(|cause| cause.with("index", index).with("index_uuid", uuid))
    }

    /// Says which shard of which index the error is about.
    pub(crate) fn in_shard(self, index: &str, uuid: &str, shard: u32) -> Self {
        self.map_cause(|cause| {
            cause
                .with("index", index)
                .with("shard", shard.to_string())
                .with("index_uuid", uuid)
        })
    }

    /// The same with line and column of what is wrong, where the error names values of this body, which was read from this text.
    pub(crate) fn placed(self, body: &Value, text: &[u8]) -> Self {
        let mut places = Places::new(body, text);
        let shape = match *self.shape {
            Shape::Structured { cause, root } => Shape::Structured {
                cause: cause.placed(&mut places),
                root: match root {
                    Root::Other(root) => Root::Other(root.placed(&mut places)),
                    root @ (Root::Itself | Root::Nothing) => root,
                },
            },
            text @ (Shape::Text { .. } | Shape::BareText(_)) => text,
        };
        ApiError {
            shape: Box::new(shape),
            ..self
        }
    }

    /// Says where in the request's body the error is.
    pub(crate) fn at_place(self, line: usize, column: usize) -> Self {
        self.map_cause(|cause| cause.with("line", line).with("col", column))
    }

    /// The error in one line, by the name of its class, as some answers carry it.
    pub fn in_words(&self) -> String {
        match &*self.shape {
            Shape::Structured { cause, .. } => format!("{}[{}]", class(cause.kind), cause.reason),
            Shape::Text { text, .. } | Shape::BareText(text) => text.clone(),
        }
    }

    /// Whether the error has this type.
    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        matches!(&*self.shape, Shape::Structured { cause, .. } if cause.kind == kind)
    }

    /// What is wrong as the failure of a part of a request: a cause with all of its own, no root causes.
    pub(crate) fn cause(&self) -> Value {
        match &*self.shape {
            Shape::Structured { cause, .. } => cause.value(),
            Shape::Text { text, .. } | Shape::BareText(text) => Value::from(text.as_str()),
        }
    }

    /// What is wrong, without type and status.
    pub fn reason(&self) -> String {
        match &*self.shape {
            Shape::Structured { cause, .. } => cause.reason.clone(),
            Shape::Text { text, .. } | Shape::BareText(text) => text.clone(),
        }
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The value of the `Allow` header.
    pub(crate) fn allow(&self) -> Option<&str> {
        match &*self.shape {
            Shape::Text { allow, .. } => allow.as_deref(),
            Shape::Structured { .. } | Shape::BareText(_) => None,
        }
    }

    /// The whole body of an answer.
    pub(crate) fn body(&self) -> Vec<u8> {
        let mut json = JsonWriter::with_capacity(512);
        json.begin_object();
        self.write_error(&mut json);
        if !matches!(*self.shape, Shape::BareText(_)) {
            json.unsigned_field("status", u64::from(self.status.as_u16()));
        }
        json.end_object();
        json.into_bytes()
    }

    /// Writes `"error": ...` with root causes, as in a whole answer or an `_msearch` item.
    pub(crate) fn write_error(&self, json: &mut JsonWriter) {
        json.key("error");
        match &*self.shape {
            Shape::Structured { cause, root } => {
                json.begin_object().key("root_cause").begin_array();
                let root = match root {
                    Root::Itself => Some(cause),
                    Root::Other(root) => Some(root),
                    Root::Nothing => None,
                };
                if let Some(root) = root {
                    json.begin_object();
                    root.write_members(json, Chain::TopOnly);
                    json.end_object();
                }
                json.end_array();
                cause.write_members(json, Chain::Whole);
                json.end_object();
            }
            Shape::Text { text, .. } | Shape::BareText(text) => {
                json.string(text);
            }
        }
    }

    /// Writes `"error": ...` without root causes, as in an item of a bulk.
    pub(crate) fn write_item_error(&self, json: &mut JsonWriter) {
        json.key("error");
        match &*self.shape {
            Shape::Structured { cause, .. } => {
                json.begin_object();
                cause.write_members(json, Chain::Whole);
                json.end_object();
            }
            Shape::Text { text, .. } | Shape::BareText(text) => {
                json.string(text);
            }
        }
    }

    /// The error as it is told of a member of an object that is read by a table of its fields, as
    /// [`DslError::in_field`](crate::dsl::DslError) does for those of the query language.
    pub(crate) fn in_field(self, object: &str, field: &str) -> Self {
        let shape = match *self.shape {
            Shape::Structured { cause, root } => {
                let is_root = OF_READERS.contains(&cause.kind);
                let root = match root {
                    Root::Itself if is_root => Root::Other(cause.clone()),
                    root => root,
                };
                let reason = format!("[{object}] failed to parse field [{field}]");
                let spot = cause.spot.map(Spot::past_name);
                let outer = Cause::new("x_content_parse_exception", reason).at(spot);
                Shape::Structured {
                    cause: outer.caused_by(cause),
                    root,
                }
            }
            text @ (Shape::Text { .. } | Shape::BareText(_)) => text,
        };
        Self::shaped(self.status, shape)
    }

    /// The same with its cause changed, or told as the cause of another one.
    pub(crate) fn map_cause(self, change: impl FnOnce(Cause) -> Cause) -> Self {
        let shape = match *self.shape {
            Shape::Structured { cause, root } => Shape::Structured {
                cause: change(cause),
                root,
            },
            text @ (Shape::Text { .. } | Shape::BareText(_)) => text,
        };
        ApiError {
            shape: Box::new(shape),
            ..self
        }
    }
}

/// `parsing_exception` as `ParsingException`.
fn class(kind: &str) -> String {
    kind.split('_')
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests;

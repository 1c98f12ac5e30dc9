//! Documents of another cluster: `remote` in the `source` of a `_reindex`. What the request says of it ([`Remote`]), the scroll that
//! reads it ([`scroll`]), and what it answers ([`answer`]).
//!
//! Clusters are asked that the node's configuration allows, and none besides. What they are asked is not looked into here: queries
//! and orders are passed on as they are.

mod answer;
mod place;
mod scroll;

use std::sync::Arc;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use self::place::ClusterPlace;
pub(super) use self::scroll::Scroll;
use crate::http::error::ApiError;
use crate::http::setting_values::parse_time;
use crate::state::call::Call;
use crate::state::remote_clusters::{RemoteClient, RemotePatience};

/// What a request may say of another cluster.
const KNOWN: [&str; 6] = [
    "host",
    "username",
    "password",
    "headers",
    "socket_timeout",
    "connect_timeout",
];
/// How long another cluster may take unless the request says otherwise, and at most.
const PATIENCE: Duration = Duration::from_secs(30);
const PATIENCE_MAX: Duration = Duration::from_secs(3600);
/// How long it keeps a scroll between two pages unless the request says otherwise.
const KEPT: Duration = Duration::from_secs(300);

/// Another cluster, and which of its documents are read.
#[derive(Debug)]
pub(super) struct Remote {
    place: ClusterPlace,
    username: Option<String>,
    has_password: bool,
    /// With who asks; that is not shown.
    headers: HeaderMap,
    patience: RemotePatience,
    /// What the search has as its body.
    search: Value,
    indices: String,
    /// How long the scroll is kept between two pages.
    kept: Duration,
    /// Who asks, once the place is known to be allowed.
    client: Option<Arc<dyn RemoteClient>>,
}

impl Remote {
    /// Reads `remote`, and what of the source is said to the other cluster.
    ///
    /// # Errors
    /// What is missing, of another sort, or unknown.
    pub(super) fn read(remote: &Value, source: &Map<String, Value>) -> Result<Self, ApiError> {
        let Value::Object(members) = remote else {
            return Err(other_sort("remote", "an object", remote));
        };
        let username = text(members, "username")?;
        let password = text(members, "password")?;
        let host = text(members, "host")?.ok_or_else(|| {
            let reason = "[host] must be specified to reindex from a remote cluster";
            ApiError::bad_request("null_pointer_exception", reason)
        })?;
        let place = ClusterPlace::of(host).ok_or_else(|| {
            ApiError::illegal_argument(format!(
                "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [{host}]"
            ))
        })?;
        let mut headers = headers(members)?;
        if let Some(username) = username {
            headers.insert(
                AUTHORIZATION,
                basic(username, password.unwrap_or_default())?,
            );
        }
        let patience = RemotePatience {
            silence: patience(members, "socket_timeout")?,
            connect: patience(members, "connect_timeout")?,
        };
        let unknown = members.keys().map(String::as_str);
        let unknown: Vec<&str> = unknown.filter(|name| !KNOWN.contains(name)).collect();
        if !unknown.is_empty() {
            let unknown = unknown.join(",");
            return Err(ApiError::illegal_argument(format!(
                "Unsupported fields in [remote]: [{unknown}]"
            )));
        }
        Ok(Remote {
            place,
            username: username.map(String::from),
            has_password: password.is_some(),
            headers,
            patience,
            search: search(source)?,
            indices: String::new(),
            kept: KEPT,
            client: None,
        })
    }

    /// Of these indexes there, with a scroll that is kept as long as the request says, if the place may be asked.
    ///
    /// # Errors
    /// The place is not allowed, or a time is none.
    pub(super) fn allowed(mut self, call: &Call, indices: &str) -> Result<Self, ApiError> {
        let clusters = &call.api.options.remote_clusters;
        self.client = Some(clusters.client_for(&self.place.host, self.place.port)?);
        self.indices = indices.to_string();
        if let Some(kept) = call.params.time("scroll")? {
            self.kept = kept;
        }
        Ok(self)
    }

    /// What is said of it where the job is shown; without its password.
    pub(super) fn described(&self) -> String {
        let ClusterPlace {
            scheme,
            host,
            port,
            prefix,
        } = &self.place;
        let mut shown = match *scheme {
            "http" => String::new(),
            other => format!("scheme={other} "),
        };
        shown.push_str(&format!(
            "host={host} port={port} query={}",
            self.search["query"]
        ));
        if !prefix.is_empty() {
            shown.push_str(&format!(" pathPrefix={prefix}"));
        }
        if let Some(username) = &self.username {
            shown.push_str(&format!(" username={username}"));
        }
        if self.has_password {
            shown.push_str(" password=<<>>");
        }
        shown
    }
}

/// The search that the other cluster is asked for: its query, what is wanted of a document, and the order.
fn search(source: &Map<String, Value>) -> Result<Value, ApiError> {
    let given = |name: &str| source.get(name).filter(|value| !value.is_null()).cloned();
    let query = given("query").unwrap_or_else(|| json!({"match_all": {}}));
    if !query.is_object() {
        return Err(other_sort("query", "an object", &query));
    }
    Ok(json!({
        "query": query,
        "_source": given("_source").unwrap_or(Value::Bool(true)),
        "sort": given("sort").unwrap_or_else(|| json!(["_doc"])),
    }))
}

fn other_sort(name: &str, wanted: &str, value: &Value) -> ApiError {
    ApiError::illegal_argument(format!(
        "Expected [{name}] to be {wanted} but was [{value}]"
    ))
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, ApiError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(other_sort(name, "a string", other)),
    }
}

fn patience(members: &Map<String, Value>, name: &str) -> Result<Duration, ApiError> {
    let Some(text) = text(members, name)? else {
        return Ok(PATIENCE);
    };
    // As in OpenSearch's client there is no end at -1 and 0; here there is one all the same.
    let given = parse_time(name, text)?.filter(|time| !time.is_zero());
    Ok(given.unwrap_or(PATIENCE_MAX).min(PATIENCE_MAX))
}

/// The request's own headers.
fn headers(members: &Map<String, Value>) -> Result<HeaderMap, ApiError> {
    let wanted = "an object containing strings";
    let mut headers = HeaderMap::new();
    let given = match members.get("headers") {
        None | Some(Value::Null) => return Ok(headers),
        Some(Value::Object(given)) => given,
        Some(other) => return Err(other_sort("headers", wanted, other)),
    };
    for (name, value) in given {
        let Value::String(text) = value else {
            return Err(ApiError::illegal_argument(format!(
                "Expected [headers] to be {wanted} but has [{name}={value}]"
            )));
        };
        let read = HeaderName::from_bytes(name.as_bytes()).ok();
        let Some((header, mut value)) = read.zip(HeaderValue::from_str(text).ok()) else {
            return Err(ApiError::illegal_argument(format!(
                "[headers] has [{name}], which is no header"
            )));
        };
        // How long a body is, and who closes the connection, is not for the request to say.
        if [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&header) {
            return Err(ApiError::illegal_argument(format!(
                "[headers] may not have [{name}]"
            )));
        }
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn basic(username: &str, password: &str) -> Result<HeaderValue, ApiError> {
    let login = STANDARD.encode(format!("{username}:{password}"));
    let value = HeaderValue::from_str(&format!("Basic {login}"));
    let mut value = value.map_err(|error| ApiError::illegal_argument(error.to_string()))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests;

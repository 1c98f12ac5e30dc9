//! Other clusters, as far as requests have the server ask them: which of them may be asked, and how a client of HTTP is spoken to.
//! The client itself is of whoever puts the server together. Unless a place is allowed by name no request leaves the machine.

use std::fmt::Debug;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Request, Response};
use bytes::Bytes;
use clew_schema::glob::matches as glob;

use crate::http::error::ApiError;

/// The setting that allows places.
const ALLOWLIST: &str = "reindex.remote.allowlist";

/// The body of an answer, while it comes.
pub type RemoteBody = Box<dyn Read + Send>;

/// A client of HTTP.
pub trait RemoteClient: Debug + Send + Sync {
    /// Sends a request and waits for the head of its answer, whatever its status is; blocks. It follows no redirection, as that
    /// might lead to a place that is not allowed.
    ///
    /// # Errors
    /// That no answer came.
    fn send(
        &self,
        request: Request<Bytes>,
        patience: RemotePatience,
    ) -> Result<Response<RemoteBody>, RemoteFailure>;
}

/// For how long another cluster is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemotePatience {
    /// Until there is a connection.
    pub connect: Duration,
    /// While nothing is sent or comes.
    pub silence: Duration,
}

/// Why no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteFailure {
    /// There is no host of the name.
    UnknownHost,
    /// Nobody listens there.
    Refused,
    /// It took longer than it may.
    TimedOut,
    /// Anything else, in words.
    Other(String),
}

/// Which clusters may be asked, and by what.
#[derive(Clone, Debug, Default)]
pub struct RemoteClusters {
    /// Patterns of `host:port`.
    allowed: Vec<String>,
    client: Option<Arc<dyn RemoteClient>>,
}

impl RemoteClusters {
    /// Allows the places whose `host:port` one of the patterns matches, in which `*` stands for any text.
    ///
    /// # Errors
    /// One that matches every place: whoever may send requests could have the server ask whatever it reaches.
    pub fn new(allowed: Vec<String>, client: Arc<dyn RemoteClient>) -> Result<Self, String> {
        let is_all = |pattern: &String| !pattern.is_empty() && pattern.chars().all(|c| c == '*');
        if allowed.iter().any(is_all) {
            return Err(format!(
                "Refusing to start because allowlist [{}] accepts all addresses. This would allow users to \
                 reindex-from-remote any URL they like effectively having the server make HTTP requests for them.",
                allowed.join(", ")
            ));
        }
        Ok(RemoteClusters {
            allowed,
            client: Some(client),
        })
    }

    /// What a place is asked by.
    ///
    /// # Errors
    /// The place is not allowed.
    pub(crate) fn client_for(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Arc<dyn RemoteClient>, ApiError> {
        let place = format!("{host}:{port}");
        let is_allowed = self.allowed.iter().any(|pattern| glob(pattern, &place));
        match &self.client {
            Some(client) if is_allowed => Ok(client.clone()),
            _ => Err(ApiError::illegal_argument(format!(
                "[{place}] not allowlisted in {ALLOWLIST}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Nobody;

    impl RemoteClient for Nobody {
        fn send(
            &self,
            _request: Request<Bytes>,
            _patience: RemotePatience,
        ) -> Result<Response<RemoteBody>, RemoteFailure> {
            Err(RemoteFailure::UnknownHost)
        }
    }

    #[test]
    fn a_place_is_asked_that_is_allowed_and_none_besides() {
        let allowed = |patterns: &[&str]| {
            let patterns = patterns.iter().map(|&pattern| pattern.to_string());
            RemoteClusters::new(patterns.collect(), Arc::new(Nobody))
        };
        let some = allowed(&["old.example:9200", "10.0.*:9200", "[::1]:*"]).unwrap();
        for (host, port, is_allowed) in [
            ("old.example", 9200, true),
            ("old.example", 9201, false),
            ("10.0.7.9", 9200, true),
            ("10.1.0.9", 9200, false),
            ("[::1]", 1, true),
            ("localhost", 9200, false),
        ] {
            let client = some.client_for(host, port);
            assert_eq!(client.is_ok(), is_allowed, "{host}:{port}");
        }
        let refused = RemoteClusters::default().client_for("a", 9).unwrap_err();
        let told = "[a:9] not allowlisted in reindex.remote.allowlist";
        assert_eq!(refused.reason(), told);
        assert!(allowed(&["a:9", "**"]).is_err());
    }
}

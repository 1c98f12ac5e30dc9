//! Other clusters that documents are copied from (`reindex.remote`): which of them the configuration allows, and the client of HTTP
//! that asks them.

use std::io;
use std::sync::Arc;

use anyhow::anyhow;
use axum::http::{Request, Response};
use bytes::Bytes;
use clew_collect::{ClientTls, secure_agent};
use clew_opensearch::{RemoteBody, RemoteClient, RemoteClusters, RemoteFailure, RemotePatience};
use serde::{Deserialize, Deserializer, Serialize};
use ureq::{AsSendBody, Body};

use crate::http::listed;
use crate::tls_files::TlsFiles;

/// How the standard library's errors of names begin that mean no host.
const NO_SUCH_HOST: &str = "failed to lookup address information";

/// Copying of documents.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReindexConfig {
    /// From other clusters.
    pub(crate) remote: ReindexRemoteConfig,
}

/// Copying of documents from other clusters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReindexRemoteConfig {
    /// Those that may be asked, as `host:port`, in which `*` stands for any text; none if there are none.
    #[serde(deserialize_with = "places")]
    pub(crate) allowlist: Vec<String>,
    /// The same by its older name, which holds where the other one is empty.
    #[serde(deserialize_with = "places")]
    pub(crate) whitelist: Vec<String>,
    /// Whom of those to trust that are spoken to over TLS.
    pub(crate) tls: TlsFiles,
}

fn places<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    listed(deserializer, |_| false)
}

impl ReindexRemoteConfig {
    /// The clusters that may be asked.
    ///
    /// # Errors
    /// What would allow all, and files that are wrong, by their keys.
    pub(crate) fn clusters(&self) -> anyhow::Result<RemoteClusters> {
        let (key, allowed) = match self.allowlist.is_empty() {
            true => ("whitelist", &self.whitelist),
            false => ("allowlist", &self.allowlist),
        };
        self.tls.check("reindex.remote.tls")?;
        if allowed.is_empty() {
            return Ok(RemoteClusters::default());
        }
        let tls = match self.tls.read("reindex.remote.tls") {
            Ok(tls) => Some(tls),
            Err(error) if self.tls != TlsFiles::default() => return Err(error),
            // A machine that trusts nobody may still ask without TLS.
            Err(error) => {
                let error = format!("{error:#}");
                tracing::warn!(error, "other clusters cannot be asked over TLS");
                None
            }
        };
        let client = Arc::new(Client::new(tls.as_ref()));
        let clusters = RemoteClusters::new(allowed.clone(), client);
        clusters.map_err(|reason| anyhow!("[reindex.remote.{key}] is too wide: {reason}"))
    }
}

/// Asks other clusters.
#[derive(Debug)]
struct Client(ureq::Agent);

impl Client {
    fn new(tls: Option<&ClientTls>) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            // What is allowed is the place that is connected to.
            .proxy(None)
            .user_agent("clew")
            .build();
        Client(secure_agent(config, tls))
    }

    fn run(
        &self,
        request: Request<impl AsSendBody>,
        patience: RemotePatience,
    ) -> Result<Response<Body>, ureq::Error> {
        let RemotePatience { connect, silence } = patience;
        let request = self.0.configure_request(request);
        let request = request
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence))
            .build();
        self.0.run(request)
    }
}

impl RemoteClient for Client {
    fn send(
        &self,
        request: Request<Bytes>,
        patience: RemotePatience,
    ) -> Result<Response<RemoteBody>, RemoteFailure> {
        let (head, body) = request.into_parts();
        let answer = match body.is_empty() {
            true => self.run(Request::from_parts(head, ()), patience),
            false => self.run(Request::from_parts(head, &body[..]), patience),
        };
        let (head, body) = answer.map_err(|error| failure(&error))?.into_parts();
        let body: RemoteBody = Box::new(body.into_reader());
        Ok(Response::from_parts(head, body))
    }
}

fn failure(error: &ureq::Error) -> RemoteFailure {
    match error {
        ureq::Error::HostNotFound => RemoteFailure::UnknownHost,
        ureq::Error::Timeout(_) => RemoteFailure::TimedOut,
        ureq::Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => RemoteFailure::Refused,
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => RemoteFailure::TimedOut,
            // The standard library has no kind for it.
            _ if error.to_string().starts_with(NO_SUCH_HOST) => RemoteFailure::UnknownHost,
            _ => RemoteFailure::Other(error.to_string()),
        },
        other => RemoteFailure::Other(other.to_string()),
    }
}

#[cfg(test)]
mod tests;

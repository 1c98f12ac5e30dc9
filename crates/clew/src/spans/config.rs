//! How spans of requests are sent, and what of that OpenTelemetry's own variables say.

use std::path::PathBuf;

use anyhow::bail;
use axum::http::Uri;
use serde::{Deserialize, Serialize, Serializer};

use crate::tls_files::TlsFiles;

/// Spans of requests. Without an endpoint nothing is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TracingConfig {
    /// Where they go.
    pub(crate) otlp: OtlpConfig,
    /// Share of the traces that are recorded among those that begin here, 0 to 1. Of a client's trace the client says it.
    pub(crate) sample_ratio: f64,
    /// What this server is called in them.
    pub(crate) service_name: String,
    /// Spans that may wait to be sent; more are dropped and counted.
    pub(crate) queue_spans_max: usize,
}

/// The receiver of OpenTelemetry's protocol.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OtlpConfig {
    /// Its address, such as `http://127.0.0.1:4317`; empty means none.
    #[serde(serialize_with = "without_login")]
    pub(crate) endpoint: String,
    /// How it is spoken to.
    pub(crate) protocol: OtlpProtocol,
    /// Whom of those to trust whose address begins with `https`.
    pub(crate) tls: TlsFiles,
}

/// An address as it is shown, without the login that may be in it.
fn without_login<S: Serializer>(address: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = address.split_once("://").and_then(|(scheme, rest)| {
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (_, place) = authority.rsplit_once('@')?;
        Some(format!("{scheme}://***@{place}{path}"))
    });
    serializer.serialize_str(shown.as_deref().unwrap_or(address))
}

impl OtlpConfig {
    /// Whether the receiver is spoken to over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.endpoint.starts_with("https://")
    }
}

/// How a receiver is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OtlpProtocol {
    /// gRPC, on port 4317 as a rule.
    #[default]
    #[serde(rename = "grpc")]
    Grpc,
    /// Messages over HTTP, on port 4318 as a rule, at `/v1/traces` below the address.
    #[serde(rename = "http/protobuf")]
    Http,
}

impl Default for TracingConfig {
    fn default() -> Self {
        TracingConfig {
            otlp: OtlpConfig::default(),
            sample_ratio: 1.0,
            service_name: "clew".to_string(),
            queue_spans_max: 2_048,
        }
    }
}

impl TracingConfig {
    /// Takes what OpenTelemetry's variables say for what nothing else says.
    ///
    /// # Errors
    /// Values that cannot be.
    pub(crate) fn with_variables(
        mut self,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Self> {
        let usual = TracingConfig::default();
        if self.otlp == OtlpConfig::default()
            && let Some(endpoint) = variable("OTEL_EXPORTER_OTLP_ENDPOINT")
        {
            self.otlp.endpoint = endpoint;
            // Files for secured receivers are often named for all programs of a machine.
            let is_secure = self.otlp.is_secure();
            let file = |name| variable(name).map(PathBuf::from).filter(|_| is_secure);
            self.otlp.tls = TlsFiles {
                ca: file("OTEL_EXPORTER_OTLP_CERTIFICATE"),
                certificate: file("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"),
                key: file("OTEL_EXPORTER_OTLP_CLIENT_KEY"),
            };
            self.otlp.protocol = match variable("OTEL_EXPORTER_OTLP_PROTOCOL").as_deref() {
                None | Some("" | "grpc") => OtlpProtocol::Grpc,
                Some("http/protobuf") => OtlpProtocol::Http,
                Some(other) => bail!(
                    "OTEL_EXPORTER_OTLP_PROTOCOL is [{other}], must be one of [grpc, http/protobuf]"
                ),
            };
        }
        if self.sample_ratio == usual.sample_ratio
            && let Some(text) = variable("OTEL_TRACES_SAMPLER_ARG")
        {
            let ratio = text.parse();
            self.sample_ratio = ratio.map_err(|_| {
                anyhow::anyhow!("OTEL_TRACES_SAMPLER_ARG is [{text}], must be a number")
            })?;
        }
        if self.service_name == usual.service_name
            && let Some(name) = variable("OTEL_SERVICE_NAME")
        {
            self.service_name = name;
        }
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> anyhow::Result<()> {
        let ratio = self.sample_ratio;
        if !(0.0..=1.0).contains(&ratio) {
            bail!("[tracing.sample_ratio] is [{ratio}], must be from 0 to 1");
        }
        let OtlpConfig { endpoint, tls, .. } = &self.otlp;
        let is_known = endpoint.starts_with("http://") || self.otlp.is_secure();
        if !endpoint.is_empty() && !is_known {
            bail!(
                "[tracing.otlp.endpoint] is [{endpoint}], must begin with [http://] or [https://]"
            );
        }
        if !endpoint.is_empty() && !is_address(endpoint) {
            bail!("[tracing.otlp.endpoint] is [{endpoint}], which names no host or no port");
        }
        if *tls != TlsFiles::default() && !self.otlp.is_secure() {
            bail!("[tracing.otlp.tls] is only for an endpoint that begins with [https://]");
        }
        tls.check("tracing.otlp.tls")
    }
}

/// Whether an URL says where to connect to.
fn is_address(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else {
        return false;
    };
    url.authority().is_some_and(|place| {
        // Who logs in stands before it.
        let has_no_port = place.as_str().rsplit('@').next() == Some(place.host());
        !place.host().is_empty() && (has_no_port || place.port_u16().is_some())
    })
}

#[cfg(test)]
mod tests;

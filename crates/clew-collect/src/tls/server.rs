//! The side of TLS that is connected to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;
use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use serde::{Deserialize, Serialize};

use super::pem::{at, authorities, identity};
use super::provider;

/// Whether who connects shows a certificate of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuthentication {
    /// It is not asked for one.
    None,
    /// It may; one that is shown has to be right.
    Optional,
    /// It must.
    Required,
}

/// What a server shows and whom it lets in. Clones share one state.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<ServerConfig>);

/// Where both are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerTlsFiles<'a> {
    pub(crate) certificate: &'a Path,
    pub(crate) key: &'a Path,
    pub(crate) authentication: ClientAuthentication,
    /// The authorities of clients.
    pub(crate) client_ca: &'a [PathBuf],
}

impl ServerTls {
    /// Reads the files; the error names the key and the file that is wrong.
    pub(crate) fn read(disk: &dyn Disk, files: ServerTlsFiles<'_>) -> Result<Self, String> {
        let (chain, key) = identity(disk, files.certificate, files.key)?;
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match files.authentication {
            ClientAuthentication::None => builder.with_no_client_auth(),
            asked => builder.with_client_cert_verifier(verifier(disk, files.client_ca, asked)?),
        };
        let config = builder.with_single_cert(chain, key).map_err(|error| {
            let reason = format!("does not fit [key] {}: {error}", files.key.display());
            at("certificate", files.certificate, &reason)
        })?;
        Ok(ServerTls(Arc::new(config)))
    }

    /// For connections that speak one thing.
    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }

    /// For connections that agree on one of these protocols first, the best before the others.
    pub(crate) fn config_for(&self, protocols: &[&[u8]]) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&self.0);
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Arc::new(config)
    }
}

fn verifier(
    disk: &dyn Disk,
    client_ca: &[PathBuf],
    asked: ClientAuthentication,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let (store, _) = authorities(disk, "client_ca", client_ca)?;
    let mut verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(store), provider());
    if asked == ClientAuthentication::Optional {
        verifier = verifier.allow_unauthenticated();
    }
    let built = verifier.build();
    built.map_err(|error| format!("[client_ca] cannot be used: {error}"))
}

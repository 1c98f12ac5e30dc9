//! The side of TLS that connects.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::pem::{Authorities, at, authorities, identity};
use super::provider;

/// What has to be right about a server's certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verification {
    /// An authority that is trusted has signed it, it has not expired, and it is of the name that is connected to.
    #[default]
    Full,
    /// As full, but it may be of another name.
    Certificate,
    /// Nothing: whoever answers is sent to.
    None,
}

/// Which servers are trusted, and what is shown to them. Clones share one state.
#[derive(Clone, Debug)]
pub struct ClientTls(Arc<ClientConfig>);

/// Where both are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientTlsFiles<'a> {
    /// The authorities that are trusted; those of the system if there are none.
    pub(crate) ca: &'a [PathBuf],
    /// A certificate and its key.
    pub(crate) identity: Option<(&'a Path, &'a Path)>,
    pub(crate) verification: Verification,
}

impl ClientTls {
    /// Trusts whom the system trusts, and shows nothing.
    ///
    /// # Errors
    /// That the system trusts nobody, with the reason.
    pub(crate) fn of_system() -> Result<Self, String> {
        let trusted = (system()?, Vec::new());
        let config = builder(trusted, Verification::Full)?.with_no_client_auth();
        Ok(ClientTls(Arc::new(config)))
    }

    /// Trusts these authorities, or whom the system trusts if there are none, and shows a certificate if there is one. Servers
    /// are verified in full.
    ///
    /// # Errors
    /// A file that is wrong, with the key that names it; that the system trusts nobody.
    pub fn trusting(
        disk: &dyn Disk,
        ca: &[PathBuf],
        identity: Option<(&Path, &Path)>,
    ) -> Result<Self, String> {
        let verification = Verification::Full;
        Self::read(
            disk,
            ClientTlsFiles {
                ca,
                identity,
                verification,
            },
        )
    }

    /// Secures a connection to a host, over which one of these protocols is to be spoken.
    ///
    /// # Errors
    /// That the host is not trusted, or the connection ends.
    pub async fn secure(
        &self,
        (host, connection): (&str, TcpStream),
        protocols: &[&str],
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = hostname(host).map_err(io::Error::other)?;
        let mut config = ClientConfig::clone(&self.0);
        let protocols = protocols.iter();
        config.alpn_protocols = protocols.map(|name| name.as_bytes().to_vec()).collect();
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, connection).await
    }

    /// Reads the files; the error names the key and the file that is wrong.
    pub(crate) fn read(disk: &dyn Disk, files: ClientTlsFiles<'_>) -> Result<Self, String> {
        let trusted = match (files.verification, files.ca) {
            // Nobody is trusted more than others.
            (Verification::None, _) => (RootCertStore::empty(), Vec::new()),
            (_, []) => (system()?, Vec::new()),
            (_, ca) => authorities(disk, "ca", ca)?,
        };
        let builder = builder(trusted, files.verification)?;
        let config = match files.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let (chain, read) = identity(disk, certificate, key)?;
                builder
                    .with_client_auth_cert(chain, read)
                    .map_err(|error| {
                        let reason = format!("does not fit [key] {}: {error}", key.display());
                        at("certificate", certificate, &reason)
                    })?
            }
        };
        Ok(ClientTls(Arc::new(config)))
    }

    pub(crate) fn config(&self) -> Arc<ClientConfig> {
        Arc::clone(&self.0)
    }
}

/// The name that a server's certificate has to be of: a name, or an address, which may stand in brackets.
pub(crate) fn hostname(host: &str) -> Result<ServerName<'static>, String> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let name = ServerName::try_from(bare.unwrap_or(host).to_owned());
    name.map_err(|_| format!("[{host}] is no name that a certificate can be of"))
}

type Builder = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

fn builder((roots, named): Authorities, verification: Verification) -> Result<Builder, String> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let roots = Arc::new(roots);
    if verification == Verification::Full && named.is_empty() {
        return Ok(builder.with_root_certificates(roots));
    }
    let verifier = Verifier {
        roots: (verification != Verification::None).then_some(roots),
        named,
        verification,
        algorithms: provider().signature_verification_algorithms,
    };
    let builder = builder.dangerous();
    Ok(builder.with_custom_certificate_verifier(Arc::new(verifier)))
}

/// The authorities that the system trusts.
fn system() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    // What is no certificate of an authority any more is nobody's.
    store.add_parsable_certificates(found.certs);
    match store.is_empty() {
        false => Ok(store),
        true => {
            let reasons: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
            Err(format!(
                "the system has no authorities that it trusts, they have to be named by [ca]: {}",
                reasons.join(", ")
            ))
        }
    }
}

/// Asks for what is to be right, and takes a certificate that the configuration names itself for a server's own, too: one
/// that has signed itself is both. That the server has the key of the certificate that it shows is asked for in any case.
#[derive(Debug)]
struct Verifier {
    roots: Option<Arc<RootCertStore>>,
    /// The certificates that the configuration names.
    named: Vec<CertificateDer<'static>>,
    verification: Verification,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(roots) = &self.roots else {
            return Ok(ServerCertVerified::assertion());
        };
        let shown = ParsedCertificate::try_from(certificate)?;
        let all = self.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(&shown, roots, between, now, all) {
            Err(error) if is_an_authoritys(&error) && self.names(certificate) => {}
            verified => verified?,
        }
        if self.verification == Verification::Full {
            verify_server_name(&shown, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl Verifier {
    /// Whether the configuration names this very certificate.
    fn names(&self, certificate: &CertificateDer<'_>) -> bool {
        self.named.iter().any(|named| **named == **certificate)
    }
}

/// Whether all that is wrong with a certificate is that it is an authority's. That is asked behind whether it has expired.
fn is_an_authoritys(error: &Error) -> bool {
    let other = matches!(error, Error::InvalidCertificate(CertificateError::Other(_)));
    other && error.to_string().contains("CaUsedAsEndEntity")
}

//! TLS as inputs and outputs have it: certificates and keys out of files of PEM, and the two sides of a connection made of
//! them. Version 1.2 is the oldest that is spoken, with the cryptography of `ring`.
//!
//! Files are read when the configuration is, and again with it, so that a renewed certificate needs no restart. What is wrong
//! with them is told with the key that names them and the file.

mod client;
mod pem;
mod server;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use client::{ClientTls, Verification};
pub(crate) use client::{ClientTlsFiles, hostname};
pub(crate) use server::ServerTlsFiles;
pub use server::{ClientAuthentication, ServerTls};
pub use tokio_rustls::client::TlsStream;

/// The cryptography of both sides.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

#[cfg(test)]
pub(crate) mod tests;

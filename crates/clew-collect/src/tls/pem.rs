//! Certificates and keys out of files of PEM.

use std::path::{Path, PathBuf};

use clew_platform::Disk;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The largest file: the authorities that a system trusts have a quarter of it.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// A certificate with those between it and its authority, and its key.
pub(super) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// Reads both halves of an identity.
pub(super) fn identity(
    disk: &dyn Disk,
    certificate: &Path,
    key: &Path,
) -> Result<Identity, String> {
    let chain = certificates(disk, certificate)
        .map_err(|reason| at("certificate", certificate, &reason))?;
    let key = private_key(disk, key).map_err(|reason| at("key", key, &reason))?;
    Ok((chain, key))
}

/// Authorities that are trusted, and their certificates as they are written.
pub(super) type Authorities = (RootCertStore, Vec<CertificateDer<'static>>);

/// Reads the authorities of some files, at least one of each.
pub(super) fn authorities(
    disk: &dyn Disk,
    name: &str,
    files: &[PathBuf],
) -> Result<Authorities, String> {
    let (mut store, mut written) = (RootCertStore::empty(), Vec::new());
    for file in files {
        let wrong = |reason: String| at(name, file, &reason);
        for certificate in certificates(disk, file).map_err(wrong)? {
            store.add(certificate.clone()).map_err(|error| {
                wrong(format!("has a certificate that is no authority's: {error}"))
            })?;
            written.push(certificate);
        }
    }
    Ok((store, written))
}

/// What is wrong with the file that a key of the configuration names.
pub(super) fn at(name: &str, file: &Path, reason: &str) -> String {
    format!("[{name}] {}: {reason}", file.display())
}

fn certificates(disk: &dyn Disk, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = read(disk, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|error| format!("is not PEM: {error}"))?;
    match found.is_empty() {
        true => Err("has no certificate".to_owned()),
        false => Ok(found),
    }
}

fn private_key(disk: &dyn Disk, file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let text = read(disk, file)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let has = |word: &[u8]| memchr::memmem::find(&text, word).is_some();
        match error {
            // The one of PKCS#8 is another kind of section; the older one is a key that has its cipher written inside.
            _ if has(b"ENCRYPTED") => "is encrypted; keys are read without a passphrase".to_owned(),
            rustls::pki_types::pem::Error::NoItemsFound => "has no private key".to_owned(),
            other => format!("is not PEM: {other}"),
        }
    })
}

fn read(disk: &dyn Disk, file: &Path) -> Result<Vec<u8>, String> {
    let wrong = |error: std::io::Error| error.to_string();
    let bytes = disk.open(file).and_then(|file| file.len()).map_err(wrong)?;
    if bytes > FILE_BYTES_MAX {
        return Err(format!(
            "has {bytes} bytes, at most {FILE_BYTES_MAX} are read"
        ));
    }
    disk.read(file).map_err(wrong)
}

//! Certificates made for tests, and what is told of files that hold others.

use std::path::{Path, PathBuf};

use clew_platform::RealDisk;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

use super::*;

/// Signs certificates, which lie in a folder with its own.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: PathBuf,
    pub(crate) certificate: PathBuf,
}

/// A year that is long over, and one that is not.
pub(crate) const OVER: i32 = 2001;
pub(crate) const TO_COME: i32 = 2900;

impl Authority {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let certificate = folder.join(format!("{name}.pem"));
        std::fs::write(&certificate, params.self_signed(&key).unwrap().pem()).unwrap();
        Authority {
            issuer: Issuer::new(params, key),
            folder: folder.to_owned(),
            certificate,
        }
    }

    /// A certificate for a name and this machine's address, good until the beginning of a year, and its key.
    pub(crate) fn issue(&self, name: &str, until: i32) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let file = |end: &str| self.folder.join(format!("{name}-{until}.{end}"));
        let (certificate, key_file) = (file("pem"), file("key"));
        std::fs::write(&certificate, signed.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        (certificate, key_file)
    }

    /// What a server is that shows such a certificate, and asks clients for one of this authority.
    pub(crate) fn server(&self, until: i32, authentication: ClientAuthentication) -> ServerTls {
        let (certificate, key) = self.issue("127.0.0.1", until);
        let files = ServerTlsFiles {
            certificate: &certificate,
            key: &key,
            authentication,
            client_ca: std::slice::from_ref(&self.certificate),
        };
        ServerTls::read(&RealDisk, files).unwrap()
    }

    /// What a server is that shows the authority's own certificate, which names this machine.
    pub(crate) fn server_of_its_own(folder: &Path, until: i32) -> (Self, ServerTls) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let (certificate, key_file) = (folder.join("own.pem"), folder.join("own.key"));
        std::fs::write(&certificate, params.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        let files = ServerTlsFiles {
            certificate: &certificate,
            key: &key_file,
            authentication: ClientAuthentication::None,
            client_ca: &[],
        };
        let server = ServerTls::read(&RealDisk, files).unwrap();
        let folder = folder.to_owned();
        let issuer = Issuer::new(params, key);
        let own = Authority {
            issuer,
            folder,
            certificate,
        };
        (own, server)
    }

    /// What a client is that trusts this authority.
    pub(crate) fn client(
        &self,
        identity: Option<(&Path, &Path)>,
        verification: Verification,
    ) -> ClientTls {
        let files = ClientTlsFiles {
            ca: std::slice::from_ref(&self.certificate),
            identity,
            verification,
        };
        ClientTls::read(&RealDisk, files).unwrap()
    }
}

#[test]
fn files_that_do_not_hold_what_they_must_are_told_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "ca");
    let (certificate, key) = authority.issue("a", TO_COME);
    let (_, other_key) = authority.issue("b", TO_COME);
    let place = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let empty = place("empty", "");
    let section = |kind: &str| format!("-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n");
    let locked = place("locked", &section("ENCRYPTED PRIVATE KEY"));
    let garbage = place("garbage", &section("CERTIFICATE"));
    let torn = place("torn", "-----BEGIN CERTIFICATE-----\nAA");
    let check = |certificate: &Path, key: &Path, client_ca: &[PathBuf], expected: &str| {
        let files = ServerTlsFiles {
            certificate,
            key,
            authentication: ClientAuthentication::Optional,
            client_ca,
        };
        let wrong = ServerTls::read(&RealDisk, files).unwrap_err();
        let wrong = wrong.replace(&format!("{}/", folder.path().display()), "");
        assert!(wrong.starts_with(expected), "{wrong}");
    };
    let ca = [authority.certificate.clone()];
    let nowhere = folder.path().join("nowhere");
    check(&nowhere, &key, &ca, "[certificate] nowhere: No such file");
    check(&certificate, &nowhere, &ca, "[key] nowhere: No such file");
    check(&empty, &key, &ca, "[certificate] empty: has no certificate");
    check(
        &key,
        &key,
        &ca,
        "[certificate] a-2900.key: has no certificate",
    );
    check(
        &certificate,
        &certificate,
        &ca,
        "[key] a-2900.pem: has no private key",
    );
    check(&certificate, &locked, &ca, "[key] locked: is encrypted");
    check(&torn, &key, &ca, "[certificate] torn: is not PEM");
    check(
        &certificate,
        &other_key,
        &ca,
        "[certificate] a-2900.pem: does not fit [key] b-2900.key: ",
    );
    check(
        &garbage,
        &key,
        &ca,
        "[certificate] garbage: does not fit [key] a-2900.key: ",
    );
    check(
        &certificate,
        &key,
        std::slice::from_ref(&garbage),
        "[client_ca] garbage: has a certificate that is no authority's: ",
    );
}

#[test]
fn names_and_addresses_are_those_of_certificates() {
    for good in ["127.0.0.1", "[::1]", "search.example"] {
        assert!(hostname(good).is_ok(), "{good}");
    }
    assert!(hostname("a b").is_err());
}

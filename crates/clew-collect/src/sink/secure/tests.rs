//! A server with a certificate of one's own, and clients that trust it, or do not.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::ServerConnection;

use super::*;
use crate::config::Compression;
use crate::sink::courier::{Address, Courier};
use crate::stop::StopToken;
use crate::tls::tests::{Authority, OVER, TO_COME};
use crate::tls::{ClientAuthentication, ServerTls, Verification};

/// Answers two requests over one connection.
fn serve(tls: &ServerTls) -> (String, JoinHandle<io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = tls.config();
    let server = std::thread::spawn(move || {
        let (socket, _) = listener.accept()?;
        let tls = ServerConnection::new(config).map_err(io::Error::other)?;
        let mut stream = BufReader::new(StreamOwned::new(tls, socket));
        for _ in 0..2 {
            let (mut line, mut bytes) = (String::new(), 0);
            while line != "\r\n" {
                line.clear();
                if stream.read_line(&mut line)? == 0 {
                    return Ok(());
                }
                let header = line.to_ascii_lowercase();
                if let Some(length) = header.strip_prefix("content-length:") {
                    bytes = length.trim().parse().map_err(io::Error::other)?;
                }
            }
            let mut body = vec![0; bytes];
            stream.read_exact(&mut body)?;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
            stream
                .get_mut()
                .write_all(&[head.as_bytes(), &body].concat())?;
            stream.get_mut().flush()?;
        }
        Ok(())
    });
    (format!("https://127.0.0.1:{port}/"), server)
}

fn address(url: String, tls: ClientTls) -> Address {
    Address {
        url,
        timeout: Duration::from_secs(60),
        authorization: None,
        tls: Some(tls),
        compression: Compression::None,
        headers: Vec::new(),
    }
}

/// What comes of an exchange, and of one more over the same connection.
fn exchange(server: &ServerTls, client: ClientTls) -> Result<(), String> {
    let (url, thread) = serve(server);
    let courier = Courier::start(address(url, client)).unwrap();
    let mut result = Ok(());
    for text in ["one", "x".repeat(300_000).as_str()] {
        let sent = courier.exchange(text.as_bytes().to_vec(), &StopToken::new());
        result = match sent.unwrap().1 {
            Ok(reply) => {
                assert_eq!((reply.status, reply.body), (200, text.as_bytes().to_vec()));
                Ok(())
            }
            Err(reason) => Err(reason),
        };
        if result.is_err() {
            break;
        }
    }
    drop(courier);
    assert_eq!(thread.join().unwrap().is_ok(), result.is_ok());
    result
}

#[test]
fn a_server_is_trusted_as_far_as_it_is_asked_for() {
    let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let authority = Authority::new(folder.path(), "ca");
    let other = Authority::new(other_folder.path(), "other");
    let good = authority.server(TO_COME, ClientAuthentication::None);
    let expired = authority.server(OVER, ClientAuthentication::None);
    let foreign = other.server(TO_COME, ClientAuthentication::None);
    let renamed = {
        let (certificate, key) = authority.issue("search.example", TO_COME);
        ServerTls::read(
            &clew_platform::RealDisk,
            crate::tls::ServerTlsFiles {
                certificate: &certificate,
                key: &key,
                authentication: ClientAuthentication::None,
                client_ca: &[],
            },
        )
        .unwrap()
    };
    let check = |server: &ServerTls, verification, expected: Option<&str>| {
        let result = exchange(server, authority.client(None, verification));
        match expected {
            None => assert_eq!(result, Ok(())),
            Some(expected) => {
                let reason = result.unwrap_err();
                assert!(reason.contains(expected), "{reason}");
            }
        }
    };
    check(&good, Verification::Full, None);
    check(&good, Verification::Certificate, None);
    check(&good, Verification::None, None);
    check(&renamed, Verification::Full, Some("not valid for name"));
    check(&renamed, Verification::Certificate, None);
    check(&renamed, Verification::None, None);
    check(&expired, Verification::Full, Some("expired"));
    check(&expired, Verification::Certificate, Some("expired"));
    check(&expired, Verification::None, None);
    check(&foreign, Verification::Full, Some("UnknownIssuer"));
    check(&foreign, Verification::Certificate, Some("UnknownIssuer"));
    check(&foreign, Verification::None, None);
}

#[test]
fn a_certificate_that_has_signed_itself_is_trusted_where_it_is_named() {
    let check = |until, verification, expected: Option<&str>| {
        let (folder, other_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (own, server) = Authority::server_of_its_own(folder.path(), until);
        let result = exchange(&server, own.client(None, verification));
        match expected {
            None => assert_eq!(result, Ok(())),
            Some(expected) => {
                let reason = result.unwrap_err();
                assert!(reason.contains(expected), "{reason}");
            }
        }
        // Whoever names another one is not contented with it.
        let other = Authority::new(other_folder.path(), "other");
        let reason = exchange(&server, other.client(None, verification)).unwrap_err();
        assert!(reason.contains("invalid peer certificate"), "{reason}");
    };
    check(TO_COME, Verification::Full, None);
    check(TO_COME, Verification::Certificate, None);
    check(OVER, Verification::Full, Some("expired"));
}

#[test]
fn a_certificate_of_ones_own_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "ca");
    let server = authority.server(TO_COME, ClientAuthentication::Required);
    let (certificate, key) = authority.issue("client", TO_COME);
    let identity: Option<(&Path, &Path)> = Some((&certificate, &key));
    let shown = authority.client(identity, Verification::Full);
    assert_eq!(exchange(&server, shown), Ok(()));
    let none = authority.client(None, Verification::Full);
    let reason = exchange(&server, none).unwrap_err();
    // The client's side of the handshake is over before the server's: what it says may be lost when it closes.
    let is_refused = ["CertificateRequired", "Broken pipe", "reset by peer"];
    assert!(
        is_refused.iter().any(|words| reason.contains(words)),
        "{reason}"
    );
}

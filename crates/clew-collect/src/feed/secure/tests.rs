//! Clients of TLS that do what they should, and what they should not.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use clew_platform::RealClock;
use rustix::event::{EventfdFlags, eventfd};
use rustls::{ClientConnection, StreamOwned};

use super::*;
use crate::feed::{Credentials, FeedAddress, FeedOptions, Feeds, HttpFeed};
use crate::parse::ParserChoice;
use crate::tls::tests::{Authority, OVER, TO_COME};
use crate::tls::{ClientAuthentication, ClientTls, ServerTls, Verification, hostname};

type Client = StreamOwned<ClientConnection, TcpStream>;

const LONG: Duration = Duration::from_secs(60);

fn start(address: FeedAddress, tls: ServerTls) -> (Feeds, SocketAddr) {
    let options = FeedOptions {
        address,
        parse: ParserChoice::Auto,
        line_bytes_max: 1 << 20,
        plan: 0,
        tls: Some(tls),
    };
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    let feeds = Feeds::start(
        &[options],
        &std::collections::BTreeMap::new(),
        &(Arc::new(RealClock::new()) as _),
        &wake,
    )
    .unwrap();
    let address = feeds.addresses[0].unwrap();
    (feeds, address)
}

fn tcp() -> FeedAddress {
    "tcp://127.0.0.1:0".parse().unwrap()
}

fn http() -> FeedAddress {
    FeedAddress::Http(HttpFeed {
        address: "127.0.0.1:0".parse().unwrap(),
        body_bytes_max: 1_000,
        connections_max: 10,
        timeout: LONG,
        credentials: Credentials::default(),
    })
}

fn socket(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

fn client(address: SocketAddr, tls: &ClientTls) -> Client {
    let name = hostname("127.0.0.1").unwrap();
    let connection = ClientConnection::new(tls.config(), name).unwrap();
    StreamOwned::new(connection, socket(address))
}

/// What a client is told that must not be let in; with TLS 1.3 it finds out when it listens.
fn refused(mut client: Client) -> String {
    let sent = client.write_all(b"<34>one\n").and_then(|()| client.flush());
    let read = sent.and_then(|()| client.read(&mut [0; 100]));
    match read {
        Ok(count) => panic!("{count} bytes came"),
        Err(error) => error.to_string(),
    }
}

fn lines(feeds: &Feeds, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    while found.len() < count {
        let parcel = feeds.wait(LONG).unwrap().expect("more lines come");
        let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
        found.extend(parcel.lines().map(|(line, _)| text(line)));
    }
    found
}

/// Waits until so many handshakes have failed: what counts them is another thread.
fn failed(feeds: &Feeds, count: u64) {
    let end = std::time::Instant::now() + LONG;
    while feeds.counts().handshakes.count.load(Ordering::Relaxed) < count {
        assert!(std::time::Instant::now() < end, "{:?}", feeds.counts());
        std::thread::yield_now();
    }
}

#[test]
fn lines_come_over_tls_however_they_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "ca");
    let (feeds, address) = start(tcp(), authority.server(TO_COME, ClientAuthentication::None));
    let tls = authority.client(None, Verification::Full);
    let mut sender = client(address, &tls);
    sender.write_all(b"<34>one\n5 <1>22").unwrap();
    assert_eq!(lines(&feeds, 2), ["<34>one", "<1>22"]);
    // More than a buffer, of which the last byte is no sign that there is no more.
    let long = "x".repeat(100_000);
    let writer = std::thread::spawn(move || {
        for number in 0..100 {
            // Digits in front would say how long the line is.
            writeln!(sender, "n{number} {}", "x".repeat(99_998)).unwrap();
        }
        sender.write_all(b"no newline").unwrap();
        sender.conn.send_close_notify();
        sender.flush().unwrap();
        // To close with something unread would drop what is still to be sent.
        sender.sock.shutdown(std::net::Shutdown::Write).unwrap();
        std::io::copy(&mut sender.sock, &mut std::io::sink()).unwrap();
    });
    let found = lines(&feeds, 101);
    writer.join().unwrap();
    for (number, line) in found[..100].iter().enumerate() {
        assert_eq!(line.len(), format!("n{number} ").len() + long.len() - 2);
    }
    assert_eq!(found[100], "no newline");
}

#[test]
fn who_is_not_trusted_or_does_not_speak_tls_is_counted_and_others_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let other_folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "ca");
    let other = Authority::new(other_folder.path(), "other");
    let shown = authority.issue("client", TO_COME);
    let expired = authority.issue("client", OVER);
    let foreign = other.issue("client", TO_COME);
    let as_client = |(certificate, key): &(std::path::PathBuf, std::path::PathBuf)| {
        let identity: Option<(&Path, &Path)> = Some((certificate, key));
        authority.client(identity, Verification::Full)
    };
    for address in [tcp(), http()] {
        let server = authority.server(TO_COME, ClientAuthentication::Required);
        let (feeds, address) = start(address, server);
        let without = authority.client(None, Verification::Full);
        let told = refused(client(address, &without));
        assert!(told.contains("CertificateRequired"), "{told}");
        let told = refused(client(address, &as_client(&expired)));
        assert!(told.contains("CertificateExpired"), "{told}");
        let told = refused(client(address, &as_client(&foreign)));
        assert!(told.contains("UnknownCA"), "{told}");
        // A client that does not trust the server.
        let told = refused(client(address, &other.client(None, Verification::Full)));
        assert!(told.contains("UnknownIssuer"), "{told}");
        failed(&feeds, 4);
        // Plain text.
        let mut plain = socket(address);
        plain
            .write_all(b"<34>in plain text, which is not TLS\n")
            .unwrap();
        // The rest of the alert, and then the end or a reset.
        while !matches!(plain.read(&mut [0; 100]), Ok(0) | Err(_)) {}
        failed(&feeds, 5);
        // Half a handshake.
        let half = socket(address);
        let hello: &[u8] = &[0x16, 0x03, 0x01, 0x01, 0x00, 0x01];
        (&half).write_all(hello).unwrap();
        drop(half);
        failed(&feeds, 6);
        let mut good = client(address, &as_client(&shown));
        let request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n<34>one\n";
        good.write_all(request.as_bytes()).unwrap();
        let found = lines(&feeds, 1);
        assert!(
            ["<34>one", "POST / HTTP/1.1"].contains(&&found[0][..]),
            "{found:?}"
        );
        assert_eq!(feeds.counts().handshakes.count.load(Ordering::Relaxed), 6);
        // A handshake that does not go on does not hold up the end.
        let half = socket(address);
        drop(feeds);
        drop(half);
    }
}

#[test]
fn one_that_is_not_asked_for_may_show_none_and_one_that_is_shown_has_to_be_right() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new(folder.path(), "ca");
    let (certificate, key) = authority.issue("client", OVER);
    let server = authority.server(TO_COME, ClientAuthentication::Optional);
    let (feeds, address) = start(tcp(), server);
    let mut without = client(address, &authority.client(None, Verification::Full));
    without.write_all(b"one\n").unwrap();
    assert_eq!(lines(&feeds, 1), ["one"]);
    let identity: Option<(&Path, &Path)> = Some((&certificate, &key));
    let told = refused(client(
        address,
        &authority.client(identity, Verification::Full),
    ));
    assert!(told.contains("CertificateExpired"), "{told}");
}

#[test]
fn failures_are_told_seldom_and_counted_always() {
    let failures = Failures::default();
    let at = |milliseconds| failures.add(Duration::from_millis(milliseconds), "a", "b");
    at(0);
    let untold = || failures.untold.load(Ordering::Relaxed);
    assert_eq!(untold(), 0);
    at(10);
    at(999);
    assert_eq!(untold(), 2);
    at(1_000);
    assert_eq!(untold(), 0);
    assert_eq!(failures.count.load(Ordering::Relaxed), 4);
}

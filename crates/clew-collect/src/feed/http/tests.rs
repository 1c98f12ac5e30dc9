//! Requests to a running input whose parcels somebody takes late, or nobody.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};

use clew_platform::RealClock;
use rustix::event::{EventfdFlags, eventfd};

use super::*;
use crate::feed::{Ended, FeedAddress, FeedOptions, Feeds, PARCELS_MAX, Parcel};
use crate::parse::ParserChoice;

fn start(timeout: Duration, connections_max: usize) -> Feeds {
    start_with((timeout, connections_max), Credentials::default())
}

fn start_with((timeout, connections_max): (Duration, usize), credentials: Credentials) -> Feeds {
    let feed = HttpFeed {
        address: "127.0.0.1:0".parse().unwrap(),
        body_bytes_max: 1_000,
        connections_max,
        timeout,
        credentials,
    };
    let options = FeedOptions {
        address: FeedAddress::Http(feed),
        parse: ParserChoice::Auto,
        line_bytes_max: 1_000,
        plan: 0,
        tls: None,
    };
    let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap());
    Feeds::start(
        &[options],
        &std::collections::BTreeMap::new(),
        &(Arc::new(RealClock::new()) as _),
        &wake,
    )
    .unwrap()
}

fn connect(feeds: &Feeds) -> TcpStream {
    let stream = TcpStream::connect(feeds.addresses[0].unwrap()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    stream
}

/// Posts one line; the head of the answer comes by the channel.
fn post(feeds: &Feeds) -> Receiver<String> {
    let mut stream = connect(feeds);
    let request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na";
    stream.write_all(request.as_bytes()).unwrap();
    let (out, answers) = channel();
    std::thread::spawn(move || out.send(head(&mut BufReader::new(stream))));
    answers
}

fn head(stream: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        // The end, or a reset where the other side has closed before it was asked.
        if stream.read_line(&mut head).unwrap_or(0) == 0 {
            break;
        }
    }
    head.to_ascii_lowercase()
}

fn next(feeds: &Feeds) -> Parcel {
    let parcel = feeds.wait(Duration::from_secs(60)).unwrap();
    parcel.expect("a parcel comes")
}

fn answer(answers: &Receiver<String>) -> String {
    answers.recv_timeout(Duration::from_secs(60)).unwrap()
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn who_comes_while_there_is_no_room_is_told_when_to_come_again() {
    let feeds = start(LONG, 1_000);
    let (out, answers) = channel();
    let readers = (0..=PARCELS_MAX).map(|_| {
        let (answer, out) = (post(&feeds), out.clone());
        std::thread::spawn(move || out.send(answer.recv().unwrap()))
    });
    let readers: Vec<_> = readers.collect();
    let refused = answer(&answers);
    assert!(refused.starts_with("http/1.1 429"), "{refused}");
    assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
    for _ in 0..PARCELS_MAX {
        let parcel = next(&feeds);
        assert_eq!(parcel.lines().next(), Some((&b"a"[..], false)));
        parcel.receipt.unwrap().send(()).unwrap();
    }
    for _ in 0..PARCELS_MAX {
        let taken = answer(&answers);
        assert!(taken.starts_with("http/1.1 200"), "{taken}");
    }
    for reader in readers {
        reader.join().unwrap().unwrap();
    }
    assert_eq!(
        feeds
            .counts()
            .refused
            .load(std::sync::atomic::Ordering::Relaxed),
        1
    );
}

#[test]
fn what_is_not_delivered_in_time_or_never_is_told() {
    let feeds = start(Duration::from_millis(100), 10);
    // A client that is kept waiting may find its connection closed before it has asked.
    let is_late = || answer(&post(&feeds)).starts_with("http/1.1 503");
    assert!((0..30).any(|_| is_late()));
    drop(next(&feeds));
    let feeds = start(LONG, 10);
    let answers = post(&feeds);
    drop(next(&feeds));
    let never = answer(&answers);
    assert!(never.starts_with("http/1.1 503"), "{never}");
    assert!(never.contains("retry-after: 1\r\n"), "{never}");
}

#[test]
fn a_body_that_does_not_come_in_time_is_not_waited_for() {
    let feeds = start(Duration::from_millis(100), 10);
    let is_late = || {
        let mut stream = connect(&feeds);
        let request = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\na";
        stream.write_all(request.as_bytes()).unwrap();
        head(&mut BufReader::new(stream)).starts_with("http/1.1 408")
    };
    assert!((0..30).any(|_| is_late()));
}

#[test]
fn a_connection_beyond_the_limit_is_closed() {
    let feeds = start(LONG, 1);
    let answers = post(&feeds);
    let parcel = next(&feeds);
    // The first one is open now.
    let mut second = connect(&feeds);
    let closed = second.read(&mut [0]);
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    parcel.receipt.unwrap().send(()).unwrap();
    assert!(answer(&answers).starts_with("http/1.1 200"));
}

#[test]
fn at_the_end_what_was_asked_is_still_answered_and_nothing_more_is_taken() {
    let feeds = start(LONG, 10);
    let answers = post(&feeds);
    let parcel = next(&feeds);
    feeds.close();
    // It waits for the one that is not answered.
    assert!(feeds.last().unwrap().is_none());
    parcel.receipt.unwrap().send(()).unwrap();
    assert!(answer(&answers).starts_with("http/1.1 200"));
    while !matches!(feeds.last(), Err(Ended)) {}
    let address = feeds.addresses[0].unwrap();
    assert!(TcpStream::connect(address).is_err());
}

/// The head of the answer to a request that may show a credential.
fn asked(address: SocketAddr, path: &str, authorization: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n{authorization}\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let head = head(&mut reader);
    let mut body = String::new();
    reader.read_to_string(&mut body).unwrap();
    (head, body)
}

#[test]
fn who_shows_no_credential_is_told_so_in_the_words_of_its_protocol() {
    let feeds = start_with(
        (LONG, 10),
        Credentials::new(&[(Scheme::Bearer, "secret".to_owned())]),
    );
    let address = feeds.addresses[0].unwrap();
    let (head, body) = asked(address, "/_bulk", "");
    assert!(head.starts_with("http/1.1 401"), "{head}");
    assert!(
        head.contains("www-authenticate: bearer realm=\"clew\"\r\n"),
        "{head}"
    );
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["status"], 401);
    assert_eq!(body["error"]["type"], "security_exception");
    assert_eq!(body["error"]["root_cause"][0]["type"], "security_exception");
    let (head, body) = asked(address, "/v1/logs", "Content-Type: application/json\r\n");
    assert!(head.starts_with("http/1.1 401"), "{head}");
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["code"], 16);
    for wrong in ["Bearer secre", "Basic secret"] {
        let (head, _) = asked(address, "/", &format!("Authorization: {wrong}\r\n"));
        assert!(head.starts_with("http/1.1 401"), "{wrong}: {head}");
    }
    let counts = feeds.counts();
    assert_eq!(counts.refused.load(std::sync::atomic::Ordering::Relaxed), 4);
    let answer =
        std::thread::spawn(move || asked(address, "/", "Authorization: Bearer secret\r\n"));
    next(&feeds).receipt.unwrap().send(()).unwrap();
    let (head, _) = answer.join().unwrap();
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

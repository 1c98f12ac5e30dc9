//! Lines that are sent to the collector.

use std::io::Write;
use std::os::unix::net::UnixStream;

use crate::support::{Follower, Memory, Place, lines, text};
use clew_collect::{CollectOptions, FeedAddress, FeedOptions, ParserChoice, ParserName};

/// Reads a folder of logs and listens at a socket beside it.
fn options(place: &Place) -> CollectOptions {
    let mut options = place.options("");
    options.feeds = vec![FeedOptions {
        address: FeedAddress::Unix(place.folder.path().join("socket")),
        parse: ParserChoice::Auto,
        line_bytes_max: 1_000,
        plan: 0,
        tls: None,
    }];
    options
}

/// Connects as soon as somebody listens.
fn connect(place: &Place) -> UnixStream {
    loop {
        if let Ok(stream) = UnixStream::connect(place.folder.path().join("socket")) {
            return stream;
        }
        std::thread::yield_now();
    }
}

#[test]
fn lines_that_are_sent_arrive_beside_those_of_files() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 10)));
    let follower = Follower::start(options(&place), Memory::default());
    follower.expect(&lines(0, 10));
    let mut stream = connect(&place);
    let message = "<34>Oct 11 22:14:15 mymachine su[7]: 'su root' failed";
    // The same line twice is two events.
    stream
        .write_all(format!("{message}\n{message}\n").as_bytes())
        .unwrap();
    follower.expect(&[message, message]);
    place.append("a.log", text(&lines(10, 10)));
    follower.expect(&lines(10, 10));
    let (report, memory) = follower.finish();
    assert_eq!(report.counters.lines_read, 22);
    let sent: Vec<_> = memory
        .documents
        .values()
        .filter(|document| document["message"] == message)
        .collect();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0]["event"]["dataset"], "syslog");
    assert_eq!(sent[0]["log"]["syslog"]["priority"], 34);
    assert_eq!(sent[0]["log"]["source"], serde_json::Value::Null);
    assert_eq!(sent[0]["log"]["file"], serde_json::Value::Null);
}

#[test]
fn senders_of_syslog_may_send_what_devices_of_security_tell() {
    let place = Place::new();
    let follower = Follower::start(options(&place), Memory::default());
    let mut stream = connect(&place);
    let plain = "<34>Oct 11 22:14:15 mymachine su[7]: failed";
    let event = "<134>Oct 11 22:14:16 fw1 CEF:0|a|b|1|22|c|5|src=10.0.0.7";
    stream
        .write_all(format!("{plain}\n{event}\n{plain}\n").as_bytes())
        .unwrap();
    follower.expect(&[plain, event, plain]);
    let (report, memory) = follower.finish();
    assert_eq!(report.counters.parse_errors, 0);
    let of = |dataset: &str| {
        let documents = memory.documents.values();
        documents
            .filter(|document| document["event"]["dataset"] == dataset)
            .count()
    };
    assert_eq!((of("syslog"), of("cef")), (2, 1));
}

#[test]
fn lines_of_traces_that_are_sent_are_no_errors() {
    let place = Place::new();
    let mut options = options(&place);
    options.feeds[0].parse = ParserChoice::Named(ParserName::Log4j);
    let follower = Follower::start(options, Memory::default());
    let mut stream = connect(&place);
    let sent = [
        "2026-01-02 03:04:05,678 ERROR [main] a.b.C: it broke",
        "java.lang.Error: no room",
        "\tat a.b.C.d(C.java:1)",
    ];
    stream
        .write_all(format!("{}\n", sent.join("\n")).as_bytes())
        .unwrap();
    follower.expect(&sent);
    let (report, memory) = follower.finish();
    assert_eq!(report.counters.parse_errors, 0);
    let mut documents = memory.documents.values();
    assert!(documents.any(|document| document["log"]["logger"] == "a.b.C"));
}

#[test]
fn what_was_taken_from_senders_is_delivered_at_the_stop() {
    for _ in 0..5 {
        let place = Place::new();
        let follower = Follower::start(options(&place), Memory::default());
        let mut stream = connect(&place);
        stream.write_all(b"first\n").unwrap();
        follower.expect(&["first"]);
        // A line without its end is one when its connection ends, and the stop ends all connections.
        stream.write_all(b"second").unwrap();
        follower.stop.stop();
        follower.expect(&["second"]);
        follower.finish();
    }
}

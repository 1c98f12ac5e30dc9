//! The bulk sink against a server that misbehaves in every way there is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Place, collect, lines, text};
use clew_collect::{
    BodyCompression, BufferOptions, BufferSink, BulkOptions, BulkSink, Delivery, EpochMillis,
    Event, Rejection, Sink, SinkError, StopToken, WhenFull,
};
use clew_platform::SimDisk;

/// Longer than anything here should take.
const LONG: Duration = Duration::from_secs(60);
/// Longer than that.
const HOUR: Duration = Duration::from_secs(3600);

/// How the server answers one request.
enum Answer {
    /// These item statuses.
    Items(Vec<u16>),
    /// 201 for every item.
    AllCreated,
    /// This status and body.
    Raw(u16, &'static str),
    /// Nothing: the connection is closed after the request was read.
    HangUp,
    /// Nothing at all, for good.
    Silence,
}

/// Answers the requests by a script, then creates everything; remembers the ids of each request.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<Vec<String>>>>,
    connections: Arc<Mutex<usize>>,
}

impl Server {
    fn start(script: Vec<Answer>) -> Server {
        Server::start_by(script.into_iter())
    }

    fn start_by(script: impl Iterator<Item = Answer> + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(Mutex::new(0));
        let script = Arc::new(Mutex::new(script));
        let (seen, opened) = (Arc::clone(&requests), Arc::clone(&connections));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                *opened.lock().unwrap() += 1;
                let (script, seen) = (Arc::clone(&script), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let mut stream = BufReader::new(stream.unwrap());
                    while let Some(ids) = read_request(&mut stream) {
                        seen.lock().unwrap().push(ids.clone());
                        let answer = script.lock().unwrap().next().unwrap_or(Answer::AllCreated);
                        if !reply(stream.get_mut(), answer, &ids) {
                            return;
                        }
                    }
                });
            }
        });
        Server {
            address,
            requests,
            connections,
        }
    }

    fn sink(&self, stop: &StopToken) -> BulkSink {
        let mut options = BulkOptions::new(&self.address, "logs");
        options.retry_first = Duration::from_millis(1);
        options.retry_max = Duration::from_millis(4);
        BulkSink::new(options, stop.clone()).unwrap()
    }

    fn requests(&self) -> Vec<String> {
        self.requests
            .lock()
            .unwrap()
            .iter()
            .map(|ids| ids.join(" "))
            .collect()
    }
}

/// The ids of one bulk request; `None` when the connection is closed.
fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Vec<String>> {
    let (mut length, mut gzip) = (0, false);
    let mut first = String::new();
    stream
        .read_line(&mut first)
        .ok()
        .filter(|bytes| *bytes > 0)?;
    assert_eq!(first, "POST /_bulk HTTP/1.1\r\n");
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        if line == "\r\n" {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        if name.eq_ignore_ascii_case("content-encoding") {
            assert_eq!(value.trim(), "gzip");
            gzip = true;
        }
        if name.eq_ignore_ascii_case("authorization") {
            assert_eq!(value.trim(), "ApiKey abc=");
        }
        if name.eq_ignore_ascii_case("content-type") {
            assert_eq!(value.trim(), "application/x-ndjson");
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = match gzip {
        true => std::io::read_to_string(flate2::read::GzDecoder::new(&body[..])).unwrap(),
        false => String::from_utf8(body).unwrap(),
    };
    assert!(body.ends_with('\n'));
    let lines: Vec<serde_json::Value> = body
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids = lines.chunks(2).map(|pair| {
        assert_eq!(pair[0]["create"]["_index"], "logs");
        assert!(pair[1].is_object());
        pair[0]["create"]["_id"].as_str().unwrap().to_owned()
    });
    Some(ids.collect())
}

/// False when the connection is over.
fn reply(stream: &mut TcpStream, answer: Answer, ids: &[String]) -> bool {
    let (status, body) = match answer {
        Answer::HangUp => return false,
        Answer::Silence => {
            // Until the other side hangs up.
            let _ = stream.read(&mut [0]);
            return false;
        }
        Answer::Raw(status, body) => (status, body.to_owned()),
        Answer::AllCreated => (200, items(&vec![201; ids.len()], ids)),
        Answer::Items(statuses) => (200, items(&statuses, ids)),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).is_ok()
}

fn items(statuses: &[u16], ids: &[String]) -> String {
    let items: Vec<String> = statuses
        .iter()
        .zip(ids)
        .map(|(status, id)| {
            let error = if *status < 300 {
                ""
            } else {
                r#","error":{"type":"t","reason":"r"}"#
            };
            format!(r#"{{"create":{{"_index":"logs","_id":"{id}","status":{status}{error}}}}}"#)
        })
        .collect();
    format!(
        r#"{{"took":1,"errors":true,"items":[{}]}}"#,
        items.join(",")
    )
}

fn batch(ids: &str) -> Vec<Event> {
    ids.split(' ')
        .map(|id| Event {
            id: id.to_owned(),
            timestamp: EpochMillis(0),
            document: format!("{{\"message\":\"{id}\"}}").into_bytes(),
            ..Event::default()
        })
        .collect()
}

/// Delivers `a b c d` to a server with a script; checks every request and the outcome.
#[track_caller]
fn check(script: Vec<Answer>, requests: &[&str], expected: Result<Delivery, SinkError>) {
    let server = Server::start(script);
    let delivered = server.sink(&StopToken::new()).deliver(&batch("a b c d"));
    assert_eq!(server.requests(), requests);
    assert_eq!(delivered, expected);
}

fn acked(acked: u64, duplicates: u64, retries: u64) -> Result<Delivery, SinkError> {
    Ok(Delivery {
        acked,
        duplicates,
        retries,
        rejected: Vec::new(),
    })
}

#[test]
fn only_items_that_were_put_off_are_sent_again() {
    check(
        vec![
            Answer::Items(vec![201, 429, 409, 503]),
            Answer::Items(vec![500, 201]),
        ],
        &["a b c d", "b d", "b"],
        acked(3, 1, 3),
    );
}

#[test]
fn a_lost_reply_makes_no_duplicates() {
    check(
        vec![Answer::HangUp, Answer::Items(vec![409, 409, 201, 201])],
        &["a b c d", "a b c d"],
        acked(2, 2, 4),
    );
}

#[test]
fn replies_that_are_not_understood_are_asked_for_again() {
    check(
        vec![
            Answer::Raw(200, "<html>"),
            Answer::Raw(200, r#"{"items":[]}"#),
            Answer::Items(vec![201, 201]),
            Answer::Raw(503, "busy"),
            Answer::Raw(429, ""),
            Answer::Raw(502, ""),
        ],
        &["a b c d"; 7],
        acked(4, 0, 24),
    );
}

#[test]
fn refused_items_are_handed_back_with_their_reason() {
    let rejected = Rejection {
        event_index: 1,
        status: 400,
        reason: r#"{"type":"t","reason":"r"}"#.to_owned(),
    };
    check(
        vec![Answer::Items(vec![201, 400, 429, 201])],
        &["a b c d", "c"],
        Ok(Delivery {
            acked: 3,
            duplicates: 0,
            retries: 1,
            rejected: vec![rejected],
        }),
    );
}

#[test]
fn a_request_that_is_too_large_is_divided_down_to_the_event_at_fault() {
    let too_large = || Answer::Raw(413, "too large");
    let rejected = Rejection {
        event_index: 1,
        status: 413,
        reason: "too large".to_owned(),
    };
    check(
        vec![too_large(), too_large(), Answer::AllCreated, too_large()],
        &["a b c d", "a b", "a", "b", "c d"],
        Ok(Delivery {
            acked: 3,
            duplicates: 0,
            retries: 0,
            rejected: vec![rejected],
        }),
    );
}

#[test]
fn a_server_that_refuses_the_request_itself_ends_the_run() {
    check(
        vec![Answer::Raw(401, "who are you")],
        &["a b c d"],
        Err(SinkError::Refused {
            status: 401,
            reason: "who are you".to_owned(),
        }),
    );
}

#[test]
fn the_connection_is_reused() {
    let server = Server::start(Vec::new());
    let mut sink = server.sink(&StopToken::new());
    for _ in 0..20 {
        sink.deliver(&batch("a b")).unwrap();
    }
    assert_eq!(*server.connections.lock().unwrap(), 1);
}

#[test]
fn an_address_nobody_listens_on_is_tried_until_the_stop() {
    let stop = StopToken::new();
    // A port that is given to nobody who asks for any.
    let mut options = BulkOptions::new("http://127.0.0.1:1", "logs");
    options.retry_first = Duration::from_millis(1);
    let mut sink = BulkSink::new(options, stop.clone()).unwrap();
    let retries = sink.retry_counter();
    let waiting = std::thread::spawn(move || sink.deliver(&batch("a")));
    while retries.load(Ordering::Relaxed) < 2 {
        std::thread::yield_now();
    }
    stop.stop();
    assert_eq!(waiting.join().unwrap(), Err(SinkError::Stopped));
}

#[test]
fn a_stop_ends_a_long_pause() {
    let server = Server::start(vec![Answer::HangUp]);
    let stop = StopToken::new();
    let mut options = BulkOptions::new(&server.address, "logs");
    (options.retry_first, options.retry_max) = (HOUR, HOUR);
    let mut sink = BulkSink::new(options, stop.clone()).unwrap();
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(sink.deliver(&batch("a"))));
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    stop.stop();
    let ended = ended.recv_timeout(LONG).unwrap();
    assert_eq!(ended, Err(SinkError::Stopped));
}

#[test]
fn a_server_that_never_answers_does_not_hold_up_the_stop() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 3)));
    let server = Server::start(vec![Answer::Silence]);
    let stop = StopToken::new();
    let (options, token) = (place.options("a.log"), stop.clone());
    let mut patient = BulkOptions::new(&server.address, "logs");
    patient.timeout = HOUR;
    let mut sink = BulkSink::new(patient, stop.clone()).unwrap();
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(collect(&options, &mut sink, &token)).is_ok());
    while server.requests().is_empty() {
        std::thread::yield_now();
    }
    stop.stop();
    let report = ended.recv_timeout(LONG).unwrap().unwrap();
    assert_eq!(report.counters.events_acked, 0);
    // The next run sends the same events under the same ids.
    let stop = StopToken::new();
    collect(&place.options("a.log"), &mut server.sink(&stop), &stop).unwrap();
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], requests[1]);
}

#[test]
fn refused_events_are_kept_beside_the_registry_and_passed() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 3)));
    let server = Server::start(vec![Answer::Items(vec![201, 400, 201])]);
    let stop = StopToken::new();
    let options = place.options("a.log");
    let report = collect(&options, &mut server.sink(&stop), &stop).unwrap();
    assert_eq!(
        (
            report.counters.events_acked,
            report.counters.events_rejected
        ),
        (2, 1)
    );
    let kept = std::fs::read_to_string(options.dead_letter_path()).unwrap();
    let kept: Vec<serde_json::Value> = kept
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["status"], 400);
    assert_eq!(kept[0]["document"]["message"], lines(1, 1)[0]);
    collect(&options, &mut server.sink(&stop), &stop).unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn bodies_are_compressed_if_that_is_asked_for_and_sent_again_as_they_were() {
    let server = Server::start(vec![
        Answer::Raw(503, ""),
        Answer::HangUp,
        Answer::AllCreated,
    ]);
    let mut options = BulkOptions::new(&server.address, "logs");
    options.retry_first = Duration::from_millis(1);
    options.compression = BodyCompression::Gzip;
    options.authorization = Some("ApiKey abc=".to_owned());
    let mut sink = BulkSink::new(options, StopToken::new()).unwrap();
    let delivery = sink.deliver(&batch("a b c")).unwrap();
    assert_eq!((delivery.acked, delivery.retries), (3, 6));
    sink.deliver(&batch("d")).unwrap();
    assert_eq!(server.requests(), ["a b c", "a b c", "a b c", "d"]);
}

/// A server that is away until a simulated hour is over, at least for as long as a flag stands; the clock, whose waits turn it;
/// and the flag.
fn away_for_an_hour() -> (Server, StopToken, Arc<AtomicU64>, Arc<AtomicBool>) {
    const HOUR_MS: u64 = 3_600_000;
    let clock = Arc::new(AtomicU64::new(0));
    let held = Arc::new(AtomicBool::new(false));
    let (now, away) = (Arc::clone(&clock), Arc::clone(&held));
    let server = Server::start_by(std::iter::from_fn(move || {
        let is_away = now.load(Ordering::SeqCst) < HOUR_MS || away.load(Ordering::SeqCst);
        is_away.then_some(Answer::Raw(503, "away"))
    }));
    let now = Arc::clone(&clock);
    let stop = StopToken::simulated(move |pause| {
        let ms = u64::try_from(pause.as_millis()).unwrap();
        now.fetch_add(ms, Ordering::SeqCst);
    });
    (server, stop, clock, held)
}

#[test]
fn a_server_that_is_away_for_an_hour_is_waited_for_and_seldom_asked() {
    let place = Place::new();
    place.append("a.log", text(&lines(0, 20)));
    let (server, stop, clock, _) = away_for_an_hour();
    let mut sink = BulkSink::new(BulkOptions::new(&server.address, "logs"), stop.clone()).unwrap();
    let report = collect(&place.options("a.log"), &mut sink, &stop).unwrap();
    assert_eq!(report.counters.events_acked, 20);
    let waited_ms = clock.load(Ordering::SeqCst);
    // Not longer than by one pause, and about every half minute.
    assert!((3_600_000..3_630_001).contains(&waited_ms), "{waited_ms}");
    let requests = server.requests();
    assert!((120..260).contains(&requests.len()), "{}", requests.len());
    let taken: Vec<&str> = requests[requests.len() - 3..]
        .iter()
        .flat_map(|ids| ids.split(' '))
        .collect();
    assert_eq!(taken.len(), 20);
}

#[test]
fn a_buffer_takes_what_comes_while_its_server_is_away_for_an_hour() {
    let (server, stop, clock, held) = away_for_an_hour();
    held.store(true, Ordering::SeqCst);
    let sink = BulkSink::new(BulkOptions::new(&server.address, "logs"), stop.clone()).unwrap();
    let options = BufferOptions {
        folder: "/buffer".into(),
        bytes_max: 1 << 20,
        when_full: WhenFull::Block,
        only_after: None,
        output: "logs".to_owned(),
        rejected_in: None,
    };
    let disk = Arc::new(SimDisk::new());
    let mut buffer = BufferSink::open(disk, options, Box::new(sink), stop).unwrap();
    for number in 0..500 {
        let ids = format!("{number}a {number}b");
        assert_eq!(buffer.deliver(&batch(&ids)).unwrap().acked, 2);
    }
    assert_eq!(buffer.counts().delivered, 0);
    held.store(false, Ordering::SeqCst);
    while buffer.counts().delivered < 1000 {
        std::thread::yield_now();
    }
    assert!(clock.load(Ordering::SeqCst) >= 3_600_000);
    let requests = server.requests();
    let taken = &requests[requests.len() - 500..];
    let expected: Vec<String> = (0..500)
        .map(|number| format!("{number}a {number}b"))
        .collect();
    assert_eq!(taken, expected);
}

#[test]
fn events_go_to_the_index_of_their_metadata_and_those_that_have_none_are_refused_alone() {
    let server = Server::start(Vec::new());
    let mut options = BulkOptions::new(&server.address, "{{@metadata._index}}");
    options.retry_first = Duration::from_millis(1);
    let mut sink = BulkSink::new(options, StopToken::new()).unwrap();
    let mut events = batch("a b c");
    events[0].metadata = r#"{"_index":"logs"}"#.to_owned();
    events[2].metadata = r#"{"_index":"logs","pipeline":"unused"}"#.to_owned();
    let delivery = sink.deliver(&events).unwrap();
    assert_eq!(delivery.acked, 2);
    let refused = Rejection {
        event_index: 1,
        status: 400,
        reason: "Invalid index name [], must not be empty".to_owned(),
    };
    assert_eq!(delivery.rejected, [refused]);
    assert_eq!(server.requests(), ["a c"]);
    // Nothing is asked for nothing.
    assert_eq!(sink.deliver(&events[1..2]).unwrap().rejected.len(), 1);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn only_plain_http_addresses_are_accepted() {
    for url in ["ftp://127.0.0.1:1", "127.0.0.1:9200", ""] {
        let sink = BulkSink::new(BulkOptions::new(url, "logs"), StopToken::new());
        assert!(matches!(sink, Err(SinkError::Unusable { .. })), "{url}");
    }
}

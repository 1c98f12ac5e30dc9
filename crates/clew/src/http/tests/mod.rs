//! The accept loop over real sockets, with requests that last as long as the test wants.

mod stop;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::routing::{get, post};
use prometheus::Registry;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};

use super::phase::ConnectionState;
use super::{HttpConfig, HttpRules, HttpServer};

/// Longer than anything here should take.
const LONG: Duration = Duration::from_secs(60);

/// What the handlers of a test share with it.
#[derive(Clone)]
struct Handlers {
    release: Arc<Notify>,
    events: Sender<&'static str>,
    registry: Registry,
}

/// Tells when a request is dropped.
struct Dropped(Sender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

async fn slow(State(handlers): State<Handlers>) -> &'static str {
    let _ = handlers.events.send("began");
    let dropped = Dropped(handlers.events.clone());
    handlers.release.notified().await;
    std::mem::forget(dropped);
    "slow"
}

/// An answer without an end: one byte, and then nothing.
async fn stream(State(handlers): State<Handlers>) -> Body {
    let dropped = Dropped(handlers.events.clone());
    let frames = futures_util::stream::unfold((0, dropped), |(sent, dropped)| async move {
        if sent > 0 {
            std::future::pending::<()>().await;
        }
        let frame = Ok::<_, std::convert::Infallible>(Bytes::from_static(b"a"));
        Some((frame, (sent + 1, dropped)))
    });
    Body::from_stream(frames)
}

/// How many connections have been taken.
async fn taken(State(handlers): State<Handlers>) -> String {
    let taken = counted(&handlers.registry, "http_connections_accepted_total", "");
    format!("{taken:>6}")
}

/// An answer that no buffers hold.
async fn large(State(handlers): State<Handlers>) -> Vec<u8> {
    let _ = handlers.events.send("began");
    vec![b'a'; 64 << 20]
}

struct Server {
    address: SocketAddr,
    release: Arc<Notify>,
    events: Receiver<&'static str>,
    registry: Registry,
    stop: Option<oneshot::Sender<()>>,
    runtime: tokio::runtime::Runtime,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Server {
    fn start(yaml: &str) -> Server {
        let config: HttpConfig = serde_yaml_ng::from_str(yaml).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (sender, events) = channel();
        let (release, registry) = (Arc::new(Notify::new()), Registry::new());
        let handlers = Handlers {
            release: release.clone(),
            events: sender,
            registry: registry.clone(),
        };
        let app = Router::new()
            .route("/", get(|| async { "quick" }))
            .route("/slow", get(slow))
            .route("/stream", get(stream))
            .route("/large", get(large))
            .route("/taken", get(taken))
            .route(
                "/echo",
                post(|body: Bytes| async move { body.len().to_string() }),
            )
            .with_state(handlers);
        let rules = HttpRules::new(&config, 1024, "machine").unwrap();
        let server = HttpServer::new(rules, app, &registry, Arc::default()).unwrap();
        let listener = runtime
            .block_on(TcpListener::bind(("127.0.0.1", 0)))
            .unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let task = runtime.spawn(server.serve(listener, async {
            let _ = stopped.await;
        }));
        Server {
            address,
            release,
            events,
            registry,
            stop: Some(stop),
            runtime,
            task: Some(task),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// A connection that has sent this.
    fn send(&self, text: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn event(&self) -> &'static str {
        self.events.recv_timeout(LONG).unwrap()
    }

    fn ask_to_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    fn ended(&mut self) {
        let task = self.task.take().unwrap();
        let ended = async { tokio::time::timeout(LONG, task).await };
        self.runtime.block_on(ended).unwrap().unwrap();
    }

    /// A counter, whose labels, if any, are these.
    fn counted(&self, name: &str, reason: &str) -> f64 {
        counted(&self.registry, name, reason)
    }

    /// Waits for something that comes.
    fn until(&self, what: &str, has_come: impl Fn(&Server) -> bool) {
        let deadline = Instant::now() + LONG;
        while !has_come(self) {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::yield_now();
        }
    }

    /// Waits for the task of a connection to be counted as closed.
    fn until_closed(&self, reason: &str) {
        self.until(&format!("nothing was closed: {reason}"), |server| {
            server.counted("http_connections_closed_total", reason) > 0.0
        });
    }
}

fn counted(registry: &Registry, name: &str, reason: &str) -> f64 {
    let families = registry.gather();
    let family = families.iter().find(|family| family.name() == name);
    let metrics = family.into_iter().flat_map(|family| family.get_metric());
    let wanted = metrics.filter(|metric| {
        metric
            .get_label()
            .iter()
            .all(|label| label.value() == reason)
    });
    wanted
        .map(|metric| metric.get_counter().get_value() + metric.get_gauge().get_value())
        .sum()
}

/// Everything until the server closes, which resets a connection that it has not read all of.
fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    if let Err(error) = stream.read_to_end(&mut text) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    String::from_utf8(text).unwrap()
}

/// One answer whose body is this long.
fn answer(stream: &mut TcpStream, body_bytes: usize) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
    }
    let mut body = vec![0; body_bytes];
    stream.read_exact(&mut body).unwrap();
    text.extend(body);
    String::from_utf8(text).unwrap()
}

const QUICK: &str = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const SLOW: &str = "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn a_client_that_closed_its_half_gets_its_answer() {
    let server = Server::start("{}");
    let answers = |request: &str| {
        let stream = server.send(request);
        stream.shutdown(Shutdown::Write).unwrap();
        if request == SLOW {
            while server.event() != "began" {}
            server.release.notify_one();
        }
        rest(stream).matches("HTTP/1.1 200 OK").count()
    };
    assert_eq!(answers(QUICK), 1);
    assert_eq!(answers(&QUICK.repeat(3)), 3);
    // What takes longer than a second is given up, and this thread may be kept waiting for as long.
    assert!((0..30).any(|_| answers(SLOW) == 1));
}

#[test]
fn a_client_that_closed_its_half_after_a_body_of_any_length_gets_its_answer() {
    let server = Server::start("{body_timeout_ms: 600000}");
    for length in [1, 8_000, 70_000, 1_000_000, 2_000_000] {
        let head =
            format!("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        let whole = head + &"a".repeat(length);
        let mut stream = server.send(&whole);
        stream.shutdown(Shutdown::Write).unwrap();
        let text = answer(&mut stream, length.to_string().len());
        assert!(text.ends_with(&length.to_string()), "{text}");
        // One that is not whole is told so, long before its time is over.
        let stream = server.send(&whole[..whole.len() - 1]);
        stream.shutdown(Shutdown::Write).unwrap();
        let text = rest(stream);
        assert!(!text.contains(" 200 "), "{text}");
    }
}

#[test]
fn what_no_server_knows_is_not_expected_in_vain() {
    let server = Server::start("{}");
    for (expected, status) in [("100-Continue", "200"), ("tea", "417")] {
        let head = format!(
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: {expected}\r\nConnection: close\r\nContent-Length: 1\r\n\r\n"
        );
        let text = rest(server.send(&(head + "a")));
        assert!(text.contains(&format!("HTTP/1.1 {status} ")), "{text}");
    }
}

#[test]
fn a_request_ends_soon_after_its_client() {
    let server = Server::start("{}");
    let stream = server.send(SLOW);
    assert_eq!(server.event(), "began");
    drop(stream);
    assert_eq!(server.event(), "dropped");
    server.until_closed("broken");
}

#[test]
fn an_answer_without_end_ends_with_its_client() {
    let server = Server::start("{}");
    let request = SLOW.replace("slow", "stream");
    // The client closes after the answer has begun, and before.
    for begun in [true, false] {
        let mut stream = server.send(&request);
        if begun {
            answer(&mut stream, 1);
        }
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(server.event(), "dropped");
        let text = rest(stream);
        assert_eq!(text.starts_with("HTTP/1.1 200 OK"), !begun, "{text}");
    }
}

#[test]
fn a_request_ends_at_once_when_its_client_breaks_off() {
    let server = Server::start("{}");
    // What is read of the answer is not all of it: closing then resets the connection.
    let mut stream = server.send(&format!("{QUICK}{SLOW}"));
    let mut some = [0; 1];
    stream.read_exact(&mut some).unwrap();
    assert_eq!(server.event(), "began");
    drop(stream);
    assert_eq!(server.event(), "dropped");
}

#[test]
fn heads_bodies_and_idle_connections_have_their_time() {
    // A server for each: what comes before must not be over first, where this thread is kept waiting.
    let server = Server::start("{header_timeout_ms: 100}");
    let told = || rest(server.send("GET / HTTP/1.1\r\nHost: loc"));
    // Of a connection that is closed before anything has come nobody is told.
    assert!((0..30).any(|_| told().starts_with("HTTP/1.1 408 ")));
    server.until_closed("header_timeout");
    assert_eq!(rest(server.connect()), "");

    let server = Server::start("{body_timeout_ms: 100}");
    let head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
    let text = rest(server.send(&format!("{head}12345")));
    assert!(text.starts_with("HTTP/1.1 408 "), "{text}");
    assert!(text.contains("http.body_timeout_ms"), "{text}");
    server.until_closed("body_timeout");

    let server = Server::start("{idle_timeout_ms: 100}");
    let mut stream = server.send(QUICK);
    answer(&mut stream, 5);
    assert_eq!(rest(stream), "");
    server.until_closed("idle_timeout");
}

#[test]
fn an_answer_that_is_not_taken_is_given_up() {
    let server = Server::start("{answer_timeout_ms: 100}");
    let mut stream = server.send(QUICK);
    // More answers than the buffers of both sides hold, and none is read.
    let batch = QUICK.repeat(1000);
    stream.set_nonblocking(true).unwrap();
    let deadline = Instant::now() + LONG;
    while server.counted("http_connections_closed_total", "answer_timeout") == 0.0 {
        assert!(Instant::now() < deadline);
        let _ = stream.write(batch.as_bytes());
    }
}

#[test]
fn a_connection_that_was_parked_goes_on() {
    let server = Server::start("{}");
    let mut stream = server.send(QUICK);
    answer(&mut stream, 5);
    // Buffers are given back after a second; part of a request is kept.
    std::thread::sleep(Duration::from_millis(1500));
    for part in QUICK.as_bytes().chunks(10) {
        stream.write_all(part).unwrap();
    }
    let text = answer(&mut stream, 5);
    assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
}

#[test]
fn the_connection_that_was_idle_longest_makes_room() {
    let server = Server::start("{connections_max: 3}");
    let mut first = server.send(QUICK);
    answer(&mut first, 5);
    // Phases are told apart by the millisecond.
    std::thread::sleep(Duration::from_millis(5));
    let busy = server.send(SLOW);
    assert_eq!(server.event(), "began");
    let mut half = server.send("GET / HT");
    let mut second = server.send(QUICK);
    answer(&mut second, 5);
    assert_eq!(rest(first), "");
    server.until("it is not counted", |server| {
        server.counted("http_connections_open", "") == 3.0
    });

    half.write_all(b"TP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    answer(&mut half, 5);
    server.release.notify_one();
    let text = answer(&mut { busy }, 4);
    assert!(text.ends_with("slow"), "{text}");
}

#[test]
fn without_an_idle_connection_a_new_one_is_refused() {
    let server = Server::start("{connections_max: 1}");
    let mut busy = server.send(SLOW);
    assert_eq!(server.event(), "began");
    let text = rest(server.send(QUICK));
    assert!(text.starts_with("HTTP/1.1 503 "), "{text}");
    assert!(text.contains("http.connections_max"), "{text}");
    server.release.notify_one();
    answer(&mut busy, 4);
    assert_eq!(server.counted("http_connections_refused_total", ""), 1.0);
    let mut next = server.send(QUICK);
    answer(&mut next, 5);
}

#[test]
fn a_client_that_is_refused_early_sees_why() {
    let server = Server::start("{}");
    let head = "POST /echo HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 8000000\r\n\r\n";
    let mut stream = server.send(head);
    stream.write_all(&vec![b'a'; 8_000_000]).unwrap();
    let text = rest(stream);
    assert!(text.starts_with("HTTP/1.1 403 "), "{text}");
    assert!(text.contains("http.hosts_allowed"), "{text}");
}

#[test]
fn a_client_that_sends_more_than_there_may_be_sees_why() {
    // Several times the longest body, which is sent before anybody looks for an answer.
    let server = Server::start("{body_bytes_max: 1000000}");
    let head = "POST /echo HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 8000000\r\n\r\n";
    let mut stream = server.send(head);
    stream.write_all(&vec![b'a'; 8_000_000]).unwrap();
    let text = rest(stream);
    assert!(text.starts_with("HTTP/1.1 403 "), "{text}");
}

#[test]
fn a_client_that_was_answered_early_has_its_time_anew_while_it_gets_on() {
    let state = ConnectionState::new(Instant::now(), Arc::default());
    state.lingers();
    let began = state.stand();
    std::thread::sleep(Duration::from_millis(5));
    // A trickle is nothing to get on by.
    state.sends_on(16_000);
    assert_eq!(state.stand(), began);
    state.sends_on(16_000);
    assert!(state.stand().since() > began.since());
    assert_eq!(state.stand().phase(), began.phase());
    let config: HttpConfig = serde_yaml_ng::from_str("{body_timeout_ms: 40000}").unwrap();
    for (config, seconds) in [(HttpConfig::default(), 30), (config, 40)] {
        let limits = super::ConnectionLimits::new(&config, 1024).unwrap();
        let (max, _) = limits.of(began.phase()).unwrap();
        assert_eq!(max.as_secs(), seconds);
    }
}

#[test]
fn more_connections_than_files_are_refused_at_the_start() {
    let config: HttpConfig = serde_yaml_ng::from_str("{connections_max: 600}").unwrap();
    let error = super::ConnectionLimits::new(&config, 1024).unwrap_err();
    assert!(error.to_string().contains("512 at most"), "{error}");
    let limits = super::ConnectionLimits::new(&HttpConfig::default(), 256).unwrap();
    assert_eq!(limits.connections_max, 128);
}

/// A crowd at the door waits for those who are inside, not they for it.
#[test]
fn requests_on_open_connections_do_not_wait_for_all_that_connect() {
    const INSIDE: usize = 8;
    const OUTSIDE: usize = 64;
    let server = Server::start("{}");
    let mut inside: Vec<TcpStream> = (0..INSIDE)
        .map(|_| {
            let mut stream = server.send(QUICK);
            answer(&mut stream, 5);
            stream
        })
        .collect();
    // The server's only thread is kept, so that it finds all at once afterwards.
    let (begin, begun) = channel();
    let (free, kept) = channel::<()>();
    server.runtime.spawn(async move {
        begin.send(()).unwrap();
        let _ = kept.recv();
    });
    begun.recv_timeout(LONG).unwrap();
    let outside: Vec<TcpStream> = (0..OUTSIDE).map(|_| server.send(QUICK)).collect();
    for stream in &mut inside {
        let request = QUICK.replace("GET /", "GET /taken");
        stream.write_all(request.as_bytes()).unwrap();
    }
    drop(free);
    for stream in &mut inside {
        let text = answer(stream, 6);
        let taken: usize = text[text.len() - 6..].trim().parse().unwrap();
        assert!(taken < INSIDE + OUTSIDE / 2, "{taken}");
    }
    for mut stream in outside {
        answer(&mut stream, 5);
    }
}

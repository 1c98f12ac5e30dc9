//! How a server stops that has connections.

use super::{QUICK, SLOW, Server, answer, rest};

#[test]
fn a_stop_closes_idle_connections_and_waits_for_requests() {
    let mut server = Server::start("{}");
    let mut idle = server.send(QUICK);
    answer(&mut idle, 5);
    let silent = server.connect();
    let half = server.send("GET / HT");
    let busy = server.send(SLOW);
    assert_eq!(server.event(), "began");
    server.ask_to_stop();
    assert_eq!(rest(idle), "");
    assert_eq!(rest(silent), "");
    assert_eq!(rest(half), "");
    assert!(!server.task.as_ref().unwrap().is_finished());
    server.release.notify_one();
    // To its end, and nothing behind it: the connection is closed.
    let text = rest(busy);
    assert!(text.ends_with("slow"), "{text}");
    server.ended();
}

#[test]
fn a_stop_waits_for_no_client_that_does_nothing() {
    let mut server = Server::start("{body_timeout_ms: 600000}");
    let head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n";
    let sends_no_more = server.send(&format!("{head}12345"));
    // More than the buffers of both sides hold, and nothing of it is read.
    let takes_nothing = server.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(server.event(), "began");
    let busy = server.send(SLOW);
    assert_eq!(server.event(), "began");
    // The server has begun to answer.
    takes_nothing.peek(&mut [0]).unwrap();
    server.ask_to_stop();
    assert_eq!(rest(sends_no_more), "");
    server.until_closed("stopped");
    // What the server itself is at goes on.
    assert!(!server.task.as_ref().unwrap().is_finished());
    server.release.notify_one();
    assert!(rest(busy).ends_with("slow"));
    // Long before the time of both is over.
    server.ended();
    drop(takes_nothing);
}

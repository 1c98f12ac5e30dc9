//! The sink of JSON lines against a server that puts off, refuses and breaks off.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use clew_collect::config::Compression;
use clew_collect::{Delivery, Event, HttpOptions, HttpSink, Rejection, Sink, SinkError, StopToken};

/// One request, with its body as it was before it was compressed.
struct Request {
    head: String,
    lines: Vec<String>,
}

/// Answers requests by a function from their lines to a status and more headers; a status of 0 hangs up.
type Answer = fn(usize, &[String]) -> (u16, &'static str);

fn serve(answer: Answer) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/in", listener.local_addr().unwrap());
    let (out, requests) = channel();
    std::thread::spawn(move || {
        let mut number = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(request) = read(&mut stream) {
                let (status, more) = answer(number, &request.lines);
                number += 1;
                if !reply(stream.get_mut(), status, more, request, &out) {
                    break;
                }
            }
        }
    });
    (address, requests)
}

fn reply(
    stream: &mut TcpStream,
    status: u16,
    more: &str,
    request: Request,
    out: &Sender<Request>,
) -> bool {
    let _ = out.send(request);
    if status == 0 {
        return false;
    }
    let reply = format!("HTTP/1.1 {status} X\r\nContent-Length: 3\r\n{more}\r\nno!");
    stream.write_all(reply.as_bytes()).is_ok()
}

fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        stream
            .read_line(&mut line)
            .ok()
            .filter(|count| *count > 0)?;
        if line == "\r\n" {
            break;
        }
        line.make_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = if head.contains("content-encoding: gzip") {
        std::io::read_to_string(flate2::read::GzDecoder::new(&body[..])).unwrap()
    } else if head.contains("content-encoding: zstd") {
        String::from_utf8(zstd::decode_all(&body[..]).unwrap()).unwrap()
    } else {
        String::from_utf8(body).unwrap()
    };
    assert!(body.ends_with('\n'));
    let lines = body.lines().map(str::to_owned).collect();
    Some(Request { head, lines })
}

fn options(url: &str) -> HttpOptions {
    HttpOptions {
        retry_first: Duration::from_millis(1),
        retry_max: Duration::from_millis(20),
        ..HttpOptions::new(url)
    }
}

fn batch(count: usize) -> Vec<Event> {
    let event = |number| Event {
        id: format!("{number}"),
        document: format!("{{\"n\":{number}}}").into_bytes(),
        ..Event::default()
    };
    (0..count).map(event).collect()
}

#[test]
fn lines_are_posted_with_headers_and_compressed_as_asked_for() {
    for (compression, name) in [
        (Compression::None, None),
        (Compression::Gzip, Some("content-encoding: gzip")),
        (Compression::Zstd, Some("content-encoding: zstd")),
    ] {
        let (url, requests) = serve(|_, _| (204, ""));
        let mut options = options(&url);
        options.compression = compression;
        options.authorization = Some("ApiKey k".to_owned());
        options.headers = vec![("X-Shop".to_owned(), "a b".to_owned())];
        let mut sink = HttpSink::new(options, StopToken::new()).unwrap();
        for _ in 0..2 {
            assert_eq!(sink.deliver(&batch(3)).unwrap().acked, 3);
            let request = requests.recv().unwrap();
            assert_eq!(request.lines, [r#"{"n":0}"#, r#"{"n":1}"#, r#"{"n":2}"#]);
            assert!(request.head.starts_with("post /in http/1.1\r\n"));
            for header in [
                "content-type: application/x-ndjson\r\n",
                "x-shop: a b\r\n",
                "authorization: apikey k\r\n",
            ] {
                assert!(request.head.contains(header), "{}", request.head);
            }
            match name {
                Some(name) => assert!(request.head.contains(name), "{}", request.head),
                None => assert!(!request.head.contains("encoding"), "{}", request.head),
            }
        }
    }
}

#[test]
fn what_is_put_off_is_sent_again_until_it_is_taken() {
    let (url, requests) = serve(|number, _| ([503, 0, 429, 408, 200][number], ""));
    let mut sink = HttpSink::new(options(&url), StopToken::new()).unwrap();
    let delivery = sink.deliver(&batch(2)).unwrap();
    assert_eq!((delivery.acked, delivery.retries), (2, 8));
    assert!(
        requests
            .iter()
            .take(5)
            .all(|request| request.lines.len() == 2)
    );
}

#[test]
fn a_server_is_left_alone_for_as_long_as_it_asks_for_but_not_longer_than_the_longest_pause() {
    let (url, _requests) = serve(|number, _| match number {
        0 => (429, "Retry-After: 3600\r\n"),
        _ => (200, ""),
    });
    let begin = Instant::now();
    let mut options = options(&url);
    options.retry_max = Duration::from_millis(200);
    let mut sink = HttpSink::new(options, StopToken::new()).unwrap();
    assert_eq!(sink.deliver(&batch(1)).unwrap().acked, 1);
    // The first pause of its own would have been one millisecond.
    assert!(begin.elapsed() >= Duration::from_millis(200));
}

#[test]
fn an_event_that_a_server_never_takes_is_found_and_refused_alone() {
    let answer: Answer = |_, lines| match lines {
        lines if lines.iter().any(|line| line.contains(":5}")) => (422, ""),
        lines if lines.len() > 4 => (413, ""),
        _ => (200, ""),
    };
    let (url, _requests) = serve(answer);
    let mut sink = HttpSink::new(options(&url), StopToken::new()).unwrap();
    let expected = Delivery {
        acked: 8,
        rejected: vec![Rejection {
            event_index: 5,
            status: 422,
            reason: "no!".to_owned(),
        }],
        ..Delivery::default()
    };
    assert_eq!(sink.deliver(&batch(9)).unwrap(), expected);
}

#[test]
fn a_wrong_address_or_login_ends_the_run() {
    for status in ["301", "401", "403", "404"] {
        let (url, _requests) = serve(|_, lines| (lines[0][5..8].parse().unwrap(), ""));
        let mut sink = HttpSink::new(options(&url), StopToken::new()).unwrap();
        let event = Event {
            document: format!("{{\"n\":{status}}}").into_bytes(),
            ..Event::default()
        };
        let error = sink.deliver(&[event]).unwrap_err();
        let SinkError::Refused { status: seen, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(seen.to_string(), status);
    }
}

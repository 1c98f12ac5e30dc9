use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use super::*;

const PATIENCE: RemotePatience = RemotePatience {
    connect: Duration::from_secs(30),
    silence: Duration::from_secs(30),
};

/// Answers one request with these bytes; what it was.
fn answering(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut asked = Vec::new();
        let mut step = [0; 1024];
        while !asked.ends_with(b"{}") && !asked.ends_with(b"\r\n\r\n") {
            let read = socket.read(&mut step).unwrap();
            assert!(read > 0);
            asked.extend_from_slice(&step[..read]);
        }
        socket.write_all(answer).unwrap();
        String::from_utf8(asked).unwrap()
    });
    (address, served)
}

fn request(method: &str, address: &str, body: &'static str) -> Request<Bytes> {
    let request = Request::builder().method(method).uri(address);
    request.body(Bytes::from_static(body.as_bytes())).unwrap()
}

#[test]
fn a_redirection_is_not_followed_and_a_refusal_is_an_answer() {
    let answer =
        b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 2\r\n\r\nno";
    let (address, served) = answering(answer);
    let answer = Client::new(None)
        .send(request("GET", &address, ""), PATIENCE)
        .unwrap();
    assert_eq!(answer.status(), 302);
    let mut body = String::new();
    answer.into_body().read_to_string(&mut body).unwrap();
    assert_eq!(body, "no");
    assert!(served.join().unwrap().starts_with("GET / HTTP/1.1\r\n"));
}

#[test]
fn a_deletion_may_have_a_body() {
    let (address, served) = answering(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    let sent = Client::new(None).send(request("DELETE", &address, "{}"), PATIENCE);
    assert_eq!(sent.unwrap().status(), 200);
    let asked = served.join().unwrap().to_lowercase();
    assert!(asked.contains("content-length: 2\r\n"), "{asked}");
}

#[test]
fn who_does_not_answer_is_told() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", free.local_addr().unwrap());
    let short = RemotePatience {
        silence: Duration::from_millis(1),
        ..PATIENCE
    };
    let silent = Client::new(None).send(request("GET", &address, ""), short);
    assert_eq!(silent.err(), Some(RemoteFailure::TimedOut));
    drop(free);
    let nobody = Client::new(None).send(request("GET", &address, ""), PATIENCE);
    assert_eq!(nobody.err(), Some(RemoteFailure::Refused));
}

#[test]
fn what_allows_all_is_refused_by_its_key() {
    let config = |allowlist: &str, whitelist: &str| {
        let text = format!("remote: {{allowlist: '{allowlist}', whitelist: '{whitelist}'}}");
        let config: ReindexConfig = serde_yaml_ng::from_str(&text).unwrap();
        config.remote
    };
    let both = config("a:1, b:2", "c:3");
    assert_eq!(both.allowlist, ["a:1", "b:2"]);
    assert!(both.clusters().is_ok() && config("", "").clusters().is_ok());
    for (refused, key) in [
        (config("*", "c:3"), "allowlist"),
        (config("", "*"), "whitelist"),
    ] {
        let error = refused.clusters().unwrap_err().to_string();
        let told = format!("[reindex.remote.{key}] is too wide: Refusing to start");
        assert!(error.starts_with(&told), "{error}");
    }
}

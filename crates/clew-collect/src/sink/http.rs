//! The sink for any server that takes JSON lines: documents, one a line, posted to an address.
//!
//! There are no ids: after a crash, or when a reply was lost, a batch may come to the server twice.

use std::time::Duration;

use super::bulk_reply::{Fate, shortened};
use super::compression::Compression;
use super::courier::{Address, Reply};
use super::file::push_line;
use super::posting::{Answer, Pauses, Posting, Protocol, refusal};
use super::{Delivery, Sink, SinkError};
use crate::event::Event;
use crate::stop::StopToken;
use crate::tls::ClientTls;

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where lines are posted to.
    pub url: String,
    /// Further headers of every request.
    pub headers: Vec<(String, String)>,
    /// The value of the `Authorization` header, if the server wants one.
    pub authorization: Option<String>,
    /// How the connection is secured where the address begins with `https`; whom the system trusts if nothing is said.
    pub tls: Option<ClientTls>,
    /// How bodies are sent.
    pub compression: Compression,
    /// How long one exchange may take in all.
    pub timeout: Duration,
    /// The first pause after a failure; it doubles from there.
    pub retry_first: Duration,
    /// The longest pause.
    pub retry_max: Duration,
}

impl HttpOptions {
    /// Options with the default times.
    pub fn new(url: &str) -> Self {
        HttpOptions {
            url: url.to_owned(),
            headers: Vec::new(),
            authorization: None,
            tls: None,
            compression: Compression::None,
            timeout: Duration::from_secs(60),
            retry_first: Duration::from_millis(200),
            retry_max: Duration::from_secs(30),
        }
    }
}

/// Posts batches as JSON lines over one reused connection. Any answer below 300 takes the whole batch.
#[derive(Debug)]
pub struct HttpSink(Posting);

impl HttpSink {
    /// A sink that gives up waiting when `stop` is asked for. Connects at the first batch.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for an address or a header that is none.
    pub fn new(options: HttpOptions, stop: StopToken) -> Result<Self, SinkError> {
        for (name, value) in &options.headers {
            if !is_header(name, value) {
                let reason = format!("{name:?} is no header that can be sent");
                return Err(SinkError::Unusable { reason });
            }
        }
        let address = Address {
            url: options.url,
            timeout: options.timeout,
            authorization: options.authorization,
            tls: options.tls,
            compression: options.compression,
            headers: options.headers,
        };
        let pauses = Pauses {
            first: options.retry_first,
            max: options.retry_max,
        };
        Posting::new(address, pauses, stop).map(HttpSink)
    }
}

/// Whether a name is a word of HTTP, is not one that every request has, and the value has nothing that would end it.
fn is_header(name: &str, value: &str) -> bool {
    const OWN: [&str; 4] = [
        "content-length",
        "content-encoding",
        "transfer-encoding",
        "host",
    ];
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty()
        && name.bytes().all(is_word)
        && !OWN.contains(&name.to_ascii_lowercase().as_str())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

struct Lines;

impl Protocol for Lines {
    fn write(&self, event: &Event, body: &mut Vec<u8>) -> Result<(), String> {
        push_line(body, event);
        Ok(())
    }

    fn read(&self, reply: &Reply, sent: usize) -> Result<Answer, SinkError> {
        match reply.status {
            // What is wrong may be one event.
            400 | 422 => {
                let start = &reply.body[..reply.body.len().min(2_000)];
                Ok(Answer::Divide(shortened(&String::from_utf8_lossy(start))))
            }
            _ => refusal(reply).unwrap_or_else(|| Ok(Answer::Fates(vec![Fate::Acked; sent]))),
        }
    }
}

impl Sink for HttpSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        self.0.deliver(batch, &Lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_would_be_something_else_are_refused() {
        let check = |name: &str, value: &str, is_taken: bool| {
            let mut options = HttpOptions::new("http://127.0.0.1:1");
            options.headers = vec![(name.to_owned(), value.to_owned())];
            let made = HttpSink::new(options, StopToken::new());
            assert_eq!(made.is_ok(), is_taken, "{name:?} {value:?}");
        };
        check("X-Scope-OrgID", "shop 1", true);
        check("Content-Type", "application/json", true);
        check("", "a", false);
        check("a b", "c", false);
        check("a", "b\r\nc: d", false);
        check("Content-Length", "5", false);
        assert!(HttpSink::new(HttpOptions::new("ftp://h"), StopToken::new()).is_err());
    }
}

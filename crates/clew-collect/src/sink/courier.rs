//! The thread that does the blocking HTTP exchange, so that the collector can turn away from an
//! exchange that hangs when it is asked to stop.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::compression::Compression;
use super::secure;
use crate::stop::StopToken;
use crate::tls::ClientTls;

/// How often a waiting collector looks at the stop token.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// How long a reply may still take once the stop was asked for: most exchanges end within it,
/// and then nothing has to be sent again.
const STOP_GRACE: Duration = Duration::from_millis(100);
/// Replies longer than this are not read to their end, and so count as broken.
const REPLY_BYTES_MAX: u64 = 64 << 20;

/// What the server answered.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// How long it asks to be left alone.
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

/// What the server answered, or why it did not.
pub(crate) type Exchange = Result<Reply, String>;

/// A running thread with one connection. Dropping it lets the thread end after its exchange.
#[derive(Debug)]
pub(crate) struct Courier {
    bodies: SyncSender<Vec<u8>>,
    replies: Receiver<(Vec<u8>, Exchange)>,
}

/// Where and how to post.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) timeout: Duration,
    pub(crate) authorization: Option<String>,
    /// Whom to trust, where the address begins with `https`.
    pub(crate) tls: Option<ClientTls>,
    pub(crate) compression: Compression,
    /// Besides those that every request has, or instead of them.
    pub(crate) headers: Vec<(String, String)>,
}

/// How bodies of `_bulk` are sent: servers that speak it know nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyCompression {
    /// As they are.
    #[default]
    None,
    /// gzip, fast: a fifth of the bytes, for some processor time.
    Gzip,
}

impl From<BodyCompression> for Compression {
    fn from(compression: BodyCompression) -> Self {
        match compression {
            BodyCompression::None => Compression::None,
            BodyCompression::Gzip => Compression::Gzip,
        }
    }
}

impl Courier {
    pub(crate) fn start(address: Address) -> Result<Courier, String> {
        let (bodies, bodies_in) = sync_channel::<Vec<u8>>(1);
        let (replies_out, replies) = sync_channel(1);
        let run = move || {
            let config = ureq::Agent::config_builder()
                .timeout_global(Some(address.timeout))
                .http_status_as_error(false)
                .max_redirects(0)
                .build();
            let agent = secure::agent(config, address.tls.as_ref());
            let mut packed = Vec::new();
            for body in bodies_in {
                let exchange = post(&agent, &address, &body, &mut packed);
                if replies_out.send((body, exchange)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new()
            .name("collect-courier".to_owned())
            .spawn(run)
            .map_err(|error| format!("cannot start its thread: {error}"))?;
        Ok(Courier { bodies, replies })
    }

    /// Posts a body and waits for the answer; the body's memory comes back with it. `None` when
    /// the stop came first: the exchange may then still reach the server, and this courier must
    /// not be used again.
    pub(crate) fn exchange(&self, body: Vec<u8>, stop: &StopToken) -> Option<(Vec<u8>, Exchange)> {
        let dead = || Some((Vec::new(), Err("the sending thread ended".to_owned())));
        if self.bodies.send(body).is_err() {
            return dead();
        }
        let mut grace = STOP_GRACE;
        loop {
            match self.replies.recv_timeout(STOP_LOOK) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Disconnected) => return dead(),
                Err(RecvTimeoutError::Timeout) if !stop.is_stopped() => {}
                Err(RecvTimeoutError::Timeout) if grace.is_zero() => return None,
                Err(RecvTimeoutError::Timeout) => grace = grace.saturating_sub(STOP_LOOK),
            }
        }
    }
}

fn post(agent: &ureq::Agent, address: &Address, body: &[u8], packed: &mut Vec<u8>) -> Exchange {
    let mut request = agent.post(&address.url);
    let is_typed = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    if !address.headers.iter().any(is_typed) {
        request = request.header("Content-Type", "application/x-ndjson");
    }
    for (name, value) in &address.headers {
        request = request.header(name, value);
    }
    if let Some(authorization) = &address.authorization {
        request = request.header("Authorization", authorization);
    }
    let sent = match address.compression {
        Compression::None => request.send(body),
        Compression::Gzip => {
            gzip(body, packed).map_err(|error| error.to_string())?;
            request.header("Content-Encoding", "gzip").send(&packed[..])
        }
        Compression::Zstd => {
            zstd(body, packed).map_err(|error| error.to_string())?;
            request.header("Content-Encoding", "zstd").send(&packed[..])
        }
    };
    let mut response = sent.map_err(|error| in_words(&error.to_string()))?;
    let status = response.status().as_u16();
    let asked = response.headers().get("retry-after");
    let seconds = asked.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let body = response
        .body_mut()
        .with_config()
        .limit(REPLY_BYTES_MAX)
        .read_to_vec()
        .map_err(|error| format!("reply broken off: {error}"))?;
    Ok(Reply {
        status,
        retry_after: seconds.map(Duration::from_secs),
        body,
    })
}

/// Why nothing was answered, with what may be done where it is about trust.
fn in_words(reason: &str) -> String {
    const MEANINGS: [(&str, &str); 3] = [
        (
            "InvalidContentType",
            "what answers does not speak TLS: is its address one of http://?",
        ),
        (
            "UnknownIssuer",
            "no authority that is trusted has signed it: [tls.ca] names others",
        ),
        (
            "CaUsedAsEndEntity",
            "it is an authority's own, which is trusted where [tls.ca] names it",
        ),
    ];
    let known = MEANINGS.iter().find(|(error, _)| reason.contains(error));
    match known {
        Some((_, meaning)) => format!("{reason} ({meaning})"),
        None => reason.to_owned(),
    }
}

/// Compresses into a buffer that is used again and again.
fn gzip(body: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
    packed.clear();
    let mut encoder = GzEncoder::new(packed, flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish().map(drop)
}

/// As [`gzip`], by Zstandard at its fastest ordinary level.
fn zstd(body: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
    packed.clear();
    packed.resize(zstd::zstd_safe::compress_bound(body.len()), 0);
    let bytes = zstd::bulk::compress_to_buffer(body, &mut packed[..], 1)?;
    packed.truncate(bytes);
    Ok(())
}

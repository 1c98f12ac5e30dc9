//! The thread that does the blocking HTTP exchange, so that the collector can turn away from an
//! exchange that hangs when it is asked to stop.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::stop::StopToken;

/// How often a waiting collector looks at the stop token.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// How long a reply may still take once the stop was asked for: most exchanges end within it,
/// and then nothing has to be sent again.
const STOP_GRACE: Duration = Duration::from_millis(100);
/// Replies longer than this are not read to their end, and so count as broken.
const REPLY_BYTES_MAX: u64 = 64 << 20;

/// What the server answered, or why it did not.
pub(crate) type Exchange = Result<(u16, Vec<u8>), String>;

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
    pub(crate) compression: BodyCompression,
}

/// How bodies are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyCompression {
    /// As they are.
    #[default]
    None,
    /// gzip, fast: a fifth of the bytes, for some processor time.
    Gzip,
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
            let agent = ureq::Agent::new_with_config(config);
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
    let mut request = agent
        .post(&address.url)
        .header("Content-Type", "application/x-ndjson");
    if let Some(authorization) = &address.authorization {
        request = request.header("Authorization", authorization);
    }
    let sent = match address.compression {
        BodyCompression::None => request.send(body),
        BodyCompression::Gzip => {
            pack(body, packed).map_err(|error| error.to_string())?;
            request.header("Content-Encoding", "gzip").send(&packed[..])
        }
    };
    let mut response = sent.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    let reply = response
        .body_mut()
        .with_config()
        .limit(REPLY_BYTES_MAX)
        .read_to_vec();
    reply
        .map(|reply| (status, reply))
        .map_err(|error| format!("reply broken off: {error}"))
}

/// Compresses into a buffer that is used again and again.
fn pack(body: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
    packed.clear();
    let mut encoder = GzEncoder::new(packed, flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish().map(drop)
}

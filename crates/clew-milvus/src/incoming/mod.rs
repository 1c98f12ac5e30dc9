//! What clients send, as it comes in: booked on the node's account of memory before it is kept, and again, before it is
//! read, for what it will become. What finds no room is refused, however many send at once.

mod measure;

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use clew_platform::{MemoryAccount, MemoryExceeded, MemoryPurpose, Reservation};
use clew_schema::parsed_json_bytes;
use http_body_util::BodyExt;

use crate::error::MilvusError;

/// Requests up to this are not booked.
const FREE_BYTES: usize = 16 << 10;
/// A message is there as it came and once more as it is taken apart.
const COPIES: usize = 2;
/// A message's head: whether it is compressed, and its length.
const HEAD_BYTES: usize = 5;
/// A client that has begun a request must go on with it in this time: what it has sent is memory that others want.
const STALLED_AFTER: Duration = Duration::from_secs(30);
/// So many times the longest body is taken off the connection of a client that is refused and goes on sending.
const REFUSED_BODIES: usize = 10;

/// What requests may take.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Longest message or body.
    pub(crate) bytes_max: usize,
    /// The account of all of them together.
    pub(crate) memory: Arc<MemoryAccount>,
}

/// A request as it came, and the room that it has until it is answered.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) bytes: Bytes,
    pub(crate) room: Reservation,
}

/// Why a request is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("received message larger than max ({bytes} vs. {max})")]
    TooLong { bytes: usize, max: usize },
    #[error("{0}")]
    NoRoom(MemoryExceeded),
    #[error("no byte of the request came for {STALLED_AFTER:?}")]
    Stalled,
    #[error("compressed messages are not taken")]
    Compressed,
    #[error("{0}")]
    Broken(String),
}

impl From<MemoryExceeded> for Refused {
    fn from(exceeded: MemoryExceeded) -> Self {
        Refused::NoRoom(exceeded)
    }
}

impl From<Refused> for MilvusError {
    fn from(refused: Refused) -> Self {
        let told = refused.to_string();
        match refused {
            // What fits later is worth trying again, and clients do so; what can never fit is not.
            Refused::NoRoom(exceeded) => {
                let MemoryExceeded { wanted, used, .. } = exceeded;
                let told = format!("{told}: {wanted} bytes are wanted and {used} are taken");
                match exceeded.can_never_fit() {
                    true => MilvusError::MemoryLimit(told),
                    false => MilvusError::RateLimit(told),
                }
            }
            Refused::TooLong { .. } => MilvusError::TooLarge(told),
            Refused::Stalled | Refused::Compressed | Refused::Broken(_) => {
                MilvusError::Invalid(told)
            }
        }
    }
}

/// Reads the one message of a gRPC call, and books what a message of this name becomes.
///
/// # Errors
/// When it is too long, finds no room, does not come to its end, or is not one whole message.
pub(crate) async fn message(body: Body, limits: &Limits, name: &str) -> Result<Incoming, Refused> {
    let mut growing = Growing::new(limits, HEAD_BYTES);
    let mut body = body;
    let mut is_begun = false;
    while let Some(data) = next(&mut body).await? {
        growing.push(&data)?;
        if !is_begun && let Some((head, _)) = growing.bytes.split_first_chunk() {
            is_begun = true;
            let length = length_of(*head)?;
            growing.expect(length)?;
        }
    }
    let (Some((head, data)), true) = (growing.bytes.split_first_chunk(), is_begun) else {
        return Err(Refused::Broken("the call has no message".to_string()));
    };
    let length = length_of(*head)?;
    if data.len() != length {
        let told = format!("a message of {length} bytes is {} bytes long", data.len());
        return Err(Refused::Broken(told));
    }
    let becomes = measure::message_bytes(name, data);
    growing.book(becomes)?;
    let mut incoming = growing.done();
    incoming.bytes = incoming.bytes.slice(HEAD_BYTES..);
    Ok(incoming)
}

/// Reads the body of a request that is JSON, and books what it becomes.
///
/// # Errors
/// When it is too long, finds no room, or does not come to its end. What is left of it is taken off the connection all the
/// same: a client that is still sending does not see an answer.
pub(crate) async fn json(mut body: Body, limits: &Limits) -> Result<Incoming, Refused> {
    let mut growing = Growing::new(limits, 0);
    let read = async {
        while let Some(data) = next(&mut body).await? {
            growing.push(&data)?;
        }
        let becomes = parsed_json_bytes(&growing.bytes);
        growing.book(becomes)
    };
    let Err(refused) = read.await else {
        return Ok(growing.done());
    };
    drop(growing);
    let mut left = limits.bytes_max.saturating_mul(REFUSED_BODIES);
    while let Ok(Some(data)) = next(&mut body).await {
        left = left.saturating_sub(data.len());
        if left == 0 {
            break;
        }
    }
    Err(refused)
}

/// The next bytes of a body.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Refused> {
    loop {
        let frame = tokio::time::timeout(STALLED_AFTER, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Refused::Stalled)? else {
            return Ok(None);
        };
        let frame = frame.map_err(|error| Refused::Broken(error.to_string()))?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// The length that a message's head tells.
fn length_of(head: [u8; HEAD_BYTES]) -> Result<usize, Refused> {
    let [is_compressed, length @ ..] = head;
    if is_compressed != 0 {
        return Err(Refused::Compressed);
    }
    Ok(u32::from_be_bytes(length) as usize)
}

/// A request on its way in.
struct Growing {
    bytes: Vec<u8>,
    room: Reservation,
    bytes_max: usize,
    head_bytes: usize,
}

impl Growing {
    fn new(limits: &Limits, head_bytes: usize) -> Self {
        Growing {
            bytes: Vec::new(),
            room: limits.memory.open(MemoryPurpose::Bodies),
            bytes_max: limits.bytes_max,
            head_bytes,
        }
    }

    /// So many bytes are said to come. Their memory is taken from the system only as they do.
    fn expect(&mut self, length: usize) -> Result<(), Refused> {
        self.check(length)?;
        let more = (length + self.head_bytes).saturating_sub(self.bytes.len());
        self.bytes.reserve_exact(more);
        Ok(())
    }

    fn check(&self, bytes: usize) -> Result<(), Refused> {
        let max = self.bytes_max;
        match bytes > max {
            true => Err(Refused::TooLong { bytes, max }),
            false => Ok(()),
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<(), Refused> {
        let length = self.bytes.len() + data.len();
        self.check(length.saturating_sub(self.head_bytes))?;
        if length > FREE_BYTES {
            self.room.grow_to(length * COPIES)?;
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// Books what the request becomes, beside what it is.
    fn book(&mut self, becomes: usize) -> Result<(), Refused> {
        if self.bytes.len() + becomes > FREE_BYTES {
            self.room.grow(becomes)?;
        }
        Ok(())
    }

    fn done(self) -> Incoming {
        Incoming {
            bytes: self.bytes.into(),
            room: self.room,
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::MemoryLimits;

    use super::*;

    fn limits(bodies: usize) -> Limits {
        let own = MemoryLimits {
            bodies,
            ..MemoryLimits::none()
        };
        Limits {
            bytes_max: 1 << 20,
            memory: MemoryAccount::new(own),
        }
    }

    fn framed(told: u32, data: &[u8]) -> Body {
        let mut bytes = vec![0];
        bytes.extend(told.to_be_bytes());
        bytes.extend(data);
        Body::from(bytes)
    }

    async fn code_of(body: Body, limits: &Limits) -> i32 {
        let read = message(body, limits, "InsertRequest").await;
        MilvusError::from(read.unwrap_err()).code()
    }

    #[tokio::test]
    async fn a_message_has_its_room_until_it_is_answered() {
        let limits = limits(1 << 20);
        let data = vec![0; 100_000];
        let read = message(framed(100_000, &data), &limits, "InsertRequest").await;
        let incoming = read.unwrap();
        assert_eq!(incoming.bytes.len(), 100_000);
        assert!(limits.memory.total().used >= 200_000);
        drop(incoming);
        assert_eq!(limits.memory.total().used, 0);
    }

    #[tokio::test]
    async fn what_fits_later_is_told_from_what_never_fits() {
        const RATE_LIMIT: i32 = 8;
        const MEMORY_LIMIT: i32 = 3;
        let limits = limits(1 << 20);
        let data = vec![0; 200_000];
        let others = limits.memory.reserve(MemoryPurpose::Bodies, 700_000);
        assert_eq!(code_of(framed(200_000, &data), &limits).await, RATE_LIMIT);
        drop(others);
        let read = message(framed(200_000, &data), &limits, "InsertRequest").await;
        assert!(read.is_ok());
        drop(read);
        // Columns of nothing become structures.
        let columns = b"\x2a\x00".repeat(50_000);
        assert_eq!(
            code_of(framed(100_000, &columns), &limits).await,
            MEMORY_LIMIT
        );
        assert_eq!(limits.memory.total().used, 0);
    }

    #[tokio::test]
    async fn what_is_not_one_whole_message_is_refused() {
        let limits = limits(1 << 20);
        for (body, told) in [
            (Body::empty(), "the call has no message"),
            (Body::from(vec![0, 0, 0]), "the call has no message"),
            (framed(5, b"four"), "a message of 5 bytes is 4 bytes long"),
            (framed(3, b"four"), "a message of 3 bytes is 4 bytes long"),
            (
                Body::from(vec![1, 0, 0, 0, 0]),
                "compressed messages are not taken",
            ),
            (
                framed(1 << 21, b""),
                "received message larger than max (2097152 vs. 1048576)",
            ),
        ] {
            let read = message(body, &limits, "InsertRequest").await;
            assert_eq!(read.unwrap_err().to_string(), told);
        }
    }
}

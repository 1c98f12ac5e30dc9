//! A batch as bytes: its length, its CRC-32C, and for each event the lengths of its id and its document, its time, both texts.

use crate::event::{EpochMillis, Event};

/// Length and sum.
pub(super) const HEAD_BYTES: usize = 8;
/// What is in front of an event's texts.
const EVENT_HEAD_BYTES: usize = 16;
/// A block is one batch: no larger one was ever written.
const BLOCK_BYTES_MAX: u32 = 256 << 20;

/// Writes a block.
pub(super) fn encode(batch: &[Event], out: &mut Vec<u8>) {
    out.clear();
    out.resize(HEAD_BYTES, 0);
    for event in batch {
        out.extend_from_slice(&length(event.id.len()).to_le_bytes());
        out.extend_from_slice(&length(event.document.len()).to_le_bytes());
        out.extend_from_slice(&event.timestamp.0.to_le_bytes());
        out.extend_from_slice(event.id.as_bytes());
        out.extend_from_slice(&event.document);
    }
    let sum = crc32c::crc32c(&out[HEAD_BYTES..]);
    let bytes = length(out.len() - HEAD_BYTES);
    out[..4].copy_from_slice(&bytes.to_le_bytes());
    out[4..HEAD_BYTES].copy_from_slice(&sum.to_le_bytes());
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("batches have at most 64 MiB and one document more")
}

/// The bytes of a block behind this head, if it can be one.
pub(super) fn body_bytes(head: [u8; HEAD_BYTES]) -> Option<usize> {
    let bytes = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    (bytes <= BLOCK_BYTES_MAX).then_some(bytes as usize)
}

/// Reads a block; `None` if it is damaged.
pub(super) fn decode(head: [u8; HEAD_BYTES], body: &[u8]) -> Option<Vec<Event>> {
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if crc32c::crc32c(body) != sum {
        return None;
    }
    let mut events = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let (head, texts) = rest.split_first_chunk::<EVENT_HEAD_BYTES>()?;
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (id, texts) = texts.split_at_checked(number(0) as usize)?;
        let (document, behind) = texts.split_at_checked(number(4) as usize)?;
        let (_, time) = head.split_last_chunk::<8>()?;
        events.push(Event {
            id: String::from_utf8(id.to_vec()).ok()?,
            timestamp: EpochMillis(i64::from_le_bytes(*time)),
            document: document.to_vec(),
            ..Event::default()
        });
        rest = behind;
    }
    Some(events)
}

//! A batch as bytes: its length, its CRC-32C, and for each event the lengths of its id and its document, its time, both texts.
//! Where the highest bit of the id's length is set, the length of the event's metadata and its text stand behind them.

use crate::event::{EpochMillis, Event};

/// Length and sum.
pub(super) const HEAD_BYTES: usize = 8;
/// What is in front of an event's texts.
const EVENT_HEAD_BYTES: usize = 16;
/// In the length of an id: metadata follow.
const HAS_METADATA: u32 = 1 << 31;
/// A block is one batch: no larger one was ever written.
const BLOCK_BYTES_MAX: u32 = 256 << 20;

/// Writes a block.
pub(super) fn encode(batch: &[Event], out: &mut Vec<u8>) {
    out.clear();
    out.resize(HEAD_BYTES, 0);
    for event in batch {
        let mark = match event.metadata.is_empty() {
            true => 0,
            false => HAS_METADATA,
        };
        out.extend_from_slice(&(length(event.id.len()) | mark).to_le_bytes());
        out.extend_from_slice(&length(event.document.len()).to_le_bytes());
        out.extend_from_slice(&event.timestamp.0.to_le_bytes());
        out.extend_from_slice(event.id.as_bytes());
        out.extend_from_slice(&event.document);
        if mark != 0 {
            out.extend_from_slice(&length(event.metadata.len()).to_le_bytes());
            out.extend_from_slice(event.metadata.as_bytes());
        }
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
        let id_bytes = (number(0) & !HAS_METADATA) as usize;
        let (id, texts) = texts.split_at_checked(id_bytes)?;
        let (document, mut behind) = texts.split_at_checked(number(4) as usize)?;
        let mut metadata = String::new();
        if number(0) & HAS_METADATA != 0 {
            let (bytes, texts) = behind.split_first_chunk::<4>()?;
            let (text, rest) = texts.split_at_checked(u32::from_le_bytes(*bytes) as usize)?;
            metadata = String::from_utf8(text.to_vec()).ok()?;
            behind = rest;
        }
        let (_, time) = head.split_last_chunk::<8>()?;
        events.push(Event {
            id: String::from_utf8(id.to_vec()).ok()?,
            timestamp: EpochMillis(i64::from_le_bytes(*time)),
            document: document.to_vec(),
            metadata,
            ..Event::default()
        });
        rest = behind;
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &[u8]) -> Option<Vec<Event>> {
        let (head, body) = block.split_first_chunk::<HEAD_BYTES>()?;
        assert_eq!(body_bytes(*head), Some(body.len()));
        decode(*head, body)
    }

    #[test]
    fn events_come_back_with_what_goes_with_them() {
        let event = |id: &str, metadata: &str| Event {
            id: id.to_owned(),
            timestamp: EpochMillis(-7),
            document: br#"{"a":1}"#.to_vec(),
            metadata: metadata.to_owned(),
            ..Event::default()
        };
        let batch = [
            event("1", ""),
            event("é", r#"{"_index":"a"}"#),
            event("3", ""),
        ];
        let mut block = Vec::new();
        encode(&batch, &mut block);
        assert_eq!(read(&block), Some(batch.to_vec()));
        for at in 0..block.len() {
            let mut damaged = block.clone();
            damaged[at] ^= 1;
            if at >= 4 {
                assert_eq!(read(&damaged), None, "{at}");
            }
        }
    }

    #[test]
    fn what_earlier_builds_wrote_is_read() {
        let body = [
            &1_u32.to_le_bytes()[..],
            &2_u32.to_le_bytes(),
            &5_i64.to_le_bytes(),
            b"x{}",
        ];
        let body = body.concat();
        let mut block = Vec::from(u32::try_from(body.len()).unwrap().to_le_bytes());
        block.extend_from_slice(&crc32c::crc32c(&body).to_le_bytes());
        block.extend_from_slice(&body);
        let expected = Event {
            id: "x".to_owned(),
            timestamp: EpochMillis(5),
            document: b"{}".to_vec(),
            ..Event::default()
        };
        assert_eq!(read(&block), Some(vec![expected]));
    }
}

//! Messages of Kafka on their way to parcels.

use std::mem;
use std::sync::Arc;

use rdkafka::message::{Headers, Message, Timestamp};

use crate::feed::{MessageHead, Messages, PARCEL_BYTES, Parcel, ParcelKind};
use crate::fingerprint::hash_bytes;
use crate::json::{push_number, push_text};

/// How far a partition is read once a parcel is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) topic: Arc<str>,
    pub(super) partition: i32,
    /// The offset behind the last message.
    pub(super) next: i64,
}

impl Position {
    /// Whether its partition is one of these.
    pub(super) fn is_among(&self, partitions: &[(String, i32)]) -> bool {
        let is_ours = |(topic, partition): &(String, i32)| {
            *partition == self.partition && **topic == *self.topic
        };
        partitions.iter().any(is_ours)
    }
}

/// Messages that are not handed over yet.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    text: Vec<u8>,
    ends: Vec<(usize, bool)>,
    messages: Messages,
    positions: Vec<Position>,
}

impl Gathered {
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() + self.messages.fields.len() >= PARCEL_BYTES
    }

    /// Adds a message, cut to so many bytes.
    pub(super) fn add(&mut self, message: &impl Message, bytes_max: usize) {
        let payload = message.payload().unwrap_or_default();
        let kept = &payload[..payload.len().min(bytes_max)];
        self.text.extend_from_slice(kept);
        self.ends
            .push((self.text.len(), kept.len() < payload.len()));
        let time_ms = match message.timestamp() {
            Timestamp::CreateTime(ms) | Timestamp::LogAppendTime(ms) if ms >= 0 => Some(ms),
            _ => None,
        };
        push_fields(&mut self.messages.fields, message, time_ms);
        self.messages.heads.push(MessageHead {
            key: key_of(message, time_ms),
            offset: u64::try_from(message.offset()).unwrap_or(0),
            time_ms,
            fields_end: self.messages.fields.len(),
        });
        self.read_to(message.topic(), message.partition(), message.offset() + 1);
    }

    /// Forgets how far partitions are read that are given up.
    pub(super) fn forget(&mut self, revoked: &[(String, i32)]) {
        self.positions
            .retain(|position| !position.is_among(revoked));
    }

    fn read_to(&mut self, topic: &str, partition: i32, next: i64) {
        let of_one = |known: &&mut Position| known.partition == partition && *known.topic == *topic;
        match self.positions.iter_mut().rev().find(of_one) {
            Some(known) => known.next = next,
            None => self.positions.push(Position {
                topic: topic.into(),
                partition,
                next,
            }),
        }
    }

    /// The parcel, and how far its partitions are read with it.
    pub(super) fn take(&mut self, feed: usize, sender: &Arc<str>) -> (Parcel, Vec<Position>) {
        let gathered = mem::take(self);
        let parcel = Parcel {
            feed,
            sender: Arc::clone(sender),
            text: gathered.text,
            ends: gathered.ends,
            kind: ParcelKind::Messages(gathered.messages),
            receipt: None,
            cursor: None,
        };
        (parcel, gathered.positions)
    }
}

/// The part of an event's id that names its partition: whoever reads it, and when. The time tells messages of a topic from
/// those of another one that has had its name.
fn key_of(message: &impl Message, time_ms: Option<i64>) -> u64 {
    let key = hash_bytes(0, message.topic().as_bytes());
    let key = hash_bytes(key, &message.partition().to_le_bytes());
    hash_bytes(key, &time_ms.unwrap_or(-1).to_le_bytes())
}

/// Appends the fields that messages have beside their text.
fn push_fields(out: &mut Vec<u8>, message: &impl Message, time_ms: Option<i64>) {
    out.extend_from_slice(b"\"kafka\":{\"topic\":");
    push_text(out, message.topic());
    out.extend_from_slice(b",\"partition\":");
    push_number(out, u64::try_from(message.partition()).unwrap_or(0));
    out.extend_from_slice(b",\"offset\":");
    push_number(out, u64::try_from(message.offset()).unwrap_or(0));
    if let Some(key) = message.key() {
        out.extend_from_slice(b",\"key\":");
        push_text(out, &String::from_utf8_lossy(key));
    }
    if let Some(headers) = message.headers().filter(|headers| headers.count() > 0) {
        out.extend_from_slice(b",\"headers\":[");
        for (number, header) in headers.iter().enumerate() {
            if number > 0 {
                out.push(b',');
            }
            let value = String::from_utf8_lossy(header.value.unwrap_or_default());
            push_text(out, &format!("{}: {value}", header.key));
        }
        out.push(b']');
    }
    if let Some(time) = time_ms.and_then(|ms| u64::try_from(ms).ok()) {
        out.extend_from_slice(b",\"timestamp\":");
        push_number(out, time);
    }
    out.push(b'}');
}

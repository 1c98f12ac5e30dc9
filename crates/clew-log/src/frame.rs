//! Frames: how entries and marks lie in a log file. `docs/formats/log.md` has the byte tables.
//!
//! The checksum is one pass over an aligned run of bytes, because reading is bound by it: it
//! begins behind the length, and takes the length in as the value to start from.

use crate::options::NewEntry;
use crate::position::{Glsn, Llsn, StreamId};

/// Bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 32;
/// Frames begin at multiples of this, and so do the places where recovery looks for them.
pub(crate) const ALIGNMENT: usize = 8;

const KIND_AT: usize = 28;
const KIND_ENTRY: u8 = 1;
const KIND_MARK: u8 = 2;
/// The last entry of its call to `append`: recovery keeps calls whole.
const FLAG_CALL_END: u8 = 1;
const ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];

const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGNMENT));

/// The length of an entry's payload, found to be within the limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadLen(u32);

impl PayloadLen {
    /// Measures a payload; gives its length back when that is above `bytes_max`.
    pub(crate) fn new(entry: &NewEntry<'_>, bytes_max: usize) -> Result<Self, usize> {
        let bytes: usize = entry.parts.iter().map(|part| part.len()).sum();
        let checked = u32::try_from(bytes).ok().filter(|_| bytes <= bytes_max);
        checked.map(PayloadLen).ok_or(bytes)
    }

    /// The length of the whole frame.
    pub(crate) fn frame_bytes(self) -> usize {
        HEADER_BYTES + padded(self.0 as usize)
    }
}

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) stream: StreamId,
    pub(crate) glsn: Glsn,
    pub(crate) llsn: Llsn,
    pub(crate) ends_call: bool,
}

/// Appends an entry's frame to a buffer.
pub(crate) fn push_entry(buffer: &mut Vec<u8>, length: PayloadLen, place: Place, parts: &[&[u8]]) {
    let mut header = header(KIND_ENTRY, place.glsn, place.llsn.get());
    header[4..8].copy_from_slice(&length.0.to_le_bytes());
    header[24..28].copy_from_slice(&place.stream.get().to_le_bytes());
    header[29] = if place.ends_call { FLAG_CALL_END } else { 0 };
    let start = buffer.len();
    buffer.extend_from_slice(&header);
    for part in parts {
        buffer.extend_from_slice(part);
    }
    let end = start + length.frame_bytes();
    buffer.extend_from_slice(&ZEROS[..end - buffer.len()]);
    seal(&mut buffer[start..]);
}

/// A mark's frame: before `next`, everything up to `synced` was durable.
pub(crate) fn mark(next: Glsn, synced: Glsn) -> [u8; HEADER_BYTES] {
    let mut header = header(KIND_MARK, next, synced.get());
    seal(&mut header);
    header
}

fn header(kind: u8, glsn: Glsn, second: u64) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[8..16].copy_from_slice(&glsn.get().to_le_bytes());
    header[16..24].copy_from_slice(&second.to_le_bytes());
    header[KIND_AT] = kind;
    header
}

fn seal(frame: &mut [u8]) {
    let length = u32_at(frame.first_chunk().expect("a frame has a header"), 4);
    let checksum = checksum(length, frame);
    frame[..4].copy_from_slice(&checksum.to_le_bytes());
}

/// The checksum of a whole frame, which covers all of it but itself.
#[inline]
fn checksum(length: u32, frame: &[u8]) -> u32 {
    crc32c::crc32c_append(length, &frame[8..])
}

/// A frame whose checksum was right.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    Entry { place: Place, payload: &'a [u8] },
    Mark { next: Glsn, synced: Glsn },
}

impl Frame<'_> {
    /// The length of the whole frame.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Frame::Entry { payload, .. } => HEADER_BYTES + padded(payload.len()),
            Frame::Mark { .. } => HEADER_BYTES,
        }
    }

    /// The position this frame claims: an entry's own, or that of the entry after a mark.
    pub(crate) fn glsn(&self) -> Glsn {
        match self {
            Frame::Entry { place, .. } => place.glsn,
            Frame::Mark { next, .. } => *next,
        }
    }
}

/// Reads the frame at the start of `bytes`, or says why there is none.
#[inline]
pub(crate) fn decode(bytes: &[u8]) -> Result<Frame<'_>, &'static str> {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
        return Err("frame header is cut off");
    };
    let length = u32_at(header, 4);
    let Some(frame) = bytes.get(..HEADER_BYTES + padded(length as usize)) else {
        return Err("frame is longer than the rest of the file");
    };
    if checksum(length, frame) != u32_at(header, 0) {
        return Err("checksum does not match");
    }
    let glsn = Glsn::new(u64_at(header, 8));
    let second = u64_at(header, 16);
    match header[KIND_AT] {
        KIND_ENTRY => {
            let place = Place {
                stream: StreamId::new(u32_at(header, 24)),
                glsn,
                llsn: Llsn::new(second),
                ends_call: header[29] & FLAG_CALL_END != 0,
            };
            Ok(Frame::Entry {
                place,
                payload: &frame[HEADER_BYTES..HEADER_BYTES + length as usize],
            })
        }
        KIND_MARK => Ok(Frame::Mark {
            next: glsn,
            synced: Glsn::new(second),
        }),
        _ => Err("frame kind is unknown"),
    }
}

/// A quick look that spares most places the checksum: could a mark begin here?
pub(crate) fn may_be_mark(bytes: &[u8]) -> bool {
    bytes.get(KIND_AT) == Some(&KIND_MARK) && bytes.get(4..8) == Some(&ZEROS[..4])
}

fn padded(payload_bytes: usize) -> usize {
    payload_bytes.next_multiple_of(ALIGNMENT)
}

#[inline]
fn u32_at(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(
        header[at..at + 4]
            .try_into()
            .expect("the range is four bytes long"),
    )
}

#[inline]
fn u64_at(header: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(
        header[at..at + 8]
            .try_into()
            .expect("the range is eight bytes long"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(parts: &[&[u8]]) -> Vec<u8> {
        let stream = StreamId::new(9);
        let length = PayloadLen::new(&NewEntry { stream, parts }, 100).unwrap();
        let place = Place {
            stream,
            glsn: Glsn::new(5),
            llsn: Llsn::new(3),
            ends_call: true,
        };
        let mut buffer = Vec::new();
        push_entry(&mut buffer, length, place, parts);
        assert_eq!(buffer.len(), length.frame_bytes());
        buffer
    }

    #[test]
    fn an_entry_reads_back_as_it_was_written() {
        for parts in [
            &[][..],
            &[b"a".as_slice()],
            &[b"12345678"],
            &[b"123", b"", b"456789"],
        ] {
            let buffer = encoded(parts);
            assert!(buffer.len().is_multiple_of(ALIGNMENT));
            let frame = decode(&buffer).unwrap();
            assert_eq!(frame.bytes(), buffer.len());
            let Frame::Entry { place, payload } = frame else {
                panic!("not an entry")
            };
            assert_eq!(payload, parts.concat());
            assert_eq!((place.stream, place.glsn), (StreamId::new(9), Glsn::new(5)));
            assert_eq!((place.llsn, place.ends_call), (Llsn::new(3), true));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let buffer = encoded(&[b"payload bytes"]);
        for bit in 0..buffer.len() * 8 {
            let mut damaged = buffer.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            decode(&damaged).unwrap_err();
        }
        for end in 0..buffer.len() {
            decode(&buffer[..end]).unwrap_err();
        }
    }

    #[test]
    fn zeros_are_no_frame() {
        decode(&[0; 64]).unwrap_err();
    }

    #[test]
    fn a_mark_reads_back_and_looks_like_one() {
        let bytes = mark(Glsn::new(8), Glsn::new(6));
        assert!(may_be_mark(&bytes));
        assert!(!may_be_mark(&encoded(&[b"x"])));
        let Frame::Mark { next, synced } = decode(&bytes).unwrap() else {
            panic!("not a mark")
        };
        assert_eq!((next, synced), (Glsn::new(8), Glsn::new(6)));
    }
}

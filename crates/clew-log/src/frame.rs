//! Frames: how entries, marks and control records lie in a log file. `docs/formats/log.md` has
//! the byte tables.
//!
//! Entries of one moment and one stream share a frame, so that a batch, or many small calls, pay
//! for one header and one checksum.

use crc_fast::CrcAlgorithm;

use crate::options::{Compression, Producer};
use crate::position::{Glsn, Llsn, StreamId};

/// Bytes before a frame's body.
pub(crate) const HEADER_BYTES: usize = 40;
/// Frames begin at multiples of this, and so do the places where recovery looks for them.
pub(crate) const ALIGNMENT: usize = 8;
/// The checksum comes first and covers all behind it.
const CHECKSUM_BYTES: usize = 4;
/// Bytes of the producer's id and sequence at the start of a body.
const PRODUCER_BYTES: usize = 16;

const KIND_AT: usize = 30;
const FLAGS_AT: usize = 31;
const KIND_ENTRIES: u8 = 1;
const KIND_MARK: u8 = 2;
const KIND_CONTROL: u8 = 3;
/// The last frame of its call to `append`: recovery keeps calls whole.
const FLAG_CALL_END: u8 = 1;
const FLAG_PRODUCER: u8 = 2;
const FLAG_LZ4: u8 = 4;
const FLAG_ZSTD: u8 = 8;
const FLAGS_KNOWN: u8 = FLAG_CALL_END | FLAG_PRODUCER | FLAG_LZ4 | FLAG_ZSTD;
const ZEROS: [u8; ALIGNMENT] = [0; ALIGNMENT];

const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGNMENT));

/// Where the entries of a frame stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub(crate) stream: StreamId,
    /// Of the first entry; the others follow without gaps.
    pub(crate) glsn: Glsn,
    pub(crate) llsn: Llsn,
    /// Above zero.
    pub(crate) count: u32,
    /// When the call was ordered, in milliseconds since the Unix epoch; below 2^48.
    pub(crate) time_ms: u64,
}

impl FramePlace {
    /// The last entry's position.
    pub(crate) fn last(&self) -> Glsn {
        self.glsn.plus(u64::from(self.count) - 1)
    }

    /// The position of the entry after the last in its stream.
    pub(crate) fn next_llsn(&self) -> Llsn {
        self.llsn.plus(u64::from(self.count))
    }
}

/// All about a frame of entries but the entries themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) place: FramePlace,
    pub(crate) ends_call: bool,
    pub(crate) producer: Option<Producer>,
    pub(crate) compression: Compression,
}

/// The length of a whole frame whose block has `block_bytes`.
pub(crate) fn entries_bytes(block_bytes: usize, producer: Option<Producer>) -> usize {
    frame_bytes(block_bytes + producer.map_or(0, |_| PRODUCER_BYTES))
}

/// Where the block begins in a frame of entries.
pub(crate) fn entries_start(producer: Option<Producer>) -> usize {
    HEADER_BYTES + producer.map_or(0, |_| PRODUCER_BYTES)
}

/// The length of a whole frame.
pub(crate) fn frame_bytes(body_bytes: usize) -> usize {
    HEADER_BYTES + body_bytes.next_multiple_of(ALIGNMENT)
}

/// Begins a frame of entries at the end of a buffer. The block is to be appended, and then the
/// frame to be closed with [`finish_entries`].
pub(crate) fn begin_entries(buffer: &mut Vec<u8>, head: &Head) {
    let FramePlace {
        stream,
        glsn,
        llsn,
        time_ms,
        ..
    } = head.place;
    let mut header = header(KIND_ENTRIES, glsn, llsn.get());
    header[24..KIND_AT].copy_from_slice(&time_ms.to_le_bytes()[..6]);
    header[32..36].copy_from_slice(&stream.get().to_le_bytes());
    header[FLAGS_AT] = (if head.ends_call { FLAG_CALL_END } else { 0 })
        | head.producer.map_or(0, |_| FLAG_PRODUCER)
        | match head.compression {
            Compression::None => 0,
            Compression::Lz4 => FLAG_LZ4,
            Compression::Zstd => FLAG_ZSTD,
        };
    buffer.extend_from_slice(&header);
    if let Some(producer) = head.producer {
        buffer.extend_from_slice(&producer.id.to_le_bytes());
        buffer.extend_from_slice(&producer.sequence.to_le_bytes());
    }
}

/// Closes the frame of `count` entries that begins at `start` and reaches to the buffer's end.
pub(crate) fn finish_entries(buffer: &mut Vec<u8>, start: usize, count: u32) {
    buffer[start + 36..start + 40].copy_from_slice(&count.to_le_bytes());
    finish(buffer, start);
}

/// Appends a frame with a control record to a buffer; `next` is the position of the next entry.
pub(crate) fn push_control(buffer: &mut Vec<u8>, next: Glsn, record: &[u8]) {
    let start = buffer.len();
    buffer.extend_from_slice(&header(KIND_CONTROL, next, 0));
    buffer.extend_from_slice(record);
    finish(buffer, start);
}

/// A mark's frame: before it, everything below the offset `synced` of the file was durable.
pub(crate) fn mark(next: Glsn, synced: u64) -> [u8; HEADER_BYTES] {
    let mut header = header(KIND_MARK, next, synced);
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

/// Writes the length and the checksum of the frame that begins at `start`, and pads it.
fn finish(buffer: &mut Vec<u8>, start: usize) {
    let body_bytes = buffer.len() - start - HEADER_BYTES;
    let length = u32::try_from(body_bytes).expect("blocks are limited to less than 4 GiB");
    buffer[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
    let padding = frame_bytes(body_bytes) - HEADER_BYTES - body_bytes;
    buffer.extend_from_slice(&ZEROS[..padding]);
    seal(&mut buffer[start..]);
}

fn seal(frame: &mut [u8]) {
    let checksum = crc(&frame[CHECKSUM_BYTES..]);
    frame[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// The checksum that all parts of a log file have.
#[inline]
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    let crc = crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes);
    u32::try_from(crc).expect("a checksum of 32 bits")
}

/// A frame whose checksum was right.
#[derive(Debug)]
pub(crate) enum Frame<'a> {
    /// Entries, with the block that holds them as it is stored.
    Entries(Head, &'a [u8]),
    /// What was durable: all below the offset `synced` of the file.
    Mark { next: Glsn, synced: u64 },
    /// A change that is no entry.
    Control { next: Glsn, record: &'a [u8] },
}

impl Frame<'_> {
    /// The position this frame claims: that of its first entry, or of the entry after it.
    pub(crate) fn glsn(&self) -> Glsn {
        match self {
            Frame::Entries(head, _) => head.place.glsn,
            Frame::Mark { next, .. } | Frame::Control { next, .. } => *next,
        }
    }

    /// The position that is due after this frame.
    pub(crate) fn next(&self) -> Glsn {
        match self {
            Frame::Entries(head, _) => head.place.last().next(),
            Frame::Mark { next, .. } | Frame::Control { next, .. } => *next,
        }
    }
}

/// Reads the frame at the start of `bytes`, and the length of the whole of it; or says why there
/// is none.
#[inline(always)]
pub(crate) fn decode(bytes: &[u8]) -> Result<(Frame<'_>, usize), &'static str> {
    let Some(header) = bytes.first_chunk::<HEADER_BYTES>() else {
        return Err("frame header is cut off");
    };
    let length = u32_at(header, 4);
    let whole = frame_bytes(length as usize);
    let Some(frame) = bytes.get(..whole) else {
        return Err("frame is longer than the rest of the file");
    };
    if crc(&frame[CHECKSUM_BYTES..]) != u32_at(header, 0) {
        return Err("checksum does not match");
    }
    let body = &frame[HEADER_BYTES..HEADER_BYTES + length as usize];
    let glsn = Glsn::new(u64_at(header, 8));
    let second = u64_at(header, 16);
    let frame = match header[KIND_AT] {
        KIND_ENTRIES => entries(header, glsn, Llsn::new(second), body)?,
        KIND_MARK => Frame::Mark {
            next: glsn,
            synced: second,
        },
        KIND_CONTROL => Frame::Control {
            next: glsn,
            record: body,
        },
        _ => return Err("frame kind is unknown"),
    };
    Ok((frame, whole))
}

#[inline(always)]
fn entries<'a>(
    header: &[u8; HEADER_BYTES],
    glsn: Glsn,
    llsn: Llsn,
    body: &'a [u8],
) -> Result<Frame<'a>, &'static str> {
    let flags = header[FLAGS_AT];
    let count = u32_at(header, 36);
    if count == 0
        || flags & !FLAGS_KNOWN != 0
        || flags & (FLAG_LZ4 | FLAG_ZSTD) == FLAG_LZ4 | FLAG_ZSTD
    {
        return Err("frame of entries has impossible fields");
    }
    let (producer, block) = match flags & FLAG_PRODUCER {
        0 => (None, body),
        _ => {
            let (bytes, block) = body
                .split_at_checked(PRODUCER_BYTES)
                .ok_or("producer is cut off")?;
            let (id, sequence) = bytes.split_at(8);
            let number = |bytes: &[u8]| {
                u64::from_le_bytes(bytes.try_into().expect("halves of sixteen bytes"))
            };
            (
                Some(Producer {
                    id: number(id),
                    sequence: number(sequence),
                }),
                block,
            )
        }
    };
    let place = FramePlace {
        stream: StreamId::new(u32_at(header, 32)),
        glsn,
        llsn,
        count,
        time_ms: u64_at(header, 24) & ((1 << 48) - 1),
    };
    let compression = match flags & (FLAG_LZ4 | FLAG_ZSTD) {
        FLAG_LZ4 => Compression::Lz4,
        FLAG_ZSTD => Compression::Zstd,
        _ => Compression::None,
    };
    let ends_call = flags & FLAG_CALL_END != 0;
    Ok(Frame::Entries(
        Head {
            place,
            ends_call,
            producer,
            compression,
        },
        block,
    ))
}

/// A quick look that spares most places the checksum: could a mark begin here?
pub(crate) fn may_be_mark(bytes: &[u8]) -> bool {
    bytes.get(KIND_AT) == Some(&KIND_MARK) && bytes.get(4..8) == Some(&ZEROS[..4])
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
mod tests;

//! Blocks: how the entries of one frame lie one behind the other, and how a call is cut into
//! blocks. A block knows no positions; they follow from its frame.

use std::fmt;

use crate::compression;
use crate::error::LogError;
use crate::frame::Head;
use crate::options::{Compression, NewEntry};
use crate::position::StreamId;

/// A block is closed before it grows beyond this: a single read checks a whole block.
pub(crate) const BLOCK_BYTES: usize = 4 << 10;
/// The same for blocks that are compressed, which gain by more context.
const COMPRESSED_BLOCK_BYTES: usize = 128 << 10;
/// Smaller blocks are not worth compressing.
const COMPRESS_BYTES_MIN: usize = 512;
/// Headers of one entry, as stored.
const HEADERS_BYTES_MAX: usize = 64 << 10;
/// An entry's size field: the highest bit says that headers precede the payload.
const HAS_HEADERS: u32 = 1 << 31;
const SIZE_BYTES: usize = 4;
const KEY_SIZE_BYTES: usize = 2;

/// Entries of a call that will share a frame.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) stream: StreamId,
    /// Up to which entry of the call, exclusive.
    pub(crate) end: usize,
    pub(crate) count: u32,
    /// Bytes as stored.
    pub(crate) bytes: usize,
    /// The compressed bytes, when that is how they are stored.
    pub(crate) compressed: Option<(Compression, Vec<u8>)>,
}

/// Cuts a call into blocks, compressing those that gain by it. Checks every entry's limits.
pub(crate) fn plan(
    entries: &[NewEntry<'_>],
    compression: Compression,
    entry_bytes_max: usize,
) -> Result<Vec<Block>, LogError> {
    let target = match compression {
        Compression::None => BLOCK_BYTES,
        Compression::Lz4 | Compression::Zstd => COMPRESSED_BLOCK_BYTES,
    };
    let mut blocks: Vec<Block> = Vec::with_capacity(1);
    for (index, entry) in entries.iter().enumerate() {
        let bytes = measure(entry, entry_bytes_max)?;
        match blocks.last_mut() {
            Some(block) if block.stream == entry.stream && block.bytes + bytes <= target => {
                block.end = index + 1;
                block.count += 1;
                block.bytes += bytes;
            }
            _ => blocks.push(Block {
                stream: entry.stream,
                end: index + 1,
                count: 1,
                bytes,
                compressed: None,
            }),
        }
    }
    if compression != Compression::None {
        let mut start = 0;
        for block in &mut blocks {
            block.compress(&entries[start..block.end], compression);
            start = block.end;
        }
    }
    Ok(blocks)
}

impl Block {
    fn compress(&mut self, entries: &[NewEntry<'_>], compression: Compression) {
        if self.bytes < COMPRESS_BYTES_MIN {
            return;
        }
        let mut plain = Vec::with_capacity(self.bytes);
        entries.iter().for_each(|entry| push(&mut plain, entry));
        let compressed = compression::compress(compression, &plain);
        if compressed.len() < plain.len() {
            self.bytes = compressed.len();
            self.compressed = Some((compression, compressed));
        }
    }

    pub(crate) fn compression(&self) -> Compression {
        self.compressed
            .as_ref()
            .map_or(Compression::None, |(compression, _)| *compression)
    }

    /// Appends the block as it is stored; `entries` are the block's.
    pub(crate) fn push(&self, buffer: &mut Vec<u8>, entries: &[NewEntry<'_>]) {
        match &self.compressed {
            Some((_, bytes)) => buffer.extend_from_slice(bytes),
            None => entries.iter().for_each(|entry| push(buffer, entry)),
        }
    }
}

/// The bytes an entry takes in a block.
fn measure(entry: &NewEntry<'_>, entry_bytes_max: usize) -> Result<usize, LogError> {
    let bytes: usize = entry.parts.iter().map(|part| part.len()).sum();
    if bytes > entry_bytes_max {
        return Err(LogError::EntryTooLarge {
            bytes,
            max: entry_bytes_max,
        });
    }
    let headers = headers_bytes(entry);
    let longest_key = entry
        .headers
        .iter()
        .map(|(key, _)| key.len())
        .max()
        .unwrap_or(0);
    if headers > HEADERS_BYTES_MAX || u16::try_from(longest_key).is_err() {
        return Err(LogError::HeadersTooLarge {
            bytes: headers,
            max: HEADERS_BYTES_MAX,
        });
    }
    let headers = if entry.headers.is_empty() {
        0
    } else {
        SIZE_BYTES + headers
    };
    Ok(SIZE_BYTES + headers + bytes)
}

fn headers_bytes(entry: &NewEntry<'_>) -> usize {
    entry
        .headers
        .iter()
        .map(|(key, value)| KEY_SIZE_BYTES + SIZE_BYTES + key.len() + value.len())
        .sum()
}

/// Appends an entry that `measure` has found to be within the limits.
fn push(buffer: &mut Vec<u8>, entry: &NewEntry<'_>) {
    let size = |bytes: usize| u32::try_from(bytes).expect("the entry was measured");
    let payload: usize = entry.parts.iter().map(|part| part.len()).sum();
    if entry.headers.is_empty() {
        buffer.extend_from_slice(&size(payload).to_le_bytes());
    } else {
        let headers = headers_bytes(entry);
        let whole = size(SIZE_BYTES + headers + payload) | HAS_HEADERS;
        buffer.extend_from_slice(&whole.to_le_bytes());
        buffer.extend_from_slice(&size(headers).to_le_bytes());
        for (key, value) in entry.headers {
            let key_size = u16::try_from(key.len()).expect("the entry was measured");
            buffer.extend_from_slice(&key_size.to_le_bytes());
            buffer.extend_from_slice(&size(value.len()).to_le_bytes());
            buffer.extend_from_slice(key.as_bytes());
            buffer.extend_from_slice(value);
        }
    }
    for part in entry.parts {
        buffer.extend_from_slice(part);
    }
}

/// Headers and payload of an entry in a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content<'a> {
    pub(crate) headers: Headers<'a>,
    pub(crate) payload: &'a [u8],
}

/// Reads the entry at `at` in a block; also gives where the next one begins. `None` when the block
/// ends before the entry does.
#[inline]
pub(crate) fn entry_at(block: &[u8], at: usize) -> Option<(Content<'_>, usize)> {
    let rest = block.get(at..)?;
    let (size, rest) = rest.split_first_chunk::<SIZE_BYTES>()?;
    let size = u32::from_le_bytes(*size);
    let bytes = (size & !HAS_HEADERS) as usize;
    let body = rest.get(..bytes)?;
    let content = if size & HAS_HEADERS == 0 {
        Content {
            headers: Headers(&[]),
            payload: body,
        }
    } else {
        let (headers, rest) = body.split_first_chunk::<SIZE_BYTES>()?;
        let (headers, payload) = rest.split_at_checked(u32::from_le_bytes(*headers) as usize)?;
        Content {
            headers: Headers(headers),
            payload,
        }
    };
    Some((content, at + SIZE_BYTES + bytes))
}

/// Walks over all entries of a block; says what is wrong with it.
pub(crate) fn check(head: Head, block: &[u8], plain: &mut Vec<u8>) -> Result<(), &'static str> {
    let block = match head.compression {
        Compression::None => block,
        compression => {
            compression::decompress(compression, block, plain)?;
            &plain[..]
        }
    };
    let mut at = 0;
    for _ in 0..head.place.count {
        at = entry_at(block, at)
            .ok_or("frame ends before its entries do")?
            .1;
    }
    if at == block.len() {
        Ok(())
    } else {
        Err("frame has more than its entries")
    }
}

/// An entry's headers: keys with values in the order they were given. An iterator.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a str, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key_size, rest) = self.0.split_first_chunk::<KEY_SIZE_BYTES>()?;
        let (value_size, rest) = rest.split_first_chunk::<SIZE_BYTES>()?;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes(*key_size)))?;
        let (value, rest) = rest.split_at_checked(u32::from_le_bytes(*value_size) as usize)?;
        self.0 = rest;
        Some((std::str::from_utf8(key).ok()?, value))
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests;

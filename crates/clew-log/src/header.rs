//! File headers and file names: what ties the files of a log into one chain.
//!
//! A header names the file before it and where that file ends, so a finished file is known to be
//! whole without reading it, and it carries the streams' counters, so they outlive trimmed files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::LogError;
use crate::position::{Glsn, Llsn, StreamId};

/// The next LLSN of each stream.
pub(crate) type Streams = BTreeMap<StreamId, Llsn>;

const MAGIC: [u8; 8] = *b"CLEW-LOG";
const VERSION: u32 = 1;
const FIXED_BYTES: usize = 48;
const STREAM_BYTES: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The position of the file's first entry.
    pub(crate) first: Glsn,
    /// The file before this one; `None` only for the first file of a log.
    pub(crate) previous: Option<Previous>,
    pub(crate) streams: Streams,
}

/// The file before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Previous {
    pub(crate) first: Glsn,
    pub(crate) bytes: u64,
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let previous = self.previous.unwrap_or(Previous {
            first: Glsn::ZERO,
            bytes: 0,
        });
        let header_bytes = FIXED_BYTES + self.streams.len() * STREAM_BYTES;
        let mut bytes = Vec::with_capacity(header_bytes);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&(self.streams.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&self.first.get().to_le_bytes());
        bytes.extend_from_slice(&previous.first.get().to_le_bytes());
        bytes.extend_from_slice(&previous.bytes.to_le_bytes());
        for (stream, next) in &self.streams {
            bytes.extend_from_slice(&u64::from(stream.get()).to_le_bytes());
            bytes.extend_from_slice(&next.get().to_le_bytes());
        }
        assert_eq!(
            bytes.len(),
            header_bytes,
            "the constants describe what was written"
        );
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file; also gives its length.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<(Self, usize), LogError> {
        let corrupt = |reason| LogError::corrupt(path, 0, reason);
        if bytes.get(..8) != Some(&MAGIC) {
            return Err(corrupt("file does not begin as a log file"));
        }
        let mut fields = Fields(bytes.get(8..).unwrap_or_default());
        let cut_off = || corrupt("file header is cut off");
        let version = fields.u32().ok_or_else(cut_off)?;
        if version != VERSION {
            return Err(LogError::Version {
                path: path.to_owned(),
                version,
                known: VERSION,
            });
        }
        let stored_checksum = fields.u32().ok_or_else(cut_off)?;
        let count = fields.u64().ok_or_else(cut_off)?;
        let table_bytes = usize::try_from(count)
            .ok()
            .and_then(|n| n.checked_mul(STREAM_BYTES));
        let header_bytes = table_bytes.and_then(|n| n.checked_add(FIXED_BYTES));
        let header_bytes = header_bytes
            .filter(|n| *n <= bytes.len())
            .ok_or_else(cut_off)?;
        if checksum(&bytes[..header_bytes]) != stored_checksum {
            return Err(corrupt("checksum of the file header does not match"));
        }
        let first = Glsn::new(fields.u64().ok_or_else(cut_off)?);
        let previous = Previous {
            first: Glsn::new(fields.u64().ok_or_else(cut_off)?),
            bytes: fields.u64().ok_or_else(cut_off)?,
        };
        let mut streams = Streams::new();
        for _ in 0..count {
            let stream = fields
                .u64()
                .and_then(|n| u32::try_from(n).ok())
                .ok_or_else(cut_off)?;
            let next = fields.u64().ok_or_else(cut_off)?;
            streams.insert(StreamId::new(stream), Llsn::new(next));
        }
        let previous = Some(previous).filter(|previous| previous.first != Glsn::ZERO);
        Ok((
            Header {
                first,
                previous,
                streams,
            },
            header_bytes,
        ))
    }
}

/// The checksum of a header without the field that holds it.
fn checksum(header: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&header[..12]), &header[16..])
}

/// Little-endian numbers one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (field, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*field))
    }
    fn u64(&mut self) -> Option<u64> {
        let (field, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*field))
    }
}

/// The path of the file whose first entry is `first`.
pub(crate) fn file_path(dir: &Path, first: Glsn) -> PathBuf {
    dir.join(format!("{:016}.log", first.get()))
}

/// The first entry of a log file, from its name; `None` for names that are not a log file's.
pub(crate) fn first_of_name(path: &Path) -> Option<Glsn> {
    let digits = path.file_name()?.to_str()?.strip_suffix(".log")?;
    let plain = digits.len() >= 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain).map(Glsn::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let streams = [(1, 10), (70_000, 3)].map(|(s, n)| (StreamId::new(s), Llsn::new(n)));
        Header {
            first: Glsn::new(77),
            previous: Some(Previous {
                first: Glsn::new(5),
                bytes: 4096,
            }),
            streams: streams.into(),
        }
    }

    #[test]
    fn a_header_reads_back_as_it_was_written() {
        let first = Header {
            first: Glsn::FIRST,
            previous: None,
            streams: Streams::new(),
        };
        for header in [header(), first] {
            let mut bytes = header.encode();
            let header_bytes = bytes.len();
            bytes.extend_from_slice(b"frames follow");
            let decoded = Header::decode(&bytes, Path::new("f")).unwrap();
            assert_eq!(decoded, (header, header_bytes));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_of_a_header_is_noticed() {
        let bytes = header().encode();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            Header::decode(&damaged, Path::new("f")).unwrap_err();
        }
        for end in 0..bytes.len() {
            Header::decode(&bytes[..end], Path::new("f")).unwrap_err();
        }
    }

    #[test]
    fn only_log_file_names_are_taken_for_log_files() {
        let check = |name: &str, first| {
            assert_eq!(
                first_of_name(Path::new(name)).map(Glsn::get),
                first,
                "{name}"
            );
        };
        check("d/0000000000000001.log", Some(1));
        check("d/18446744073709551615.log", Some(u64::MAX));
        check("d/0000000000000001.log.tmp", None);
        check("d/1.log", None);
        check("d/+000000000000001.log", None);
        check("d/lock", None);
        assert_eq!(
            file_path(Path::new("d"), Glsn::new(12)),
            Path::new("d/0000000000000012.log")
        );
    }
}

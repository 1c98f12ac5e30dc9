//! File headers and file names: what ties the files of a log into one chain.
//!
//! A header names the file before it and where that file ends, so a finished file is known to be
//! whole without reading it, and it carries all state that is not in the entries, so that it
//! outlives trimmed files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::LogError;
use crate::fields::Fields;
use crate::frame::{self, ALIGNMENT, Head};
use crate::position::{Glsn, Llsn, StreamId};
use crate::producers::Producers;
use crate::registry::Registry;

const MAGIC: [u8; 8] = *b"CLEW-LOG";
/// Version 1 was never released.
const VERSION: u32 = 2;
const FIXED_BYTES: usize = 56;
const COUNTER_BYTES: usize = 16;

/// What is known besides the entries, at one point of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogState {
    /// No later entry has an earlier time.
    pub(crate) time_ms: u64,
    pub(crate) registry: Registry,
    pub(crate) producers: Producers,
}

impl LogState {
    /// Takes in a frame of entries.
    pub(crate) fn note(&mut self, head: &Head) {
        self.time_ms = self.time_ms.max(head.place.time_ms);
        self.registry
            .set_next(head.place.stream, head.place.next_llsn());
        self.producers.note(head);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The position of the file's first entry.
    pub(crate) first: Glsn,
    /// The file before this one; `None` only for the first file of a log.
    pub(crate) previous: Option<Previous>,
    pub(crate) state: LogState,
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
        let counters = self.state.registry.counters();
        let count = u32::try_from(counters.len()).expect("stream numbers have 32 bits");
        let mut bytes = Vec::with_capacity(FIXED_BYTES + counters.len() * COUNTER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(&count.to_le_bytes());
        for number in [
            self.first.get(),
            previous.first.get(),
            previous.bytes,
            self.state.time_ms,
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        assert_eq!(
            bytes.len(),
            FIXED_BYTES,
            "the constants describe what was written"
        );
        for (stream, next) in counters {
            bytes.extend_from_slice(&u64::from(stream.get()).to_le_bytes());
            bytes.extend_from_slice(&next.get().to_le_bytes());
        }
        self.state.registry.encode(&mut bytes);
        self.state.producers.encode(&mut bytes);
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        let length = u32::try_from(bytes.len()).expect("what a header holds is limited");
        bytes[16..20].copy_from_slice(&length.to_le_bytes());
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file; also gives its length.
    pub(crate) fn decode(bytes: &[u8], path: &Path) -> Result<(Self, usize), LogError> {
        let corrupt = |reason| LogError::corrupt(path, 0, reason);
        let header = checked(bytes, path)?;
        let decoded = Self::decode_fields(&header[20..]);
        let header_of = |(first, previous, state)| {
            (
                Header {
                    first,
                    previous,
                    state,
                },
                header.len(),
            )
        };
        decoded
            .map(header_of)
            .ok_or_else(|| corrupt("file header is cut off"))
    }

    fn decode_fields(fields: &[u8]) -> Option<(Glsn, Option<Previous>, LogState)> {
        let mut fields = Fields(fields);
        let count = fields.u32()?;
        let first = Glsn::new(fields.u64()?);
        let previous = Previous {
            first: Glsn::new(fields.u64()?),
            bytes: fields.u64()?,
        };
        let time_ms = fields.u64()?;
        let mut counters = BTreeMap::new();
        for _ in 0..count {
            let stream = StreamId::new(u32::try_from(fields.u64()?).ok()?);
            counters.insert(stream, Llsn::new(fields.u64()?));
        }
        let registry = Registry::decode(&mut fields, counters)?;
        let producers = Producers::decode(&mut fields)?;
        let previous = Some(previous).filter(|previous| previous.first != Glsn::ZERO);
        Some((
            first,
            previous,
            LogState {
                time_ms,
                registry,
                producers,
            },
        ))
    }
}

/// The bytes of a header, once its magic, version, length and checksum are found right.
fn checked<'a>(bytes: &'a [u8], path: &Path) -> Result<&'a [u8], LogError> {
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
    let length = fields.u32().ok_or_else(cut_off)? as usize;
    let header = bytes
        .get(..length)
        .filter(|header| header.len() >= FIXED_BYTES)
        .ok_or_else(cut_off)?;
    if checksum(header) != stored_checksum {
        return Err(corrupt("checksum of the file header does not match"));
    }
    Ok(header)
}

/// The next position of a stream when a file was begun, straight from the file's checked header.
pub(crate) fn counter(file: &[u8], stream: StreamId) -> Llsn {
    let rows = counter_rows(file);
    let found = rows.binary_search_by_key(&stream, |row| counter_of(row).0);
    found.map_or(Llsn::FIRST, |index| counter_of(&rows[index]).1)
}

/// All of them, by stream.
pub(crate) fn counters(file: &[u8]) -> impl Iterator<Item = (StreamId, Llsn)> {
    counter_rows(file).iter().map(counter_of)
}

fn counter_rows(file: &[u8]) -> &[[u8; COUNTER_BYTES]] {
    let count = Fields(file.get(20..).unwrap_or_default())
        .u32()
        .unwrap_or_default() as usize;
    let table = file
        .get(FIXED_BYTES..FIXED_BYTES + count * COUNTER_BYTES)
        .unwrap_or_default();
    table.as_chunks().0
}

fn counter_of(row: &[u8; COUNTER_BYTES]) -> (StreamId, Llsn) {
    let (stream, next) = row.split_at(8);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("halves of a row"));
    // The header was checked, so the number fits; a wrong one would find nothing.
    let stream = u32::try_from(number(stream)).unwrap_or(u32::MAX);
    (StreamId::new(stream), Llsn::new(number(next)))
}

/// The time in a file's checked header: no entry of the file is earlier.
pub(crate) fn time_ms(file: &[u8]) -> u64 {
    Fields(file.get(48..).unwrap_or_default())
        .u64()
        .unwrap_or_default()
}

/// The checksum of a header: of all behind the field that holds it. A change before it is a
/// change of the magic or the version, and noticed as such.
fn checksum(header: &[u8]) -> u32 {
    frame::crc(&header[16..])
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
    use crate::registry::{Change, Record};

    fn header() -> Header {
        let mut state = LogState {
            time_ms: 1234,
            ..LogState::default()
        };
        for (stream, next) in [(1, 10), (70_000, 3)] {
            state
                .registry
                .set_next(StreamId::new(stream), Llsn::new(next));
        }
        let (first, deleted_at) = (Llsn::new(2), Glsn::ZERO);
        let record = Record {
            name: "orders".into(),
            first,
            epoch: 1,
            sealed: true,
            created_ms: 7,
            deleted_at,
        };
        state
            .registry
            .apply(Change::Stream(StreamId::NAMED_FIRST, record));
        let previous = Some(Previous {
            first: Glsn::new(5),
            bytes: 4096,
        });
        Header {
            first: Glsn::new(77),
            previous,
            state,
        }
    }

    #[test]
    fn a_header_reads_back_as_it_was_written() {
        let first = Header {
            first: Glsn::FIRST,
            previous: None,
            state: LogState::default(),
        };
        for header in [header(), first] {
            let mut bytes = header.encode();
            let header_bytes = bytes.len();
            bytes.extend_from_slice(b"frames follow");
            assert_eq!(
                counter(&bytes, StreamId::new(1)),
                header.state.registry.next(StreamId::new(1))
            );
            assert_eq!(counter(&bytes, StreamId::new(2)), Llsn::FIRST);
            assert_eq!(time_ms(&bytes), header.state.time_ms);
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

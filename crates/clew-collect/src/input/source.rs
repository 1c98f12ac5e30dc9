//! The bytes of a file by their offset, compressed or not.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

use flate2::bufread::MultiGzDecoder;
use rustix::io::Errno;
use zstd::stream::read::Decoder as ZstdDecoder;

use crate::fingerprint::{HEAD_BYTES_MAX, Position};

/// An open file.
#[derive(Debug)]
pub(crate) enum FileSource {
    Plain(File),
    Compressed(Box<Compressed>),
}

/// What one read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) bytes: usize,
    /// Whether the file ends there. A compressed file whose end is missing or damaged does not
    /// end: it brings fewer bytes than were asked for, and then none.
    pub(crate) at_end: bool,
}

/// What stands behind NULs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// Another byte, here.
    Something(u64),
    /// The end of the file, here.
    Nothing(u64),
    /// More of them, perhaps: so far was looked.
    Unknown(u64),
}

impl FileSource {
    /// Compressed if its first bytes say so, whatever its name.
    pub(crate) fn new(file: File) -> io::Result<FileSource> {
        let mut magic = [0; 4];
        let bytes = file.read_at(&mut magic, 0)?;
        let compression = match &magic[..bytes] {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Compression::Zstd,
            _ => return Ok(FileSource::Plain(file)),
        };
        let compressed = Compressed::new(file, compression)?;
        Ok(FileSource::Compressed(Box::new(compressed)))
    }

    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self, FileSource::Compressed(_))
    }

    /// The open file, for looking at it.
    pub(crate) fn file(&self) -> &File {
        match self {
            FileSource::Plain(file) => file,
            FileSource::Compressed(compressed) => &compressed.file,
        }
    }

    /// Fills the buffer from an offset as far as the file goes.
    pub(crate) fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<Got> {
        match self {
            FileSource::Plain(file) => {
                let mut bytes = 0;
                while bytes < buffer.len() {
                    match file.read_at(&mut buffer[bytes..], offset + bytes as u64) {
                        Ok(0) => {
                            return Ok(Got {
                                bytes,
                                at_end: true,
                            });
                        }
                        Ok(count) => bytes += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(Got {
                    bytes,
                    at_end: false,
                })
            }
            FileSource::Compressed(compressed) => compressed.read_at(offset, buffer),
        }
    }

    /// The first bytes, as many as a head is made of.
    pub(crate) fn start(&mut self) -> io::Result<Vec<u8>> {
        let mut start = vec![0; HEAD_BYTES_MAX];
        let got = self.read_at(0, &mut start)?;
        start.truncate(got.bytes);
        Ok(start)
    }

    /// Whether it has these bytes at an offset.
    pub(crate) fn has(&mut self, offset: u64, expected: &[u8]) -> io::Result<bool> {
        let mut found = vec![0; expected.len()];
        let got = self.read_at(offset, &mut found)?;
        Ok(got.bytes == expected.len() && found == expected)
    }

    /// Whether the bytes before a position are those that were read there.
    pub(crate) fn holds(&mut self, position: Position) -> io::Result<bool> {
        let lead_bytes = position.lead_bytes();
        let mut lead = vec![0; usize::try_from(lead_bytes).unwrap_or(0)];
        let got = self.read_at(position.offset - lead_bytes, &mut lead)?;
        Ok(got.bytes == lead.len() && crc32c::crc32c(&lead) == position.lead)
    }

    /// What follows the NULs from an offset on. Holes are passed without reading them; of other NULs about `bytes_max` are looked through.
    pub(crate) fn behind_nuls(&mut self, from: u64, bytes_max: u64) -> io::Result<Behind> {
        let mut buffer = vec![0; 256 << 10];
        let (mut at, mut looked) = (from, 0);
        loop {
            at = match self.behind_hole(at)? {
                Ok(data) => data,
                Err(end) => return Ok(Behind::Nothing(end)),
            };
            let got = self.read_at(at, &mut buffer)?;
            let found = &buffer[..got.bytes];
            if let Some(text) = found.iter().position(|byte| *byte != 0) {
                return Ok(Behind::Something(at + text as u64));
            }
            at += got.bytes as u64;
            looked += got.bytes as u64;
            if got.at_end || got.bytes == 0 {
                return Ok(Behind::Nothing(at));
            }
            if looked >= bytes_max {
                return Ok(Behind::Unknown(at));
            }
        }
    }

    /// Where data begins at or behind an offset, as far as the file system says; or the file's end, if none does.
    fn behind_hole(&self, at: u64) -> io::Result<Result<u64, u64>> {
        let FileSource::Plain(file) = self else {
            return Ok(Ok(at));
        };
        match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => Ok(Ok(data.max(at))),
            Err(Errno::NXIO) => Ok(Err(file.metadata()?.len().max(at))),
            // It does not know of holes.
            Err(_) => Ok(Ok(at)),
        }
    }

    /// The checksum of the first `bytes` bytes, and how many of them there are.
    pub(crate) fn prefix_checksum(&mut self, bytes: u64) -> io::Result<(u32, u64)> {
        let mut buffer = vec![0; 256 << 10];
        let (mut checksum, mut done) = (0, 0);
        while done < bytes {
            let left = usize::try_from(bytes - done)
                .unwrap_or(usize::MAX)
                .min(buffer.len());
            let got = self.read_at(done, &mut buffer[..left])?;
            checksum = crc32c::crc32c_append(checksum, &buffer[..got.bytes]);
            done += got.bytes as u64;
            if got.bytes == 0 {
                break;
            }
        }
        Ok((checksum, done))
    }
}

/// A compressed file read forward. It keeps what was decompressed since the last offset asked
/// for, so that the next read may begin in the middle of it; to go further back, it starts over.
pub(crate) struct Compressed {
    file: File,
    compression: Compression,
    decoder: Box<dyn Read + Send>,
    kept: Vec<u8>,
    kept_from: u64,
    ended: bool,
    broken_off: bool,
}

/// The formats that are read.
#[derive(Clone, Copy, Debug)]
enum Compression {
    Gzip,
    Zstd,
}

impl fmt::Debug for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressed")
            .field("compression", &self.compression)
            .field("kept_from", &self.kept_from)
            .finish_non_exhaustive()
    }
}

impl Compressed {
    fn new(file: File, compression: Compression) -> io::Result<Compressed> {
        let decoder = compression.decoder(&file)?;
        Ok(Compressed {
            file,
            compression,
            decoder,
            kept: Vec::new(),
            kept_from: 0,
            ended: false,
            broken_off: false,
        })
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<Got> {
        if offset < self.kept_from {
            self.decoder = self.compression.decoder(&self.file)?;
            self.kept.clear();
            (self.kept_from, self.ended, self.broken_off) = (0, false, false);
        }
        loop {
            let kept_end = self.kept_from + self.kept.len() as u64;
            let passed = usize::try_from(offset.min(kept_end) - self.kept_from)
                .expect("at most what is kept, which is in memory");
            self.kept.drain(..passed);
            self.kept_from += passed as u64;
            let missing = usize::try_from(offset - self.kept_from)
                .unwrap_or(usize::MAX)
                .saturating_add(buffer.len())
                .saturating_sub(self.kept.len());
            if missing == 0 || self.ended || self.broken_off {
                break;
            }
            self.decompress(missing.min(256 << 10))?;
        }
        let available = if self.kept_from == offset {
            self.kept.len()
        } else {
            0
        };
        let bytes = available.min(buffer.len());
        buffer[..bytes].copy_from_slice(&self.kept[..bytes]);
        Ok(Got {
            bytes,
            at_end: self.ended && bytes == available && bytes < buffer.len(),
        })
    }

    fn decompress(&mut self, bytes_max: usize) -> io::Result<()> {
        let before = self.kept.len();
        self.kept.resize(before + bytes_max, 0);
        let read = self.decoder.read(&mut self.kept[before..]);
        self.kept.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::InvalidInput
                        // What the zstd crate makes of a frame that is damaged.
                        | io::ErrorKind::Other
                ) =>
            {
                self.broken_off = true;
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl Compression {
    /// Decompresses from the file's start.
    fn decoder(self, file: &File) -> io::Result<Box<dyn Read + Send>> {
        let mut own = file.try_clone()?;
        own.seek(SeekFrom::Start(0))?;
        let buffered = io::BufReader::with_capacity(64 << 10, own);
        Ok(match self {
            Compression::Gzip => Box::new(MultiGzDecoder::new(buffered)),
            Compression::Zstd => Box::new(ZstdDecoder::with_buffer(buffered)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(parts: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for part in parts {
            let mut encoder = flate2::write::GzEncoder::new(&mut out, flate2::Compression::fast());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap();
        }
        out
    }

    fn source(bytes: &[u8]) -> FileSource {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        FileSource::new(file).unwrap()
    }

    #[test]
    fn a_compressed_file_reads_like_the_plain_one_at_every_offset() {
        let text: Vec<u8> = (0..200_000_u32)
            .map(|n| b'a' + u8::try_from(n % 23).unwrap())
            .collect();
        let compressed = gzip(&[&text[..70_000], &text[70_000..]]);
        let (mut plain, mut gzip) = (source(&text), source(&compressed));
        assert!(gzip.is_compressed() && !plain.is_compressed());
        let mut offset = 0;
        for step in 0..600_u64 {
            let (mut a, mut b) = (vec![0; 3_000], vec![0; 3_000]);
            let got = plain.read_at(offset, &mut a).unwrap();
            assert_eq!(
                gzip.read_at(offset, &mut b).unwrap(),
                got,
                "offset {offset}"
            );
            assert_eq!(a, b);
            // Mostly forward, sometimes back.
            offset = if step % 50 == 49 {
                offset / 2
            } else {
                (offset + step * 5) % 201_000
            };
        }
        assert_eq!(
            plain.prefix_checksum(150_000).unwrap(),
            gzip.prefix_checksum(150_000).unwrap()
        );
        assert_eq!(gzip.prefix_checksum(999_999).unwrap().1, 200_000);
    }

    #[test]
    fn a_compressed_file_that_is_broken_off_never_ends() {
        let compressed = gzip(&[&[b'x'; 90_000]]);
        let mut cut = source(&compressed[..compressed.len() - 9]);
        let mut buffer = vec![0; 200_000];
        let got = cut.read_at(0, &mut buffer).unwrap();
        assert!(!got.at_end);
        let nothing = Got {
            bytes: 0,
            at_end: false,
        };
        assert_eq!(cut.read_at(got.bytes as u64, &mut buffer).unwrap(), nothing);
    }
}

//! The shard's checkpoint: which segments it consists of and the log position they cover. One
//! numbered file, written whole and never changed. Layout: `docs/formats/segment.md`.

use std::path::{Path, PathBuf};

use clew_log::Glsn;
use clew_platform::{Disk, TEMPORARY_SUFFIX};
use serde::{Deserialize, Serialize};

use super::alive::AliveBits;
use crate::base::error::{EngineError, io_error};

const FORMAT: u32 = 2;
/// Its files have neither sums nor is one named; they are checked as a whole when they are opened.
const FORMAT_WITHOUT_SUMS: u32 = 1;
const PREFIX: &str = "manifest-";

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub(super) format: u32,
    /// Rises by one with each checkpoint of the shard.
    pub(super) number: u64,
    /// Every operation of the shard up to this position is in the segments.
    pub(super) checkpoint: u64,
    pub(super) next_seq_no: u64,
    pub(super) segments: Vec<ManifestSegment>,
}

/// A segment of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestSegment {
    /// tantivy's segment id; file names begin with it.
    pub(super) id: String,
    pub(super) doc_count: u32,
    /// The file that says which documents live; none while all do.
    pub(super) alive: Option<String>,
    pub(super) files: Vec<SegmentFile>,
}

/// A file of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "NamedFile")]
pub(super) struct SegmentFile {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The sum of its sums; a file of an earlier format has none.
    pub(super) sum: Option<u32>,
}

/// A file as manifests name it.
#[derive(Deserialize)]
#[serde(untagged)]
enum NamedFile {
    WithoutSum(String, u64),
    Full {
        name: String,
        bytes: u64,
        sum: Option<u32>,
    },
}

impl From<NamedFile> for SegmentFile {
    fn from(named: NamedFile) -> Self {
        let (name, bytes, sum) = match named {
            NamedFile::WithoutSum(name, bytes) => (name, bytes, None),
            NamedFile::Full { name, bytes, sum } => (name, bytes, sum),
        };
        SegmentFile { name, bytes, sum }
    }
}

impl Manifest {
    pub(super) fn new(number: u64, checkpoint: Glsn, next_seq_no: u64) -> Self {
        Manifest {
            format: FORMAT,
            number,
            checkpoint: checkpoint.get(),
            next_seq_no,
            segments: vec![],
        }
    }

    fn path(dir: &Path, number: u64) -> PathBuf {
        dir.join(format!("{PREFIX}{number:020}"))
    }

    /// Writes the manifest durably. The files it names must be durable already.
    pub(super) fn write(&self, disk: &dyn Disk, dir: &Path) -> Result<(), EngineError> {
        let mut bytes = serde_json::to_vec(self).expect("a manifest has only plain fields");
        let crc = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(format!("\n{crc:08x}\n").as_bytes());
        let path = Self::path(dir, self.number);
        disk.write_atomic(&path, &bytes)
            .map_err(io_error("write", &path))
    }

    /// The newest manifest of a folder, every named file checked for its length.
    pub(super) fn newest(disk: &dyn Disk, dir: &Path) -> Result<Option<Manifest>, EngineError> {
        let manifest = Self::read_newest(disk, dir)?;
        let segments = manifest.iter().flat_map(|manifest| &manifest.segments);
        for file in segments.flat_map(|segment| &segment.files) {
            let path = dir.join(&file.name);
            let have = disk.len(&path).map_err(io_error("open", &path))?;
            if have != file.bytes {
                let reason = format!("it has {have} bytes, its manifest says {}", file.bytes);
                return Err(EngineError::Corrupt { path, reason });
            }
        }
        Ok(manifest)
    }

    /// The newest manifest of a folder; the files that it names may be others.
    pub(super) fn read_newest(
        disk: &dyn Disk,
        dir: &Path,
    ) -> Result<Option<Manifest>, EngineError> {
        let names = disk.list(dir).map_err(io_error("list", dir))?;
        let newest = names
            .into_iter()
            .rev()
            .find(|path| manifest_number(path).is_some());
        let Some(path) = newest else { return Ok(None) };
        let corrupt = |reason: String| EngineError::Corrupt {
            path: path.clone(),
            reason,
        };
        let bytes = disk.read(&path).map_err(io_error("read", &path))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| corrupt(error.to_string()))?;
        let (json, crc) = text
            .strip_suffix('\n')
            .and_then(|text| text.rsplit_once('\n'))
            .ok_or_else(|| corrupt("it has no checksum line".into()))?;
        if format!("{:08x}", crc32c::crc32c(json.as_bytes())) != crc {
            return Err(corrupt("its checksum does not match".into()));
        }
        let mut manifest: Manifest =
            serde_json::from_str(json).map_err(|error| corrupt(error.to_string()))?;
        for segment in &mut manifest.segments {
            // Earlier builds took what an interrupted write had left for a file of the segment.
            let files = &mut segment.files;
            files.retain(|file| !file.name.ends_with(TEMPORARY_SUFFIX));
        }
        if !(FORMAT_WITHOUT_SUMS..=FORMAT).contains(&manifest.format) {
            return Err(corrupt(format!("format {} is not known", manifest.format)));
        }
        Ok(Some(manifest))
    }

    /// The next manifest, without some of the segments.
    pub(super) fn without(self, gone: impl Fn(&ManifestSegment) -> bool) -> Self {
        let number = self.number + 1;
        let mut next = Manifest::new(number, Glsn::new(self.checkpoint), self.next_seq_no);
        next.segments = self.segments;
        next.segments.retain(|segment| !gone(segment));
        next
    }
}

pub(super) fn manifest_number(path: &Path) -> Option<u64> {
    path.file_name()?
        .to_str()?
        .strip_prefix(PREFIX)?
        .parse()
        .ok()
}

/// Writes living-document bits durably: count, words, CRC32C of both.
pub(super) fn write_alive(
    disk: &dyn Disk,
    path: &Path,
    alive: &AliveBits,
) -> Result<(), EngineError> {
    let mut bytes = alive.doc_count().to_le_bytes().to_vec();
    bytes.extend(alive.words().iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    disk.write_atomic(path, &bytes)
        .map_err(io_error("write", path))
}

/// Reads what [`write_alive`] wrote.
pub(super) fn read_alive(
    disk: &dyn Disk,
    path: &Path,
    doc_count: u32,
) -> Result<AliveBits, EngineError> {
    let bytes = disk.read(path).map_err(io_error("read", path))?;
    let parse = || {
        let (body, crc) = bytes.split_last_chunk::<4>()?;
        let (count, words) = body.split_first_chunk::<4>()?;
        let sound = crc32c::crc32c(body) == u32::from_le_bytes(*crc)
            && u32::from_le_bytes(*count) == doc_count;
        let (words, rest) = words.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        (sound && rest.is_empty())
            .then(|| AliveBits::from_words(words, doc_count))
            .flatten()
    };
    parse().ok_or_else(|| EngineError::Corrupt {
        path: path.to_path_buf(),
        reason: "checksum or length does not match".into(),
    })
}

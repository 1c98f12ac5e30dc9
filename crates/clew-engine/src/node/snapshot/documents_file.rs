//! A file of documents: a header, then one record for each, back to back.
//! Layout: `docs/formats/snapshot.md`.

use std::io;
use std::path::PathBuf;

use bytes::Bytes;
use clew_platform::{Disk, DiskFile, Mapped, brought_in};
use serde::de::IgnoredAny;

use super::{SnapshotFile, corrupt};
use crate::base::error::{EngineError, io_error};
use crate::base::write_request::Document;

const MAGIC: &[u8; 8] = b"CLEWDOC1";
/// Bytes that are gathered before they go to the disk.
const WRITE_BYTES: usize = 1 << 20;
const NO_ROUTING: u16 = u16::MAX;

/// The sum of a file's bytes, CRC-32C.
///
/// # Errors
/// When the disk cannot read some of them.
pub(super) fn sum_of(file: &[u8]) -> io::Result<u32> {
    brought_in(file).try_fold(0, |sum, piece| Ok(crc32c::crc32c_append(sum, piece?)))
}

pub(super) struct DocumentsWriter {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    pending: Vec<u8>,
    written: u64,
    crc: u32,
    documents: u64,
}

impl DocumentsWriter {
    pub(super) fn create(disk: &dyn Disk, path: PathBuf) -> Result<Self, EngineError> {
        let file = disk.create_new(&path).map_err(io_error("create", &path))?;
        Ok(DocumentsWriter {
            path,
            file,
            pending: MAGIC.to_vec(),
            written: 0,
            crc: 0,
            documents: 0,
        })
    }

    pub(super) fn add(&mut self, document: &Document) -> Result<(), EngineError> {
        let too_long = |what: &str| corrupt(&self.path, &format!("{what} is too long"));
        let routing = document.routing.as_deref();
        let id_bytes = u16::try_from(document.id.len()).map_err(|_| too_long("an id"))?;
        let routing_bytes = match routing {
            None => NO_ROUTING,
            Some(key) => u16::try_from(key.len()).map_err(|_| too_long("a routing key"))?,
        };
        let source_bytes =
            u32::try_from(document.source.len()).map_err(|_| too_long("a document"))?;
        let pending = &mut self.pending;
        pending.extend_from_slice(&document.version.to_le_bytes());
        pending.extend_from_slice(&document.seq_no.to_le_bytes());
        pending.extend_from_slice(&id_bytes.to_le_bytes());
        pending.extend_from_slice(&routing_bytes.to_le_bytes());
        pending.extend_from_slice(&source_bytes.to_le_bytes());
        pending.extend_from_slice(document.id.as_bytes());
        pending.extend_from_slice(routing.unwrap_or_default().as_bytes());
        pending.extend_from_slice(&document.source);
        self.documents += 1;
        if self.pending.len() >= WRITE_BYTES {
            self.write_out()?;
        }
        Ok(())
    }

    /// Bytes that were gathered.
    pub(super) fn pending_bytes(&self) -> u64 {
        self.pending.len() as u64
    }

    /// Whether the next document, unless it is a small one, goes to the disk with all that was gathered.
    pub(super) fn writes_next(&self) -> bool {
        self.pending.len() >= WRITE_BYTES / 2
    }

    fn write_out(&mut self) -> Result<(), EngineError> {
        self.file
            .write_all_at(&self.pending, self.written)
            .map_err(io_error("write", &self.path))?;
        self.crc = crc32c::crc32c_append(self.crc, &self.pending);
        self.written += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Makes the file durable and says what the manifest has to say of it.
    pub(super) fn finish(mut self, name: &str) -> Result<SnapshotFile, EngineError> {
        self.write_out()?;
        self.file
            .sync_data()
            .map_err(io_error("sync", &self.path))?;
        Ok(SnapshotFile {
            name: name.to_string(),
            documents: self.documents,
            bytes: self.written,
            crc32c: self.crc,
        })
    }
}

/// The documents of a file that was checked as a whole.
pub(super) struct DocumentsReader {
    path: PathBuf,
    bytes: Mapped,
    at: usize,
    left: u64,
}

impl DocumentsReader {
    pub(super) fn open(
        disk: &dyn Disk,
        path: PathBuf,
        file: &SnapshotFile,
    ) -> Result<Self, EngineError> {
        let bytes = disk.map(&path).map_err(io_error("map", &path))?;
        let sum = sum_of(&bytes).map_err(io_error("read", &path))?;
        if bytes.len() as u64 != file.bytes || sum != file.crc32c {
            return Err(corrupt(
                &path,
                "length or checksum do not match the manifest",
            ));
        }
        if !bytes.starts_with(MAGIC) {
            return Err(corrupt(&path, "it is not a file of documents"));
        }
        Ok(DocumentsReader {
            path,
            bytes,
            at: MAGIC.len(),
            left: file.documents,
        })
    }

    /// Where the first document begins that cannot be read, in a file that is not what its manifest says.
    pub(super) fn first_unreadable(path: PathBuf, bytes: Mapped, documents: u64) -> Option<u64> {
        if !bytes.starts_with(MAGIC) {
            return Some(0);
        }
        let mut reader = DocumentsReader {
            path,
            bytes,
            at: MAGIC.len(),
            left: documents,
        };
        for _ in 0..documents {
            let at = reader.at as u64;
            let is_whole = |document: Document| {
                let source = &document.source;
                // Early builds wrote rows of nested objects, without a source.
                document.id.is_empty() || serde_json::from_slice::<IgnoredAny>(source).is_ok()
            };
            if !reader.document().is_some_and(is_whole) {
                return Some(at);
            }
        }
        None
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn text(&mut self, count: usize) -> Option<String> {
        let text = std::str::from_utf8(self.take(count)?).ok()?;
        Some(text.to_string())
    }

    fn document(&mut self) -> Option<Document> {
        let version = u64::from_le_bytes(self.array()?);
        let seq_no = u64::from_le_bytes(self.array()?);
        let id_bytes = u16::from_le_bytes(self.array()?);
        let routing_bytes = u16::from_le_bytes(self.array()?);
        let source_bytes = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        let id = self.text(id_bytes.into())?;
        let routing = match routing_bytes {
            NO_ROUTING => None,
            bytes => Some(self.text(bytes.into())?),
        };
        Some(Document {
            id,
            version,
            seq_no,
            routing,
            source: Bytes::copy_from_slice(self.take(source_bytes)?),
        })
    }
}

impl Iterator for DocumentsReader {
    type Item = Result<Document, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let Some(document) = self.document() else {
                self.left = 0;
                return Some(Err(corrupt(&self.path, "a document ends too early")));
            };
            self.left -= 1;
            // A document always has an id. Early builds wrote the rows of nested objects among the
            // documents, without one; the source of the document around them has all they say.
            if !document.id.is_empty() {
                return Some(Ok(document));
            }
        }
        None
    }
}

//! Events that the sink refused for good are kept in a file beside the registry, one JSON object
//! a line, so that they can be repaired and sent again by hand.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Disk, DiskFile};
use parking_lot::Mutex;

use crate::event::Event;
use crate::json::{push_number, push_text};

/// One event that the sink will never take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Its index in the batch.
    pub event_index: usize,
    /// The sink's status for it.
    pub status: u16,
    /// The sink's reason, shortened.
    pub reason: String,
}

/// The file grows to this size; further events are only counted and logged.
const DEAD_LETTER_BYTES_MAX: u64 = 256 << 20;
/// Rejections that are logged one by one; a broken mapping rejects millions.
const LOGGED_MAX: u64 = 20;
/// Held while something is appended: threads that send what waited for their outputs share the file of the collector.
static APPENDING: Mutex<()> = Mutex::new(());

#[derive(Debug)]
pub(crate) struct DeadLetters {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    logged: u64,
}

impl DeadLetters {
    pub(crate) fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        DeadLetters {
            disk,
            path,
            logged: 0,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends the refused events of a batch and makes them durable.
    pub(crate) fn keep(&mut self, batch: &[Event], rejections: &[Rejection]) -> io::Result<()> {
        if rejections.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for rejection in rejections {
            let Some(event) = batch.get(rejection.event_index) else {
                continue;
            };
            self.log(event, rejection);
            lines.extend_from_slice(b"{\"status\":");
            push_number(&mut lines, u64::from(rejection.status));
            lines.extend_from_slice(b",\"reason\":");
            push_text(&mut lines, &rejection.reason);
            lines.extend_from_slice(b",\"id\":");
            push_text(&mut lines, &event.id);
            if !event.metadata.is_empty() {
                lines.extend_from_slice(b",\"metadata\":");
                lines.extend_from_slice(event.metadata.as_bytes());
            }
            lines.extend_from_slice(b",\"document\":");
            lines.extend_from_slice(&event.document);
            lines.extend_from_slice(b"}\n");
        }
        let _appending = APPENDING.lock();
        let mut file = self.open()?;
        let end = file.len()?;
        if !ends_a_line(file.as_ref(), end)? {
            // What a crash or a full disk has broken off must not spoil the next one.
            lines.insert(0, b'\n');
        }
        if end + lines.len() as u64 > DEAD_LETTER_BYTES_MAX {
            tracing::warn!(
                count = rejections.len(),
                "dead-letter file is full, events dropped"
            );
            return Ok(());
        }
        file.write_all_at(&lines, end)?;
        file.sync_data()
    }

    fn open(&self) -> io::Result<Box<dyn DiskFile>> {
        if self.disk.exists(&self.path) {
            return self.disk.open(&self.path);
        }
        let folder = self
            .path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let file = self.disk.create_new(&self.path)?;
        self.disk.sync_dir(folder.unwrap_or(Path::new(".")))?;
        Ok(file)
    }

    fn log(&mut self, event: &Event, rejection: &Rejection) {
        self.logged += 1;
        if self.logged <= LOGGED_MAX {
            let (status, reason) = (rejection.status, rejection.reason.as_str());
            tracing::warn!(id = event.id, status, reason, "event rejected for good");
        }
    }
}

/// Whether the next line of a file, which is so long, can begin at its end.
fn ends_a_line(file: &dyn DiskFile, end: u64) -> io::Result<bool> {
    let Some(last) = end.checked_sub(1) else {
        return Ok(true);
    };
    let mut byte = [0_u8];
    file.read_exact_at(&mut byte, last)?;
    Ok(byte == *b"\n")
}

#[cfg(test)]
mod tests {
    use clew_platform::SimDisk;

    use super::*;

    #[test]
    fn an_event_begins_on_a_line_of_its_own_whatever_was_broken_off() {
        let disk = SimDisk::new();
        let path = PathBuf::from("/refused");
        let broken = b"{\"status\":400,\"rea";
        let mut file = disk.create_new(&path).unwrap();
        file.write_all_at(broken, 0).unwrap();
        drop(file);
        let mut kept = DeadLetters::new(Arc::new(disk.clone()), path.clone());
        let refused = Rejection {
            event_index: 0,
            status: 400,
            reason: "no number".to_string(),
        };
        let batch = ["1", "2"].map(|id| Event {
            id: id.to_string(),
            document: b"{}".to_vec(),
            ..Event::default()
        });
        for event in &batch {
            kept.keep(std::slice::from_ref(event), std::slice::from_ref(&refused))
                .unwrap();
        }
        let bytes = disk.read(&path).unwrap();
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let [first, one, other, rest] = lines[..] else {
            panic!("{}", String::from_utf8_lossy(&bytes));
        };
        assert_eq!((first, rest), (&broken[..], &b""[..]));
        for (line, id) in [(one, "1"), (other, "2")] {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            assert_eq!(line["id"], id);
        }
    }
}

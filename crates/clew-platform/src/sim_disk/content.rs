//! What a simulated file holds: the bytes readers see, the bytes that are durable, and the edits
//! that lie between the two.

use std::sync::Arc;

use parking_lot::Mutex;

use super::SplitMix;

/// Disks write sectors whole; which sectors of an unsynced write arrive is up to them.
const SECTOR_BYTES: usize = 512;

/// A file's content, shared by its name and its open handles.
pub(super) type FileRef = Arc<Mutex<FileContent>>;

#[derive(Debug, Default)]
pub(super) struct FileContent {
    live: Vec<u8>,
    durable: Vec<u8>,
    unsynced: Vec<Edit>,
}

#[derive(Debug)]
enum Edit {
    Write { offset: usize, bytes: Vec<u8> },
    Resize { len: usize },
}

impl FileContent {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.live
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: usize) {
        overwrite(&mut self.live, bytes, offset);
        self.unsynced.push(Edit::Write {
            offset,
            bytes: bytes.to_vec(),
        });
    }

    pub(super) fn resize(&mut self, len: usize) {
        self.live.resize(len, 0);
        self.unsynced.push(Edit::Resize { len });
    }

    pub(super) fn sync(&mut self) {
        for edit in self.unsynced.drain(..) {
            edit.apply(&mut self.durable);
        }
    }

    /// The kernel marks pages clean after a failed write-back, so no later sync repeats it.
    pub(super) fn fail_sync(&mut self) {
        self.unsynced.clear();
    }

    /// The content a power cut leaves, itself durable.
    pub(super) fn after_power_loss(&self, random: &mut SplitMix) -> FileContent {
        let mut found = self.durable.clone();
        match random.up_to(3) {
            0 => {}
            1 => self.unsynced.iter().for_each(|edit| edit.apply(&mut found)),
            2 => self.apply_torn(&mut found, random),
            _ => self.apply_scattered(&mut found, random),
        }
        FileContent {
            live: found.clone(),
            durable: found,
            unsynced: Vec::new(),
        }
    }

    /// Edits arrive in order, and the last that arrives stops at an arbitrary byte.
    fn apply_torn(&self, found: &mut Vec<u8>, random: &mut SplitMix) {
        let whole = random.up_to(self.unsynced.len());
        for edit in &self.unsynced[..whole] {
            edit.apply(found);
        }
        if let Some(Edit::Write { offset, bytes }) = self.unsynced.get(whole) {
            overwrite(found, &bytes[..random.up_to(bytes.len())], *offset);
        }
    }

    /// Sectors arrive in any choice, and the file's length may run ahead of all of them.
    fn apply_scattered(&self, found: &mut Vec<u8>, random: &mut SplitMix) {
        for edit in &self.unsynced {
            match edit {
                Edit::Resize { .. } => {
                    if random.coin() {
                        edit.apply(found);
                    }
                }
                Edit::Write { offset, bytes } => {
                    let mut start = 0;
                    while start < bytes.len() {
                        let to_sector_end = SECTOR_BYTES - (offset + start) % SECTOR_BYTES;
                        let end = bytes.len().min(start + to_sector_end);
                        if random.coin() {
                            overwrite(found, &bytes[start..end], offset + start);
                        }
                        start = end;
                    }
                }
            }
        }
        if random.coin() && found.len() < self.live.len() {
            found.resize(self.live.len(), 0);
        }
    }
}

impl Edit {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Edit::Write { offset, bytes } => overwrite(content, bytes, *offset),
            Edit::Resize { len } => content.resize(*len, 0),
        }
    }
}

fn overwrite(content: &mut Vec<u8>, bytes: &[u8], offset: usize) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}

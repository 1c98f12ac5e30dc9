//! Numbers of a header, read one after the other.

use super::section::Section;

/// Reads numbers one after the other. The length was checked before; beyond it lie zeros.
pub(super) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl Fields<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let found = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        found.copied().unwrap_or([0; N])
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(super) fn section(&mut self) -> Section {
        Section {
            kind: self.u32(),
            checksum: self.u32(),
            offset_bytes: self.u64(),
            len_bytes: self.u64(),
        }
    }
}

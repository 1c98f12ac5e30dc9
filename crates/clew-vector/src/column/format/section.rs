//! The sections of an image and their checksums.

use std::ops::Range;

use crate::VectorError;

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::column) enum SectionKind {
    Vectors = 1,
    Docs = 2,
    InverseNorms = 3,
    Links = 4,
    UpperRows = 5,
    UpperStarts = 6,
    UpperLinks = 7,
    Codes = 8,
    Factors = 9,
    Frame = 10,
    VectorSums = 11,
    ListFrame = 12,
    ListBook = 13,
    ListHeads = 14,
    ListCentres = 15,
    ListRows = 16,
    ListBlocks = 17,
    Calibration = 18,
    Probes = 19,
    Choice = 20,
}

impl SectionKind {
    pub(in crate::column) const ALL: [SectionKind; 20] = [
        SectionKind::Vectors,
        SectionKind::Docs,
        SectionKind::InverseNorms,
        SectionKind::Links,
        SectionKind::UpperRows,
        SectionKind::UpperStarts,
        SectionKind::UpperLinks,
        SectionKind::Codes,
        SectionKind::Factors,
        SectionKind::Frame,
        SectionKind::VectorSums,
        SectionKind::ListFrame,
        SectionKind::ListBook,
        SectionKind::ListHeads,
        SectionKind::ListCentres,
        SectionKind::ListRows,
        SectionKind::ListBlocks,
        SectionKind::Calibration,
        SectionKind::Probes,
        SectionKind::Choice,
    ];

    /// True for what version 1 had and this one still reads.
    pub(super) fn is_of_version_1(self) -> bool {
        matches!(
            self,
            SectionKind::Vectors | SectionKind::Docs | SectionKind::InverseNorms
        )
    }
}

/// One line of the section table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::column) struct Section {
    pub(in crate::column) kind: u32,
    pub(in crate::column) checksum: u32,
    pub(in crate::column) offset_bytes: u64,
    pub(in crate::column) len_bytes: u64,
}

pub(super) fn verify(section: &Section, image: &[u8]) -> Result<(), VectorError> {
    let bytes = image.get(byte_range(section)).unwrap_or_default();
    if crc32c::crc32c(bytes) == section.checksum {
        return Ok(());
    }
    Err(VectorError::Corrupt {
        what: "section checksum does not match",
        offset_bytes: section.offset_bytes,
    })
}

pub(super) fn byte_range(section: &Section) -> Range<usize> {
    let start = usize::try_from(section.offset_bytes).unwrap_or(usize::MAX);
    let len = usize::try_from(section.len_bytes).unwrap_or(usize::MAX);
    start..start.saturating_add(len)
}

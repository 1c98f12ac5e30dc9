//! The sections that an image may have.

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionKind {
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

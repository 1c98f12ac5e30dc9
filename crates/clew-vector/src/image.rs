//! What images of all kinds of columns have in common: a header of a fixed size that has a sum of its own, and in it the
//! table of the sections behind it, each with its sum. What else a header says, and which sections there are, each kind
//! knows for itself (`docs/formats/vectors.md`, `docs/formats/sparse.md`). Numbers are little-endian.
#![deny(clippy::indexing_slicing)]

use std::io::Write;
use std::ops::{Range, RangeInclusive};

use clew_platform::brought_in;

use crate::VectorError;

/// Sections start on cache lines.
pub(crate) const ALIGNMENT_BYTES: usize = 64;
/// Where the table of sections begins in a header.
pub(crate) const TABLE_OFFSET: usize = 64;
/// What a line of the table takes.
pub(crate) const SLOT_BYTES: usize = 24;
/// Where a header has its own sum, which is zero while it is computed.
const CHECKSUM_OFFSET: usize = 12;
/// A section of a kind with this bit may not be skipped by a reader that does not know it.
const REQUIRED_BIT: u32 = 1 << 31;

/// One line of the table of sections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) kind: u32,
    pub(crate) checksum: u32,
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: u64,
}

impl Section {
    /// Where it lies; for what [`Section::check`] has found right.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = usize::try_from(self.offset_bytes).unwrap_or(usize::MAX);
        let len = usize::try_from(self.len_bytes).unwrap_or(usize::MAX);
        start..start.saturating_add(len)
    }

    /// Compares its checksum: reads all of it.
    pub(crate) fn verify(&self, image: &[u8]) -> Result<(), VectorError> {
        let bytes = image.get(self.range()).unwrap_or_default();
        if sum_of(bytes, self.offset_bytes)? == self.checksum {
            return Ok(());
        }
        let what = "section checksum does not match";
        Err(corrupt(what, self.offset_bytes))
    }

    /// Checks that it lies where sections may, from behind the header to the image's end, and may be passed over where its
    /// kind is unknown.
    pub(crate) fn check(
        &self,
        is_known: impl Fn(u32) -> bool,
        room: Range<u64>,
    ) -> Result<(), VectorError> {
        if self.kind & REQUIRED_BIT != 0 && !is_known(self.kind) {
            let what = "a section is of an unknown kind";
            return Err(corrupt(what, TABLE_OFFSET as u64));
        }
        let end = self.offset_bytes.checked_add(self.len_bytes);
        let inside = end.is_some_and(|end| end <= room.end)
            && self.offset_bytes >= room.start
            && self.offset_bytes.is_multiple_of(ALIGNMENT_BYTES as u64);
        match inside {
            true => Ok(()),
            false => Err(corrupt("a section is misplaced", TABLE_OFFSET as u64)),
        }
    }
}

/// The section of a kind, if there is one.
pub(crate) fn find(sections: &[Section], kind: u32) -> Option<&Section> {
    sections.iter().find(|section| section.kind == kind)
}

/// What the header of an image knows of its sections, which are of kinds that have numbers.
macro_rules! sections_of_header {
    ($header:ident, $kind:ident) => {
        impl $header {
            pub(super) fn section(&self, kind: $kind) -> $crate::image::Section {
                let found = $crate::image::find(&self.sections, kind as u32);
                found.copied().unwrap_or_default()
            }

            /// True when the image has a section of this kind with anything in it.
            pub(super) fn has(&self, kind: $kind) -> bool {
                self.section(kind).len_bytes > 0
            }

            pub(super) fn offset_bytes(&self, kind: $kind) -> u64 {
                self.section(kind).offset_bytes
            }

            /// Where a section lies; the bounds were checked by `decode`.
            pub(super) fn range(&self, kind: $kind) -> std::ops::Range<usize> {
                self.section(kind).range()
            }

            /// Checks that the image is as long as it says, that its sections lie within it, and that those of these kinds are
            /// there once at most, and as long as they have to be.
            fn check_sections(
                &self,
                len_bytes: u64,
                kinds: impl IntoIterator<Item = $kind>,
                fits: impl Fn($kind, u64) -> bool,
            ) -> Result<(), $crate::VectorError> {
                if self.image_bytes != len_bytes {
                    return Err($crate::image::corrupt("image is cut off or continued", 32));
                }
                let is_known = |code: u32| $kind::ALL.iter().any(|kind| *kind as u32 == code);
                for section in &self.sections {
                    section.check(is_known, HEADER_BYTES as u64..self.image_bytes)?;
                }
                for kind in kinds {
                    let mut same = self.sections.iter().filter(|one| one.kind == kind as u32);
                    let len_bytes = same.next().map_or(0, |section| section.len_bytes);
                    if !fits(kind, len_bytes) || same.next().is_some() {
                        return Err($crate::image::corrupt(
                            "a section has the wrong size",
                            $crate::image::TABLE_OFFSET as u64,
                        ));
                    }
                }
                Ok(())
            }

            /// Compares the checksum of every section.
            pub(super) fn verify(&self, image: &[u8]) -> Result<(), $crate::VectorError> {
                let mut sections = self.sections.iter();
                sections.try_for_each(|section| section.verify(image))
            }

            /// Compares the checksum of one kind of section; one that is not there is as it should be.
            pub(super) fn verify_section(
                &self,
                image: &[u8],
                kind: $kind,
            ) -> Result<(), $crate::VectorError> {
                let found = $crate::image::find(&self.sections, kind as u32);
                found.map_or(Ok(()), |section| section.verify(image))
            }
        }
    };
}
pub(crate) use sections_of_header;

/// The table of sections that follow a header, and where the image ends: sums up all their bytes.
pub(crate) fn laid_out<'s>(
    header_bytes: usize,
    sections: impl Iterator<Item = (u32, &'s [u8])>,
) -> (Vec<Section>, u64) {
    let mut end = header_bytes;
    let mut table = Vec::new();
    for (kind, bytes) in sections {
        table.push(Section {
            kind,
            checksum: crc32c::crc32c(bytes),
            offset_bytes: end as u64,
            len_bytes: bytes.len() as u64,
        });
        end = (end + bytes.len()).next_multiple_of(ALIGNMENT_BYTES);
    }
    (table, end as u64)
}

/// Fills up with zeros to where the next section starts, behind so many bytes that were written.
pub(crate) fn pad(out: &mut dyn Write, written: &mut usize) -> Result<(), VectorError> {
    let next = written.next_multiple_of(ALIGNMENT_BYTES);
    let zeros = [0; ALIGNMENT_BYTES];
    out.write_all(zeros.get(..next - *written).unwrap_or_default())?;
    *written = next;
    Ok(())
}

/// Puts the table of sections behind the beginning of a header, which gets its size and its sum.
pub(crate) fn complete(head: &mut Vec<u8>, sections: &[Section], header_bytes: usize) {
    assert!(
        head.len() <= TABLE_OFFSET,
        "what a header says besides lies before its table"
    );
    head.resize(TABLE_OFFSET, 0);
    for section in sections {
        head.extend(section.kind.to_le_bytes());
        head.extend(section.checksum.to_le_bytes());
        head.extend(section.offset_bytes.to_le_bytes());
        head.extend(section.len_bytes.to_le_bytes());
    }
    // Each kind of image has a slot for each section that there can be.
    assert!(head.len() <= header_bytes);
    head.resize(header_bytes, 0);
    let checksum = header_checksum(head).to_le_bytes();
    for (slot, byte) in head.iter_mut().skip(CHECKSUM_OFFSET).zip(checksum) {
        *slot = byte;
    }
}

/// What a header of so many bytes says behind its beginning, and its version, which is among those that are read. What images
/// of a kind begin with stands beside what is told of those that do not.
pub(crate) fn opened<'i>(
    image: &'i [u8],
    header_bytes: usize,
    (magic, other): (u64, &'static str),
    versions: RangeInclusive<u32>,
) -> Result<(Fields<'i>, u32), VectorError> {
    let head = image.get(..header_bytes);
    let bytes = head.ok_or(corrupt("header is cut off", 0))?;
    let mut fields = Fields { bytes, at: 0 };
    if fields.u64() != magic {
        return Err(corrupt(other, 0));
    }
    let version = fields.u32();
    if fields.u32() != header_checksum(bytes) {
        return Err(corrupt("header checksum does not match", 0));
    }
    if !versions.contains(&version) {
        let supported = *versions.end();
        return Err(VectorError::UnsupportedVersion { version, supported });
    }
    Ok((fields, version))
}

/// Covers a header with its own checksum read as zero.
fn header_checksum(header: &[u8]) -> u32 {
    let (before, rest) = header.split_at_checked(CHECKSUM_OFFSET).unwrap_or_default();
    let after = rest.get(4..).unwrap_or_default();
    let sum = crc32c::crc32c_append(crc32c::crc32c(before), &[0; 4]);
    crc32c::crc32c_append(sum, after)
}

/// Reads numbers one after the other. The length was checked before; beyond it lie zeros.
pub(crate) struct Fields<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl Fields<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let rest = self.bytes.get(self.at..);
        let found = rest.and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        found.copied().unwrap_or([0; N])
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// So many lines of the table of sections, which begins here.
    pub(crate) fn sections(&mut self, count: usize) -> Vec<Section> {
        let section = |_| Section {
            kind: self.u32(),
            checksum: self.u32(),
            offset_bytes: self.u64(),
            len_bytes: self.u64(),
        };
        (0..count).map(section).collect()
    }
}

/// The sum of a part of an image, which begins at this offset.
///
/// # Errors
/// When the image is a file's, and the disk cannot read the part.
pub(crate) fn sum_of(part: &[u8], offset_bytes: u64) -> Result<u32, VectorError> {
    let mut pieces = brought_in(part);
    let sum = pieces.try_fold(0, |sum, piece| {
        piece.map(|piece| crc32c::crc32c_append(sum, piece))
    });
    sum.map_err(|_| corrupt("a part of the image cannot be read", offset_bytes))
}

pub(crate) fn corrupt(what: &'static str, offset_bytes: u64) -> VectorError {
    VectorError::Corrupt { what, offset_bytes }
}

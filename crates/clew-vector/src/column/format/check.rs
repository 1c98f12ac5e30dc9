//! What a header must be true about: its own bounds, and the place and size of every section.

use super::section::SectionKind;
use super::{FRAME_HEAD_BYTES, Header, SLOTS, VERSION};
use crate::calibrate::{Choice, POINTS_MAX, Point};
use crate::codes::{FACTORS, pitch_bytes};
use crate::column::integrity::BLOCK_BYTES;
use crate::graph::{base_slots, upper_slots};
use crate::image::corrupt;
use crate::structure::is_coded;
use crate::{Space, VECTORS_MAX, VectorError};

const POINT_BYTES: u64 = size_of::<Point>() as u64;
/// What is kept beside a point of lists.
const PROBES_BYTES: u64 = size_of::<f32>() as u64;

impl Header {
    /// Checks everything the header claims against the size of the image and against itself.
    pub(super) fn check(&self, len_bytes: u64, slots: u8) -> Result<(), VectorError> {
        if self.options.validate().is_err() {
            return Err(corrupt("an option is out of bounds", 16));
        }
        if self.count > VECTORS_MAX {
            return Err(corrupt("too many vectors", 20));
        }
        if usize::from(slots) > SLOTS {
            return Err(corrupt("too many sections", 30));
        }
        let known = |kind: &SectionKind| self.version == VERSION || kind.is_of_version_1();
        let kinds = SectionKind::ALL.into_iter().filter(known);
        self.check_sections(len_bytes, kinds, |kind, len_bytes| {
            let wanted = self.expected_bytes(kind);
            match kind {
                SectionKind::Docs => len_bytes == wanted || len_bytes == 0 && !self.options.multi,
                SectionKind::ListFrame | SectionKind::Choice | SectionKind::Probes => {
                    len_bytes == wanted || len_bytes == 0
                }
                SectionKind::Calibration => {
                    len_bytes <= wanted && len_bytes.is_multiple_of(POINT_BYTES)
                }
                _ => len_bytes == wanted,
            }
        })?;
        if self
            .entry
            .is_some_and(|entry| entry.row as usize >= self.count)
        {
            return Err(corrupt("graph is entered outside the column", 48));
        }
        Ok(())
    }

    /// True when walks measure by codes.
    pub(in crate::column) fn is_coded(&self) -> bool {
        self.entry.is_some() && is_coded(&self.options)
    }

    /// Size of a section, were it there; the largest there may be of one that may be shorter. Cannot
    /// overflow: every factor has its limit.
    fn expected_bytes(&self, kind: SectionKind) -> u64 {
        let graph = u64::from(self.entry.is_some());
        let coded = u64::from(self.is_coded());
        let (count, m) = (self.count as u64, self.options.hnsw.m);
        let options = &self.options;
        let vectors = count * options.element.row_bytes(options.dimension) as u64;
        match kind {
            SectionKind::Vectors => vectors,
            SectionKind::Docs => 4 * count,
            SectionKind::InverseNorms if self.options.space == Space::Cosine => 4 * count,
            SectionKind::InverseNorms => 0,
            SectionKind::Links => graph * count * 4 * base_slots(m) as u64,
            SectionKind::UpperRows => graph * 4 * self.upper_count as u64,
            SectionKind::UpperStarts => graph * 4 * (self.upper_count as u64 + 1),
            SectionKind::UpperLinks => graph * 4 * self.upper_lists as u64 * upper_slots(m) as u64,
            SectionKind::Codes => {
                let pitch = pitch_bytes(self.options.dimension, self.options.code_bits);
                coded * count * pitch as u64
            }
            SectionKind::Factors => coded * count * size_of::<[f32; FACTORS]>() as u64,
            SectionKind::Frame => coded * (FRAME_HEAD_BYTES + 4 * self.options.dimension) as u64,
            SectionKind::Calibration => {
                let learnt = graph.max(u64::from(self.has_lists()));
                learnt * POINT_BYTES * POINTS_MAX as u64
            }
            SectionKind::Probes if self.has_lists() => {
                self.section(SectionKind::Calibration).len_bytes / POINT_BYTES * PROBES_BYTES
            }
            SectionKind::Probes => 0,
            SectionKind::Choice => size_of::<Choice>() as u64,
            SectionKind::VectorSums => 4 * vectors.div_ceil(BLOCK_BYTES as u64),
            SectionKind::ListFrame
            | SectionKind::ListBook
            | SectionKind::ListHeads
            | SectionKind::ListCentres
            | SectionKind::ListRows
            | SectionKind::ListBlocks => self.expected_list_bytes(kind),
        }
    }
}

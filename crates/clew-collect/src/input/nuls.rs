//! Runs of NULs: the hole that a writer leaves which goes on where it was after its file was truncated under it, and what a crash leaves
//! of lines that were lost. They are passed over once something stands behind them: before that it may still be written over them.

use std::io;

use super::source::{Behind, FileSource};
use super::tail::{Tail, advance, window_bytes_at_start};
use crate::fingerprint::{LEAD_BYTES_MAX, Position};
use crate::frame::Encoding;

/// NULs, holes not counted, that are looked through to find out whether a file is text.
const LOOKED_THROUGH_MAX: u64 = 64 << 20;
/// What a lead of NULs is.
const NUL_LEAD: [u8; 64] = [0; 64];
const _: () = assert!(LEAD_BYTES_MAX == 64);

/// What became of NULs that a window begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nuls {
    /// There are none that are not simply part of a line.
    InLine,
    /// The reading stands behind them.
    Passed,
    /// Nothing else follows yet.
    Last,
}

impl Tail {
    /// Passes over NULs that fill a window, or stand before a line that is too long to hold. Whether it does so follows from what is in the file behind
    /// the position alone, so that lines get the same ids whenever they are read.
    pub(super) fn pass_nuls(
        &mut self,
        source: &mut FileSource,
        window: &[u8],
        lead: usize,
    ) -> io::Result<Nuls> {
        let data = &window[lead..];
        let is_wide = matches!(self.encoding, Encoding::Utf16Le | Encoding::Utf16Be);
        if data.first() != Some(&0) || self.skipping.is_some() || is_wide {
            return Ok(Nuls::InLine);
        }
        let run = data.iter().take_while(|byte| **byte == 0).count();
        if run < data.len() {
            let is_long = data.len() > self.rules.options.line_bytes_max;
            if !is_long || self.encoding.line_end(data, 0).is_some() {
                return Ok(Nuls::InLine);
            }
            self.read = advance(self.read, &window[..lead + run], run);
            return Ok(Nuls::Passed);
        }
        let begin = self.read.offset;
        let from = match self.nuls {
            Some((known, end)) if known == begin => end,
            _ => begin + run as u64,
        };
        match source.behind_nuls(from, u64::MAX)? {
            Behind::Something(at) => {
                self.nuls = None;
                self.read = over_nuls(self.read, &window[..lead], at - begin);
                self.window_bytes = window_bytes_at_start();
                Ok(Nuls::Passed)
            }
            Behind::Nothing(end) | Behind::Unknown(end) => {
                self.nuls = Some((begin, end));
                Ok(Nuls::Last)
            }
        }
    }
}

/// The bytes by which it is told whether a file is text: its first ones, or where these are NULs those behind them. Nothing where there
/// are no others yet.
pub(super) fn first_text(source: &mut FileSource, start: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut text = start.to_vec();
    if start.is_empty() || start.iter().any(|byte| *byte != 0) {
        return Ok(Some(text));
    }
    match source.behind_nuls(0, LOOKED_THROUGH_MAX)? {
        Behind::Something(at) => {
            let got = source.read_at(at, &mut text)?;
            text.truncate(got.bytes);
            Ok(Some(text))
        }
        Behind::Nothing(_) => Ok(None),
        Behind::Unknown(_) => Ok(Some(text)),
    }
}

/// A position behind so many NULs; `lead` is what stands before it.
fn over_nuls(from: Position, lead: &[u8], nuls: u64) -> Position {
    if let Ok(few) = usize::try_from(nuls)
        && few < NUL_LEAD.len()
    {
        let mut window = lead.to_vec();
        window.resize(lead.len() + few, 0);
        return advance(from, &window, few);
    }
    // The sum of twice as many NULs is made of that of half of them, so that holes of any size cost nothing.
    let (mut checksum, mut left) = (from.checksum, nuls);
    let (mut block, mut block_bytes) = (crc32c::crc32c(&[0]), 1_usize);
    while left > 0 {
        if left & 1 == 1 {
            checksum = crc32c::crc32c_combine(checksum, block, block_bytes);
        }
        left >>= 1;
        if left > 0 {
            block = crc32c::crc32c_combine(block, block, block_bytes);
            block_bytes <<= 1;
        }
    }
    Position {
        offset: from.offset + nuls,
        checksum,
        lead: crc32c::crc32c(&NUL_LEAD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn a_position_behind_nuls_is_the_one_that_reading_them_leads_to() {
        for before in [0_usize, 5, 64, 200] {
            let start = vec![b'x'; before];
            let from = advance(Position::default(), &start, before);
            let lead = &start[before - before.min(64)..];
            for nuls in [1_usize, 2, 63, 64, 65, 1_000, 262_144, 999_999] {
                let mut window = lead.to_vec();
                window.resize(lead.len() + nuls, 0);
                let read = advance(from, &window, nuls);
                let passed = over_nuls(from, lead, nuls as u64);
                assert_eq!(passed, read, "{before} {nuls}");
            }
        }
    }

    #[test]
    fn what_stands_behind_nuls_and_holes_is_found() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[0; 1_000]).unwrap();
        let mut source = FileSource::new(file.try_clone().unwrap()).unwrap();
        let check = |source: &mut FileSource, from, bytes_max, expected| {
            assert_eq!(source.behind_nuls(from, bytes_max).unwrap(), expected);
        };
        check(&mut source, 0, u64::MAX, Behind::Nothing(1_000));
        assert_eq!(first_text(&mut source, &[0; 9]).unwrap(), None);
        let hole = 3 << 30;
        file.write_all_at(b"text", hole).unwrap();
        check(&mut source, 0, u64::MAX, Behind::Something(hole));
        check(&mut source, hole + 2, u64::MAX, Behind::Something(hole + 2));
        let text = first_text(&mut source, &[0; 9]).unwrap();
        assert_eq!(text.as_deref(), Some(&b"text"[..]));
        assert_eq!(
            first_text(&mut source, b"\0a").unwrap(),
            Some(b"\0a".to_vec())
        );
        // A hole at the end.
        file.set_len(hole * 2).unwrap();
        check(&mut source, hole + 4, u64::MAX, Behind::Nothing(hole * 2));
    }
}

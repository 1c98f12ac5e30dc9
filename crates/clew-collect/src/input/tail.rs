//! Reading one file forward: windows of bytes become framed records, records become events.
//!
//! A tail moves its own position only; the registry follows when the events were acknowledged.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::file_system::{self, FileId, Stat};
use super::frame::{Framing, cut_point};
use super::source::FileSource;
use crate::document::{Encoder, Line, Origin, Taken};
use crate::event::Batch;
use crate::fingerprint::{Head, Position};
use crate::options::ParserChoice;
use crate::parse::{ParserName, choose};
use crate::progress::Counters;
use crate::registry::Slot;

/// Bytes asked for at once; a window grows beyond it only for a longer record.
const WINDOW_BYTES: usize = 256 << 10;
/// Bytes of a file that its parser is chosen by.
const SAMPLE_BYTES_MAX: usize = 64 << 10;

/// What reading needs beside the file; shared by all tails.
pub(crate) struct Fill<'a> {
    pub(crate) batch: &'a mut Batch,
    pub(crate) encoder: &'a mut Encoder,
    pub(crate) counters: &'a mut Counters,
    pub(crate) scratch: &'a mut Vec<u8>,
    pub(crate) line_bytes_max: usize,
    pub(crate) choice: ParserChoice,
    /// Whether a line without its end counts as one at the end of a file.
    pub(crate) take_unfinished: bool,
}

/// How far a reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The batch is full; there may be more.
    BatchFull,
    /// Nothing more for now.
    Drained,
    /// The file no longer holds what was read before.
    Truncated,
    /// The file is no longer where it was.
    Moved,
}

/// One file being read.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) slot: Slot,
    pub(crate) file: FileId,
    pub(crate) path: PathBuf,
    pub(crate) stat: Stat,
    pub(crate) source: Option<FileSource>,
    pub(crate) gzip: bool,
    pub(crate) origin: Origin,
    pub(crate) parser: Option<ParserName>,
    /// Everything before it is acknowledged or in the current batch.
    pub(crate) read: Position,
    pub(crate) skipping: Option<Skipping>,
    /// How the content begins that is being read, until the registry knows.
    pub(crate) opening: Option<Head>,
    pub(crate) window_bytes: usize,
    /// There may be something to read.
    pub(crate) dirty: bool,
    /// Since when no path leads to it.
    pub(crate) gone_since: Option<Duration>,
    /// Why the last reading ended early, if it did.
    pub(crate) failure: Option<String>,
    /// Nothing more will come; what is unfinished is taken as it is.
    pub(crate) closing: bool,
}

/// A record too long to hold, whose end is being looked for.
#[derive(Debug)]
pub(crate) struct Skipping {
    content: Vec<u8>,
    line_offset: u64,
    at: Position,
}

pub(crate) fn window_bytes_at_start() -> usize {
    WINDOW_BYTES
}

/// A position further on: `window` ends there and holds the lead too, `passed` bytes of it are new.
pub(crate) fn advance(from: Position, window: &[u8], passed: usize) -> Position {
    let checksum = crc32c::crc32c_append(from.checksum, &window[window.len() - passed..]);
    let offset = from.offset + passed as u64;
    let moved = Position {
        offset,
        checksum,
        lead: 0,
    };
    let lead_bytes = usize::try_from(moved.lead_bytes()).expect("a lead is at most 64 bytes");
    Position {
        lead: crc32c::crc32c(&window[window.len() - lead_bytes..]),
        ..moved
    }
}

impl Tail {
    /// Reads records into the batch until it is full or the file has no more.
    pub(crate) fn fill(&mut self, fill: &mut Fill<'_>) -> io::Result<Pass> {
        let Some(mut source) = self.opened()? else {
            return Ok(Pass::Moved);
        };
        let pass = self.fill_from(&mut source, fill);
        self.source = Some(source);
        pass
    }

    /// The open file; `None` if another one has its name by now.
    fn opened(&mut self) -> io::Result<Option<FileSource>> {
        if let Some(source) = self.source.take() {
            self.stat = file_system::stat_open(source.file())?;
            return Ok(Some(source));
        }
        let (file, stat) = match file_system::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        if stat.file != self.file {
            return Ok(None);
        }
        self.stat = stat;
        FileSource::new(file).map(Some)
    }

    fn fill_from(&mut self, source: &mut FileSource, fill: &mut Fill<'_>) -> io::Result<Pass> {
        fill.encoder.times.newest_ms = self.stat.modified_ms;
        let mut scratch = std::mem::take(fill.scratch);
        let pass = loop {
            if fill.batch.is_full() {
                break Ok(Pass::BatchFull);
            }
            let from = self
                .skipping
                .as_ref()
                .map_or(self.read, |skipping| skipping.at);
            let lead = usize::try_from(from.lead_bytes()).expect("a lead is at most 64 bytes");
            let wanted = lead + self.window_bytes;
            if scratch.len() < wanted {
                scratch.resize(wanted, 0);
            }
            let got = match source.read_at(from.offset - lead as u64, &mut scratch[..wanted]) {
                Ok(got) => got,
                Err(error) => break Err(error),
            };
            // The lead is read together with what follows it: if it is still what it was, so is
            // the file, and what follows continues it.
            if got.bytes < lead || crc32c::crc32c(&scratch[..lead]) != from.lead {
                break Ok(Pass::Truncated);
            }
            if from.offset == 0 && got.bytes > 0 {
                self.opening = Some(Head::of(&scratch[..got.bytes]));
            }
            let last = got.at_end && (fill.take_unfinished || self.closing || self.gzip);
            let window = Window {
                bytes: &scratch[..got.bytes],
                lead,
                last,
            };
            let passed = match self.skipping.take() {
                Some(skipping) => self.skip(skipping, &window, fill),
                None => self.take(&window, fill),
            };
            // Fewer bytes than asked for, and yet no end.
            if passed == 0 && got.bytes < wanted && !got.at_end {
                let reason = "the compressed data is broken off or damaged";
                break Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
            }
            if passed == 0 && !self.make_room(&window, got.at_end, fill.line_bytes_max) {
                break Ok(Pass::Drained);
            }
        };
        *fill.scratch = scratch;
        pass
    }

    /// What to do when a window holds no whole record: a larger window, or no window at all for
    /// a record beyond the limit. False when there is nothing to do but wait for more.
    fn make_room(&mut self, window: &Window<'_>, at_end: bool, line_bytes_max: usize) -> bool {
        let data = &window.bytes[window.lead..];
        if self.skipping.is_some() {
            return false;
        }
        if data.len() > line_bytes_max {
            self.skipping = Some(Skipping {
                content: data[..cut_point(data, line_bytes_max)].to_vec(),
                line_offset: self.read.offset,
                at: advance(self.read, window.bytes, data.len()),
            });
            return true;
        }
        if at_end {
            return false;
        }
        self.window_bytes = (self.window_bytes * 2).min(line_bytes_max + WINDOW_BYTES);
        true
    }

    /// Takes the whole records of a window; returns how many bytes they have.
    fn take(&mut self, window: &Window<'_>, fill: &mut Fill<'_>) -> usize {
        let data = &window.bytes[window.lead..];
        let Some(parser) = self.choose_parser(data, window.last, fill) else {
            return 0;
        };
        let framing = Framing::of(parser);
        let mut passed = 0;
        let mut checksum = self.read.checksum;
        while !fill.batch.is_full() {
            let rest = &data[passed..];
            let Some(frame) = framing.first(rest, fill.line_bytes_max, window.last) else {
                break;
            };
            checksum = crc32c::crc32c_append(checksum, &rest[..frame.end]);
            let line = Line {
                bytes: &rest[frame.content],
                offset: self.read.offset + passed as u64,
                checksum,
                cut: frame.cut,
            };
            self.emit(&line, parser, fill);
            passed += frame.end;
        }
        if passed > 0 {
            self.pass(
                self.read,
                &window.bytes[..window.lead + passed],
                passed,
                fill,
            );
        }
        passed
    }

    /// Looks for the end of a record that is too long; returns how many bytes were passed.
    fn skip(&mut self, skipping: Skipping, window: &Window<'_>, fill: &mut Fill<'_>) -> usize {
        let data = &window.bytes[window.lead..];
        let found = memchr::memchr(b'\n', data);
        let passed = found.map_or(data.len(), |at| at + 1);
        let at = advance(skipping.at, &window.bytes[..window.lead + passed], passed);
        if found.is_none() && !window.last {
            self.skipping = Some(Skipping { at, ..skipping });
            return passed;
        }
        let parser = self.parser.unwrap_or(ParserName::Plain);
        self.parser = Some(parser);
        let line = Line {
            bytes: &skipping.content,
            offset: skipping.line_offset,
            checksum: at.checksum,
            cut: true,
        };
        self.emit(&line, parser, fill);
        fill.counters.bytes_read += at.offset - self.read.offset;
        self.read = at;
        self.window_bytes = WINDOW_BYTES;
        // At the very end nothing was passed, but the record was taken: not a reason to wait.
        passed.max(1)
    }

    fn pass(&mut self, from: Position, window: &[u8], passed: usize, fill: &mut Fill<'_>) {
        fill.counters.bytes_read += passed as u64;
        self.read = advance(from, window, passed);
        self.window_bytes = WINDOW_BYTES;
    }

    fn emit(&self, line: &Line<'_>, parser: ParserName, fill: &mut Fill<'_>) {
        fill.counters.lines_read += 1;
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        fill.counters.lines_truncated += u64::from(line.cut);
        let event = fill.batch.slot();
        let taken = fill.encoder.encode(line, parser, &self.origin, event);
        match taken {
            Taken::Dropped => fill.counters.events_dropped += 1,
            Taken::ByItsParser | Taken::AsPlain => {
                fill.counters.parse_errors += u64::from(taken == Taken::AsPlain);
                fill.batch.commit();
            }
        }
    }

    /// The parser, chosen by the first whole lines if need be. `None` when there are none yet.
    fn choose_parser(
        &mut self,
        data: &[u8],
        last: bool,
        fill: &mut Fill<'_>,
    ) -> Option<ParserName> {
        if self.parser.is_none() {
            self.parser = match fill.choice {
                ParserChoice::Named(parser) => Some(parser),
                ParserChoice::Auto => {
                    let range = sample_range(data, last)?;
                    let sample = String::from_utf8_lossy(&data[range]);
                    let path = self.path.to_str().unwrap_or("");
                    let chosen = choose(path, &sample, &mut fill.encoder.times);
                    chosen.or(last.then_some(ParserName::Plain))
                }
            };
        }
        self.parser
    }
}

struct Window<'a> {
    /// The lead and what follows it.
    bytes: &'a [u8],
    lead: usize,
    /// Whether nothing will follow.
    last: bool,
}

/// The whole lines at the start of a file.
fn sample_range(data: &[u8], last: bool) -> Option<Range<usize>> {
    let start = &data[..data.len().min(SAMPLE_BYTES_MAX)];
    match memchr::memrchr(b'\n', start) {
        Some(end) => Some(0..end + 1),
        None if last || data.len() > SAMPLE_BYTES_MAX => Some(0..start.len()),
        None => None,
    }
}

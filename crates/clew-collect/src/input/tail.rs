//! Reading one file forward: windows of bytes become framed records, records become events.
//!
//! A tail moves its own position only; the registry follows when the events were acknowledged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::nuls::Nuls;
use super::rules::{FileRules, SAMPLE_BYTES_MAX};
use super::source::FileSource;
use crate::counters::Counters;
use crate::document::{Encoder, Origin};
use crate::event::Batch;
use crate::file_system::{self, FileId, Stat};
use crate::fingerprint::{Head, LEAD_BYTES_MAX, Position};
use crate::frame::{Encoding, Framing, Group, Rest, Stream, cut_point, deciding_bytes, unmarked};
use crate::line::Line;
use crate::options::Mode;
use crate::parse::{Fit, ParserChoice, ParserName, choose, tell_choice};
use crate::registry::Slot;

/// Bytes asked for at once; a window grows beyond it only for a longer record.
const WINDOW_BYTES: usize = 256 << 10;
/// What is read of a file before others have their turn, however little of it is kept.
const TURN_BYTES: u64 = 16 << 20;

/// What reading needs beside the file; shared by all tails.
pub(crate) struct Fill<'a> {
    pub(crate) batch: &'a mut Batch,
    pub(crate) encoder: &'a mut Encoder,
    pub(crate) counters: &'a mut Counters,
    pub(crate) scratch: &'a mut Vec<u8>,
    pub(crate) group: &'a mut Group,
    /// In a run that ends by itself, a line without its end counts as one at the end of a file.
    pub(crate) mode: Mode,
    /// The time of the reading, on the clock that only runs forward.
    pub(crate) now: Duration,
}

/// How far a reading came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pass {
    /// The batch is full, or others have their turn; there may be more.
    More,
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
    /// Where it is, if the path is a link, or leads through one.
    pub(crate) target: Option<PathBuf>,
    pub(crate) stat: Stat,
    pub(crate) rules: Arc<FileRules>,
    pub(crate) source: Option<FileSource>,
    pub(crate) compressed: bool,
    pub(crate) origin: Origin,
    pub(crate) encoding: Encoding,
    /// Chosen by the first lines, if it is not given.
    pub(crate) parser: Option<ParserName>,
    /// How well it fits, until the registry knows.
    pub(crate) fit: Option<Fit>,
    pub(crate) framing: Option<Framing>,
    /// Everything before it is acknowledged or in the current batch.
    pub(crate) read: Position,
    pub(crate) skipping: Option<Skipping>,
    /// How the content begins that is being read, until the registry knows.
    pub(crate) opening: Option<Head>,
    /// How it began when it was first looked at: what begins otherwise is another one, even where nothing was read yet.
    pub(crate) head: Head,
    /// A rotation's copy that another one was written over: what it is now, the next look finds out.
    pub(crate) over: bool,
    pub(crate) window_bytes: usize,
    /// What was there when an event had to wait for the lines that belong to it, and since when: [`Duration::MAX`] where the time
    /// is over, and all was taken that may be without them.
    pub(crate) waiting: Option<(u64, Duration)>,
    /// Where NULs begin that nothing follows, and up to where they were looked through.
    pub(crate) nuls: Option<(u64, u64)>,
    /// There may be something to read.
    pub(crate) dirty: bool,
    /// Since when no path leads to it and nothing more came.
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
    advance_to(from, checksum, window, passed)
}

/// The same, where the checksum of everything up to it is known.
fn advance_to(from: Position, checksum: u32, window: &[u8], passed: usize) -> Position {
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
    /// Reads records into the batch until it is full, the turn is over or the file has no more.
    pub(crate) fn fill(&mut self, fill: &mut Fill<'_>) -> io::Result<Pass> {
        let Some(mut source) = self.opened()? else {
            return Ok(Pass::Moved);
        };
        let before = self.read;
        let pass = self.fill_from(&mut source, fill);
        self.source = Some(source);
        if self.read != before && !self.closing {
            // Whoever still writes to it has not noticed yet that nothing leads to it.
            self.gone_since = self.gone_since.map(|_| fill.now);
        }
        pass
    }

    /// The path that leads to it whatever links do meanwhile.
    pub(crate) fn place(&self) -> &Path {
        self.target.as_deref().unwrap_or(&self.path)
    }

    /// The open file; `None` if another one has its name by now.
    fn opened(&mut self) -> io::Result<Option<FileSource>> {
        if let Some(source) = self.source.take() {
            self.stat = file_system::stat_open(source.file())?;
            return Ok(Some(source));
        }
        let (file, stat) = match file_system::open(self.place()) {
            Err(error) if file_system::is_no_file(&error) => return Ok(None),
            other => other?,
        };
        if stat.file != self.file {
            return Ok(None);
        }
        self.stat = stat;
        FileSource::new(file).map(Some)
    }

    /// Does something with the open file, which is opened for it if need be; `None` if another one has its name by now.
    pub(crate) fn with_source<T>(
        &mut self,
        look: impl FnOnce(&mut FileSource) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        let (was_open, before) = (self.source.is_some(), self.stat);
        let Some(mut source) = self.opened()? else {
            return Ok(None);
        };
        self.dirty |= self.stat != before;
        let found = look(&mut source);
        if was_open {
            self.source = Some(source);
        }
        found.map(Some)
    }

    /// Whether the file still holds what was read of it, or begins as it did where nothing was read yet. One that is not where it was does:
    /// where it is now, a look finds out.
    pub(crate) fn holds_what_was_read(&mut self) -> io::Result<bool> {
        let read = self.read;
        let found = self.with_source(|source| Ok((source.start()?, source.holds(read)?)))?;
        let Some((start, holds)) = found else {
            return Ok(true);
        };
        let holds = holds && self.head.matches(&start);
        if holds {
            self.head = Head::of(&start);
        }
        Ok(holds)
    }

    /// Whether there may be something to read.
    pub(crate) fn is_due(&self) -> bool {
        self.dirty && !self.over
    }

    /// Whether a window, which begins with the lead, goes on where the reading stands. The lead is read together with what follows it:
    /// if it is still what it was, so is the file, and what follows continues it. As the kernel may hand out a window in pieces, between which
    /// the file may be truncated and grow again, the window's first bytes are read once more.
    fn goes_on(
        &mut self,
        source: &mut FileSource,
        from: Position,
        window: &[u8],
    ) -> io::Result<bool> {
        let lead = usize::try_from(from.lead_bytes()).expect("a lead is at most 64 bytes");
        if window.len() < lead || crc32c::crc32c(&window[..lead]) != from.lead {
            return Ok(false);
        }
        if window.len() == lead {
            return Ok(true);
        }
        if from.offset == 0 && !self.head.matches(window) {
            return Ok(false);
        }
        let first =
            usize::try_from(LEAD_BYTES_MAX).map_or(window.len(), |max| max.min(window.len()));
        if !self.compressed && !source.has(from.offset - lead as u64, &window[..first])? {
            return Ok(false);
        }
        if from.offset == 0 {
            self.encoding = self.rules.encoding(window);
            self.head = Head::of(window);
            self.opening = Some(self.head.clone());
        }
        Ok(true)
    }

    /// How far the file was looked at: behind what was read, in a line that is too long.
    fn reached(&self) -> Position {
        self.skipping.as_ref().map_or(self.read, |skip| skip.at)
    }

    fn fill_from(&mut self, source: &mut FileSource, fill: &mut Fill<'_>) -> io::Result<Pass> {
        fill.encoder.times.newest_ms = self.stat.modified_ms;
        let mut scratch = std::mem::take(fill.scratch);
        let turn_end = self.reached().offset.saturating_add(TURN_BYTES);
        let pass = loop {
            let from = self.reached();
            if fill.batch.is_full() || from.offset >= turn_end {
                break Ok(Pass::More);
            }
            let lead = usize::try_from(from.lead_bytes()).expect("a lead is at most 64 bytes");
            let wanted = lead + self.window_bytes;
            if scratch.len() < wanted {
                scratch.resize(wanted, 0);
            }
            let got = match source.read_at(from.offset - lead as u64, &mut scratch[..wanted]) {
                Ok(got) => got,
                Err(error) => break Err(error),
            };
            match self.goes_on(source, from, &scratch[..got.bytes]) {
                Ok(true) => {}
                Ok(false) => break Ok(Pass::Truncated),
                Err(error) => break Err(error),
            }
            match self.pass_nuls(source, &scratch[..got.bytes], lead) {
                Ok(Nuls::InLine) => {}
                Ok(Nuls::Passed) => continue,
                Ok(Nuls::Last) => break Ok(Pass::Drained),
                Err(error) => break Err(error),
            }
            let end = from.offset - lead as u64 + got.bytes as u64;
            let is_framed = self.framing.is_some();
            let window = Window {
                bytes: &scratch[..got.bytes],
                lead,
                rest: self.rest(got.at_end, end, fill),
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
            if passed == 0 && !self.make_room(&window, got.at_end) {
                // Whether its first event waits for more is known only now.
                if !is_framed && got.at_end {
                    self.begin_to_wait(end, fill.now);
                }
                if window.rest == Rest::Quiet {
                    self.waiting = Some((end, Duration::MAX));
                }
                break Ok(Pass::Drained);
            }
        };
        *fill.scratch = scratch;
        pass
    }

    /// What to do when a window holds no whole record: a larger window, or no window at all for
    /// a record beyond the limit. False when there is nothing to do but wait for more.
    fn make_room(&mut self, window: &Window<'_>, at_end: bool) -> bool {
        let data = &window.bytes[window.lead..];
        if self.skipping.is_some() {
            return false;
        }
        let bytes_max = self.rules.options.line_bytes_max;
        if data.len() > bytes_max && self.encoding.line_end(data, 0).is_none() {
            // Whole units of the encoding only.
            let data = &data[..data.len() & !1];
            self.skipping = Some(Skipping {
                content: data[..cut_point(data, bytes_max)].to_vec(),
                line_offset: self.read.offset,
                at: advance(
                    self.read,
                    &window.bytes[..window.lead + data.len()],
                    data.len(),
                ),
            });
            return true;
        }
        if at_end {
            return false;
        }
        let most = deciding_bytes(bytes_max) + WINDOW_BYTES;
        self.window_bytes = (self.window_bytes * 2).min(most);
        true
    }

    /// Takes the whole groups of a window; returns how many bytes they have.
    fn take(&mut self, window: &Window<'_>, fill: &mut Fill<'_>) -> usize {
        let data = &window.bytes[window.lead..];
        let Some(parser) = self.choose_parser(data, window.rest, fill) else {
            return 0;
        };
        let framing = match self.framing.take() {
            Some(framing) => framing,
            None => self.rules.framing(self.encoding, parser),
        };
        let bytes_max = self.rules.options.line_bytes_max;
        let mut group = std::mem::take(fill.group);
        let mut passed = 0;
        let mut checksum = self.read.checksum;
        // Line by line where ids are made of it; else once, of the whole, which is faster.
        let by_line = fill.encoder.makes_ids;
        while !fill.batch.is_full()
            && framing.first(&data[passed..], bytes_max, window.rest, &mut group)
        {
            let rest = &data[passed..];
            let mut summed = 0;
            for piece in &group.pieces {
                if by_line {
                    checksum = crc32c::crc32c_append(checksum, &rest[summed..piece.place.end]);
                    summed = piece.place.end;
                }
                let offset = self.read.offset + (passed + piece.place.start) as u64;
                let line = Line {
                    bytes: unmarked(group.bytes(piece, rest), offset),
                    offset,
                    checksum,
                    cut: piece.cut,
                    stream: piece.stream.map(Stream::as_str),
                    time_ms: piece.time_ms,
                    message: None,
                };
                self.emit(&line, parser, fill);
            }
            if by_line {
                checksum = crc32c::crc32c_append(checksum, &rest[summed..group.end]);
            }
            passed += group.end;
        }
        *fill.group = group;
        self.framing = Some(framing);
        if passed > 0 {
            if !by_line {
                checksum = crc32c::crc32c_append(checksum, &data[..passed]);
            }
            let window = &window.bytes[..window.lead + passed];
            fill.counters.bytes_read += passed as u64;
            self.read = advance_to(self.read, checksum, window, passed);
            self.window_bytes = WINDOW_BYTES;
        }
        passed
    }

    /// Looks for the end of a line that is too long; returns how many bytes were passed.
    fn skip(&mut self, skipping: Skipping, window: &Window<'_>, fill: &mut Fill<'_>) -> usize {
        let data = &window.bytes[window.lead..];
        let ends = window.rest == Rest::Ends;
        let found = self.encoding.line_end(data, 0);
        let passed = match found {
            Some(end) => end,
            None if ends => data.len(),
            None => data.len() & !1,
        };
        let at = advance(skipping.at, &window.bytes[..window.lead + passed], passed);
        if found.is_none() && !ends {
            self.skipping = Some(Skipping { at, ..skipping });
            return passed;
        }
        let parser = self.parser.unwrap_or(ParserName::Plain);
        self.parser = Some(parser);
        let mut text = Vec::new();
        self.encoding.append(&skipping.content, &mut text);
        let line = Line {
            bytes: &text,
            offset: skipping.line_offset,
            checksum: at.checksum,
            cut: true,
            stream: None,
            time_ms: None,
            message: None,
        };
        self.emit(&line, parser, fill);
        fill.counters.bytes_read += at.offset - self.read.offset;
        self.read = at;
        self.window_bytes = WINDOW_BYTES;
        // At the very end nothing was passed, but the record was taken: not a reason to wait.
        passed.max(1)
    }

    /// What is known of the bytes behind a window that reaches to `end`.
    fn rest(&mut self, at_end: bool, end: u64, fill: &Fill<'_>) -> Rest {
        if !at_end {
            return Rest::Follows;
        }
        if fill.mode == Mode::Once || self.closing || self.compressed {
            return Rest::Ends;
        }
        // Whoever waits for more of an event waits for a time only.
        let is_known = self.waiting.is_some_and(|(size, _)| size == end);
        match is_known {
            true if self.is_overdue(fill.now) => return Rest::Quiet,
            true => {}
            false => self.begin_to_wait(end, fill.now),
        }
        Rest::Follows
    }

    /// Begins to wait for more of the event that a file ends with, if it has one that more may belong to.
    fn begin_to_wait(&mut self, end: u64, now: Duration) {
        let waits = self.framing.as_ref().is_some_and(Framing::waits);
        self.waiting = (waits && end > self.read.offset).then_some((end, now));
    }

    /// Whether an event has waited long enough for lines that belong to it.
    pub(crate) fn is_overdue(&self, now: Duration) -> bool {
        let over = |since: Duration| since.saturating_add(self.rules.quiet_after);
        self.waiting.is_some_and(|(_, since)| now >= over(since))
    }

    fn emit(&self, line: &Line<'_>, parser: ParserName, fill: &mut Fill<'_>) {
        let into = (&mut *fill.encoder, &mut *fill.batch);
        fill.counters.take(line, parser, &self.origin, into);
    }

    /// The parser, chosen by the first whole lines if need be. `None` when there are none yet.
    fn choose_parser(
        &mut self,
        data: &[u8],
        rest: Rest,
        fill: &mut Fill<'_>,
    ) -> Option<ParserName> {
        if self.parser.is_none() {
            self.parser = match self.rules.options.parse {
                ParserChoice::Named(parser) => Some(parser),
                ParserChoice::Auto => {
                    let last = rest == Rest::Ends;
                    let sample = self.rules.sample(self.encoding, data, last)?;
                    let path = self.path.to_str().unwrap_or("");
                    match choose(path, &sample, &mut fill.encoder.times) {
                        Some(choice) => {
                            tell_choice(path, &choice);
                            self.fit = Some(choice.fit);
                            Some(choice.parser)
                        }
                        // Where they say nothing, no more of them are looked at: they have to be passed.
                        None => {
                            let is_over = last || data.len() > SAMPLE_BYTES_MAX;
                            is_over.then_some(ParserName::Plain)
                        }
                    }
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
    rest: Rest,
}

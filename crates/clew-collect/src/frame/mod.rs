//! Where one event ends and the next begins: a line, an apt stanza, several lines that belong together, the lines of a container's
//! program without what the runtime wraps them in.
//!
//! What is in a file as it is sent stays where it is; only what has to be joined or decoded is copied.

mod assemble;
mod container;
mod encoding;
mod matcher;
mod multiline;
mod traces;

use std::ops::Range;

pub use container::Wrapping;
pub use encoding::Encoding;
pub use multiline::{Multiline, MultilinePreset, MultilineRule};

pub(crate) use container::{Stream, unwrap};
pub(crate) use encoding::unmarked;
pub(crate) use multiline::Joiner;

use crate::parse::{Joining, ParserName};
use assemble::Assembler;
use encoding::behind_nuls;
use multiline::Trace;

impl Group {
    /// The text of one of its events, of the window that the group was taken from.
    pub(crate) fn bytes<'a>(&'a self, piece: &Piece, window: &'a [u8]) -> &'a [u8] {
        match &piece.content {
            Content::Window(range) => &window[range.clone()],
            Content::Text(range) => &self.text[range.clone()],
        }
    }
}

/// How events are told apart.
#[derive(Clone, Debug)]
pub(crate) enum Framing {
    Lines,
    /// From `Start-Date:` to `End-Date:`, or to the next `Start-Date:`.
    AptStanzas,
    /// Lines that belong together.
    Joined(Joiner),
    /// Lines that have to be decoded first, and may then belong together.
    Decoded(Assembler),
}

/// What is known of the bytes behind a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// More may follow: only what is certainly whole is taken.
    Follows,
    /// Nothing followed for so long that whole lines are taken without waiting for those that belong to them.
    Quiet,
    /// Nothing follows: what is left is an event, too.
    Ends,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it begins and ends in the window, line ends included.
    pub(crate) place: Range<usize>,
    pub(crate) content: Content,
    /// Whether the event was longer than allowed.
    pub(crate) cut: bool,
    /// What a container's program wrote it to, and when.
    pub(crate) stream: Option<Stream>,
    pub(crate) time_ms: Option<i64>,
}

/// What belongs to an event, without its line end; empty for a blank line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Window(Range<usize>),
    /// In the group's own text.
    Text(Range<usize>),
}

/// Events that end together: one, but where the lines of two streams are interleaved. Its memory is used again and again.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) text: Vec<u8>,
    /// Where the next group begins.
    pub(crate) end: usize,
}

/// A window of so many bytes begins with a group, whatever is in it, or with a line that is longer than allowed: at most twice what an
/// event may have is held open, and a line behind it of which more is there than it may have is not waited for.
pub(crate) const fn deciding_bytes(bytes_max: usize) -> usize {
    bytes_max * 3 + 1
}

impl Framing {
    pub(crate) fn new(
        joiner: Option<Joiner>,
        wrapping: Wrapping,
        encoding: Encoding,
        parser: ParserName,
    ) -> Framing {
        let has_stanzas = matches!(parser.joining(), Joining::Stanzas);
        match (joiner.or_else(|| Joiner::of(parser)), wrapping, encoding) {
            (None, Wrapping::None, Encoding::Utf8) if has_stanzas => Framing::AptStanzas,
            (None, Wrapping::None, Encoding::Utf8) => Framing::Lines,
            (Some(joiner), Wrapping::None, Encoding::Utf8) => Framing::Joined(joiner),
            (joiner, wrapping, encoding) => Framing::Decoded(Assembler {
                joiner,
                wrapping,
                encoding,
            }),
        }
    }

    /// Takes the first whole group of a window; false means that more bytes are needed.
    pub(crate) fn first(
        &self,
        window: &[u8],
        bytes_max: usize,
        rest: Rest,
        group: &mut Group,
    ) -> bool {
        group.pieces.clear();
        group.text.clear();
        let frame = match self {
            Framing::Lines => line(window, bytes_max, rest == Rest::Ends),
            Framing::AptStanzas => stanza(window, bytes_max, rest == Rest::Ends),
            Framing::Joined(joiner) => joined(joiner, window, bytes_max, rest),
            Framing::Decoded(assembler) => {
                return assembler.first(window, bytes_max, rest, group);
            }
        };
        let Some(frame) = frame else {
            return false;
        };
        group.end = frame.end;
        let text = &window[frame.content.clone()];
        let content = match self {
            Framing::Joined(_) if may_return(&window[..frame.end], text) => {
                join_by_newlines(text, &mut group.text);
                Content::Text(0..group.text.len())
            }
            _ => Content::Window(frame.content),
        };
        group.pieces.push(Piece {
            place: 0..frame.end,
            content,
            cut: frame.cut,
            stream: None,
            time_ms: None,
        });
        true
    }

    /// Whether the text of events is made of what is in the file.
    pub(crate) fn decodes(&self) -> bool {
        matches!(self, Framing::Decoded(_))
    }

    /// Whether events wait for a line that does not belong to them.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Framing::Lines | Framing::AptStanzas => false,
            Framing::Joined(_) => true,
            Framing::Decoded(assembler) => {
                assembler.joiner.is_some() || assembler.wrapping != Wrapping::None
            }
        }
    }
}

/// One event that lies in the window as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    content: Range<usize>,
    end: usize,
    cut: bool,
}

/// Whether lines of an event may end with CR and LF: its last one does, or has no end yet.
fn may_return(lines: &[u8], text: &[u8]) -> bool {
    let ends_so = !lines.ends_with(b"\n") || lines.ends_with(b"\r\n");
    ends_so && memchr::memchr(b'\r', text).is_some()
}

/// Appends the lines of an event without the CRs in front of their ends.
fn join_by_newlines(lines: &[u8], text: &mut Vec<u8>) {
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            None => text.extend_from_slice(line),
        }
    }
}

fn line(window: &[u8], bytes_max: usize, last: bool) -> Option<Frame> {
    let (text_end, end) = match memchr::memchr(b'\n', window) {
        Some(at) => (at, at + 1),
        None if last && !window.is_empty() => (window.len(), window.len()),
        None => return None,
    };
    let text_end = text_end - usize::from(text_end > 0 && window[text_end - 1] == b'\r');
    let start = text_end - behind_nuls(&window[..text_end]).len();
    let cut = text_end - start > bytes_max;
    let text_end = if cut {
        start + cut_point(&window[start..], bytes_max)
    } else {
        text_end
    };
    Some(Frame {
        content: start..text_end,
        end,
        cut,
    })
}

/// The end of the longest start of at most `bytes_max` bytes that does not cut a character.
pub(crate) fn cut_point(text: &[u8], bytes_max: usize) -> usize {
    let mut end = bytes_max.min(text.len());
    let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    for _ in 0..3 {
        if end > 0 && continues(end) {
            end -= 1;
        }
    }
    end
}

/// A line and those that belong to it. Blank lines at its end are not part of its text.
fn joined(joiner: &Joiner, window: &[u8], bytes_max: usize, rest: Rest) -> Option<Frame> {
    let mut frame = line(window, bytes_max, rest == Rest::Ends)?;
    let mut behind = joiner.begin(&window[frame.content.clone()]);
    for _ in 1..joiner.lines_max {
        if behind == Trace::Over {
            break;
        }
        let Some(next) = line(&window[frame.end..], bytes_max, rest == Rest::Ends) else {
            // Whether the next line belongs to it is not known yet, unless both are too long anyway.
            let known = rest != Rest::Follows || is_full(window, bytes_max);
            return known.then_some(frame);
        };
        let text = frame.end..frame.end + next.content.end;
        if next.cut || text.end > bytes_max {
            break;
        }
        match joiner.continues(&window[text.clone()], behind) {
            None => break,
            Some(state) => behind = state,
        }
        frame.end += next.end;
        if !text.is_empty() {
            frame.content.end = text.end;
        }
    }
    Some(frame)
}

/// Whether what a window holds is too long for one event, though its last line goes on, or lacks the LF behind a CR alone.
fn is_full(window: &[u8], bytes_max: usize) -> bool {
    window.len() > bytes_max + 1
}

fn stanza(window: &[u8], bytes_max: usize, last: bool) -> Option<Frame> {
    let mut content: Option<Range<usize>> = None;
    let mut at = 0;
    while let Some(next) = line(&window[at..], usize::MAX, last) {
        let text = &window[at..at + next.content.end];
        let end = at + next.end;
        match &mut content {
            None if text.is_empty() => {
                return Some(Frame {
                    content: 0..0,
                    end,
                    cut: false,
                });
            }
            None => content = Some(at..at + text.len()),
            Some(so_far) => {
                if text.starts_with(b"Start-Date:") {
                    return Some(Frame {
                        content: so_far.clone(),
                        end: at,
                        cut: false,
                    });
                }
                if at + text.len() > bytes_max {
                    return Some(Frame {
                        content: so_far.clone(),
                        end: at,
                        cut: true,
                    });
                }
                if !text.is_empty() {
                    so_far.end = at + text.len();
                }
            }
        }
        at = end;
        let first_is_start = window.starts_with(b"Start-Date:");
        if text.starts_with(b"End-Date:") || !first_is_start {
            let content = content?;
            let cut = content.end > bytes_max;
            let content = 0..content.end.min(cut_point(window, bytes_max));
            return Some(Frame { content, end, cut });
        }
        if at == window.len() {
            break;
        }
    }
    let content = content?;
    let is_last = last && at == window.len();
    let is_broken_off = !is_last && !window[at..].starts_with(b"Start-Date:");
    (is_last || is_full(window, bytes_max)).then(|| Frame {
        cut: is_broken_off || content.end > bytes_max,
        content: 0..content.end.min(cut_point(window, bytes_max)),
        end: at,
    })
}

#[cfg(test)]
mod tests;

//! Events out of lines that have to be decoded: other encodings, and what container runtimes wrap lines in, where a program's
//! line may come in parts, and those of its two streams interleaved.

use std::ops::Range;

use super::container::{Stream, Unwrapped, Wrapping, unwrap};
use super::encoding::Encoding;
use super::multiline::{Joiner, Trace};
use super::{Content, Group, Piece, Rest, cut_point};

/// How lines are decoded and joined.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    pub(super) joiner: Option<Joiner>,
    pub(super) wrapping: Wrapping,
    pub(super) encoding: Encoding,
}

/// An event that may still grow.
struct Open {
    text: Vec<u8>,
    place: Range<usize>,
    lines: usize,
    behind: Trace,
    stream: Option<Stream>,
    time_ms: Option<i64>,
    /// Whether its last line goes on.
    goes_on: bool,
}

/// At most one event of each stream.
type OpenEvents = [Option<Open>; 2];

impl Assembler {
    /// As [`super::Framing::first`].
    pub(super) fn first(
        &self,
        window: &[u8],
        bytes_max: usize,
        rest: Rest,
        group: &mut Group,
    ) -> bool {
        let mut open: OpenEvents = [None, None];
        let mut line = Vec::new();
        let mut at = 0;
        loop {
            let end = match self.encoding.line_end(window, at) {
                Some(end) => end,
                None if rest == Rest::Ends && at < window.len() => window.len(),
                None if at > 0 && (rest != Rest::Follows || window.len() - at > bytes_max) => break,
                None => return false,
            };
            line.clear();
            self.encoding.append(&window[at..end], &mut line);
            let next = self.unwrapped(&line);
            let closed = self.closes(&mut open, &next, bytes_max, group);
            if closed && open.iter().all(Option::is_none) {
                group.end = at;
                break;
            }
            self.add(&mut open, next, at..end, bytes_max);
            at = end;
            group.end = at;
            if self.is_over(&mut open, bytes_max, at, group) {
                break;
            }
        }
        for event in open.into_iter().flatten() {
            close(event, bytes_max, group);
        }
        group.pieces.sort_by_key(|piece| piece.place.end);
        true
    }

    fn unwrapped<'l>(&self, line: &'l [u8]) -> Unwrapped<'l> {
        unwrap(self.wrapping, line).unwrap_or(Unwrapped {
            text: line.into(),
            stream: Stream::Stdout,
            time_ms: None,
            goes_on: false,
        })
    }

    /// Closes the event of the line's stream if the line does not belong to it.
    fn closes(
        &self,
        open: &mut OpenEvents,
        line: &Unwrapped<'_>,
        bytes_max: usize,
        group: &mut Group,
    ) -> bool {
        let place = &mut open[line.stream as usize];
        let ends = |event: &mut Open| {
            let full = event.text.len() + line.text.len() >= bytes_max;
            !event.goes_on && (full || !self.joins(event, line))
        };
        let Some(event) = place.take_if(ends) else {
            return false;
        };
        close(event, bytes_max, group);
        true
    }

    fn joins(&self, event: &mut Open, line: &Unwrapped<'_>) -> bool {
        let Some(joiner) = &self.joiner else {
            return false;
        };
        // The first part of a line tells what the line is.
        let continues = joiner.continues(&line.text, event.behind);
        event.behind = continues.unwrap_or(event.behind);
        continues.is_some()
    }

    /// Puts a line behind what its stream has open, or opens an event with it.
    fn add(
        &self,
        open: &mut OpenEvents,
        line: Unwrapped<'_>,
        place: Range<usize>,
        bytes_max: usize,
    ) {
        // What is cut anyway need not be kept.
        let text = &line.text[..line.text.len().min(bytes_max + 4)];
        match &mut open[line.stream as usize] {
            Some(event) => {
                if !event.goes_on {
                    event.text.push(b'\n');
                    event.lines += 1;
                }
                event.text.extend_from_slice(text);
                event.place.end = place.end;
                event.goes_on = line.goes_on;
            }
            none => {
                let joiner = self.joiner.as_ref();
                *none = Some(Open {
                    behind: joiner.map_or(Trace::Log, |joiner| joiner.begin(text)),
                    text: text.to_vec(),
                    place,
                    lines: 1,
                    stream: (self.wrapping != Wrapping::None).then_some(line.stream),
                    time_ms: line.time_ms,
                    goes_on: line.goes_on,
                });
            }
        }
    }

    /// Whether the group ends behind the last line: everything is whole, or has reached a limit.
    fn is_over(
        &self,
        open: &mut OpenEvents,
        bytes_max: usize,
        window_bytes: usize,
        group: &mut Group,
    ) -> bool {
        let lines_max = self.joiner.as_ref().map_or(1, |joiner| joiner.lines_max);
        for place in open.iter_mut() {
            let whole = |event: &mut Open| {
                let is_whole = event.lines >= lines_max || event.behind == Trace::Over;
                !event.goes_on && is_whole || event.text.len() > bytes_max
            };
            if let Some(event) = place.take_if(whole) {
                close(event, bytes_max, group);
            }
        }
        // Lines of one stream may hold the group open for the other: at some size it ends anyway.
        open.iter().all(Option::is_none) || window_bytes > bytes_max * 2
    }
}

/// Makes a piece of an event.
fn close(event: Open, bytes_max: usize, group: &mut Group) {
    let start = group.text.len();
    let cut = event.text.len() > bytes_max;
    let text = &event.text[..cut_point(&event.text, bytes_max)];
    let blank = text.iter().rev().take_while(|byte| **byte == b'\n');
    let text = &text[..text.len() - blank.count()];
    group.text.extend_from_slice(text);
    group.pieces.push(Piece {
        place: event.place,
        content: Content::Text(start..group.text.len()),
        cut,
        stream: event.stream,
        time_ms: event.time_ms,
    });
}

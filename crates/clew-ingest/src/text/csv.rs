//! A line of cells, some of them in quotes.

use super::span::{Span, TEXT_BYTES_MAX};

/// What stands between cells and around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Csv {
    pub(crate) separator: char,
    pub(crate) quote: char,
    /// Whether spaces around cells without quotes are left out.
    pub(crate) trim: bool,
}

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A part of the line.
    Line(Span),
    /// A part of the texts that were made, because of quotes inside.
    Made(Span),
}

impl Csv {
    /// The cells of a line; false if a quote is not closed. What has to be made is put behind `made`.
    pub(crate) fn cut(self, line: &str, cells: &mut Vec<Cell>, made: &mut String) -> bool {
        cells.clear();
        if line.len() > TEXT_BYTES_MAX {
            return false;
        }
        let mut at = 0;
        loop {
            let (end, quotes) = self.end(&line[at..]);
            let Some(end) = end else {
                return false;
            };
            cells.push(self.cell(line, Span::new(at, at + end), quotes, made));
            if at + end == line.len() {
                return true;
            }
            at += end + self.separator.len_utf8();
        }
    }

    /// Where the cell ends that a text begins with, and how many quotes are in it; nowhere if one is not closed.
    fn end(self, text: &str) -> (Option<usize>, usize) {
        let mut quotes = 0;
        if self.separator.is_ascii() && self.quote.is_ascii() {
            let mut separator = [0; 4];
            let mut quote = [0; 4];
            self.separator.encode_utf8(&mut separator);
            self.quote.encode_utf8(&mut quote);
            for at in memchr::memchr2_iter(separator[0], quote[0], text.as_bytes()) {
                if text.as_bytes()[at] == quote[0] {
                    quotes += 1;
                } else if quotes % 2 == 0 {
                    return (Some(at), quotes);
                }
            }
        } else {
            for (at, letter) in text.char_indices() {
                if letter == self.quote {
                    quotes += 1;
                } else if letter == self.separator && quotes % 2 == 0 {
                    return (Some(at), quotes);
                }
            }
        }
        ((quotes % 2 == 0).then_some(text.len()), quotes)
    }

    fn cell(self, line: &str, span: Span, quotes: usize, made: &mut String) -> Cell {
        let text = span.of(line);
        if quotes == 0 {
            let trimmed = if self.trim { text.trim() } else { text };
            let before = if self.trim {
                text.len() - text.trim_start().len()
            } else {
                0
            };
            let start = span.start() + before;
            return Cell::Line(Span::new(start, start + trimmed.len()));
        }
        let width = self.quote.len_utf8();
        if quotes == 2 && text.starts_with(self.quote) && text.ends_with(self.quote) {
            return Cell::Line(Span::new(span.start() + width, span.end() - width));
        }
        // Quotes go, but of two in a row inside quotes one stays.
        let start = made.len();
        let mut letters = text.chars().peekable();
        let mut quoted = false;
        while let Some(letter) = letters.next() {
            let is_kept =
                letter != self.quote || (quoted && letters.next_if_eq(&self.quote).is_some());
            match is_kept {
                true => made.push(letter),
                false => quoted = !quoted,
            }
        }
        Cell::Made(Span::new(start, made.len()))
    }
}

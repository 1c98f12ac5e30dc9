//! What is wrong with a text that is no JSON, in the words of the reader that many servers have for it (Jackson's), with its
//! places. It is looked for only where reading has failed, and costs a walk through the text. What that reader takes and
//! ours does not (comments) is passed over here.

mod scan;

use scan::Scan;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// Its line, from 1.
    pub line: usize,
    /// Its column in bytes, from 1.
    pub column: usize,
}

impl TextPlace {
    /// Where a byte of a text is.
    pub fn of(text: &[u8], at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let in_line = before.iter().rev().take_while(|byte| **byte != b'\n');
        TextPlace {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: in_line.count() + 1,
        }
    }
}

/// The first thing that is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// Whether the text ends too early.
    pub is_end: bool,
    /// Where it is.
    pub place: TextPlace,
    reason: String,
    /// What is open there, and what is told behind its place.
    opened: Option<(Opened, &'static str)>,
}

/// Where what is open began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opened {
    /// Nothing is; of the root no more than its line is told.
    Root,
    At(TextPlace),
}

impl JsonFault {
    /// What is wrong with a text; `None` where nothing is that is known here.
    pub fn of(text: &[u8]) -> Option<Self> {
        Scan::new(text).document().err().flatten()
    }

    /// What is wrong in words, without its place: how places are written, by line and column, the caller says.
    pub fn words(&self, written: impl Fn(usize, Option<usize>) -> String) -> String {
        let Some((opened, behind)) = self.opened else {
            return self.reason.clone();
        };
        let place = match opened {
            Opened::Root => written(1, None),
            Opened::At(place) => written(place.line, Some(place.column)),
        };
        format!("{}{place}{behind}", self.reason)
    }
}

#[cfg(test)]
mod tests;

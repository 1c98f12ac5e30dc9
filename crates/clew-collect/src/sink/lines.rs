//! The sink that writes documents as lines to whatever takes bytes: standard output, above all.

use std::fmt;
use std::io::{ErrorKind, Write};

use super::file::{push_line, taken};
use super::{Delivery, Sink, SinkError};
use crate::event::Event;

/// Writes documents as lines. A batch counts as taken once it was written and flushed.
pub struct LineSink<W> {
    out: W,
    lines: Vec<u8>,
}

impl<W> LineSink<W> {
    /// A sink that writes there.
    pub fn new(out: W) -> Self {
        LineSink {
            out,
            lines: Vec::new(),
        }
    }
}

impl<W> fmt::Debug for LineSink<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineSink")
    }
}

impl<W: Write> Sink for LineSink<W> {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        self.lines.clear();
        batch
            .iter()
            .for_each(|event| push_line(&mut self.lines, event));
        let written = self.out.write_all(&self.lines);
        let written = written.and_then(|()| self.out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => SinkError::Unread,
            _ => SinkError::Unusable {
                reason: format!("cannot write lines: {error}"),
            },
        })?;
        Ok(taken(batch))
    }

    fn reads_ids(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_a_line() {
        let mut out = Vec::new();
        let event = |text: &str| Event {
            document: text.as_bytes().to_vec(),
            ..Event::default()
        };
        let batch = [event("{\"a\":1}"), event("{}")];
        assert_eq!(LineSink::new(&mut out).deliver(&batch).unwrap().acked, 2);
        assert_eq!(out, b"{\"a\":1}\n{}\n");
    }
}

//! What a run has done so far, as plain numbers: the same counters feed progress bars while it
//! runs and the report at its end.

use crate::document::{Document, Encoder, Origin};
use crate::event::Batch;
use crate::line::{Line, Taken};
use crate::parse::ParserName;

/// Counters of one run. They only grow, except `bytes_total`, which follows the files' sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Files that are or were read.
    pub files_found: u64,
    /// Files that were found and left alone; the report says why.
    pub files_skipped: u64,
    /// Lines (or stanzas) taken from files, blank ones included.
    pub lines_read: u64,
    /// Bytes consumed in this run.
    pub bytes_read: u64,
    /// Bytes this run knew it had to read, in the units of `bytes_read`; compressed files count
    /// with what has been decompressed so far.
    pub bytes_total: u64,
    /// Events the sink took now.
    pub events_acked: u64,
    /// Events the sink already had, from before a restart or a lost reply.
    pub events_duplicate: u64,
    /// Events the sink refused for good, also when it had taken them into a buffer; they are in dead-letter files.
    pub events_rejected: u64,
    /// Event sendings beyond the first.
    pub retries: u64,
    /// Lines their parser could not take; they were sent as plain events with a mark.
    pub parse_errors: u64,
    /// Lines that a processor dropped.
    pub events_dropped: u64,
    /// Events for which no output's condition holds; they are sent nowhere.
    pub events_unrouted: u64,
    /// Patterns of lines that the processors `pattern` have found.
    pub patterns: u64,
    /// Lines that came as datagrams while there was no room for them.
    pub lines_dropped: u64,
    /// Requests with events that were refused or not answered in time; their senders know.
    pub requests_refused: u64,
    /// Handshakes of TLS that failed.
    pub handshakes_failed: u64,
    /// Lines that were cut because they were too long.
    pub lines_truncated: u64,
    /// Files that were truncated or replaced in place and so read again from their start.
    pub files_restarted: u64,
}

impl Counters {
    /// Makes a line an event of the batch, and counts what became of it. Blank lines are passed over.
    pub(crate) fn take(
        &mut self,
        line: &Line<'_>,
        parser: ParserName,
        origin: &Origin,
        (encoder, batch): (&mut Encoder, &mut Batch),
    ) {
        self.lines_read += 1;
        if line.bytes.trim_ascii().is_empty() {
            return;
        }
        self.lines_truncated += u64::from(line.cut);
        let taken = encoder.encode(line, parser, origin, batch.slot());
        self.count(taken, batch);
    }

    /// Makes a document that was sent an event of the batch, and counts what became of it.
    pub(crate) fn take_document(
        &mut self,
        document: &Document<'_>,
        origin: &Origin,
        (encoder, batch): (&mut Encoder, &mut Batch),
    ) {
        self.lines_read += 1;
        let taken = encoder.encode_document(document, origin, batch.slot());
        self.count(taken, batch);
    }

    /// Counts what became of an event, and commits it if it is to be sent.
    fn count(&mut self, taken: Taken, batch: &mut Batch) {
        match taken {
            Taken::Dropped => self.events_dropped += 1,
            Taken::ByNoOutput => self.events_unrouted += 1,
            Taken::ByItsParser | Taken::AsPlain => {
                self.parse_errors += u64::from(taken == Taken::AsPlain);
                batch.commit();
            }
        }
    }
}

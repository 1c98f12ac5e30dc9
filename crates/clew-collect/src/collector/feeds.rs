//! Lines that are sent to the collector: taken from the queue into batches, delivered, and at the stop taken to the last one.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_platform::Clock;
use tokio::sync::oneshot;

use super::{Collector, now};
use crate::document::{Document, Origin};
use crate::error::CollectError;
use crate::feed::{
    DocumentHead, Ended, FeedAddress, FeedOptions, Feeds, Messages, Parcel, ParcelKind,
};
use crate::fingerprint::hash_bytes;
use crate::input::Now;
use crate::line::{Line, Message};
use crate::parse::{ParserChoice, ParserName, Times, choose, is_cef, tell_choice};
use crate::sink::SinkError;

/// Parcels taken before files have their turn again.
const PARCELS_IN_TURN: usize = 16;
/// How long a run that ends by itself waits for a line before it looks at the stop.
const STOP_LOOK: Duration = Duration::from_millis(50);

/// The running inputs, and what is known of their lines.
#[derive(Debug)]
pub(super) struct Intake {
    /// Those who wait until what is in the batch, or was, is delivered. Dropped before the inputs, whose threads end when
    /// nobody waits for an answer any more.
    receipts: Vec<oneshot::Sender<()>>,
    /// Behind what inputs begin the next time, once what is in the batch is delivered.
    cursors: BTreeMap<String, String>,
    feeds: Feeds,
    known: Vec<Known>,
    /// Every input has come to its end.
    pub(super) ended: bool,
}

/// One input.
#[derive(Debug)]
struct Known {
    /// The parser of lines; chosen by the first of them, if it is not given.
    parser: Option<LineParser>,
    /// The part of event ids that names this run of this input.
    key: u64,
    /// Lines so far, which number the events.
    lines: u64,
}

/// The parser of the lines of an input.
#[derive(Clone, Copy, Debug)]
enum LineParser {
    /// One for all.
    One(ParserName),
    /// Syslog's, or that of what devices of security send by it.
    OfSyslog,
}

impl LineParser {
    fn of(self, line: &[u8]) -> ParserName {
        match self {
            LineParser::One(parser) => parser,
            LineParser::OfSyslog if is_cef(line) => ParserName::Cef,
            LineParser::OfSyslog => ParserName::Syslog,
        }
    }
}

impl Intake {
    /// Starts the inputs; nothing if there are none.
    pub(super) fn start(
        options: &[FeedOptions],
        cursors: &BTreeMap<String, String>,
        (host, clock): (&str, &Arc<dyn Clock>),
        wake: &Arc<OwnedFd>,
    ) -> Result<Option<Intake>, CollectError> {
        if options.is_empty() {
            return Ok(None);
        }
        let known = options.iter().enumerate().map(|(index, options)| Known {
            parser: options.named_parser().map(|parser| match options.parse {
                ParserChoice::Named(_) => LineParser::One(parser),
                ParserChoice::Auto => LineParser::OfSyslog,
            }),
            key: run_key(host, index, now(&**clock)),
            lines: 0,
        });
        Ok(Some(Intake {
            known: known.collect(),
            feeds: Feeds::start(options, cursors, clock, wake)?,
            receipts: Vec::new(),
            cursors: BTreeMap::new(),
            ended: false,
        }))
    }
}

impl Known {
    /// The parser of its lines, chosen by the first of them if it is not given.
    fn parser(&mut self, parcel: &Parcel, times: &mut Times) -> LineParser {
        *self.parser.get_or_insert_with(|| {
            let sample: Vec<&[u8]> = parcel.lines().map(|(line, _)| line).collect();
            let sample = sample.join(&b'\n');
            let chosen = choose("", &String::from_utf8_lossy(&sample), times);
            // Lines that are sent are not joined: an event that is nothing without all of its own is told apart in files alone.
            let chosen = chosen.filter(|chosen| chosen.parser.joining().begins_alone());
            let Some(chosen) = chosen else {
                return LineParser::One(ParserName::Plain);
            };
            tell_choice("", &chosen);
            LineParser::One(chosen.parser)
        })
    }
}

/// Another one for each run: lines that are sent have no place by which they could be known again.
fn run_key(host: &str, index: usize, now: Now) -> u64 {
    let parts = [
        u64::from(std::process::id()),
        now.wall_ms,
        u64::try_from(now.monotonic.as_nanos()).unwrap_or(u64::MAX),
        index as u64,
    ];
    let seed = hash_bytes(0, host.as_bytes());
    parts
        .iter()
        .fold(seed, |key, part| hash_bytes(key, &part.to_le_bytes()))
}

impl Collector<'_> {
    /// Takes what has come, delivers it, and returns whether there is more.
    pub(super) fn read_feeds(&mut self) -> Result<bool, CollectError> {
        for _ in 0..PARCELS_IN_TURN {
            let Some(parcel) = self.next_parcel() else {
                self.deliver()?;
                return Ok(false);
            };
            self.take_parcel(parcel)?;
        }
        self.deliver()?;
        Ok(true)
    }

    /// Takes lines until every input has ended, which those with an address never do.
    pub(super) fn read_feeds_to_their_end(&mut self) -> Result<(), CollectError> {
        while let Some(intake) = &self.intake {
            if self.world.stop.is_stopped() {
                return Err(CollectError::Sink(SinkError::Stopped));
            }
            match intake.feeds.wait(STOP_LOOK) {
                Ok(Some(parcel)) => self.take_parcel(parcel)?,
                // Nothing more for now: what there is need not wait for a full batch.
                Ok(None) => self.deliver()?,
                Err(Ended) => break,
            }
        }
        self.deliver()
    }

    /// Ends the inputs and delivers what was taken from their senders, as far as the sink still takes it.
    pub(super) fn close_feeds(&mut self) -> Result<(), CollectError> {
        let Some(intake) = &self.intake else {
            return Ok(());
        };
        intake.feeds.close();
        let (mut lost, mut gave_up) = (0, false);
        while let Some(Ok(next)) = self.intake.as_ref().map(|intake| intake.feeds.last()) {
            let count = next.as_ref().map_or(0, |parcel| parcel.ends.len());
            if gave_up {
                lost += count;
                continue;
            }
            let done = match next {
                Some(parcel) => self.take_parcel(parcel),
                // Who waits for an answer ends with it.
                None => self.deliver(),
            };
            match done {
                Ok(()) => {}
                Err(CollectError::Sink(SinkError::Stopped)) => {
                    lost += count;
                    gave_up = true;
                    self.drop_receipts();
                }
                Err(error) => return Err(error),
            }
        }
        let last = match gave_up {
            true => Err(CollectError::Sink(SinkError::Stopped)),
            false => self.deliver(),
        };
        match last {
            Err(CollectError::Sink(SinkError::Stopped)) => lost += self.batch.events().len(),
            other => other?,
        }
        if lost > 0 {
            tracing::warn!(
                lines = lost,
                "lines that were sent could not be delivered before the stop"
            );
        }
        Ok(())
    }

    /// Tells those who wait that their events are delivered, and the registry of what need not be read again.
    pub(super) fn tell_receipts(&mut self) {
        if let Some(intake) = &mut self.intake {
            self.registry.move_cursors(&mut intake.cursors);
            for receipt in intake.receipts.drain(..) {
                // Whoever has gone meanwhile sends again.
                let _ = receipt.send(());
            }
        }
    }

    /// Lets those go who wait for what will not be delivered.
    fn drop_receipts(&mut self) {
        if let Some(intake) = &mut self.intake {
            intake.receipts.clear();
        }
    }

    /// Brings the counters up to what the inputs' threads have counted.
    pub(super) fn count_feeds(&mut self) {
        if let Some(intake) = &self.intake {
            let counts = intake.feeds.counts();
            self.counters.lines_dropped = counts.dropped.load(Ordering::Relaxed);
            self.counters.requests_refused = counts.refused.load(Ordering::Relaxed);
            self.counters.handshakes_failed = counts.handshakes.count.load(Ordering::Relaxed);
        }
    }

    fn next_parcel(&mut self) -> Option<Parcel> {
        let intake = self.intake.as_mut()?;
        let taken = intake.feeds.take();
        intake.ended = taken.is_err();
        taken.ok().flatten()
    }

    fn take_parcel(&mut self, mut parcel: Parcel) -> Result<(), CollectError> {
        let now = self.now();
        self.encoder.times.now_ms = i64::try_from(now.wall_ms).unwrap_or(i64::MAX);
        self.encoder.times.newest_ms = self.encoder.times.now_ms;
        let Some(intake) = &mut self.intake else {
            return Ok(());
        };
        self.counters.bytes_read += parcel.text.len() as u64;
        let known = &mut intake.known[parcel.feed];
        let first = known.lines;
        known.lines += parcel.ends.len() as u64;
        let plan = self.options.feeds[parcel.feed].plan;
        let origin = Origin::sent(&parcel.sender, known.key).with_plan(plan);
        let receipt = parcel.receipt.take();
        let (begun, before) = (now.monotonic, self.times.deliver + self.times.registry);
        match std::mem::replace(&mut parcel.kind, ParcelKind::Lines) {
            ParcelKind::Lines => {
                let parser = known.parser(&parcel, &mut self.encoder.times);
                self.take_lines(&parcel, first, parser, &origin)?;
            }
            ParcelKind::Documents(heads) => {
                self.take_documents(&parcel, first, &heads, &origin)?;
            }
            ParcelKind::Messages(messages) => {
                let parser = known.parser(&parcel, &mut self.encoder.times);
                self.take_messages(&parcel, &messages, parser, &origin)?;
            }
        }
        let took = self.world.clock.monotonic().saturating_sub(begun);
        let elsewhere = self.times.deliver + self.times.registry - before;
        self.times.read += took.saturating_sub(elsewhere);
        if let Some(intake) = &mut self.intake {
            intake.receipts.extend(receipt);
            if let (Some(cursor), FeedAddress::Journal(feed)) = (
                parcel.cursor.take(),
                &self.options.feeds[parcel.feed].address,
            ) {
                intake.cursors.insert(feed.id.clone(), cursor);
            }
        }
        Ok(())
    }

    fn take_lines(
        &mut self,
        parcel: &Parcel,
        first: u64,
        parser: LineParser,
        origin: &Origin,
    ) -> Result<(), CollectError> {
        for (number, (bytes, cut)) in parcel.lines().enumerate() {
            if self.batch.is_full() {
                self.deliver()?;
            }
            let line = Line {
                bytes,
                offset: first + number as u64,
                checksum: crc32c::crc32c(bytes),
                cut,
                stream: None,
                time_ms: None,
                message: None,
            };
            let into = (&mut self.encoder, &mut self.batch);
            self.counters.take(&line, parser.of(bytes), origin, into);
        }
        Ok(())
    }

    fn take_messages(
        &mut self,
        parcel: &Parcel,
        messages: &Messages,
        parser: LineParser,
        origin: &Origin,
    ) -> Result<(), CollectError> {
        let mut fields_start = 0;
        for ((bytes, cut), head) in parcel.lines().zip(&messages.heads) {
            if self.batch.is_full() {
                self.deliver()?;
            }
            let fields = &messages.fields[fields_start..head.fields_end];
            fields_start = head.fields_end;
            let line = Line {
                bytes,
                offset: head.offset,
                checksum: crc32c::crc32c(bytes),
                cut,
                stream: None,
                time_ms: head.time_ms,
                message: Some(Message {
                    key: head.key,
                    fields,
                }),
            };
            let into = (&mut self.encoder, &mut self.batch);
            self.counters.take(&line, parser.of(bytes), origin, into);
        }
        Ok(())
    }

    fn take_documents(
        &mut self,
        parcel: &Parcel,
        first: u64,
        heads: &[DocumentHead],
        origin: &Origin,
    ) -> Result<(), CollectError> {
        for (number, ((text, _), head)) in parcel.lines().zip(heads).enumerate() {
            if self.batch.is_full() {
                self.deliver()?;
            }
            let document = Document {
                // It was text before it was handed over.
                text: std::str::from_utf8(text).unwrap_or_default(),
                number: first + number as u64,
                head,
            };
            self.counters
                .take_document(&document, origin, (&mut self.encoder, &mut self.batch));
        }
        Ok(())
    }
}

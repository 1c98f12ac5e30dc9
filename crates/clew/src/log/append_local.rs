//! Appending to a data folder: this process is the log's only writer.

use std::sync::Arc;

use clew_log::{
    AppendOptions, Appended, Appender, AppenderOptions, Durability, Glsn, Llsn, Log, LogError,
    NewEntry, Producer, StreamId,
};
use clew_log_grpc::{append_reply, streams};
use parking_lot::Mutex;

use super::append::{Batch, BatchWriter, How};
use super::remote::refused;
use super::summary::{Summary, SummaryFormat, print_ack};

pub(crate) struct LocalWriter {
    log: Log,
    appender: Appender,
    stream: StreamId,
    how: How,
    done: Arc<Mutex<Done>>,
}

/// What the appender has told so far.
#[derive(Default)]
struct Done {
    summary: Summary,
    last: Glsn,
    error: Option<anyhow::Error>,
}

impl LocalWriter {
    pub(crate) fn open(log: Log, how: &How) -> anyhow::Result<Self> {
        let stream = streams::find_or_create(&log, &how.stream).map_err(refused)?;
        Ok(LocalWriter {
            appender: log.appender(AppenderOptions::default())?,
            log,
            stream: stream.id,
            how: how.clone(),
            done: Arc::default(),
        })
    }

    fn options(&self, batch: Batch) -> AppendOptions {
        let producer = self.how.producer_id.zip(batch.sequence);
        AppendOptions {
            // Without acknowledgements to print, one sync at the end serves all batches.
            durability: match self.how.acks {
                true => self.how.durability,
                false => Durability::Memory,
            },
            producer: producer.map(|(id, sequence)| Producer { id, sequence }),
            expect_last: batch.expect_last.map(Llsn::new),
            epoch: self.how.epoch,
            compression: self.how.compression,
            more_follows: false,
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        match self.done.lock().error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl BatchWriter for LocalWriter {
    fn entry_bytes_max(&self) -> usize {
        self.log.options().entry_bytes_max
    }

    fn append(&mut self, payloads: &[&[u8]], batch: Batch) -> anyhow::Result<()> {
        self.check()?;
        let headers = self.how.headers.iter();
        let headers: Vec<(&str, &[u8])> = headers
            .map(|(key, value)| (key.as_str(), value.as_bytes()))
            .collect();
        let entries = payloads.iter().map(|payload| NewEntry {
            stream: self.stream,
            parts: std::slice::from_ref(payload),
            headers: &headers,
        });
        let entries: Vec<NewEntry<'_>> = entries.collect();
        let done = self.done.clone();
        let acks = self.how.acks.then_some(self.how.format);
        let options = self.options(batch);
        let ordered = self.appender.append(&entries, options, move |outcome| {
            done.lock().take_in(outcome, acks);
        });
        match ordered {
            // Sequences have no gaps, so an old one was taken; only its positions are forgotten.
            Err(LogError::SequenceTooOld { .. }) => {
                self.done
                    .lock()
                    .summary
                    .add_forgotten(payloads.len() as u64);
                Ok(())
            }
            ordered => Ok(ordered?),
        }
    }

    fn finish(self) -> anyhow::Result<Summary> {
        // Afterwards every batch has told its outcome.
        self.appender.close();
        let Done {
            summary,
            last,
            error,
        } = std::mem::take(&mut *self.done.lock());
        match error {
            Some(error) => return Err(error),
            None if last > Glsn::ZERO => self.log.wait(last, self.how.durability)?,
            None => {}
        }
        Ok(summary)
    }
}

impl Done {
    /// Notes a batch's outcome; only the first error counts.
    fn take_in(&mut self, outcome: Result<Appended, LogError>, acks: Option<SummaryFormat>) {
        if self.error.is_some() {
            return;
        }
        let told = outcome.map_err(anyhow::Error::from).and_then(|appended| {
            self.last = self.last.max(appended.last);
            let reply = append_reply(&appended);
            self.summary.add(&reply);
            if let Some(format) = acks {
                print_ack(&reply, format)?;
            }
            Ok(())
        });
        self.error = told.err();
    }
}

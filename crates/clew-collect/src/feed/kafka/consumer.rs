//! Topics as a source of lines. A thread takes messages, hands them over in parcels, and lets an offset be committed once its
//! parcel and all before it are delivered: what was not is read again, by this member of the group or another one, and has
//! the same ids. While the collector has no room, partitions are paused, so that the group still sees its member.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::mpsc::TrySendError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaErrorCode;
use rdkafka::{ClientContext, Offset, TopicPartitionList};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use super::messages::{Gathered, Position};
use crate::feed::{Parcel, Sender};
use crate::kafka::client::config;
use crate::kafka::{KafkaFeed, OffsetReset};

/// How long a poll waits for a message: ends and receipts are looked at in between.
const POLL: Duration = Duration::from_millis(50);

/// Joins the group and starts the thread that reads.
pub(crate) fn start(feed: &KafkaFeed, sender: Sender) -> io::Result<JoinHandle<()>> {
    let wrong = |reason: String| io::Error::new(io::ErrorKind::InvalidInput, reason);
    let consumer = consumer(feed).map_err(wrong)?;
    let mut reading = Reading {
        address: feed.servers.brokers.as_str().into(),
        gathered: Gathered::default(),
        held: None,
        told: None,
        consumer,
        sender,
        commits: feed.commits,
    };
    thread::Builder::new()
        .name("collect-kafka".to_owned())
        .spawn(move || reading.run())
}

fn consumer(feed: &KafkaFeed) -> Result<BaseConsumer<Waiting>, String> {
    let reset = match feed.offset_reset {
        OffsetReset::Earliest => "earliest",
        OffsetReset::Latest => "latest",
        OffsetReset::Error => "error",
    };
    let commits = if feed.commits { "true" } else { "false" };
    let own = [
        ("group.id", feed.group_id.as_str()),
        ("auto.offset.reset", reset),
        // What is stored when parcels are delivered is committed now and then, and when partitions are given up.
        ("enable.auto.commit", commits),
        ("enable.auto.offset.store", "false"),
        ("enable.partition.eof", "false"),
    ];
    let mut config = config(&feed.servers, &own)?;
    for (name, value) in [
        ("auto.commit.interval.ms", "1000"),
        ("queued.max.messages.kbytes", "16384"),
    ] {
        if config.get(name).is_none() {
            config.set(name, value);
        }
    }
    let made = config.create_with_context(Waiting::default());
    let consumer: BaseConsumer<Waiting> = made.map_err(|error| error.to_string())?;
    let topics: Vec<&str> = feed.topics.iter().map(String::as_str).collect();
    consumer
        .subscribe(&topics)
        .map_err(|error| error.to_string())?;
    Ok(consumer)
}

/// Parcels that were handed over and are not known to be delivered, oldest first.
#[derive(Debug, Default)]
struct Waiting {
    /// Partitions that were given up since the last poll.
    revoked: Mutex<Vec<(String, i32)>>,
    parcels: Mutex<VecDeque<(oneshot::Receiver<()>, Vec<Position>)>>,
}

impl Waiting {
    fn parcels(&self) -> MutexGuard<'_, VecDeque<(oneshot::Receiver<()>, Vec<Position>)>> {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the offsets of what is delivered be committed. False once something will not be.
    fn settle(&self, consumer: &BaseConsumer<Waiting>) -> bool {
        let mut parcels = self.parcels();
        while let Some((receipt, positions)) = parcels.front_mut() {
            match receipt.try_recv() {
                Ok(()) => store(consumer, positions),
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Closed) => return false,
            }
            parcels.pop_front();
        }
        true
    }

    /// Forgets partitions that another member has from now on: what they are told of later is not ours to commit.
    fn forget(&self, revoked: &TopicPartitionList) {
        let elements = revoked.elements();
        let revoked = elements
            .iter()
            .map(|one| (one.topic().to_owned(), one.partition()));
        let revoked: Vec<(String, i32)> = revoked.collect();
        for (_, positions) in self.parcels().iter_mut() {
            positions.retain(|position| !position.is_among(&revoked));
        }
        self.revoked().extend(revoked);
    }

    fn revoked(&self) -> MutexGuard<'_, Vec<(String, i32)>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn store(consumer: &BaseConsumer<Waiting>, positions: &[Position]) {
    if positions.is_empty() {
        return;
    }
    let mut list = TopicPartitionList::new();
    for position in positions {
        let next = Offset::Offset(position.next);
        let added = list.add_partition_offset(&position.topic, position.partition, next);
        debug_assert!(added.is_ok(), "an offset of a message is one");
    }
    if let Err(error) = consumer.store_offsets(&list) {
        // Whoever has the partition now reads them again.
        tracing::debug!(%error, "offsets of partitions that were given up are not committed");
    }
}

impl ClientContext for Waiting {}

impl ConsumerContext for Waiting {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(revoked) = rebalance {
            self.settle(consumer);
            self.forget(revoked);
        }
    }
}

/// The thread's work.
struct Reading {
    consumer: BaseConsumer<Waiting>,
    sender: Sender,
    commits: bool,
    address: Arc<str>,
    gathered: Gathered,
    /// A parcel for which there was no room.
    held: Option<Parcel>,
    /// The last error that was told of.
    told: Option<RDKafkaErrorCode>,
}

/// Why reading ends at once.
struct Abandoned;

impl Reading {
    fn run(&mut self) {
        let is_delivered = self.read().is_ok() && self.finish().is_ok();
        if is_delivered && self.commits {
            let done = self.consumer.commit_consumer_state(CommitMode::Sync);
            match done {
                Ok(()) | Err(KafkaError::ConsumerCommit(RDKafkaErrorCode::NoOffset)) => {}
                Err(error) => tracing::warn!(%error, "offsets are not committed at the end"),
            }
        }
    }

    /// Reads until the inputs have to end.
    fn read(&mut self) -> Result<(), Abandoned> {
        while !*self.sender.ending.borrow() {
            self.settle()?;
            if self.held.is_some() {
                self.hand_over()?;
            }
            self.poll(POLL);
            while self.held.is_none() && !self.gathered.is_full() && self.poll(Duration::ZERO) {}
            if self.held.is_none() {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), Abandoned> {
        match self.consumer.context().settle(&self.consumer) {
            true => Ok(()),
            false => Err(Abandoned),
        }
    }

    /// Takes a message if there is one; returns whether there was anything.
    fn poll(&mut self, at_most: Duration) -> bool {
        let polled = self.consumer.poll(at_most);
        let revoked = mem::take(&mut *self.consumer.context().revoked());
        self.gathered.forget(&revoked);
        match polled {
            None => false,
            Some(Ok(message)) => {
                self.told = None;
                self.gathered.add(&message, self.sender.line_bytes_max);
                true
            }
            Some(Err(error)) => {
                // librdkafka goes on by itself; an error that lasts is told once.
                let code = error.rdkafka_error_code();
                if code != self.told {
                    tracing::warn!(%error, brokers = &*self.address, "messages cannot be read for now");
                    self.told = code;
                }
                true
            }
        }
    }

    /// Hands over what is held or gathered, if there is room; else partitions rest until there is.
    fn hand_over(&mut self) -> Result<(), Abandoned> {
        let was_held = self.held.is_some();
        let Some(parcel) = self.next_parcel() else {
            return Ok(());
        };
        match self.sender.parcels.try_send(parcel) {
            Ok(()) => {
                self.sender.wake();
                if was_held {
                    self.rest(false);
                }
                Ok(())
            }
            Err(TrySendError::Full(parcel)) => {
                self.held = Some(parcel);
                // Each time, as partitions may have been added.
                self.rest(true);
                Ok(())
            }
            Err(TrySendError::Disconnected(_)) => Err(Abandoned),
        }
    }

    /// What is held, or a parcel of what is gathered.
    fn next_parcel(&mut self) -> Option<Parcel> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        if self.gathered.is_empty() {
            return None;
        }
        let (mut parcel, positions) = self.gathered.take(self.sender.feed, &self.address);
        let (told, receipt) = oneshot::channel();
        parcel.receipt = Some(told);
        let context = self.consumer.context();
        context.parcels().push_back((receipt, positions));
        Some(parcel)
    }

    fn rest(&self, pause: bool) {
        let done = self.consumer.assignment().and_then(|assigned| match pause {
            true => self.consumer.pause(&assigned),
            false => self.consumer.resume(&assigned),
        });
        if let Err(error) = done {
            tracing::debug!(%error, "partitions were given up meanwhile");
        }
    }

    /// Hands over what is left, and waits until everything is delivered.
    fn finish(&mut self) -> Result<(), Abandoned> {
        self.rest(true);
        while let Some(parcel) = self.next_parcel() {
            self.sender.parcels.send(parcel).map_err(|_| Abandoned)?;
            self.sender.wake();
        }
        loop {
            self.settle()?;
            if self.consumer.context().parcels().is_empty() {
                return Ok(());
            }
            // What comes now is not taken: it is read again.
            drop(self.consumer.poll(POLL));
        }
    }
}

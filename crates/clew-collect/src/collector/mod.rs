//! The run: look for files, read them into batches, deliver, remember, wait.
//!
//! One thread does all of it in turn, so that at every look the registry says exactly what was
//! delivered, and memory is one batch and one window however much there is to read.

mod feeds;
mod report;
mod saving;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{Clock, Disk, TEMPORARY_SUFFIX};
use jiff::tz::TimeZone;
use rustix::event::{EventfdFlags, eventfd};

use crate::config::{ConfigError, Definition};
use crate::counters::Counters;
use crate::dead_letter::DeadLetters;
use crate::document::Encoder;
use crate::error::CollectError;
use crate::event::Batch;
use crate::figures::StageTimes;
use crate::fingerprint::{HEAD_BYTES_MAX, Head, Position};
use crate::frame::Group;
use crate::input::{
    FileRules, FileSource, Fill, Fleet, FleetOptions, Now, Pass, Patience, Watcher, Woken,
};
use crate::options::{CollectOptions, Mode};
use crate::parse::Times;
use crate::patient_disk::PatientDisk;
use crate::pattern_file::PatternFile;
use crate::planned::Planned;
use crate::progress::{CollectReport, Progress};
use crate::registry::{Registry, lock_path};
use crate::sink::{Sink, SinkError};
use crate::stop::StopToken;
use feeds::Intake;

/// Files listed in a report; beyond it only the counters know them.
pub const REPORT_FILES_MAX: usize = 10_000;
/// The time between two looks for new files, where nothing says that there are none.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Where something does, a look may take this share of the time: a thousandth of a core.
const LOOK_PAUSE_FACTOR: u32 = 1_000;
/// The longest time between two looks.
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(60);

/// Collects until everything is read ([`Mode::Once`]) or the stop is asked for. A stop is not an
/// error: the report says how far the run came, and the next run continues there.
pub fn run(
    options: &CollectOptions,
    mut world: World<'_>,
    sink: &mut dyn Sink,
) -> Result<CollectReport, CollectError> {
    world.disk = Arc::new(PatientDisk::new(world.disk, world.stop.clone()));
    let mut collector = Collector::open(options, world, sink)?;
    let ended = match options.mode {
        Mode::Once => collector.once(),
        Mode::Follow => collector.follow(),
    };
    let closed = collector.close_feeds();
    // Whatever ended the run, what was acknowledged is remembered.
    let saved = collector.registry.save();
    let now = collector.world.clock.monotonic();
    let plans = collector.encoder.plans_mut();
    collector.patterns.save(plans, now);
    match ended {
        Ok(()) | Err(CollectError::Sink(SinkError::Stopped)) => {}
        Err(error) => return Err(error),
    }
    closed.and(saved)?;
    Ok(collector.report())
}

/// What a run touches beside its files and its sink.
#[derive(Clone)]
pub struct World<'a> {
    /// Where the registry and the dead letters are kept; while it is full, it is waited for.
    pub disk: Arc<dyn Disk>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who wants to know how far the run is.
    pub progress: &'a dyn Progress,
    /// Ends the run.
    pub stop: &'a StopToken,
}

struct Collector<'a> {
    options: &'a CollectOptions,
    world: World<'a>,
    sink: &'a mut dyn Sink,
    fleet: Fleet,
    intake: Option<Intake>,
    /// Readable when something was sent.
    wake: Arc<OwnedFd>,
    registry: Registry,
    dead_letters: DeadLetters,
    patterns: PatternFile,
    batch: Batch,
    encoder: Encoder,
    scratch: Vec<u8>,
    group: Group,
    counters: Counters,
    /// Events that were refused out of buffers, as far as they are counted.
    refused_later: u64,
    /// Indexes of the tails with events in the batch.
    in_batch: Vec<usize>,
    saved_at: Duration,
    /// How long the last save took: a large registry is not written all the time.
    save_took: Duration,
    times: StageTimes,
    /// When the last look ended.
    looked_at: Duration,
    look_took: Duration,
}

/// Why reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// There is nothing more.
    Done,
    /// It went on for so long that new files may have come.
    Interrupted,
}

impl<'a> Collector<'a> {
    fn open(
        options: &'a CollectOptions,
        world: World<'a>,
        sink: &'a mut dyn Sink,
    ) -> Result<Self, CollectError> {
        options.validate()?;
        let registry_path = absolute(options.registry.clone())?;
        let registry = Registry::open(Arc::clone(&world.disk), &registry_path)?;
        let dead_letters_path = absolute(options.dead_letter_path())?;
        let dead_letters = DeadLetters::new(Arc::clone(&world.disk), dead_letters_path);
        let mut plans = plans(options)?;
        let encoder = Encoder::new(&options.host, Times::new(TimeZone::system()));
        let makes_ids = sink.reads_ids();
        let patterns_path = absolute(options.patterns_path())?;
        let now = world.clock.monotonic();
        let patterns = PatternFile::new(Arc::clone(&world.disk), patterns_path, now);
        patterns.restore(&mut plans);
        let fleet = Fleet::new(FleetOptions {
            rules: options
                .files
                .iter()
                .map(|files| FileRules::new(files).map(Arc::new))
                .collect::<Result<_, _>>()?,
            excluded: own_paths(options, &registry_path)?,
            host: options.host.clone(),
        });
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = Arc::new(wake.map_err(|error| CollectError::Io {
            action: "make an event for",
            path: "inputs".into(),
            source: error.into(),
        })?);
        Ok(Collector {
            options,
            intake: Intake::start(
                &options.feeds,
                registry.cursors(),
                (&options.host, &world.clock),
                &wake,
            )?,
            wake,
            saved_at: world.clock.monotonic(),
            save_took: Duration::ZERO,
            times: StageTimes::default(),
            looked_at: world.clock.monotonic(),
            look_took: Duration::ZERO,
            world,
            sink,
            fleet,
            registry,
            dead_letters,
            patterns,
            batch: Batch::new(options.batch_lines_max, options.batch_bytes_max),
            encoder: encoder.with_plans(plans).with_ids(makes_ids),
            scratch: Vec::new(),
            group: Group::default(),
            counters: Counters::default(),
            refused_later: 0,
            in_batch: Vec::new(),
        })
    }

    fn once(&mut self) -> Result<(), CollectError> {
        self.look(Patience::Wait);
        self.read_everything()?;
        // Rotations that were going on at the first look are over, or have to be taken as they are.
        self.look(Patience::Decide);
        self.read_everything()?;
        self.read_feeds_to_their_end()?;
        self.finish()
    }

    fn follow(&mut self) -> Result<(), CollectError> {
        let mut watcher = Watcher::open(Arc::clone(&self.wake));
        self.look(Patience::Wait);
        loop {
            // New folders are watched first and then looked at again, so that nothing that
            // happens in between is missed.
            while watcher.add(&self.fleet.folders) {
                self.look(Patience::Wait);
            }
            self.fleet.wake_overdue(self.world.clock.monotonic());
            let restarted = self.fleet.restarted;
            let reading = self.read_everything()?;
            let more_sent = self.read_feeds()?;
            // Nothing but standard input, and that has ended.
            if self.options.files.is_empty() && self.intake.as_ref().is_none_or(|i| i.ended) {
                return self.finish();
            }
            self.save_if_due()?;
            if self.fleet.restarted > restarted || reading == Reading::Interrupted {
                // What a rotation cut off here it may have copied elsewhere.
                self.look(Patience::Wait);
                continue;
            }
            let pause = self.look_pause(&watcher);
            let at_most = match more_sent {
                true => Duration::ZERO,
                false => self.until_saved().min(LOOK_EVERY),
            };
            match watcher.wait(at_most, self.world.stop) {
                Woken::Stopped => return Ok(()),
                Woken::Called => {}
                Woken::Quiet if self.since_look() < pause => {}
                Woken::Written(paths) if !self.fleet.touch(&paths) => {}
                Woken::Quiet => self.look(Patience::Wait),
                Woken::Written(_) | Woken::Look => {
                    self.look(Patience::Wait);
                    // Names that change all the time must not make us look all the time.
                    self.world.stop.wait(self.look_took.min(LOOK_EVERY));
                }
            }
        }
    }

    /// How long a look may be put off while nothing happens: where the kernel tells of what does, looks
    /// are for what it does not see, such as other machines' writes, and take little of a core.
    fn look_pause(&self, watcher: &Watcher) -> Duration {
        if self.fleet.is_unsettled() || !watcher.covers(&self.fleet.folders) {
            return LOOK_EVERY;
        }
        (self.look_took * LOOK_PAUSE_FACTOR).clamp(LOOK_EVERY, LOOK_PAUSE_MAX)
    }

    fn since_look(&self) -> Duration {
        let now = self.world.clock.monotonic();
        now.saturating_sub(self.looked_at)
    }

    fn now(&self) -> Now {
        now(&*self.world.clock)
    }

    fn look(&mut self, patience: Patience) {
        // The fleet compares files with registered positions: they have to be the tails' own.
        assert!(self.in_batch.is_empty());
        let now = self.now();
        self.fleet.look(&mut self.registry, now, patience);
        self.looked_at = self.world.clock.monotonic();
        self.look_took = self.looked_at.saturating_sub(now.monotonic);
        self.times.look += self.look_took;
        self.tell_progress();
    }

    fn tell_progress(&mut self) {
        self.counters.files_found = self.fleet.found;
        self.counters.files_skipped = self.fleet.skipped.len() as u64;
        self.counters.files_restarted = self.fleet.restarted;
        let plans = self.encoder.plans_mut().iter_mut().flatten();
        let patterns = plans.map(|planned| planned.plan.patterns());
        self.counters.patterns = patterns.sum::<usize>() as u64;
        self.counters.bytes_total = self.counters.bytes_read + self.fleet.bytes_ahead();
        self.count_feeds();
        self.count_buffers();
        self.world.progress.report(&self.counters);
        if self.world.progress.wants_figures() {
            self.world.progress.figures(self.figures());
        }
    }

    /// Reads all files as far as they go, a batch from each in turn, and delivers it all. When
    /// following, a long reading is interrupted: rotations go on meanwhile.
    fn read_everything(&mut self) -> Result<Reading, CollectError> {
        let mut more = true;
        while more {
            more = false;
            for index in 0..self.fleet.tails.len() {
                if self.world.stop.is_stopped() {
                    return Err(CollectError::Sink(SinkError::Stopped));
                }
                if !self.fleet.tails[index].is_due() || !self.read_one(index)? {
                    continue;
                }
                more = true;
                if self.options.mode == Mode::Follow && self.since_look() >= LOOK_EVERY {
                    self.deliver()?;
                    return Ok(Reading::Interrupted);
                }
            }
        }
        self.deliver()?;
        Ok(Reading::Done)
    }

    /// Reads one file until the batch is full or its turn is over; returns whether there may be more.
    fn read_one(&mut self, index: usize) -> Result<bool, CollectError> {
        let now = self.now();
        self.encoder.times.now_ms = i64::try_from(now.wall_ms).unwrap_or(i64::MAX);
        let mut fill = Fill {
            batch: &mut self.batch,
            encoder: &mut self.encoder,
            counters: &mut self.counters,
            scratch: &mut self.scratch,
            group: &mut self.group,
            mode: self.options.mode,
            now: now.monotonic,
        };
        let many_open = self.fleet.has_many_open();
        let tail = &mut self.fleet.tails[index];
        let (before, was_open) = (tail.read, tail.source.is_some());
        let pass = tail.fill(&mut fill);
        self.times.read += self.world.clock.monotonic().saturating_sub(now.monotonic);
        if tail.read != before {
            self.in_batch.push(index);
        }
        // A decompressor holds memory, and there are more files than handles.
        let is_drained = matches!(pass, Ok(Pass::Drained));
        if (tail.compressed && is_drained) || (!tail.compressed && !was_open && many_open) {
            tail.source = None;
        }
        tail.failure = pass.as_ref().err().map(ToString::to_string);
        match pass {
            Ok(Pass::More) => {
                if self.batch.is_full() {
                    self.deliver()?;
                }
                Ok(true)
            }
            Ok(Pass::Drained) => {
                tail.dirty = false;
                Ok(false)
            }
            Ok(Pass::Truncated) => {
                // What was read of the old incarnation is still to be acknowledged as its own.
                self.deliver()?;
                let now = self.now();
                self.fleet.restart(&mut self.registry, index, now);
                Ok(true)
            }
            Ok(Pass::Moved) => {
                // The next look finds out where to.
                tail.dirty = false;
                Ok(false)
            }
            Err(error) => {
                let path = tail.path.display();
                tracing::warn!(%path, %error, "file cannot be read on");
                tail.dirty = false;
                tail.source = None;
                Ok(false)
            }
        }
    }

    /// Delivers the batch, then moves the registry past it.
    fn deliver(&mut self) -> Result<(), CollectError> {
        if !self.batch.events().is_empty() {
            for &index in &self.in_batch {
                let tail = &mut self.fleet.tails[index];
                if let Some(opening) = tail.opening.take() {
                    self.registry.begin(tail.slot, opening);
                }
            }
            if self.registry.must_save_before_delivery() {
                self.registry.save()?;
            }
            let events = self.batch.events();
            let begun = self.world.clock.monotonic();
            let delivery = self.sink.deliver(events).map_err(CollectError::Sink)?;
            self.times.deliver += self.world.clock.monotonic().saturating_sub(begun);
            let kept = self.dead_letters.keep(events, &delivery.rejected);
            kept.map_err(|source| CollectError::Io {
                action: "keep refused events in",
                path: self.dead_letters.path().to_owned(),
                source,
            })?;
            self.counters.events_acked += delivery.acked;
            self.counters.events_duplicate += delivery.duplicates;
            self.counters.events_rejected += delivery.rejected.len() as u64;
            self.counters.retries += delivery.retries;
            self.batch.clear();
        }
        self.tell_receipts();
        let now_ms = self.now().wall_ms;
        for index in std::mem::take(&mut self.in_batch) {
            let tail = &mut self.fleet.tails[index];
            let position = tail.read;
            let entry = self.registry.get(tail.slot);
            let mut head = None;
            if !tail.compressed && entry.head.bytes() < HEAD_BYTES_MAX {
                let known = &entry.head;
                head = tail
                    .source
                    .as_mut()
                    .and_then(|source| grown_head(source, known, position));
            }
            let (parser, fit) = (tail.parser, tail.fit.take());
            self.registry.update(tail.slot, |entry| {
                entry.position = position;
                if let Some(head) = head {
                    entry.head = head;
                }
                entry.fit = fit.or(entry.fit.take());
                entry.parser = parser.map(|parser| parser.as_str().to_owned());
                entry.updated_ms = now_ms;
            });
        }
        self.tell_progress();
        self.save_if_due()
    }
}

/// Compiles the processors and conditions of a run once, for what is wrong with them.
///
/// # Errors
/// The first that is.
pub fn check(options: &CollectOptions) -> Result<(), CollectError> {
    options.validate()?;
    plans(options).map(drop)
}

/// The compiled processors of each list, with the conditions of outputs behind them.
fn plans(options: &CollectOptions) -> Result<Vec<Option<Planned>>, CollectError> {
    let is_routed = !options.outputs.is_empty();
    let plan = |list: &Vec<Definition>| match list.is_empty() && !is_routed {
        true => Ok(None),
        false => Planned::compile(list, &options.outputs).map(Some),
    };
    let plans: Result<_, ConfigError> = options.processors.iter().map(plan).collect();
    Ok(plans?)
}

/// The collector's own files and folders, which are not read.
fn own_paths(options: &CollectOptions, registry: &Path) -> Result<Vec<PathBuf>, CollectError> {
    let beside = [
        options.dead_letter_path(),
        options.patterns_path(),
        options.waiting_path(),
    ];
    let own = options.own.iter().cloned().chain(beside).map(absolute);
    let mut own = own.collect::<Result<Vec<_>, _>>()?;
    let mut temporary = registry.as_os_str().to_owned();
    temporary.push(TEMPORARY_SUFFIX);
    own.extend([
        lock_path(registry),
        registry.to_owned(),
        PathBuf::from(temporary),
    ]);
    Ok(own)
}

fn absolute(path: PathBuf) -> Result<PathBuf, CollectError> {
    std::path::absolute(&path).map_err(|source| CollectError::Io {
        action: "find the folder of",
        path,
        source,
    })
}

fn now(clock: &dyn Clock) -> Now {
    Now {
        wall_ms: clock.epoch_ms(),
        monotonic: clock.monotonic(),
    }
}

/// The head of what was read up to a position, with more bytes than the known one has perhaps. `None` where the file holds something else by
/// now, which the next read finds out, or cannot be read.
fn grown_head(source: &mut FileSource, known: &Head, position: Position) -> Option<Head> {
    let start = source.start().ok()?;
    let is_same = known.matches(&start) && source.holds(position).is_ok_and(|holds| holds);
    is_same.then(|| Head::of(&start))
}

//! A folder of logs, a sink that remembers, and a run over both.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clew_collect::{
    CollectError, CollectOptions, CollectReport, Delivery, Event, Mode, NoProgress, Sink,
    SinkError, StopToken, World,
};
use clew_platform::{Clock, RealClock, RealDisk};
use serde_json::Value;

/// Longer than a message takes.
const LONG: Duration = Duration::from_secs(60);

/// Keeps events by id, as a server does; refuses to go on after a given number of events.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) documents: BTreeMap<String, Value>,
    /// Messages in the order in which they first came.
    pub(crate) messages: Vec<String>,
    pub(crate) repeated: usize,
    pub(crate) crash_after: Option<usize>,
}

impl Sink for Memory {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        for event in batch {
            if let Some(left) = &mut self.crash_after {
                if *left == 0 {
                    return Err(SinkError::Unusable {
                        reason: "crashed".to_owned(),
                    });
                }
                *left -= 1;
            }
            let document: Value = serde_json::from_slice(&event.document).expect("valid JSON");
            let message = document["message"].as_str().expect("a text").to_owned();
            match self.documents.get(&event.id) {
                Some(known) => {
                    assert_eq!(
                        known["message"], document["message"],
                        "an id was used twice"
                    );
                    self.repeated += 1;
                    delivery.duplicates += 1;
                }
                None => {
                    self.documents.insert(event.id.clone(), document);
                    self.messages.push(message);
                    delivery.acked += 1;
                }
            }
        }
        Ok(delivery)
    }
}

/// A folder with logs in `logs` and a registry beside it.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("logs")).unwrap();
        Place { folder }
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    pub(crate) fn registry(&self) -> PathBuf {
        self.folder.path().join("registry.json")
    }

    /// Options for a path below the folder of logs; small batches, so that there are many.
    pub(crate) fn options(&self, path: &str) -> CollectOptions {
        let mut options = CollectOptions::new(vec![self.log(path)], self.registry());
        options.host = "h".to_owned();
        options.batch_lines_max = 7;
        options.registry_interval = Duration::ZERO;
        options
    }

    pub(crate) fn append(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log(name))
            .unwrap();
        file.write_all(bytes.as_ref()).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.log(from), self.log(to)).unwrap();
    }

    /// What logrotate's copytruncate does.
    pub(crate) fn copy_truncate(&self, from: &str, to: &str) {
        self.copy(from, to);
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(self.log(from))
            .unwrap();
    }

    pub(crate) fn copy(&self, from: &str, to: &str) {
        let bytes = fs::read(self.log(from)).unwrap();
        fs::write(self.log(to), bytes).unwrap();
    }

    pub(crate) fn gzip(&self, from: &str, to: &str) {
        let bytes = fs::read(self.log(from)).unwrap();
        let file = fs::File::create(self.log(to)).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(&bytes).unwrap();
        encoder.finish().unwrap();
        fs::remove_file(self.log(from)).unwrap();
    }

    pub(crate) fn once(
        &self,
        path: &str,
        sink: &mut dyn Sink,
    ) -> Result<CollectReport, CollectError> {
        collect(&self.options(path), sink, &StopToken::new())
    }
}

pub(crate) fn collect(
    options: &CollectOptions,
    sink: &mut dyn Sink,
    stop: &StopToken,
) -> Result<CollectReport, CollectError> {
    collect_by(Arc::new(RealClock::new()), options, sink, stop)
}

/// The same by another clock.
fn collect_by(
    clock: Arc<dyn Clock>,
    options: &CollectOptions,
    sink: &mut dyn Sink,
    stop: &StopToken,
) -> Result<CollectReport, CollectError> {
    let world = World {
        disk: Arc::new(RealDisk),
        clock,
        progress: &NoProgress,
        stop,
    };
    clew_collect::run(options, world, sink)
}

/// Tells each new message to a channel.
struct Telling {
    memory: Memory,
    out: Sender<String>,
}

impl Sink for Telling {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let before = self.memory.messages.len();
        let delivery = self.memory.deliver(batch)?;
        for message in &self.memory.messages[before..] {
            self.out.send(message.clone()).expect("the test listens");
        }
        Ok(delivery)
    }
}

/// A clock that may be set forward, but for the time of day.
#[derive(Debug)]
pub(crate) struct Hurried {
    real: RealClock,
    ahead_ms: AtomicU64,
}

impl Hurried {
    pub(crate) fn new() -> Hurried {
        Hurried {
            real: RealClock::new(),
            ahead_ms: AtomicU64::new(0),
        }
    }

    pub(crate) fn hurry(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap();
        self.ahead_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for Hurried {
    fn since_epoch(&self) -> Duration {
        self.real.since_epoch()
    }
    fn monotonic(&self) -> Duration {
        self.real.monotonic() + Duration::from_millis(self.ahead_ms.load(Ordering::SeqCst))
    }
    fn identity(&self) -> u64 {
        self.real.identity()
    }
}

/// A collector that follows, in its own thread.
pub(crate) struct Follower {
    pub(crate) stop: StopToken,
    messages: Receiver<String>,
    thread: JoinHandle<(Result<CollectReport, CollectError>, Memory)>,
}

impl Follower {
    pub(crate) fn start(options: CollectOptions, memory: Memory) -> Follower {
        Follower::start_by(Arc::new(RealClock::new()), options, memory)
    }

    /// The same by another clock.
    pub(crate) fn start_by(
        clock: Arc<dyn Clock>,
        mut options: CollectOptions,
        memory: Memory,
    ) -> Follower {
        options.mode = Mode::Follow;
        let stop = StopToken::new();
        let (out, messages) = channel();
        let token = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut sink = Telling { memory, out };
            let report = collect_by(clock, &options, &mut sink, &token);
            (report, sink.memory)
        });
        Follower {
            stop,
            messages,
            thread,
        }
    }

    /// Waits for messages and checks that they are exactly these, in any order.
    #[track_caller]
    pub(crate) fn expect<T: AsRef<str>>(&self, expected: &[T]) {
        self.expect_while(expected, || {});
    }

    /// The same; does something now and then while there are none.
    #[track_caller]
    pub(crate) fn expect_while<T: AsRef<str>>(&self, expected: &[T], turn: impl Fn()) {
        let next = || {
            let began = Instant::now();
            loop {
                match self.messages.recv_timeout(Duration::from_millis(50)) {
                    Ok(message) => return message,
                    Err(RecvTimeoutError::Timeout) if began.elapsed() < LONG => turn(),
                    Err(error) => panic!("a message is due: {error}"),
                }
            }
        };
        let mut found: Vec<String> = expected.iter().map(|_| next()).collect();
        let mut expected: Vec<String> = expected.iter().map(|t| t.as_ref().to_owned()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
    }

    /// Stops; checks that nothing more had come.
    #[track_caller]
    pub(crate) fn finish(self) -> (CollectReport, Memory) {
        self.stop.stop();
        let (report, memory) = self.thread.join().expect("the collector does not panic");
        assert_eq!(
            self.messages.try_iter().collect::<Vec<_>>(),
            Vec::<String>::new()
        );
        (report.expect("a stop is no error"), memory)
    }
}

/// `count` numbered lines with a time in front.
pub(crate) fn lines(from: usize, count: usize) -> Vec<String> {
    (from..from + count)
        .map(|n| format!("2026-01-02 03:04:05 line {n:06}"))
        .collect()
}

pub(crate) fn text(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A small generator of random numbers; one seed, one sequence.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).unwrap()
    }
}

pub(crate) fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

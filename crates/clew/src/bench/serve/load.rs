//! Load on a server for some seconds, from clients that each hold one connection.
//!
//! *Closed loop*: each client asks again when it has its answer. *Open loop*: requests are due at a steady rate, whether
//! the server keeps up or not, and latency is counted from when a request was due; who waits for a free client, waits. So a
//! server that stands still for a second is charged for everybody who would have come meanwhile. What was never sent
//! counts with the time that it had waited at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clew_platform::{whole_ms, whole_ns};
use hdrhistogram::Histogram;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

use super::http::{Call, Connection, Failure, Reply, Server};

/// The pacer sleeps no longer than this, so that it soon sees that all is over.
const PACER_SLEEP_MAX: Duration = Duration::from_millis(20);

/// What is asked, and what is made of answers.
pub(super) trait Workload: Send + Sync + 'static {
    /// The request of this number. Made before its clock starts.
    fn call(&self, number: u64) -> Call;
    /// What an answer is worth. After its clock has stopped.
    fn judge(&self, reply: &Reply) -> Judgement;
}

/// What an answer is worth.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Answered,
    /// The server was asked for too much, and said so (429).
    Refused,
    Failed(String),
}

/// One measurement to be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Clients, and connections.
    pub(super) concurrency: usize,
    /// Requests a second that are due; none for a closed loop.
    pub(super) rate: Option<f64>,
    /// Load of the same kind before anything is counted.
    pub(super) warm_up: Duration,
    pub(super) time: Duration,
}

impl Plan {
    /// The parameters of a row, with those of the load.
    pub(super) fn params(&self, others: &Value) -> Value {
        let mut params = others.clone();
        params["concurrency"] = self.concurrency.into();
        if let Some(rate) = self.rate {
            params["rate"] = rate.into();
        }
        params
    }
}

/// The same requests over and over.
#[derive(Debug)]
pub(super) struct Repeated {
    /// One at least.
    pub(super) calls: Vec<Call>,
    pub(super) judge: fn(&Reply) -> Judgement,
}

impl Workload for Repeated {
    fn call(&self, number: u64) -> Call {
        let at = number % self.calls.len() as u64;
        self.calls[usize::try_from(at).unwrap_or_default()].clone()
    }

    fn judge(&self, reply: &Reply) -> Judgement {
        (self.judge)(reply)
    }
}

/// What was found. Only answers that are worth something have a latency.
#[derive(Debug)]
pub(super) struct Measured {
    /// In nanoseconds.
    pub(super) latencies: Histogram<u64>,
    pub(super) answered: u64,
    pub(super) refusals: u64,
    pub(super) failures: u64,
    /// Requests that were sent, those of the warm-up with them.
    pub(super) sent: u64,
    /// Requests that were due and not sent before the end.
    pub(super) unsent: u64,
    /// Why the first of those that failed did.
    pub(super) first_failure: Option<String>,
    pub(super) seconds: f64,
    /// Whether the server went away before the end.
    pub(super) is_gone: bool,
    /// The server's processor time for each request sent, where its process can be looked at.
    pub(super) cpu_us: Option<f64>,
}

/// Loads the server as planned. Fails where it cannot be reached at the beginning; later that ends the measurement.
pub(super) async fn drive<W: Workload>(
    server: &Server,
    plan: Plan,
    work: Arc<W>,
    bar: &ProgressBar,
) -> anyhow::Result<Measured> {
    let mut connections = Vec::new();
    for _ in 0..plan.concurrency {
        let mut connection = Connection::new(server);
        connection.open().await?;
        connections.push(connection);
    }
    let course = Arc::new(Course::new(plan));
    // Dropped, it ends them.
    let mut clients = JoinSet::new();
    for connection in connections {
        clients.spawn(client(connection, course.clone(), work.clone()));
    }
    let pacer = plan.rate.map(|rate| {
        let course = course.clone();
        std::thread::spawn(move || course.pace(rate))
    });
    let begun = Begun {
        course: course.clone(),
        shown: tokio::spawn(show(course.clone(), bar.clone())),
        bar: bar.clone(),
    };
    let mut tally = Tally::new();
    while let Some(ended) = clients.join_next().await {
        tally.add(ended.context("a client broke down")?)?;
    }
    course.over.store(true, Ordering::Relaxed);
    if let Some(pacer) = pacer {
        pacer.join().ok().context("the pacer broke down")?;
    }
    drop(begun);
    tally.finish(&course)
}

/// What a measurement has begun beside its clients; it ends with it, wherever that is left.
struct Begun {
    course: Arc<Course>,
    shown: JoinHandle<()>,
    bar: ProgressBar,
}

impl Drop for Begun {
    fn drop(&mut self) {
        self.course.over.store(true, Ordering::Relaxed);
        self.course.due.close();
        self.shown.abort();
        self.bar.finish_and_clear();
    }
}

/// What clients and the pacer share.
struct Course {
    start: Instant,
    /// What is due before this is not counted.
    from: Instant,
    until: Instant,
    rate: Option<f64>,
    /// The number of the next request.
    next: AtomicU64,
    /// Requests that are due and not taken, in an open loop.
    due: Semaphore,
    given: AtomicU64,
    /// Requests that are sent.
    taken: AtomicU64,
    over: AtomicBool,
    gone: Mutex<Option<Instant>>,
}

impl Course {
    fn new(plan: Plan) -> Self {
        let start = Instant::now();
        let from = start + plan.warm_up;
        Course {
            start,
            from,
            until: from + plan.time,
            rate: plan.rate,
            next: AtomicU64::new(0),
            due: Semaphore::new(0),
            given: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            over: AtomicBool::new(false),
            gone: Mutex::new(None),
        }
    }

    /// When the request of this number is due.
    fn due_at(&self, number: u64, rate: f64) -> Instant {
        self.start + Duration::from_secs_f64(number as f64 / rate)
    }

    /// Waits until there is a request to send; gives the instant from which its latency counts, or nothing at the end.
    async fn turn(&self) -> Option<Instant> {
        if self.rate.is_some() {
            self.due.acquire().await.ok()?.forget();
        }
        let now = Instant::now();
        if self.over.load(Ordering::Relaxed) || now >= self.until {
            return None;
        }
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        Some(self.rate.map_or(now, |rate| self.due_at(taken, rate)))
    }

    /// Hands out what is due, in a thread: timers of the runtime are a millisecond coarse.
    fn pace(&self, rate: f64) {
        let mut given = 0;
        while !self.over.load(Ordering::Relaxed) {
            let now = Instant::now().min(self.until);
            let first = given;
            while self.due_at(given, rate) <= now && self.due_at(given, rate) < self.until {
                given += 1;
            }
            self.given.store(given, Ordering::Relaxed);
            self.due
                .add_permits(usize::try_from(given - first).unwrap_or_default());
            if now >= self.until {
                break;
            }
            let next = self.due_at(given, rate).min(self.until);
            let pause = next.saturating_duration_since(Instant::now());
            std::thread::sleep(pause.min(PACER_SLEEP_MAX));
        }
        self.due.close();
    }

    fn server_is_gone(&self) {
        self.gone.lock().get_or_insert_with(Instant::now);
        self.over.store(true, Ordering::Relaxed);
        self.due.close();
    }
}

/// What one client counted.
struct Tally {
    latencies: Histogram<u64>,
    answered: u64,
    refusals: u64,
    failures: u64,
    first_failure: Option<(Instant, String)>,
    last: Option<Instant>,
}

async fn client<W: Workload>(
    mut connection: Connection,
    course: Arc<Course>,
    work: Arc<W>,
) -> Tally {
    let mut tally = Tally::new();
    loop {
        let call = work.call(course.next.fetch_add(1, Ordering::Relaxed));
        let Some(begun) = course.turn().await else {
            return tally;
        };
        let reply = connection.ask(&call).await;
        let done = Instant::now();
        let is_gone = matches!(reply, Err(Failure::Unreachable(_)));
        let judgement = match reply {
            Ok(reply) => work.judge(&reply),
            Err(failure) => Judgement::Failed(failure.to_string()),
        };
        // What failed is told wherever it did: a server that goes away while it is warmed up has gone, too.
        if begun >= course.from || is_gone {
            tally.count(judgement, begun, done);
        }
        if is_gone {
            course.server_is_gone();
        }
    }
}

impl Tally {
    fn new() -> Self {
        Tally {
            latencies: Histogram::new(3).expect("three digits are allowed"),
            answered: 0,
            refusals: 0,
            failures: 0,
            first_failure: None,
            last: None,
        }
    }

    fn count(&mut self, judgement: Judgement, begun: Instant, done: Instant) {
        self.last = Some(done);
        match judgement {
            Judgement::Answered => {
                self.answered += 1;
                self.wait(done.saturating_duration_since(begun));
            }
            Judgement::Refused => self.refusals += 1,
            Judgement::Failed(why) => {
                self.failures += 1;
                self.first_failure.get_or_insert((done, why));
            }
        }
    }

    fn wait(&mut self, waited: Duration) {
        let nanos = whole_ns(waited);
        self.latencies
            .record(nanos)
            .expect("it grows with its values");
    }

    fn add(&mut self, other: Tally) -> anyhow::Result<()> {
        self.latencies.add(&other.latencies)?;
        self.answered += other.answered;
        self.refusals += other.refusals;
        self.failures += other.failures;
        self.last = self.last.max(other.last);
        let firsts = [self.first_failure.take(), other.first_failure];
        self.first_failure = firsts.into_iter().flatten().min_by_key(|(when, _)| *when);
        Ok(())
    }

    fn finish(mut self, course: &Course) -> anyhow::Result<Measured> {
        let gone = *course.gone.lock();
        let mut unsent = 0;
        if let (Some(rate), None) = (course.rate, gone) {
            let (taken, given) = (&course.taken, &course.given);
            for number in taken.load(Ordering::Relaxed)..given.load(Ordering::Relaxed) {
                let due = course.due_at(number, rate);
                if due >= course.from {
                    unsent += 1;
                    self.wait(course.until.saturating_duration_since(due));
                }
            }
        }
        let end = gone.unwrap_or(course.until.max(self.last.unwrap_or(course.until)));
        Ok(Measured {
            latencies: self.latencies,
            answered: self.answered,
            refusals: self.refusals,
            failures: self.failures,
            sent: course.taken.load(Ordering::Relaxed),
            unsent,
            first_failure: self.first_failure.map(|(_, why)| why),
            seconds: end.saturating_duration_since(course.from).as_secs_f64(),
            is_gone: gone.is_some(),
            cpu_us: None,
        })
    }
}

/// Moves a bar of as many milliseconds as the load takes.
async fn show(course: Arc<Course>, bar: ProgressBar) {
    let whole = course.until.saturating_duration_since(course.start);
    bar.set_length(whole_ms(whole));
    loop {
        let passed = course.start.elapsed().as_millis();
        bar.set_position(u64::try_from(passed).unwrap_or(u64::MAX));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(warm_up_ms: u64) -> Course {
        Course::new(Plan {
            concurrency: 1,
            rate: Some(10.0),
            warm_up: Duration::from_millis(warm_up_ms),
            time: Duration::from_millis(1000 - warm_up_ms),
        })
    }

    #[test]
    fn what_was_due_and_not_sent_counts_with_its_wait() {
        let check = |warm_up_ms, unsent, longest_ms: u64| {
            let course = course(warm_up_ms);
            // Ten were due, one each tenth of a second; four found a client.
            course.given.store(10, Ordering::Relaxed);
            course.taken.store(4, Ordering::Relaxed);
            let found = Tally::new().finish(&course).unwrap();
            assert_eq!((found.unsent, found.latencies.len()), (unsent, unsent));
            let ms = |nanos: u64| (nanos + 500_000) / 1_000_000;
            assert_eq!(ms(found.latencies.min()), 100);
            assert_eq!(ms(found.latencies.max()), longest_ms);
        };
        check(0, 6, 600);
        // The warm-up's are not counted.
        check(500, 5, 500);
    }

    #[test]
    fn clients_add_up_and_the_first_failure_is_told() {
        let course = course(0);
        let at = |ms| course.start + Duration::from_millis(ms);
        let failed = |why: &str| Judgement::Failed(why.to_owned());
        let (mut one, mut other) = (Tally::new(), Tally::new());
        one.count(failed("later"), at(0), at(30));
        one.count(Judgement::Answered, at(30), at(40));
        other.count(failed("first"), at(0), at(20));
        other.count(Judgement::Refused, at(20), at(21));
        other.count(Judgement::Answered, at(21), at(2021));
        one.add(other).unwrap();
        let found = one.finish(&course).unwrap();
        assert_eq!((found.answered, found.refusals, found.failures), (2, 1, 2));
        assert_eq!(found.first_failure.as_deref(), Some("first"));
        // The last answer came after the time was up.
        assert!((found.seconds - 2.021).abs() < 1e-6);
        assert_eq!(found.latencies.len(), 2);
    }
}

//! `_nodes/hot_threads`: which threads of the process used the processors over a short while, or were blocked, and in which
//! calls. Threads of one name are told together where their calls are: profiles know them by their names.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clew_engine::{EngineError, Took};
use clew_platform::{CancellationToken, MemoryAccount};
use clew_profile::{
    Capture, OffCpuCapture, OffCpuMode, Profile, ProfileError, Rate, Sample, SymbolUse,
};
use tokio::sync::Semaphore;

use crate::cluster::machine::cpu_ms;
use crate::cluster::nodes::names_this_node;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::parse_time;
use crate::indices::snapshots::iso;
use crate::state::api::Api;
use crate::state::call::Call;

const INTERVAL_DEFAULT: &str = "500ms";
/// A request is not to hang for longer.
const INTERVAL_MAX: Duration = Duration::from_secs(60);
const THREADS_DEFAULT: u64 = 3;
/// Requests that watch at once, others wait for their turn: a thread that works is interrupted for each of them, and the names of
/// each take the memory of all symbols.
const AT_ONCE: usize = 4;
/// Looks at each thread in the interval.
const SNAPSHOTS_DEFAULT: u64 = 10;
/// Looks a second at least.
const RATE_MIN: u32 = 99;
/// Calls that are shown of a stack, from its inner end on.
const CALLS_MAX: usize = 60;
/// Stacks that are shown of a thread.
const STACKS_MAX: usize = 3;
/// Where threads stand that have nothing to do, of what is not the standard library's. Some builds name a method without its type.
const IDLE: [&str; 14] = [
    "clew_engine::base::signal::",
    "clew_log::queue::Queue::take",
    "clew_log::queue::take",
    "clew_platform::workers::Shared::next",
    "clew_platform::workers::next",
    "clew_profile::off_cpu::",
    "clew_profile::on_cpu::",
    "clew_profile::symbols::kept::next_question",
    "clew_profile::trace::queue::",
    "tokio::runtime::blocking::pool::",
    "tokio::runtime::io::driver::",
    "tokio::runtime::park::",
    "tokio::runtime::scheduler::multi_thread::park::",
    "tokio::runtime::scheduler::multi_thread::worker::Context::park",
];
/// Calls of ours and of the runtime that are looked at for that, from the inner end on: what is inlined, or was there before, may
/// come first.
const IDLE_CALLS: usize = 5;

/// A thread, and the processor time it has had since it began.
#[derive(Clone, Debug, PartialEq)]
struct ThreadTime {
    name: String,
    used: Duration,
}

/// Who may watch at present.
#[derive(Debug)]
struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        Turns(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

/// `GET /_nodes/{node}/hot_threads`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let asked = Asked::read(&call)?;
    let api = &call.api;
    if !call
        .path("node")
        .is_none_or(|node| names_this_node(api, node))
    {
        return Ok(Reply::text(String::new()));
    }
    let turns = api.part::<Turns>().0.clone();
    let turn = turns.acquire_owned().await;
    let turn = turn.map_err(|error| ApiError::internal(error.to_string()))?;
    let began = iso(api.engine.clock().epoch_ms());
    let (kind, rate, interval) = (asked.kind, asked.rate, asked.interval);
    // The thread that watches leaves off once the request is cancelled, its client has gone, or the server stops.
    let (token, account) = (CancellationToken::current(), api.engine.memory().clone());
    let watched = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        watch((kind, rate, interval), &token, &account)
    });
    let mut watched = watched.await??;
    // What idle threads use is told as any other's is.
    if kind != ThreadKind::Cpu && asked.ignore_idle {
        drop_idle(&mut watched.profile);
    }
    Ok(Reply::text(told(api, &asked, &began, &watched)))
}

/// The answer, in the lines that OpenSearch writes.
fn told(api: &Api, asked: &Asked, began: &str, watched: &Watched) -> String {
    let options = &api.options;
    let (name, id, address) = (&options.node_name, &api.node_id, &options.publish_address);
    let mut text = format!(
        "::: {{{name}}}{{{id}}}{{{}}}{{{address}}}{{dim}}\n",
        options.publish_host()
    );
    let _ = writeln!(
        text,
        "   Hot threads at {began}, interval={}, busiestThreads={}, ignoreIdleThreads={}:",
        Took(asked.interval),
        asked.threads,
        asked.ignore_idle
    );
    let times = match asked.kind {
        ThreadKind::Cpu => busiest(&watched.before, &watched.after, asked),
        ThreadKind::Block | ThreadKind::Wait => most_blocked(&watched.profile, asked),
    };
    for (thread, used) in times {
        text.push_str("   \n");
        push_thread(&mut text, asked, &thread, (used, watched.took));
        push_stacks(&mut text, &watched.profile, &thread);
    }
    text.push('\n');
    text
}

/// The line of a thread: what it used of the time that was watched, which may be longer than was asked for.
fn push_thread(text: &mut String, asked: &Asked, thread: &str, (used, took): (Duration, Duration)) {
    let share = 100.0 * used.as_secs_f64() / took.as_secs_f64();
    let _ = writeln!(
        text,
        "   {share:4.1}% ({} out of {}) {} usage by thread '{thread}'",
        Took(used),
        Took(asked.interval),
        asked.kind.word(),
    );
}

/// What threads are told for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ThreadKind {
    Cpu,
    /// Blocked, whatever by.
    Block,
    /// The same: who waits for a lock is not told from who waits for something else.
    Wait,
}

impl ThreadKind {
    fn word(self) -> &'static str {
        match self {
            ThreadKind::Cpu => "cpu",
            ThreadKind::Block => "block",
            ThreadKind::Wait => "wait",
        }
    }
}

/// What was seen over the interval.
struct Watched {
    before: BTreeMap<i32, ThreadTime>,
    after: BTreeMap<i32, ThreadTime>,
    took: Duration,
    profile: Profile,
}

/// What was seen, before it has names.
enum Seen {
    OnCpu(Capture),
    OffCpu(OffCpuCapture),
}

impl Seen {
    fn take(
        kind: ThreadKind,
        rate: Rate,
        interval: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ProfileError> {
        match kind {
            ThreadKind::Cpu => Capture::take(rate, interval, stop).map(Seen::OnCpu),
            ThreadKind::Block | ThreadKind::Wait => {
                OffCpuCapture::take(OffCpuMode::Sampled(rate), interval, stop).map(Seen::OffCpu)
            }
        }
    }

    fn named(self) -> Result<Profile, ProfileError> {
        match self {
            Seen::OnCpu(seen) => {
                let named = Capture::name_all(vec![seen])?;
                Ok(named.into_iter().next().unwrap_or_default())
            }
            Seen::OffCpu(seen) => seen.name(),
        }
    }
}

/// Watches for so long, or until the token stops. Blocks.
fn watch(
    (kind, rate, interval): (ThreadKind, Rate, Duration),
    token: &CancellationToken,
    account: &Arc<MemoryAccount>,
) -> Result<Watched, ApiError> {
    let failed = |error: ProfileError| ApiError::internal(error.to_string());
    let is_over = || token.stopped().is_some();
    // The clock runs for longer than any thread is looked at: none has more than all of the time.
    let started = Instant::now();
    let before = thread_times();
    let seen = Seen::take(kind, rate, interval, &is_over).map_err(failed)?;
    // What threads have used is looked at before names are found, which takes more than most threads do.
    let (after, took) = (thread_times(), started.elapsed());
    if is_over() {
        // Whoever cancelled it has answered.
        return Err(EngineError::Closed.into());
    }
    let _symbols = SymbolUse::kept(account)?;
    Ok(Watched {
        before,
        after,
        took,
        profile: seen.named().map_err(failed)?,
    })
}

/// Leaves out where threads wait for something to do.
fn drop_idle(profile: &mut Profile) {
    let mut samples = std::mem::take(&mut profile.samples);
    samples.retain(|sample| {
        // The thread's name stands in front of its calls.
        let calls: Vec<&str> = profile.names(sample).skip(1).collect();
        !is_idle(calls.into_iter().rev())
    });
    profile.samples = samples;
}

/// Whether calls, the inner ones first, are those of a thread that waits for something to do.
fn is_idle<'c>(calls: impl Iterator<Item = &'c str>) -> bool {
    let own = calls.filter(|call| call.starts_with("clew_") || call.starts_with("tokio::"));
    own.take(IDLE_CALLS)
        .any(|call| IDLE.iter().any(|idle| call.starts_with(*idle)))
}

/// Threads by how long they were blocked, those of one name together, the longest first.
fn most_blocked(profile: &Profile, asked: &Asked) -> Vec<(String, Duration)> {
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &profile.samples {
        let nanos = sample.values.last().map_or(0, |nanos| nanos.unsigned_abs());
        *by_name
            .entry(sample.thread.as_deref().unwrap_or_default())
            .or_default() += nanos;
    }
    let mut all: Vec<_> = (by_name.into_iter())
        .map(|(name, nanos)| (name.to_string(), Duration::from_nanos(nanos)))
        .collect();
    all.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
    all.truncate(asked.threads);
    all
}

/// The stacks of a thread's name, the most frequent first.
fn push_stacks(text: &mut String, profile: &Profile, thread: &str) {
    let weight = |sample: &&Sample| sample.values.last().copied().unwrap_or_default();
    let of_thread = profile
        .samples
        .iter()
        .filter(|sample| sample.thread.as_deref() == Some(thread));
    let mut stacks: Vec<&Sample> = of_thread.filter(|sample| weight(sample) > 0).collect();
    stacks.sort_by_key(|sample| std::cmp::Reverse(weight(sample)));
    let all: i64 = stacks.iter().map(weight).sum();
    let period = i64::try_from(profile.period).unwrap_or(i64::MAX).max(1);
    let snapshots = |nanos: i64| (nanos + period / 2) / period;
    for sample in stacks.into_iter().take(STACKS_MAX) {
        // The thread's name stands in front of its calls.
        let calls: Vec<&str> = profile.names(sample).skip(1).collect();
        let _ = writeln!(
            text,
            "     {}/{} snapshots sharing following {} elements",
            snapshots(weight(&sample)).max(1),
            snapshots(all).max(1),
            calls.len()
        );
        for call in calls.iter().rev().take(CALLS_MAX) {
            let _ = writeln!(text, "       {call}");
        }
    }
}

/// What a request wants to know.
struct Asked {
    kind: ThreadKind,
    rate: Rate,
    interval: Duration,
    threads: usize,
    ignore_idle: bool,
}

impl Asked {
    fn read(call: &Call) -> Result<Self, ApiError> {
        let params = &call.params;
        let kind = match params.get("type").unwrap_or("cpu") {
            "cpu" => ThreadKind::Cpu,
            "block" => ThreadKind::Block,
            "wait" => ThreadKind::Wait,
            kind => {
                return Err(ApiError::illegal_argument(format!(
                    "type not supported [{kind}]"
                )));
            }
        };
        let interval_text = params.get("interval").unwrap_or(INTERVAL_DEFAULT);
        // One of none (`-1`) is as none.
        let interval = parse_time("interval", interval_text)?.unwrap_or_default();
        if interval.is_zero() || interval > INTERVAL_MAX {
            return Err(ApiError::illegal_argument(format!(
                "failed to parse value [{interval_text}] for setting [interval], must be above [0ms] \
                 and at most [{}s]",
                INTERVAL_MAX.as_secs()
            )));
        }
        let threads = params.unsigned("threads")?.unwrap_or(THREADS_DEFAULT);
        let snapshots = params.unsigned("snapshots")?.unwrap_or(SNAPSHOTS_DEFAULT);
        let per_second = u128::from(snapshots) * 1000 / interval.as_millis().max(1);
        // A few looks would see nothing of a thread that is seldom on a processor.
        let rate = u32::try_from(per_second)
            .unwrap_or(u32::MAX)
            .clamp(RATE_MIN, Rate::MAX);
        let rate = Rate::per_second(rate)
            .map_err(|error| ApiError::illegal_argument(error.to_string()))?;
        Ok(Asked {
            kind,
            rate,
            interval,
            threads: usize::try_from(threads).unwrap_or(usize::MAX),
            ignore_idle: params.flag("ignore_idle_threads", true)?,
        })
    }
}

/// Threads by what they used between two looks, the busiest first.
fn busiest(
    before: &BTreeMap<i32, ThreadTime>,
    after: &BTreeMap<i32, ThreadTime>,
    asked: &Asked,
) -> Vec<(String, Duration)> {
    let used = |(id, thread): (&i32, &ThreadTime)| {
        // A thread that was not there before has used all it has since.
        let earlier = before.get(id).map_or(Duration::ZERO, |before| before.used);
        (thread.name.clone(), thread.used.saturating_sub(earlier))
    };
    let mut all: Vec<_> = after.iter().map(used).collect();
    all.retain(|(_, used)| !(asked.ignore_idle && used.is_zero()));
    all.sort_by(|(a_name, a), (b_name, b)| b.cmp(a).then_with(|| a_name.cmp(b_name)));
    all.truncate(asked.threads);
    all
}

/// Every thread of the process, by its number; none where the system does not tell.
fn thread_times() -> BTreeMap<i32, ThreadTime> {
    let each = clew_profile::thread_uses()
        .into_iter()
        .filter_map(|thread| {
            let used = match thread.ran {
                Some(ran) => ran,
                // Systems without the scheduler's own counts tell ticks.
                None => {
                    let stat = fs::read_to_string(format!("/proc/self/task/{}/stat", thread.id));
                    Duration::from_millis(cpu_ms(&stat.ok()?))
                }
            };
            let name = thread.name;
            Some((thread.id, ThreadTime { name, used }))
        });
    each.collect()
}

#[cfg(test)]
mod tests;

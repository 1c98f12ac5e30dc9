//! What search pipelines did since the process began, as `_nodes/stats` shows it. One that comes with its search, and so has no
//! name, is not counted, as in OpenSearch.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clew_engine::Engine;
use clew_platform::{whole_ms, whole_ns};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::processors::Pipeline;
use super::store;
use crate::state::stored_scripts;

/// How often something was done, how long that took, and how often it failed. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    count: AtomicU64,
    nanos: AtomicU64,
    current: AtomicU64,
    failed: AtomicU64,
}

/// Ends what goes on, however it ends.
struct Ends<'a>(&'a AtomicU64);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counts {
    /// Does it once more.
    pub(super) fn during<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let counters = &*self.0;
        counters.current.fetch_add(1, Ordering::Relaxed);
        let _ends = Ends(&counters.current);
        let began = Instant::now();
        let done = work();
        let nanos = whole_ns(began.elapsed());
        counters.nanos.fetch_add(nanos, Ordering::Relaxed);
        counters.count.fetch_add(1, Ordering::Relaxed);
        if done.is_err() {
            counters.failed.fetch_add(1, Ordering::Relaxed);
        }
        done
    }

    fn shown(&self) -> Value {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        json!({
            "count": of(&self.0.count),
            "time_in_millis": whole_ms(Duration::from_nanos(of(&self.0.nanos))),
            "current": of(&self.0.current),
            "failed": of(&self.0.failed),
        })
    }
}

/// What was done to searches, and to their answers.
#[derive(Clone, Debug, Default)]
pub(super) struct Halves {
    pub(super) before: Counts,
    pub(super) after: Counts,
}

/// A step as it is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StepName {
    /// Its kind, and its tag.
    pub(super) key: String,
    pub(super) kind: String,
}

/// The steps of a list, each with what it did.
#[derive(Clone, Debug, Default)]
struct Steps(Vec<(StepName, Counts)>);

impl Steps {
    /// The counts of steps that are called so, which begin anew where others stood there.
    fn called(&mut self, names: Vec<StepName>) -> Vec<Counts> {
        let known = self.0.iter().map(|(name, _)| name);
        if !known.eq(names.iter()) {
            let anew = names.into_iter().map(|name| (name, Counts::default()));
            self.0 = anew.collect();
        }
        self.0.iter().map(|(_, counts)| counts.clone()).collect()
    }

    fn shown(&self) -> Value {
        let steps = self.0.iter();
        let steps = steps.map(|(StepName { key, kind }, counts)| {
            json!({key: {"type": kind, "stats": counts.shown()}})
        });
        Value::Array(steps.collect())
    }
}

#[derive(Debug, Default)]
struct OfPipeline {
    halves: Halves,
    before: Steps,
    after: Steps,
}

/// What all pipelines did, and each of them by its name.
#[derive(Debug, Default)]
pub(super) struct Figures {
    total: Halves,
    named: Mutex<BTreeMap<String, OfPipeline>>,
}

impl Figures {
    /// Has the steps of a pipeline count what they do under its name; where the whole of it is counted.
    pub(super) fn count(&self, name: &str, pipeline: &mut Pipeline) -> Vec<Halves> {
        let mut named = self.named.lock();
        let own = named.entry(name.to_string()).or_default();
        let (before, after) = pipeline.step_names();
        pipeline.count_by(own.before.called(before), own.after.called(after));
        vec![self.total.clone(), own.halves.clone()]
    }

    /// The section `search_pipeline`: of those that are kept.
    pub(super) fn shown(&self, engine: &Engine) -> Value {
        let kept = store::all(engine);
        for (name, body) in &kept {
            // Those that nobody has used yet are told of as well.
            let read = stored_scripts::reading(engine, || Pipeline::parse(name, body));
            if let Ok(mut pipeline) = read {
                self.count(name, &mut pipeline);
            }
        }
        let mut named = self.named.lock();
        named.retain(|name, _| kept.iter().any(|(kept, _)| kept == name));
        let mut pipelines = Map::new();
        for (name, own) in &*named {
            let shown = json!({
                "request": own.halves.before.shown(),
                "response": own.halves.after.shown(),
                "request_processors": own.before.shown(),
                "response_processors": own.after.shown(),
            });
            pipelines.insert(name.clone(), shown);
        }
        json!({
            "total_request": self.total.before.shown(),
            "total_response": self.total.after.shown(),
            "pipelines": pipelines,
        })
    }
}

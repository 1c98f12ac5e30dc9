//! What does it bring to read the segments of a shard on several threads? Each search on one thread and on all that
//! the engine has, in turns: how long it takes, and the CPU time of the whole process.

use std::fmt::Write as _;
use std::num::NonZeroI64;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use clew_aggregation::{AggCollector, AggContext, AggLimits};
use clew_query::aggregation::{
    AggSpec, DateHistogramSpec, DateInterval, NamedAgg, Source, TermsSpec,
};
use clew_query::{Match, Query, Range};
use clew_query::{Order, SortKey};
use clew_search::{DocVisitor, ShardRequest, Snapshot, Threads, TrackTotal, VectorAnswers};
use rustix::time::ClockId;
use serde_json::json;

use crate::clew::{Clew, Columns};
use crate::queries::Queries;
use crate::{COUNTED, TOP, nanoseconds};

const ROUNDS: usize = 15;

/// A search, or several that are done one after the other.
struct Search {
    name: &'static str,
    queries: Vec<Query>,
    aggs: Vec<NamedAgg>,
    sort: Vec<SortKey>,
    limit: usize,
    track_total: TrackTotal,
}

impl Search {
    fn of(name: &'static str, queries: Vec<Query>) -> Self {
        Search {
            name,
            queries,
            aggs: Vec::new(),
            sort: Vec::new(),
            limit: TOP,
            track_total: TrackTotal::UpTo(COUNTED),
        }
    }

    fn aggregating(name: &'static str, query: Query, aggs: Vec<NamedAgg>) -> Self {
        Search {
            aggs,
            limit: 0,
            ..Search::of(name, vec![query])
        }
    }

    /// What is found, as text.
    fn run(&self, snapshot: &Snapshot, threads: Option<&dyn Threads>) -> anyhow::Result<String> {
        let mut found = String::new();
        for query in &self.queries {
            let context = AggContext {
                mapping: &snapshot.mapping,
                derived: &[],
                index: "docs",
                now_ms: 0,
                limits: AggLimits::default(),
                memory: None,
                snapshot: Some(snapshot),
                scope: None,
                shard: 0,
                stopwatch: None,
                searcher: None,
            };
            let mut visitor = match &self.aggs[..] {
                [] => None,
                aggs => Some(AggCollector::new(aggs, context)?),
            };
            let request = ShardRequest {
                limit: self.limit,
                sort: &self.sort,
                track_total: self.track_total,
                visitor: visitor.as_mut().map(|one| one as &mut dyn DocVisitor),
                threads,
                ..ShardRequest::new(query)
            };
            let result = clew_search::search(snapshot, request, &VectorAnswers::default())?;
            write!(found, "{result:?}")?;
            if let Some(visitor) = visitor {
                write!(found, "{:?}", visitor.finish()?.into_result()?)?;
            }
        }
        Ok(found)
    }
}

fn agg(name: &str, spec: AggSpec, subs: Vec<NamedAgg>) -> NamedAgg {
    NamedAgg {
        name: name.to_string(),
        spec,
        subs,
    }
}

fn searches(queries: &Queries) -> anyhow::Result<Vec<Search>> {
    let all = || Query::MatchAll { boost: 1.0 };
    let terms = || agg("groups", AggSpec::Terms(TermsSpec::of("group")), Vec::new());
    let minute = DateInterval::Fixed {
        step_ms: NonZeroI64::new(60_000).context("not zero")?,
    };
    let average = agg("average", AggSpec::Avg(Source::field("any")), Vec::new());
    let dates = AggSpec::DateHistogram(DateHistogramSpec::of("at", minute));
    let dates = agg("dates", dates, vec![average, terms()]);
    let words = queries.of("or10").context("no or10")?;
    let any: Vec<Query> = words
        .iter()
        .map(|text| Query::Match(Match::new("body", text)))
        .collect();
    let half = Query::Range(Range {
        gte: Some(json!(1_u64 << 39)),
        ..Range::new("any")
    });
    Ok(vec![
        Search::aggregating("terms, all documents", all(), vec![terms()]),
        Search::aggregating(
            "date_histogram with average and terms, all documents",
            all(),
            vec![dates.clone()],
        ),
        Search::aggregating(
            "date_histogram with average and terms, half of them",
            half.clone(),
            vec![dates],
        ),
        Search {
            sort: vec![SortKey::field("any", Order::Desc)],
            track_total: TrackTotal::Exact,
            ..Search::of(
                "half of them, sorted by a number, all counted",
                vec![half.clone()],
            )
        },
        Search {
            limit: 0,
            track_total: TrackTotal::Exact,
            ..Search::of("half of them, only counted", vec![half])
        },
        Search::of("or10, all queries", any.clone()),
        Search {
            track_total: TrackTotal::Exact,
            ..Search::of("or10, all queries, all counted", any)
        },
        Search::of("a word", vec![Query::Match(Match::new("body", "package"))]),
    ])
}

pub(crate) fn measure(
    docs: &Path,
    queries: &Queries,
    (segments, folder): (usize, &Path),
) -> anyhow::Result<String> {
    let clew = Clew::build(docs, segments, (folder, Columns::Numbers))?;
    let snapshot = clew.pinned.shards()[0].snapshot()?;
    wait_for_merges();
    let threads = clew.engine.search_threads();
    let mut table = String::from(
        "| search | one thread, ms | all, ms | times | CPU of one, ms | CPU of all, ms | times |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
    );
    for search in searches(queries)? {
        let mut told = Vec::new();
        let mut found = Vec::new();
        for help in [None, Some(threads)] {
            let mut times = Vec::with_capacity(ROUNDS);
            let before = nanoseconds(ClockId::ProcessCPUTime);
            for _ in 0..ROUNDS {
                let begun = nanoseconds(ClockId::Monotonic);
                found.push(search.run(snapshot, help)?);
                times.push(nanoseconds(ClockId::Monotonic) - begun);
            }
            // Helpers look for more work for a moment, which counts too.
            std::thread::sleep(Duration::from_millis(5));
            let spent = nanoseconds(ClockId::ProcessCPUTime) - before;
            times.sort_unstable();
            told.push((
                times[ROUNDS / 2] as f64 / 1e6,
                spent as f64 / ROUNDS as f64 / 1e6,
            ));
        }
        let same = found.iter().all(|one| *one == found[0]);
        anyhow::ensure!(same, "{}: something else was found", search.name);
        let [(one, one_cpu), (all, all_cpu)] = told[..] else {
            anyhow::bail!("there are two ways");
        };
        write!(
            table,
            "\n| {} | {one:.2} | {all:.2} | {:.2} | {one_cpu:.2} | {all_cpu:.2} | {:.2} |",
            search.name,
            one / all,
            all_cpu / one_cpu
        )?;
    }
    Ok(table)
}

/// The segments are pinned, but they are merged all the same, which takes a core.
fn wait_for_merges() {
    let mut before = nanoseconds(ClockId::ProcessCPUTime);
    loop {
        std::thread::sleep(Duration::from_millis(500));
        let now = nanoseconds(ClockId::ProcessCPUTime);
        if now - before < 25_000_000 {
            return;
        }
        before = now;
    }
}

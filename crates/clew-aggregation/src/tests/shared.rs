//! Searches whose segments are read on several threads, with aggregations beside the hits.

use std::num::NonZeroI64;
use std::sync::atomic::{AtomicBool, Ordering};

use clew_query::{Bool, Query, QueryError};
use clew_query::{Order, SortKey};
use clew_search::{
    ShardRequest, ShardResult, Snapshot, Threads, TrackTotal, VectorAnswers,
    fixture::{Random, Three, mapping, random_docs, snapshot},
    search,
};

use super::{context, named};
use crate::*;
use clew_query::aggregation::*;

fn request() -> Vec<NamedAgg> {
    let field = |path: &str| Source::field(path);
    let hour = DateInterval::Fixed {
        step_ms: NonZeroI64::new(36_000_000).unwrap(),
    };
    let subs = vec![
        named("sum", AggSpec::Sum(field("price")), Vec::new()),
        named("tags", AggSpec::Terms(TermsSpec::of("tags")), Vec::new()),
        named(
            "percent",
            AggSpec::Percentiles(PercentilesSpec {
                source: field("price"),
                points: vec![5.0, 50.0, 99.0],
                ranks: false,
                keyed: true,
                method: Method::default(),
            }),
            Vec::new(),
        ),
    ];
    let dates = AggSpec::DateHistogram(DateHistogramSpec::of("at", hour));
    vec![
        named("dates", dates, subs),
        named("stats", AggSpec::Stats(field("price")), Vec::new()),
        named(
            "distinct",
            AggSpec::Cardinality(CardinalitySpec {
                source: field("ip"),
                precision_threshold: 100,
            }),
            Vec::new(),
        ),
        named(
            "all",
            AggSpec::Global(GlobalSpec),
            vec![named("max", AggSpec::Max(field("count")), Vec::new())],
        ),
    ]
}

fn run(
    snapshot: &Snapshot,
    (query, sort, limits): (&Query, &[SortKey], AggLimits),
    threads: Option<&dyn Threads>,
) -> Result<(ShardResult, Intermediate), QueryError> {
    let mapping = mapping();
    let context = AggContext {
        limits,
        snapshot: Some(snapshot),
        ..context(&mapping)
    };
    let mut visitor = AggCollector::new(&request(), context)?;
    let request = ShardRequest {
        sort,
        track_total: TrackTotal::Exact,
        visitor: Some(&mut visitor),
        threads,
        ..ShardRequest::new(query)
    };
    let result = search(snapshot, request, &VectorAnswers::default())?;
    Ok((result, visitor.finish()?))
}

/// Three threads, and whether they were asked.
#[derive(Default)]
struct Asked(AtomicBool);

impl Threads for Asked {
    fn run(&self, more: usize, work: &(dyn Fn() + Sync)) {
        self.0.store(true, Ordering::Relaxed);
        Three.run(more, work);
    }
    fn worthwhile_docs(&self) -> u64 {
        1_000
    }
}

#[test]
fn several_threads_find_and_count_the_same() {
    let docs = random_docs(&mut Random(5), &[900, 40, 3_000, 1, 1_200, 700]);
    let snapshot = snapshot(&docs);
    let sorts = [
        Vec::new(),
        vec![SortKey::field("count", Order::Desc)],
        vec![
            SortKey::field("price", Order::Asc),
            SortKey::field("tags", Order::Desc),
        ],
    ];
    for query in [
        Query::MatchAll { boost: 1.0 },
        Query::matches("body", "w1 w7"),
        Query::term("flag", true),
        Query::matches("body", "nothing"),
    ] {
        for sort in &sorts {
            let asked = (&query, &sort[..], AggLimits::default());
            let (found, counted) = run(&snapshot, asked, None).unwrap();
            let (also_found, also_counted) = run(&snapshot, asked, Some(&Three)).unwrap();
            assert_eq!(also_found, found);
            assert_eq!(format!("{also_counted:?}"), format!("{counted:?}"));
        }
    }
}

/// What an error says, but for how much is held just then: that depends on which thread lets go first.
fn without_figures(error: &impl ToString) -> String {
    error
        .to_string()
        .replace(|sign: char| sign.is_ascii_digit(), "")
}

#[test]
fn memory_that_is_enough_for_one_thread_is_enough_for_several() {
    let docs = random_docs(&mut Random(6), &[900, 800, 1_000]);
    let snapshot = snapshot(&docs);
    let query = Query::MatchAll { boost: 1.0 };
    let (mut refused, mut answered) = (0, 0);
    for memory_bytes_max in (1_000..400_000).step_by(7_000) {
        let limits = AggLimits {
            memory_bytes_max,
            ..AggLimits::default()
        };
        let asked = (&query, &[][..], limits);
        match (
            run(&snapshot, asked, None),
            run(&snapshot, asked, Some(&Three)),
        ) {
            (Err(alone), Err(shared)) => {
                assert_eq!(without_figures(&shared), without_figures(&alone));
                refused += 1;
            }
            (Ok(alone), Ok(shared)) => {
                assert_eq!(format!("{shared:?}"), format!("{alone:?}"));
                answered += 1;
            }
            (alone, shared) => panic!("{memory_bytes_max}: {alone:?}, {shared:?}"),
        }
    }
    assert!(refused > 0 && answered > 0);
}

#[test]
fn small_searches_stay_on_their_thread() {
    let docs = random_docs(&mut Random(7), &[900, 40, 3_000, 1_200]);
    let snapshot = snapshot(&docs);
    let asked = |query: &Query| {
        let threads = Asked::default();
        let wish = (query, &[][..], AggLimits::default());
        run(&snapshot, wish, Some(&threads)).unwrap();
        threads.0.into_inner()
    };
    assert!(asked(&Query::MatchAll { boost: 1.0 }));
    assert!(!asked(&Query::term("tags", "Tag3")));
    assert!(!asked(&Query::Bool(Bool {
        must: vec![Query::MatchAll { boost: 1.0 }],
        filter: vec![Query::term("tags", "Tag3")],
        ..Bool::default()
    })));
}

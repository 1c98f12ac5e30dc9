//! A search whose time is up answers with what it has by then, and says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clew_engine::{Collapse, EngineOptions, InnerHits, SearchRequest, Slice, Within};
use clew_platform::{Clock, SimDisk};
use clew_query::{Query, ScoreFormula, VectorMeasure, VectorScore};

use crate::harness::{Node, index, source, vector};

const DOCUMENTS: u64 = 60;

/// A clock on which a millisecond passes whenever somebody looks at it.
#[derive(Debug, Default)]
struct LookedAt(AtomicU64);

impl Clock for LookedAt {
    fn since_epoch(&self) -> Duration {
        Duration::from_secs(1_790_000_000)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn identity(&self) -> u64 {
        1
    }
}

fn node() -> Node {
    node_of(Arc::default(), DOCUMENTS)
}

fn node_of(clock: Arc<LookedAt>, documents: u64) -> Node {
    let options = EngineOptions {
        search_threads: 1,
        ..EngineOptions::new("/data")
    };
    let node = Node::open_at(&SimDisk::new(), options, clock).unwrap();
    node.create_index(1);
    let operations = (0..documents).map(|n| index(&n.to_string(), &source(n)));
    node.write(operations.collect()).unwrap();
    node.refresh();
    node
}

/// Checks that somebody looks at the clock again and again while all documents are gone through.
fn check_looks(request: impl Fn(&Node) -> SearchRequest) {
    let looks = |documents: u64| {
        let clock = Arc::new(LookedAt::default());
        let node = node_of(clock.clone(), documents);
        let request = SearchRequest {
            timeout: Some(Duration::from_secs(3_600)),
            ..request(&node)
        };
        let before = clock.0.load(Ordering::Relaxed);
        assert_eq!(node.run(request).unwrap().hits.len(), 1);
        clock.0.load(Ordering::Relaxed) - before
    };
    let (few, many) = (looks(10), looks(1_000));
    assert!(many > few + 15, "{few} {many}");
}

#[test]
fn parts_of_a_search_are_found_for_as_long_as_there_is_time() {
    check_looks(|node| {
        let mut request = node.search_request(Query::match_all(), 1);
        request.control.slice = Some(Slice { id: 0, max: 2 });
        request
    });
}

#[test]
fn vectors_are_measured_for_as_long_as_there_is_time() {
    check_looks(|node| {
        let query = Query::VectorScore(Box::new(VectorScore {
            query: Box::new(Query::match_all()),
            field: "v".to_string(),
            vector: vector(1),
            measure: VectorMeasure::L2Squared,
            formula: ScoreFormula::Inverse(1.0),
            min_score: None,
            boost: 1.0,
        }));
        node.search_request(query, 1)
    });
}

/// Searches with more and more time, until all was answered in it; how often something was missing of what was found.
fn with_more_and_more_time(
    node: &Node,
    request: impl Fn() -> SearchRequest,
    is_part: impl Fn(&[Found]) -> bool,
) -> usize {
    let whole = found(node, request()).0;
    let mut parts = 0;
    for milliseconds in 0.. {
        let in_time = SearchRequest {
            timeout: Some(Duration::from_millis(milliseconds)),
            ..request()
        };
        let (some, is_late) = found(node, in_time);
        if !is_late {
            assert_eq!(some, whole);
            break;
        }
        parts += usize::from(is_part(&some));
        let known = |one: &Found| whole.iter().any(|all| all.0 == one.0 && one.1 <= all.1);
        assert!(some.iter().all(known), "{some:?}");
    }
    parts
}

/// A hit's id, and how many hits it has inside.
type Found = (String, usize);

fn found(node: &Node, request: SearchRequest) -> (Vec<Found>, bool) {
    let answer = node.run(request).unwrap();
    let hits = answer.hits.into_iter().map(|hit| {
        let inside: usize = hit.inner.iter().map(|inner| inner.hits.len()).sum();
        (hit.id, inside)
    });
    (hits.collect(), answer.timed_out)
}

#[test]
fn hits_are_read_for_as_long_as_there_is_time() {
    let node = node();
    let request = || node.search_request(Query::match_all(), DOCUMENTS as usize);
    let is_part = |some: &[Found]| (1..DOCUMENTS as usize).contains(&some.len());
    assert!(with_more_and_more_time(&node, request, is_part) > 0);
}

#[test]
fn groups_are_looked_into_for_as_long_as_there_is_time() {
    let node = node();
    let request = || {
        let mut request = node.search_request(Query::match_all(), 5);
        request.control.collapse = Some(Collapse {
            field: "tag".to_string(),
            inner: vec![InnerHits {
                within: Within::Group { collapse: None },
                query: Query::match_all(),
                ignore_unmapped: false,
                from: 0,
                size: 3,
                sort: vec![],
                source: true,
                explain: false,
                inner: vec![],
            }],
        });
        request
    };
    let groups = found(&node, request()).0.len();
    let is_part = |some: &[Found]| some.len() == groups && some.iter().any(|hit| hit.1 == 0);
    assert!(with_more_and_more_time(&node, request, is_part) > 0);
}

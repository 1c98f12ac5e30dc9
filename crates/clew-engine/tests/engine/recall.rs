//! Recall measured by the engine on its own vectors.

use std::pin::pin;
use std::task::Poll;

use clew_engine::{EngineError, ErrorKind, RecallEffort, RecallReport, RecallRequest};
use clew_platform::SimDisk;

use crate::harness::{Node, delete, source};

fn request(sample: usize) -> RecallRequest {
    RecallRequest {
        field: "v".to_string(),
        k: 5,
        effort: RecallEffort::Index,
        sample,
        seed: 7,
    }
}

/// Makes a request wrong.
type Change<'a> = &'a dyn Fn(&mut RecallRequest);

fn measure(node: &Node, request: &RecallRequest) -> Result<RecallReport, EngineError> {
    let index = node.index();
    node.block_on(node.engine.measure_recall(&index, request))
}

/// So many documents in several segments of two shards, every fourth of them deleted.
fn node(count: u64) -> Node {
    let node = Node::with_index(&SimDisk::new(), 2);
    for n in 0..count {
        node.put(&n.to_string(), &source(n));
        if n % 13 == 12 {
            node.refresh();
        }
    }
    for n in (0..count).step_by(4) {
        node.write_one(delete(&n.to_string())).unwrap();
    }
    node.refresh();
    node
}

#[test]
fn columns_that_are_scanned_have_perfect_recall_over_living_vectors() {
    let node = node(120);
    let report = measure(&node, &request(1_000)).unwrap();
    assert_eq!(report.effort, RecallEffort::Ef(100));
    let [first, second] = &report.shards[..] else {
        panic!("two shards: {report:?}");
    };
    assert_eq!((first.shard, second.shard), (0, 1));
    assert_eq!(
        (report.all.vectors, report.all.recall.query_count),
        (90, 90)
    );
    assert_eq!(first.figures.vectors + second.figures.vectors, 90);
    // Scans of the shard and of no other; dead vectors may be measured on the way.
    let scanned = first.figures.exact.distances + second.figures.exact.distances;
    assert!((90.0..=120.0).contains(&scanned), "{scanned}");
    for shard in &report.shards {
        let figures = shard.figures;
        assert_eq!(figures.recall.mean, 1.0, "{figures:?}");
        assert!(figures.recall.low > 0.8, "{figures:?}");
        assert_eq!(figures.recall.query_count as u64, figures.vectors);
        assert_eq!(figures.search.distances, figures.exact.distances);
    }
    // One segment each, so that no merge comes in between.
    node.engine.force_merge(&node.index(), 1).unwrap();
    let some = measure(&node, &request(20)).unwrap();
    assert_eq!(some.all.recall.query_count, 20);
    assert_eq!(
        some,
        measure(&node, &request(20)).unwrap(),
        "the seed decides"
    );
}

#[test]
fn a_shard_without_neighbours_says_so() {
    let node = Node::with_index(&SimDisk::new(), 1);
    let of_none = measure(&node, &request(10)).unwrap();
    assert_eq!(
        (of_none.all.vectors, of_none.all.recall.query_count),
        (0, 0)
    );
    node.put("1", &source(1));
    node.refresh();
    let of_one = measure(&node, &request(10)).unwrap();
    assert_eq!((of_one.all.vectors, of_one.all.recall.query_count), (1, 0));
}

#[test]
fn requests_out_of_bounds_are_refused() {
    let node = node(10);
    let wrong = |change: Change<'_>| {
        let mut request = request(10);
        change(&mut request);
        let error = measure(&node, &request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.to_string()
    };
    let rows: [(Change<'_>, &str); 8] = [
        (&|r| r.k = 0, "[k] must be from 1 to 9999, found [0]"),
        (
            &|r| r.k = 10_000,
            "[k] must be from 1 to 9999, found [10000]",
        ),
        (
            &|r| r.sample = 0,
            "[sample] must be from 1 to 10000, found [0]",
        ),
        (
            &|r| r.sample = 10_001,
            "[sample] must be from 1 to 10000, found [10001]",
        ),
        (
            &|r| r.effort = RecallEffort::Ef(0),
            "[ef_search] must be greater than 0",
        ),
        (
            &|r| r.effort = RecallEffort::Target(f32::NAN),
            "[target_recall] must be above 0 and no more than 1, found [NaN]",
        ),
        (
            &|r| r.field = "tag".into(),
            "Field 'tag' is not knn_vector type.",
        ),
        (
            &|r| r.field = "nope".into(),
            "Field 'nope' is not knn_vector type.",
        ),
    ];
    for (change, expected) in rows {
        assert_eq!(wrong(change), expected);
    }
}

#[test]
fn one_measurement_runs_at_a_time_and_an_abandoned_one_makes_room() {
    let node = node(200);
    let (index, request) = (node.index(), request(200));
    node.block_on(async {
        let mut first = pin!(node.engine.measure_recall(&index, &request));
        // So many waits need more than one turn of the runtime's budget, so the first is not done.
        std::future::poll_fn(|context| {
            assert!(first.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        let second = node.engine.measure_recall(&index, &request).await;
        assert_eq!(second.unwrap_err().kind(), ErrorKind::Overloaded);
        assert_eq!(first.await.unwrap().all.recall.query_count, 150);
    });
    node.block_on(async {
        let mut abandoned = Box::pin(node.engine.measure_recall(&index, &request));
        std::future::poll_fn(|context| {
            assert!(abandoned.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(abandoned);
        node.engine.measure_recall(&index, &request).await.unwrap();
    });
}

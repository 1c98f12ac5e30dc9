//! Sparse vectors held against plain arithmetic: whatever was written, changed, deleted, merged and restarted before.

mod model;

use std::collections::BTreeMap;

use clew_engine::{Effort, EngineError, NearestRequest};
use clew_platform::SimDisk;
use clew_query::{Query, SparseVector};
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Node, delete, index, json_of};
use model::{Model, Step, Vector, create, entry, product, put, sparse_query, steps, vectors};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_found_is_what_arithmetic_finds(
        shards in 1..3_u32,
        steps in prop::collection::vec(steps(), 1..80),
        probes in prop::collection::vec(vectors(), 1..4),
    ) {
        let mut model = Model::new(shards);
        let half = steps.len() / 2;
        for (at, step) in steps.into_iter().enumerate() {
            model.take(step);
            if at == half {
                model.check_all(&probes[..1]);
            }
        }
        model.check_all(&probes);
        model.check_values();
        model.take(Step::Merge);
        model.take(Step::Restart);
        model.check_all(&probes);
        model.check_values();
    }
}

/// Weights of a long tail, enough rows for several windows.
fn many(rows: u64) -> Model {
    let mut model = Model::new(1);
    let node = model.node.take().unwrap();
    let vector = |n: u64| -> Vector {
        let spread = |i: u64| {
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left((8 * i) as u32)
        };
        let entries = (0..6).map(|i| (spread(i) % (10 * i + 3)) as u32 + 100 * i as u32);
        let entries: BTreeMap<u32, f32> = entries
            .map(|dimension| (dimension, (spread(7) % 64 + 1) as f32 / 32.0))
            .collect();
        entries.into_iter().map(|(d, w)| entry(d, w)).collect()
    };
    let chunk = 1_000;
    for start in (0..rows).step_by(chunk) {
        let ids = start..rows.min(start + chunk as u64);
        let writes = ids.map(|n| put(&node, n, n, Some(&vector(n)))).collect();
        node.write(writes).unwrap();
        node.refresh();
    }
    model.rows = (0..rows).map(|n| (n, (n, Some(vector(n))))).collect();
    model.node = Some(node);
    model
}

#[test]
fn segments_that_have_nothing_better_are_left_out_and_ties_stay_in_order() {
    let mut model = many(9_000);
    let probes: Vec<Vector> = vec![
        vec![entry(0, 1.0), entry(101, 0.5), entry(205, 2.0)],
        vec![entry(1, 1.0)],
        vec![],
        vec![entry(77_777, 1.0)],
    ];
    model.check_all(&probes);
    for id in (0..9_000).step_by(3) {
        model.rows.remove(&id);
    }
    let deletes = (0..9_000).step_by(3).map(|id: u64| delete(&id.to_string()));
    model.node().write(deletes.collect()).unwrap();
    model.check_all(&probes[..2]);
    model.take(Step::Merge);
    model.check_all(&probes);
    let stats = model.node().index().stats();
    assert_eq!((stats.segments, stats.sparse_vectors), (1, 6_000));
}

#[test]
fn dropped_weights_are_not_looked_for_but_count() {
    let model = many(2_000);
    let probe = vec![entry(0, 1.0), entry(101, 0.01), entry(205, 2.0)];
    let dropping = NearestRequest {
        effort: Effort {
            drop_ratio: 0.4,
            ..Effort::default()
        },
        ..model.request(vec![probe.clone()])
    };
    for hit in model.nearest(&dropping).remove(0) {
        let row = &model.rows[&hit.id.parse::<u64>().unwrap()];
        assert_eq!(-hit.distance, product(&probe, row.1.as_ref().unwrap()));
    }
    let only = vec![entry(101, 0.01), entry(900_000, 5.0)];
    let dropping = NearestRequest {
        effort: Effort {
            drop_ratio: 0.5,
            ..Effort::default()
        },
        ..model.request(vec![only])
    };
    assert_eq!(model.nearest(&dropping), [vec![]]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let model = many(10);
    let node = model.node();
    let good = vec![entry(1, 1.0)];
    let wrong = [
        model.request(vec![vec![entry(1, -1.0)]]),
        model.request(vec![vec![entry(1, f32::NAN)]]),
        model.request(vec![vec![entry(2, 1.0), entry(1, 1.0)]]),
        NearestRequest {
            field: "tag".to_string(),
            ..model.request(vec![good.clone()])
        },
        NearestRequest {
            probes: vec![vec![1.0_f32]].into(),
            ..model.request(vec![good.clone()])
        },
        NearestRequest {
            effort: Effort {
                drop_ratio: 1.0,
                ..Effort::default()
            },
            ..model.request(vec![good.clone()])
        },
    ];
    for asked in wrong {
        let refused = node.block_on(node.engine.nearest(asked)).unwrap_err();
        assert!(
            matches!(
                refused,
                EngineError::InvalidRequest { .. } | EngineError::Query(_)
            ),
            "{refused:?}"
        );
    }
    let unmapped = NearestRequest {
        field: "nothing".to_string(),
        ..model.request(vec![good])
    };
    assert_eq!(model.nearest(&unmapped), [vec![]]);
    for wrong in [json!([1]), json!({"x": 1}), json!({"1": -1}), json!("a")] {
        let refused = node.write_one(index("new", &json!({"s": wrong})));
        let refused = refused.unwrap_err();
        assert!(matches!(refused, EngineError::Document { .. }), "{refused}");
    }
    let text = Query::SparseVector(SparseVector {
        field: "s".to_string(),
        tokens: vec![("word".to_string(), 1.0)],
        boost: 1.0,
    });
    let refused = node.run(node.search_request(text, 1)).unwrap_err();
    assert!(refused.to_string().contains("[word]"), "{refused}");
}

#[test]
fn nested_objects_have_sparse_vectors_of_their_own() {
    let disk = SimDisk::new();
    let node = create(&disk, 1);
    let parts = json!([{"s": {"1": 0.5}}, {"s": {"1": 2.0, "3": 1.0}}]);
    node.put("a", &json!({"n": 1, "parts": parts}));
    node.put("b", &json!({"n": 2, "parts": {"s": {"3": 4.0}}}));
    node.put("c", &json!({"n": 3, "s": {"1": 9.0}}));
    node.refresh();
    node.engine.force_merge(&node.index(), 1).unwrap();
    let check = |node: &Node| {
        let nested = Query::Nested(clew_query::NestedQuery {
            path: "parts".into(),
            query: Box::new(sparse_query("parts.s", &[entry(1, 1.0), entry(3, 1.0)])),
            score: clew_query::JoinScore::Max,
            ignore_unmapped: false,
            boost: 1.0,
        });
        let hits = node.hits(nested, 10);
        let found: Vec<(&str, f32)> = hits
            .iter()
            .map(|hit| (hit.id.as_str(), hit.score.unwrap()))
            .collect();
        assert_eq!(found, [("b", 8.0), ("a", 6.0)]);
        assert_eq!(json_of(&node.get("a").unwrap())["parts"], parts);
    };
    check(&node);
    drop(node);
    check(&Node::open(&disk).unwrap());
}

//! k-NN through shards and segments: graphs appear by merging, filters and deletes hold.

use std::collections::BTreeSet;

use clew_engine::{
    EngineOptions, IndexSettings, ProfileDetail, RecallEffort, RecallFigures, RecallRequest,
    SearchRequest, Strategy, WriteOperation,
};
use clew_platform::{Disk, MemoryLimits, SimDisk};
use clew_query::Query;
use serde_json::json;

use crate::disk_faults::segment_file;
use crate::harness::{Node, everything, index, knn};

const DIMENSION: usize = 64;
const COUNT: usize = 12_000;

fn points() -> Vec<Vec<f32>> {
    clustered(42, (COUNT, DIMENSION), 40)
}

/// So many points of so many numbers around some centres, in turn, from a small seeded generator.
fn clustered(seed: u64, (rows, numbers): (usize, usize), clusters: usize) -> Vec<Vec<f32>> {
    let mut state = seed;
    let mut unit = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let centres: Vec<Vec<f32>> = (0..clusters)
        .map(|_| (0..numbers).map(|_| unit() * 4.0).collect())
        .collect();
    (0..rows)
        .map(|i| centres[i % clusters].iter().map(|x| x + unit()).collect())
        .collect()
}

fn nearest(points: &[Vec<f32>], query: &[f32], keep: impl Fn(usize) -> bool) -> BTreeSet<String> {
    let distance = |p: &[f32]| -> f32 { p.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum() };
    let mut all: Vec<(f32, usize)> = points
        .iter()
        .enumerate()
        .filter(|(i, _)| keep(*i))
        .map(|(i, p)| (distance(p), i))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all[..10].iter().map(|(_, i)| i.to_string()).collect()
}

fn recall(node: &Node, points: &[Vec<f32>], filter: Option<u64>) -> f64 {
    let mut found = 0;
    for q in 0..50 {
        let query = &points[q * 37];
        let clause = filter.map(|tag| Query::term("tag", json!(tag.to_string())));
        let hits = node.hits(knn(query.clone(), 10, clause), 10);
        let got: BTreeSet<String> = hits.into_iter().map(|hit| hit.id).collect();
        let want = nearest(points, query, |i| {
            i % 7 != 3 && filter.is_none_or(|tag| i as u64 % 10 == tag)
        });
        found += got.intersection(&want).count();
    }
    found as f64 / 500.0
}

/// What the engine measures of itself: more effort finds more, at the price that it says.
fn check_measured(node: &Node) {
    let measure = |effort: RecallEffort| -> RecallFigures {
        let request = RecallRequest {
            field: "v".to_string(),
            k: 10,
            effort,
            sample: 100,
            seed: 3,
        };
        let index = node.index();
        let report = node.block_on(node.engine.measure_recall(&index, &request));
        report.unwrap().all
    };
    let living = (0..COUNT).filter(|i| i % 7 != 3).count();
    let little = measure(RecallEffort::Ef(1));
    let much = measure(RecallEffort::Ef(40));
    for figures in [little, much] {
        assert_eq!(
            (figures.vectors, figures.recall.query_count),
            (living as u64, 100)
        );
        let scanned = living as f64..=COUNT as f64;
        assert!(scanned.contains(&figures.exact.distances), "{figures:?}");
    }
    assert!(
        much.recall.mean >= 0.95 && much.recall.low >= 0.9,
        "{much:?}"
    );
    assert!(little.recall.mean < much.recall.mean, "{little:?}");
    let of_scan = |figures: &RecallFigures| figures.search.distances / figures.exact.distances;
    assert!(
        of_scan(&little) < of_scan(&much) && of_scan(&much) < 0.5,
        "{much:?}"
    );
    let aimed = measure(RecallEffort::Target(0.9));
    assert!(
        aimed.recall.high >= 0.9 && of_scan(&aimed) < 0.5,
        "{aimed:?}"
    );
    let everything = measure(RecallEffort::Target(1.0));
    assert_eq!((everything.recall.mean, of_scan(&everything)), (1.0, 1.0));
}

/// Flips a bit of a link of the graph, which lies behind the header of the first column.
fn damage_a_link(disk: &SimDisk, uuid: &str) {
    let file = segment_file(disk, uuid, ".vec");
    let mut byte = [0];
    let mut handle = disk.open(&file).unwrap();
    handle.read_exact_at(&mut byte, 4_000).unwrap();
    handle.write_all_at(&[byte[0] ^ 1], 4_000).unwrap();
}

#[test]
fn graphs_are_built_by_merges_and_keep_recall_under_deletes_and_filters() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "tag": {"type": "keyword"},
        "v": {"type": "knn_vector", "dimension": DIMENSION, "space_type": "l2"},
    }}));
    let settings = IndexSettings {
        ef_search: 64,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping)
        .unwrap();
    let points = points();
    for (at, chunk) in points.chunks(1000).enumerate() {
        let operations = chunk.iter().enumerate().map(|(i, point)| {
            let id = at * 1000 + i;
            index(
                &id.to_string(),
                &json!({"tag": (id % 10).to_string(), "v": point}),
            )
        });
        assert!(
            node.write(operations.collect())
                .unwrap()
                .iter()
                .all(Result::is_ok)
        );
    }
    node.engine.force_merge(&node.index(), 1).unwrap();
    let stats = node.index().stats();
    assert_eq!(
        (stats.segments, stats.structured_vectors),
        (1, COUNT as u64)
    );
    // Deletes that no merge has taken out yet.
    let gone = (0..COUNT)
        .filter(|i| i % 7 == 3)
        .map(|i| crate::harness::delete(&i.to_string()));
    node.write(gone.collect()).unwrap();
    node.refresh();
    for filter in [None, Some(4)] {
        let recall = recall(&node, &points, filter);
        assert!(recall >= 0.95, "recall {recall} with filter {filter:?}");
    }
    check_measured(&node);
    node.engine.flush(&node.index()).unwrap();
    let uuid = node.index().uuid().to_string();
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert!(recall(&node, &points, None) >= 0.95, "after a restart");
    drop(node);

    damage_a_link(&disk, &uuid);
    // The upkeep, which would build the graph anew at once, has no memory for it.
    let options = EngineOptions {
        search_threads: 1,
        memory: MemoryLimits {
            merges: 1,
            ..MemoryLimits::none()
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk, options).unwrap();
    assert_eq!(recall(&node, &points, None), 1.0, "vectors are scanned");
    drop(node);
    let node = Node::open(&disk).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
    let stats = node.index().stats();
    assert!(stats.structured_vectors > 0 && stats.structured_vectors == stats.vectors);
    assert!(recall(&node, &points, None) >= 0.95, "graph built anew");
}

#[test]
fn k_means_the_shards_k_however_documents_lie_in_segments() {
    let node = Node::with_index(&SimDisk::new(), 1);
    for n in 0..30 {
        node.put(&n.to_string(), &crate::harness::source(n));
        if n % 7 == 0 {
            node.refresh();
        }
    }
    node.refresh();
    assert!(node.index().stats().segments > 3);
    let hits = node.hits(knn(crate::harness::vector(11), 5, None), 100);
    assert_eq!(hits.len(), 5);
    assert_eq!(hits[0].id, "11");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn a_profile_tells_of_every_segment_that_was_searched_and_only_when_asked() {
    let node = Node::with_index(&SimDisk::new(), 1);
    for n in 0..30 {
        node.put(&n.to_string(), &crate::harness::source(n));
        if n % 10 == 9 {
            node.refresh();
        }
    }
    let segments = usize::try_from(node.index().stats().segments).unwrap();
    let query = || knn(crate::harness::vector(11), 5, None);
    let silent = node.run(node.search_request(query(), 5)).unwrap();
    assert!(silent.knn.is_empty());
    let asked = SearchRequest {
        profile: ProfileDetail::Everything,
        ..node.search_request(query(), 5)
    };
    let told = node.run(asked).unwrap();
    assert!(silent.shard_profiles.is_empty());
    assert_eq!(told.shard_profiles.len(), 1);
    assert_eq!(told.hits.len(), silent.hits.len());
    let places: Vec<usize> = told.knn.iter().map(|one| one.segment).collect();
    assert_eq!(places, (0..segments).collect::<Vec<usize>>());
    let rows: usize = told.knn.iter().map(|one| one.profile.rows).sum();
    assert_eq!(rows, 30);
    for one in &told.knn {
        assert_eq!((one.hits, one.strategy), (5, Strategy::Exact));
        assert_eq!(one.distances, one.profile.rows as u64);
        assert!(one.profile.bytes_read > 0 && one.profile.prices.scan_ns > 0.0);
    }
}

/// Shards that each have a graph find what one would, whether the nearest lie in all of them or in one.
#[test]
fn the_nearest_of_all_shards_are_found_wherever_they_lie() {
    const SHARDS: u32 = 3;
    const ROWS: usize = 7_500;
    const NUMBERS: usize = 512;
    let points = clustered(7, (ROWS, NUMBERS), 25);
    let queries: Vec<&Vec<f32>> = points.iter().step_by(300).collect();
    let ranked = |query: &Vec<f32>| -> Vec<usize> {
        let distance =
            |p: &[f32]| -> f32 { p.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum() };
        let distances: Vec<f32> = points.iter().map(|point| distance(point)).collect();
        let mut ranked: Vec<usize> = (0..ROWS).collect();
        ranked.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        ranked
    };
    let ranked: Vec<Vec<usize>> = queries.iter().map(|query| ranked(query)).collect();
    for together in [false, true] {
        let node = Node::open(&SimDisk::new()).unwrap();
        let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
            "v": {"type": "knn_vector", "dimension": NUMBERS, "space_type": "l2",
                "method": {"name": "hnsw", "exact_structure": true}},
        }}));
        let settings = IndexSettings {
            shards: SHARDS,
            ..IndexSettings::default()
        };
        node.engine
            .create_index(&everything(), "docs", settings, mapping)
            .unwrap();
        for (at, chunk) in points.chunks(500).enumerate() {
            let operations = chunk.iter().enumerate().map(|(place, point)| {
                let row = at * 500 + place;
                // Those of a cluster in one shard.
                let routing = together.then(|| (row % 25).to_string());
                let source = json!({"v": point});
                WriteOperation {
                    routing,
                    ..index(&row.to_string(), &source)
                }
            });
            let written = node.write(operations.collect()).unwrap();
            assert!(written.iter().all(Result::is_ok));
        }
        node.engine.force_merge(&node.index(), 1).unwrap();
        assert_eq!(node.index().stats().structured_vectors, ROWS as u64);
        for k in [10, 100] {
            let mut found = 0;
            for (query, ranked) in queries.iter().zip(&ranked) {
                let want: BTreeSet<String> = ranked[..k].iter().map(usize::to_string).collect();
                let hits = node.hits(knn(query.to_vec(), k, None), k);
                assert_eq!(hits.len(), k);
                found += hits.iter().filter(|hit| want.contains(&hit.id)).count();
            }
            let recall = found as f64 / (k * 25) as f64;
            assert!(recall >= 0.95, "{recall} of {k}, together: {together}");
        }
    }
}

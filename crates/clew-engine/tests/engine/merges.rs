//! The life of merges: they go on after a power cut, keep within their memory, and end with the node.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clew_engine::{BuildPhase, EngineError, EngineOptions, ErrorKind, Index, IndexSettings};
use clew_platform::{Disk, MemoryLimits, SimDisk};
use serde_json::json;

use crate::harness::{self, Node, delete, everything, index, knn};

const DIMENSION: usize = 64;
/// Enough for a graph: 9,000 x 64 x 4 bytes are more than 2 MiB.
const COUNT: usize = 9_000;
const MIB: usize = 1 << 20;

fn options() -> EngineOptions {
    EngineOptions {
        search_threads: 1,
        merge_threads: 1,
        asked_merge_threads: 1,
        ..EngineOptions::new("/data")
    }
}

fn points() -> Vec<Vec<f32>> {
    let mut state = 42u64;
    let mut unit = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    let centres: Vec<Vec<f32>> = (0..40)
        .map(|_| (0..DIMENSION).map(|_| unit() * 4.0).collect())
        .collect();
    (0..COUNT)
        .map(|i| centres[i % 40].iter().map(|x| x + unit()).collect())
        .collect()
}

/// A node with `points` in so many flushed segments that no upkeep touches yet.
fn filled(disk: &SimDisk, options: EngineOptions, segments: usize) -> Node {
    let node = Node::open_with(disk, options).unwrap();
    let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
        "v": {"type": "knn_vector", "dimension": DIMENSION, "space_type": "l2"},
    }}));
    let settings = IndexSettings {
        ef_search: 64,
        refresh_interval: None,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping)
        .unwrap();
    let points = points();
    for (at, chunk) in points.chunks(COUNT / segments).enumerate() {
        let operations = chunk.iter().enumerate().map(|(i, point)| {
            let id = at * (COUNT / segments) + i;
            index(&id.to_string(), &json!({"v": point}))
        });
        let written = node.write(operations.collect()).unwrap();
        assert!(written.iter().all(Result::is_ok));
        node.engine.flush(&node.index()).unwrap();
    }
    node
}

/// Share of the ten nearest that searches find.
fn recall(node: &Node) -> f64 {
    let (points, mut found) = (points(), 0);
    for query in points.iter().step_by(COUNT / 50).take(50) {
        let distance =
            |p: &[f32]| -> f32 { p.iter().zip(query).map(|(a, b)| (a - b) * (a - b)).sum() };
        let mut all: Vec<(f32, usize)> = points.iter().map(|p| distance(p)).zip(0..).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let hits = node.hits(knn(query.clone(), 10, None), 10);
        let wanted = all[..10].iter().map(|(_, id)| id.to_string());
        found += wanted
            .filter(|id| hits.iter().any(|hit| hit.id == *id))
            .count();
    }
    found as f64 / 500.0
}

fn savepoints(disk: &SimDisk, index: &Index) -> Vec<PathBuf> {
    let dir = Path::new("/data/indices").join(index.uuid()).join("0");
    let mut files = disk.list(&dir).unwrap();
    files.retain(|path| path.to_string_lossy().ends_with(".savepoint"));
    files
}

/// The disk after a power cut in the middle of building a graph.
fn cut_in_the_middle() -> SimDisk {
    let disk = SimDisk::new();
    // Saves after every few rows.
    let options = EngineOptions {
        merge_save_every: Duration::ZERO,
        ..options()
    };
    let node = filled(&disk, options, 1);
    disk.cut_power_after(400);
    node.engine.force_merge(&node.index(), 1).unwrap_err();
    let _ = node.engine.close();
    disk.crashed(1)
}

/// Opens a node and lets its merges end. The upkeep may have begun one before it gave way, and gone on with a graph first.
fn reopened(disk: &SimDisk) -> Node {
    let node = Node::open_with(disk, options()).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
    let stats = node.index().stats();
    assert_eq!(
        (stats.segments, stats.structured_vectors),
        (1, COUNT as u64)
    );
    assert!(savepoints(disk, &node.index()).is_empty());
    node
}

#[test]
fn a_merge_goes_on_after_a_power_cut() {
    let disk = cut_in_the_middle();
    let node = reopened(&disk);
    assert!(node.index().stats().graphs_resumed_total > 0);
    let recall = recall(&node);
    assert!(recall >= 0.95, "{recall}");
}

#[test]
fn a_damaged_savepoint_is_not_used() {
    let disk = cut_in_the_middle();
    let node_dir = disk.list(Path::new("/data/indices")).unwrap();
    let files = disk.list(&node_dir[0].join("0")).unwrap();
    let is_savepoint = |path: &&PathBuf| path.to_string_lossy().ends_with(".savepoint");
    let path = files.iter().find(is_savepoint).unwrap();
    let mut file = disk.open(path).unwrap();
    file.write_all_at(b"damage", 20_000).unwrap();
    drop(file);
    let node = reopened(&disk);
    assert_eq!(node.index().stats().graphs_resumed_total, 0);
    let recall = recall(&node);
    assert!(recall >= 0.95, "{recall}");
}

#[test]
fn a_savepoint_of_segments_that_have_changed_is_not_used() {
    let disk = cut_in_the_middle();
    // Closed before its merges have begun: what is left of it is in the log only.
    let node = Node::open_with(&disk, options()).unwrap();
    node.write(vec![delete("17")]).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
    let stats = node.index().stats();
    assert_eq!(stats.docs, COUNT as u64 - 1);
    assert_eq!(stats.structured_vectors, stats.vectors);
    assert!(savepoints(&disk, &node.index()).is_empty());
    assert!(node.get("17").is_none());
}

#[test]
fn a_graph_that_does_not_fit_is_left_out() {
    let options = EngineOptions {
        memory: MemoryLimits {
            merges: 4 * MIB,
            ..MemoryLimits::none()
        },
        ..options()
    };
    let node = filled(&SimDisk::new(), options, 3);
    node.engine.force_merge(&node.index(), 1).unwrap();
    let stats = node.index().stats();
    assert_eq!((stats.segments, stats.structured_vectors), (1, 0));
    assert_eq!((stats.failed_shards, stats.graphs_refused_total), (0, 1));
    assert!(recall(&node) > 0.999);
    let stats = node.engine.stats();
    assert_eq!(stats.merge_memory_bytes, 0);
    assert_eq!(stats.merge_memory_bytes_max, 4 * MIB as u64);
}

#[test]
fn vectors_that_do_not_fit_stay_in_their_segments() {
    let options = EngineOptions {
        memory: MemoryLimits {
            merges: MIB,
            ..MemoryLimits::none()
        },
        ..options()
    };
    let node = filled(&SimDisk::new(), options, 3);
    let error = node.engine.force_merge(&node.index(), 1).unwrap_err();
    assert!(matches!(error, EngineError::MergeMemory { .. }), "{error}");
    assert_eq!(error.kind(), ErrorKind::Overloaded);
    let stats = node.index().stats();
    assert_eq!((stats.segments, stats.failed_shards), (3, 0));
    assert!(recall(&node) > 0.999);
    node.put("new", &json!({"v": vec![0.5; DIMENSION]}));
}

#[test]
fn a_merge_that_was_asked_for_goes_on_where_the_upkeep_leaves_off() {
    let disk = SimDisk::new();
    let options = EngineOptions {
        merge_save_every: Duration::ZERO,
        ..options()
    };
    let node = filled(&disk, options, 1);
    let (index, engine) = (node.index(), &node.engine);
    let (empty, _) = engine
        .create_index(
            &everything(),
            "empty",
            IndexSettings::default(),
            harness::mapping(),
        )
        .unwrap();
    // The upkeep looks for something to do behind any merge.
    engine.force_merge(&empty, 1).unwrap();
    // Until it has built some of a graph, which takes it long on a busy machine; unless it has ended already.
    while savepoints(&disk, &index).is_empty() && index.stats().structured_vectors == 0 {
        std::thread::yield_now();
    }
    node.put("more", &json!({"v": vec![0.5; DIMENSION]}));
    engine.force_merge(&index, 1).unwrap();
    let stats = index.stats();
    let all = COUNT as u64 + 1;
    assert_eq!((stats.segments, stats.docs), (1, all));
    assert_eq!(stats.structured_vectors, all);
    assert_eq!(engine.stats().merge_memory_bytes, 0);
    let recall = recall(&node);
    assert!(recall >= 0.95, "{recall}");
}

#[test]
fn a_merge_can_be_seen_and_ends_when_the_node_closes() {
    let disk = SimDisk::new();
    let options = EngineOptions {
        merge_save_every: Duration::ZERO,
        ..options()
    };
    let node = filled(&disk, options, 1);
    let (index, engine) = (node.index(), &node.engine);
    // Merging it does nothing but fail once the node closes.
    let (empty, _) = engine
        .create_index(
            &everything(),
            "empty",
            IndexSettings::default(),
            harness::mapping(),
        )
        .unwrap();
    let (stats, phase, memory) = std::thread::scope(|scope| {
        let merge = scope.spawn(|| engine.force_merge(&index, 1));
        // Until something is saved.
        while savepoints(&disk, &index).is_empty() {
            std::thread::yield_now();
        }
        // Holds the merge where it saves next, whatever the speed of this machine.
        disk.stall();
        let phases: Vec<BuildPhase> = index
            .running_merges()
            .iter()
            .map(|merge| merge.vectors.phase)
            .collect();
        let seen = (index.stats(), phases, engine.stats().merge_memory_bytes);
        let close = scope.spawn(|| engine.close());
        while engine.force_merge(&empty, 1).is_ok() {
            std::thread::yield_now();
        }
        disk.resume();
        let error = merge.join().unwrap().unwrap_err();
        assert!(matches!(error, EngineError::MergeCancelled), "{error}");
        close.join().unwrap().unwrap();
        seen
    });
    assert_eq!(
        (stats.merges_running, stats.merge_rows_total),
        (1, COUNT as u64)
    );
    assert_eq!(phase, [BuildPhase::Link]);
    assert!(memory > (COUNT * DIMENSION * 4) as u64);
    let stats = index.stats();
    assert_eq!((stats.merges_running, stats.structured_vectors), (0, 0));
    assert_eq!(engine.stats().merge_memory_bytes, 0);
    // What was saved is there for the next start.
    assert_eq!(savepoints(&disk, &index).len(), 1);
    drop(node);
    assert!(reopened(&disk).index().stats().graphs_resumed_total > 0);
}

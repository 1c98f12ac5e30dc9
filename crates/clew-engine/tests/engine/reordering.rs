//! Merges that put similar documents beside each other: nothing that is found changes but the order of what is equal.

use std::collections::BTreeMap;
use std::path::Path;

use clew_engine::{EngineOptions, IndexSettings, MergeOrder};
use clew_platform::{Disk, MemoryLimits, SimDisk};
use clew_query::{JoinScore, MatchPhrase, NestedQuery, Query};
use clew_schema::Mapping;
use serde_json::{Value, json};

use crate::harness::{Node, delete, everything, index, json_of, update};

const COUNT: u64 = 3_000;
const TOPICS: u64 = 20;

/// A document of a topic, with words of the topic and some that all have.
fn document(n: u64) -> Value {
    let draw = |salt: u64| {
        (n + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(salt as u32 * 7)
            >> 40
    };
    let topic = draw(0) % TOPICS;
    let own: Vec<String> = (1..7)
        .map(|salt| format!("t{topic}w{}", draw(salt) % 12))
        .collect();
    let shared: Vec<String> = (1..4)
        .map(|salt| format!("all{}", draw(salt + 6) % 300))
        .collect();
    let comments: Vec<Value> = (0..draw(5) % 3)
        .map(|at| json!({"author": format!("a{}", (topic + at) % TOPICS), "text": own[1]}))
        .collect();
    json!({
        "text": format!("{} {} {}", own.join(" "), shared.join(" "), own[0]),
        "tag": format!("topic{topic}"),
        "n": n,
        "comments": comments,
    })
}

fn mapping(extra: &Value) -> Mapping {
    let mut properties = json!({
        "n": {"type": "long"},
        "tag": {"type": "keyword"},
        "text": {"type": "text"},
        "comments": {"type": "nested", "properties": {
            "author": {"type": "keyword"}, "text": {"type": "text"},
        }},
    });
    let (all, extra) = (
        properties.as_object_mut().unwrap(),
        extra.as_object().unwrap(),
    );
    all.extend(extra.clone());
    clew_opensearch_mapping::mapping(json!({"properties": properties}))
}

fn open(disk: &SimDisk) -> Node {
    let options = EngineOptions {
        search_threads: 1,
        merge_threads: 2,
        ..EngineOptions::new("/data")
    };
    Node::open_with(disk, options).unwrap()
}

fn filled(disk: &SimDisk, reorder: bool, extra: &Value) -> Node {
    let node = open(disk);
    let settings = IndexSettings {
        refresh_interval: None,
        merge_order: if reorder {
            MergeOrder::Similar
        } else {
            MergeOrder::Stacked
        },
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping(extra))
        .unwrap();
    let all: Vec<u64> = (0..COUNT).collect();
    for part in all.chunks(COUNT as usize / 3) {
        let operations = part.iter().map(|n| index(&n.to_string(), &document(*n)));
        let written = node.write(operations.collect()).unwrap();
        assert!(written.iter().all(Result::is_ok));
        node.refresh();
    }
    // Some are dead before.
    let dead = (0..COUNT).step_by(50).map(|n| delete(&n.to_string()));
    node.write(dead.collect()).unwrap();
    node.refresh();
    node
}

/// Ids and scores of all that a query finds.
fn found(node: &Node, query: Query) -> BTreeMap<String, u32> {
    let hits = node.hits(query, COUNT as usize).into_iter();
    hits.map(|hit| (hit.id, hit.score.unwrap_or_default().to_bits()))
        .collect()
}

fn nested(query: Query) -> Query {
    Query::Nested(NestedQuery {
        path: "comments".into(),
        query: Box::new(query),
        score: JoinScore::Sum,
        ignore_unmapped: false,
        boost: 1.0,
    })
}

fn queries() -> Vec<Query> {
    vec![
        Query::match_all(),
        Query::term("tag", "topic3"),
        Query::term("n", 77),
        Query::matches("text", "t3w1"),
        Query::matches("text", "t3w1 t4w2 all17"),
        Query::MatchPhrase(MatchPhrase::new("text", "t5w3 t5w4")),
        nested(Query::term("comments.author", "a7")),
        nested(Query::matches("comments.text", "t7w5")),
    ]
}

/// How often two documents of different topics are neighbours.
fn changes_of_topic(node: &Node) -> usize {
    let hits = node.hits(Query::match_all(), COUNT as usize);
    let topic = |id: &String| document(id.parse().unwrap())["tag"].clone();
    let topics: Vec<Value> = hits.iter().map(|hit| topic(&hit.id)).collect();
    topics.windows(2).filter(|two| two[0] != two[1]).count()
}

fn files(disk: &SimDisk, node: &Node) -> Vec<String> {
    let dir = Path::new("/data/indices")
        .join(node.index().uuid())
        .join("0");
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    disk.list(&dir).unwrap().iter().map(name).collect()
}

#[test]
fn what_is_found_does_not_change() {
    let (disk, plain_disk) = (SimDisk::new(), SimDisk::new());
    let node = filled(&disk, true, &json!({}));
    let plain = filled(&plain_disk, false, &json!({}));
    for node in [&node, &plain] {
        node.engine.force_merge(&node.index(), 1).unwrap();
    }
    let check = |node: &Node| {
        for query in queries() {
            let wanted = found(&plain, query.clone());
            assert!(!wanted.is_empty(), "{query:?}");
            assert_eq!(found(node, query.clone()), wanted, "{query:?}");
        }
    };
    check(&node);
    // One segment of as many files as the other, which is smaller.
    assert_eq!(files(&disk, &node).len(), files(&plain_disk, &plain).len());
    let (stats, plain_stats) = (node.index().stats(), plain.index().stats());
    assert_eq!((stats.segments, stats.docs), (1, plain_stats.docs));
    let (apart, plain_apart) = (changes_of_topic(&node), changes_of_topic(&plain));
    assert!(
        apart * 4 < plain_apart,
        "{apart} changes, {plain_apart} as they came"
    );
    for node in [&node, &plain] {
        for n in (1..COUNT).step_by(7) {
            let got = node.get(&n.to_string());
            assert_eq!(
                got.map(|got| json_of(&got)),
                (n % 50 != 0).then(|| document(n)),
                "{n}"
            );
        }
        node.write_one(update("31", &json!({"tag": "topic3"})))
            .unwrap();
        node.write_one(delete("32")).unwrap();
        node.refresh();
    }
    check(&node);
    drop(node);
    check(&open(&disk));
}

#[test]
fn documents_that_die_meanwhile_stay_dead() {
    // This thread may be kept waiting for as long as a whole merge takes.
    assert!(
        (0..20).any(|_| die_meanwhile() > 0),
        "no document died while a merge ran"
    );
}

/// Lets documents die beside a merge, and looks whether they stay dead; how many died while it ran.
fn die_meanwhile() -> usize {
    let disk = SimDisk::new();
    let node = filled(&disk, true, &json!({}));
    let (index, engine) = (node.index(), &node.engine);
    let mut gone: Vec<u64> = (0..COUNT).step_by(50).collect();
    let mut meanwhile = 0;
    std::thread::scope(|scope| {
        let merge = scope.spawn(|| engine.force_merge(&index, 1));
        let mut next = (0..COUNT).filter(|n| n % 50 == 1 || n % 50 == 30);
        while !merge.is_finished() {
            if index.running_merges().is_empty() {
                std::thread::yield_now();
                continue;
            }
            let Some(n) = next.next() else { break };
            node.write_one(delete(&n.to_string())).unwrap();
            gone.push(n);
            meanwhile += usize::from(!index.running_merges().is_empty());
        }
        merge.join().unwrap().unwrap();
    });
    node.refresh();
    let check = |node: &Node| {
        let found = node.ids(Query::match_all());
        let mut wanted: Vec<String> = (0..COUNT)
            .filter(|n| !gone.contains(n))
            .map(|n| n.to_string())
            .collect();
        wanted.sort();
        assert_eq!(found, wanted);
        for n in gone.iter().step_by(5) {
            assert!(node.get(&n.to_string()).is_none(), "{n}");
        }
    };
    check(&node);
    assert_eq!(node.index().stats().segments, 1);
    drop(node);
    check(&open(&disk));
    meanwhile
}

#[test]
fn a_segment_with_vectors_keeps_its_order() {
    let disk = SimDisk::new();
    let field = json!({"v": {"type": "knn_vector", "dimension": 2, "space_type": "l2"}});
    let node = filled(&disk, true, &field);
    let vector = json!({"v": [0.5, 0.25]});
    node.write_one(update("31", &vector)).unwrap();
    node.refresh();
    let (apart, before) = (changes_of_topic(&node), node.ids(Query::match_all()));
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_eq!(node.index().stats().vectors, 1);
    assert_eq!(node.ids(Query::match_all()), before);
    assert!(changes_of_topic(&node) > apart / 2);
}

#[test]
fn without_memory_the_order_stays() {
    let disk = SimDisk::new();
    drop(filled(&disk, true, &json!({})));
    let options = EngineOptions {
        search_threads: 1,
        memory: MemoryLimits {
            merges: 100_000,
            ..MemoryLimits::none()
        },
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(&disk, options).unwrap();
    let apart = changes_of_topic(&node);
    node.engine.force_merge(&node.index(), 1).unwrap();
    assert_eq!(
        (
            node.index().stats().segments,
            node.index().stats().failed_shards
        ),
        (1, 0)
    );
    assert!(changes_of_topic(&node) > apart / 2);
    assert_eq!(node.engine.stats().merge_memory_bytes, 0);
}

#[test]
fn a_merge_that_fails_leaves_the_segments_as_they_are() {
    for operations in [60, 120, 150, 180, 210] {
        let disk = SimDisk::new();
        let node = filled(&disk, true, &json!({}));
        node.engine.flush(&node.index()).unwrap();
        let wanted = node.ids(Query::match_all());
        disk.cut_power_after(operations);
        let merged = node.engine.force_merge(&node.index(), 1);
        let _ = node.engine.close();
        drop(node);
        let disk = disk.crashed(operations);
        let node = open(&disk);
        assert_eq!(
            node.ids(Query::match_all()),
            wanted,
            "{operations}: {merged:?}"
        );
        node.engine.force_merge(&node.index(), 1).unwrap();
        node.put("new", &json!({"text": "t1w1"}));
        node.engine.flush(&node.index()).unwrap();
        let ids: std::collections::BTreeSet<String> = files(&disk, &node)
            .iter()
            .filter(|name| name.ends_with(".rows"))
            .cloned()
            .collect();
        assert_eq!(
            ids.len() as u64,
            node.index().stats().segments,
            "{operations}: {ids:?}"
        );
    }
}

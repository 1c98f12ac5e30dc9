//! Power cuts at arbitrary moments: what was acknowledged is there, exactly once, in its version.

use std::collections::{BTreeMap, BTreeSet};

use clew_engine::{EngineOptions, WriteOperation};
use clew_platform::SimDisk;
use clew_text::Query;
use serde_json::{Value, json};

use crate::harness::*;

const IDS: u64 = 12;

/// A document's state: its version and number, or that it is not there.
type State = Option<(u64, u64)>;

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What must hold after a crash: for each id the acknowledged state, or one of those that were
/// under way.
#[derive(Default)]
struct Expected {
    acknowledged: BTreeMap<u64, State>,
    under_way: BTreeMap<u64, Vec<State>>,
}

fn number_of(source: &Value) -> u64 {
    source["n"].as_u64().unwrap()
}

/// Does random things until the power fails; what it acknowledged and what it did not.
fn run_until_power_fails(disk: &SimDisk, seed: u64) -> Expected {
    let mut random = Random(seed);
    let mut expected = Expected::default();
    let options = EngineOptions {
        search_threads: 1,
        write_buffer_bytes: 200_000,
        log_bytes_max: 100_000,
        ..EngineOptions::new("/data")
    };
    let node = Node::open_with(disk, options).unwrap();
    let settings = clew_engine::IndexSettings {
        shards: 2,
        ..Default::default()
    };
    node.engine
        .create_index("docs", settings, mapping())
        .unwrap();
    disk.cut_power_after(random.below(500) + 1);
    for step in 1..400 {
        let done = match random.below(12) {
            0 => node.engine.refresh(&node.index()).is_ok(),
            1 => node.engine.flush(&node.index()).is_ok(),
            2 => node.engine.force_merge(&node.index(), 1).is_ok(),
            _ => write_some(&node, &mut random, step * 100, &mut expected),
        };
        if !done {
            break;
        }
    }
    // The disk is dead: closing reports that and changes nothing.
    let _ = node.engine.close();
    expected
}

fn write_some(node: &Node, random: &mut Random, number: u64, expected: &mut Expected) -> bool {
    let count = random.below(6) + 1;
    let mut latest = expected.acknowledged.clone();
    let (mut operations, mut states) = (Vec::<WriteOperation>::new(), Vec::new());
    for i in 0..count {
        let (id, n) = (random.below(IDS), number + i);
        let key = id.to_string();
        let version = latest
            .get(&id)
            .copied()
            .flatten()
            .map_or(0, |state| state.0);
        let (operation, state) = match random.below(5) {
            0 => (delete(&key), None),
            1 => {
                // A field that the mapping lacks makes it grow.
                let mut document = source(n);
                document[format!("new{}", n % 7)] = json!(n);
                (index(&key, &document), Some((version + 1, n)))
            }
            2 => {
                let change = json!({"n": n, "text": format!("common word{n}"), "v": vector(n)});
                (update(&key, &change), Some((version + 1, n)))
            }
            _ => (index(&key, &source(n)), Some((version + 1, n))),
        };
        latest.insert(id, state);
        operations.push(operation);
        states.push((id, state));
    }
    for (id, state) in &states {
        expected.under_way.entry(*id).or_default().push(*state);
    }
    let acknowledged =
        matches!(node.write(operations), Ok(results) if results.iter().all(Result::is_ok));
    if acknowledged {
        expected.acknowledged = latest;
        expected.under_way.clear();
    }
    acknowledged
}

/// A deleted document starts again with a version above its tombstone's, which a restart forgets:
/// only numbers are compared for documents that were deleted once, versions otherwise.
fn agrees(found: State, want: State) -> bool {
    match (found, want) {
        (Some(found), Some(want)) => found.1 == want.1 && found.0 >= want.0,
        (found, want) => found == want,
    }
}

fn check(node: &Node, expected: &Expected, seed: u64) {
    node.refresh();
    let mut living = BTreeSet::new();
    for id in 0..IDS {
        let key = id.to_string();
        let document = node.get(&key);
        let found = document
            .as_ref()
            .map(|d| (d.version, number_of(&json_of(d))));
        let want = expected.acknowledged.get(&id).copied().flatten();
        let under_way = expected.under_way.get(&id);
        let fits = agrees(found, want)
            || under_way.is_some_and(|states| states.iter().any(|state| agrees(found, *state)));
        assert!(
            fits,
            "seed {seed}, id {id}: found {found:?}, want {want:?} or {under_way:?}"
        );
        let Some((_, n)) = found else { continue };
        living.insert(key.clone());
        let document = json_of(&document.unwrap());
        assert_eq!(document["v"], json!(vector(n)), "seed {seed}, id {id}");
        assert_eq!(
            node.ids(Query::matches("text", format!("word{n}"))),
            [&key[..]],
            "seed {seed}"
        );
        let nearest = node.hits(knn(vector(n), 1, None), 1);
        assert_eq!(
            (&nearest[0].id, nearest[0].score),
            (&key, Some(1.0)),
            "seed {seed}"
        );
    }
    let all = node.ids(Query::match_all());
    assert_eq!(
        all.len(),
        living.len(),
        "seed {seed}: {all:?} against {living:?}"
    );
    assert_eq!(
        all.into_iter().collect::<BTreeSet<_>>(),
        living,
        "seed {seed}"
    );
}

#[test]
fn everything_acknowledged_survives_a_power_cut_at_any_moment() {
    for seed in 0..60 {
        let disk = SimDisk::new();
        let expected = run_until_power_fails(&disk, seed);
        let disk = disk.crashed(seed);
        let node = Node::open(&disk).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if node.engine.index("docs").is_ok() {
            check(&node, &expected, seed);
        }
        // It goes on from there, through another crash without a clean end.
        node.put("after", &source(1_000_000));
        let again = Node::open(&disk.crashed(seed + 1)).unwrap();
        assert_eq!(
            json_of(&again.get("after").unwrap()),
            source(1_000_000),
            "seed {seed}"
        );
        check_rest(&again, &expected, seed);
    }
}

fn check_rest(node: &Node, expected: &Expected, seed: u64) {
    node.write_one(delete("after")).unwrap();
    check(node, expected, seed);
}

#[test]
fn a_flush_never_covers_what_the_log_could_still_lose() {
    for seed in 0..20 {
        let disk = SimDisk::new();
        let node = Node::open(&disk).unwrap();
        let settings = clew_engine::IndexSettings {
            durability: clew_engine::TranslogDurability::Async,
            refresh_interval: None,
            ..Default::default()
        };
        node.engine
            .create_index("docs", settings, mapping())
            .unwrap();
        for n in 0..10 {
            node.put(&n.to_string(), &source(n));
        }
        node.engine.flush(&node.index()).unwrap();
        let node = Node::open(&disk.crashed(seed)).unwrap();
        assert_eq!(node.ids(Query::match_all()).len(), 10, "seed {seed}");
        let next = node.put("next", &source(11));
        assert_eq!(
            (next.seq_no, node.get("next").unwrap().version),
            (10, 1),
            "seed {seed}"
        );
    }
}

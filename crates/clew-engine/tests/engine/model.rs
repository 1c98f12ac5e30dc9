//! What must hold of an index whatever happened to its disk: for each id the acknowledged state, or one of those that
//! were tried since and not acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use clew_engine::{Engine, IndexSettings, WriteOperation};
use clew_query::{JoinScore, NestedQuery, Query};
use clew_schema::Mapping;
use serde_json::{Value, json};

use crate::harness::*;

const IDS: u64 = 12;

/// A document's version and number; `None` when it is not there.
type State = Option<(u64, u64)>;

/// Numbers that a seed decides.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What the index `docs` must hold.
#[derive(Default)]
pub(crate) struct Expected {
    acknowledged: BTreeMap<u64, State>,
    tried: BTreeMap<u64, Vec<State>>,
}

/// The fields of [`source`], and nested objects.
fn mapping_with_parts() -> Mapping {
    let mut mapping = mapping();
    let parts =
        json!({"properties": {"parts": {"type": "nested", "properties": {"k": {"type": "long"}}}}});
    clew_opensearch_mapping::merge(&mut mapping, &parts).unwrap();
    mapping
}

/// Makes the index `docs`.
pub(crate) fn create(engine: &Engine, shards: u32) {
    let settings = IndexSettings {
        shards,
        ..IndexSettings::default()
    };
    engine
        .create_index(&everything(), "docs", settings, mapping_with_parts())
        .unwrap();
}

/// Of the same number, a document always has the same fields.
fn document(n: u64) -> Value {
    let mut document = source(n);
    document["parts"] = (0..n % 3).map(|part| json!({"k": n * 10 + part})).collect();
    document
}

fn number_of(source: &Value) -> u64 {
    source["n"].as_u64().unwrap()
}

impl Expected {
    /// Writes some documents with numbers from this one on; whether all of it was acknowledged.
    pub(crate) fn write_some(&mut self, node: &Node, random: &mut Random, number: u64) -> bool {
        let count = random.below(6) + 1;
        let (mut operations, mut written) = (Vec::<WriteOperation>::new(), Vec::new());
        for n in number..number + count {
            let id = random.below(IDS);
            let key = id.to_string();
            let (operation, left) = match random.below(5) {
                0 => (delete(&key), None),
                1 => {
                    // A field that the mapping lacks makes it grow.
                    let mut document = document(n);
                    document[format!("new{}", n % 7)] = json!(n);
                    (index(&key, &document), Some(n))
                }
                2 => (update(&key, &document(n)), Some(n)),
                _ => (index(&key, &document(n)), Some(n)),
            };
            operations.push(operation);
            written.push((id, left));
        }
        let results = node.write(operations);
        let mut all = true;
        // The least version that a document can have: what was not acknowledged may be missing, and counts for nothing.
        let mut versions: BTreeMap<u64, u64> = BTreeMap::new();
        for (at, (id, left)) in written.into_iter().enumerate() {
            let acknowledged = results.as_ref().is_ok_and(|results| results[at].is_ok());
            all &= acknowledged;
            let before = self.acknowledged.get(&id).copied().flatten();
            // What was deleted, if only perhaps, begins with its first version again.
            let tried = self.tried.get(&id);
            let before = before.filter(|_| tried.is_none_or(|states| !states.contains(&None)));
            let version = versions
                .entry(id)
                .or_insert(before.map_or(0, |state| state.0));
            let state = left.map(|n| (*version + 1, n));
            if acknowledged || state.is_none() {
                *version = state.map_or(0, |state| state.0);
            }
            if acknowledged {
                self.acknowledged.insert(id, state);
                self.tried.remove(&id);
            } else {
                self.tried.entry(id).or_default().push(state);
            }
        }
        all
    }

    /// Asks for every document in every way.
    pub(crate) fn check(&self, node: &Node, seed: u64) {
        node.refresh();
        let mut living = BTreeSet::new();
        for id in 0..IDS {
            let key = id.to_string();
            let document = node.get(&key);
            let found = document
                .as_ref()
                .map(|d| (d.version, number_of(&json_of(d))));
            let want = self.acknowledged.get(&id).copied().flatten();
            let tried = self.tried.get(&id);
            let fits = agrees(found, want)
                || tried.is_some_and(|states| states.iter().any(|state| agrees(found, *state)));
            assert!(
                fits,
                "seed {seed}, id {id}: found {found:?}, want {want:?} or {tried:?}"
            );
            let Some((_, n)) = found else { continue };
            living.insert(key.clone());
            check_one(node, &key, &json_of(&document.unwrap()), n, seed);
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
}

/// A document is found by its word, its vector and its nested objects, and has what it was written with.
fn check_one(node: &Node, key: &str, found: &Value, n: u64, seed: u64) {
    let place = format!("seed {seed}, id {key}");
    assert_eq!(found["v"], json!(vector(n)), "{place}");
    assert_eq!(found["parts"], document(n)["parts"], "{place}");
    let by_word = node.ids(Query::matches("text", format!("word{n}")));
    assert_eq!(by_word, [key], "{place}");
    let nearest = node.hits(knn(vector(n), 1, None), 1);
    let nearest = (nearest[0].id.as_str(), nearest[0].score);
    assert_eq!(nearest, (key, Some(1.0)), "{place}");
    for part in 0..n % 3 {
        let by_part = node.ids(Query::Nested(NestedQuery {
            path: "parts".into(),
            query: Box::new(Query::term("parts.k", n * 10 + part)),
            score: JoinScore::Sum,
            ignore_unmapped: false,
            boost: 1.0,
        }));
        assert_eq!(by_part, [key], "{place}");
    }
}

/// A deleted document starts again with a version above its tombstone's, which a restart forgets:
/// only numbers are compared for documents that were deleted once, versions otherwise.
fn agrees(found: State, want: State) -> bool {
    match (found, want) {
        (Some(found), Some(want)) => found.1 == want.1 && found.0 >= want.0,
        (found, want) => found == want,
    }
}

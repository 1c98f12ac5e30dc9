//! Files of a shard whose bytes are not those that were written: one bit is another, they are cut, longer, gone, or those
//! of another segment. Every answer is right or an error that names the file; nothing panics, no node fails to start, and
//! no merge makes damage look sound.

use std::path::{Path, PathBuf};

use clew_engine::{EngineError, Freshness, IndexSettings, Purpose, SearchRequest, SearchResponse};
use clew_platform::{Disk, SimDisk};
use clew_query::aggregation::{AggSpec, NamedAgg, Source, TermsSpec};
use clew_query::{
    Bool, JoinScore, MatchPhrase, NestedQuery, Order, Pattern, Query, Range, RegexpSyntax, Rewrite,
    SortKey, SparseVector,
};
use clew_schema::Mapping;
use serde_json::{Value, json};

use crate::harness::*;

pub(crate) const DOCUMENTS: u64 = 900;

fn mapping() -> Mapping {
    clew_opensearch_mapping::mapping(json!({"properties": {
        "n": {"type": "long"},
        "tag": {"type": "keyword"},
        "text": {"type": "text"},
        "v": {"type": "knn_vector", "dimension": DIMENSION, "space_type": "l2"},
        "s": {"type": "sparse_vector"},
        "parts": {"type": "nested", "properties": {"colour": {"type": "keyword"}}},
    }}))
}

/// Of the same length for every number, so that files of segments are as long as each other.
fn document(n: u64) -> Value {
    let word = (n * 7919) % 1000;
    let colour = if n.is_multiple_of(2) { "red" } else { "tan" };
    json!({
        "n": 1000 + n,
        "tag": format!("t{}", n % 5),
        "text": format!("common word{word:04} stands before other{:02} and behind more{:03}", n % 30, n % 200),
        "v": vector(n),
        "s": {(n % 5).to_string(): 0.5, (10 + n % 3).to_string(): (1 + n % 8) as f32 / 4.0},
        "parts": [{"colour": colour}],
    })
}

pub(crate) fn id(n: u64) -> String {
    format!("d{n:05}")
}

/// A shard with a merged segment, two others, and dead documents in all of them.
pub(crate) fn written(shards: u32) -> SimDisk {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    let settings = IndexSettings {
        shards,
        refresh_interval: None,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), "docs", settings, mapping())
        .unwrap();
    let third = DOCUMENTS / 3;
    for n in 0..DOCUMENTS {
        node.put(&id(n), &document(n));
        if n == third / 2 || n == third - 1 || n == 2 * third - 1 {
            node.refresh();
        }
        if n == third {
            node.engine.force_merge(&node.index(), 1).unwrap();
        }
    }
    for n in (0..DOCUMENTS).step_by(97) {
        node.write_one(delete(&id(n))).unwrap();
    }
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    disk
}

/// Shards whose sources are larger than the block in which opening looks at their end.
pub(crate) fn written_large(shards: u32) -> SimDisk {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, shards);
    let mut words = Places(3);
    for n in 0..150 * u64::from(shards) {
        let text: Vec<String> = (0..60)
            .map(|_| format!("{:x}", words.below(1 << 30)))
            .collect();
        node.put(&id(n), &json!({"n": n, "text": text.join(" ")}));
    }
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    disk
}

/// Questions that between them read every file of a segment.
pub(crate) fn questions(node: &Node) -> Vec<Result<String, String>> {
    let mut answers: Vec<Result<String, String>> = Vec::new();
    for n in (0..DOCUMENTS).step_by(61) {
        let found = node
            .engine
            .get(&node.index(), &id(n), None, Freshness::Latest);
        let told = |found: Option<clew_engine::Document>| {
            found.map(|found| {
                let source = String::from_utf8_lossy(&found.source).into_owned();
                (found.id, found.version, found.seq_no, source)
            })
        };
        answers.push(
            found
                .map(|found| format!("{:?}", told(found)))
                .map_err(words_of),
        );
    }
    for query in queries_of_all_kinds() {
        let size = if query == Query::match_all() {
            1000
        } else {
            12
        };
        answers.push(told(node.run(node.search_request(query, size))));
    }
    let common = || Query::matches("text", "common");
    for (field, order) in [("n", Order::Desc), ("tag", Order::Asc), ("_id", Order::Asc)] {
        let request = SearchRequest {
            sort: vec![SortKey::field(field, order)],
            ..node.search_request(common(), 40)
        };
        answers.push(told(node.run(request)));
    }
    let named = |name: &str, spec| NamedAgg {
        name: name.into(),
        spec,
        subs: vec![],
    };
    let request = SearchRequest {
        aggs: vec![
            named("tags", AggSpec::Terms(TermsSpec::of("tag"))),
            named("n", AggSpec::Stats(Source::field("n"))),
        ],
        ..node.search_request(Query::match_all(), 0)
    };
    answers.push(told(node.run(request)));
    answers
}

fn queries_of_all_kinds() -> Vec<Query> {
    let text = |words: &str| Query::matches("text", words);
    let colour = Box::new(Query::term("parts.colour", json!("red")));
    vec![
        text("word0123"),
        text("common other03 more017"),
        Query::MatchPhrase(MatchPhrase::new("text", "stands before")),
        Query::Nested(NestedQuery {
            path: "parts".into(),
            query: colour,
            score: JoinScore::Avg,
            ignore_unmapped: false,
            boost: 1.0,
        }),
        Query::Range(Range {
            gte: Some(json!(1100)),
            lt: Some(json!(1500)),
            ..Range::new("n")
        }),
        Query::Bool(Bool {
            must: vec![text("other07")],
            filter: vec![Query::term("tag", json!("t2"))],
            ..Bool::default()
        }),
        Query::Prefix(Pattern {
            field: "text".into(),
            value: "word01".into(),
            case_insensitive: false,
            syntax: RegexpSyntax::default(),
            states_max: 10_000,
            rewrite: Rewrite::Usual,
            boost: 1.0,
        }),
        knn(vector(5), 7, None),
        Query::SparseVector(SparseVector {
            field: "s".into(),
            tokens: vec![("3".into(), 1.0), ("11".into(), 0.5)],
            boost: 1.0,
        }),
        Query::match_all(),
    ]
}

/// What a search has found, or the failure of a shard.
fn told(answer: Result<SearchResponse, EngineError>) -> Result<String, String> {
    let answer = answer.map_err(words_of)?;
    if let Some(failure) = answer.failures.first() {
        return Err(failure.error.to_string());
    }
    let hits = answer.hits.iter().map(|hit| {
        let source = hit.source.as_ref();
        let source = source.map(|source| String::from_utf8_lossy(source).into_owned());
        (&hit.id, hit.score, hit.version, hit.seq_no, source)
    });
    let hits: Vec<_> = hits.collect();
    Ok(format!("{:?} {hits:?} {:?}", answer.total, answer.aggs))
}

/// An error with what caused it.
fn words_of(error: EngineError) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(one) = cause {
        words = format!("{words}: {one}");
        cause = one.source();
    }
    words
}

pub(crate) fn files(disk: &SimDisk) -> Vec<PathBuf> {
    let indices = disk.list(Path::new("/data/indices")).unwrap();
    let shard = indices[0].join("0");
    disk.list(&shard).unwrap()
}

pub(crate) fn ending(path: &Path) -> &str {
    path.file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .rsplit('.')
        .next()
        .unwrap()
}

/// Puts other bytes in the place of a file's, or takes it away.
pub(crate) fn replace(disk: &SimDisk, path: &Path, bytes: Option<&[u8]>) {
    if disk.exists(path) {
        disk.remove_file(path).unwrap();
    }
    if let Some(bytes) = bytes {
        let mut file = disk.create_new(path).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file.sync_data().unwrap();
    }
    disk.sync_dir(path.parent().unwrap()).unwrap();
}

/// Damages a file, asks everything, and puts the file right again. Whether the damage was noticed.
fn check(
    disk: &SimDisk,
    path: &Path,
    damaged: Option<&[u8]>,
    wanted: &[Result<String, String>],
    what: &str,
) -> bool {
    let whole = disk.read(path).unwrap();
    replace(disk, path, damaged);
    let name = path.file_name().unwrap().to_str().unwrap();
    let what = format!("{name} {what}");
    let node = Node::open(disk).unwrap_or_else(|error| panic!("{what}: no start: {error}"));
    let mut noticed = false;
    for (n, (answer, wanted)) in questions(&node).iter().zip(wanted).enumerate() {
        match answer {
            Ok(_) => assert_eq!(answer, wanted, "{what}, question {n}"),
            Err(words) => {
                assert!(words.contains(name), "{what}, question {n}: {words}");
                noticed = true;
            }
        }
    }
    if noticed {
        // From now on it refuses everything, and says so.
        assert_eq!(node.index().stats().failed_shards, 1, "{what}");
        assert!(questions(&node).iter().all(Result::is_err), "{what}");
        let refused = node.write_one(index("new", &document(1))).unwrap_err();
        assert!(refused.to_string().contains(name), "{what}: {refused}");
    }
    drop(node);
    replace(disk, path, Some(&whole));
    noticed
}

pub(crate) fn sound_answers(disk: &SimDisk) -> Vec<Result<String, String>> {
    let node = Node::open(disk).unwrap();
    let wanted = questions(&node);
    assert!(wanted.iter().all(Result::is_ok), "{wanted:?}");
    wanted
}

/// A small generator: where damage is done must be the same on every run.
struct Places(u64);

impl Places {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[test]
fn one_bit_anywhere_is_an_error_that_names_the_file_or_changes_no_answer() {
    let disk = written(1);
    let wanted = sound_answers(&disk);
    let mut places = Places(11);
    let (mut trials, mut noticed) = (0, 0);
    for path in files(&disk) {
        let bytes = disk.read(&path).unwrap();
        let flips = if ending(&path) == "alive" { 1 } else { 3 };
        for _ in 0..flips {
            let (at, bit) = (places.below(bytes.len()), places.below(8));
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            trials += 1;
            let what = format!("with bit {bit} of byte {at} flipped");
            noticed += u32::from(check(&disk, &path, Some(&damaged), &wanted, &what));
        }
    }
    // Files are small here: nearly every block of them is read by some question.
    assert!(noticed * 10 >= trials * 7, "{noticed} of {trials}");
}

#[test]
fn a_file_that_is_cut_longer_gone_or_another_one_is_named() {
    let disk = written(1);
    let wanted = sound_answers(&disk);
    let all = files(&disk);
    for (n, path) in all.iter().enumerate() {
        if path.to_str().unwrap().contains("manifest-") {
            continue;
        }
        let bytes = disk.read(path).unwrap();
        let longer = [&bytes[..], b"garbage"].concat();
        let cases: [(&str, Option<&[u8]>); 3] = [
            ("cut by one", Some(&bytes[..bytes.len() - 1])),
            ("longer", Some(&longer)),
            ("gone", None),
        ];
        let (what, damaged) = cases[n % cases.len()];
        assert!(
            check(&disk, path, damaged, &wanted, what),
            "{path:?} {what}"
        );
    }
    let mut exchanged = 0;
    for path in &all {
        let bytes = disk.read(path).unwrap();
        let same = |other: &&PathBuf| {
            ending(other) == ending(path)
                && *other != path
                && disk.len(other).unwrap() == bytes.len() as u64
        };
        if let Some(other) = all.iter().find(same) {
            let other = disk.read(other).unwrap();
            if other != bytes {
                exchanged += 1;
                assert!(check(
                    &disk,
                    path,
                    Some(&other),
                    &wanted,
                    "of another segment"
                ));
            }
        }
    }
    assert!(exchanged >= 2, "no files of one length were found");
}

#[test]
fn a_shard_found_damaged_by_a_search_is_left_out_and_the_others_answer() {
    let disk = written_large(2);
    let all = told(Node::open(&disk).unwrap().run_all()).unwrap();
    let sources = files(&disk);
    let path = sources
        .iter()
        .find(|path| ending(path) == "source")
        .unwrap();
    let mut bytes = disk.read(path).unwrap();
    bytes[100] ^= 4;
    replace(&disk, path, Some(&bytes));
    let node = Node::open(&disk).unwrap();
    assert_eq!(
        node.index().stats().failed_shards,
        0,
        "nobody has read it yet"
    );
    let found = node.run_all().unwrap();
    assert_eq!((found.shards.total, found.shards.failed), (2, 1));
    let failure = found.failures[0].error.to_string();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(
        failure.contains(name) && failure.contains("bytes 0 to "),
        "{failure}"
    );
    assert!(!found.hits.is_empty());
    let known = |hit: &clew_engine::Hit| all.contains(&format!("({:?}, ", hit.id));
    assert!(found.hits.iter().all(known));
    assert_eq!(node.index().stats().failed_shards, 1);
}

#[test]
fn a_merge_of_damaged_files_fails_by_name_and_leaves_them() {
    let sound = written(1);
    let mut endings = std::collections::BTreeSet::new();
    for path in files(&sound) {
        let is_first = endings.insert(ending(&path).to_string());
        if !is_first
            || ["alive", "vec"].contains(&ending(&path))
            || path.to_str().unwrap().contains("manifest-")
        {
            continue;
        }
        // A disk for each: a node that opens one may merge by itself.
        let disk = sound.crashed(0);
        let mut bytes = disk.read(&path).unwrap();
        // Not where opening looks.
        let at = bytes.len() / 3;
        bytes[at] ^= 1;
        replace(&disk, &path, Some(&bytes));
        let node = Node::open(&disk).unwrap();
        let error = node.engine.force_merge(&node.index(), 1).unwrap_err();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(error.to_string().contains(name), "{name}: {error}");
        drop(node);
        // Also where the shard could not even be opened, so that nobody knows its segments.
        assert_eq!(disk.read(&path).ok(), Some(bytes), "{name}");
    }
    let node = Node::open(&sound).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
}

#[test]
fn a_shard_whose_folder_cannot_be_had_fails_alone() {
    for what in ["shard", "index"] {
        let disk = SimDisk::new();
        let node = Node::with_index(&disk, 2);
        let settings = IndexSettings::default();
        let made = node
            .engine
            .create_index(&everything(), "other", settings, mapping());
        made.unwrap();
        node.put("a", &source(1));
        let index = Path::new("/data/indices").join(node.index().uuid());
        node.engine.close().unwrap();
        drop(node);
        let (place, failed) = match what {
            "shard" => (index.join("0"), 1),
            _ => (index, 2),
        };
        disk.remove_dir_all(&place).unwrap();
        disk.write_atomic(&place, b"no folder").unwrap();
        for _ in 0..2 {
            let node = Node::open(&disk).unwrap();
            assert_eq!(node.index().stats().failed_shards, failed, "{what}");
            let other = node.opened("other", Purpose::Read).unwrap();
            assert_eq!(other.stats().failed_shards, 0);
            let told = match node.run_all() {
                Ok(found) => found.failures[0].error.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(told.contains(&*place.to_string_lossy()), "{told}");
            assert!(told.contains("not a directory"), "{told}");
            let _ = node.engine.close();
        }
        assert_eq!(disk.read(&place).unwrap(), b"no folder");
    }
}

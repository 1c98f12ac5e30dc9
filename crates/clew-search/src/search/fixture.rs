//! A small shard with several segments and deleted documents, and the documents it was made of,
//! so that tests can compare a search with a loop.

use std::net::Ipv6Addr;
use std::sync::Arc;

use clew_schema::{FieldKind, FloatKind, IntegerKind, Mapping, NewField, VectorMapping};
use clew_vector::{ColumnOptions, HnswOptions, Space};
use tantivy::fastfield::{AliveBitSet, write_alive_bitset};
use tantivy::{Index, ReloadPolicy, SegmentReader, TantivyDocument};
use tantivy_common::{BitSet, OwnedBytes};

use super::{ShardRequest, ShardResult, Threads, search};
use crate::indexing::SegmentBuilder;
use crate::query::VectorAnswers;
use crate::snapshot::Snapshot;

/// A document as the tests know it.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub id: String,
    pub title: Option<Vec<String>>,
    pub body: Vec<String>,
    pub tags: Vec<String>,
    pub count: Option<i64>,
    pub price: Option<f64>,
    pub at: Option<i64>,
    pub flag: Option<bool>,
    pub ip: Option<Ipv6Addr>,
    pub dead: bool,
}

/// A pseudo-random sequence.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
    /// Small numbers are far more frequent.
    pub fn skewed(&mut self, limit: usize) -> usize {
        let once = self.below(limit) + 1;
        self.below(once)
    }
}

type NamedKind = (&'static str, fn() -> FieldKind);

/// Fields and how they are made.
pub const FIELDS: [NamedKind; 9] = [
    ("title", || FieldKind::text("standard")),
    ("body", || FieldKind::text("standard")),
    ("tags", || FieldKind::keyword(None)),
    ("count", || FieldKind::Integer(IntegerKind::Integer)),
    ("price", || FieldKind::Float(FloatKind::Double)),
    ("at", || FieldKind::Date {
        format: "strict_date_optional_time||epoch_millis".into(),
    }),
    ("flag", || FieldKind::Boolean),
    ("ip", || FieldKind::Ip),
    ("vector", || {
        FieldKind::Vector(VectorMapping::new(ColumnOptions {
            hnsw: HnswOptions {
                m: 16,
                ef_construction: 100,
            },
            ..ColumnOptions::new(2, Space::L2)
        }))
    }),
];

pub fn mapping() -> Mapping {
    let mut mapping = Mapping::new();
    mapping
        .add(FIELDS.iter().map(|(path, kind)| NewField {
            path: (*path).to_string(),
            kind: kind(),
            indexed: true,
            multi_field: false,
        }))
        .unwrap();
    mapping
}

/// Random documents, one list per segment; segments differ in the length of their texts.
pub fn random_docs(random: &mut Random, segments: &[usize]) -> Vec<Vec<Doc>> {
    let mut all = Vec::new();
    for (segment, size) in segments.iter().enumerate() {
        let longest = 4 + 9 * segment;
        let mut docs = Vec::new();
        for number in 0..*size {
            let words = |random: &mut Random, most: usize| -> Vec<String> {
                (0..=random.below(most))
                    .map(|_| format!("w{}", random.skewed(40)))
                    .collect()
            };
            let maybe = |random: &mut Random| random.below(3) > 0;
            docs.push(Doc {
                id: format!("{segment}-{number}"),
                title: maybe(random).then(|| words(random, 4)),
                body: words(random, longest),
                tags: (0..random.below(3))
                    .map(|_| format!("Tag{}", random.below(12)))
                    .collect(),
                count: maybe(random).then(|| random.below(40) as i64 - 20),
                price: maybe(random).then(|| random.below(1000) as f64 / 8.0),
                at: maybe(random)
                    .then(|| 1_600_000_000_000 + random.below(1_000) as i64 * 3_600_000),
                flag: maybe(random).then(|| random.below(2) == 0),
                ip: maybe(random).then(|| {
                    std::net::Ipv4Addr::new(10, 0, 0, u8::try_from(random.below(256)).unwrap())
                        .to_ipv6_mapped()
                }),
                dead: random.below(10) == 0,
            });
        }
        all.push(docs);
    }
    all
}

fn document(mapping: &Mapping, doc: &Doc) -> TantivyDocument {
    let field = |path: &str| mapping.field(path).unwrap().field.unwrap();
    let mut out = TantivyDocument::default();
    out.add_text(Mapping::ID, &doc.id);
    if let Some(title) = &doc.title {
        out.add_text(field("title"), title.join(" "));
    }
    out.add_text(field("body"), doc.body.join(" "));
    for tag in &doc.tags {
        out.add_text(field("tags"), tag);
    }
    if let Some(count) = doc.count {
        out.add_i64(field("count"), count);
    }
    if let Some(price) = doc.price {
        out.add_f64(field("price"), price);
    }
    if let Some(at) = doc.at {
        out.add_i64(field("at"), at);
    }
    if let Some(flag) = doc.flag {
        out.add_i64(field("flag"), i64::from(flag));
    }
    if let Some(ip) = doc.ip {
        out.add_ip_addr(field("ip"), ip);
    }
    out
}

fn frozen(alive: &BitSet) -> AliveBitSet {
    let mut bytes = Vec::new();
    write_alive_bitset(alive, &mut bytes).unwrap();
    AliveBitSet::open(OwnedBytes::new(bytes))
}

fn segment(index: &Index, mapping: &Mapping, docs: &[Doc]) -> SegmentReader {
    let segment = index.new_segment();
    let mut writer = SegmentBuilder::new(segment.clone()).unwrap();
    let size = u32::try_from(docs.len()).unwrap();
    let mut alive = BitSet::with_max_value_and_full(size);
    for (number, doc) in (0..).zip(docs) {
        writer.add(&document(mapping, doc)).unwrap();
        if doc.dead {
            alive.remove(number);
        }
    }
    writer.finish().unwrap();
    let segment = segment.with_max_doc(size);
    let dead = docs.iter().any(|doc| doc.dead);
    SegmentReader::open_with_custom_alive_set(&segment, dead.then(|| frozen(&alive))).unwrap()
}

/// A shard of these segments.
pub fn snapshot(segments: &[Vec<Doc>]) -> Snapshot {
    let mapping = mapping();
    let mut index = Index::create_in_ram(mapping.schema().clone());
    index.set_tokenizers(clew_analysis::analyzers());
    index.set_fast_field_tokenizers(clew_analysis::analyzers());
    let readers = segments
        .iter()
        .map(|docs| segment(&index, &mapping, docs))
        .collect();
    let reader: tantivy::IndexReader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()
        .unwrap();
    Snapshot::new(Arc::new(mapping), readers, reader.searcher())
}

/// A shard of random documents and the documents.
pub fn shard(seed: u64) -> (Snapshot, Vec<Vec<Doc>>) {
    let docs = random_docs(&mut Random(seed), &[150, 90, 200, 1, 60]);
    (snapshot(&docs), docs)
}

/// Searches on one thread, and checks that several find the same.
pub fn run(snapshot: &Snapshot, request: ShardRequest<'_>) -> ShardResult {
    let plain = request.visitor.is_none();
    let shared = plain.then(|| ShardRequest {
        threads: Some(&Three),
        ..unseen(&request)
    });
    let alone = search(snapshot, request, &VectorAnswers::default()).unwrap();
    if let Some(shared) = shared {
        assert_eq!(
            search(snapshot, shared, &VectorAnswers::default()).unwrap(),
            alone
        );
    }
    alone
}

/// The same request for hits and totals alone. Written out, because a visitor's lifetime changes only by itself.
fn unseen<'b>(request: &ShardRequest<'b>) -> ShardRequest<'b> {
    ShardRequest {
        query: request.query,
        filter: request.filter,
        post_filter: request.post_filter,
        sort: request.sort,
        collapse: request.collapse,
        track_scores: request.track_scores,
        limit: request.limit,
        track_total: request.track_total,
        search_after: request.search_after,
        min_score: request.min_score,
        only: request.only,
        terminate_after: request.terminate_after,
        doc_base: request.doc_base,
        visitor: None,
        now_ms: request.now_ms,
        threads: request.threads,
        recorder: request.recorder,
    }
}

/// Three threads that are always free, and nothing is too small for them.
pub struct Three;

impl Threads for Three {
    fn run(&self, more: usize, work: &(dyn Fn() + Sync)) {
        std::thread::scope(|scope| {
            for _ in 0..more.min(2) {
                scope.spawn(work);
            }
            work();
        });
    }

    fn worthwhile_docs(&self) -> u64 {
        0
    }
}

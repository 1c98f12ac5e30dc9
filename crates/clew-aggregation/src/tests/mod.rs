//! Aggregations over real segments: several per shard, with deleted documents, several values per
//! document, and columns that some segments lack.

mod carried;
mod cases;
mod ends;
mod limits;
pub(crate) mod model;
mod property;
mod shared;
mod tape;
mod written;

use std::net::Ipv6Addr;

use clew_query::AggError;
use clew_schema::{FieldKind, FloatKind, IntegerKind, Mapping, NewField};
use tantivy::indexer::NoMergePolicy;
use tantivy::{DocId, Index, IndexWriter, SegmentReader, TantivyDocument};

use super::*;
use clew_query::aggregation::*;

/// A document of the tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Doc {
    pub(super) tags: Vec<&'static str>,
    pub(super) codes: Vec<i64>,
    pub(super) prices: Vec<f64>,
    pub(super) flags: Vec<bool>,
    pub(super) times: Vec<i64>,
    pub(super) addresses: Vec<Ipv6Addr>,
    /// Left out by the query, or deleted: the collector is never shown it.
    pub(super) hidden: bool,
}

/// Documents by shard and segment.
pub(super) type Shards = Vec<Vec<Vec<Doc>>>;

pub(super) fn mapping() -> Mapping {
    let field = |path: &str, kind| NewField {
        path: path.to_string(),
        kind,
        indexed: true,
        multi_field: false,
    };
    let format = clew_schema::DATE_FORMAT_DEFAULT.to_string();
    let analyzer = "default".to_string();
    let mut mapping = Mapping::new();
    mapping
        .add([
            field("tag", FieldKind::keyword(None)),
            field("code", FieldKind::Integer(IntegerKind::Long)),
            field("price", FieldKind::Float(FloatKind::Double)),
            field("flag", FieldKind::Boolean),
            field("at", FieldKind::Date { format }),
            field("ip", FieldKind::Ip),
            field("body", FieldKind::text(analyzer)),
        ])
        .unwrap();
    mapping
}

fn to_tantivy(mapping: &Mapping, doc: &Doc) -> TantivyDocument {
    let field = |path: &str| mapping.field(path).unwrap().field.unwrap();
    let mut out = TantivyDocument::default();
    for tag in &doc.tags {
        out.add_text(field("tag"), tag);
    }
    for code in &doc.codes {
        out.add_i64(field("code"), *code);
    }
    for price in &doc.prices {
        out.add_f64(field("price"), *price);
    }
    for flag in &doc.flags {
        out.add_i64(field("flag"), i64::from(*flag));
    }
    for time in &doc.times {
        out.add_i64(field("at"), *time);
    }
    for address in &doc.addresses {
        out.add_ip_addr(field("ip"), *address);
    }
    out
}

/// An index of one segment.
pub(super) fn build_segment<'a>(
    mapping: &Mapping,
    docs: impl IntoIterator<Item = &'a Doc>,
) -> Index {
    let index = Index::create_in_ram(mapping.schema().clone());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for doc in docs {
        writer.add_document(to_tantivy(mapping, doc)).unwrap();
    }
    writer.commit().unwrap();
    index
}

/// What aggregations are planned against where nothing is said but the mapping.
pub(crate) fn context(mapping: &Mapping) -> AggContext<'_> {
    AggContext {
        memory: None,
        index: "test",
        stopwatch: None,
        mapping,
        derived: &[],
        now_ms: 0,
        limits: AggLimits::default(),
        snapshot: None,
        scope: None,
        shard: 0,
        searcher: None,
    }
}

/// Runs aggregations over shards, in blocks of an odd size, and merges.
pub(super) fn try_run(shards: &Shards, specs: &[NamedAgg]) -> Result<Vec<NamedResult>, AggError> {
    try_run_within(shards, specs, AggLimits::default())
}

pub(super) fn try_run_within(
    shards: &Shards,
    specs: &[NamedAgg],
    limits: AggLimits,
) -> Result<Vec<NamedResult>, AggError> {
    let mapping = mapping();
    let context = AggContext {
        limits,
        ..context(&mapping)
    };
    let mut all: Option<(Intermediate, Intermediate)> = None;
    for segments in shards {
        let readers: Vec<SegmentReader> = segments
            .iter()
            .flat_map(|docs| {
                let searcher = build_segment(&mapping, docs).reader().unwrap().searcher();
                searcher.segment_readers().first().cloned()
            })
            .collect();
        let mut collector = AggCollector::new(specs, context)?;
        for (ord, (docs, reader)) in segments.iter().zip(&readers).enumerate() {
            collect(&mut collector, (ord, reader), docs)?;
        }
        let shard = collector.finish()?;
        let forked = forked(specs, context, (segments, &readers))?;
        assert_eq!(format!("{forked:?}"), format!("{shard:?}"));
        let far = shard.carried();
        match &mut all {
            None => all = Some((shard, far)),
            Some((all, carried)) => {
                all.merge(shard)?;
                carried.merge(far)?;
            }
        }
    }
    let (all, carried) = all.expect("there is a shard");
    let results = all.into_result()?;
    // Wherever a shard's results come from, they mean the same.
    let carried = carried.into_result()?;
    assert_eq!(format!("{carried:?}"), format!("{results:?}"));
    Ok(results)
}

fn collect(
    collector: &mut AggCollector,
    (ord, reader): (usize, &SegmentReader),
    docs: &[Doc],
) -> Result<(), AggError> {
    collector.segment(ord, reader)?;
    let visible = (0..).zip(docs).filter(|(_, doc)| !doc.hidden);
    let visible: Vec<DocId> = visible.map(|(id, _)| id).collect();
    visible
        .chunks(7)
        .try_for_each(|block| collector.collect(block))
}

/// The same from two collectors that take turns, the last segment first.
fn forked(
    specs: &[NamedAgg],
    context: AggContext<'_>,
    (segments, readers): (&[Vec<Doc>], &[SegmentReader]),
) -> Result<Intermediate, AggError> {
    let mut collector = AggCollector::new(specs, context)?;
    let mut forks = [collector.fork(), collector.fork()];
    for (ord, (docs, reader)) in segments.iter().zip(readers).enumerate().rev() {
        let own = forks[ord % 2].as_mut().expect("nothing has begun");
        collect(own, (ord, reader), docs)?;
    }
    for mut fork in forks.into_iter().flatten() {
        fork.end()?;
    }
    let order: Vec<usize> = (0..segments.len()).collect();
    collector.join(&order)?;
    collector.finish()
}

pub(super) fn run(shards: &Shards, specs: &[NamedAgg]) -> Vec<NamedResult> {
    try_run(shards, specs).unwrap()
}

pub(super) fn named(name: &str, spec: AggSpec, subs: Vec<NamedAgg>) -> NamedAgg {
    NamedAgg {
        name: name.to_string(),
        spec,
        subs,
    }
}

/// Milliseconds of a date.
pub(crate) fn ms(text: &str) -> i64 {
    clew_schema::DateFormat::default()
        .parse_value(text)
        .unwrap()
}

//! How long a document takes. Run by hand: `cargo test --release -p clew-text speed -- --ignored
//! --nocapture`.

use std::fmt::Write as _;
use std::time::Instant;

use super::*;

const DOCS: u32 = 1_000_000;

fn measure(index: &Index, mapping: &Mapping, spec: &NamedAgg) -> f64 {
    let searcher = index.reader().unwrap().searcher();
    let docs: Vec<DocId> = (0..DOCS).collect();
    let context = AggContext {
        mapping,
        now_ms: 0,
        limits: AggLimits {
            buckets_max: 1 << 20,
            ..AggLimits::default()
        },
    };
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        let mut collector = AggCollector::new(std::slice::from_ref(spec), context).unwrap();
        collector.segment(0, searcher.segment_reader(0)).unwrap();
        for block in docs.chunks(2_048) {
            collector.collect(block).unwrap();
        }
        let results = collector.finish().unwrap().into_result().unwrap();
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(results.len(), 1);
    }
    best * 1e9 / f64::from(DOCS)
}

#[test]
#[ignore = "a measurement, not a check"]
fn nanoseconds_per_document() {
    let mapping = mapping();
    let field = |path: &str| mapping.field(path).unwrap().field.unwrap();
    let mut report = String::new();
    for distinct in [100_u64, 100_000] {
        let index = Index::create_in_ram(mapping.schema().clone());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 600_000_000).unwrap();
        let mut state = 7_u64;
        for _ in 0..DOCS {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let random = state >> 33;
            let mut doc = TantivyDocument::default();
            doc.add_text(field("tag"), format!("host-{:06}", random % distinct));
            let time = 1_700_000_000_000 + (random % 31_536_000) as i64 * 1_000;
            doc.add_i64(field("at"), time);
            doc.add_f64(field("price"), random as f64 / 16.0);
            writer.add_document(doc).unwrap();
        }
        writer.commit().unwrap();
        let day = DateInterval::Calendar(CalendarUnit::Day);
        let in_zone = |zone: Option<&str>, interval| {
            AggSpec::DateHistogram(DateHistogramSpec {
                time_zone: zone.map(str::to_string),
                ..DateHistogramSpec::of("at", interval)
            })
        };
        let avg = || {
            vec![named(
                "avg",
                AggSpec::Avg(Source::field("price")),
                Vec::new(),
            )]
        };
        let rows = [
            (
                "terms",
                named("a", AggSpec::Terms(TermsSpec::of("tag")), vec![]),
            ),
            (
                "terms > avg",
                named("a", AggSpec::Terms(TermsSpec::of("tag")), avg()),
            ),
            ("day", named("a", in_zone(None, day), vec![])),
            (
                "day in Berlin",
                named("a", in_zone(Some("Europe/Berlin"), day), vec![]),
            ),
            (
                "month in Berlin",
                named(
                    "a",
                    in_zone(
                        Some("Europe/Berlin"),
                        DateInterval::Calendar(CalendarUnit::Month),
                    ),
                    vec![],
                ),
            ),
            ("day > avg", named("a", in_zone(None, day), avg())),
            (
                "day > terms",
                named(
                    "a",
                    in_zone(None, day),
                    vec![named("b", AggSpec::Terms(TermsSpec::of("tag")), vec![])],
                ),
            ),
            (
                "stats",
                named("a", AggSpec::Stats(Source::field("price")), vec![]),
            ),
            (
                "cardinality",
                named(
                    "a",
                    AggSpec::Cardinality {
                        source: Source::field("tag"),
                        precision_threshold: 3_000,
                    },
                    vec![],
                ),
            ),
        ];
        for (name, spec) in rows {
            let ns = measure(&index, &mapping, &spec);
            writeln!(report, "{distinct} distinct: {name}: {ns:.2} ns/doc").unwrap();
        }
    }
    std::io::Write::write_all(&mut std::io::stderr(), report.as_bytes()).unwrap();
}

//! What nobody waits for any more is left off, at whichever step of it.

use clew_platform::CancellationToken;
use clew_query::RegexpOptions;
use clew_search::Regexp;

use super::*;
use crate::field::column::ValueColumn;
use crate::field::values::plan_values;
use crate::field::{TermSet, TermSets};
use crate::value::key::Key;
use clew_query::aggregation::*;

const DOCS: u32 = 3_000;
/// The step before the segment is opened.
const BEFORE: usize = usize::MAX - 1;

/// Documents of which each has a code and a tag of its own.
fn different() -> Index {
    let doc = |number: u32| Doc {
        codes: vec![i64::from(number) * 1_000_003],
        tags: vec![&*Box::leak(format!("t{number:05}").into_boxed_str())],
        ..Doc::default()
    };
    build_segment(&mapping(), &(0..DOCS).map(doc).collect::<Vec<_>>())
}

/// Counts documents; from some step on nobody waits for it.
fn given_up(docs: u32, request: &[NamedAgg], steps: usize) -> Result<(), AggError> {
    let mapping = mapping();
    let searcher = different().reader().unwrap().searcher();
    let token = CancellationToken::new();
    let _entered = token.enter();
    let end = |step| {
        if step == steps {
            token.cancel("by user request");
        }
    };
    let mut collector = AggCollector::new(request, context(&mapping))?;
    end(BEFORE);
    collector.segment(0, searcher.segment_reader(0))?;
    end(0);
    collector.collect(&(0..docs).collect::<Vec<_>>())?;
    end(1);
    collector.finish().map(drop)
}

#[test]
fn what_nobody_waits_for_is_not_counted_any_more() {
    let terms = [named(
        "t",
        AggSpec::Terms(TermsSpec::of("code")),
        Vec::new(),
    )];
    let max = |number: u32| {
        let spec = AggSpec::Max(Source::field("code"));
        named(&format!("m{number}"), spec, Vec::new())
    };
    let many: Vec<NamedAgg> = (0..100).map(max).collect();
    let nested = [NamedAgg {
        subs: many.clone(),
        ..named("t", AggSpec::Terms(TermsSpec::of("tag")), Vec::new())
    }];
    let source = |number: u32| CompositeSource {
        name: format!("s{number}"),
        kind: CompositeKind::Terms(Source::field("tag")),
        missing_bucket: false,
        missing_order: MissingOrder::Default,
        direction: Direction::Ascending,
    };
    let composite = [named(
        "c",
        AggSpec::Composite(CompositeSpec {
            sources: (0..900).map(source).collect(),
            size: 10,
            after: None,
        }),
        Vec::new(),
    )];
    for (docs, request, step) in [
        (1, &many[..], BEFORE),
        (DOCS, &terms[..], 0),
        (1, &many[..], 0),
        (1, &many[..], 1),
        (1, &nested[..], 0),
        (1, &composite[..], 1),
    ] {
        let never = usize::MAX;
        given_up(docs, request, never).unwrap();
        let error = given_up(docs, request, step).unwrap_err();
        assert!(matches!(error, AggError::Query(_)), "{error}");
    }
}

#[test]
fn no_term_is_looked_for_that_nobody_waits_for() {
    let mapping = mapping();
    let searcher = different().reader().unwrap().searcher();
    let plan = plan_values(&Source::field("tag"), "terms", &context(&mapping)).unwrap();
    let column = ValueColumn::open(searcher.segment_reader(0), &plan).unwrap();
    let keys = (0..DOCS).map(|number| Key::Str(format!("t{number:05}").into()));
    let admitted = |set: &TermSet| {
        let sets = TermSets {
            include: Some(set.clone()),
            exclude: None,
        };
        let mask = column.mask(&sets).unwrap().unwrap();
        (0..u64::from(DOCS)).filter(|raw| mask.admits(*raw)).count()
    };
    for set in [
        TermSet::Keys(keys.collect()),
        TermSet::Pattern(Regexp::new("t.*", RegexpOptions::default()).unwrap()),
        TermSet::Partition { part: 0, count: 1 },
    ] {
        assert_eq!(admitted(&set), DOCS as usize);
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        let some = admitted(&set);
        assert!(some < DOCS as usize / 2, "{some}");
    }
}

use tantivy::schema::{FAST, Field, Schema};
use tantivy::{Index, IndexWriter, TantivyDocument};

use super::*;
use crate::search::fixture::Random;

impl Random {
    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low).unwrap())).unwrap()
    }
}

/// One segment of so many documents, with the values of each.
fn segment(
    dice: &mut Random,
    (docs, step): (DocId, i64),
    several: bool,
) -> (Index, Field, Vec<Vec<i64>>) {
    let mut schema = Schema::builder();
    let field = schema.add_i64_field("number", FAST);
    let index = Index::create_in_ram(schema.build());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 20_000_000).unwrap();
    let mut values = Vec::new();
    for doc in 0..i64::from(docs) {
        let count: usize = match several {
            // A stretch without values, and one that has several.
            true if doc / 500 % 5 == 1 => 0,
            true if doc / 500 % 5 == 2 => dice.below(3),
            _ => 1,
        };
        let number = |_| doc * step + dice.between(-40, 40);
        let own: Vec<i64> = (0..count).map(number).collect();
        let mut document = TantivyDocument::new();
        for value in &own {
            document.add_i64(field, *value);
        }
        writer.add_document(document).unwrap();
        values.push(own);
    }
    writer.commit().unwrap();
    (index, field, values)
}

fn matching(values: &[Vec<i64>], wanted: &RangeInclusive<i64>) -> Vec<DocId> {
    let docs = (0..).zip(values);
    let matching = docs.filter(|(_, own)| own.iter().any(|value| wanted.contains(value)));
    matching.map(|(doc, _)| doc).collect()
}

/// The scorer is asked as searches do: one after the other, by leaps, and whether this very document matches.
fn check(weight: &dyn Weight, reader: &SegmentReader, expected: &[DocId], dice: &mut Random) {
    let mut scorer = weight.scorer(reader, 1.0).unwrap();
    let mut seen = Vec::new();
    while scorer.doc() != TERMINATED {
        seen.push(scorer.doc());
        scorer.advance();
    }
    assert_eq!(seen, expected);
    let next = |from: DocId| {
        expected
            .iter()
            .copied()
            .find(|doc| *doc >= from)
            .unwrap_or(TERMINATED)
    };
    let (mut leaps, mut asked) = (
        weight.scorer(reader, 1.0).unwrap(),
        weight.scorer(reader, 1.0).unwrap(),
    );
    // Nothing before where it stands may be asked for.
    let (mut target, mut last) = (0, asked.doc());
    while target < reader.max_doc() {
        if leaps.doc() < target {
            assert_eq!(leaps.seek(target), next(target));
        }
        if last <= target {
            match asked.seek_danger(target) {
                SeekDangerResult::Found => {
                    last = asked.doc();
                    assert_eq!((next(target), last), (target, target));
                }
                SeekDangerResult::SeekLowerBound(bound) => {
                    assert!(target < bound && bound <= next(target), "{target} {bound}");
                }
            }
        }
        let most = if dice.below(10) > 0 { 90 } else { 3000 };
        target += DocId::try_from(1 + dice.below(most)).unwrap();
    }
}

#[test]
fn what_the_spans_pass_over_does_not_match_and_what_they_take_does() {
    let seed = 7;
    let mut dice = Random(seed);
    let kinds = [(1, false), (0, false), (3, true), (-2, true)];
    let large = kinds.map(|kind| (3 * RANGE + 700, kind));
    let small = kinds.map(|kind| (1500, kind));
    for (docs, (step, several)) in large.into_iter().chain(small) {
        let (index, field, values) = segment(&mut dice, (docs, step), several);
        let searcher = index.reader().unwrap().searcher();
        let reader = searcher.segment_reader(0);
        let columns = Arc::<Columns>::default();
        let whole = i64::try_from(values.len()).unwrap() * step.abs().max(1);
        for round in 0..40 {
            let low = dice.between(-whole - 50, whole + 50);
            let length = dice.between(0, [60, whole][round % 2]);
            let wanted = match round {
                0 => i64::MIN..=i64::MAX,
                1 => 4 * whole..=5 * whole,
                _ => low..=low.saturating_add(length),
            };
            let end = |value| Bound::Included(Term::from_field_i64(field, value));
            let query = ColumnRange::new(end(*wanted.start()), end(*wanted.end()), columns.clone());
            let weight = query
                .weight(EnableScoring::disabled_from_searcher(&searcher))
                .unwrap();
            let expected = matching(&values, &wanted);
            check(&*weight, reader, &expected, &mut dice);
        }
        let of = (reader.segment_id(), "number");
        let made = columns.spans.of(of, reader.max_doc(), || None);
        // Values that lie together are passed over or taken by the ends of all of them.
        let is_asked = docs > RANGE && step != 0;
        assert_eq!(
            made.is_some(),
            is_asked,
            "ranges were asked for often enough"
        );
    }
}

//! Rules over random documents against loops over their words.

use clew_query::{
    IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals, Query, QueryError,
};

use tantivy::fieldnorm::FieldNormReader;

use crate::query::VectorAnswers;
use crate::query::matching;
use crate::search::fixture::{Doc, shard};
use crate::search::{ShardRequest, TrackTotal, search};

fn word(text: &str) -> IntervalRule {
    IntervalRule::Word(text.to_string())
}

fn query(rule: IntervalRule) -> Query {
    Query::Intervals(Intervals {
        field: "body".to_string(),
        rule,
        scoring: IntervalScoring::Proximity,
        boost: 1.0,
    })
}

fn all_of(words: &[&str], mode: IntervalMode, max_gaps: Option<u32>) -> IntervalRule {
    IntervalRule::AllOf {
        rules: words.iter().map(|text| word(text)).collect(),
        mode,
        max_gaps,
    }
}

fn related(rule: IntervalRule, relation: IntervalRelation, filter: IntervalRule) -> IntervalRule {
    IntervalRule::Related {
        rule: Box::new(rule),
        relation,
        filter: Box::new(filter),
    }
}

/// Positions of a word.
fn at(doc: &Doc, word: &str) -> Vec<usize> {
    let places = doc.body.iter().enumerate();
    places
        .filter(|(_, have)| *have == word)
        .map(|(place, _)| place)
        .collect()
}

/// Whether two words are there with so many others between them, the first one first.
fn apart(doc: &Doc, first: &str, second: &str, gaps: std::ops::RangeInclusive<usize>) -> bool {
    at(doc, first).iter().any(|a| {
        at(doc, second)
            .iter()
            .any(|b| b > a && gaps.contains(&(b - a - 1)))
    })
}

type Wanted = Box<dyn Fn(&Doc) -> bool>;

fn cases() -> Vec<(IntervalRule, Wanted)> {
    use IntervalMode::{Ordered, Unordered, UnorderedNoOverlap};
    use IntervalRelation as R;
    let any = 0..=usize::MAX;
    let (any1, any2) = (any.clone(), any);
    vec![
        (word("w1"), Box::new(|doc| !at(doc, "w1").is_empty())),
        (
            all_of(&["w1", "w2"], Ordered, None),
            Box::new(move |doc| apart(doc, "w1", "w2", any1.clone())),
        ),
        (
            all_of(&["w1", "w2"], Ordered, Some(1)),
            Box::new(|doc| apart(doc, "w1", "w2", 0..=1)),
        ),
        (
            all_of(&["w1", "w2"], Unordered, Some(0)),
            Box::new(|doc| apart(doc, "w1", "w2", 0..=0) || apart(doc, "w2", "w1", 0..=0)),
        ),
        (
            all_of(&["w1", "w1"], Unordered, None),
            Box::new(|doc| at(doc, "w1").len() > 1),
        ),
        (
            all_of(&["w1", "w1"], UnorderedNoOverlap, None),
            Box::new(|doc| at(doc, "w1").len() > 1),
        ),
        (
            IntervalRule::AnyOf(vec![word("w3"), word("w4")]),
            Box::new(|doc| !at(doc, "w3").is_empty() || !at(doc, "w4").is_empty()),
        ),
        (
            related(word("w1"), R::Before, word("w2")),
            Box::new(move |doc| apart(doc, "w1", "w2", any2.clone())),
        ),
        (
            related(
                all_of(&["w1", "w2"], Ordered, None),
                R::NotContaining,
                word("w0"),
            ),
            Box::new(|doc| {
                let between = |a: usize, b: usize| doc.body[a..b].iter().any(|have| have == "w0");
                at(doc, "w1")
                    .iter()
                    .any(|a| at(doc, "w2").iter().any(|b| a < b && !between(*a, *b)))
            }),
        ),
        (
            IntervalRule::First {
                rule: Box::new(word("w2")),
                end: 3,
            },
            Box::new(|doc| at(doc, "w2").iter().any(|place| *place < 3)),
        ),
        (
            IntervalRule::Prefix("w1".to_string(), false),
            Box::new(|doc| doc.body.iter().any(|have| have.starts_with("w1"))),
        ),
    ]
}

fn cases_of_alternatives() -> Vec<(IntervalRule, Wanted)> {
    vec![(
        // Between the two there is no w1, which would be the smaller interval of the alternatives.
        related(
            IntervalRule::AnyOf(vec![
                word("w1"),
                all_of(&["w2", "w3"], IntervalMode::Unordered, None),
            ]),
            IntervalRelation::Overlapping,
            word("w4"),
        ),
        Box::new(|doc| {
            let between = |a: usize, b: usize| &doc.body[a.min(b) + 1..a.max(b)];
            let is_part = |have: &String| ["w1", "w2", "w3"].contains(&have.as_str());
            at(doc, "w2").iter().any(|a| {
                at(doc, "w3").iter().any(|b| {
                    let between = between(*a, *b);
                    !between.iter().any(is_part) && between.iter().any(|have| have == "w4")
                })
            })
        }),
    )]
}

#[test]
fn rules_find_what_a_loop_finds() {
    let (snapshot, docs) = shard(23);
    for (rule, wanted) in cases().into_iter().chain(cases_of_alternatives()) {
        let bits = matching(
            &snapshot,
            &query(rule.clone()),
            &VectorAnswers::default(),
            0,
        )
        .unwrap();
        let mut found = 0;
        for (segment, docs) in docs.iter().enumerate() {
            for (number, doc) in (0..).zip(docs) {
                let want = !doc.dead && wanted(doc);
                assert_eq!(
                    bits[segment].contains(number),
                    want,
                    "{rule:?} {segment}/{number}: {:?}",
                    doc.body
                );
                found += usize::from(want);
            }
        }
        assert!(found > 0, "{rule:?} says nothing when it never matches");
    }
}

#[test]
fn more_and_tighter_intervals_score_higher() {
    let (snapshot, docs) = shard(23);
    let rule = all_of(&["w1", "w2"], IntervalMode::Ordered, None);
    let query = query(rule);
    let request = ShardRequest {
        limit: 1000,
        track_total: TrackTotal::Exact,
        ..ShardRequest::new(&query)
    };
    let result = search(&snapshot, request, &VectorAnswers::default()).unwrap();
    assert!(result.hits.len() > 10);
    for hit in &result.hits {
        let doc = &docs[hit.segment][hit.doc as usize];
        // The minimal intervals: from the last w1 before a w2 to the first w2 after it.
        let mut sum = 0.0;
        for a in at(doc, "w1") {
            let Some(b) = at(doc, "w2").into_iter().find(|b| *b > a) else {
                continue;
            };
            if !at(doc, "w1").iter().any(|other| a < *other && *other < b) {
                sum += 1.0 / (b - a) as f32;
            }
        }
        let want = sum / (sum + 1.0);
        let have = hit.score.unwrap();
        assert!((have - want).abs() < 1e-5, "{have} {want} {:?}", doc.body);
    }
}

#[test]
fn spans_score_as_one_word_that_is_there_as_often_as_they_are_tight() {
    let (snapshot, docs) = shard(23);
    let all: Vec<&Doc> = docs
        .iter()
        .flatten()
        .filter(|doc| !doc.body.is_empty())
        .collect();
    let count = all.len() as f64;
    let average = all.iter().map(|doc| doc.body.len()).sum::<usize>() as f64 / count;
    let idf = |word: &str| {
        let with = all.iter().filter(|doc| !at(doc, word).is_empty()).count() as f64;
        (1.0 + (count - with + 0.5) / (with + 0.5)).ln()
    };
    let query = Query::Intervals(Intervals {
        field: "body".to_string(),
        rule: all_of(&["w1", "w2"], IntervalMode::Ordered, None),
        scoring: IntervalScoring::Words,
        boost: 1.5,
    });
    let request = ShardRequest {
        limit: 1000,
        ..ShardRequest::new(&query)
    };
    let result = search(&snapshot, request, &VectorAnswers::default()).unwrap();
    assert!(result.hits.len() > 10);
    for hit in &result.hits {
        let doc = &docs[hit.segment][hit.doc as usize];
        let length = u32::try_from(doc.body.len()).unwrap();
        let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
        let norm = 1.2 * (0.25 + 0.75 * f64::from(stored) / average);
        // Each first word counts with the next second one, also where another first one stands between.
        let spans = at(doc, "w1").into_iter().filter_map(|a| {
            let next = at(doc, "w2").into_iter().find(|b| *b > a)?;
            Some(1.0 / (next - a) as f64)
        });
        let frequency: f64 = spans.sum();
        let want = 1.5 * (idf("w1") + idf("w2")) * 2.2 * frequency / (frequency + norm);
        let have = f64::from(hit.score.unwrap());
        assert!(
            (have / want - 1.0).abs() < 1e-4,
            "{have} {want} {:?}",
            doc.body
        );
    }
}

#[test]
fn fields_without_positions_are_refused() {
    let (snapshot, _) = shard(23);
    let query = Query::Intervals(Intervals {
        field: "tags".to_string(),
        rule: word("Tag1"),
        scoring: IntervalScoring::Proximity,
        boost: 1.0,
    });
    let error = matching(&snapshot, &query, &VectorAnswers::default(), 0).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Can only use interval queries on text fields - not on [tags]"),
        "{error}"
    );
}

#[test]
fn rules_have_limits() {
    let (snapshot, _) = shard(23);
    let mut deep = word("w1");
    for _ in 0..40 {
        deep = IntervalRule::AnyOf(vec![deep]);
    }
    let error = matching(&snapshot, &query(deep), &VectorAnswers::default(), 0).unwrap_err();
    assert!(matches!(error, QueryError::TooDeep { .. }), "{error}");
    let wide = IntervalRule::AnyOf((0..2000).map(|n| word(&format!("w{n}"))).collect());
    let error = matching(&snapshot, &query(wide), &VectorAnswers::default(), 0).unwrap_err();
    assert!(
        matches!(error, QueryError::TooManyClauses { .. }),
        "{error}"
    );
    // Every alternative of every part would make more sources than there is memory.
    let part = || IntervalRule::AnyOf((0..30).map(|n| word(&format!("w{n}"))).collect());
    let many = IntervalRule::AllOf {
        rules: (0..20).map(|_| part()).collect(),
        mode: IntervalMode::Ordered,
        max_gaps: Some(3),
    };
    matching(&snapshot, &query(many), &VectorAnswers::default(), 0).unwrap();
}

//! Ranking against sums over full scans of single words, on segments of many blocks and windows.

use std::collections::BTreeMap;

use clew_query::{
    Bool, Fuzziness, Match, MatchPhrase, MinimumShouldMatch, Operator, Pattern, Query, Range,
};
use proptest::prelude::*;
use serde_json::json;

use super::bm25::rounded;
use super::{Admission, Hits};
use crate::query::{CompileContext, VectorAnswers, plan_recorded};
use crate::search::fixture::{Doc, Random, random_docs, run, snapshot};
use crate::search::{Relation, ShardHit, ShardRequest, TrackTotal};
use crate::segments::TopScores;
use crate::snapshot::Snapshot;

/// Every match with its score, from a search that cannot prune.
fn scanned(snapshot: &Snapshot, query: &Query) -> BTreeMap<(usize, u32), f32> {
    let request = ShardRequest {
        limit: 100_000,
        min_score: Some(f32::MIN),
        ..ShardRequest::new(query)
    };
    let hits = run(snapshot, request).hits.into_iter();
    hits.map(|hit| ((hit.segment, hit.doc), hit.score.unwrap()))
        .collect()
}

/// The words' scores added up, of documents with at least so many of them; best first.
fn summed(snapshot: &Snapshot, words: &[Query], least: usize) -> Vec<((usize, u32), f32)> {
    let mut sums: BTreeMap<(usize, u32), (usize, f64)> = BTreeMap::new();
    for word in words {
        for (place, score) in scanned(snapshot, word) {
            let sum = sums.entry(place).or_default();
            sum.0 += 1;
            sum.1 += f64::from(score);
        }
    }
    let sums = sums.into_iter().filter(|(_, (count, _))| *count >= least);
    let mut sums: Vec<_> = sums
        .map(|(place, (_, sum))| (place, rounded(sum)))
        .collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    sums
}

fn check(snapshot: &Snapshot, query: &Query, wanted: &[((usize, u32), f32)]) {
    for (limit, track_total) in [
        (1, TrackTotal::No),
        (10, TrackTotal::No),
        (10, TrackTotal::UpTo(100)),
        (300, TrackTotal::UpTo(10)),
        (10, TrackTotal::Exact),
    ] {
        let request = ShardRequest {
            limit,
            track_total,
            ..ShardRequest::new(query)
        };
        let result = run(snapshot, request);
        let pair = |hit: &ShardHit| ((hit.segment, hit.doc), hit.score.unwrap());
        let have: Vec<_> = result.hits.iter().map(pair).collect();
        assert_eq!(
            have,
            wanted[..limit.min(wanted.len())],
            "{query:?} {track_total:?}"
        );
        let count = wanted.len() as u64;
        let (value, relation) = (result.total.value, result.total.relation);
        match track_total {
            TrackTotal::No => {}
            TrackTotal::UpTo(most) if count > most => {
                assert_eq!((value, relation), (most, Relation::Gte), "{query:?}");
            }
            _ => assert_eq!((value, relation), (count, Relation::Eq), "{query:?}"),
        }
    }
}

fn words(random: &mut Random, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| format!("w{}", random.skewed(40)))
        .collect()
}

fn word(field: &str, text: &str) -> Query {
    Query::Match(Match::new(field, text))
}

/// Segments of very different sizes and lengths of texts, with deleted documents.
fn shard(seed: u64) -> Snapshot {
    let sizes = [7_000, 300, 2_500, 1, 130];
    snapshot(&random_docs(&mut Random(seed), &sizes))
}

fn check_all(snapshot: &Snapshot, seed: u64) {
    let mut random = Random(seed);
    for count in [1, 2, 3, 5, 10] {
        for field in ["body", "title"] {
            let words = words(&mut random, count);
            let each: Vec<Query> = words.iter().map(|one| word(field, one)).collect();
            let any = Match::new(field, words.join(" "));
            check(
                snapshot,
                &Query::Match(any.clone()),
                &summed(snapshot, &each, 1),
            );
            let all = Query::Match(Match {
                operator: Operator::And,
                ..any
            });
            check(snapshot, &all, &summed(snapshot, &each, count));
        }
    }
}

#[test]
fn words_are_ranked_the_same_where_no_document_is_deleted() {
    // What is certain of the best scores is used then, from the second search for a word on.
    let mut docs = random_docs(&mut Random(11), &[300, 5_000, 120, 2_600]);
    docs.iter_mut().flatten().for_each(|doc| doc.dead = false);
    let snapshot = snapshot(&docs);
    check_all(&snapshot, 12);
    check_all(&snapshot, 12);
}

#[test]
fn words_are_found_where_the_dictionary_of_their_segment_has_them() {
    let snapshot = shard(5);
    let field = snapshot.mapping.field("body").unwrap().field.unwrap();
    let searched = snapshot.searched(field).unwrap().unwrap();
    let mut count = 0;
    for (segment, reader) in snapshot.readers.iter().enumerate() {
        let inverted = reader.inverted_index(field).unwrap();
        let mut terms = inverted.terms().stream().unwrap();
        while terms.advance() {
            let found = searched.find(terms.key());
            assert_eq!(found.in_segment(segment), Some(terms.value()));
            let again = searched.find(terms.key());
            assert_eq!(again.frequency(), found.frequency());
            count += 1;
        }
    }
    assert!(count > 100, "{count} words");
    assert_eq!(searched.find(b"there is no such word").frequency(), 0);
}

#[test]
fn words_are_ranked_as_their_scores_add_up() {
    check_all(&shard(1), 1);
    check_all(&shard(2), 2);
}

#[test]
fn frequent_words_are_ranked_by_their_impacts_as_their_scores_add_up() {
    let mut random = Random(21);
    let snapshot = snapshot(&random_docs(&mut random, &[9_000, 300, 14_000, 11_000]));
    run(&snapshot, ShardRequest::new(&word("body", "w0")));
    snapshot.read_impacts();
    for (operator, texts) in [
        (
            Operator::Or,
            ["w1 w0", "w3 w2", "w0 w39", "w2 w0 w1", "w0 w1 w36 w2"].as_slice(),
        ),
        (Operator::And, &["w1 w0", "w3 w2", "w2 w0 w1", "w0 w39"]),
    ] {
        for text in texts {
            let words: Vec<_> = text.split(' ').map(|one| word("body", one)).collect();
            let least = if operator == Operator::Or {
                1
            } else {
                words.len()
            };
            let wanted = summed(&snapshot, &words, least);
            let query = Query::Match(Match {
                operator,
                ..Match::new("body", *text)
            });
            check(&snapshot, &query, &wanted);
        }
    }
}

#[test]
fn words_are_ranked_the_same_with_impacts() {
    for seed in [31, 32] {
        let snapshot = shard(seed);
        assert!(!snapshot.wants_impacts());
        check_all(&snapshot, seed);
        assert!(snapshot.wants_impacts() && !snapshot.wants_impacts());
        snapshot.read_impacts();
        check_all(&snapshot, seed + 1);
        assert!(has_impacts(&snapshot, ("w0", 0)), "{seed}");
        assert!(!has_impacts(&snapshot, ("w39", 0)), "{seed}");
        assert!(!has_impacts(&snapshot, ("w0", 1)), "the segment is small");
    }
}

fn has_impacts(snapshot: &Snapshot, (word, segment): (&str, usize)) -> bool {
    let field = snapshot.mapping.field("body").unwrap().field.unwrap();
    let searched = snapshot.searched(field).unwrap().unwrap();
    let found = searched.find(word.as_bytes());
    searched.impacts(&found, segment).is_some()
}

#[test]
fn impacts_are_read_anew_once_the_average_length_is_another() {
    let docs = random_docs(&mut Random(51), &[9_000, 3_000]);
    let both = snapshot(&docs);
    let of = |before: &Snapshot, segments: usize| {
        let readers = both.readers[..segments].to_vec();
        before.successor(before.mapping.clone(), readers, before.stub().clone())
    };
    let first = of(&both, 1);
    let any = Query::Match(Match::new("body", "w0 w2"));
    let check = |snapshot: &Snapshot| {
        let words = [word("body", "w0"), word("body", "w2")];
        check(snapshot, &any, &summed(snapshot, &words, 1));
    };
    check(&first);
    first.read_impacts();
    assert!(has_impacts(&first, ("w0", 0)));
    // The next snapshot has the same average length, and the same impacts at once.
    let same = of(&first, 1);
    check(&same);
    assert!(has_impacts(&same, ("w0", 0)) && !same.wants_impacts());
    // The documents of the other segment are longer.
    let longer = of(&same, 2);
    check(&longer);
    assert!(!has_impacts(&longer, ("w0", 0)) && longer.wants_impacts());
    let bytes = longer.impacts_bytes();
    longer.read_impacts();
    assert!(has_impacts(&longer, ("w0", 0)));
    assert_eq!(longer.impacts_bytes(), bytes, "those before are kept");
    check(&longer);
    check(&first);
}

#[test]
fn matches_are_counted_by_impacts_in_all_windows_of_a_large_segment() {
    let mut random = Random(41);
    let docs: Vec<Doc> = (0..150_000)
        .map(|_| {
            let words = [("w0", 2), ("w1", 4), ("w2", 2_000), ("other", 1)];
            let words = words
                .into_iter()
                .filter(|(_, one_in)| random.below(*one_in) == 0);
            let words: Vec<&str> = words.map(|(word, _)| word).collect();
            Doc {
                body: vec![words.join(" ")],
                dead: random.below(10) == 0,
                ..Doc::default()
            }
        })
        .collect();
    let snapshot = snapshot(std::slice::from_ref(&docs));
    run(&snapshot, ShardRequest::new(&word("body", "w0")));
    snapshot.read_impacts();
    for text in ["w0 w1", "w1 w2", "w2 w0 w1", "w2 none"] {
        let has_any = |doc: &&Doc| {
            let words: Vec<&str> = doc.body[0].split(' ').collect();
            !doc.dead && text.split(' ').any(|one| words.contains(&one))
        };
        let wanted = docs.iter().filter(has_any).count() as u64;
        let query = word("body", text);
        let request = ShardRequest {
            track_total: TrackTotal::Exact,
            ..ShardRequest::new(&query)
        };
        let total = run(&snapshot, request).total;
        assert_eq!(
            (total.value, total.relation),
            (wanted, Relation::Eq),
            "{text}"
        );
    }
}

#[test]
fn one_word_is_ranked_by_its_champions() {
    let snapshot = shard(21);
    let query = word("body", "w0");
    check(
        &snapshot,
        &query,
        &summed(&snapshot, std::slice::from_ref(&query), 1),
    );
    let context = CompileContext {
        snapshot: &snapshot,
        now_ms: 0,
        vectors: &VectorAnswers::default(),
    };
    let plan = plan_recorded(&query, &context, (true, None)).unwrap();
    let ranked = plan.ranked.unwrap();
    let readers = snapshot.readers.iter();
    let segments: Vec<Admission<'_>> = readers
        .map(|reader| Admission {
            alive: reader.alive_bitset(),
            ..Admission::default()
        })
        .collect();
    let mut hits = Hits::new(TopScores::new(10, None), None);
    assert!(ranked.take_champions(&segments, &mut hits));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn words_are_ranked_as_their_scores_add_up_in_any_shard(
        seed: u64, sizes in proptest::collection::vec(1usize..700, 1..5),
    ) {
        check_all(&snapshot(&random_docs(&mut Random(seed), &sizes)), seed);
    }
}

#[test]
fn phrases_are_ranked_as_a_full_scan_ranks_them() {
    let snapshot = shard(3);
    let mut random = Random(3);
    for count in [2, 2, 2, 3, 3, 4] {
        for field in ["body", "title"] {
            let query =
                Query::MatchPhrase(MatchPhrase::new(field, words(&mut random, count).join(" ")));
            let mut wanted: Vec<_> = scanned(&snapshot, &query).into_iter().collect();
            wanted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            check(&snapshot, &query, &wanted);
        }
    }
}

#[test]
fn words_of_two_fields_and_with_boosts_add_up() {
    let snapshot = shard(4);
    let boosted = |field: &str, text: &str, boost| {
        Query::Match(Match {
            boost,
            ..Match::new(field, text)
        })
    };
    // Where nothing is added, documents match all the same.
    for boost in [0.25, 0.0] {
        let each = [
            boosted("title", "w1", 3.0),
            boosted("body", "w1", 1.0),
            boosted("body", "w7", boost),
        ];
        let any = Query::Bool(Bool {
            should: each.to_vec(),
            ..Bool::default()
        });
        check(&snapshot, &any, &summed(&snapshot, &each, 1));
        let all = Query::Bool(Bool {
            must: each.to_vec(),
            ..Bool::default()
        });
        check(&snapshot, &all, &summed(&snapshot, &each, 3));
    }
}

#[test]
fn filters_leave_what_they_should_at_their_first_and_later_uses() {
    let snapshot = shard(5);
    let tagged = Query::term("tags", "Tag3");
    let counted = Query::Range(Range {
        gte: Some(json!(0)),
        ..Range::new("count")
    });
    let matches = |query: &Query| scanned(&snapshot, query);
    let (tags, counts) = (matches(&tagged), matches(&counted));
    let each = [word("body", "w1"), word("body", "w5")];
    let cases: [(Bool, usize); 3] = [
        (
            Bool {
                must: vec![word("body", "w1 w5")],
                ..Bool::default()
            },
            1,
        ),
        (
            Bool {
                must: each.to_vec(),
                ..Bool::default()
            },
            2,
        ),
        (
            Bool {
                should: each.to_vec(),
                minimum_should_match: Some(MinimumShouldMatch::Count(1)),
                ..Bool::default()
            },
            1,
        ),
    ];
    for (positive, least) in cases {
        let query = Query::Bool(Bool {
            filter: vec![counted.clone()],
            must_not: vec![tagged.clone()],
            ..positive
        });
        let mut wanted = summed(&snapshot, &each, least);
        wanted.retain(|(place, _)| counts.contains_key(place) && !tags.contains_key(place));
        assert!(!wanted.is_empty());
        let scores =
            |hits: &[((usize, u32), f32)]| hits.iter().map(|hit| hit.0).collect::<Vec<_>>();
        // The first use runs the filter beside the query and adds in single precision.
        let first = run(
            &snapshot,
            ShardRequest {
                limit: 10_000,
                ..ShardRequest::new(&query)
            },
        );
        assert_eq!(first.hits.len(), wanted.len());
        check(&snapshot, &query, &wanted);
        assert!(!scores(&wanted).is_empty());
    }
    let figures = snapshot.filters().figures();
    assert!(figures.hits > 0 && figures.count > 0, "{figures:?}");
}

#[test]
fn keywords_are_ranked_by_their_rarity() {
    let snapshot = shard(6);
    let each: Vec<Query> = ["Tag0", "Tag5", "Tag9"]
        .map(|tag| Query::term("tags", tag))
        .to_vec();
    let any = Query::Bool(Bool {
        should: each.clone(),
        ..Bool::default()
    });
    check(&snapshot, &any, &summed(&snapshot, &each, 1));
}

#[test]
fn the_first_documents_of_many_words_are_merged_as_a_full_scan_finds_them() {
    let snapshot = shard(7);
    for prefix in ["w", "w1", "w39", "Tag", "Tag1", "none"] {
        for field in ["body", "tags"] {
            let query = Query::Prefix(Pattern::new(field, prefix));
            let wanted: Vec<_> = scanned(&snapshot, &query).into_iter().collect();
            check(&snapshot, &query, &wanted);
            let wild = Query::Wildcard(Pattern::new(field, format!("{prefix}*")));
            check(&snapshot, &wild, &wanted);
            check_counts(&snapshot, [&query, &wild], wanted.len());
        }
    }
}

/// Counts to many limits, so that the lists of one segment, of some, and of all together suffice.
fn check_counts(snapshot: &Snapshot, queries: [&Query; 2], count: usize) {
    for most in (0..count + 2).step_by(count / 30 + 1) {
        for query in queries {
            let track_total = TrackTotal::UpTo(most as u64);
            let request = ShardRequest {
                track_total,
                ..ShardRequest::new(query)
            };
            let result = run(snapshot, request);
            assert_eq!(result.hits.len(), count.min(10));
            let wanted = if count > most {
                (most as u64, Relation::Gte)
            } else {
                (count as u64, Relation::Eq)
            };
            let total = (result.total.value, result.total.relation);
            assert_eq!(total, wanted, "{query:?} {most}");
        }
    }
}

#[test]
fn near_words_are_ranked_as_a_full_scan_ranks_them() {
    let snapshot = shard(8);
    for text in ["w1", "w22", "x7", "w", "zzz"] {
        let fuzzy = Query::Fuzzy {
            field: "body".into(),
            value: text.into(),
            fuzziness: Fuzziness::parse("1").unwrap(),
            boost: 1.0,
        };
        let wanted = scanned(&snapshot, &fuzzy);
        let request = ShardRequest {
            limit: 100_000,
            ..ShardRequest::new(&fuzzy)
        };
        let have = run(&snapshot, request).hits;
        assert_eq!(have.len(), wanted.len(), "{text}");
        for hit in have {
            let (have, want) = (hit.score.unwrap(), wanted[&(hit.segment, hit.doc)]);
            assert!(
                (have - want).abs() <= 1e-6 * want.abs(),
                "{text}: {have} {want}"
            );
        }
    }
}

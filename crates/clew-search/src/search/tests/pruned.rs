//! Pruned searches against full ones.

use super::*;

#[test]
fn pruned_searches_find_what_full_ones_find() {
    // Enough documents for several blocks of postings, in segments of very different lengths.
    let docs = random_docs(&mut Random(11), &[2_000, 3_000, 1_500]);
    let snapshot = snapshot(&docs);
    let mut random = Random(5);
    for round in 0..150 {
        let words: Vec<String> = (0..1 + random.below(3))
            .map(|_| format!("w{}", random.skewed(40)))
            .collect();
        let clause = Match {
            operator: if random.below(3) == 0 {
                Operator::And
            } else {
                Operator::Or
            },
            boost: [1.0, 2.0, 0.3][random.below(3)],
            ..Match::new(["body", "title"][random.below(2)], words.join(" "))
        };
        let query = match random.below(4) {
            0 => Query::Bool(Bool {
                must: vec![Query::Match(clause)],
                should: vec![Query::matches("title", "w1")],
                ..Bool::default()
            }),
            1 => Query::Bool(Bool {
                should: vec![Query::Match(clause), Query::matches("body", "w4")],
                ..Bool::default()
            }),
            _ => Query::Match(clause),
        };
        let all = exhaustive(&snapshot, &query);
        for track_total in [TrackTotal::No, TrackTotal::UpTo(100), TrackTotal::Exact] {
            let limit = 1 + random.below(20);
            let request = ShardRequest {
                limit,
                track_total,
                ..ShardRequest::new(&query)
            };
            let result = run(&snapshot, request);
            let what = format!("round {round}, {track_total:?}, {query:?}");
            same_hits(&result.hits, &all[..limit.min(all.len())], &what);
            let count = all.len() as u64;
            let want = match track_total {
                TrackTotal::No => Total {
                    value: 0,
                    relation: Relation::Gte,
                },
                TrackTotal::UpTo(100) if count > 100 => Total {
                    value: 100,
                    relation: Relation::Gte,
                },
                _ => Total {
                    value: count,
                    relation: Relation::Eq,
                },
            };
            assert_eq!(result.total, want, "{what}");
        }
    }
}

#[test]
fn searches_go_on_after_a_score_and_below_it() {
    let (snapshot, _) = shard(3);
    let query = Query::matches("body", "w1 w7");
    let all = exhaustive(&snapshot, &query);
    let after = [SortValue::Score(all[9].score.unwrap())];
    let sort = [SortKey::Score { order: Order::Desc }];
    let request = ShardRequest {
        sort: &sort,
        search_after: Some(&after),
        ..ShardRequest::new(&query)
    };
    let rest: Vec<ShardHit> = all
        .into_iter()
        .filter(|hit| {
            hit.score.unwrap()
                < match after[0] {
                    SortValue::Score(s) => s,
                    _ => 0.0,
                }
        })
        .take(10)
        .collect();
    same_hits(&run(&snapshot, request).hits, &rest, "after");
}

#[test]
fn postings_of_simple_queries_are_told_before_they_run() {
    let (snapshot, docs) = shard(7);
    type Values = fn(&Doc) -> &Vec<String>;
    let with = |field: Values, word: &str| {
        let has = |doc: &&Doc| field(doc).iter().any(|own| own == word);
        docs.iter().flatten().filter(has).count() as u64
    };
    let (words, tags): (Values, Values) = (|doc| &doc.body, |doc| &doc.tags);
    let (first, second) = {
        let mut some = docs.iter().flatten().filter(|doc| doc.body.len() > 1);
        let doc = some.next().expect("some document has two words");
        (doc.body[0].clone(), doc.body[1].clone())
    };
    let tag = docs.iter().flatten().find_map(|doc| doc.tags.first());
    let tag = tag.expect("some document has a tag").clone();
    let term = |field: &str, value: &str| {
        Query::Term(Term {
            field: field.into(),
            value: json!(value),
            case_insensitive: false,
            boost: 1.0,
        })
    };
    let text = format!("{first} {second} unheard");
    let both = Query::Bool(Bool {
        must: vec![Query::Match(Match::new("body", text))],
        filter: vec![term("tags", &tag)],
        ..Bool::default()
    });
    let of_words = with(words, &first) + with(words, &second);
    let cases = [
        (term("tags", "unheard"), Some(0)),
        (term("tags", &tag), Some(with(tags, &tag))),
        (both, Some(of_words + with(tags, &tag))),
        (Query::MatchNone, Some(0)),
        (Query::MatchAll { boost: 1.0 }, None),
        (Query::Bool(Bool::default()), None),
        (Query::Match(Match::new("body", "w ".repeat(17))), None),
        (term("count", "1"), None),
    ];
    for (query, expected) in cases {
        let told = crate::query::postings_max(&snapshot, &query);
        assert_eq!(told, expected, "{query:?}");
    }
}

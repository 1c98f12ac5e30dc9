//! Scores against the formula.

use super::*;

fn check_scores(snapshot: &Snapshot, docs: &[Vec<Doc>], query: &Query, want: &dyn Fn(&Doc) -> f64) {
    let request = ShardRequest {
        limit: 10_000,
        track_total: TrackTotal::Exact,
        ..ShardRequest::new(query)
    };
    let result = run(snapshot, request);
    let wanted = docs
        .iter()
        .flatten()
        .filter(|d| !d.dead && want(d) > 0.0)
        .count();
    assert_eq!(result.hits.len(), wanted, "{query:?}");
    assert!(wanted > 0, "the test needs hits");
    for hit in &result.hits {
        let want = want(&docs[hit.segment][hit.doc as usize]);
        let have = f64::from(hit.score.unwrap());
        assert!(
            (have / want - 1.0).abs() < 1e-5,
            "{query:?}: {have} is not {want}"
        );
    }
    let falling = result.hits.windows(2).all(|pair| {
        let place = |hit: &ShardHit| (hit.segment, hit.doc);
        match pair[0].score.unwrap().total_cmp(&pair[1].score.unwrap()) {
            Ordering::Greater => true,
            Ordering::Equal => place(&pair[0]) < place(&pair[1]),
            Ordering::Less => false,
        }
    });
    assert!(falling, "{query:?}");
}

#[test]
fn scores_are_bm25_over_the_documents_that_have_the_field() {
    let (snapshot, docs) = shard(3);
    let all = docs.clone();
    let score = move |words: Words, term: &str, doc: &Doc| bm25(&all, words, term, doc);
    for term in ["w0", "w1", "w7", "w30"] {
        check_scores(&snapshot, &docs, &Query::matches("body", term), &|d| {
            score(body, term, d)
        });
        check_scores(&snapshot, &docs, &Query::matches("title", term), &|d| {
            score(title, term, d)
        });
    }
    let boosted = Query::Match(Match {
        boost: 3.0,
        ..Match::new("title", "w2 w5")
    });
    check_scores(&snapshot, &docs, &boosted, &|d| {
        3.0 * (score(title, "w2", d) + score(title, "w5", d))
    });
    let both = Query::MultiMatch(MultiMatch {
        fields: vec![FieldBoost::parse("title^2"), FieldBoost::parse("body")],
        clause: Match::new("", "w3"),
        kind: MultiMatchKind::BestFields,
        slop: 0,
        tie_breaker: Some(0.25),
    });
    check_scores(&snapshot, &docs, &both, &|d| {
        let (a, b) = (2.0 * score(title, "w3", d), score(body, "w3", d));
        a.max(b) + 0.25 * a.min(b)
    });
    let nested = Query::Bool(Bool {
        must: vec![Query::matches("body", "w1"), Query::match_all()],
        should: vec![Query::Bool(Bool {
            should: vec![Query::matches("body", "w2")],
            boost: 4.0,
            ..Bool::default()
        })],
        filter: vec![Query::matches("body", "w0")],
        boost: 0.5,
        ..Bool::default()
    });
    check_scores(&snapshot, &docs, &nested, &|d| {
        let has = |w: &str| d.body.iter().any(|x| x == w);
        if !has("w0") || !has("w1") {
            return 0.0;
        }
        0.5 * (score(body, "w1", d) + 1.0) + 2.0 * score(body, "w2", d)
    });
}

#[test]
fn a_query_may_say_how_its_words_are_weighed() {
    let (snapshot, docs) = shard(3);
    for (k1, b) in [(0.0, 0.75), (1.5, 0.0), (2.5, 1.0), (1.2, 0.75)] {
        let clause = Match {
            weighed: Some(Bm25 { k1, b }),
            ..Match::new("body", "w1 w7")
        };
        let (k1, b) = (f64::from(k1), f64::from(b));
        let score = |term, doc: &Doc| bm25_with((k1, b), &docs, body, (term, doc));
        let both = |doc: &Doc| score("w1", doc) + score("w7", doc);
        check_scores(&snapshot, &docs, &Query::Match(clause.clone()), &both);
        // What stands beside it is weighed as its field has it.
        let beside = Query::Bool(Bool {
            should: vec![Query::Match(clause.clone()), Query::matches("title", "w2")],
            ..Bool::default()
        });
        check_scores(&snapshot, &docs, &beside, &|doc| {
            both(doc) + bm25(&docs, title, "w2", doc)
        });
        let crossed = Query::MultiMatch(MultiMatch {
            fields: vec![FieldBoost::parse("body")],
            clause: Match {
                text: json!("w7"),
                ..clause
            },
            kind: MultiMatchKind::CrossFields,
            slop: 0,
            tie_breaker: None,
        });
        check_scores(&snapshot, &docs, &crossed, &|doc| score("w7", doc));
    }
}

#[test]
fn shards_that_are_weighed_together_score_as_one() {
    let ((one, docs), (other, more)) = (shard(3), shard(4));
    let all = [docs.clone(), more].concat();
    let peers: Arc<[Snapshot]> = [one.reopened(), other.reopened()].into_iter().collect();
    let weighed = one.weighed_with(&peers);
    for term in ["w0", "w7", "w30"] {
        let query = Query::matches("body", term);
        check_scores(&weighed, &docs, &query, &|d| bm25(&all, body, term, d));
    }
    let both = |doc: &Doc| bm25(&all, title, "w2", doc) + bm25(&all, title, "w5", doc);
    check_scores(&weighed, &docs, &Query::matches("title", "w2 w5"), &both);
    // By the way of other similarities, too.
    let clause = Match {
        weighed: Some(Bm25 { k1: 1.5, b: 0.5 }),
        ..Match::new("body", "w7")
    };
    check_scores(&weighed, &docs, &Query::Match(clause), &|doc| {
        bm25_with((1.5, 0.5), &all, body, ("w7", doc))
    });
    // As many match as there are here.
    let query = Query::matches("body", "w1");
    let found = |snapshot: &Snapshot| {
        let request = ShardRequest {
            track_total: TrackTotal::Exact,
            ..ShardRequest::new(&query)
        };
        run(snapshot, request).total
    };
    assert_eq!(found(&weighed), found(&one));
}

#[test]
fn keyword_terms_score_by_their_rarity_and_filters_by_their_boost() {
    let (snapshot, docs) = shard(3);
    let tags: Words = |doc| Some(&doc.tags).filter(|tags| !tags.is_empty());
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(tags).collect();
    let (count, values) = (
        all.len() as f64,
        all.iter().map(|t| t.len()).sum::<usize>() as f64,
    );
    let with = all
        .iter()
        .filter(|t| t.contains(&"Tag3".to_string()))
        .count() as f64;
    let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
    check_scores(&snapshot, &docs, &Query::term("tags", "Tag3"), &|d| {
        // No norms: the length is one; a document may hold the value twice, which has no effect.
        let has = d.tags.contains(&"Tag3".to_string());
        let norm = 1.2 * (0.25 + 0.75 * count / values);
        if has { idf * 2.2 / (1.0 + norm) } else { 0.0 }
    });
    let number = Query::Term(Term {
        field: "count".into(),
        value: json!(3),
        case_insensitive: false,
        boost: 2.5,
    });
    check_scores(&snapshot, &docs, &number, &|d| {
        if d.count == Some(3) { 2.5 } else { 0.0 }
    });
}

#[test]
fn phrases_score_by_the_sum_of_their_words() {
    let (snapshot, docs) = shard(3);
    let query = Query::MatchPhrase(MatchPhrase::new("body", "w0 w1"));
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(body).collect();
    let count = all.len() as f64;
    let average = all.iter().map(|words| words.len()).sum::<usize>() as f64 / count;
    let idf = |term: &str| {
        let with = all
            .iter()
            .filter(|words| words.iter().any(|w| w == term))
            .count() as f64;
        (1.0 + (count - with + 0.5) / (with + 0.5)).ln()
    };
    check_scores(&snapshot, &docs, &query, &|doc| {
        let found = doc
            .body
            .windows(2)
            .filter(|at| at[0] == "w0" && at[1] == "w1")
            .count() as f64;
        let length = u32::try_from(doc.body.len()).unwrap();
        let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
        let norm = 1.2 * (0.25 + 0.75 * f64::from(stored) / average);
        (idf("w0") + idf("w1")) * 2.2 * found / (found + norm)
    });
}

#[test]
fn a_minimum_score_leaves_out_what_scores_less() {
    let (snapshot, _) = shard(9);
    let query = Query::matches("body", "w1 w7");
    let all = exhaustive(&snapshot, &query);
    let bar = all[7].score.unwrap();
    let request = ShardRequest {
        min_score: Some(bar),
        limit: 1_000,
        ..ShardRequest::new(&query)
    };
    let result = run(&snapshot, request);
    let want = all.iter().filter(|hit| hit.score.unwrap() >= bar).count();
    assert_eq!((result.hits.len(), result.total.value), (want, want as u64));
}

//! Words, phrases, and how many of the words of a text must be there.

use super::*;

#[test]
fn words_and_phrases_match_like_a_loop() {
    let matches = |text: &str| Match::new("body", text);
    check(vec![
        (Query::match_all(), is(|_| true)),
        (Query::MatchNone, is(|_| false)),
        (
            Query::matches("body", "W3, w20"),
            is(|d| has(&d.body, "w3") || has(&d.body, "w20")),
        ),
        (
            Query::Match(Match {
                operator: Operator::And,
                ..matches("w1 w2 w0")
            }),
            is(|d| ["w0", "w1", "w2"].iter().all(|w| has(&d.body, w))),
        ),
        (
            Query::Match(Match {
                minimum_should_match: Some(MinimumShouldMatch::Count(2)),
                ..matches("w1 w2 w3 absent")
            }),
            is(|d| {
                ["w1", "w2", "w3"]
                    .iter()
                    .filter(|w| has(&d.body, w))
                    .count()
                    >= 2
            }),
        ),
        (
            Query::Match(Match {
                minimum_should_match: Some(MinimumShouldMatch::Count(3)),
                ..matches("w1 w2 absent")
            }),
            is(|_| false),
        ),
        (
            Query::matches("body", "w1 absent"),
            is(|d| has(&d.body, "w1")),
        ),
        (
            Query::Match(Match {
                operator: Operator::And,
                ..matches("w1 absent")
            }),
            is(|_| false),
        ),
        (Query::matches("body", "!!"), is(|_| false)),
        (Query::matches("nothing", "w1"), is(|_| false)),
        (Query::matches("count", "7"), is(|d| d.count == Some(7))),
        (Query::matches("tags", "Tag3"), is(|d| has(&d.tags, "Tag3"))),
        (
            Query::MatchPhrase(MatchPhrase::new("body", "w1 w0")),
            is(|d| phrase_at(&d.body, &["w1", "w0"])),
        ),
        (
            Query::MatchPhrase(MatchPhrase::new("body", "w1")),
            is(|d| has(&d.body, "w1")),
        ),
        (
            Query::MatchPhrasePrefix(MatchPhrase::new("body", "w1 w1")),
            is(|d| {
                d.body
                    .windows(2)
                    .any(|w| w[0] == "w1" && w[1].starts_with("w1"))
            }),
        ),
        (
            Query::MatchBoolPrefix(Match {
                operator: Operator::And,
                ..matches("w1 w2")
            }),
            is(|d| has(&d.body, "w1") && d.body.iter().any(|w| w.starts_with("w2"))),
        ),
        (
            Query::Match(Match {
                fuzziness: Some(Fuzziness::parse("1").unwrap()),
                ..matches("w12")
            }),
            is(|d| d.body.iter().any(|w| distance(w, "w12") <= 1 || w == "w21")),
        ),
        (
            Query::Fuzzy {
                field: "body".into(),
                value: "x12".into(),
                fuzziness: Fuzziness {
                    prefix_length: 1,
                    ..Fuzziness::parse("2").unwrap()
                },
                boost: 1.0,
            },
            is(|_| false),
        ),
        (
            Query::MultiMatch(MultiMatch {
                fields: vec![FieldBoost::parse("title^3"), FieldBoost::parse("bod*")],
                clause: matches("w5"),
                kind: MultiMatchKind::BestFields,
                slop: 0,
                tie_breaker: None,
            }),
            is(|d| has(&d.body, "w5") || d.title.as_ref().is_some_and(|t| has(t, "w5"))),
        ),
        (
            Query::MultiMatch(MultiMatch {
                fields: vec![FieldBoost::parse("title"), FieldBoost::parse("body")],
                clause: Match {
                    operator: Operator::And,
                    ..matches("w5 w6")
                },
                kind: MultiMatchKind::CrossFields,
                slop: 0,
                tie_breaker: None,
            }),
            is(|d| {
                let any = |w: &str| has(&d.body, w) || d.title.as_ref().is_some_and(|t| has(t, w));
                any("w5") && any("w6")
            }),
        ),
    ]);
}

#[test]
fn of_frequent_words_only_the_rare_ones_beside_them_decide() {
    let (snapshot, docs) = shard(7);
    let rows = docs.iter().flatten().count() as f32;
    let frequency = |word: &str| {
        let with = docs.iter().flatten().filter(|doc| has(&doc.body, word));
        with.count() as f32
    };
    let operators = [Operator::Or, Operator::And];
    for (text, cutoff) in [
        ("w0 w1", 0.001),
        ("w0 w30 w1 w35", 0.2),
        ("w0 w1 w2 w30", 40.0),
        ("w0", 0.001),
        ("w0 w38 nowhere", 0.1),
        ("w30 w31", 0.9),
    ] {
        let words = || text.split(' ').map(str::to_string);
        let is_frequent = |word: &String| {
            let with = frequency(word);
            cutoff >= 1.0 && with > cutoff || with > (cutoff * rows).ceil()
        };
        let is_lone = words().count() == 1;
        let (frequent, rare): (Vec<_>, Vec<_>) =
            words().partition(|word| !is_lone && is_frequent(word));
        for (rare_operator, operator) in operators
            .into_iter()
            .flat_map(|one| operators.map(|other| (one, other)))
        {
            for minimum in [None, Some(MinimumShouldMatch::Count(2))] {
                let query = Query::Match(Match {
                    operator: rare_operator,
                    frequent: Some(FrequentWords {
                        cutoff,
                        operator,
                        minimum_should_match: minimum.clone(),
                    }),
                    ..Match::new("body", text)
                });
                let holds = |doc: &Doc| {
                    let count =
                        |words: &[String]| words.iter().filter(|word| has(&doc.body, word)).count();
                    match (rare.is_empty(), rare_operator, &minimum, operator) {
                        (false, Operator::And, ..) => count(&rare) == rare.len(),
                        (false, Operator::Or, ..) => count(&rare) > 0,
                        (true, _, Some(_), Operator::Or) => count(&frequent) >= 2,
                        (true, ..) => count(&frequent) == frequent.len(),
                    }
                };
                let have = found(&snapshot, &query).unwrap();
                assert_eq!(have, expected(&docs, &holds), "{query:?}");
            }
        }
    }
}

#[test]
fn minimum_should_match_reads_every_form() {
    for (text, clauses, required) in [
        ("2", 5, 2),
        ("-1", 5, 4),
        ("75%", 5, 3),
        ("-25%", 5, 4),
        ("3<90%", 3, 3),
        ("3<90%", 10, 9),
        ("2<-25% 9<-3", 2, 2),
        ("2<-25% 9<-3", 8, 6),
        ("2<-25% 9<-3", 12, 9),
        ("-9", 5, 0),
    ] {
        let minimum: MinimumShouldMatch = text.parse().unwrap();
        assert_eq!(minimum.resolve(clauses), required, "{text} of {clauses}");
    }
    assert!("many".parse::<MinimumShouldMatch>().is_err());
}

//! Functions over random documents against loops over their values.

use clew_platform::CancellationToken;
use clew_query::{
    BoostMode, Decay, DecayShape, FieldModifier, FunctionKind, FunctionScore, Query, QueryError,
    ScoreFunction, ScoreMode, Script, ScriptLanguage, ScriptPurpose, ValueMode,
};
use serde_json::json;
use tantivy::TERMINATED;
use tantivy::query::EnableScoring;

use crate::query::matching;
use crate::query::{CompileContext, VectorAnswers, plan};
use crate::search::fixture::{Doc, shard};
use crate::search::{ShardRequest, TrackTotal, search};

fn function(kind: FunctionKind) -> ScoreFunction {
    ScoreFunction {
        filter: None,
        weight: None,
        kind,
    }
}

fn field_value(missing: Option<f64>) -> FunctionKind {
    FunctionKind::FieldValue {
        field: "price".to_string(),
        factor: 2.0,
        modifier: FieldModifier::Sqrt,
        missing,
    }
}

fn scored(functions: Vec<ScoreFunction>) -> FunctionScore {
    FunctionScore {
        query: Box::new(Query::term("flag", true)),
        functions,
        score_mode: ScoreMode::Sum,
        boost_mode: BoostMode::Replace,
        max_boost: f32::MAX,
        min_score: None,
        boost: 1.0,
    }
}

fn check(query: FunctionScore, want: impl Fn(&Doc) -> f64) {
    let least = query.min_score.map_or(f64::MIN, f64::from);
    let (snapshot, docs) = shard(5);
    let query = Query::FunctionScore(Box::new(query));
    let request = ShardRequest {
        limit: 1000,
        track_total: TrackTotal::Exact,
        ..ShardRequest::new(&query)
    };
    let result = search(&snapshot, request, &VectorAnswers::default()).unwrap();
    let matches = |doc: &Doc| !doc.dead && doc.flag == Some(true) && want(doc) >= least;
    let wanted = docs.iter().flatten().filter(|doc| matches(doc)).count();
    assert!(wanted > 5);
    assert_eq!(result.hits.len(), wanted);
    let all = matching(&snapshot, &query, &VectorAnswers::default(), 0).unwrap();
    assert_eq!(
        all.iter().map(|bits| bits.count() as usize).sum::<usize>(),
        wanted
    );
    for hit in &result.hits {
        let doc = &docs[hit.segment][hit.doc as usize];
        let (have, want) = (f64::from(hit.score.unwrap()), want(doc));
        assert!((have - want).abs() < 1e-4 * (1.0 + want), "{have} {want}");
    }
}

#[test]
fn many_functions_are_computed_for_somebody_alone() {
    let (snapshot, docs) = shard(5);
    let vectors = VectorAnswers::default();
    let context = CompileContext {
        snapshot: &snapshot,
        now_ms: 0,
        vectors: &vectors,
    };
    let one = ScoreFunction {
        weight: Some(1.0),
        ..function(FunctionKind::Constant)
    };
    let query = Query::FunctionScore(Box::new(FunctionScore {
        query: Box::new(Query::match_all()),
        ..scored(vec![one; 100])
    }));
    let plan = plan(&query, &context).unwrap();
    let scoring = EnableScoring::enabled_from_searcher(snapshot.stub());
    let weight = plan.query.weight(scoring).unwrap();
    let computed = |token: &CancellationToken| {
        let mut scorer = weight.scorer(&snapshot.readers[2], 1.0).unwrap();
        let _entered = token.enter();
        let mut count = 0;
        while scorer.doc() != TERMINATED {
            count += usize::from(scorer.score() > 0.0);
            scorer.advance();
        }
        count
    };
    assert_eq!(computed(&CancellationToken::default()), docs[2].len());
    let token = CancellationToken::new();
    token.cancel("by user request");
    assert!(computed(&token) <= 32);
}

#[test]
fn functions_are_of_the_documents_values() {
    let functions = vec![
        function(field_value(Some(8.0))),
        ScoreFunction {
            filter: Some(Query::term("tags", "Tag1")),
            weight: Some(3.0),
            kind: FunctionKind::Constant,
        },
    ];
    let value = |doc: &Doc| {
        let tagged = doc.tags.iter().any(|tag| tag == "Tag1");
        (2.0 * doc.price.unwrap_or(8.0)).sqrt() + if tagged { 3.0 } else { 0.0 }
    };
    check(scored(functions.clone()), value);
    let some = FunctionScore {
        min_score: Some(10.0),
        ..scored(functions.clone())
    };
    check(some, value);
    let capped = FunctionScore {
        max_boost: 6.0,
        ..scored(functions)
    };
    check(capped, |doc| value(doc).min(6.0));
}

#[test]
fn decay_is_measured_from_numbers_and_dates() {
    let decay = |field: &str, origin: serde_json::Value, scale: serde_json::Value| {
        function(FunctionKind::Decay(Box::new(Decay {
            field: field.to_string(),
            shape: DecayShape::Exp,
            origin: Some(origin),
            scale,
            offset: None,
            decay: 0.5,
            mode: ValueMode::Min,
        })))
    };
    check(scored(vec![decay("count", json!(3), json!(4))]), |doc| {
        let distance = doc.count.map_or(0.0, |count| (count - 3).abs() as f64);
        0.5_f64.powf(distance / 4.0)
    });
    let origin = 1_600_000_000_000_i64;
    check(
        scored(vec![decay("at", json!(origin), json!("10d"))]),
        |doc| {
            let distance = doc.at.map_or(0.0, |at| (at - origin).abs() as f64);
            0.5_f64.powf(distance / 864e6)
        },
    );
}

#[test]
fn chance_depends_on_the_seed_alone() {
    let (snapshot, _) = shard(5);
    let scores = |seed: i64| {
        let random = FunctionKind::Random {
            seed: Some(seed),
            field: None,
        };
        let query = Query::FunctionScore(Box::new(scored(vec![function(random)])));
        let request = ShardRequest {
            limit: 1000,
            ..ShardRequest::new(&query)
        };
        let result = search(&snapshot, request, &VectorAnswers::default()).unwrap();
        result
            .hits
            .iter()
            .map(|hit| hit.score.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(scores(1), scores(1));
    assert_ne!(scores(1), scores(2));
    assert!(scores(1).iter().all(|score| (0.0..1.0).contains(score)));
    let mean = scores(1).iter().sum::<f32>() / scores(1).len() as f32;
    assert!((0.35..0.65).contains(&mean), "{mean}");
}

#[test]
fn scripts_count_the_words_of_documents_and_of_the_shard() {
    let scripted = |source: &str| {
        let (language, score) = (ScriptLanguage::Painless, ScriptPurpose::Score);
        let script = Script::read(source, language, &json!({}), score).unwrap();
        scored(vec![function(FunctionKind::Script(Box::new(script)))])
    };
    let times = |doc: &Doc, word: &str| doc.body.iter().filter(|one| *one == word).count();
    let (_, docs) = shard(5);
    // The words of deleted documents count until they are merged away.
    let all: usize = docs.iter().flatten().map(|doc| times(doc, "w1")).sum();
    let tokens: usize = docs.iter().flatten().map(|doc| doc.body.len()).sum();
    assert!(all > 10 && tokens > 1000);
    check(scripted("termFreq('body', 'w1')"), |doc| {
        times(doc, "w1") as f64
    });
    check(
        scripted("termFreq('body', 'w1') + 10 * termFreq('body', 'w2')"),
        |doc| (times(doc, "w1") + 10 * times(doc, "w2")) as f64,
    );
    check(scripted("termFreq('tags', 'Tag1')"), |doc| {
        f64::from(u8::from(doc.tags.iter().any(|tag| tag == "Tag1")))
    });
    check(scripted("totalTermFreq('body', 'w1')"), |_| all as f64);
    check(scripted("sumTotalTermFreq('body')"), |_| tokens as f64);
    check(
        scripted("termFreq('count', '1') + totalTermFreq('nothing', 'w1')"),
        |_| 0.0,
    );
}

#[test]
fn what_cannot_be_computed_is_refused() {
    let (snapshot, _) = shard(5);
    let cases = [
        (
            function(field_value(None)),
            "Missing value for field [price]",
        ),
        (
            function(FunctionKind::FieldValue {
                field: "tags".to_string(),
                factor: 1.0,
                modifier: FieldModifier::None,
                missing: None,
            }),
            "only numeric types are supported",
        ),
        (
            function(FunctionKind::FieldValue {
                field: "count".to_string(),
                factor: -1.0,
                modifier: FieldModifier::None,
                missing: Some(1.0),
            }),
            "field value function must not produce negative scores, but got: [-",
        ),
        (
            function(FunctionKind::FieldValue {
                field: "nothing".to_string(),
                factor: 1.0,
                modifier: FieldModifier::Ln,
                missing: Some(0.5),
            }),
            "for field value: [0.5]; consider using ln1p or ln2p instead of ln",
        ),
    ];
    for (function, reason) in cases {
        let query = Query::FunctionScore(Box::new(scored(vec![function])));
        let error: QueryError = search(
            &snapshot,
            ShardRequest::new(&query),
            &VectorAnswers::default(),
        )
        .unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

use super::*;
use crate::query::{
    Bool, BoostMode, Boosting, FunctionKind, FunctionScore, JoinScore, KnnQuery, NestedQuery,
    RelatedQuery, ScoreFunction, ScoreMode,
};

fn neighbours(filter: Query) -> Query {
    Query::Knn(KnnQuery {
        field: "v".to_string(),
        vector: vec![1.0],
        k: Some(1),
        ef_search: None,
        probes: None,
        target_recall: None,
        oversample: None,
        expand_nested: false,
        ignore_unmapped: false,
        filter: Some(Box::new(filter)),
        min_score: None,
        max_distance: None,
        boost: 1.0,
    })
}

fn relatives(leaf: &mut impl FnMut() -> Query) -> Vec<Query> {
    let score = JoinScore::None;
    let child = Related::Child {
        query: Box::new(leaf()),
        score,
        min: 0,
        max: 1,
    };
    let query = Box::new(leaf());
    let related = |way| {
        Query::Related(RelatedQuery {
            kind: "k".to_string(),
            way,
            ignore_unmapped: false,
            boost: 1.0,
        })
    };
    vec![related(child), related(Related::Parent { query, score })]
}

/// A query of every kind that has others inside, each with terms of its own.
fn everything() -> Query {
    let mut number = 0;
    let mut leaf = || {
        number += 1;
        Query::term("f", number)
    };
    let function = FunctionScore {
        query: Box::new(leaf()),
        functions: vec![ScoreFunction {
            filter: Some(leaf()),
            weight: None,
            kind: FunctionKind::Constant,
        }],
        score_mode: ScoreMode::default(),
        boost_mode: BoostMode::default(),
        max_boost: 1.0,
        min_score: None,
        boost: 1.0,
    };
    let boosting = Boosting {
        positive: Box::new(leaf()),
        negative: Box::new(leaf()),
        negative_boost: 0.5,
        boost: 1.0,
    };
    let nested = NestedQuery {
        path: "n".to_string(),
        query: Box::new(leaf()),
        score: JoinScore::None,
        ignore_unmapped: false,
        boost: 1.0,
    };
    Query::Bool(Bool {
        must: vec![
            Query::ConstantScore {
                filter: Box::new(leaf()),
                boost: 1.0,
            },
            Query::FunctionScore(Box::new(function)),
        ],
        should: vec![
            neighbours(leaf()),
            Query::Nested(nested),
            Query::Boosting(boosting),
        ],
        must_not: relatives(&mut leaf),
        filter: vec![Query::DisMax {
            queries: vec![Query::Lenient(Box::new(leaf()))],
            tie_breaker: 0.0,
            boost: 1.0,
        }],
        ..Bool::default()
    })
}

#[test]
fn every_query_inside_is_visited_once_and_can_be_replaced() {
    let mut query = everything();
    let terms = |query: &Query| {
        let terms = query.all().filter(|one| matches!(one, Query::Term(_)));
        terms.count()
    };
    assert_eq!(terms(&query), 10);
    let all = query.all().count();
    let mut visited = 0;
    let replaced: Result<(), ()> = query.for_each_mut(&mut |one| {
        visited += 1;
        if matches!(one, Query::Term(_)) {
            *one = Query::MatchNone;
        }
        Ok(())
    });
    assert_eq!((replaced, visited), (Ok(()), all));
    assert_eq!(terms(&query), 0);
}

#[test]
fn outer_queries_come_before_those_inside() {
    let term = |number: i64| Query::term("f", number);
    let inner = Query::ConstantScore {
        filter: Box::new(term(2)),
        boost: 1.0,
    };
    let query = Query::Bool(Bool {
        must: vec![inner.clone()],
        should: vec![term(1)],
        ..Bool::default()
    });
    let all: Vec<&Query> = query.all().collect();
    assert_eq!(all, [&query, &inner, &term(1), &term(2)]);
}

//! Which clauses are searched for, and how often.

use std::cell::RefCell;

use clew_platform::{CancellationToken, MemoryAccount, MemoryLimits, MemoryPurpose};
use clew_query::{
    Bool, BoostMode, FieldBoost, FunctionKind, FunctionScore, JoinScore, NestedQuery, QueryString,
    ScoreFunction, ScoreMode,
};

use super::*;
use crate::query::matching;
use crate::search::fixture::shard;

/// Segments of the shard.
const SEGMENTS: usize = 5;

/// Finds the first document of each segment, and notes which boosts the clauses had that asked for it.
#[derive(Default)]
struct Noting(RefCell<Vec<f32>>);

impl KnnResolver for Noting {
    fn resolve(
        &self,
        query: &KnnQuery,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        self.0.borrow_mut().push(query.boost);
        let segments = filter.map_or(SEGMENTS, <[_]>::len);
        Ok(vec![vec![(0, 1.0)]; segments])
    }

    fn products(
        &self,
        _field: FieldId,
        _query: &[clew_vector::SparseEntry],
    ) -> Result<Vec<SegmentHits>, QueryError> {
        Ok(vec![SegmentHits::new(); SEGMENTS])
    }

    fn each_vector(
        &self,
        _field: FieldId,
        _docs: &[SegmentBits],
        _each: &mut dyn FnMut(usize, tantivy::DocId, &[f32]),
    ) -> Result<(), QueryError> {
        Ok(())
    }

    fn vector_docs(&self, _field: FieldId) -> Result<Vec<SegmentBits>, QueryError> {
        let mut bits = SegmentBits::empty(1_000);
        bits.insert(0);
        Ok(vec![bits; SEGMENTS])
    }
}

/// A clause known by its boost.
fn near(boost: f32, filter: Option<Query>) -> Query {
    Query::Knn(KnnQuery {
        field: "vector".into(),
        vector: vec![0.0, 1.0],
        k: Some(10),
        ef_search: None,
        probes: None,
        target_recall: None,
        oversample: None,
        expand_nested: false,
        ignore_unmapped: false,
        filter: filter.map(Box::new),
        min_score: None,
        max_distance: None,
        boost,
    })
}

fn all_of(must: Vec<Query>) -> Query {
    Query::Bool(Bool {
        must,
        ..Bool::default()
    })
}

fn function_on(query: Query, filter: Query) -> Query {
    Query::FunctionScore(Box::new(FunctionScore {
        query: Box::new(query),
        functions: vec![ScoreFunction {
            filter: Some(filter),
            weight: None,
            kind: FunctionKind::Constant,
        }],
        score_mode: ScoreMode::default(),
        boost_mode: BoostMode::default(),
        max_boost: 1.0,
        min_score: None,
        boost: 1.0,
    }))
}

fn everything() -> Query {
    Query::MatchAll { boost: 1.0 }
}

/// The boosts of the clauses that a query's answers took a search for, in its order; the query then compiles.
fn searched(queries: &[&Query]) -> Vec<f32> {
    let (snapshot, _) = shard(3);
    let noting = Noting::default();
    let stage = VectorStage {
        snapshot: &snapshot,
        now_ms: 0,
        knn: &noting,
    };
    let mut answers = VectorAnswers::default();
    for query in queries {
        stage.add(&mut answers, query, None).unwrap();
    }
    for query in queries {
        matching(&snapshot, query, &answers, 0).unwrap();
    }
    noting.0.into_inner()
}

#[test]
fn a_clause_is_searched_for_once_however_often_it_stands_in_the_queries() {
    let twice = all_of(vec![near(2.0, None), near(3.0, None), near(2.0, None)]);
    assert_eq!(searched(&[&twice, &near(3.0, None)]), [2.0, 3.0]);
    // One inside a filter comes first, and counts for the one outside.
    let inner = near(3.0, Some(near(2.0, None)));
    assert_eq!(
        searched(&[&all_of(vec![inner, near(2.0, None)])]),
        [2.0, 3.0]
    );
}

#[test]
fn what_clauses_have_found_is_booked() {
    let (snapshot, _) = shard(3);
    let noting = Noting::default();
    let stage = VectorStage {
        snapshot: &snapshot,
        now_ms: 0,
        knn: &noting,
    };
    // Two clauses find a document in each of five segments.
    let account = MemoryAccount::new(MemoryLimits {
        searches: 100,
        ..MemoryLimits::none()
    });
    let token = CancellationToken::new().part_with(account.open(MemoryPurpose::Searches));
    let _entered = token.enter();
    let two = all_of(vec![near(2.0, None), near(3.0, None)]);
    stage.answers(&two).unwrap();
    assert_eq!(account.total().used, 80);
    let more = stage.answers(&near(4.0, None));
    assert!(matches!(more, Err(QueryError::Memory(_))));
}

#[test]
fn nothing_is_searched_for_that_the_compiler_does_not_look_into() {
    let nothing = all_of(vec![Query::MatchNone, near(2.0, None)]);
    assert_eq!(searched(&[&nothing]), [0.0; 0]);
    let unscored = function_on(Query::term("unknown", "x"), near(2.0, None));
    assert_eq!(searched(&[&unscored]), [0.0; 0]);
    let scored = function_on(everything(), near(2.0, None));
    assert_eq!(searched(&[&scored]), [2.0]);
    let nested = Query::Nested(NestedQuery {
        path: "unknown".into(),
        query: Box::new(near(2.0, None)),
        score: JoinScore::Avg,
        ignore_unmapped: true,
        boost: 1.0,
    });
    assert_eq!(searched(&[&nested]), [0.0; 0]);
}

#[test]
fn documents_with_a_vector_are_known_to_every_query_that_may_ask_for_them() {
    let (snapshot, _) = shard(3);
    let noting = Noting::default();
    let stage = VectorStage {
        snapshot: &snapshot,
        now_ms: 0,
        knn: &noting,
    };
    let exists = |field: &str| Query::Exists {
        field: field.into(),
        boost: 1.0,
    };
    let string = |text: &str| {
        let mut string = QueryString::new(text);
        string.fields = vec![FieldBoost {
            field: "body".into(),
            boost: 1.0,
        }];
        Query::QueryString(string)
    };
    for query in [
        exists("vector"),
        exists("vec*"),
        all_of(vec![exists("vector"), everything()]),
        string("_exists_:vector"),
        string("vector:*"),
        function_on(exists("vector"), near(1.0, None)),
    ] {
        let answers = stage.answers(&query).unwrap();
        let found = matching(&snapshot, &query, &answers, 0).unwrap();
        let found: Vec<Vec<u32>> = found.iter().map(|bits| bits.iter().collect()).collect();
        let lives = |at: usize| {
            snapshot.readers[at]
                .alive_bitset()
                .is_none_or(|bits| bits.is_alive(0))
        };
        let wanted: Vec<Vec<u32>> = (0..SEGMENTS)
            .map(|at| (0..1).filter(|_| lives(at)).collect())
            .collect();
        assert_eq!(found, wanted, "{query:?}");
    }
}

#[test]
fn a_query_that_was_not_answered_says_that_there_are_no_vectors() {
    let (snapshot, _) = shard(3);
    let refused = matching(&snapshot, &near(1.0, None), &VectorAnswers::default(), 0);
    let reason = refused.unwrap_err().to_string();
    assert_eq!(reason, "Field 'vector' is not knn_vector type.");
}

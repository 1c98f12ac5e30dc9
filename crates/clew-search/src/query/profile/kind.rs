//! What OpenSearch calls the queries that do what these do.

use clew_query::{DerivedScope, Query, Related};

/// The name of a query's class in Lucene or OpenSearch, where one does the same; else one made after the query's own name.
#[warn(clippy::wildcard_enum_match_arm)]
pub(super) fn kind_of(query: &Query) -> &'static str {
    match query {
        Query::MatchAll { .. } => "MatchAllDocsQuery",
        Query::MatchNone => "MatchNoDocsQuery",
        Query::Match(_) => "MatchQuery",
        Query::MatchPhrase(_) => "PhraseQuery",
        Query::MatchPhrasePrefix(_) => "MultiPhrasePrefixQuery",
        Query::MatchBoolPrefix(_) => "MatchBoolPrefixQuery",
        Query::MultiMatch(_) => "MultiMatchQuery",
        Query::Term(_) => "TermQuery",
        Query::Terms { .. } | Query::TermsOf(_) | Query::Ids { .. } => "TermInSetQuery",
        Query::Range(_) => "RangeQuery",
        Query::Exists { .. } => "FieldExistsQuery",
        Query::Prefix(_) => "PrefixQuery",
        Query::Wildcard(_) => "WildcardQuery",
        Query::Regexp(_) => "RegexpQuery",
        Query::Fuzzy { .. } => "FuzzyQuery",
        Query::QueryString(_) => "QueryStringQuery",
        Query::Bool(_) => "BooleanQuery",
        Query::ConstantScore { .. } => "ConstantScoreQuery",
        Query::DisMax { .. } => "DisjunctionMaxQuery",
        Query::Boosting(_) => "BoostingQuery",
        Query::Intervals(_) => "IntervalQuery",
        Query::Geo(_) => "GeoQuery",
        Query::FunctionScore(_) => "FunctionScoreQuery",
        Query::DistanceFeature(_) => "DistanceFeatureQuery",
        Query::RankFeature(_) => "FeatureQuery",
        Query::SparseVector(_) => "SparseVectorQuery",
        Query::MoreLikeThis(_) => "MoreLikeThisQuery",
        Query::TermsSet(_) => "CoveringQuery",
        Query::VectorScore(_) => "ScriptScoreQuery",
        Query::Knn(_) => "KNNQuery",
        Query::Nested(_) => "ToParentBlockJoinQuery",
        Query::Related(related) => match related.way {
            Related::Child { .. } | Related::Parent { .. } => "JoinQuery",
            Related::ParentId(_) => "TermQuery",
        },
        Query::Percolate(_) => "PercolateQuery",
        Query::Predicate(_) => "PredicateQuery",
        Query::Named { query, .. }
        | Query::Lenient(query)
        | Query::Derived(DerivedScope { query, .. }) => kind_of(query),
    }
}

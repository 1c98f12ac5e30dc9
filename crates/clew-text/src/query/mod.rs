//! The query tree that every protocol builds, and its translation into tantivy's queries.
//!
//! [`Query`] says what is wanted in terms of field paths and JSON scalars; [`compile`] gives these
//! a meaning under one shard's mapping and statistics, so that scores equal OpenSearch's.
//! Deliberately absent: any protocol's JSON, and running the query (that is `search`).

mod automaton;
mod compile;
mod constant;
mod curve;
mod error;
pub(crate) mod feature;
mod function;
mod function_score;
mod geo;
mod interval;
mod join;
mod knn;
mod leaf;
mod literal;
mod minimum;
mod named;
mod near;
mod phrase;
mod points;
mod query_string;
mod regexp;
mod regexp_options;
mod related;
pub(crate) mod relatives;
mod resolver;
mod script;
mod similar;
mod source_phrase;
mod steady;
mod tree;
mod visit;
mod weighed;

pub(crate) use compile::{dictionary_terms, field_of, plan_nested, query_analyzer};
pub(crate) use literal::text_of;
pub(crate) use query_string::tree as query_string_tree;

pub(crate) use automaton::Wildcard;
pub(crate) use compile::matches_max;
pub use compile::{CompileContext, Plan, compile, plan, postings_max};
pub use curve::{DecayShape, FieldModifier};
pub use error::QueryError;
pub(crate) use error::unless_stopped;
pub use feature::{FeatureCurve, RankFeature, SparseVector};
pub use function_score::{
    BoostMode, Decay, FunctionKind, FunctionScore, ScoreFunction, ScoreMode, ValueMode,
};
pub use geo::GeoQuery;
pub use interval::{IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals};
pub use knn::KnnQuery;
pub use minimum::MinimumShouldMatch;
pub use named::{DocumentName, LikeNamed, PercolateNamed, TermsOf};
pub(crate) use regexp::Regexp;
pub use regexp_options::{RegexpOptions, RegexpSyntax};
pub use related::{Related, RelatedQuery};
pub use resolver::{KnnResolver, NoKnn, SegmentHits};
pub use script::{ScoreFormula, VectorMeasure, VectorScore};
pub use similar::{LikeDocument, LikeItem, MoreLikeThis, WordChoice};
pub(crate) use source_phrase::texts_at;
pub use tree::{
    Bool, Boosting, DistanceFeature, FieldBoost, Fuzziness, FuzzyDistance, JoinScore, Match,
    MatchPhrase, MultiMatch, MultiMatchKind, NestedQuery, Operator, Pattern, Query, QueryString,
    Range, SimpleFeatures, Term, TermsSet,
};

#[cfg(test)]
mod tests;

pub(crate) use constant::DocumentSet;

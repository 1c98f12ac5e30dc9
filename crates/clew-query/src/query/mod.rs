//! The query tree: a file for each family of queries, and what visits all of them.

mod curve;
mod feature;
mod function_score;
mod geo;
mod interval;
mod knn;
mod minimum;
mod named;
mod percolate;
mod query_string;
mod regexp_options;
mod related;
mod script;
mod similar;
mod tree;
mod visit;
mod words;

pub use curve::{DecayShape, FieldModifier};
pub use feature::{FeatureCurve, RankFeature, SparseVector};
pub use function_score::{
    BoostMode, Decay, FunctionKind, FunctionScore, ScoreFunction, ScoreMode, ValueMode,
};
pub use geo::GeoQuery;
pub use interval::{IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals};
pub use knn::KnnQuery;
pub use minimum::MinimumShouldMatch;
pub use named::{DocumentName, LikeNamed, PercolateNamed, TermsOf};
pub use percolate::{NoQuery, PercolateQuery, QueryReader};
pub use query_string::{QueryString, SimpleFeatures};
pub use regexp_options::{RegexpOptions, RegexpSyntax};
pub use related::{Related, RelatedQuery};
pub use script::{ScoreFormula, VectorMeasure, VectorScore};
pub use similar::{LikeDocument, LikeItem, MoreLikeThis, WordChoice};
pub use tree::{
    Bool, Boosting, DistanceFeature, JoinScore, NestedQuery, Pattern, Query, Range, Term, TermsSet,
};
pub use words::{
    FieldBoost, Fuzziness, FuzzyDistance, Match, MatchPhrase, MultiMatch, MultiMatchKind, Operator,
};

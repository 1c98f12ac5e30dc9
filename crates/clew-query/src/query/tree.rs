//! The query tree. It is owned and plain, so that a protocol can build it, compare it and keep it.

use clew_schema::RangeRelation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::derived::DerivedScope;
use super::feature::{RankFeature, SparseVector};
use super::function_score::FunctionScore;
use super::geo::GeoQuery;
use super::interval::Intervals;
use super::knn::KnnQuery;
use super::minimum::MinimumShouldMatch;
use super::named::TermsOf;
use super::percolate::PercolateQuery;
use super::predicate::PredicateQuery;
use super::program::Script;
use super::query_string::QueryString;
use super::regexp_options::{RegexpOptions, RegexpSyntax};
use super::related::RelatedQuery;
use super::rewrite::Rewrite;
use super::script::VectorScore;
use super::similar::MoreLikeThis;
use super::words::{Fuzziness, Match, MatchPhrase, MultiMatch};

/// What is wanted of a document, and how well it scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Query {
    /// Every document.
    MatchAll {
        /// The score.
        boost: f32,
    },
    /// No document.
    MatchNone,
    /// Analyzed words of a field.
    Match(Match),
    /// Analyzed words one after the other.
    MatchPhrase(MatchPhrase),
    /// A phrase whose last word is the beginning of a word.
    MatchPhrasePrefix(MatchPhrase),
    /// Words, the last one as a prefix.
    MatchBoolPrefix(Match),
    /// The same words in several fields.
    MultiMatch(MultiMatch),
    /// One exact value.
    Term(Term),
    /// One of several exact values.
    Terms {
        /// Field path.
        field: String,
        /// The values.
        values: Vec<Value>,
        /// The score.
        boost: f32,
    },
    /// One of several exact values, which a document has.
    TermsOf(TermsOf),
    /// Values between bounds.
    Range(Range),
    /// Documents that have a value.
    Exists {
        /// Field path; a path with fields below it means any of them.
        field: String,
        /// The score.
        boost: f32,
    },
    /// Documents with these ids.
    Ids {
        /// The ids.
        values: Vec<String>,
        /// The score.
        boost: f32,
    },
    /// Terms with this beginning.
    Prefix(Pattern),
    /// Terms that match a pattern of `*` and `?`.
    Wildcard(Pattern),
    /// Terms that match a regular expression as a whole.
    Regexp(Pattern),
    /// Terms within an edit distance.
    Fuzzy {
        /// Field path.
        field: String,
        /// The term.
        value: String,
        /// How far.
        fuzziness: Fuzziness,
        /// Factor on the score.
        boost: f32,
    },
    /// The query language of a search box.
    QueryString(QueryString),
    /// Clauses joined.
    Bool(Bool),
    /// A filter's documents, all with one score.
    ConstantScore {
        /// The filter.
        filter: Box<Query>,
        /// The score.
        boost: f32,
    },
    /// Any of the queries; the best one's score counts, the others by `tie_breaker`.
    DisMax {
        /// The queries.
        queries: Vec<Query>,
        /// Share of the other scores that is added.
        tie_breaker: f32,
        /// Factor on the score.
        boost: f32,
    },
    /// A query whose hits lose when they match another one too.
    Boosting(Boosting),
    /// Words by where they stand.
    Intervals(Intervals),
    /// Where points lie.
    Geo(GeoQuery),
    /// A query whose score functions change.
    FunctionScore(Box<FunctionScore>),
    /// A score by how near a date or a point is.
    DistanceFeature(DistanceFeature),
    /// A score by the value of a feature.
    RankFeature(RankFeature),
    /// Documents by the features that they share with a sparse vector.
    SparseVector(SparseVector),
    /// Documents like given texts.
    MoreLikeThis(Box<MoreLikeThis>),
    /// As many of the terms as each document wants.
    TermsSet(TermsSet),
    /// Documents scored by the distance of a vector.
    VectorScore(Box<VectorScore>),
    /// A query whose matches are told by a name.
    Named {
        /// The name.
        name: String,
        /// The query.
        query: Box<Query>,
    },
    /// Nearest neighbours.
    Knn(KnnQuery),
    /// Documents with nested objects that match.
    Nested(NestedQuery),
    /// Documents that belong to others which match.
    Related(RelatedQuery),
    /// Stored queries that documents match.
    #[serde(with = "super::percolate::unwritten")]
    Percolate(PercolateQuery),
    /// Documents that pass a test which no index answers.
    Predicate(Box<PredicateQuery>),
    /// A query with derived fields of its own.
    Derived(DerivedScope),
    /// A query that matches nothing where its values do not fit their field.
    Lenient(Box<Query>),
}

impl Query {
    /// Every document, with score 1.
    pub fn match_all() -> Self {
        Query::MatchAll { boost: 1.0 }
    }

    /// One exact value with boost 1.
    pub fn term(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Query::Term(Term {
            field: field.into(),
            value: value.into(),
            case_insensitive: false,
            boost: 1.0,
        })
    }

    /// Any of the analyzed words, with boost 1.
    pub fn matches(field: impl Into<String>, text: impl Into<String>) -> Self {
        Query::Match(Match::new(field, text))
    }
}

/// One exact value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// Field path.
    pub field: String,
    /// The value.
    pub value: Value,
    /// Whether upper and lower case are the same.
    pub case_insensitive: bool,
    /// Factor on the score.
    pub boost: f32,
}

/// Values between bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Field path.
    pub field: String,
    /// Greater than.
    pub gt: Option<Value>,
    /// Greater than or equal.
    pub gte: Option<Value>,
    /// Less than.
    pub lt: Option<Value>,
    /// Less than or equal.
    pub lte: Option<Value>,
    /// Format of dates, instead of the field's.
    pub format: Option<String>,
    /// Zone of dates that name none.
    pub time_zone: Option<String>,
    /// How ranges that documents have must lie to this one.
    #[serde(with = "crate::forms::RangeRelationForm")]
    pub relation: RangeRelation,
    /// Whether ids have an order, that of their bytes: not in every language.
    #[serde(default)]
    pub orders_ids: bool,
    /// The score.
    pub boost: f32,
}

impl Range {
    /// No bounds yet, score 1.
    pub fn new(field: impl Into<String>) -> Self {
        Range {
            field: field.into(),
            gt: None,
            gte: None,
            lt: None,
            lte: None,
            format: None,
            time_zone: None,
            relation: RangeRelation::default(),
            orders_ids: false,
            boost: 1.0,
        }
    }
}

/// A pattern over the terms of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Field path.
    pub field: String,
    /// The beginning, wildcard pattern or regular expression.
    pub value: String,
    /// Whether upper and lower case are the same.
    pub case_insensitive: bool,
    /// What a regular expression may use.
    pub syntax: RegexpSyntax,
    /// How large the table of a regular expression may grow.
    pub states_max: usize,
    /// How its words score.
    #[serde(default)]
    pub rewrite: Rewrite,
    /// The score.
    pub boost: f32,
}

impl Pattern {
    /// A pattern with score 1 that minds the case.
    pub fn new(field: impl Into<String>, value: impl Into<String>) -> Self {
        Pattern {
            field: field.into(),
            value: value.into(),
            case_insensitive: false,
            syntax: RegexpSyntax::default(),
            states_max: RegexpOptions::default().states_max,
            rewrite: Rewrite::Usual,
            boost: 1.0,
        }
    }

    /// As a regular expression.
    pub fn regexp_options(&self) -> RegexpOptions {
        RegexpOptions {
            syntax: self.syntax,
            ignore_case: self.case_insensitive,
            states_max: self.states_max,
        }
    }
}

/// Clauses joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bool {
    /// All needed, their scores are added.
    pub must: Vec<Query>,
    /// Their scores are added; needed only as `minimum_should_match` says.
    pub should: Vec<Query>,
    /// None may match.
    pub must_not: Vec<Query>,
    /// All needed, without a score.
    pub filter: Vec<Query>,
    /// How many of `should` must match; absent: one, unless there is `must` or `filter`.
    pub minimum_should_match: Option<MinimumShouldMatch>,
    /// Factor on the score.
    pub boost: f32,
}

impl Default for Bool {
    fn default() -> Self {
        Bool {
            must: Vec::new(),
            should: Vec::new(),
            must_not: Vec::new(),
            filter: Vec::new(),
            minimum_should_match: None,
            boost: 1.0,
        }
    }
}

/// How the scores of a document's nested objects become its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum JoinScore {
    /// Their mean.
    #[default]
    Avg,
    /// Their sum.
    Sum,
    /// The best.
    Max,
    /// The least.
    Min,
    /// Not at all: it scores 0.
    None,
}

/// Documents with nested objects that match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NestedQuery {
    /// The nested objects' path.
    pub path: String,
    /// What an object must match.
    pub query: Box<Query>,
    /// How scores are joined.
    pub score: JoinScore,
    /// Whether a path that is not mapped matches nothing instead of being an error.
    pub ignore_unmapped: bool,
    /// Factor on the score.
    pub boost: f32,
}

/// A query whose hits lose when they match another one too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Boosting {
    /// What must match.
    pub positive: Box<Query>,
    /// What lowers the score.
    pub negative: Box<Query>,
    /// Factor on the score of documents that match `negative`.
    pub negative_boost: f32,
    /// Factor on the score.
    pub boost: f32,
}

/// A score by how near a date or a point is: half of the boost at the pivot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceFeature {
    /// Field path.
    pub field: String,
    /// Where the score is highest.
    pub origin: Value,
    /// The distance at which half of it is left.
    pub pivot: Value,
    /// The highest score.
    pub boost: f32,
}

/// As many of some terms as each document wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermsSet {
    /// Field path.
    pub field: String,
    /// The terms.
    pub terms: Vec<Value>,
    /// What says how many must match.
    pub minimum: TermsMinimum,
    /// Factor on the score.
    pub boost: f32,
}

/// What says how many of some terms must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TermsMinimum {
    /// The path of a field of the document.
    Field(String),
    /// A script for [`ScriptPurpose::Values`](super::ScriptPurpose::Values), for each document.
    Script(Box<Script>),
}

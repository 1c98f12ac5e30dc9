//! The query tree. It is owned and plain, so that a protocol can build it, compare it and keep it.

use clew_schema::RangeRelation;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::feature::{RankFeature, SparseVector};
use super::function_score::FunctionScore;
use super::geo::GeoQuery;
use super::interval::Intervals;
use super::knn::KnnQuery;
use super::minimum::MinimumShouldMatch;
use super::named::TermsOf;
use super::percolate::PercolateQuery;
use super::regexp_options::{RegexpOptions, RegexpSyntax};
use super::related::RelatedQuery;
use super::script::VectorScore;
use super::similar::MoreLikeThis;

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
    /// As many of the terms as a field says.
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

/// How words or clauses are joined when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Operator {
    /// Any is enough.
    #[default]
    Or,
    /// All are needed.
    And,
}

/// An edit distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fuzziness {
    /// Lengths (in characters) from which one and two edits are allowed, or a fixed distance.
    pub distance: FuzzyDistance,
    /// So many first characters must be equal.
    pub prefix_length: usize,
    /// At most so many terms are taken, the nearest first.
    pub max_expansions: usize,
    /// Whether two swapped neighbours count as one edit.
    pub transpositions: bool,
}

/// How an edit distance is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FuzzyDistance {
    /// So many edits.
    Fixed(u8),
    /// One edit from the first length on, two from the second on.
    Auto(usize, usize),
}

impl Fuzziness {
    /// The usual rule: one edit from 3 characters on, two from 6 on.
    pub fn auto() -> Self {
        Fuzziness {
            distance: FuzzyDistance::Auto(3, 6),
            prefix_length: 0,
            max_expansions: 50,
            transpositions: true,
        }
    }

    /// Reads `0`, `1`, `2`, `AUTO` or `AUTO:low,high`.
    ///
    /// # Errors
    /// A reason when the text is none of these.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("Invalid fuzziness value: {text}");
        let mut fuzziness = Fuzziness::auto();
        let upper = text.trim().to_ascii_uppercase();
        if let Some(rest) = upper.strip_prefix("AUTO") {
            if let Some(lengths) = rest.strip_prefix(':') {
                let (low, high) = lengths.split_once(',').ok_or_else(wrong)?;
                fuzziness.distance = FuzzyDistance::Auto(
                    low.trim().parse().map_err(|_| wrong())?,
                    high.trim().parse().map_err(|_| wrong())?,
                );
            } else if !rest.is_empty() {
                return Err(wrong());
            }
            return Ok(fuzziness);
        }
        fuzziness.distance = match upper.as_str() {
            "0" | "0.0" => FuzzyDistance::Fixed(0),
            "1" | "1.0" => FuzzyDistance::Fixed(1),
            "2" | "2.0" => FuzzyDistance::Fixed(2),
            _ => return Err(wrong()),
        };
        Ok(fuzziness)
    }

    /// Edits allowed for a term of so many characters.
    pub fn edits(&self, characters: usize) -> u8 {
        match self.distance {
            FuzzyDistance::Fixed(edits) => edits,
            FuzzyDistance::Auto(_, high) if characters >= high => 2,
            FuzzyDistance::Auto(low, _) if characters >= low => 1,
            FuzzyDistance::Auto(..) => 0,
        }
    }
}

/// Analyzed words of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// Field path.
    pub field: String,
    /// The text to analyze.
    pub text: Value,
    /// How the words are joined.
    pub operator: Operator,
    /// How many words must match.
    pub minimum_should_match: Option<MinimumShouldMatch>,
    /// Words may differ by this much.
    pub fuzziness: Option<Fuzziness>,
    /// Another analyzer than the field's.
    pub analyzer: Option<String>,
    /// Whether values that do not fit the field match nothing instead of failing.
    pub lenient: bool,
    /// Whether a text without words matches everything.
    pub zero_terms_all: bool,
    /// Whether the words of a synonym must stand in a row.
    pub synonym_phrases: bool,
    /// Factor on the score.
    pub boost: f32,
}

impl Match {
    /// Any of the words, with boost 1.
    pub fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        Match {
            field: field.into(),
            text: Value::String(text.into()),
            operator: Operator::Or,
            minimum_should_match: None,
            fuzziness: None,
            analyzer: None,
            lenient: false,
            zero_terms_all: false,
            synonym_phrases: true,
            boost: 1.0,
        }
    }
}

/// Analyzed words one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchPhrase {
    /// Field path.
    pub field: String,
    /// The text to analyze.
    pub text: Value,
    /// How many moves of words are allowed.
    pub slop: u32,
    /// Another analyzer than the field's.
    pub analyzer: Option<String>,
    /// At most so many words complete the last one, when it is a prefix.
    pub max_expansions: usize,
    /// Whether a text of which the analyzer leaves nothing matches every document.
    pub zero_terms_all: bool,
    /// Factor on the score.
    pub boost: f32,
}

impl MatchPhrase {
    /// The exact phrase, with boost 1.
    pub fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        MatchPhrase {
            field: field.into(),
            text: Value::String(text.into()),
            slop: 0,
            analyzer: None,
            max_expansions: 50,
            zero_terms_all: false,
            boost: 1.0,
        }
    }
}

/// A field, or a pattern of field paths, with a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldBoost {
    /// Field path; `*` stands for any characters.
    pub field: String,
    /// Factor on the score.
    pub boost: f32,
}

impl FieldBoost {
    /// Reads `path` or `path^boost`.
    pub fn parse(text: &str) -> Self {
        let (field, boost) = match text.rsplit_once('^') {
            Some((field, boost)) => match boost.parse() {
                Ok(boost) => (field, boost),
                Err(_) => (text, 1.0),
            },
            None => (text, 1.0),
        };
        FieldBoost {
            field: field.to_string(),
            boost,
        }
    }
}

/// How the fields of a multi-match are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum MultiMatchKind {
    /// The best field counts.
    #[default]
    BestFields,
    /// The fields' scores are added.
    MostFields,
    /// Each word may be found in any field; the best field of each word counts.
    CrossFields,
    /// Phrases; the best field counts.
    Phrase,
    /// Phrases with a prefix at the end; the best field counts.
    PhrasePrefix,
    /// Words with a prefix at the end; the fields' scores are added.
    BoolPrefix,
}

/// The same words in several fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiMatch {
    /// The fields; none means every field that can hold words.
    pub fields: Vec<FieldBoost>,
    /// What holds in each field: text, operator, fuzziness; its field is not looked at.
    pub clause: Match,
    /// How the fields are joined.
    pub kind: MultiMatchKind,
    /// Slop of phrases.
    pub slop: u32,
    /// Share of the other fields' scores that is added.
    pub tie_breaker: Option<f32>,
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

/// The query language of a search box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueryString {
    /// The text.
    pub query: String,
    /// Fields of clauses that name none; none means every field that can be searched by words.
    pub fields: Vec<FieldBoost>,
    /// How clauses are joined when nothing is said.
    pub default_operator: Operator,
    /// How many optional clauses of the top level must match.
    pub minimum_should_match: Option<MinimumShouldMatch>,
    /// Whether values that do not fit their field match nothing instead of failing.
    pub lenient: bool,
    /// Whether a pattern may begin with `*` or `?`.
    pub allow_leading_wildcard: bool,
    /// Slop of phrases that name none.
    pub phrase_slop: u32,
    /// Another analyzer than the fields'.
    pub analyzer: Option<String>,
    /// Another analyzer of phrases.
    pub quote_analyzer: Option<String>,
    /// What holds for words with `~`; their distance is this one's unless they name their own.
    pub fuzziness: Fuzziness,
    /// Share of the other fields' scores that is added to the best one's.
    pub tie_breaker: f32,
    /// Whether the words of a synonym must stand in a row.
    pub synonym_phrases: bool,
    /// How large the tables of regular expressions may grow.
    pub regexp_states_max: usize,
    /// Whether this is the simple language, which never fails.
    pub simple: bool,
    /// What the simple language understands.
    pub features: SimpleFeatures,
    /// Factor on the score.
    pub boost: f32,
}

/// Which signs of the simple language mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimpleFeatures(u32);

impl Default for SimpleFeatures {
    fn default() -> Self {
        SimpleFeatures(u32::MAX)
    }
}

impl SimpleFeatures {
    /// `+`: both sides.
    pub const AND: u32 = 1;
    /// `-`: not what follows.
    pub const NOT: u32 = 1 << 1;
    /// `|`: either side.
    pub const OR: u32 = 1 << 2;
    /// `*` behind a word: what begins with it.
    pub const PREFIX: u32 = 1 << 3;
    /// `"`: words in a row.
    pub const PHRASE: u32 = 1 << 4;
    /// `(` and `)`.
    pub const PRECEDENCE: u32 = 1 << 5;
    /// `\`: the next sign means itself.
    pub const ESCAPE: u32 = 1 << 6;
    /// White space parts words.
    pub const WHITESPACE: u32 = 1 << 7;
    /// `~` behind a word: what is written nearly so.
    pub const FUZZY: u32 = 1 << 8;
    /// `~` behind a phrase: with so many moves.
    pub const NEAR: u32 = 1 << 9;

    /// From names joined by `|`.
    ///
    /// # Errors
    /// The reason, naming what is not known.
    pub fn parse(names: &str) -> Result<Self, String> {
        let mut features = 0;
        for name in names.split('|').filter(|name| !name.is_empty()) {
            features |= match name.trim().to_ascii_uppercase().as_str() {
                "NONE" => 0,
                "ALL" => u32::MAX,
                "AND" => Self::AND,
                "NOT" => Self::NOT,
                "OR" => Self::OR,
                "PREFIX" => Self::PREFIX,
                "PHRASE" => Self::PHRASE,
                "PRECEDENCE" => Self::PRECEDENCE,
                "ESCAPE" => Self::ESCAPE,
                "WHITESPACE" => Self::WHITESPACE,
                "FUZZY" => Self::FUZZY,
                "NEAR" | "SLOP" => Self::NEAR,
                _ => return Err(format!("Unknown simple_query_string flag [{name}]")),
            };
        }
        Ok(SimpleFeatures(features))
    }

    /// Whether a sign means something.
    pub fn has(self, feature: u32) -> bool {
        self.0 & feature != 0
    }
}

impl QueryString {
    /// The text over every field, with boost 1.
    pub fn new(query: impl Into<String>) -> Self {
        QueryString {
            query: query.into(),
            fields: Vec::new(),
            default_operator: Operator::Or,
            minimum_should_match: None,
            lenient: false,
            allow_leading_wildcard: true,
            phrase_slop: 0,
            analyzer: None,
            quote_analyzer: None,
            fuzziness: Fuzziness::auto(),
            tie_breaker: 0.0,
            synonym_phrases: true,
            regexp_states_max: RegexpOptions::default().states_max,
            simple: false,
            features: SimpleFeatures::default(),
            boost: 1.0,
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

/// As many of some terms as a field of the document says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermsSet {
    /// Field path.
    pub field: String,
    /// The terms.
    pub terms: Vec<Value>,
    /// Path of the field that says how many must match.
    pub minimum_field: String,
    /// Factor on the score.
    pub boost: f32,
}

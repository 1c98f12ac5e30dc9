//! Queries written as one text, in a language of their own.

use serde::{Deserialize, Serialize};

use super::minimum::MinimumShouldMatch;
use super::regexp_options::RegexpOptions;
use super::rewrite::Rewrite;
use super::words::{FieldBoost, Fuzziness, MultiMatchKind, Operator};

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
    /// How several fields are joined that words are looked for in.
    #[serde(default)]
    pub kind: MultiMatchKind,
    /// Share of the other fields' scores that is added to the best one's.
    pub tie_breaker: f32,
    /// Zone of dates that name none.
    #[serde(default)]
    pub time_zone: Option<String>,
    /// Phrases are looked for in the field whose name ends in this besides, where there is one.
    #[serde(default)]
    pub quote_suffix: Option<String>,
    /// Whether the words of a synonym must stand in a row.
    pub synonym_phrases: bool,
    /// How large the tables of regular expressions may grow.
    pub regexp_states_max: usize,
    /// How the words of patterns score.
    #[serde(default)]
    pub rewrite: Rewrite,
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

    /// From the bits of the signs as one number; a negative one stands for all of them.
    pub fn of_bits(bits: i64) -> Self {
        SimpleFeatures(u32::try_from(bits).unwrap_or(u32::MAX))
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
            kind: MultiMatchKind::default(),
            tie_breaker: 0.0,
            time_zone: None,
            quote_suffix: None,
            synonym_phrases: true,
            regexp_states_max: RegexpOptions::default().states_max,
            rewrite: Rewrite::Usual,
            simple: false,
            features: SimpleFeatures::default(),
            boost: 1.0,
        }
    }

    /// Whether every field is meant that can be searched by words: none is named, or `*` alone.
    pub fn is_over_all(&self) -> bool {
        self.fields.iter().all(|one| one.field == "*")
    }
}

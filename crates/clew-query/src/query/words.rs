//! Words of texts: together, one after the other, in several fields, and written nearly so.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::minimum::MinimumShouldMatch;
use super::rewrite::Rewrite;

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
    /// How the terms score.
    #[serde(default)]
    pub rewrite: Rewrite,
}

/// How an edit distance is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FuzzyDistance {
    /// So many edits.
    Fixed(u8),
    /// One edit from the first length on, two from the second on.
    Auto(usize, usize),
}

/// The two lengths behind `AUTO:`.
fn lengths_of(text: &str, lengths: &str) -> Result<FuzzyDistance, String> {
    let told = "failed to find low and high distance values";
    let (low, high) = lengths.split_once(',').ok_or(told)?;
    let length = |digits: &str| -> Result<usize, String> {
        let read = digits.trim().parse();
        read.map_err(|_| format!("failed to parse [{text}] as a \"auto:int,int\""))
    };
    let (low, high) = (length(low)?, length(high)?);
    if low > high {
        return Err(
            "fuzziness wrongly configured, must be: lowDistance > 0, highDistance > 0 and \
             lowDistance <= highDistance "
                .to_string(),
        );
    }
    Ok(FuzzyDistance::Auto(low, high))
}

impl Fuzziness {
    /// The usual rule: one edit from 3 characters on, two from 6 on.
    pub fn auto() -> Self {
        Fuzziness {
            distance: FuzzyDistance::Auto(3, 6),
            prefix_length: 0,
            max_expansions: 50,
            transpositions: true,
            rewrite: Rewrite::Usual,
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
                fuzziness.distance = lengths_of(text, lengths)?;
            } else if !rest.is_empty() {
                return Err(wrong());
            }
            return Ok(fuzziness);
        }
        let number = upper.parse::<f32>().ok().filter(|number| *number >= 0.0);
        fuzziness.distance = match number.ok_or_else(wrong)? {
            number if number < 1.0 => FuzzyDistance::Fixed(0),
            number if number < 2.0 => FuzzyDistance::Fixed(1),
            _ => FuzzyDistance::Fixed(2),
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

/// What is asked of the frequent words of a text where rare ones decide which documents match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrequentWords {
    /// Words in more documents are frequent: so many from 1 on, else a share of all.
    pub cutoff: f32,
    /// How frequent words are joined.
    pub operator: Operator,
    /// How many of them must match; where nothing is said and there are no others, all.
    pub minimum_should_match: Option<MinimumShouldMatch>,
}

impl FrequentWords {
    /// Whether a word in so many documents is frequent, among so many rows.
    #[allow(
        clippy::cast_precision_loss,
        reason = "shares of documents need no more precision, and are computed like this elsewhere"
    )]
    pub fn include(&self, documents: u64, rows: u64) -> bool {
        let documents = documents as f32;
        let is_above = self.cutoff >= 1.0 && documents > self.cutoff;
        is_above || documents > (self.cutoff * rows as f32).ceil()
    }
}

/// The parameters of BM25, where a query says them and not the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bm25 {
    /// How soon more of a word tells nothing more; finite, not negative.
    pub k1: f32,
    /// How much the length of a document counts, from 0 to 1.
    pub b: f32,
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
    /// What is asked of frequent words, when that is something else.
    pub frequent: Option<FrequentWords>,
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
    /// How the words are weighed, if not as the field has it. All postings are read then, unless these are BM25's usual
    /// parameters: what is kept to prune by is of those.
    pub weighed: Option<Bm25>,
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
            frequent: None,
            fuzziness: None,
            analyzer: None,
            lenient: false,
            zero_terms_all: false,
            synonym_phrases: true,
            weighed: None,
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

//! From text to terms. Terms must equal Lucene's, because people move queries, dashboards and
//! expectations over from there; so the word rules are those of Unicode's annex 29 as Lucene's
//! standard tokenizer reads them, with a fast way through ASCII.
//!
//! `custom` puts analyzers together from parts, as the settings of an index say.
//!
//! ```
//! let words = clew_analysis::tokens("english", "The dogs are barking");
//! let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
//! assert_eq!(words, ["dog", "bark"]);
//! ```
//!
//! Deliberately absent: files of words or rules, plugins.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod java_pattern;

mod murmur3;

mod scripts;

mod stream;

mod custom;

mod simple;

mod standard;

mod units;

#[cfg(test)]
mod tests;

use tantivy::tokenizer::{RawTokenizer, TextAnalyzer, TokenStream, TokenizerManager};

pub use custom::{
    Analysis, LengthOf, PartLimits, counting, length_of, shown_name, size_room, strip_html,
    take_left_out, with_filters,
};
pub use java_pattern::{
    InOneDefinition, InOneTurn, JavaMatches, JavaPattern, NotReplaced, PatternError, Places,
    Replacement, TooManySteps, in_one_definition, in_one_turn, java_pattern,
};
pub use murmur3::murmur3;

use scripts::{is_emoji, makes_word};
use simple::{LowerRuns, WhitespaceTokenizer};
pub use standard::StandardTerms;
use standard::StandardTokenizer;
pub use units::Utf16Places;

/// Positions between two values of one text field, so that a phrase does not reach across them.
pub const POSITION_GAP: usize = 100;

/// Longest token of every analyzer but `keyword`, in UTF-16 units; longer words are cut in pieces.
pub const TOKEN_LENGTH_MAX: usize = 255;

/// Names a mapping may give to an analyzer.
const NAMES: [&str; 5] = [
    "standard",
    "simple",
    "whitespace",
    "keyword",
    "alphanumeric",
];

/// Whether a mapping may name this analyzer.
pub fn is_analyzer(name: &str) -> bool {
    NAMES.contains(&name) || custom::chain(name).is_some()
}

/// Whether a built-in analyzer leaves a text as it is.
fn is_of_one_term(name: &str) -> bool {
    matches!(name, "keyword" | "raw")
}

/// Whether an analyzer may leave terms that are as long as a text; those of others are cut at a few hundred units.
pub fn makes_long_terms(analyzer: &str) -> bool {
    match custom::chain(analyzer) {
        Some(chain) => chain.makes_long_terms(),
        None => is_of_one_term(analyzer),
    }
}

/// Whether a mapping may name this normalizer.
pub(crate) fn is_normalizer(name: &str) -> bool {
    name == "lowercase" || custom::is_composed(name)
}

/// A value under a normalizer.
pub fn normalize(name: &str, text: &str) -> String {
    match name {
        "lowercase" => stream::lower(text),
        composed => match custom::chain(composed) {
            Some(chain) => chain.normalize(text),
            None => text.to_string(),
        },
    }
}

/// One term of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The term as it is indexed.
    pub text: String,
    /// Its position, counted in tokens from 0.
    pub position: usize,
    /// How many positions it takes; more than one for joined words.
    pub length: usize,
    /// First byte in the text.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
    /// What Lucene calls it: `<ALPHANUM>`, `<NUM>`, `word`, `SYNONYM`, …
    pub kind: &'static str,
    /// Whether stemmers leave it as it is; absent where nothing in the analyzer asks for it.
    pub keyword: Option<bool>,
}

impl Token {
    fn new(token: &tantivy::tokenizer::Token, kind: &'static str, keyword: Option<bool>) -> Self {
        Token {
            text: token.text.clone(),
            position: token.position,
            length: token.position_length,
            start: token.offset_from,
            end: token.offset_to,
            kind,
            keyword,
        }
    }
}

/// The tokenizers by the names that the schema uses: the analyzers of a mapping, and `raw`.
pub fn analyzers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    for name in NAMES {
        manager.register(name, analyzer(name));
    }
    manager.register("raw", analyzer("keyword"));
    // tantivy asks for it even where nothing is indexed, as for the stored source.
    manager.register("default", analyzer("keyword"));
    manager
}

/// The same, and the analyzers of these names.
pub fn analyzers_with<'n>(names: impl Iterator<Item = &'n str>) -> TokenizerManager {
    let manager = analyzers();
    for name in names.filter(|name| !NAMES.contains(name)) {
        manager.register(name, analyzer(name));
    }
    manager
}

/// The terms of a text under an analyzer; a name that is no analyzer means `standard`.
pub fn tokens(analyzer: &str, text: &str) -> Vec<Token> {
    if !NAMES.contains(&analyzer)
        && let Some(chain) = custom::chain(analyzer)
    {
        let terms = chain.run(text);
        let tells = chain.tells_keywords();
        return terms.iter().map(|term| term.shown(tells)).collect();
    }
    let mut found = Vec::new();
    for_each_token(analyzer, text, |token| {
        let kind = match analyzer {
            "simple" | "whitespace" | "keyword" | "alphanumeric" => "word",
            _ => kind(&token.text),
        };
        found.push(Token::new(token, kind, None));
    });
    found
}

/// The terms of a query's text: the same, each of one place where lengths say nothing of ways through it.
pub fn query_tokens(analyzer: &str, text: &str) -> Vec<Token> {
    let mut found = tokens(analyzer, text);
    if found.iter().any(|token| token.length > 1)
        && custom::chain(analyzer).is_some_and(|chain| chain.hides_ways())
    {
        for token in &mut found {
            token.length = 1;
        }
    }
    found
}

/// What Lucene's standard tokenizer calls a term: by its script where all of it is of one that needs no spaces.
fn kind(text: &str) -> &'static str {
    let all = |is: fn(char) -> bool| text.chars().all(is);
    match text.chars().next() {
        Some('\u{3040}'..='\u{309f}') => "<HIRAGANA>",
        Some(first) if is_ideograph(first) => "<IDEOGRAPHIC>",
        Some(first) if is_katakana(first) && all(is_katakana) => "<KATAKANA>",
        Some(first) if is_hangul(first) && all(is_hangul) => "<HANGUL>",
        Some(first) if is_southeast_asian(first) => "<SOUTHEAST_ASIAN>",
        Some('0'..='9' | '#' | '*') if text.contains('\u{20e3}') => "<EMOJI>",
        Some(first) if !first.is_ascii() && is_picture(first, text) => "<EMOJI>",
        Some(first) if first.is_numeric() && all(|letter| !letter.is_alphabetic()) => "<NUM>",
        _ => "<ALPHANUM>",
    }
}

/// Whether a term that begins with a letter is one of pictures.
fn is_picture(first: char, text: &str) -> bool {
    let mut behind = text.chars().skip(1);
    is_emoji(first) && !behind.any(char::is_alphanumeric)
}

fn is_katakana(letter: char) -> bool {
    matches!(
        letter,
        '\u{3099}'
            | '\u{309a}'
            | '\u{30a0}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{32d0}'..='\u{32fe}'
            | '\u{3300}'..='\u{3357}'
            | '\u{ff66}'..='\u{ff9f}'
    )
}

/// Letters of scripts without spaces: Thai, Lao, Myanmar, Khmer.
fn is_southeast_asian(letter: char) -> bool {
    letter.is_alphabetic()
        && matches!(
            letter,
            '\u{e01}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        )
}

fn is_hangul(letter: char) -> bool {
    matches!(
        letter,
        '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{ac00}'..='\u{d7af}'
    )
}

fn is_ideograph(letter: char) -> bool {
    matches!(
        letter,
        '\u{2e80}'..='\u{2fd5}'
            | '\u{3005}'
            | '\u{3007}'
            | '\u{3021}'..='\u{3029}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2fa1f}'
    )
}

/// A composed analyzer in parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The texts after each filter of characters, by the filters' types.
    pub char_filters: Vec<(String, String)>,
    /// The type of the tokenizer, and its terms.
    pub tokenizer: (String, Vec<Token>),
    /// The terms after each filter, by the filters' types.
    pub filters: Vec<(String, Vec<Token>)>,
}

/// What a composed analyzer does to a text, step by step; `None` where it is of one piece.
///
/// Costs a run of the analyzer, and a copy of its terms for each of its filters.
pub fn explained(analyzer: &str, text: &str) -> Option<Parts> {
    custom::explained(analyzer, text)
}

/// Calls `sink` with each term of the text.
pub fn for_each_token(name: &str, text: &str, mut sink: impl FnMut(&tantivy::tokenizer::Token)) {
    each_token(analyzer(name), text, &mut sink);
}

fn each_token(
    mut analyzer: TextAnalyzer,
    text: &str,
    sink: &mut dyn FnMut(&tantivy::tokenizer::Token),
) {
    let mut stream = analyzer.token_stream(text);
    while stream.advance() {
        sink(stream.token());
    }
}

/// The words of a text by the rules of Unicode, as they are written.
fn plain_words(text: &str, sink: &mut dyn FnMut(&tantivy::tokenizer::Token)) {
    each_token(
        TextAnalyzer::from(StandardTokenizer::keeping_case()),
        text,
        sink,
    );
}

fn analyzer(name: &str) -> TextAnalyzer {
    match name {
        "simple" => TextAnalyzer::from(LowerRuns::of(char::is_alphabetic)),
        "alphanumeric" => TextAnalyzer::from(LowerRuns::of(char::is_alphanumeric)),
        "whitespace" => TextAnalyzer::from(WhitespaceTokenizer::default()),
        "keyword" | "raw" => TextAnalyzer::from(RawTokenizer::default()),
        "standard" => TextAnalyzer::from(StandardTokenizer::default()),
        composed => match custom::chain(composed) {
            Some(chain) => TextAnalyzer::from(custom::ChainTokenizer(chain)),
            None => TextAnalyzer::from(StandardTokenizer::default()),
        },
    }
}

//! What happens to terms after a text was cut.

use std::collections::BTreeSet;
use std::ops::Range;

use icu_casemap::CaseMapper;

use super::beside::{Beside, folded_beside};
use super::chosen::Chosen;
use super::cjk::{Pairs, usual_width};
use super::flat_graph::flattened;
use super::kept::{Kept, fingerprint, unique};
use super::language::{self, ARTICLES};
use super::letters::Letters;
use super::light::{self, Light};
use super::lower_case::LowerCase;
use super::min_hash::MinHash;
use super::part::Part;
use super::replaced::replaced;
use super::room::Room;
use super::shingle::{Behind, Shingle};
use super::snowball::Snowball;
use super::stop::StopWords;
use super::synonyms::Synonyms;
use super::tokenizer::pieces;
use super::unicode::{self, Form, ascii_digit, ascii_folded};
use super::ways::Ways;
use super::words::Delimiter;
use super::{Chain, Term};
use crate::java_pattern::{JavaPattern, Replacement, java_pattern};

/// Longest piece, in characters.
const PIECE_MAX: usize = 255;

/// One filter of terms.
#[derive(Clone)]
pub(super) enum Filter {
    Lower,
    Upper,
    Fold {
        keep: bool,
    },
    Stop(StopWords),
    Stem(Snowball),
    LightStem(Light),
    /// German umlauts in one way of writing.
    German,
    /// Letters of other scripts likewise.
    Letters(Letters),
    /// Letters in their usual width.
    Width,
    Pairs(Pairs),
    Possessive,
    IcuFold,
    Normal(Form),
    /// Lower case by a language's own rules.
    LowerOf(LowerCase),
    Synonyms(Synonyms),
    Shingle(Shingle),
    Pieces {
        lengths: Range<usize>,
        only_first: bool,
        /// Whether the last letters are taken in place of the first.
        from_end: bool,
        keep: bool,
    },
    /// What is so long, as this counts.
    Length(fn(&str) -> usize, usize, usize),
    Trim,
    Truncate(usize),
    Unique {
        only_same_position: bool,
    },
    Reverse,
    Delimiter(Delimiter),
    Replace {
        pattern: JavaPattern,
        replacement: Replacement,
        all: bool,
    },
    Keywords {
        words: BTreeSet<String>,
        pattern: Option<JavaPattern>,
        ignore_case: bool,
    },
    Elision {
        articles: BTreeSet<String>,
        ignore_case: bool,
    },
    Limit(usize),
    Digits,
    Apostrophe,
    /// What `classic` words do without.
    Classic,
    Fingerprint {
        separator: String,
        max: usize,
    },
    /// What stands before a sign: the rest was a weight, which is not kept.
    UpTo(char),
    Kept(Kept),
    Beside(Beside),
    Chosen(Chosen),
    Hashes(MinHash),
    Ways(Ways),
    FlattenGraph,
    Nothing,
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Filter")
    }
}

impl Filter {
    /// The filter of a part; `before` is what terms went through before it.
    pub(super) fn compile(part: &Part<'_>, before: &Chain) -> Result<Self, String> {
        let name = part.type_name();
        if let Some(filter) = Self::without_parameters(name) {
            return Ok(filter);
        }
        if let Some(filter) = Self::stemming(part)? {
            return Ok(filter);
        }
        if let Some(filter) = Self::with_parameters(part, before)? {
            return Ok(filter);
        }
        if let Some(kept) = Kept::compile(part)? {
            Ok(Filter::Kept(kept))
        } else if let Some(beside) = Beside::compile(part, before)? {
            Ok(Filter::Beside(beside))
        } else if let Some(chosen) = Chosen::compile(part, before)? {
            Ok(Filter::Chosen(chosen))
        } else {
            Err(format!("Unknown filter type [{name}]"))
        }
    }

    /// A filter that its name says all of.
    fn without_parameters(name: &str) -> Option<Self> {
        Some(match name {
            "uppercase" => Filter::Upper,
            "icu_folding" => Filter::IcuFold,
            "german_normalization" => Filter::German,
            "cjk_width" => Filter::Width,
            "trim" => Filter::Trim,
            "remove_duplicates" => Filter::Unique {
                only_same_position: true,
            },
            "reverse" => Filter::Reverse,
            "decimal_digit" => Filter::Digits,
            "apostrophe" => Filter::Apostrophe,
            "classic" => Filter::Classic,
            "flatten_graph" => Filter::FlattenGraph,
            // Payloads are not kept.
            "type_as_payload" => Filter::Nothing,
            other => Filter::Letters(Letters::named(other)?),
        })
    }

    /// A stemmer, which is named by its type or by a parameter.
    fn stemming(part: &Part<'_>) -> Result<Option<Self>, String> {
        let stemmer = match part.type_name() {
            "stemmer" => {
                let language = part.text("language").or_else(|| part.text("name"));
                language::stemmer(&language.unwrap_or_else(|| "porter".to_string()))?
            }
            "snowball" => {
                language::snowball(&part.text("language").unwrap_or_else(|| "english".into()))?
            }
            "german_stem" => Filter::LightStem(Light::Caumanns),
            "porter_stem" => language::stemmer("porter")?,
            name @ ("dutch_stem" | "french_stem" | "russian_stem") => {
                language::snowball(name.trim_end_matches("_stem"))?
            }
            name @ ("arabic_stem" | "brazilian_stem" | "czech_stem" | "persian_stem") => {
                language::stemmer(name.trim_end_matches("_stem"))?
            }
            _ => return Ok(None),
        };
        Ok(Some(stemmer))
    }

    /// A filter whose parameters say what it does.
    fn with_parameters(part: &Part<'_>, before: &Chain) -> Result<Option<Self>, String> {
        Ok(Some(match part.type_name() {
            "lowercase" => {
                let language = part.text("language").unwrap_or_default();
                LowerCase::named(&language).map_or(Filter::Lower, Filter::LowerOf)
            }
            "asciifolding" => Filter::Fold {
                keep: part.flag("preserve_original", false)?,
            },
            "icu_normalizer" => Filter::Normal(Form::compile(part)?),
            "stop" => Filter::Stop(StopWords::compile(part)?),
            "cjk_bigram" => Filter::Pairs(Pairs::compile(part)?),
            "synonym" | "synonym_graph" => Filter::Synonyms(Synonyms::compile(part, before)?),
            "shingle" => Filter::Shingle(Shingle::compile(part)?),
            "ngram" | "nGram" => Self::pieces(part, false)?,
            "edge_ngram" | "edgeNGram" => Self::pieces(part, true)?,
            "byte_length" => {
                Filter::Length(str::len, 0, part.number("max", usize::MAX, 0..=usize::MAX)?)
            }
            "length" => Filter::Length(
                |text: &str| text.encode_utf16().count(),
                part.number("min", 0, 0..=usize::MAX)?,
                part.number("max", usize::MAX, 0..=usize::MAX)?,
            ),
            "truncate" => Filter::Truncate(part.number("length", 10, 1..=usize::MAX)?),
            "unique" => Filter::Unique {
                only_same_position: part.flag("only_on_same_position", false)?,
            },
            "word_delimiter" | "word_delimiter_graph" => {
                Filter::Delimiter(Delimiter::compile(part)?)
            }
            "pattern_replace" => {
                let (pattern, replacement) = part.replacement("token filter")?;
                Filter::Replace {
                    pattern,
                    replacement,
                    all: part.flag("all", true)?,
                }
            }
            "keyword_marker" => Self::keywords(part)?,
            "elision" => Filter::Elision {
                articles: match part.list("articles") {
                    Some(articles) => articles.into_iter().collect(),
                    None => ARTICLES.map(String::from).into(),
                },
                ignore_case: part.flag("articles_case", false)?,
            },
            "limit" => Filter::Limit(part.number("max_token_count", 1, 0..=usize::MAX)?),
            "concatenate_graph" => Filter::Ways(Ways::compile(part)?),
            "min_hash" => Filter::Hashes(MinHash::compile(part)?),
            "fingerprint" => Filter::Fingerprint {
                separator: part.text("separator").unwrap_or_else(|| " ".to_string()),
                max: part.number("max_output_size", 255, 1..=usize::MAX)?,
            },
            "delimited_payload" => {
                let sign = part.text("delimiter");
                Filter::UpTo(sign.and_then(|sign| sign.chars().next()).unwrap_or('|'))
            }
            _ => return Ok(None),
        }))
    }

    fn pieces(part: &Part<'_>, is_edge: bool) -> Result<Self, String> {
        let min = part.number("min_gram", 1, 1..=PIECE_MAX)?;
        let max = part.number("max_gram", min.max(2), min..=PIECE_MAX)?;
        Ok(Filter::Pieces {
            lengths: min..max + 1,
            only_first: is_edge,
            from_end: is_edge && is_from_end(part)?,
            keep: part.flag("preserve_original", false)?,
        })
    }

    fn keywords(part: &Part<'_>) -> Result<Self, String> {
        let words = part.list("keywords").unwrap_or_default();
        let pattern = part.text("keywords_pattern");
        Ok(Filter::Keywords {
            words: words.into_iter().collect(),
            pattern: pattern.map(|pattern| whole(&pattern)).transpose()?,
            ignore_case: part.flag("ignore_case", false)?,
        })
    }

    /// Whether the lengths of its terms say nothing of ways through the text, as those of shingles of
    /// several sizes, which overlap.
    pub(super) fn hides_ways(&self) -> bool {
        match self {
            Filter::Shingle(shingle) => shingle.hides_ways(),
            Filter::Pairs(pairs) => pairs.hides_ways(),
            _ => false,
        }
    }

    /// Whether it takes terms out and leaves their places.
    pub(super) fn leaves_places(&self) -> bool {
        matches!(
            self,
            Filter::Stop(_)
                | Filter::Length(..)
                | Filter::Kept(Kept::Words(_) | Kept::Kinds { .. })
                | Filter::Chosen(_)
        )
    }

    /// Whether it asks which terms stemmers leave alone, or says it.
    pub(super) fn tells_keywords(&self) -> bool {
        matches!(
            self,
            Filter::Stem(_)
                | Filter::LightStem(_)
                | Filter::Keywords { .. }
                | Filter::Kept(Kept::Stems(_))
                | Filter::Beside(Beside::Twice)
                | Filter::Chosen(_)
        )
    }

    /// The terms that it makes of these, behind which the text may have places without terms.
    pub(super) fn apply(&self, mut terms: Vec<Term>, behind: Behind<'_>) -> Vec<Term> {
        match self {
            Filter::Nothing => terms,
            Filter::FlattenGraph => flattened(terms),
            Filter::Synonyms(synonyms) => synonyms.apply(terms),
            Filter::Shingle(shingle) => shingle.apply(&terms, behind),
            Filter::Delimiter(delimiter) => delimiter.apply(terms),
            Filter::Pairs(pairs) => pairs.apply(terms),
            Filter::Kept(kept) => kept.apply(terms),
            Filter::Beside(beside) => beside.apply(terms),
            Filter::Chosen(chosen) => chosen.apply(terms, behind),
            Filter::Ways(ways) => ways.apply(&terms, behind.end),
            Filter::Hashes(hashing) => hashing.apply(&terms),
            Filter::Limit(most) => {
                terms.truncate(*most);
                terms
            }
            Filter::Unique { only_same_position } => unique(terms, *only_same_position),
            Filter::Fingerprint { separator, max } => fingerprint(terms, separator, *max),
            Filter::Pieces {
                lengths,
                only_first,
                from_end,
                keep,
            } => {
                let mut terms = if *from_end { reversed(terms) } else { terms };
                terms = cut(&terms, lengths, *only_first, *keep);
                if *from_end { reversed(terms) } else { terms }
            }
            Filter::Fold { keep: true } => folded_beside(terms),
            Filter::Stop(words) => words.without(terms),
            Filter::Length(count, min, max) => {
                terms.retain(|term| (*min..=*max).contains(&count(&term.token.text)));
                terms
            }
            Filter::Keywords {
                words,
                pattern,
                ignore_case,
            } => {
                for term in &mut terms {
                    let text = &term.token.text;
                    // What takes too many steps does not fit.
                    let fits = |whole: &JavaPattern| whole.is_match(text).unwrap_or(false);
                    let fits = pattern.as_ref().is_some_and(fits);
                    term.is_keyword |= fits || has(words, text, *ignore_case);
                }
                terms
            }
            Filter::Replace {
                pattern,
                replacement,
                all,
            } => {
                let most = if *all { usize::MAX } else { 1 };
                replaced(terms, (pattern, replacement), most)
            }
            each => {
                for term in &mut terms {
                    if let Some(text) = each.rewritten(term) {
                        term.token.text = text;
                    }
                }
                terms
            }
        }
    }

    /// A term by itself; `None` where it stays as it is.
    fn rewritten(&self, term: &Term) -> Option<String> {
        let text = term.token.text.as_str();
        Some(match self {
            Filter::Lower => crate::stream::lower(text),
            Filter::LowerOf(language) => language.of(text),
            // One for one, as Lucene does it: ß has no capital.
            Filter::Upper => text.chars().map(upper).collect(),
            Filter::Fold { .. } => ascii_folded(text),
            Filter::IcuFold => unicode::folded(text),
            Filter::Normal(form) => form.of(text),
            Filter::Stem(_) | Filter::LightStem(_) if term.is_keyword => return None,
            Filter::LightStem(stemmer) => stemmer.stem(text),
            Filter::German => light::german_normalized(text),
            Filter::Letters(letters) => letters.normalized(text),
            Filter::Width => usual_width(text),
            Filter::Stem(stemmer) => stemmer.stem(text),
            Filter::Possessive => {
                let ends = ["'s", "'S", "\u{2019}s", "\u{2019}S"];
                ends.iter()
                    .find_map(|end| text.strip_suffix(end))?
                    .to_string()
            }
            Filter::Trim => text.trim_matches(is_java_space).to_string(),
            Filter::Truncate(most) => text.chars().take(*most).collect(),
            Filter::Reverse => text.chars().rev().collect(),
            Filter::Elision {
                articles,
                ignore_case,
            } => {
                let (article, rest) = text.split_once(['\'', '\u{2019}'])?;
                has(articles, article, *ignore_case).then(|| rest.to_string())?
            }
            Filter::Digits => text.chars().map(ascii_digit).collect(),
            Filter::Classic => super::classic::plain(text, term.kind)?,
            Filter::UpTo(sign) => text.split(*sign).next()?.to_string(),
            Filter::Apostrophe => text.split(['\'', '\u{2019}']).next()?.to_string(),
            _ => return None,
        })
    }
}

/// A pattern that has to match all of a term.
fn whole(pattern: &str) -> Result<JavaPattern, String> {
    let read = java_pattern(pattern).and_then(|_| java_pattern(&format!(r"\A(?:{pattern})\z")));
    read.map_err(|error| error.to_string())
}

/// The capital of a letter, where it is one.
fn upper(letter: char) -> char {
    CaseMapper::new().simple_uppercase(letter)
}

/// What Java takes for white space: signs that part fields, but no spaces at which lines may not end.
pub(super) fn is_java_space(letter: char) -> bool {
    match letter {
        '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        other => other.is_whitespace(),
    }
}

/// Whether pieces are taken from the ends of words.
fn is_from_end(part: &Part<'_>) -> Result<bool, String> {
    match part.text("side").as_deref() {
        None | Some("front") => Ok(false),
        Some("back") => Ok(true),
        Some(other) => Err(format!("invalid side: {other}")),
    }
}

fn reversed(mut terms: Vec<Term>) -> Vec<Term> {
    for term in &mut terms {
        term.token.text = term.token.text.chars().rev().collect();
    }
    terms
}

/// Whether a text is one of some words.
pub(super) fn has(words: &BTreeSet<String>, text: &str, ignore_case: bool) -> bool {
    words.contains(text)
        || ignore_case
            && words
                .iter()
                .any(|word| word.to_lowercase() == text.to_lowercase())
}

fn cut(terms: &[Term], lengths: &Range<usize>, only_first: bool, keep: bool) -> Vec<Term> {
    let mut out = Vec::new();
    let mut room = Room::for_terms(terms);
    for term in terms {
        let found = pieces(&term.token.text, lengths, only_first);
        let has_whole = found
            .iter()
            .any(|piece| piece.len() == term.token.text.len());
        for piece in found {
            if !room.takes(piece.len()) {
                return out;
            }
            let mut part = term.clone();
            part.token.text = term.token.text[piece].to_string();
            out.push(part);
        }
        if keep && !has_whole {
            out.push(term.clone());
        }
    }
    out
}

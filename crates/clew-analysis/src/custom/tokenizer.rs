//! Where a text is cut into terms.

use std::ops::Range;

use serde_json::Value;
use tantivy::tokenizer::Token;

use super::by_language::ByLanguage;
use super::classes::CharacterClasses;
use super::jieba::JiebaWords;
use super::part::Part;
use super::room::{Room, leave_out};
use crate::TOKEN_LENGTH_MAX;
use crate::java_pattern::{JavaPattern, each_match};
use crate::stream::piece_within;

/// Longest piece that a tokenizer of pieces makes.
const PIECE_MAX: usize = 255;
/// Characters of a text that is cut in pieces; what follows is left out.
const PIECES_TEXT_MAX: usize = 100_000;
/// Highest number of a group.
const GROUPS_MAX: usize = 10_000;

/// One way of cutting.
#[derive(Clone, Debug)]
pub(super) enum Cutter {
    /// An analyzer that needs no parts: `standard`, `whitespace`, `keyword`.
    Plain(&'static str),
    /// Runs of letters, in lower case or as they are.
    Letters { lower: bool },
    /// Runs of letters and digits.
    Alphanumeric,
    /// What lies between matches, or what a group of them matches.
    Pattern {
        pattern: JavaPattern,
        group: Option<usize>,
    },
    /// Addresses of the web and of mail, of at most so many UTF-16 units, else words.
    Addresses(usize),
    /// Pieces of these lengths, from every place or from the first alone.
    Pieces {
        lengths: Range<usize>,
        only_first: bool,
        belongs: CharacterClasses,
    },
    /// A path and the paths above it.
    Paths {
        delimiter: char,
        replacement: char,
        reverse: bool,
        skip: usize,
    },
    /// What lies between characters of these classes.
    Between(CharacterClasses),
    /// Words of a dictionary where no space parts them.
    Thai,
    /// All that lies between the places that Unicode's rules find, with the help of dictionaries and models.
    Segments,
    /// What of that has letters or digits, by rules and models alone.
    SegmentWords,
    /// What of the text has letters, digits or pictures by Unicode's rules and nothing else, in pieces of at most so many characters.
    ByRules(usize),
    /// Words of Chinese.
    Jieba(JiebaWords),
    /// What the analyzer of the text's language makes of it.
    ByLanguage(ByLanguage),
    /// Words by Lucene's first grammar; those of more UTF-16 units are left out.
    Classic(usize),
    /// What another one cuts, in pieces of at most so many UTF-16 units.
    Short { cutter: Box<Cutter>, most: usize },
}

impl Cutter {
    /// Whether its words are as long as the texts allow.
    pub(super) fn makes_long_terms(&self) -> bool {
        match self {
            Cutter::Plain(name) => crate::is_of_one_term(name),
            Cutter::Pattern { .. }
            | Cutter::Pieces { .. }
            | Cutter::Paths { .. }
            | Cutter::Thai
            | Cutter::Segments
            | Cutter::SegmentWords
            | Cutter::Jieba(_) => true,
            Cutter::ByLanguage(languages) => languages.makes_long_terms(),
            // Those that cut nothing by length stand within one that does.
            Cutter::Letters { .. }
            | Cutter::Alphanumeric
            | Cutter::Addresses(_)
            | Cutter::ByRules(_)
            | Cutter::Between(_)
            | Cutter::Classic(_)
            | Cutter::Short { .. } => false,
        }
    }

    pub(super) fn compile(part: &Value) -> Result<Self, String> {
        let part = Part::new(part);
        let cutter = Box::new(Cutter::whole(&part)?);
        let most = match part.type_name() {
            "standard" | "whitespace" | "uax_url_email" | "char_group" => token_length(&part)?,
            // `classic` leaves out what is longer.
            _ => TOKEN_LENGTH_MAX,
        };
        let is_cut = matches!(
            *cutter,
            Cutter::Letters { .. } | Cutter::Alphanumeric | Cutter::Between(_)
        );
        Ok(if most < TOKEN_LENGTH_MAX || is_cut {
            Cutter::Short { cutter, most }
        } else {
            *cutter
        })
    }

    /// The cutter of a part, whose terms may be as long as any.
    fn whole(part: &Part<'_>) -> Result<Self, String> {
        Ok(match part.type_name() {
            "standard" => Cutter::Plain("standard"),
            "classic" => Cutter::Classic(token_length(part)?),
            "whitespace" => Cutter::Plain("whitespace"),
            "keyword" => Cutter::Plain("keyword"),
            "letter" => Cutter::Letters { lower: false },
            "lowercase" => Cutter::Letters { lower: true },
            "alphanumeric" => Cutter::Alphanumeric,
            "pattern" => Cutter::at_pattern(part)?,
            "simple_pattern" => Cutter::Pattern {
                pattern: part.pattern("pattern", "")?,
                group: Some(0),
            },
            // Without a pattern nothing is cut.
            "simple_pattern_split" if part.text("pattern").is_none_or(|text| text.is_empty()) => {
                Cutter::Plain("keyword")
            }
            "simple_pattern_split" => Cutter::Pattern {
                pattern: part.pattern("pattern", "")?,
                group: None,
            },
            "uax_url_email" => Cutter::Addresses(token_length(part)?),
            kind @ ("ngram" | "nGram" | "edge_ngram" | "edgeNGram") => {
                let min = part.number("min_gram", 1, 1..=PIECE_MAX)?;
                let max = part.number("max_gram", 2, min..=PIECE_MAX)?;
                Cutter::Pieces {
                    lengths: min..max + 1,
                    only_first: kind.starts_with("edge"),
                    belongs: CharacterClasses::of_pieces(part)?,
                }
            }
            "path_hierarchy" | "PathHierarchy" => Cutter::of_paths(part)?,
            "thai" => Cutter::Thai,
            "icu_segments" => Cutter::Segments,
            "icu_words" => Cutter::SegmentWords,
            "rule_words" => Cutter::ByRules(token_length(part)?),
            "jieba" => Cutter::Jieba(JiebaWords::compile(part)?),
            "by_language" => Cutter::ByLanguage(ByLanguage::compile(part)?),
            "char_group" => Cutter::Between(CharacterClasses::of_groups(
                &part.list("tokenize_on_chars").unwrap_or_default(),
            )?),
            other => return Err(format!("Unknown tokenizer type [{other}]")),
        })
    }

    /// Cuts where a pattern matches, or takes what one of its groups does.
    fn at_pattern(part: &Part<'_>) -> Result<Self, String> {
        let pattern = part.pattern("pattern", r"\W+")?;
        let group = match part.text("group").as_deref() {
            None | Some("-1") => None,
            Some(_) => Some(part.number("group", 0, 0..=GROUPS_MAX)?),
        };
        let groups = pattern.group_count() - 1;
        if group.is_some_and(|group| group > groups) {
            return Err(format!(
                "invalid group specified: pattern only has: {groups} capturing groups"
            ));
        }
        Ok(Cutter::Pattern { pattern, group })
    }

    /// Makes a path and all above it terms.
    fn of_paths(part: &Part<'_>) -> Result<Self, String> {
        let one = |key: &str, usual: char| {
            part.text(key)
                .and_then(|text| text.chars().next())
                .unwrap_or(usual)
        };
        let delimiter = one("delimiter", '/');
        Ok(Cutter::Paths {
            delimiter,
            replacement: one("replacement", delimiter),
            reverse: part.flag("reverse", false)?,
            skip: part.number("skip", 0, 0..=1000)?,
        })
    }

    /// What Lucene calls a term that was cut here.
    pub(super) fn kind(&self, term: &str) -> &'static str {
        match self {
            Cutter::Short { cutter, .. } => cutter.kind(term),
            Cutter::Addresses(_) => {
                super::addresses::kind(term).unwrap_or_else(|| crate::kind(term))
            }
            Cutter::Plain("standard") => crate::kind(term),
            Cutter::Classic(_) => super::classic::kind(term),
            _ => "word",
        }
    }

    pub(super) fn cut(&self, text: &str) -> Vec<Token> {
        match self {
            Cutter::Addresses(most) => numbered(text, super::addresses::words(text, *most)),
            Cutter::Plain(name) => {
                let mut tokens = Vec::new();
                let mut push = |token: &Token| tokens.push(token.clone());
                match *name {
                    "standard" => crate::plain_words(text, &mut push),
                    name => crate::for_each_token(name, text, push),
                }
                tokens
            }
            Cutter::Letters { lower } => {
                let mut tokens = numbered(text, runs(text, char::is_alphabetic));
                if *lower {
                    for token in &mut tokens {
                        token.text = crate::stream::lower(&token.text);
                    }
                }
                tokens
            }
            Cutter::Alphanumeric => numbered(text, runs(text, char::is_alphanumeric)),
            Cutter::Thai => numbered(text, super::thai::words(text)),
            Cutter::Segments => numbered(text, super::segments::segments(text)),
            Cutter::SegmentWords => numbered(text, super::segments::words(text)),
            Cutter::ByRules(most) => numbered(text, super::segments::words_by_rules(text, *most)),
            Cutter::Jieba(words) => numbered(text, words.cut(text)),
            Cutter::ByLanguage(languages) => languages.cut(text),
            Cutter::Classic(most) => classic(text, *most),
            Cutter::Between(classes) => numbered(text, runs(text, |c| !classes.has(c))),
            Cutter::Pattern {
                pattern,
                group: None,
            } => numbered(text, between(text, pattern)),
            Cutter::Pattern {
                pattern,
                group: Some(group),
            } => numbered(text, groups(text, pattern, *group)),
            Cutter::Pieces {
                lengths,
                only_first,
                belongs,
            } => {
                let words = if belongs.is_empty() {
                    std::iter::once(0..text.len()).collect()
                } else {
                    runs(text, |c| belongs.has(c))
                };
                let cut = words.into_iter().flat_map(|word| {
                    let from = word.start;
                    let inside = pieces(&text[word], lengths, *only_first);
                    inside
                        .into_iter()
                        .map(move |piece| from + piece.start..from + piece.end)
                });
                let mut room = Room::for_step(text.len());
                numbered(
                    text,
                    cut.take_while(|piece| room.takes(piece.len())).collect(),
                )
            }
            Cutter::Paths { .. } => self.paths(text),
            Cutter::Short { cutter, most } => {
                let is_by_words = matches!(**cutter, Cutter::Plain("standard"));
                shortened(cutter.cut(text), *most, is_by_words)
            }
        }
    }

    fn paths(&self, text: &str) -> Vec<Token> {
        let Cutter::Paths {
            delimiter,
            replacement,
            reverse,
            skip,
        } = self
        else {
            return Vec::new();
        };
        let places: Vec<usize> = text.match_indices(*delimiter).map(|(at, _)| at).collect();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        if *reverse {
            let behind = places.iter().map(|at| at + delimiter.len_utf8());
            let mut bounds: Vec<usize> = std::iter::once(0).chain(behind).collect();
            if bounds.last().is_some_and(|last| *last < text.len()) {
                bounds.push(text.len());
            }
            let end = bounds.len().checked_sub(skip + 1).map(|at| bounds[at]);
            if let Some(end) = end {
                let starts = bounds.iter().copied().take_while(|start| *start < end);
                ranges.extend(starts.map(|start| start..end));
            }
        } else {
            // What is passed over is not part of the paths behind it, either.
            let mut ends = places.iter().copied().filter(|at| *at > 0);
            let start = match *skip {
                0 => Some(0),
                skip => ends.nth(skip - 1),
            };
            let ends = ends.chain([text.len()]);
            if let Some(start) = start {
                ranges.extend(ends.map(|end| start..end));
            }
        }
        ranges.retain(|range| !range.is_empty());
        // Paths within paths: together they are as long as the square of the text.
        let mut room = Room::for_step(text.len());
        ranges
            .into_iter()
            .take_while(|range| room.takes(range.len()))
            .map(|range| Token {
                text: text[range.clone()].replace(*delimiter, &replacement.to_string()),
                offset_from: range.start,
                offset_to: range.end,
                position: 0,
                position_length: 1,
            })
            .collect()
    }
}

/// How long settings let tokens be, in UTF-16 units.
fn token_length(part: &Part<'_>) -> Result<usize, String> {
    // How long it may be at most is asked for where an analyzer is made.
    let most = part.number("max_token_length", TOKEN_LENGTH_MAX, 1..=usize::MAX)?;
    Ok(most.min(TOKEN_LENGTH_MAX))
}

/// Words of at most so many UTF-16 units by Lucene's first grammar; longer ones leave their places.
fn classic(text: &str, most: usize) -> Vec<Token> {
    let (ranges, lengths): (Vec<_>, Vec<_>) = super::classic::words(text).into_iter().unzip();
    let mut tokens = numbered(text, ranges);
    let mut lengths = lengths.into_iter();
    tokens.retain_mut(|token| {
        let fits = piece_within(&token.text, most) == token.text.len();
        token.text.truncate(lengths.next().unwrap_or_default());
        fits
    });
    tokens
}

/// Tokens of at most so many UTF-16 units: longer ones become several, each with a place of its own. Where they are words, each
/// piece is one: a sign that joins two parts of a word is left out where it comes to stand at an end.
fn shortened(tokens: Vec<Token>, most: usize, is_by_words: bool) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for mut token in tokens {
        let mut rest = token.text.as_str();
        if piece_within(rest, most) == rest.len() {
            token.position = out.len();
            out.push(token);
            continue;
        }
        // Where letters have become longer or shorter, the pieces have the whole word's place.
        let is_as_written = token.offset_to - token.offset_from == rest.len();
        let mut start = token.offset_from;
        while !rest.is_empty() {
            let whole = 0..piece_within(rest, most);
            let piece = match is_by_words {
                true => first_word(&rest[whole.clone()]),
                false => Some(whole.clone()),
            };
            let end = piece.as_ref().map_or(whole.end, |piece| piece.end);
            if let Some(piece) = piece {
                let (from, to) = match is_as_written {
                    true => (start + piece.start, start + piece.end),
                    false => (start, token.offset_to),
                };
                out.push(Token {
                    text: rest[piece].to_string(),
                    offset_from: from,
                    offset_to: to,
                    position: out.len(),
                    position_length: 1,
                });
            }
            if is_as_written {
                start += end;
            }
            rest = &rest[end..];
        }
    }
    out
}

/// Where the first word of a text stands.
fn first_word(text: &str) -> Option<Range<usize>> {
    let mut first = None;
    crate::plain_words(text, &mut |token: &Token| {
        first.get_or_insert(token.offset_from..token.offset_to);
    });
    first
}

/// Pieces of a word, by place and then by length.
pub(super) fn pieces(word: &str, lengths: &Range<usize>, only_first: bool) -> Vec<Range<usize>> {
    let places = word.char_indices().map(|(at, _)| at);
    let mut places: Vec<usize> = places.take(PIECES_TEXT_MAX + 1).collect();
    if places.len() > PIECES_TEXT_MAX {
        places.truncate(PIECES_TEXT_MAX);
        if !only_first {
            leave_out();
        }
    }
    places.push(word.len());
    let starts = if only_first { 1 } else { places.len() };
    let mut found = Vec::new();
    let mut room = Room::for_step(word.len());
    for start in 0..starts.min(places.len()) {
        for length in lengths.clone() {
            match places.get(start + length) {
                Some(end) if room.takes(end - places[start]) => found.push(places[start]..*end),
                Some(_) => return found,
                None => break,
            }
        }
    }
    found
}

/// What a group of a pattern has in its matches.
fn groups(text: &str, pattern: &JavaPattern, group: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let ended = each_match(text, pattern, usize::MAX, |_, places| {
        ranges.extend(places.get(group));
        true
    });
    // Behind what takes too many steps nothing is found.
    if ended.is_err() {
        leave_out();
    }
    ranges
}

/// What lies between the matches of a pattern.
fn between(text: &str, pattern: &JavaPattern) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    for found in pattern.find_all(text) {
        // What takes too many steps is not cut, from where that shows.
        let Ok(found) = found else {
            leave_out();
            break;
        };
        ranges.push(at..found.start);
        at = found.end;
    }
    ranges.push(at..text.len());
    ranges
}

/// Runs of characters that belong together.
fn runs(text: &str, belongs: impl Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        match (belongs(character), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                found.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

fn numbered(text: &str, ranges: Vec<Range<usize>>) -> Vec<Token> {
    let ranges = ranges.into_iter().filter(|range| !range.is_empty());
    ranges
        .enumerate()
        .map(|(position, range)| Token {
            text: text[range.clone()].to_string(),
            offset_from: range.start,
            offset_to: range.end,
            position,
            position_length: 1,
        })
        .collect()
}

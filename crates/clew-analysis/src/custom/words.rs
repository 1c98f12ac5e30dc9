//! Cutting terms where letters, digits and signs meet.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Term;
use super::char_filter::unescaped;
use super::part::Part;
use crate::scripts::is_mark;

/// What is made of the parts of a term.
#[derive(Clone, Debug)]
pub(super) struct Delimiter {
    words: bool,
    numbers: bool,
    joined_words: bool,
    joined_numbers: bool,
    joined_all: bool,
    at_case: bool,
    at_digits: bool,
    keep: bool,
    possessive: bool,
    /// Whether what is joined takes as many places as its parts.
    is_graph: bool,
    /// Whether parts lie where they do in the text, and not where the whole term lies.
    adjusts: bool,
    /// Whether terms that stemmers leave alone are left alone here, too.
    skips_keywords: bool,
    /// Terms that stay as they are.
    protected: BTreeSet<String>,
    /// Characters that are of other classes than usually.
    classes: BTreeMap<char, Class>,
}

/// What a character counts as; it may be several things at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Class {
    upper: bool,
    lower: bool,
    digit: bool,
}

/// What is none of them parts words.
const SIGN: Class = Class {
    upper: false,
    lower: false,
    digit: false,
};

impl Class {
    fn of(character: char) -> Self {
        let one = |upper, lower, digit| Class {
            upper,
            lower,
            digit,
        };
        match character {
            '0'..='9' => one(false, false, true),
            // Of the numbers of Latin-1 these are all.
            '\u{80}'..='\u{ff}' if character.is_numeric() => SIGN,
            // Each is two characters to Lucene, which it looks no further at.
            '\u{10000}'.. => one(true, true, true),
            _ if character.is_numeric() => one(false, false, true),
            _ if character.is_uppercase() => one(true, false, false),
            _ if character.is_lowercase() => one(false, true, false),
            // Letters without a case, and what belongs to the letter before it.
            _ if character.is_alphabetic() || is_mark(character) => one(true, true, false),
            _ => SIGN,
        }
    }

    /// The class of a rule's name.
    fn named(name: &str) -> Option<Self> {
        let (upper, lower, digit) = match name {
            "LOWER" => (false, true, false),
            "UPPER" => (true, false, false),
            "ALPHA" => (true, true, false),
            "DIGIT" => (false, false, true),
            "ALPHANUM" => (true, true, true),
            "SUBWORD_DELIM" => (false, false, false),
            _ => return None,
        };
        Some(Class {
            upper,
            lower,
            digit,
        })
    }

    fn is_letter(self) -> bool {
        self.upper || self.lower
    }

    /// Whether both are of one class.
    fn meets(self, other: Self) -> bool {
        self.upper && other.upper || self.lower && other.lower || self.digit && other.digit
    }
}

/// Rules like `# => ALPHANUM`.
fn classes(rules: &[String]) -> Result<BTreeMap<char, Class>, String> {
    let mut classes = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        let invalid = |why: &str| format!("Line [{}]: Invalid mapping rule: [{rule}]{why}", at + 1);
        let (written, name) = rule.rsplit_once("=>").ok_or_else(|| invalid(""))?;
        let class = Class::named(name.trim()).ok_or_else(|| invalid(". Illegal type."))?;
        let character = one_character(written.trim())
            .ok_or_else(|| invalid(". Only a single character is allowed."))?;
        classes.insert(character, class);
    }
    Ok(classes)
}

/// What a rule writes, where it is one character.
fn one_character(written: &str) -> Option<char> {
    let text = unescaped(written)?;
    let mut characters = text.chars();
    let only = characters.next()?;
    characters.next().is_none().then_some(only)
}

impl Delimiter {
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let is_graph = part.type_name() == "word_delimiter_graph";
        Ok(Delimiter {
            words: part.flag("generate_word_parts", true)?,
            numbers: part.flag("generate_number_parts", true)?,
            joined_words: part.flag("catenate_words", false)?,
            joined_numbers: part.flag("catenate_numbers", false)?,
            joined_all: part.flag("catenate_all", false)?,
            at_case: part.flag("split_on_case_change", true)?,
            at_digits: part.flag("split_on_numerics", true)?,
            keep: part.flag("preserve_original", false)?,
            possessive: part.flag("stem_english_possessive", true)?,
            is_graph,
            adjusts: !is_graph || part.flag("adjust_offsets", true)?,
            skips_keywords: is_graph && part.flag("ignore_keywords", false)?,
            protected: part
                .list("protected_words")
                .unwrap_or_default()
                .into_iter()
                .collect(),
            classes: classes(&part.lines("type_table").unwrap_or_default())?,
        })
    }

    fn class(&self, character: char) -> Class {
        let own = self.classes.get(&character).copied();
        own.unwrap_or_else(|| Class::of(character))
    }

    /// Whether a part ends between two characters.
    fn cuts(&self, before: Class, now: Class) -> bool {
        if now == SIGN {
            return true;
        }
        if before == SIGN || before.meets(now) {
            return false;
        }
        match (before.is_letter(), now.is_letter()) {
            (true, true) => self.at_case && !before.upper,
            _ => self.at_digits,
        }
    }

    /// Where the parts of a word lie.
    fn parts(&self, word: &str) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start: Option<usize> = None;
        let mut before = SIGN;
        for (at, character) in word.char_indices() {
            let now = self.class(character);
            if self.cuts(before, now)
                && let Some(from) = start.take()
            {
                parts.push(from..at);
            }
            if now != SIGN && start.is_none() {
                start = Some(at);
            }
            before = now;
        }
        parts.extend(start.map(|from| from..word.len()));
        if self.possessive {
            parts.retain(|part| !self.is_possessive(word, part));
        }
        parts
    }

    /// Whether a part is the `s` of `fox's`.
    fn is_possessive(&self, word: &str, part: &Range<usize>) -> bool {
        let before = word[..part.start].strip_suffix('\'');
        let owner = before.and_then(|before| before.chars().next_back());
        let next = word[part.end..].chars().next();
        matches!(&word[part.clone()], "s" | "S")
            && owner.is_some_and(|owner| self.class(owner).is_letter())
            && next.is_none_or(|next| self.class(next) == SIGN)
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut out = Vec::with_capacity(terms.len());
        // Places that parts take beyond those of their words, and those of words that are gone with them.
        let (mut added, mut taken) = (0, 0);
        let mut before = None;
        for mut term in terms {
            let place = term.token.position;
            let follows = before.replace(place).is_some_and(|last| place == last + 1);
            // What filters have put beside words may go back to places before those that are gone.
            term.token.position = (place + added).saturating_sub(taken);
            if self.protected.contains(&term.token.text) || self.skips_keywords && term.is_keyword {
                out.push(term);
                continue;
            }
            let word = term.token.text.as_str();
            let parts = self.parts(word);
            if parts.first().is_some_and(|part| part.len() == word.len()) {
                out.push(term);
                continue;
            }
            // A word of signs alone takes its place along, where others stand right before it; a graph keeps the gap.
            if parts.is_empty() && !self.keep {
                taken += usize::from(!self.is_graph && follows && !out.is_empty());
                continue;
            }
            added += self.push_parts(&term, word, &parts, &mut out);
        }
        out
    }

    /// Adds the parts of a term; by how many places more than one it takes.
    fn push_parts(
        &self,
        term: &Term,
        word: &str,
        parts: &[Range<usize>],
        out: &mut Vec<Term>,
    ) -> usize {
        let (shown, place) = self.pieces(word, parts);
        let whole = (0, place.max(1));
        let mut made: Vec<(usize, Rank, Term)> = Vec::new();
        let mut add =
            |text: String, rank: Rank, (at, length): (usize, usize), range: Range<usize>| {
                let mut part = term.clone();
                // Where a filter has changed a term's length, its parts have the whole term's place.
                let whole = term.token.offset_to - term.token.offset_from;
                if self.adjusts && whole == term.token.text.len() {
                    part.token.offset_to = term.token.offset_from + range.end;
                    part.token.offset_from = term.token.offset_from + range.start;
                }
                part.token.text = text;
                part.token.position = term.token.position + at;
                if self.is_graph {
                    part.token.position_length = length;
                }
                made.push((at, rank, part));
            };
        if self.keep {
            add(word.to_string(), Rank::Whole, whole, 0..word.len());
        }
        let text = |parts: &[Range<usize>]| -> String {
            parts.iter().map(|part| &word[part.clone()]).collect()
        };
        // A word with signs around it has nothing to be joined to.
        if self.joined_all
            && let [first, .., last] = parts
        {
            let rank = self.rank_joined(Rank::AllLast);
            add(text(parts), rank, whole, first.start..last.end);
        }
        let mut from = 0;
        for run in shown.chunk_by(|a, b| a.numbers == b.numbers) {
            let own = &parts[from..from + run.len()];
            from += run.len();
            if self.joins(run) && !(self.joined_all && own.len() == parts.len()) {
                let length: usize = run.iter().map(|piece| piece.places).sum();
                let range = own[0].start..own[own.len() - 1].end;
                let rank = self.rank_joined(Rank::JoinedLast);
                add(text(own), rank, (run[0].place, length.max(1)), range);
            }
        }
        for (part, piece) in parts.iter().zip(&shown) {
            if piece.places > 0 {
                let text = word[part.clone()].to_string();
                add(text, Rank::Part, (piece.place, 1), part.clone());
            }
        }
        made.sort_by_key(|(at, rank, _)| (*at, *rank));
        out.extend(made.into_iter().map(|(_, _, term)| term));
        place.saturating_sub(1)
    }

    /// Where the parts of a term go, and how many places they take.
    fn pieces(&self, word: &str, parts: &[Range<usize>]) -> (Vec<Piece>, usize) {
        let mut pieces = Vec::with_capacity(parts.len());
        let mut place = 0;
        for part in parts {
            let mut characters = word[part.clone()].chars();
            let numbers = characters.all(|character| !self.class(character).is_letter());
            // A word with signs around it is always there.
            let is_wanted = if numbers { self.numbers } else { self.words };
            let places = usize::from(is_wanted || parts.len() == 1);
            let begins_run = pieces
                .last()
                .is_none_or(|last: &Piece| last.numbers != numbers);
            pieces.push(Piece {
                numbers,
                place,
                places,
            });
            // Where no part of a run is wanted, what is joined of it takes a place.
            let joined = places == 0 && begins_run && self.wants_joined(numbers);
            place += places + usize::from(joined);
        }
        (pieces, place)
    }

    fn wants_joined(&self, numbers: bool) -> bool {
        if numbers {
            self.joined_numbers
        } else {
            self.joined_words
        }
    }

    /// Whether parts of one kind become one: several, or one that is not there by itself.
    fn joins(&self, run: &[Piece]) -> bool {
        self.wants_joined(run[0].numbers) && (run.len() > 1 || run[0].places == 0)
    }

    /// In a graph joined parts come before the parts, else behind them.
    fn rank_joined(&self, otherwise: Rank) -> Rank {
        if self.is_graph {
            Rank::JoinedFirst
        } else {
            otherwise
        }
    }
}

/// A part among the others.
struct Piece {
    numbers: bool,
    place: usize,
    /// How many places it takes: none where parts of its kind are not wanted.
    places: usize,
}

/// The order of what stands at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Whole,
    JoinedFirst,
    Part,
    JoinedLast,
    AllLast,
}

//! Chinese, Japanese and Korean: letters in their usual width, and pairs of those that are written without spaces.

use super::Term;
use super::part::Part;
use super::unicode::Form;

/// The kinds of terms that are written without spaces, by the names of their scripts.
const SCRIPTS: [(&str, &str); 4] = [
    ("han", "<IDEOGRAPHIC>"),
    ("hiragana", "<HIRAGANA>"),
    ("katakana", "<KATAKANA>"),
    ("hangul", "<HANGUL>"),
];
const PAIR: &str = "<DOUBLE>";
const SINGLE: &str = "<SINGLE>";

/// A text whose wide Latin letters are narrow and whose narrow Katakana are wide.
pub(super) fn usual_width(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\u{ff01}'..='\u{ff5e}' => {
                out.extend(char::from_u32(u32::from(letter) - 0xfee0));
            }
            '\u{ff9e}' | '\u{ff9f}' => {
                let mark = if letter == '\u{ff9e}' {
                    '\u{3099}'
                } else {
                    '\u{309a}'
                };
                voiced(&mut out, mark);
            }
            '\u{ff65}'..='\u{ff9d}' => {
                out.push_str(&Form::Nfkc.of(letter.encode_utf8(&mut [0; 4])))
            }
            other => out.push(other),
        }
    }
    out
}

/// Puts a mark on the Katakana before it, or behind what takes none.
fn voiced(out: &mut String, mark: char) {
    let mut letters = out.chars();
    let last = letters
        .next_back()
        .filter(|last| ('\u{30a6}'..='\u{30fd}').contains(last));
    let joined = last.map(|last| Form::Nfc.of(&format!("{last}{mark}")));
    match joined.filter(|joined| joined.chars().count() == 1) {
        Some(joined) => {
            out.pop();
            out.push_str(&joined);
        }
        None => out.push(mark),
    }
}

/// Pairs of letters that stand next to each other.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// The kinds of terms that are cut.
    kinds: Vec<&'static str>,
    /// Whether letters are terms too.
    singles: bool,
}

/// A letter and where it stands.
struct Letter {
    letter: char,
    from: usize,
    to: usize,
}

impl Pairs {
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let ignored = part.list("ignored_scripts").unwrap_or_default();
        let kept = SCRIPTS
            .iter()
            .filter(|(name, _)| !ignored.iter().any(|one| one == name));
        Ok(Pairs {
            kinds: kept.map(|(_, kind)| *kind).collect(),
            singles: part.flag("output_unigrams", false)?,
        })
    }

    pub(super) fn hides_ways(&self) -> bool {
        self.singles
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut out = Out {
            terms: Vec::with_capacity(terms.len()),
            next: 0,
        };
        let mut run: Vec<Letter> = Vec::new();
        let mut before: Option<usize> = None;
        for mut term in terms {
            if !self.kinds.contains(&term.kind) {
                self.flush(&mut run, &mut out);
                let step = before.map_or(term.token.position, |last| {
                    term.token.position.saturating_sub(last)
                });
                before = Some(term.token.position);
                term.token.position = (out.next + step).saturating_sub(usize::from(out.next > 0));
                out.next = term.token.position + 1;
                out.terms.push(term);
                continue;
            }
            before = Some(term.token.position);
            if run
                .last()
                .is_some_and(|last| last.to != term.token.offset_from)
            {
                self.flush(&mut run, &mut out);
            }
            letters(&term, &mut run);
        }
        self.flush(&mut run, &mut out);
        out.terms
    }

    /// Makes terms of a run of letters.
    fn flush(&self, run: &mut Vec<Letter>, out: &mut Out) {
        if let [only] = run.as_slice() {
            out.push(std::slice::from_ref(only), 1);
        } else {
            for (at, one) in run.iter().enumerate() {
                let pair = run.get(at..at + 2);
                if self.singles {
                    out.push(std::slice::from_ref(one), 1);
                    if let Some(pair) = pair {
                        out.next -= 1;
                        out.push(pair, 2);
                    }
                } else if let Some(pair) = pair {
                    out.push(pair, 1);
                }
            }
        }
        run.clear();
    }
}

/// What has been made, and the place of the next.
struct Out {
    terms: Vec<Term>,
    next: usize,
}

impl Out {
    fn push(&mut self, letters: &[Letter], length: usize) {
        let (Some(first), Some(last)) = (letters.first(), letters.last()) else {
            return;
        };
        let token = tantivy::tokenizer::Token {
            offset_from: first.from,
            offset_to: last.to,
            position: self.next,
            text: letters.iter().map(|letter| letter.letter).collect(),
            position_length: length,
        };
        self.terms.push(Term {
            token,
            is_keyword: false,
            kind: if letters.len() == 1 { SINGLE } else { PAIR },
        });
        self.next += 1;
    }
}

/// The letters of a term. Where its length was changed, each stands where the term does.
fn letters(term: &Term, run: &mut Vec<Letter>) {
    let token = &term.token;
    let is_whole = token.offset_to - token.offset_from != token.text.len();
    for (at, letter) in token.text.char_indices() {
        let (from, to) = if is_whole {
            (token.offset_from, token.offset_to)
        } else {
            let from = token.offset_from + at;
            (from, from + letter.len_utf8())
        };
        run.push(Letter { letter, from, to });
    }
}

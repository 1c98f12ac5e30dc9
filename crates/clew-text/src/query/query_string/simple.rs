//! The simple query language: `+` and, `|` or, `-` not, `"phrase"~n`, `word*`, `word~n`, and
//! parentheses. Whatever makes no sense is left out; no text is an error.

use super::{Clause, Occurrence, Word};
use crate::query::tree::Operator;

/// How deep parentheses may be nested; deeper ones are read as if they were not there.
const DEPTH_MAX: usize = 20;

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

pub(super) fn parse(text: &str, default: Operator) -> Clause {
    let mut characters = text.chars().peekable();
    let mut parts = Vec::new();
    while characters.peek().is_some() {
        parts.extend(group(&mut characters, default, 0));
        // A parenthesis that closes nothing.
        characters.next();
    }
    Clause::Group { parts, boost: 1.0 }
}

fn group(
    characters: &mut Characters<'_>,
    default: Operator,
    depth: usize,
) -> Vec<(Occurrence, Clause)> {
    let mut parts: Vec<(Occurrence, Clause)> = Vec::new();
    let (mut joined, mut negated) = (None, false);
    while let Some(character) = characters.peek().copied() {
        let clause = match character {
            ')' => break,
            '+' | '|' => {
                characters.next();
                joined = Some(character);
                continue;
            }
            '-' => {
                characters.next();
                negated = !negated;
                continue;
            }
            space if space.is_whitespace() => {
                characters.next();
                continue;
            }
            '(' => {
                characters.next();
                let parts = if depth < DEPTH_MAX {
                    let parts = group(characters, default, depth + 1);
                    characters.next();
                    parts
                } else {
                    continue;
                };
                Clause::Group { parts, boost: 1.0 }
            }
            '"' => phrase(characters),
            _ => word(characters),
        };
        let and = joined == Some('+') || (joined.is_none() && default == Operator::And);
        if let Some((before, _)) = parts.last_mut()
            && *before != Occurrence::MustNot
        {
            match joined {
                Some('+') => *before = Occurrence::Must,
                Some(_) => *before = Occurrence::Should,
                None => {}
            }
        }
        let clause = if negated && !and {
            // "a -b" asks for documents with a, or without b.
            let parts = vec![(Occurrence::MustNot, clause)];
            Clause::Group { parts, boost: 1.0 }
        } else {
            clause
        };
        let occurrence = match (negated, and) {
            (true, true) => Occurrence::MustNot,
            (_, true) => Occurrence::Must,
            (_, false) => Occurrence::Should,
        };
        parts.push((occurrence, clause));
        (joined, negated) = (None, false);
    }
    parts
}

fn phrase(characters: &mut Characters<'_>) -> Clause {
    characters.next();
    let mut text = String::new();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    let slop = number_after(characters, '~').and_then(|number| number.parse().ok());
    Clause::Phrase {
        text,
        slop,
        boost: 1.0,
    }
}

fn number_after(characters: &mut Characters<'_>, mark: char) -> Option<String> {
    characters.next_if_eq(&mark)?;
    let mut number = String::new();
    while let Some(digit) = characters.next_if(char::is_ascii_digit) {
        number.push(digit);
    }
    Some(number)
}

fn word(characters: &mut Characters<'_>) -> Clause {
    let ends =
        |next: char| next.is_whitespace() || matches!(next, '(' | ')' | '"' | '|' | '+' | '~');
    let (mut text, mut pattern) = (String::new(), String::new());
    let mut wild = false;
    while let Some(character) = characters.next_if(|next| !ends(*next)) {
        if character == '\\' {
            let next = characters.next().unwrap_or('\\');
            text.push(next);
            pattern.push('\\');
            pattern.push(next);
            wild = false;
            continue;
        }
        // Only a star at the end is one.
        wild = character == '*';
        text.push(character);
        pattern.push(character);
    }
    let fuzzy = number_after(characters, '~').map(|number| (!number.is_empty()).then_some(number));
    Clause::Word(Word {
        pattern: wild.then_some(pattern),
        text,
        fuzzy,
        boost: 1.0,
    })
}

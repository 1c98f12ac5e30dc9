//! `%{a} - %{b}`: keys between texts that must stand there, as Logstash and Beats write them.

use super::separator::Separator;
use super::span::{Span, TEXT_BYTES_MAX};

/// A pattern, read.
#[derive(Debug)]
pub(crate) struct Dissect {
    /// What stands before the first key.
    start: Separator,
    keys: Vec<Key>,
}

/// One key of a pattern.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) kind: KeyKind,
    /// The text behind it; the last key goes to the end.
    until: Separator,
    /// Repetitions of the text behind it are passed over.
    padded: bool,
}

/// What becomes of what a key finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Value,
    Skipped,
    /// It is put behind other values of the name, by this order.
    Appended(u32),
    /// It is the name of the value that the reference of the same name finds.
    Name,
    Reference,
}

/// What the keys found, in their order. Used again from line to line.
pub(crate) type KeySpans = Vec<Span>;

impl Dissect {
    /// Reads a pattern; nothing if it is none.
    pub(crate) fn parse(written: &str) -> Option<Self> {
        let mut pieces = written.split("%{");
        let start = Separator::new(pieces.next().unwrap_or_default());
        let keys: Vec<Key> = pieces.map(key).collect::<Option<_>>()?;
        let says_something = keys.iter().any(|key| key.kind != KeyKind::Skipped);
        (says_something && paired(&keys)).then_some(Dissect { start, keys })
    }

    pub(crate) fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether values of a name are put behind each other.
    pub(crate) fn appends(&self, name: &str) -> bool {
        let appends = |key: &Key| matches!(key.kind, KeyKind::Appended(_)) && key.name == name;
        self.keys.iter().any(appends)
    }

    /// The keys of an order of appending, by the places of their values: names that nothing is put behind, then those
    /// that are, by their orders.
    pub(crate) fn appended(&self) -> Vec<usize> {
        let order = |at: &usize| match self.keys[*at].kind {
            KeyKind::Appended(order) => order,
            _ => 0,
        };
        let mut places: Vec<usize> = (0..self.keys.len())
            .filter(|at| {
                let key = &self.keys[*at];
                matches!(key.kind, KeyKind::Value | KeyKind::Appended(_)) && self.appends(&key.name)
            })
            .collect();
        places.sort_by_key(order);
        places
    }

    /// What each key finds; false, with nothing of use found, where the line is not as the pattern.
    pub(crate) fn cut(&self, line: &str, found: &mut KeySpans) -> bool {
        found.clear();
        let bytes = line.as_bytes();
        if bytes.len() > TEXT_BYTES_MAX || !self.start.begins(bytes) {
            return false;
        }
        let mut at = self.start.len();
        for key in &self.keys {
            if key.until.is_empty() {
                found.push(Span::new(at, bytes.len()));
                // Two keys with nothing between them have no border: only the last goes to the end.
                return found.len() == self.keys.len();
            }
            let Some(end) = key.until.find(bytes, at) else {
                return false;
            };
            found.push(Span::new(at, end));
            at = end + key.until.len();
            while key.padded && key.until.begins(&bytes[at..]) {
                at += key.until.len();
            }
        }
        true
    }

    /// As [`Dissect::cut`], but as OpenSearch does it: where the text behind a key comes several times and is not passed over,
    /// each time is a key more with an empty value, whatever stands behind that key; what follows the last one is left out.
    pub(crate) fn cut_at_each(&self, line: &str, found: &mut KeySpans) -> bool {
        found.clear();
        let bytes = line.as_bytes();
        let is_longer = self.start.len() < bytes.len() && bytes.len() <= TEXT_BYTES_MAX;
        if !is_longer || !self.start.begins(bytes) {
            return false;
        }
        let mut at = self.start.len();
        let mut keys = self.keys.iter();
        while let Some(key) = keys.next() {
            if key.until.is_empty() {
                found.push(Span::new(at, bytes.len()));
                break;
            }
            let Some(end) = key.until.find(bytes, at) else {
                return false;
            };
            found.push(Span::new(at, end));
            at = end + key.until.len();
            let mut is_padded = key.padded;
            while key.until.begins(&bytes[at..]) {
                if !is_padded {
                    let Some(empty) = keys.next() else { break };
                    found.push(Span::new(at, at));
                    is_padded = empty.padded;
                }
                at += key.until.len();
            }
        }
        found.len() == self.keys.len()
    }
}

/// Reads `name}until`, where signs around the name say what becomes of the value.
fn key(piece: &str) -> Option<Key> {
    let (name, until) = piece.split_once('}')?;
    let (name, padded) = match name.strip_suffix("->") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let mut letters = name.chars();
    let (kind, name) = match letters.next() {
        None => (KeyKind::Skipped, name),
        Some('?') => (KeyKind::Skipped, letters.as_str()),
        Some('*') => (KeyKind::Name, letters.as_str()),
        Some('&') => (KeyKind::Reference, letters.as_str()),
        Some('+') => match letters.as_str().split_once('/') {
            Some((name, order)) => (KeyKind::Appended(order.parse().ok()?), name),
            None => (KeyKind::Appended(0), letters.as_str()),
        },
        Some(_) => (KeyKind::Value, name),
    };
    Some(Key {
        name: name.to_string(),
        kind,
        until: Separator::new(until),
        padded,
    })
}

/// Whether each name has its reference, and each reference its name.
fn paired(keys: &[Key]) -> bool {
    let of_kind = |kind: KeyKind| {
        let of_kind = keys.iter().filter(move |key| key.kind == kind);
        let mut names: Vec<&str> = of_kind.map(|key| key.name.as_str()).collect();
        names.sort_unstable();
        names
    };
    of_kind(KeyKind::Name) == of_kind(KeyKind::Reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values, put together with `|`, of a line that is cut in the one way or the other.
    fn cut(pattern: &str, line: &str) -> [Option<String>; 2] {
        let pattern = Dissect::parse(pattern).unwrap();
        let mut found = KeySpans::new();
        [Dissect::cut, Dissect::cut_at_each].map(|cut| {
            let values = |found: &KeySpans| {
                let values: Vec<&str> = found.iter().map(|span| span.of(line)).collect();
                values.join("|")
            };
            cut(&pattern, line, &mut found).then(|| values(&found))
        })
    }

    #[test]
    fn texts_that_come_again_are_keys_without_values() {
        let same = |values: &str| [Some(values.to_owned()), Some(values.to_owned())];
        let both = |one: &str, other: &str| [Some(one.to_owned()), Some(other.to_owned())];
        for (pattern, line, expected) in [
            ("%{a} %{b}", "x y z", same("x|y z")),
            ("%{a},%{b},%{c},%{d}", "1,,3,4", same("1||3|4")),
            ("%{a->} %{b}", "x   y", same("x|y")),
            ("%{a}]", "x]]", same("x")),
            // The line goes on, or its keys do.
            ("%{a} %{b}", "x  y", both("x| y", "x|")),
            ("%{a}-%{b}=%{c}", "x--y=z", both("x|-y|z", "x||y=z")),
            ("%{a}-%{b->}=%{c}", "x---y=z", both("x|--y|z", "x||y=z")),
            ("[%{a}", "[", [Some(String::new()), None]),
            ("%{a} %{b}", "x", [None, None]),
            ("%{a}%{b}", "x", [None, None]),
        ] {
            assert_eq!(cut(pattern, line), expected, "{pattern} {line}");
        }
        for nothing in ["", "abc", "%{}", "%{?a} %{->}", "%{a", "%{*a} %{b}"] {
            assert!(Dissect::parse(nothing).is_none(), "{nothing}");
        }
    }
}

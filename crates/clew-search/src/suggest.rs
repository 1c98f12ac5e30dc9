//! Inputs that begin with what somebody has typed.

use clew_platform::Pace;
use clew_query::{Fuzziness, QueryError, RegexpOptions, go_on, unless_stopped};
use clew_schema::{CompletionEntry, CompletionMapping, ContextWish, ENTRY_SEPARATOR, FieldKind};
use serde_json::{Map, Value};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, TERMINATED};
use tantivy_fst::Automaton;

use crate::query::Regexp;
use crate::snapshot::Snapshot;

/// Inputs that one search in a shard looks at.
const LOOKED_AT_MAX: usize = 100_000;
/// Documents of one input that are found; no more of these, which are all alike, are shown.
const ALIKE_MAX: usize = 20_000;
/// And documents of all of them.
const FOUND_MAX: usize = 1_000_000;

/// What is wanted.
#[derive(Clone, Debug)]
pub struct CompletionWish {
    /// The field's path.
    pub field: String,
    /// What was typed.
    pub typed: String,
    /// How it is read as a regular expression, where inputs are to begin with what that matches.
    pub expression: Option<RegexpOptions>,
    /// How wrong it may be typed.
    pub fuzziness: Option<Fuzziness>,
    /// What inputs must be told apart by; all of these contexts that are named.
    pub contexts: Vec<ContextWish>,
}

/// An input that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed {
    /// Its document: the segment's place in the snapshot and the number there.
    pub place: (usize, DocId),
    /// The input as it was written.
    pub input: String,
    /// The text as its words are looked for.
    pub normal: String,
    /// Its weight, times the boosts of the contexts that it was found by and of how alike it is, which are added.
    pub score: f32,
    /// The contexts that it was found by, each with a list of what the document has there.
    pub contexts: Option<Value>,
}

/// The inputs that fit, in no particular order. `source_of` reads a document's source, where a
/// context is to be taken from another field.
///
/// # Errors
/// When the field is none for this, contexts are missing, reading fails, or the request is over.
pub fn complete(
    snapshot: &Snapshot,
    wish: &CompletionWish,
    source_of: &dyn Fn((usize, DocId)) -> Option<Value>,
) -> Result<Vec<Completed>, QueryError> {
    let Some((mapping, field)) = field_of(snapshot, wish)? else {
        return Ok(Vec::new());
    };
    let typed = mapping.normal(&wish.typed);
    // Something of which nothing is left begins nothing.
    if typed.is_empty() && !wish.typed.is_empty() && wish.expression.is_none() {
        return Ok(Vec::new());
    }
    let wanted = match wish.expression {
        Some(options) => Wanted::Expression(Regexp::new(&wish.typed, options)?),
        None => Wanted::Beginning(Prefix::new(&typed, wish.fuzziness.as_ref())),
    };
    let mut found = Vec::new();
    let mut left = LOOKED_AT_MAX;
    let mut pace = Pace::of_blocks();
    for (segment, reader) in snapshot.readers.iter().enumerate() {
        let inverted = reader.inverted_index(field)?;
        let start = wanted.certain();
        let mut terms = inverted
            .terms()
            .range()
            .ge(start.as_bytes())
            .into_stream()?;
        while terms.advance() && left > 0 {
            go_on(&mut pace)?;
            let Ok(term) = std::str::from_utf8(terms.key()) else {
                continue;
            };
            if !term.starts_with(start) {
                break;
            }
            left -= 1;
            let Some(entry) = CompletionEntry::read(term) else {
                continue;
            };
            let Some(likeness) = wanted.likeness(entry.normal) else {
                continue;
            };
            let info = terms.value();
            let mut docs = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            let most = FOUND_MAX.min(found.len().saturating_add(ALIKE_MAX));
            while docs.doc() != TERMINATED && found.len() < most && !pace.is_over() {
                let place = (segment, docs.doc());
                let alive = reader.alive_bitset();
                if alive.is_none_or(|alive| alive.is_alive(docs.doc()))
                    && let Some((factor, contexts)) =
                        factor(mapping, wish, &entry, &|| source_of(place))
                {
                    found.push(Completed {
                        place,
                        input: entry.input.to_string(),
                        normal: entry.normal.to_string(),
                        score: score(entry.weight, factor + likeness),
                        contexts,
                    });
                }
                docs.advance();
            }
        }
    }
    unless_stopped()?;
    Ok(found)
}

/// The field that is asked, and how it is searched; `None` where no segment has it.
fn field_of<'a>(
    snapshot: &'a Snapshot,
    wish: &CompletionWish,
) -> Result<Option<(&'a CompletionMapping, Field)>, QueryError> {
    let mapped = snapshot.mapping.field(&wish.field);
    let Some((mapped, FieldKind::Completion(mapping))) = mapped.map(|m| (m, &m.kind)) else {
        return Err(QueryError::illegal(match mapped {
            Some(_) => format!("Field [{}] is not a completion suggest field", wish.field),
            None => format!("no mapping found for field [{}]", wish.field),
        }));
    };
    if mapping.contexts.is_empty() && !wish.contexts.is_empty() {
        return Err(QueryError::illegal(format!(
            "suggester [{}] doesn't expect any context",
            wish.field
        )));
    }
    let is_known = |name: &String| mapping.contexts.iter().any(|known| known.name == *name);
    if let Some(unknown) = wish.contexts.iter().find(|wish| !is_known(&wish.name)) {
        let known = mapping.contexts.iter().map(|context| context.name.as_str());
        return Err(QueryError::illegal(format!(
            "Unknown context name [{}], must be one of [{}]",
            unknown.name,
            known.collect::<Vec<_>>().join(", ")
        )));
    }
    let asked = wish.contexts.iter().any(|wish| !wish.values.is_empty());
    if !mapping.contexts.is_empty() && !asked {
        return Err(QueryError::illegal(
            "Missing mandatory contexts in context query",
        ));
    }
    let field = snapshot.searchable(mapped);
    Ok(field.map(|field| (&**mapping, field)))
}

/// A weight times a boost; where one of them is nothing, the other.
#[allow(clippy::cast_precision_loss, reason = "scores have 32 bits")]
fn score(weight: u32, boost: f32) -> f32 {
    match weight {
        0 => boost,
        weight if boost > 0.0 => weight as f32 * boost,
        weight => weight as f32,
    }
}

/// The boost of the contexts that an input is found by, and these; `None` when it is not among those wanted.
fn factor(
    mapping: &CompletionMapping,
    wish: &CompletionWish,
    entry: &CompletionEntry<'_>,
    source: &dyn Fn() -> Option<Value>,
) -> Option<(f32, Option<Value>)> {
    if wish.contexts.is_empty() {
        return Some((0.0, None));
    }
    let mut best: Option<f32> = None;
    let mut found_by = Map::new();
    let mut document = None;
    for wanted in wish.contexts.iter().filter(|wish| !wish.values.is_empty()) {
        let context = mapping
            .contexts
            .iter()
            .find(|context| context.name == wanted.name)?;
        let own = entry
            .contexts
            .as_ref()
            .and_then(|all| all.get(&wanted.name));
        let have = match (own, &context.path) {
            (Some(own), _) => own.clone(),
            (None, None) => continue,
            (None, Some(path)) => {
                let document = document.get_or_insert_with(|| source().unwrap_or_default());
                document
                    .pointer(&format!("/{}", path.replace('.', "/")))
                    .cloned()
                    .unwrap_or(Value::Null)
            }
        };
        let have = match have {
            Value::Array(items) if !items.iter().all(Value::is_number) => items,
            one => vec![one],
        };
        let mut names: Vec<Value> = Vec::new();
        for asked in &wanted.values {
            for name in have.iter().filter_map(|have| context.found(have, asked)) {
                best = Some(best.map_or(asked.boost, |best| best.max(asked.boost)));
                let name = Value::from(name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if !names.is_empty() {
            found_by.insert(wanted.name.clone(), Value::Array(names));
        }
    }
    Some((best?, Some(Value::Object(found_by))))
}

#[allow(clippy::cast_precision_loss, reason = "words are short")]
fn letters(count: usize) -> f32 {
    count as f32
}

/// How inputs are to begin.
enum Wanted<'a> {
    Beginning(Prefix<'a>),
    /// With a match.
    Expression(Regexp),
}

impl Wanted<'_> {
    /// The letters that all inputs begin with.
    fn certain(&self) -> &str {
        match self {
            Wanted::Beginning(prefix) => prefix.certain(),
            Wanted::Expression(_) => "",
        }
    }

    /// The boost of a text that begins so.
    fn likeness(&self, text: &str) -> Option<f32> {
        match self {
            Wanted::Beginning(prefix) => prefix.likeness(text),
            Wanted::Expression(expression) => begins(expression, text).then_some(0.0),
        }
    }
}

/// Whether a text begins with a match.
fn begins(expression: &Regexp, text: &str) -> bool {
    let mut state = expression.start();
    for byte in text.bytes() {
        if expression.is_match(&state) || !expression.can_match(&state) {
            break;
        }
        state = expression.accept(&state, byte);
    }
    expression.is_match(&state)
}

/// The beginning that is wanted.
struct Prefix<'a> {
    typed: &'a str,
    is_fuzzy: bool,
    edits: usize,
    /// Bytes that must be as typed.
    certain: usize,
}

impl<'a> Prefix<'a> {
    fn new(typed: &'a str, fuzziness: Option<&Fuzziness>) -> Self {
        let length = typed.chars().count();
        let (edits, certain) = match fuzziness {
            None => (0, length),
            Some(fuzziness) => (
                usize::from(fuzziness.edits(length)),
                fuzziness.prefix_length,
            ),
        };
        Prefix {
            typed,
            is_fuzzy: fuzziness.is_some(),
            edits,
            certain: if edits == 0 {
                typed.len()
            } else {
                certain.min(typed.len())
            },
        }
    }

    /// The letters that must be as typed.
    fn certain(&self) -> &'a str {
        let whole = |at: &usize| self.typed.is_char_boundary(*at);
        let end = (0..=self.certain).rev().find(whole).unwrap_or(0);
        &self.typed[..end]
    }

    /// The boost of a text that begins with what was typed, or with something like it: then it
    /// counts by how many letters are as typed before the first one that is not. As in OpenSearch, which is not
    /// aware of Unicode here, a letter is a byte of it.
    fn likeness(&self, text: &str) -> Option<f32> {
        debug_assert!(!text.contains(ENTRY_SEPARATOR));
        if self.edits == 0 && !text.starts_with(self.typed) {
            return None;
        }
        // What is missing has to be put in.
        if self.typed.len() > text.len() + self.edits {
            return None;
        }
        if !self.is_fuzzy {
            return Some(0.0);
        }
        // The last row holds the distance of what was typed to every beginning of the text.
        let text = text.as_bytes();
        let mut row: Vec<usize> = (0..=text.len()).collect();
        for (i, typed) in self.typed.bytes().enumerate() {
            let mut diagonal = row[0];
            row[0] = i + 1;
            for (j, have) in text.iter().enumerate() {
                let replaced = diagonal + usize::from(typed != *have);
                diagonal = row[j + 1];
                row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
            }
        }
        // The shortest beginning that is near enough is the one that counts.
        let shortest = row.iter().position(|edits| *edits <= self.edits)?;
        let beginning = &text[..shortest.max(self.certain).min(text.len())];
        let pairs = beginning.iter().zip(self.typed.bytes());
        let same = pairs.take_while(|(have, typed)| **have == *typed).count();
        Some(letters(same.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_may_be_matches() {
        let expression = Regexp::new("(l|q)[a-z]+z", RegexpOptions::default()).unwrap();
        for (text, fits) in [
            ("lazy dog", true),
            ("quiz", true),
            ("la", false),
            ("clazy", false),
        ] {
            assert_eq!(begins(&expression, text), fits, "{text}");
        }
    }

    #[test]
    fn what_weighs_nothing_scores_by_its_boost() {
        for (weight, boost, expected) in
            [(3, 0.0, 3.0), (3, 4.0, 12.0), (0, 4.0, 4.0), (0, 0.0, 0.0)]
        {
            assert_eq!(
                Some(score(weight, boost)),
                Some(expected),
                "{weight} {boost}"
            );
        }
    }

    #[test]
    fn beginnings_may_be_wrong_as_far_as_wanted() {
        let exact = Prefix::new("foo", None);
        assert_eq!(exact.likeness("foo bar"), Some(0.0));
        assert_eq!(exact.likeness("fo"), None);
        let fuzziness = Fuzziness {
            prefix_length: 1,
            ..Fuzziness::auto()
        };
        let fuzzy = Prefix::new("amstrdam", Some(&fuzziness));
        assert_eq!(fuzzy.certain(), "a");
        assert_eq!(fuzzy.likeness("amsterdam centraal"), Some(4.0));
        assert_eq!(fuzzy.likeness("rotterdam"), None);
        assert_eq!(fuzzy.likeness("amstrd"), Some(6.0));
        assert_eq!(fuzzy.likeness("amstr"), None);
        // Of two bytes of a letter one may be wrong.
        let accent = Prefix::new("naï", Some(&fuzziness));
        assert_eq!(accent.likeness("naïve"), Some(3.0));
    }
}

//! `grok`: named patterns over a text, their captures as fields.

mod expansion;
mod groups;
mod machines;
mod written;

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_platform::stopped;
use grok::Grok as Patterns;
use grok::parser::{GrokComponent, GrokPatternError, grok_split};
use serde_json::{Map, Value, json};

use super::convert::Typed;
use super::structured::text_of;
use crate::document::Document;
use crate::error::{DefinitionError, Failure, FailureKind};
use crate::members::{flag, names, text};
use crate::text::{self, Decision, Machine, Span};
use groups::{with_flags, with_groups};
pub(crate) use machines::MachineRoom;
use machines::{KEPT_BYTES_MAX, Machines};
use written::{FOR_MACHINES, IN_OTHER_WORDS, with_classes, with_references, without_doubles};

/// Patterns of one step.
const PATTERNS_MAX: usize = 1000;
/// Steps that all expressions of a step may take for one text: ten of them have given up then, after a second or less.
const SPENT_MAX: u64 = 10_000_000;
/// Bytes that the crate's engine reads for the price of a step.
const BYTES_OF_A_STEP: u64 = 16;

/// What a capture becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Float,
    Bool,
}

impl Kind {
    fn named(name: &str) -> Kind {
        match name {
            "int" | "long" => Kind::Integer,
            "float" | "double" => Kind::Float,
            "boolean" => Kind::Bool,
            _ => Kind::Text,
        }
    }

    /// What a captured text spells, if it spells anything of this kind.
    pub(crate) fn read(self, captured: &str) -> Option<Typed> {
        match self {
            Kind::Text => Some(Typed::Text),
            Kind::Integer => captured.parse().ok().map(Typed::Whole),
            Kind::Float => captured.parse().ok().map(Typed::Float),
            Kind::Bool => Some(Typed::Bool(captured.eq_ignore_ascii_case("true"))),
        }
    }

    fn of(self, captured: &str) -> Result<Value, Failure> {
        match self.read(captured) {
            Some(Typed::Text) => Ok(captured.into()),
            Some(Typed::Whole(number)) => Ok(number.into()),
            Some(Typed::Float(number)) => Ok(json!(number)),
            Some(Typed::Bool(truth)) => Ok(truth.into()),
            None => Err(Failure {
                kind: FailureKind::NotANumber,
                ..Failure::unfit(format!("For input string: \"{captured}\""))
            }),
        }
    }
}

/// A capture of an expression.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Its name in the expression.
    name: String,
    /// The field that it is for.
    pub(crate) field: String,
    pub(crate) kind: Kind,
    /// Its group in the fast pattern.
    group: usize,
}

/// One expression, compiled.
#[derive(Debug)]
pub(crate) struct Expression {
    machines: Machines,
    /// The same, where it is made of what is fast. Else a machine is kept.
    fast: Option<text::Pattern>,
    /// In the order in which they are written.
    pub(crate) captures: Vec<Capture>,
}

/// The expressions of a step have taken too many steps for a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TookTooLong;

/// Memory that matching uses again.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    machine: Machine,
    /// Where each capture was found, by its number.
    pub(crate) places: Vec<Option<Span>>,
}

impl Expression {
    /// Compiles an expression. Fields may have any name, which captures may not: they get others.
    fn compile(
        (written, bytes): (&str, usize),
        patterns: &Arc<Patterns>,
        definitions: &BTreeMap<&str, &str>,
        room: &MachineRoom,
    ) -> Result<Self, DefinitionError> {
        let refused = |reason: &str| {
            DefinitionError::refused(
                "patterns",
                format!("Invalid regex pattern found in: [{written}]. {reason}"),
            )
        };
        let mut captures: Vec<Capture> = Vec::new();
        let marked = without_doubles(&with_references(written));
        let renamed = renamed(&marked, &mut captures);
        let renamed = renamed.map_err(|reason| refused(&reason))?;
        // `^` and `$` are the borders of lines, as in Ruby.
        let of_machines = format!("(?m){}", with_classes(&renamed));
        let machines = Machines::new((of_machines, bytes), patterns, room);
        let made = machines.make();
        let made = made.map_err(|error| refused(&error.to_string()))?;
        // Groups that are named inside the patterns that it is made of, or that are referred to.
        let names: Vec<&str> = made.capture_names().collect();
        for name in &names {
            if !captures.iter().any(|capture| capture.name == *name) {
                let kind = Kind::named(made.get_extract(name).unwrap_or_default());
                captures.push(Capture {
                    name: (*name).to_string(),
                    field: path(without_count(name, &names)),
                    kind,
                    group: 0,
                });
            }
        }
        let lookup = |name: &str| definitions.get(name).copied();
        let fast = text::Pattern::compile(&renamed, &lookup)
            .filter(|fast| fast.names().len() == captures.len());
        let fast = fast.filter(|fast| {
            captures.iter_mut().all(|capture| {
                let group = fast.names().iter().position(|name| *name == capture.name);
                capture.group = group.unwrap_or_default();
                group.is_some()
            })
        });
        if fast.is_none() && !machines.keep(made) {
            return Err(refused(&format!(
                "The expressions of its kind in a pipeline may have [{KEPT_BYTES_MAX}] bytes together"
            )));
        }
        Ok(Expression {
            machines,
            fast,
            captures,
        })
    }

    /// Whether a line matches; where the captures are is then told.
    pub(crate) fn find(&self, line: &str, matching: &mut Matching) -> bool {
        matching.places.clear();
        if let Some(fast) = &self.fast {
            match fast.find(line, &mut matching.machine) {
                Decision::No => return false,
                Decision::Yes => {
                    let captures = self.captures.iter();
                    let places = captures.map(|one| fast.group(&matching.machine, one.group));
                    matching.places.extend(places);
                    return true;
                }
                Decision::Unknown => {}
            }
        }
        matching.machine.spent += line.len() as u64 / BYTES_OF_A_STEP;
        let Matching { machine, places } = matching;
        let found = self.machines.ask(&mut machine.spent, |pattern| {
            let Some(found) = pattern.match_against(line) else {
                return false;
            };
            let place = |capture: &Capture| {
                let part = found.get(&capture.name)?;
                let start = part.as_ptr().addr() - line.as_ptr().addr();
                Some(Span::new(start, start + part.len()))
            };
            places.extend(self.captures.iter().map(place));
            true
        });
        found.unwrap_or(false)
    }
}

/// An expression whose captures have names of their own; adds them.
fn renamed(marked: &str, captures: &mut Vec<Capture>) -> Result<String, String> {
    let mut out = String::new();
    // A group that is referred to keeps the name by which it is.
    let has_references = marked.contains("\\k<");
    for component in grok_split(marked) {
        match component {
            GrokComponent::GrokPattern {
                pattern,
                name,
                alias,
                extract,
                definition,
                ..
            } => {
                if alias.is_empty() || !definition.is_empty() {
                    out.push_str(pattern);
                    continue;
                }
                let capture = add_capture(captures, alias, Kind::named(extract));
                out.push_str(&format!("%{{{name}:{capture}}}"));
            }
            GrokComponent::RegularExpression { string, .. } if has_references => {
                out.push_str(&with_flags(string));
            }
            GrokComponent::RegularExpression { string, .. } => {
                let named = |group: &str| add_capture(captures, group, Kind::Text);
                out.push_str(&with_groups(&with_flags(string), named));
            }
            GrokComponent::PatternError(reason) => return Err(no_pattern(&reason)),
        }
    }
    Ok(out)
}

/// What is wrong with a pattern.
fn no_pattern(error: &GrokPatternError) -> String {
    match error {
        GrokPatternError::InvalidCharacter(letter) => {
            format!("a pattern has [{letter}] where none may be")
        }
        GrokPatternError::InvalidPattern => "a pattern is not written as one".to_string(),
        GrokPatternError::InvalidPatternDefinition => {
            "a pattern that is defined in its place is not written as one".to_string()
        }
    }
}

/// Adds a capture for a field; returns its name in the expression.
fn add_capture(captures: &mut Vec<Capture>, field: &str, kind: Kind) -> String {
    let name = format!("capture{}", captures.len());
    captures.push(Capture {
        name: name.clone(),
        field: path(field),
        kind,
        group: 0,
    });
    name
}

/// What the crate is given for the `@` of fields such as `[@metadata][a]`, which it does not take.
const AT: &str = "-at-";

/// Patterns that a definition brings, by their names.
fn own_definitions(given: Option<&Value>) -> Result<Vec<(String, String)>, DefinitionError> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let given = given
        .as_object()
        .ok_or_else(|| DefinitionError::refused("pattern_definitions", "property isn't a map"))?;
    let pattern = |(name, definition): (&String, &Value)| -> Result<_, DefinitionError> {
        let definition = definition
            .as_str()
            .ok_or_else(|| DefinitionError::missing(name))?;
        let marked = without_doubles(&with_references(definition));
        Ok((name.clone(), with_plain_names(&marked)))
    };
    given.iter().map(pattern).collect()
}

/// What stands for a letter that names of groups do not have: its number between these.
const LETTER: (&str, &str) = ("__x", "__");

/// A definition whose groups have names that any engine takes: `(?<[a][b]>` is a group, and its name the field's.
fn with_plain_names(definition: &str) -> String {
    with_groups(&with_flags(definition), |group| {
        let letters = group.chars().map(|letter| match letter {
            letter if letter.is_alphanumeric() || letter == '_' => letter.to_string(),
            letter => format!("{}{:x}{}", LETTER.0, u32::from(letter), LETTER.1),
        });
        letters.collect()
    })
}

/// A name with the letters that [`with_plain_names`] took away.
fn with_letters(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once(LETTER.0) {
        let letter = behind.split_once(LETTER.1).and_then(|(number, behind)| {
            let letter = char::from_u32(u32::from_str_radix(number, 16).ok()?)?;
            let is_other = !letter.is_alphanumeric() && !letter.is_control();
            is_other.then_some((letter, behind))
        });
        out.push_str(before);
        match letter {
            Some((letter, behind)) => {
                out.push(letter);
                rest = behind;
            }
            None => {
                out.push_str(LETTER.0);
                rest = behind;
            }
        }
    }
    out + rest
}

/// The name of a capture without the number that the crate gives to the second of one name and to those that come later:
/// `query[1]`. Such captures are for one field.
fn without_count<'n>(name: &'n str, names: &[&str]) -> &'n str {
    let counted = name
        .strip_suffix(']')
        .and_then(|name| name.rsplit_once('['));
    match counted {
        Some((base, count))
            if count.bytes().all(|byte| byte.is_ascii_digit()) && names.contains(&base) =>
        {
            base
        }
        _ => name,
    }
}

/// `[a][b]` is `a.b`.
fn path(name: &str) -> String {
    let name = with_letters(name);
    let path = name.replace("][", ".").replace(['[', ']'], "");
    path.replace(AT, "@")
}

/// The step.
#[derive(Debug)]
pub(crate) struct Grok {
    pub(crate) field: String,
    pub(crate) expressions: Vec<Expression>,
    /// Whether the number of the expression that matched is told.
    pub(crate) trace: bool,
    /// Whether a field that is captured several times becomes a list.
    pub(crate) all: bool,
    pub(crate) ignore_missing: bool,
}

impl Grok {
    /// `room` is that of the pipeline.
    pub(crate) fn parse(
        config: &mut Map<String, Value>,
        room: &MachineRoom,
    ) -> Result<Self, DefinitionError> {
        let mut patterns = Patterns::with_default_patterns();
        let mut definitions: BTreeMap<&str, &str> = grok_patterns();
        for (name, definition) in FOR_MACHINES.iter() {
            patterns.add_pattern(*name, definition.as_str());
        }
        for (name, definition) in IN_OTHER_WORDS.iter() {
            definitions.insert(*name, definition);
        }
        let own = own_definitions(config.remove("pattern_definitions").as_ref())?;
        for (name, definition) in &own {
            patterns.add_pattern(name.clone(), with_classes(definition));
            definitions.insert(name, definition);
        }
        let written =
            names(config, "patterns")?.ok_or_else(|| DefinitionError::missing("patterns"))?;
        if written.is_empty() {
            return Err(DefinitionError::refused(
                "patterns",
                "List of patterns must not be empty",
            ));
        }
        if written.len() > PATTERNS_MAX {
            return Err(DefinitionError::refused(
                "patterns",
                format!("at most {PATTERNS_MAX} patterns are allowed"),
            ));
        }
        let marked: Vec<String> = written.iter().map(|one| with_references(one)).collect();
        let lengths = expansion::check(&marked, &definitions)?;
        let patterns = Arc::new(patterns);
        let expressions = written.iter().zip(lengths).map(|(one, bytes)| {
            // A pattern may take milliseconds.
            if stopped() {
                return Err(DefinitionError::refused("patterns", "the request is over"));
            }
            Expression::compile((one, bytes), &patterns, &definitions, room)
        });
        Ok(Grok {
            field: text(config, "field")?,
            expressions: expressions.collect::<Result<_, _>>()?,
            trace: flag(config, "trace_match", false)?,
            all: flag(config, "capture_all_matches", false)?,
            ignore_missing: flag(config, "ignore_missing", false)?,
        })
    }

    /// The first expression that a text matches, and its number; where its captures are is then told.
    ///
    /// # Errors
    /// If those before it took too many steps.
    pub(crate) fn first(
        &self,
        line: &str,
        matching: &mut Matching,
    ) -> Result<Option<(usize, &Expression)>, TookTooLong> {
        matching.machine.spent = 0;
        for (number, expression) in self.expressions.iter().enumerate() {
            if expression.find(line, matching) {
                return Ok(Some((number, expression)));
            }
            if matching.machine.spent > SPENT_MAX {
                return Err(TookTooLong);
            }
        }
        Ok(None)
    }

    pub(crate) fn apply(&self, document: &mut Document) -> Result<(), Failure> {
        let Some(line) = text_of(document, &self.field, self.ignore_missing)? else {
            return Ok(());
        };
        let mut matching = Matching::default();
        let found = self.first(&line, &mut matching).map_err(|TookTooLong| {
            let bytes = line.len();
            Failure::unfit(format!(
                "Grok expressions take too many steps on a field value of [{bytes}] bytes"
            ))
        })?;
        let (number, expression) = found.ok_or_else(|| {
            Failure::unfit(format!(
                "Provided Grok expressions do not match field value: [{line}]"
            ))
        })?;
        let mut fields: Vec<(&String, Vec<Value>)> = Vec::new();
        for (capture, place) in expression.captures.iter().zip(&matching.places) {
            let Some(place) = place else {
                continue;
            };
            let value = capture.kind.of(place.of(&line))?;
            match fields.iter_mut().find(|(name, _)| *name == &capture.field) {
                Some((_, values)) => values.push(value),
                None => fields.push((&capture.field, vec![value])),
            }
        }
        for (field, mut values) in fields {
            let value = match (values.len(), self.all) {
                (1, _) | (_, false) => values.swap_remove(0),
                _ => Value::Array(values),
            };
            document.set(field, value)?;
        }
        if self.trace {
            document.set("_ingest._grok_match_index", number.to_string().into())?;
        }
        Ok(())
    }
}

/// The patterns that every expression may use, by their names.
pub fn grok_patterns() -> BTreeMap<&'static str, &'static str> {
    text::usual_patterns().clone()
}

#[cfg(test)]
mod tests;

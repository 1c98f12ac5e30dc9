//! What is found by regular expressions: it is counted as steps, and one that goes back over a text too often ends the
//! script, as `script.painless.regex.enabled: limited` does.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use clew_analysis::{JavaPattern, Places, Replacement};

use super::doing::Doing;
use super::members;
use super::pattern::Pattern;
use super::run::Machine;
use super::tree::Operator;
use super::value::{ScriptValue, TEXT_BYTES_MAX};
use crate::error::{ScriptError, ScriptErrorKind};

/// Steps of a look for a match, however short the text is.
const LOOK_STEPS: usize = 32;
/// Bytes of a text that are looked through in one more step.
const LOOK_BYTES: usize = 256;

/// What can be asked of regular expressions and of what was found by them, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("matcher", 1),
    ("pattern", 0),
    ("split", 1),
    ("split", 2),
    ("matches", 0),
    ("find", 0),
    ("lookingAt", 0),
    ("reset", 0),
    ("group", 0),
    ("group", 1),
    ("namedGroup", 1),
    ("groupCount", 0),
    ("start", 0),
    ("start", 1),
    ("end", 0),
    ("end", 1),
    ("replaceAll", 2),
    ("replaceFirst", 1),
    ("replaceFirst", 2),
];

/// Where the groups of a match lie, the whole first.
type Groups = Vec<Option<Range<usize>>>;

/// A text that is looked through with a regular expression, from match to match. All that name it see where it is.
#[derive(Clone, Debug)]
pub struct Matcher<'a> {
    pattern: &'a Pattern,
    text: Cow<'a, str>,
    at: Arc<Mutex<At>>,
}

/// Where a matcher is.
#[derive(Debug, Default)]
struct At {
    /// Where the next match may begin; nowhere once there is no more.
    next: Option<usize>,
    groups: Option<Groups>,
}

impl PartialEq for Matcher<'_> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.at, &other.at)
    }
}

impl<'a> Matcher<'a> {
    fn new(pattern: &'a Pattern, text: Cow<'a, str>, groups: Option<Groups>) -> Self {
        let next = Some(0);
        Matcher {
            pattern,
            text,
            at: Arc::new(Mutex::new(At { next, groups })),
        }
    }

    /// How long its text is.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    fn inside<R>(&self, with: impl FnOnce(&mut At) -> R) -> R {
        let mut guard = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        with(&mut guard)
    }

    /// Takes what was found for where it is; whether there was anything.
    fn goes_to(&self, groups: Option<Groups>) -> bool {
        let whole = groups.as_ref().and_then(whole_of);
        let next = whole.and_then(|whole| behind(&self.text, &whole));
        let is_found = groups.is_some();
        self.inside(|at| *at = At { next, groups });
        is_found
    }

    /// Where a group of its match lies; `None` where that took no part.
    fn group(&self, number: usize) -> Result<Option<Range<usize>>, ScriptError> {
        self.inside(|at| {
            let Some(groups) = &at.groups else {
                return Err(ScriptError::new(ScriptErrorKind::State, "No match found"));
            };
            groups.get(number).cloned().ok_or_else(|| {
                ScriptError::new(ScriptErrorKind::Bounds, format!("No group {number}"))
            })
        })
    }

    /// The number of a group that a number or a name says.
    fn number(&self, said: &ScriptValue<'a>) -> Result<usize, ScriptError> {
        let ScriptValue::Text(name) = said else {
            let number = said.want_whole()?;
            return usize::try_from(number).map_err(|_| {
                ScriptError::new(ScriptErrorKind::Bounds, format!("No group {number}"))
            });
        };
        let mut names = self.pattern.anywhere.group_names();
        let place = names.position(|known| known == Some(&**name));
        place.ok_or_else(|| ScriptError::argument(format!("No group with name <{name}>")))
    }

    /// A piece of its text.
    fn piece(&self, range: Option<Range<usize>>) -> Result<ScriptValue<'a>, ScriptError> {
        let piece = range.and_then(|range| self.text.get(range));
        match piece {
            Some(piece) => ScriptValue::made(piece.to_string()),
            None => Ok(ScriptValue::Null),
        }
    }

    /// A place of its text as Java counts it.
    fn place(&self, at: Option<usize>) -> ScriptValue<'a> {
        let before = at.and_then(|at| self.text.get(..at));
        let units = before.map(|before| before.encode_utf16().count());
        let units = units.and_then(|units| i64::try_from(units).ok());
        ScriptValue::Whole(units.unwrap_or(-1))
    }
}

fn whole_of(groups: &Groups) -> Option<Range<usize>> {
    groups.first().cloned().flatten()
}

/// Where a match may begin behind another one.
fn behind(text: &str, whole: &Range<usize>) -> Option<usize> {
    match whole.is_empty() {
        false => Some(whole.end),
        true => Some(whole.end + text.get(whole.end..)?.chars().next()?.len_utf8()),
    }
}

fn groups_in(pattern: &JavaPattern, places: &Places) -> Groups {
    let groups = 0..pattern.group_count();
    groups.map(|group| places.get(group)).collect()
}

/// A text that is looked through.
fn text_of<'a>(value: &ScriptValue<'a>) -> Result<Cow<'a, str>, ScriptError> {
    match value {
        ScriptValue::Text(text) => Ok(text.clone()),
        ScriptValue::Null => Err(ScriptError::null("matcher")),
        other => Err(other.no_cast("java.lang.CharSequence")),
    }
}

/// What stands for matches.
#[derive(Clone, Copy)]
enum Instead<'a, 'r> {
    Written(&'r Replacement),
    Made(&'r Doing<'a>),
}

impl<'a> Machine<'a, '_> {
    /// The groups of the first match from a place on.
    fn look(
        &mut self,
        (of, pattern): (&Pattern, &JavaPattern),
        text: &str,
        from: usize,
    ) -> Result<Option<Groups>, ScriptError> {
        self.steps(LOOK_STEPS + text.len() / LOOK_BYTES)?;
        if pattern.looks() {
            self.in_time()?;
        }
        let mut places = pattern.places();
        let found = pattern.find_shortly(text, from).next_places(&mut places);
        let is_found = found.map_err(of.too_hard())?;
        Ok(is_found.then(|| groups_in(pattern, &places)))
    }

    /// Whether a text has a match, or is one.
    pub(super) fn looked_for(
        &mut self,
        operator: Operator,
        text: &ScriptValue<'a>,
        pattern: &ScriptValue<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let &ScriptValue::Pattern(of) = pattern else {
            return Err(pattern.no_cast("java.util.regex.Pattern"));
        };
        let text = text_of(text)?;
        let pattern = match operator {
            Operator::Match => &of.whole,
            _ => &of.anywhere,
        };
        let found = self.look((of, pattern), &text, 0)?;
        Ok(ScriptValue::Bool(found.is_some()))
    }

    /// What a regular expression answers.
    pub(super) fn of_pattern(
        &mut self,
        pattern: &'a Pattern,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        match (name, arguments) {
            ("matcher", [text]) => {
                let matcher = Matcher::new(pattern, text_of(text)?, None);
                Ok(ScriptValue::Matcher(matcher))
            }
            ("pattern", []) => ScriptValue::made(pattern.text().to_string()),
            ("split", [text]) => self.split(pattern, &text_of(text)?, 0),
            ("split", [text, most]) => self.split(pattern, &text_of(text)?, most.want_whole()?),
            _ => members::call(&ScriptValue::Pattern(pattern), name, arguments),
        }
    }

    /// The parts of a text between matches: at most so many, or all without the empty ones at the end where that is zero.
    fn split(
        &mut self,
        pattern: &'a Pattern,
        text: &str,
        most: i64,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let mut parts: Vec<&str> = Vec::new();
        let (mut at, mut from) = (0, Some(0));
        let limit = usize::try_from(most).ok().filter(|limit| *limit > 0);
        while let Some(next) = from
            && limit.is_none_or(|limit| parts.len() + 1 < limit)
            && let Some(groups) = self.look((pattern, &pattern.anywhere), text, next)?
            && let Some(whole) = whole_of(&groups)
        {
            // Nothing stands before a match of nothing at the beginning.
            if whole.end > 0 {
                parts.push(text.get(at..whole.start).unwrap_or_default());
                at = whole.end;
            }
            from = behind(text, &whole);
        }
        parts.push(text.get(at..).unwrap_or_default());
        if most == 0 {
            while parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
                parts.pop();
            }
        }
        let mut made = Vec::with_capacity(parts.len());
        for part in parts {
            let part = ScriptValue::Text(Cow::Owned(part.to_string()));
            self.hold(&part)?;
            made.push(part);
        }
        ScriptValue::listed(made)
    }

    /// What a matcher answers.
    pub(super) fn of_matcher(
        &mut self,
        matcher: &Matcher<'a>,
        name: &str,
        arguments: &[ScriptValue<'a>],
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let pattern = matcher.pattern;
        Ok(match (name, arguments) {
            ("find", _) => {
                let next = match arguments {
                    [] => matcher.inside(|at| at.next),
                    [from, ..] => Some(self.byte_of(&matcher.text, from)?),
                };
                let groups = match next {
                    Some(next) => self.look((pattern, &pattern.anywhere), &matcher.text, next)?,
                    None => None,
                };
                ScriptValue::Bool(matcher.goes_to(groups))
            }
            ("matches", []) => {
                let groups = self.look((pattern, &pattern.whole), &matcher.text, 0)?;
                ScriptValue::Bool(matcher.goes_to(groups))
            }
            ("lookingAt", []) => {
                let groups = self.look((pattern, &pattern.anywhere), &matcher.text, 0)?;
                let first = |groups: &Groups| whole_of(groups).is_some_and(|one| one.start == 0);
                ScriptValue::Bool(matcher.goes_to(groups.filter(first)))
            }
            ("reset", []) => {
                let next = Some(0);
                matcher.inside(|at| *at = At { next, groups: None });
                ScriptValue::Matcher(matcher.clone())
            }
            ("group", []) => matcher.piece(matcher.group(0)?)?,
            ("group" | "namedGroup", [said]) => {
                matcher.piece(matcher.group(matcher.number(said)?)?)?
            }
            ("groupCount", []) => {
                let groups = pattern.anywhere.group_count().saturating_sub(1);
                ScriptValue::Whole(i64::try_from(groups).unwrap_or(i64::MAX))
            }
            ("start" | "end", _) => {
                let number = match arguments {
                    [said, ..] => matcher.number(said)?,
                    [] => 0,
                };
                self.steps(matcher.text.len() / LOOK_BYTES)?;
                let range = matcher.group(number)?;
                let is_start = name == "start";
                matcher.place(range.map(|range| if is_start { range.start } else { range.end }))
            }
            ("replaceAll" | "replaceFirst", [instead]) => {
                let instead = instead.want_text()?;
                let read = Replacement::read(instead, &pattern.anywhere);
                let read = read.map_err(ScriptError::argument)?;
                self.replaced((pattern, &matcher.text), name, Instead::Written(&read))?
            }
            _ => return members::call(&ScriptValue::Matcher(matcher.clone()), name, arguments),
        })
    }

    /// The byte at a place that is counted as Java does.
    fn byte_of(&mut self, text: &str, place: &ScriptValue<'a>) -> Result<usize, ScriptError> {
        self.steps(text.len() / LOOK_BYTES)?;
        let place = place.want_whole()?;
        let mut units = 0;
        for (byte, letter) in text.char_indices() {
            if units >= place {
                return Ok(byte);
            }
            units += if letter.len_utf16() == 2 { 2 } else { 1 };
        }
        match units >= place {
            true => Ok(text.len()),
            false => Err(ScriptError::new(
                ScriptErrorKind::Bounds,
                "Illegal start index",
            )),
        }
    }

    /// A text with what a lambda makes of each match, or of the first one, in the place of that.
    pub(super) fn replaced_by(
        &mut self,
        (pattern, text): (&'a Pattern, &Cow<'a, str>),
        name: &str,
        lambda: &Doing<'a>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        self.replaced((pattern, text), name, Instead::Made(lambda))
    }

    fn replaced(
        &mut self,
        (pattern, text): (&'a Pattern, &Cow<'a, str>),
        name: &str,
        instead: Instead<'a, '_>,
    ) -> Result<ScriptValue<'a>, ScriptError> {
        let anywhere = &pattern.anywhere;
        let (mut out, mut at) = (String::new(), 0);
        let mut found = anywhere.find_shortly(text, 0);
        let mut places = anywhere.places();
        loop {
            self.steps(LOOK_STEPS + text.len() / LOOK_BYTES)?;
            let is_found = found.next_places(&mut places).map_err(pattern.too_hard())?;
            let Some(whole) = places.get(0).filter(|_| is_found) else {
                break;
            };
            out.push_str(text.get(at..whole.start).unwrap_or_default());
            match instead {
                Instead::Written(written) => written.push(text, &places, &mut out),
                Instead::Made(lambda) => {
                    let groups = Some(groups_in(anywhere, &places));
                    let matcher = Matcher::new(pattern, text.clone(), groups);
                    let made = self.applied(lambda, &[ScriptValue::Matcher(matcher)])?;
                    out.push_str(made.want_text()?);
                }
            }
            at = whole.end;
            // No more is made of a text that is too long already.
            if name == "replaceFirst" || out.len() > TEXT_BYTES_MAX {
                break;
            }
        }
        out.push_str(text.get(at..).unwrap_or_default());
        ScriptValue::made(out)
    }
}

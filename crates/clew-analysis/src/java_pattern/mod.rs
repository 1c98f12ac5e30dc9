//! Regular expressions as Java reads them. What the linear engine can do it does, in as many steps as a text is long; those
//! that look around or back, and those that keep what they have (`(?=…)`, `(?<=…)`, `\1`, `a++`, `(?>…)`), go to one that
//! tries again, whose steps are counted and limited.
//!
//! They differ from Java's in a few places. What looks behind has one length, or alternatives of one length each. Where
//! nothing looks around, `.` is all but the end of a line, `\n`, and `$` the end of the text. What is refused by name is told
//! in `translate`.

mod flags;
mod letters;
mod patience;
mod replacement;
mod room;
#[cfg(test)]
mod tests;
mod translate;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use regex::{CaptureLocations, Regex, RegexBuilder};

pub use patience::{InOneTurn, in_one_turn};
pub(crate) use replacement::each_match;
pub use replacement::{NotReplaced, Replacement};
pub use room::{InOneDefinition, in_one_definition};

use flags::Flags;
use patience::{LONG_MAX, Patience, TIME_MAX};
use translate::{Target, Wrong, translate};

/// Steps back that attempts may take, one after the other: the first that is enough counts.
const STEPS: [usize; 4] = [200, 8_000, 50_000, LONG_STEPS_MAX];
/// Steps back that a long attempt may take.
const LONG_STEPS_MAX: usize = 1_000_000;
/// Bytes that an attempt may go over where each of its steps may go over all of the text.
const FAR_BYTES_MAX: usize = 1_000_000_000;
/// Longest text that is looked around in, in bytes.
const LOOKED_AT_MAX: usize = 1 << 20;

/// An expression that is ready to be looked for. Clones share it.
#[derive(Clone, Debug)]
pub struct JavaPattern {
    written: Arc<str>,
    engine: Engine,
    names: Arc<[Option<String>]>,
}

#[derive(Clone, Debug)]
enum Engine {
    Linear(Regex),
    Looking(Arc<Looking>),
}

/// The same expression several times: by how far it may go back.
#[derive(Debug)]
struct Looking {
    text: String,
    /// For each of `STEPS`; the later ones are made when they are wanted.
    built: [OnceLock<Option<fancy_regex::Regex>>; STEPS.len()],
    /// Whether one step may go over any length of a text.
    goes_far: bool,
}

/// Why a text is not an expression, in Java's words where they are few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError(String);

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PatternError {}

impl PatternError {
    fn of(written: &str, wrong: &Wrong) -> Self {
        let Wrong { reason, at } = wrong;
        let length = written.chars().count();
        let pointer = if *at < length {
            format!("\n{}^", " ".repeat(*at))
        } else {
            String::new()
        };
        PatternError(format!("{reason} near index {at}\n{written}{pointer}"))
    }
}

/// An expression that goes back over a text more often than is allowed, or would look around in one that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManySteps {
    /// Bytes of the text.
    pub text_bytes: usize,
}

impl fmt::Display for TooManySteps {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the regular expression takes too many steps on a text of {} bytes: it may take {LONG_STEPS_MAX} steps back \
             at a time, {LONG_MAX} times, fewer where one may go over the whole text, {} ms of the processor in all, and look \
             around in {LOOKED_AT_MAX} bytes",
            self.text_bytes,
            TIME_MAX.as_millis()
        )
    }
}

impl std::error::Error for TooManySteps {}

/// The expression that Java would read.
///
/// # Errors
/// When it is none, or one that ours cannot read.
pub fn java_pattern(written: &str) -> Result<JavaPattern, PatternError> {
    JavaPattern::with_flags(written, "")
}

impl JavaPattern {
    /// The same under flags by name: `CASE_INSENSITIVE|DOTALL`.
    ///
    /// # Errors
    /// When it is none, one that ours cannot read, or there is no such flag.
    pub fn with_flags(written: &str, flags: &str) -> Result<Self, PatternError> {
        let flags = Flags::named(flags).map_err(PatternError)?;
        let wrong = |wrong: Wrong| PatternError::of(written, &wrong);
        let mut translated = translate(written, flags, Target::Linear).map_err(wrong)?;
        let engine = if translated.looks {
            translated = translate(written, flags, Target::Looking).map_err(wrong)?;
            let goes_far = translated.goes_far;
            let text = std::mem::take(&mut translated.text);
            Engine::Looking(Arc::new(Looking::build(text, goes_far)?))
        } else {
            let built = room::within(1, |bytes| {
                let built = RegexBuilder::new(&translated.text)
                    .size_limit(bytes)
                    .build();
                built.map_err(|error| PatternError(error.to_string()))
            });
            Engine::Linear(built?)
        };
        Ok(JavaPattern {
            written: written.into(),
            engine,
            names: translated.names.into(),
        })
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// How many groups it has, the whole match with them.
    pub fn group_count(&self) -> usize {
        self.names.len()
    }

    /// What its groups are called, the whole match first.
    pub fn group_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.names.iter().map(Option::as_deref)
    }

    /// Whether it matches anywhere in a text.
    ///
    /// # Errors
    /// When that takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, TooManySteps> {
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Looking(_) => Ok(self.find_at(text, 0)?.is_some()),
        }
    }

    /// The first match that begins at a place or behind it; none where the place is no border of characters.
    ///
    /// # Errors
    /// When that takes too many steps.
    pub fn find_at(&self, text: &str, from: usize) -> Result<Option<Range<usize>>, TooManySteps> {
        self.find_counted(text, from, &mut Patience::new())
    }

    fn find_counted(
        &self,
        text: &str,
        from: usize,
        patience: &mut Patience,
    ) -> Result<Option<Range<usize>>, TooManySteps> {
        if !text.is_char_boundary(from) {
            return Ok(None);
        }
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.find_at(text, from).map(|found| found.range())),
            Engine::Looking(looking) => {
                let found = looking.attempt((text, from), patience, |regex| {
                    regex.find_from_pos(text, from).ok()
                })?;
                Ok(found.map(|found| found.range()))
            }
        }
    }

    /// All matches in their order. As in Java, one of nothing may stand right behind another one.
    pub fn find_all<'p, 't>(&'p self, text: &'t str) -> JavaMatches<'p, 't> {
        JavaMatches {
            pattern: self,
            text,
            from: Some(0),
            patience: Patience::new(),
        }
    }

    /// Whether it looks around or back: a look for a match may take far longer than its text is long.
    pub fn looks(&self) -> bool {
        matches!(self.engine, Engine::Looking(_))
    }

    /// The matches from a place on, of which none may be a long attempt: what is asked for again and again has to be found
    /// soon. None where the place is no border of characters.
    pub fn find_shortly<'p, 't>(&'p self, text: &'t str, from: usize) -> JavaMatches<'p, 't> {
        JavaMatches {
            from: text.is_char_boundary(from).then_some(from),
            patience: Patience::without_long(),
            ..self.find_all(text)
        }
    }

    /// Room for where groups match, to be used again and again.
    pub fn places(&self) -> Places {
        Places(match &self.engine {
            Engine::Linear(regex) => Kept::Linear(regex.capture_locations()),
            Engine::Looking(_) => Kept::Looking(Vec::new()),
        })
    }

    /// Reads where groups match first in a text; false where nothing does. Costs no memory where nothing looks around.
    ///
    /// # Errors
    /// When that takes too many steps.
    pub fn read(&self, text: &str, places: &mut Places) -> Result<bool, TooManySteps> {
        self.find_all(text).next_places(places)
    }
}

impl Looking {
    fn build(text: String, goes_far: bool) -> Result<Self, PatternError> {
        let first = room::within(STEPS.len(), |bytes| built(&text, STEPS[0], bytes))?;
        let first = OnceLock::from(Some(first));
        Ok(Looking {
            text,
            built: [first, OnceLock::new(), OnceLock::new(), OnceLock::new()],
            goes_far,
        })
    }

    /// Tries in a text from a place on with few steps, then with more; what finds nothing for want of steps answers `None`.
    fn attempt<T>(
        &self,
        (text, from): (&str, usize),
        patience: &mut Patience,
        find: impl Fn(&fancy_regex::Regex) -> Option<T>,
    ) -> Result<T, TooManySteps> {
        let too_many = TooManySteps {
            text_bytes: text.len(),
        };
        if text.len() > LOOKED_AT_MAX {
            return Err(too_many);
        }
        let rest = text.len().saturating_sub(from);
        for (place, (steps, built_once)) in STEPS.iter().zip(&self.built).enumerate() {
            let is_too_far = self.goes_far && rest.saturating_mul(*steps) > FAR_BYTES_MAX;
            if is_too_far || patience.is_over(place > 0) {
                break;
            }
            if *steps == LONG_STEPS_MAX {
                patience.long_left = patience.long_left.checked_sub(1).ok_or(too_many)?;
            }
            let regex = built_once.get_or_init(|| built(&self.text, *steps, room::BYTES_MAX).ok());
            if let Some(found) = find(regex.as_ref().ok_or(too_many)?) {
                return Ok(found);
            }
        }
        Err(too_many)
    }
}

/// `bytes` is the room for each part that the linear engine does.
fn built(text: &str, steps: usize, bytes: usize) -> Result<fancy_regex::Regex, PatternError> {
    let mut builder = fancy_regex::RegexBuilder::new(text);
    let built = builder
        .backtrack_limit(steps)
        .delegate_size_limit(bytes)
        .build();
    built.map_err(|error| PatternError(error.to_string()))
}

/// Where the groups of a match lie.
#[derive(Clone, Debug)]
pub struct Places(Kept);

#[derive(Clone, Debug)]
enum Kept {
    Linear(CaptureLocations),
    Looking(Vec<Option<Range<usize>>>),
}

impl Places {
    /// The bytes that a group matched; nothing where it did not.
    pub fn get(&self, group: usize) -> Option<Range<usize>> {
        match &self.0 {
            Kept::Linear(locations) => locations.get(group).map(|(start, end)| start..end),
            Kept::Looking(ranges) => ranges.get(group)?.clone(),
        }
    }
}

/// The matches of an expression in a text. Ends behind the first error.
#[derive(Debug)]
pub struct JavaMatches<'p, 't> {
    pattern: &'p JavaPattern,
    text: &'t str,
    /// Where the next one may begin; nowhere once there is no more.
    from: Option<usize>,
    patience: Patience,
}

impl JavaMatches<'_, '_> {
    /// Reads the groups of the next match; false where there is none.
    ///
    /// # Errors
    /// When that takes too many steps.
    pub fn next_places(&mut self, places: &mut Places) -> Result<bool, TooManySteps> {
        let Some(from) = self.from.take() else {
            return Ok(false);
        };
        let (pattern, text) = (self.pattern, self.text);
        let whole = match (&pattern.engine, &mut places.0) {
            (Engine::Linear(regex), Kept::Linear(locations)) => {
                let found = regex.captures_read_at(locations, text, from);
                found.map(|found| found.range())
            }
            (Engine::Looking(looking), Kept::Looking(ranges)) => {
                let captures = looking.attempt((text, from), &mut self.patience, |regex| {
                    regex.captures_from_pos(text, from).ok()
                })?;
                ranges.clear();
                if let Some(captures) = &captures {
                    ranges.extend(
                        captures
                            .iter()
                            .map(|group| group.map(|group| group.range())),
                    );
                }
                ranges.first().cloned().flatten()
            }
            // Room that was made for another expression.
            (_, other) => {
                *other = pattern.places().0;
                self.from = Some(from);
                return self.next_places(places);
            }
        };
        Ok(self.goes_on(whole.as_ref()))
    }

    /// Says where the next match may begin.
    fn goes_on(&mut self, found: Option<&Range<usize>>) -> bool {
        self.from = found.and_then(|found| {
            let step = match found.is_empty() {
                true => self.text.get(found.end..)?.chars().next()?.len_utf8(),
                false => 0,
            };
            Some(found.end + step)
        });
        found.is_some()
    }
}

impl Iterator for JavaMatches<'_, '_> {
    type Item = Result<Range<usize>, TooManySteps>;

    fn next(&mut self) -> Option<Self::Item> {
        let from = self.from.take()?;
        match self
            .pattern
            .find_counted(self.text, from, &mut self.patience)
        {
            Ok(found) => {
                self.goes_on(found.as_ref());
                found.map(Ok)
            }
            Err(too_many) => Some(Err(too_many)),
        }
    }
}

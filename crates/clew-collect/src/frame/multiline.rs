//! Which lines belong to the line before them. Presets look at first bytes and literal words only; patterns of people's own
//! come as a [`Matcher`].

use std::time::Duration;

use super::matcher::Matcher;
use crate::error::CollectError;
use crate::parse::{Joining, ParserName, Within};

/// Lines of one event at most, unless an input says so.
const LINES_MAX: usize = 500;

/// How lines are joined to events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiline {
    /// What tells whether a line belongs to the one before it.
    pub rule: MultilineRule,
    /// A regular expression of lines that end the event that they belong to.
    pub end: Option<String>,
    /// Lines of one event at most; those beyond begin another.
    pub lines_max: usize,
    /// How long a file has to be quiet until its last event is taken as it is.
    pub timeout: Duration,
}

/// What tells whether a line belongs to the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MultilineRule {
    /// A line that matches this regular expression begins an event, every other one continues it.
    Start(String),
    /// A line that matches this regular expression continues the event before it.
    Continue(String),
    /// A line that matches this regular expression is continued by the next one.
    GoesOn(String),
    /// Lines that match this regular expression belong together; every other one is an event of its own.
    While(String),
    /// Every line continues the event before it, up to its end or to the limit of its lines.
    Every,
    /// What logs of many programs have in common.
    Preset(MultilinePreset),
}

/// The rules that need nothing but their name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultilinePreset {
    /// A line that begins with white space continues the event before it.
    Indented,
    /// Traces of Java's exceptions, with what caused them.
    Java,
    /// Python's tracebacks, chained ones too.
    Python,
    /// Go's panics, with their goroutines.
    Go,
    /// Traces of .NET's exceptions.
    Dotnet,
    /// Errors of Node.js, with what they have beside their stack.
    Node,
    /// Exceptions of PHP, with their numbered stack.
    Php,
    /// Exceptions of Ruby, and of Rails.
    Ruby,
    /// Panics of Rust, with their backtrace.
    Rust,
}

impl Multiline {
    /// A rule with the default limits: 500 lines, 5 seconds.
    pub fn new(rule: MultilineRule) -> Self {
        Multiline {
            rule,
            end: None,
            lines_max: LINES_MAX,
            timeout: Duration::from_secs(5),
        }
    }
}

impl MultilineRule {
    /// The names of presets.
    pub const PRESETS: [&str; 9] = [
        "indented", "java", "python", "go", "dotnet", "node", "php", "ruby", "rust",
    ];

    /// The rule of this name, one of [`MultilineRule::PRESETS`].
    pub fn preset(name: &str) -> Option<Self> {
        Some(MultilineRule::Preset(match name {
            "indented" => MultilinePreset::Indented,
            "java" => MultilinePreset::Java,
            "python" => MultilinePreset::Python,
            "go" => MultilinePreset::Go,
            "dotnet" => MultilinePreset::Dotnet,
            "node" => MultilinePreset::Node,
            "php" => MultilinePreset::Php,
            "ruby" => MultilinePreset::Ruby,
            "rust" => MultilinePreset::Rust,
            _ => return None,
        }))
    }
}

/// The compiled form.
#[derive(Clone, Debug)]
pub(crate) struct Joiner {
    rule: Rule,
    end: Option<Matcher>,
    pub(super) lines_max: usize,
}

#[derive(Clone, Debug)]
enum Rule {
    Start(Matcher),
    Continue(Matcher),
    GoesOn(Matcher),
    While(Matcher),
    Every,
    Preset(MultilinePreset),
    /// What a parser knows of its format.
    Known(Joining),
}

/// What the event so far ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// A line of a log.
    Log,
    /// Inside a trace.
    Frames,
    /// Behind the line of an exception itself, of Java, .NET, Python or Rust.
    Exception,
    /// Behind the words between two chained Python exceptions.
    Chained,
    /// The line that ends it.
    Over,
}

impl From<Within> for Trace {
    fn from(within: Within) -> Self {
        match within {
            Within::Head => Trace::Frames,
            Within::Body => Trace::Log,
            Within::Whole => Trace::Over,
        }
    }
}

impl From<Trace> for Within {
    fn from(trace: Trace) -> Self {
        match trace {
            Trace::Frames => Within::Head,
            Trace::Log | Trace::Exception | Trace::Chained => Within::Body,
            Trace::Over => Within::Whole,
        }
    }
}

impl Joiner {
    pub(crate) fn new(multiline: &Multiline) -> Result<Self, CollectError> {
        let refuse = |reason| CollectError::Option {
            option: "multiline",
            reason,
        };
        if !(1..=100_000).contains(&multiline.lines_max) {
            return Err(refuse(
                "[lines_max], or [count], is not in 1..=100000".to_owned(),
            ));
        }
        let matcher = |pattern: &str| Matcher::new(pattern).map_err(refuse);
        let rule = match &multiline.rule {
            MultilineRule::Start(pattern) => Rule::Start(matcher(pattern)?),
            MultilineRule::Continue(pattern) => Rule::Continue(matcher(pattern)?),
            MultilineRule::GoesOn(pattern) => Rule::GoesOn(matcher(pattern)?),
            MultilineRule::While(pattern) => Rule::While(matcher(pattern)?),
            MultilineRule::Every => Rule::Every,
            MultilineRule::Preset(preset) => Rule::Preset(*preset),
        };
        let end = multiline.end.as_deref().map(matcher);
        Ok(Joiner {
            rule,
            end: end.transpose()?,
            lines_max: multiline.lines_max,
        })
    }

    /// What a parser knows of its format, if that has events of several lines.
    pub(super) fn of(parser: ParserName) -> Option<Self> {
        let joining = parser.joining();
        joining.joins().then_some(Joiner {
            rule: Rule::Known(joining),
            end: None,
            lines_max: LINES_MAX,
        })
    }

    /// The state behind an event's first line.
    pub(super) fn begin(&self, line: &[u8]) -> Trace {
        let behind = match &self.rule {
            Rule::Preset(preset) => preset.behind_first(line),
            Rule::Known(joining) => return joining.behind_first(line).into(),
            Rule::GoesOn(matcher) | Rule::While(matcher) if !matcher.matches(line) => {
                return Trace::Over;
            }
            Rule::Start(_) | Rule::Continue(_) | Rule::GoesOn(_) | Rule::While(_) | Rule::Every => {
                Trace::Log
            }
        };
        self.ended(line, behind)
    }

    /// Whether a line belongs to the event before it, and the state behind it if so.
    pub(super) fn continues(&self, line: &[u8], behind: Trace) -> Option<Trace> {
        if behind == Trace::Over {
            return None;
        }
        let state = match &self.rule {
            Rule::Start(matcher) => (!matcher.matches(line)).then_some(behind),
            Rule::Continue(matcher) | Rule::While(matcher) => {
                matcher.matches(line).then_some(behind)
            }
            Rule::GoesOn(matcher) => Some(match matcher.matches(line) {
                true => behind,
                false => Trace::Over,
            }),
            Rule::Every => Some(behind),
            Rule::Preset(preset) => preset.behind_next(line, behind),
            Rule::Known(joining) => {
                let behind = joining.behind_next(line, behind.into());
                behind.map(Trace::from)
            }
        };
        state.map(|state| self.ended(line, state))
    }

    /// The state behind a line, which may end its event.
    fn ended(&self, line: &[u8], behind: Trace) -> Trace {
        match &self.end {
            Some(end) if end.matches(line) => Trace::Over,
            _ => behind,
        }
    }
}

#[cfg(test)]
mod tests;

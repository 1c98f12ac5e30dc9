//! Which lines belong to the line before them. Presets look at first bytes and literal words only; patterns of people's own
//! come as a [`Matcher`].

use std::time::Duration;

use super::matcher::Matcher;
use crate::error::CollectError;

/// How lines are joined to events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiline {
    /// What tells whether a line belongs to the one before it.
    pub rule: MultilineRule,
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
}

impl Multiline {
    /// A rule with the default limits: 500 lines, 5 seconds.
    pub fn new(rule: MultilineRule) -> Self {
        Multiline {
            rule,
            lines_max: 500,
            timeout: Duration::from_secs(5),
        }
    }
}

impl MultilineRule {
    /// The rules that need nothing but their name.
    pub const PRESETS: [&str; 5] = ["indented", "java", "python", "go", "dotnet"];

    /// The rule of this name, one of [`MultilineRule::PRESETS`].
    pub fn preset(name: &str) -> Option<Self> {
        Some(match name {
            "indented" => MultilineRule::Indented,
            "java" => MultilineRule::Java,
            "python" => MultilineRule::Python,
            "go" => MultilineRule::Go,
            "dotnet" => MultilineRule::Dotnet,
            _ => return None,
        })
    }
}

/// The compiled form.
#[derive(Clone, Debug)]
pub(crate) struct Joiner {
    rule: Rule,
    pub(super) lines_max: usize,
}

#[derive(Clone, Debug)]
enum Rule {
    Start(Matcher),
    Continue(Matcher),
    Indented,
    Java,
    Python,
    Go,
    Dotnet,
}

/// What the event so far ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// A line of a log.
    Log,
    /// Inside a trace.
    Frames,
    /// Behind a Python exception's own line.
    Exception,
    /// Behind the words between two chained Python exceptions.
    Chained,
}

impl Joiner {
    pub(crate) fn new(multiline: &Multiline) -> Result<Self, CollectError> {
        let refuse = |reason| CollectError::Option {
            option: "multiline",
            reason,
        };
        if !(1..=100_000).contains(&multiline.lines_max) {
            return Err(refuse("lines_max is not in 1..=100000".to_owned()));
        }
        let matcher = |pattern: &str| Matcher::new(pattern).map_err(refuse);
        let rule = match &multiline.rule {
            MultilineRule::Start(pattern) => Rule::Start(matcher(pattern)?),
            MultilineRule::Continue(pattern) => Rule::Continue(matcher(pattern)?),
            MultilineRule::Indented => Rule::Indented,
            MultilineRule::Java => Rule::Java,
            MultilineRule::Python => Rule::Python,
            MultilineRule::Go => Rule::Go,
            MultilineRule::Dotnet => Rule::Dotnet,
        };
        Ok(Joiner {
            rule,
            lines_max: multiline.lines_max,
        })
    }

    /// The state behind an event's first line.
    pub(super) fn begin(&self, line: &[u8]) -> Trace {
        let in_trace = match self.rule {
            Rule::Java => names_exception(line) || line.starts_with(b"Exception in thread"),
            Rule::Dotnet => names_exception(line) || line.starts_with(b"Unhandled exception"),
            Rule::Python => line.starts_with(b"Traceback ("),
            Rule::Go => line.starts_with(b"panic: ") || line.starts_with(b"fatal error: "),
            Rule::Start(_) | Rule::Continue(_) | Rule::Indented => false,
        };
        if in_trace { Trace::Frames } else { Trace::Log }
    }

    /// Whether a line belongs to the event before it, and the state behind it if so.
    pub(super) fn continues(&self, line: &[u8], behind: Trace) -> Option<Trace> {
        let indented = matches!(line.first(), Some(b' ' | b'\t'));
        match &self.rule {
            Rule::Start(matcher) => (!matcher.matches(line)).then_some(behind),
            Rule::Continue(matcher) => matcher.matches(line).then_some(behind),
            Rule::Indented => indented.then_some(behind),
            Rule::Java | Rule::Dotnet => {
                let more = indented
                    || line.is_empty()
                    || line.starts_with(b"Caused by: ")
                    || line.starts_with(b"--- End of ");
                // An exception under a line of the log is what that line tells of; one under a trace is the next.
                let exception = behind == Trace::Log && names_exception(line);
                let frame = exception || line.trim_ascii_start().starts_with(b"at ");
                let behind_it = if frame { Trace::Frames } else { behind };
                (more || exception).then_some(behind_it)
            }
            Rule::Python => python(line, indented, behind),
            Rule::Go => go(line, indented, behind),
        }
    }
}

fn python(line: &[u8], indented: bool, behind: Trace) -> Option<Trace> {
    let traceback = line.starts_with(b"Traceback (");
    let between = || {
        line.starts_with(b"During handling of the above exception")
            || line.starts_with(b"The above exception was the direct cause")
    };
    match behind {
        Trace::Log if indented => Some(Trace::Log),
        Trace::Log | Trace::Chained if traceback => Some(Trace::Frames),
        Trace::Log => None,
        Trace::Frames if indented || line.is_empty() => Some(Trace::Frames),
        // What is not indented is the exception itself.
        Trace::Frames => Some(Trace::Exception),
        Trace::Exception if between() => Some(Trace::Chained),
        Trace::Exception | Trace::Chained => (indented || line.is_empty()).then_some(behind),
    }
}

fn go(line: &[u8], indented: bool, behind: Trace) -> Option<Trace> {
    let goroutine = line.starts_with(b"goroutine ") && line.ends_with(b":");
    let more = match behind {
        Trace::Log => indented || goroutine,
        _ => {
            indented
                || goroutine
                || line.is_empty()
                || line.starts_with(b"created by ")
                || line.starts_with(b"[signal ")
                || line.starts_with(b"exit status ")
                || line.starts_with(b"...")
                || is_call(line)
        }
    };
    let behind_it = match behind {
        Trace::Log if !goroutine => Trace::Log,
        _ => Trace::Frames,
    };
    more.then_some(behind_it)
}

/// `main.handler(0xc000, ...)`: no blank in front of the bracket.
fn is_call(line: &[u8]) -> bool {
    line.last() == Some(&b')')
        && memchr::memchr2(b' ', b'(', line).is_some_and(|at| at > 0 && line[at] == b'(')
}

/// `java.io.IOException: text`, `System.InvalidOperationException`: a dotted name that ends as those of exceptions do.
fn names_exception(line: &[u8]) -> bool {
    if !line.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$');
    let end = line.iter().position(|byte| !is_name(byte));
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    let ends = [&b"Exception"[..], b"Error", b"Throwable"];
    memchr::memchr(b'.', name).is_some()
        && matches!(rest.first(), None | Some(b':'))
        && ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests;

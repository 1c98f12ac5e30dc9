//! Which lines are of a stack trace, for languages whose traces logs have: first bytes and literal words, no expressions.

use super::multiline::{MultilinePreset, Trace};
use crate::parse::begins_as_log;

impl MultilinePreset {
    /// The state behind an event's first line.
    pub(super) fn behind_first(self, line: &[u8]) -> Trace {
        let begins = match self {
            MultilinePreset::Java => begins_java(line),
            MultilinePreset::Dotnet => begins_dotnet(line),
            MultilinePreset::Python => line.starts_with(b"Traceback ("),
            MultilinePreset::Go => {
                line.starts_with(b"panic: ") || line.starts_with(b"fatal error: ")
            }
            MultilinePreset::Rust => return begin_rust(line),
            MultilinePreset::Indented
            | MultilinePreset::Node
            | MultilinePreset::Php
            | MultilinePreset::Ruby => false,
        };
        if begins { Trace::Frames } else { Trace::Log }
    }

    /// The state behind a line that belongs to the event before it; `None` if it does not.
    pub(super) fn behind_next(self, line: &[u8], behind: Trace) -> Option<Trace> {
        let indented = matches!(line.first(), Some(b' ' | b'\t'));
        match self {
            MultilinePreset::Indented => indented.then_some(behind),
            MultilinePreset::Java | MultilinePreset::Dotnet => java(line, indented, behind),
            MultilinePreset::Python => python(line, indented, behind),
            MultilinePreset::Go => go(line, indented, behind),
            MultilinePreset::Node => node(line, indented, behind),
            MultilinePreset::Php => (indented || is_php(line)).then_some(behind),
            MultilinePreset::Ruby => (indented || is_ruby(line)).then_some(behind),
            MultilinePreset::Rust => rust(line, indented, behind),
        }
    }
}

/// Whether a line is Java's first of a trace.
fn begins_java(line: &[u8]) -> bool {
    names_exception(line) || line.starts_with(b"Exception in thread")
}

/// The same of .NET.
fn begins_dotnet(line: &[u8]) -> bool {
    names_exception(line) || line.starts_with(b"Unhandled exception")
}

/// Java's traces, and those of .NET. What an exception says of itself may have several lines, up to its first frame; a line that
/// begins as those of logs do is none of them.
fn java(line: &[u8], indented: bool, behind: Trace) -> Option<Trace> {
    let names_one = names_exception(line);
    // An exception under a line of the log is what that line tells of; one under a trace is the next.
    if behind == Trace::Log && names_one || line.starts_with(b"Caused by: ") {
        return Some(Trace::Exception);
    }
    let more = indented || line.is_empty() || line.starts_with(b"--- End of ");
    let said = behind == Trace::Exception && !names_one;
    let behind_it = match line.trim_ascii_start().starts_with(b"at ") {
        true => Trace::Frames,
        false => behind,
    };
    (more || said && !begins_as_log(line)).then_some(behind_it)
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
        Trace::Log | Trace::Over => None,
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

/// An error's stack is indented, and what else it has stands in braces; one under a line of the log is what that line tells of.
fn node(line: &[u8], indented: bool, behind: Trace) -> Option<Trace> {
    let error = behind == Trace::Log && names_error(line);
    let closes = matches!(line.first(), Some(b'}' | b']'));
    let behind_it = match error || indented {
        true => Trace::Frames,
        false => behind,
    };
    (indented || closes || error).then_some(behind_it)
}

/// `TypeError: text`, `Error [ERR_X]: text`: one word that ends as those of errors do.
fn names_error(line: &[u8]) -> bool {
    let end = line.iter().position(|byte| !byte.is_ascii_alphanumeric());
    let (name, rest) = line.split_at(end.unwrap_or(line.len()));
    name.ends_with(b"Error") && (rest.starts_with(b": ") || rest.starts_with(b" ["))
}

/// `Stack trace:`, `#0 /a.php(3): f()`, what Laravel writes around a trace, and the next of chained exceptions behind a blank line.
fn is_php(line: &[u8]) -> bool {
    let is_frame = line.first() == Some(&b'#') && line.get(1).is_some_and(u8::is_ascii_digit);
    is_frame
        || line.is_empty()
        || line.starts_with(b"Stack trace:")
        || line.starts_with(b"[previous exception]")
        || line.starts_with(b"[stacktrace]")
        || line.starts_with(b"Next ")
        || line.starts_with(b"\"}")
}

/// `app/models/a.rb:3:in 'x'`, which Rails does not indent, and the blank lines around it.
fn is_ruby(line: &[u8]) -> bool {
    line.is_empty()
        || memchr::memmem::find(line, b":in ").is_some_and(|at| {
            let before = &line[..at];
            let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            digits > 0 && before[..before.len() - digits].ends_with(b":")
        })
}

/// The state behind the first line of a panic, whose text may stand below it, or of the error that a program ended with, whose
/// causes stand behind a blank line.
fn begin_rust(line: &[u8]) -> Trace {
    if line.starts_with(b"Error: ") {
        return Trace::Frames;
    }
    let panics =
        line.starts_with(b"thread '") && memchr::memmem::find(line, b" panicked at ").is_some();
    match (panics, line.ends_with(b":")) {
        (false, _) => Trace::Log,
        (true, true) => Trace::Exception,
        (true, false) => Trace::Frames,
    }
}

fn rust(line: &[u8], indented: bool, behind: Trace) -> Option<Trace> {
    // What an error says was its cause may stand under any line.
    let cause = line.starts_with(b"Caused by:") || line.starts_with(b"Stack backtrace:");
    let more = match behind {
        Trace::Exception => true,
        Trace::Frames => {
            indented
                || line.is_empty()
                || line.starts_with(b"stack backtrace:")
                || line.starts_with(b"note: ")
        }
        _ => indented,
    };
    let behind_it = match behind {
        Trace::Log if !cause => Trace::Log,
        _ => Trace::Frames,
    };
    (more || cause).then_some(behind_it)
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

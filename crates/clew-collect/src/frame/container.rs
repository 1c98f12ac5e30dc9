//! How container runtimes wrap the lines of what runs in them: Docker as JSON, the others as CRI says it.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a file's lines are wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapping {
    /// Nothing.
    #[default]
    None,
    /// `{"log":"text\n","stream":"stdout","time":"..."}`, Docker's `json-file`.
    Docker,
    /// `TIME stdout F text`, as containerd and CRI-O write; `P` in place of `F` on what is not the end of its line.
    Cri,
    /// Docker or CRI, line by line.
    Container,
}

/// What the program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Stream {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        }
    }

    fn named(name: &[u8]) -> Option<Stream> {
        match name {
            b"stdout" => Some(Stream::Stdout),
            b"stderr" => Some(Stream::Stderr),
            _ => None,
        }
    }
}

/// A line without its wrapping.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unwrapped<'a> {
    pub(crate) text: Cow<'a, [u8]>,
    pub(crate) stream: Stream,
    pub(crate) time_ms: Option<i64>,
    /// Whether the program's line goes on in the next line of the same stream.
    pub(crate) goes_on: bool,
}

#[derive(Deserialize)]
struct Docker<'a> {
    #[serde(borrow)]
    log: Cow<'a, str>,
    #[serde(borrow, default)]
    stream: Cow<'a, str>,
    #[serde(borrow, default)]
    time: Cow<'a, str>,
}

/// Takes the wrapping off a line (without its end); `None` if it has none.
pub(crate) fn unwrap(wrapping: Wrapping, line: &[u8]) -> Option<Unwrapped<'_>> {
    match wrapping {
        Wrapping::None => None,
        Wrapping::Docker => docker(line),
        Wrapping::Cri => cri(line),
        Wrapping::Container if line.first() == Some(&b'{') => docker(line),
        Wrapping::Container => cri(line),
    }
}

fn docker(line: &[u8]) -> Option<Unwrapped<'_>> {
    let line: Docker<'_> = serde_json::from_slice(line).ok()?;
    let goes_on = !line.log.ends_with('\n');
    let text = match line.log {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
            Cow::Owned(text.into_bytes())
        }
    };
    Some(Unwrapped {
        text,
        stream: Stream::named(line.stream.as_bytes()).unwrap_or(Stream::Stdout),
        time_ms: time_ms(line.time.as_bytes()),
        goes_on,
    })
}

fn cri(line: &[u8]) -> Option<Unwrapped<'_>> {
    let mut parts = line.splitn(4, |&byte| byte == b' ');
    let time = parts.next()?;
    let stream = Stream::named(parts.next()?)?;
    // Tags are separated by colons; the first says whether the line is whole.
    let goes_on = match parts.next()?.split(|&byte| byte == b':').next()? {
        b"F" => false,
        b"P" => true,
        _ => return None,
    };
    Some(Unwrapped {
        text: Cow::Borrowed(parts.next().unwrap_or(b"")),
        stream,
        time_ms: time_ms(time),
        goes_on,
    })
}

fn time_ms(text: &[u8]) -> Option<i64> {
    let time: Timestamp = std::str::from_utf8(text).ok()?.parse().ok()?;
    Some(time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_of_both_kinds_are_unwrapped_and_others_are_left() {
        let check = |line: &str, expected: Option<(&str, Stream, bool)>| {
            let found = unwrap(Wrapping::Container, line.as_bytes());
            if let Some(found) = &found {
                assert_eq!(found.time_ms, Some(1_475_712_429_794), "{line}");
            }
            let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
            let found = found.map(|line| (text(&line.text), line.stream, line.goes_on));
            let expected =
                expected.map(|(text, stream, goes_on)| (text.to_owned(), stream, goes_on));
            assert_eq!(found, expected, "{line}");
        };
        let out = |text, goes_on| Some((text, Stream::Stdout, goes_on));
        let err = |text, goes_on| Some((text, Stream::Stderr, goes_on));
        check(
            "2016-10-06T00:07:09.794669202Z stdout F a b",
            out("a b", false),
        );
        check(
            "2016-10-06T00:07:09.794669202Z stderr P a b ",
            err("a b ", true),
        );
        check(
            "2016-10-06T02:07:09.794669202+02:00 stdout F",
            out("", false),
        );
        check(
            "2016-10-06T00:07:09.794669202Z stdout P:x a",
            out("a", true),
        );
        check("2016-10-06T00:07:09.794669202Z stdout X a", None);
        check("2016-10-06T00:07:09.794669202Z a b c", None);
        check("plain", None);
        check("", None);
        let docker = |log: &str, stream: &str| {
            format!(
                r#"{{"log":"{log}","stream":"{stream}","time":"2016-10-06T00:07:09.794669202Z"}}"#
            )
        };
        check(&docker(r"a \u0001\r\n", "stdout"), out("a \u{1}", false));
        check(&docker("a", "stderr"), err("a", true));
        check(&docker(r"\n", ""), out("", false));
        check("{\"log\":", None);
    }
}

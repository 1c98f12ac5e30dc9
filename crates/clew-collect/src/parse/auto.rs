//! Which parser fits a file: the one its name suggests if it takes most of the first lines, else
//! the one that takes most of them, else plain text.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::columns::is_header;
use super::parsers::Turn;
use super::{ParserName, Record, Times, iptables, postfix};

/// Lines that are tried.
const SAMPLE_LINES: usize = 50;

/// A parser for a file, and how well it fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) parser: ParserName,
    pub(crate) fit: Fit,
}

/// How many of the first lines of a file the parser takes that was chosen for it, and how many the next best one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fit {
    /// Lines that were looked at.
    pub lines: usize,
    /// Those that the parser takes.
    pub taken: usize,
    /// The parser that takes most of them among all others, if one takes any, and how many it does.
    pub next: Option<(String, usize)>,
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} lines", self.taken, self.lines)?;
        match &self.next {
            Some((next, taken)) => write!(f, ", next {next} with {taken}"),
            None => Ok(()),
        }
    }
}

/// The formats whose lines are tried.
fn tried() -> impl Iterator<Item = ParserName> {
    let all = ParserName::ALL.into_iter();
    all.filter(|parser| matches!(parser.turn(), Turn::Tried | Turn::Before(_)))
}

/// Chooses for a file by its path and its first whole lines. `None` when there is no line yet.
pub(crate) fn choose(path: &str, sample: &str, times: &mut Times) -> Option<Choice> {
    let lines: Vec<&str> = sample
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .filter(|line| !line.trim().is_empty() && !is_header(line))
        .take(SAMPLE_LINES)
        .collect();
    if lines.is_empty() {
        return None;
    }
    let mut tried: Vec<(usize, ParserName)> = tried()
        .map(|parser| (taken(parser, &lines, times), parser))
        .collect();
    // The sort is stable: of those that take as many, the first stays first.
    tried.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let named = by_name(path).map(|parser| (taken(parser, &lines, times), parser));
    let named = named.filter(|(count, _)| count * 2 >= lines.len());
    // A name of many formats means the one that finds more in the same lines.
    let named = named.map(|(count, parser)| {
        let more = tried.iter().find(|(others, other)| {
            *others >= count && other.turn() == Turn::Before(looks_like(parser))
        });
        more.copied().unwrap_or((count, parser))
    });
    let best = tried.first().copied();
    let best = best.filter(|(count, _)| count * 5 >= lines.len() * 4);
    // Plain text takes everything.
    let (count, parser) = named.or(best).unwrap_or((lines.len(), ParserName::Plain));
    let parser = match parser {
        ParserName::Syslog if named.is_none() => most_of_syslog(&lines, times),
        other => other,
    };
    let others = tried.into_iter();
    let next = others
        .filter(|(count, other)| *count > 0 && looks_like(*other) != looks_like(parser))
        .map(|(count, other)| (other.as_str().to_owned(), count));
    let fit = Fit {
        lines: lines.len(),
        taken: count,
        next: next.take(1).next(),
    };
    Some(Choice { parser, fit })
}

/// Tells what was chosen for a file; for what is sent, which has none, its path is empty.
pub(crate) fn tell_choice(path: &str, choice: &Choice) {
    let (parser, fit) = (choice.parser.as_str(), &choice.fit);
    tracing::info!(path, parser, %fit, "a parser was chosen by the first lines");
}

/// The one that speaks for a parser and those that take the same lines.
fn looks_like(parser: ParserName) -> ParserName {
    match parser.turn() {
        Turn::Before(other) | Turn::By(other) => other,
        Turn::Tried | Turn::Named => parser,
    }
}

/// The first parser that takes a text of its own, most specific first, and what it finds in it; plain text is none's.
pub(crate) fn first_that_takes(
    text: &str,
    times: &mut Times,
    record: &mut Record,
) -> Option<ParserName> {
    if is_header(text) {
        return None;
    }
    let first = tried().find(|parser| {
        record.clear();
        let begins = parser.joining().begins(text.as_bytes());
        begins && parser.parse(text, times, record).is_some()
    })?;
    Some(match first {
        // What the record then has is the same where none of them finds more.
        ParserName::Syslog => of_syslog(text, times, record),
        other => other,
    })
}

/// Whether a parser found more than syslog's in a line.
type FoundMore = fn(&Record) -> bool;

/// The parsers that take all lines of syslog, and how one knows that they find more in one.
const OF_SYSLOG: [(ParserName, FoundMore); 3] = [
    (ParserName::Auth, |record| {
        memchr::memmem::find(record.event.bytes(), b"\"action\":").is_some()
    }),
    (ParserName::Postfix, postfix::is_its),
    (ParserName::Iptables, iptables::is_its),
];

/// The parser that finds more than syslog's in half of the lines or more.
fn most_of_syslog(lines: &[&str], times: &mut Times) -> ParserName {
    let mut record = Record::default();
    let mut found = Vec::with_capacity(lines.len());
    for line in lines {
        found.push(of_syslog(line, times, &mut record));
    }
    let has_half = |parser: ParserName| {
        let its = found.iter().filter(|other| **other == parser);
        its.count() * 2 >= lines.len()
    };
    let mut all = OF_SYSLOG.into_iter().map(|(parser, _)| parser);
    all.find(|parser| has_half(*parser))
        .unwrap_or(ParserName::Syslog)
}

/// The parser that finds most in a line of syslog, and what it finds.
fn of_syslog(line: &str, times: &mut Times, record: &mut Record) -> ParserName {
    let more = OF_SYSLOG.into_iter().find(|(parser, finds_more)| {
        record.clear();
        parser.parse(line, times, record).is_some() && finds_more(record)
    });
    more.map_or(ParserName::Syslog, |(parser, _)| parser)
}

/// How many lines a parser takes.
fn taken(parser: ParserName, lines: &[&str], times: &mut Times) -> usize {
    if parser == ParserName::AptHistory {
        // Its unit is a stanza; a file of them begins with the start of one.
        return match lines[0].starts_with("Start-Date: ") {
            true => lines.len(),
            false => 0,
        };
    }
    let mut record = Record::default();
    let joining = parser.joining();
    let events = joining.events(lines);
    let last = events.len().saturating_sub(1);
    let takes = |(number, event): &(usize, &[&str])| {
        // What goes on with a line that is not there is nobody's.
        if !joining.begins(event[0].as_bytes()) {
            return false;
        }
        // The rest of the last one may be behind the lines that are tried.
        if *number == last && joining.is_open(event) {
            return true;
        }
        let text: Cow<'_, str> = match event {
            [line] => Cow::Borrowed(*line),
            lines => Cow::Owned(lines.join("\n")),
        };
        record.clear();
        parser.parse(&text, times, &mut record).is_some()
    };
    let events = events.into_iter().enumerate();
    events.filter(takes).map(|(_, event)| event.len()).sum()
}

/// What a file's name says about its format.
fn by_name(path: &str) -> Option<ParserName> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folder.rsplit('/').next().unwrap_or("");
    let named = |names: &[&str]| {
        names.iter().any(|stem| {
            name.strip_prefix(stem)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
        })
    };
    let apache = folder == "apache2" || folder == "httpd";
    if named(&["dpkg.log"]) {
        return Some(ParserName::Dpkg);
    }
    if named(&["alternatives.log"]) {
        return Some(ParserName::Alternatives);
    }
    if folder == "apt" && named(&["history.log"]) {
        return Some(ParserName::AptHistory);
    }
    if folder == "apt" && named(&["term.log"]) {
        return Some(ParserName::AptTerm);
    }
    if named(&["postgresql"]) {
        return Some(ParserName::Postgresql);
    }
    if named(&["haproxy"]) {
        return Some(ParserName::Haproxy);
    }
    if named(&["audit.log"]) {
        return Some(ParserName::Auditd);
    }
    if folder == "squid" && named(&["access.log"]) {
        return Some(ParserName::Squid);
    }
    if named(&["ufw.log", "iptables.log"]) {
        return Some(ParserName::Iptables);
    }
    if named(&["auth.log", "auth", "secure"]) {
        return Some(ParserName::Auth);
    }
    if named(&[
        "syslog",
        "messages",
        "kern.log",
        "daemon.log",
        "user.log",
        "cron",
    ]) {
        return Some(ParserName::Syslog);
    }
    if name.contains("access") && (name.contains("log") || folder == "nginx" || apache) {
        return Some(if apache {
            ParserName::ApacheAccess
        } else {
            ParserName::NginxAccess
        });
    }
    if name.contains("error") && (folder == "nginx" || apache) {
        return Some(if apache {
            ParserName::ApacheError
        } else {
            ParserName::NginxError
        });
    }
    let json = ["json", "jsonl", "ndjson"]
        .iter()
        .any(|ending| name.split('.').skip(1).any(|part| part == *ending));
    json.then_some(ParserName::Json)
}

#[cfg(test)]
mod tests;

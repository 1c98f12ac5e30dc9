//! Syslog files in their three spellings: RFC 3164 (no year, no zone), rsyslog's ISO 8601 stamp
//! with the same rest, and RFC 5424. A priority in front is used when it is there. Devices of the network have more (`cisco.rs`).

use std::net::Ipv4Addr;

use super::cisco;
use super::fields::are_digits;
use super::stamp::{Stamp, iso, rfc3164, with_zone_behind};
use super::token::{enclosed, level, present, split, word};
use super::{Civil, Record, Times};

/// The names of severities, by their codes.
pub(crate) const LEVELS: [&str; 8] = [
    "emergency",
    "alert",
    "critical",
    "error",
    "warning",
    "notice",
    "info",
    "debug",
];

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    header(line, times, record).map(drop)
}

/// What follows the header, for parsers that look into the message.
pub(crate) struct Message<'a> {
    pub(crate) program: &'a str,
    pub(crate) content: &'a str,
}

/// Takes the header apart and writes its fields.
pub(crate) fn header<'a>(
    line: &'a str,
    times: &mut Times,
    record: &mut Record,
) -> Option<Message<'a>> {
    let (priority, rest) = match enclosed(line, '<', b'>') {
        Some((digits, rest)) => (Some(digits.parse::<u8>().ok().filter(|p| *p <= 191)?), rest),
        None => (None, line),
    };
    if let Some(priority) = priority {
        record.level = Some(LEVELS[usize::from(priority % 8)]);
    }
    let parts = match rest.strip_prefix("1 ") {
        Some(rest) if priority.is_some() => rfc5424(rest, times, record)?,
        _ => traditional(rest, priority, times, record)?,
    };
    record.log.object("syslog", |o| {
        o.text("hostname", parts.host);
        o.text("msgid", parts.message_id);
        o.text("structured_data", parts.data);
        if let Some(priority) = priority {
            o.number("priority", u64::from(priority));
            o.object("facility", |o| o.number("code", u64::from(priority / 8)));
            o.object("severity", |o| o.number("code", u64::from(priority % 8)));
        }
    });
    record.fields.object("process", |o| {
        o.text("name", parts.program);
        if let Ok(pid) = parts.pid.parse() {
            o.number("pid", pid);
        }
    });
    Some(Message {
        program: parts.program,
        content: parts.content,
    })
}

#[derive(Default)]
struct Parts<'a> {
    host: &'a str,
    program: &'a str,
    pid: &'a str,
    message_id: &'a str,
    data: &'a str,
    content: &'a str,
}

/// `STAMP HOST PROGRAM[PID]: CONTENT`. Whoever says a priority speaks syslog, though some say nothing else but their text,
/// as Python's handler does.
fn traditional<'a>(
    text: &'a str,
    priority: Option<u8>,
    times: &mut Times,
    record: &mut Record,
) -> Option<Parts<'a>> {
    if let Some(found) = cisco::header(text, times)
        && (priority.is_some() || found.stamp.is_some())
    {
        record.timestamp_ms = found.stamp.map(|stamp| stamp.epoch_ms(times));
        record.event.text("code", found.code);
        let severity = LEVELS.get(found.severity).copied();
        record.level = record.level.or(severity);
        return Some(Parts {
            host: found.host,
            program: found.tag,
            content: found.content,
            ..Parts::default()
        });
    }
    let stamped = rfc3164(text, times).map(with_year_behind);
    let stamped = stamped.or_else(|| iso(text));
    // What looks like a zone is the host where nothing else can be it.
    let zoned = stamped
        .and_then(with_zone_behind)
        .and_then(|(stamp, rest)| Some((stamp, behind_stamp(text, rest, priority)?)));
    let stamp = zoned.as_ref().map(|(stamp, _)| *stamp);
    let stamp = stamp.or_else(|| stamped.map(|(stamp, _)| stamp));
    record.timestamp_ms = stamp.map(|stamp| stamp.epoch_ms(times));
    let parts = match zoned {
        Some((_, parts)) => Some(parts),
        None => stamped.and_then(|(_, rest)| behind_stamp(text, rest, priority)),
    };
    let content_only = || Parts {
        content: text,
        ..Parts::default()
    };
    // A process that is named with its number stands nowhere but in front.
    let named = || tagged(text).filter(|parts| !parts.pid.is_empty());
    parts.or_else(|| priority.map(|_| named().unwrap_or_else(content_only)))
}

/// `Jan  2 03:04:05 2026 HOST`, as some devices write it: the year that is said takes the place of the one that was guessed.
fn with_year_behind((stamp, rest): (Stamp, &str)) -> (Stamp, &str) {
    let digits = rest
        .strip_prefix(' ')
        .and_then(|rest| rest.split_at_checked(4));
    let year = digits.filter(|(year, behind)| {
        let is_of_ours = year.starts_with("19") || year.starts_with("20");
        is_of_ours && are_digits(year) && behind.starts_with(' ')
    });
    if let Stamp::Local(civil) = stamp
        && let Some((year, behind)) = year
        && let Ok(year) = year.parse::<i16>()
        && let Some(civil) = (Civil { year, ..civil }).checked()
    {
        return (Stamp::Local(civil), behind);
    }
    (stamp, rest)
}

/// `HOST PROGRAM[PID]: CONTENT`; what the logger of this machine is sent has no host, and lines of the logger itself may have no
/// program.
fn behind_stamp<'a>(text: &str, rest: &'a str, priority: Option<u8>) -> Option<Parts<'a>> {
    // An ISO stamp with a space instead of the T, or with no program after it, begins the lines
    // of many applications; rsyslog writes neither.
    let has_iso_stamp = text.starts_with(|first: char| first.is_ascii_digit());
    if has_iso_stamp && text.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let rest = rest.strip_prefix(' ')?;
    let (host, behind_host) = word(rest)?;
    // What applications write in the place of a host is mostly how bad it is.
    let is_capital = host.bytes().all(|byte| byte.is_ascii_uppercase());
    if host.starts_with('[') || (priority.is_none() && is_capital && level(host).is_some()) {
        return None;
    }
    if host.ends_with(':') {
        // Without a priority only where a process is named by its number, since levels end so, too.
        let is_program =
            |parts: &Parts<'_>| priority.is_some() || (!has_iso_stamp && !parts.pid.is_empty());
        return tagged(rest).filter(is_program);
    }
    // An address with a port is no program: what follows is a load balancer's or a proxy's.
    let is_address = |parts: &Parts<'_>| parts.program.parse::<Ipv4Addr>().is_ok();
    let spaced = || spaced(behind_host).filter(|_| !has_iso_stamp);
    match tagged(behind_host).or_else(spaced) {
        Some(parts) if has_iso_stamp && priority.is_none() && is_address(&parts) => None,
        Some(parts) => Some(Parts { host, ..parts }),
        None if has_iso_stamp && priority.is_none() => None,
        None => Some(Parts {
            host,
            content: behind_host,
            ..Parts::default()
        }),
    }
}

/// `PROGRAM[PID]: CONTENT`; macOS' launchd says which service it speaks of before the colon, ` (com.apple.x[12])`.
fn tagged(text: &str) -> Option<Parts<'_>> {
    let end = memchr::memchr3(b':', b'[', b' ', text.as_bytes())?;
    let (program, after) = text.split_at(end);
    let (pid, after) = enclosed(after, '[', b']').unwrap_or(("", after));
    let service = after.strip_prefix(" (").filter(|_| !pid.is_empty());
    let behind_service = service
        .and_then(|service| split(service, b')'))
        .filter(|(service, _)| !service.contains(' '))
        .map(|(_, behind)| behind);
    let after = behind_service.unwrap_or(after);
    let content = after.strip_prefix(':').filter(|_| !program.is_empty())?;
    Some(Parts {
        program,
        pid,
        content: content.strip_prefix(' ').unwrap_or(content),
        ..Parts::default()
    })
}

/// A program with blanks in its name, as those of macOS: `Microsoft Word[123]: CONTENT`.
fn spaced(text: &str) -> Option<Parts<'_>> {
    const NAME_BYTES_MAX: usize = 40;
    const WORDS_MAX: usize = 3;
    let (program, after) = split(text, b'[')?;
    let (pid, after) = split(after, b']')?;
    let is_letter = |letter: char| letter.is_alphanumeric() || " .-_".contains(letter);
    let is_name = program.len() <= NAME_BYTES_MAX
        && program.chars().all(is_letter)
        && program.split(' ').count() <= WORDS_MAX
        && !program.ends_with(' ');
    let content = after
        .strip_prefix(": ")
        .filter(|_| is_name && are_digits(pid))?;
    Some(Parts {
        program,
        pid,
        content,
        ..Parts::default()
    })
}

/// `STAMP HOST APP PROCID MSGID DATA [CONTENT]`, a dash for what is missing; Heroku leaves out the dash for the data.
fn rfc5424<'a>(text: &'a str, times: &mut Times, record: &mut Record) -> Option<Parts<'a>> {
    let (stamp, rest) = split(text, b' ')?;
    if stamp != "-" {
        let (stamp, after) = iso(stamp)?;
        after.is_empty().then_some(())?;
        record.timestamp_ms = Some(stamp.epoch_ms(times));
    }
    let (host, rest) = split(rest, b' ')?;
    let (program, rest) = split(rest, b' ')?;
    let (pid, rest) = split(rest, b' ')?;
    let (message_id, rest) = split(rest, b' ')?;
    let (data, content) = match rest.starts_with('[') {
        true => rest.split_at(structured_data_end(rest.as_bytes())?),
        false => ("", rest.strip_prefix('-').unwrap_or(rest)),
    };
    let dash = |text| present(text).unwrap_or("");
    let content = content.strip_prefix(' ').unwrap_or(content);
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    Some(Parts {
        host: dash(host),
        program: dash(program),
        pid: dash(pid),
        message_id: dash(message_id),
        data,
        content,
    })
}

/// Where `[id name="value"]...` ends: at the bracket outside quotes that no other one follows.
fn structured_data_end(text: &[u8]) -> Option<usize> {
    let mut in_quotes = false;
    let mut escaped = false;
    (text.first() == Some(&b'[')).then_some(())?;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_quotes => escaped = true,
            b'"' => in_quotes = !in_quotes,
            b']' if !in_quotes && text.get(at + 1) != Some(&b'[') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;

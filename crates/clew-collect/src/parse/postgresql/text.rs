//! `PostgreSQL`'s log as its files have it, `2026-01-02 03:04:05.678 UTC [12] user@db LOG:  text`: behind the time what
//! `log_line_prefix` has by itself, what Debian sets, what pgBadger asks for (`[12]: user=a,db=b,client=10.0.0.7`), or what the clouds
//! of Amazon (`:10.0.0.7(5678):user@db:[12]:LOG:  text`), Google (`[12]: [3-1] db=b,user=a`) and Microsoft (`-SESSION-LOG:  text`) have.

use super::super::fields::Fields;
use super::super::stamp::iso_zoned;
use super::super::token::{enclosed, word};
use super::super::{Record, Times};
use super::{client, is_severity, known, level_of, statement};

/// How far behind the time the severity is looked for.
const PREFIX_BYTES_MAX: usize = 512;

/// Whether a line is not one that goes on with a statement.
pub(crate) fn begins(line: &[u8]) -> bool {
    !line.starts_with(b"\t")
}

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    // The other lines of a statement, where nothing joins them.
    if !begins(line.as_bytes()) {
        return Some(());
    }
    let (stamp, rest) = iso_zoned(line)?;
    let mut fields = Fields::default();
    fields.text("process.name", "postgres");
    let severity = said(rest, &mut fields)?;
    fields.text("postgresql.log.severity", severity);
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = level_of(severity);
    fields.write(record);
    Some(())
}

/// Takes what stands behind the time, and returns the severity. Colons stand between all of it in the clouds of Amazon, dashes in
/// those of Microsoft, blanks elsewhere.
fn said<'a>(behind_time: &'a str, fields: &mut Fields<'a>) -> Option<&'a str> {
    if let Some(rest) = behind_time.strip_prefix(':') {
        return divided(rest, fields);
    }
    if let Some(rest) = behind_time.strip_prefix('-') {
        let (session, rest) = rest.split_once('-')?;
        let is_session = session
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'.');
        (is_session && !session.is_empty()).then_some(())?;
        fields.text("postgresql.log.session_id", session);
        return severity_first(rest, fields);
    }
    let (before, severity, said) = divided_by_severity(behind_time.strip_prefix(' ')?)?;
    let is_known = prefix(before, fields)?;
    // A line that says whose it is, or whose severity is one that none but this server writes.
    let is_own = level_of(severity).is_none() || severity == "LOG";
    (is_known || is_own).then_some(())?;
    message(said, fields);
    Some(severity)
}

/// What stands before the severity, the severity, and what is said: `... SEVERITY:  TEXT`.
fn divided_by_severity(text: &str) -> Option<(&str, &str, &str)> {
    const MARK: &str = ":  ";
    let near = &text.as_bytes()[..text.len().min(PREFIX_BYTES_MAX)];
    memchr::memmem::find_iter(near, MARK).find_map(|at| {
        let (before, behind) = (text.get(..at)?, text.get(at + MARK.len()..)?);
        let severity = before.rfind(' ').map_or(0, |blank| blank + 1);
        let (before, severity) = before.split_at(severity);
        is_severity(severity).then_some((before, severity, behind))
    })
}

/// Takes what is said, which begins with the state where all is told: `42P01: relation "x" does not exist`.
fn message<'a>(text: &'a str, fields: &mut Fields<'a>) {
    let is_state = |state: &&str| {
        let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        state.len() == 5
            && state.bytes().all(is_letter)
            && state.contains(|c: char| c.is_ascii_digit())
    };
    let stated = text.split_once(": ").filter(|(state, _)| is_state(state));
    let said = match stated {
        Some((state, said)) => {
            fields.text("postgresql.log.sql_state_code", state);
            said
        }
        None => text,
    };
    statement(said, fields);
}

/// The severity that a text begins with, `SEVERITY:  TEXT`, and takes what is said behind it.
fn severity_first<'a>(text: &'a str, fields: &mut Fields<'a>) -> Option<&'a str> {
    let (severity, said) = text.split_once(":  ")?;
    is_severity(severity).then_some(())?;
    message(said, fields);
    Some(severity)
}

/// `10.0.0.7(5678):user@database:[12]:`, and the rest.
fn divided<'a>(text: &'a str, fields: &mut Fields<'a>) -> Option<&'a str> {
    let (place, behind) = text.split_once(":[")?;
    let (pid, rest) = behind.split_once("]:")?;
    let (from, names) = place.rsplit_once(':')?;
    fields.number("process.pid", pid.parse().ok()?);
    (bare(names, true, fields) == Some(false)).then_some(())?;
    if let Some(from) = known(from) {
        connected(from, fields);
    }
    severity_first(rest, fields)
}

/// Who is connected, `10.0.0.7`, perhaps with the port, `10.0.0.7(5678)`.
fn connected<'a>(from: &'a str, fields: &mut Fields<'a>) {
    let ported = from.strip_suffix(')').and_then(|from| from.split_once('('));
    let ported = ported.map(|(address, port)| (address, port.parse().ok()));
    client(ported.unwrap_or((from, None)), fields);
}

/// Takes what stands between the time and the severity, words and pairs; whether there is the number of a process.
fn prefix<'a>(before: &'a str, fields: &mut Fields<'a>) -> Option<bool> {
    let mut is_known = false;
    let mut rest = before.trim_start_matches(' ');
    while !rest.is_empty() {
        if let Some((key, behind)) = key(rest) {
            let (value, behind) = behind.split_at(value_end(behind));
            let value = value.trim_end_matches([' ', ',', ':']);
            is_known |= pair(key, known(value).unwrap_or(""), fields)?;
            rest = behind;
        } else {
            let (first, behind) = word(rest)?;
            is_known |= bare(first, is_known, fields)?;
            rest = behind;
        }
    }
    Some(is_known)
}

/// The key of a pair that a text begins with, `user=`, and what is behind it.
fn key(text: &str) -> Option<(&str, &str)> {
    const BYTES_MAX: usize = 32;
    let end = text.bytes().take(BYTES_MAX).position(|byte| byte == b'=')?;
    let (key, behind) = (&text[..end], &text[end + 1..]);
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    (!key.is_empty() && key.bytes().all(is_letter)).then_some((key, behind))
}

/// Where the value ends that a text begins with: at the next pair or word in brackets, since names of programs have blanks in them
/// (`app=PostgreSQL JDBC Driver,client=10.0.0.7`).
fn value_end(text: &str) -> usize {
    let divides = |byte: u8| byte == b' ' || byte == b',';
    let starts = text.bytes().enumerate();
    let mut starts = starts
        .filter(|(_, byte)| divides(*byte))
        .map(|(at, _)| at + 1);
    let is_other = |at: &usize| {
        let rest = &text[*at..];
        key(rest).is_some() || matches!(rest.as_bytes(), [b'[', b'0'..=b'9', ..])
    };
    starts.find(is_other).unwrap_or(text.len())
}

/// Takes a pair; whether it is the number of a process.
fn pair<'a>(key: &str, value: &'a str, fields: &mut Fields<'a>) -> Option<bool> {
    match key {
        "user" => fields.text("user.name", value),
        "db" => fields.text("postgresql.log.database", value),
        "app" => fields.text("postgresql.log.application_name", value),
        "client" | "host" if !value.is_empty() => connected(value, fields),
        "pid" => fields.number("process.pid", value.parse().ok()?),
        _ => {}
    }
    Some(key == "pid")
}

/// Takes a word that is no pair; whether it is the number of a process. Behind that one, the next number is that of the line.
fn bare<'a>(first: &'a str, is_known: bool, fields: &mut Fields<'a>) -> Option<bool> {
    let first = first.strip_suffix(':').unwrap_or(first);
    if let Some((number, "")) = enclosed(first, '[', b']') {
        let (number, line) = number.split_once('-').unwrap_or((number, ""));
        let line = match is_known {
            true => number.parse().ok(),
            false => {
                fields.number("process.pid", number.parse().ok()?);
                line.parse().ok()
            }
        };
        if let Some(line) = line {
            fields.number("postgresql.log.session_line_number", line);
        }
        return Some(true);
    }
    let (user, database) = first.split_once('@')?;
    let inside = |name: &'a str| enclosed(name, '[', b']').map_or(name, |(inside, _)| inside);
    for (name, said) in [("user.name", user), ("postgresql.log.database", database)] {
        if let Some(said) = known(said) {
            fields.text(name, inside(said));
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests;

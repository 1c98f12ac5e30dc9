//! Syslog of Cisco's devices, which has in front of its text more than RFC 3164 knows, and less: numbers of messages, marks of clocks
//! that are not set, a year, a zone by its name, and in the place of a program what happened: `%SYS-5-CONFIG_I`.

use clew_ingest::named_zone_ms;

use super::Times;
use super::stamp::{Stamp, iso, rfc3164, year_first};
use super::token::{split, word};

/// What was found in a message.
pub(super) struct Header<'a> {
    pub(super) stamp: Option<Stamp>,
    pub(super) host: &'a str,
    /// `%SYS-5-CONFIG_I`, and its parts: how bad it is, and what happened.
    pub(super) tag: &'a str,
    pub(super) severity: usize,
    pub(super) code: &'a str,
    pub(super) content: &'a str,
}

/// Takes a message apart, without its priority.
pub(super) fn header<'a>(text: &'a str, times: &Times) -> Option<Header<'a>> {
    let at = memchr::memchr(b'%', text.as_bytes())?;
    let (head, tagged) = text.split_at(at);
    (head.is_empty() || head.ends_with([' ', ':'])).then_some(())?;
    let (tag, content) = split(tagged, b':')?;
    let (severity, code) = severity_and_code(tag)?;
    let (stamp, host) = stamp_and_host(head, times)?;
    Some(Header {
        stamp,
        host,
        tag,
        severity,
        code,
        content: content.strip_prefix(' ').unwrap_or(content),
    })
}

/// The last parts of `%FACILITY-SEVERITY-MNEMONIC`, where a facility may have parts, too.
fn severity_and_code(tag: &str) -> Option<(usize, &str)> {
    let is_word = |text: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        !text.is_empty() && text.bytes().all(is_letter)
    };
    let mut parts = tag.strip_prefix('%')?.rsplit('-');
    let code = parts.next().filter(|code| is_word(code))?;
    let severity = parts.next()?;
    let facility = parts.next()?;
    let severity = match severity.as_bytes() {
        [digit @ b'0'..=b'7'] => usize::from(digit - b'0'),
        _ => return None,
    };
    (is_word(facility) && parts.all(is_word)).then_some((severity, code))
}

/// What stands between priority and tag; nothing if it is something else.
fn stamp_and_host<'a>(head: &'a str, times: &Times) -> Option<(Option<Stamp>, &'a str)> {
    let head = behind_numbers(head.trim_start_matches([' ', ':']).trim_end());
    let mut host = "";
    let mut stamped = clock(head, times);
    if stamped.is_none()
        && let Some((name, rest)) = head.split_once(": ")
        && !name.contains(' ')
    {
        host = name;
        stamped = Some(clock(behind_numbers(rest.trim_start()), times)?);
    }
    let Some((stamp, rest)) = stamped else {
        let host = head.trim_end_matches([':', ' ']);
        return (!host.contains(' ')).then_some((None, host));
    };
    (rest.is_empty() || rest.starts_with([' ', ':'])).then_some(())?;
    if let Some(relayed) = relayed(rest, times) {
        return Some(relayed);
    }
    let words = rest.split([' ', ':']).filter(|word| !word.is_empty());
    let mut words = words.peekable();
    let zone = words.peek().and_then(|word| named_zone_ms(word));
    let stamp = match (stamp, zone) {
        (Stamp::Local(civil), Some(offset)) => {
            words.next();
            Stamp::Zoned(civil, offset)
        }
        (stamp, _) => stamp,
    };
    host = words.next().unwrap_or(host);
    words.next().is_none().then_some((Some(stamp), host))
}

/// What a device has said behind the time and the host that a relay has put in front: ` sw1 123: Mar  1 18:46:11.123: `.
fn relayed<'a>(rest: &'a str, times: &Times) -> Option<(Option<Stamp>, &'a str)> {
    let (host, own) = word(rest.strip_prefix(' ')?)?;
    let host = host.trim_end_matches(':');
    let (stamp, behind) = clock(behind_numbers(own), times)?;
    let zone = behind.trim_matches([' ', ':']);
    match (stamp, named_zone_ms(zone)) {
        (stamp, _) if zone.is_empty() => Some((Some(stamp), host)),
        (Stamp::Local(civil), Some(offset)) => Some((Some(Stamp::Zoned(civil, offset)), host)),
        _ => None,
    }
}

/// What is behind the numbers of a message.
fn behind_numbers(mut text: &str) -> &str {
    while let Some(rest) = behind_number(text) {
        text = rest;
    }
    text
}

/// What is behind the number of a message: `123: `.
fn behind_number(text: &str) -> Option<&str> {
    let (number, rest) = split(text, b':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let ends = rest.is_empty() || rest.starts_with(' ');
    (is_number && ends).then(|| rest.trim_start())
}

/// A time, with the mark of a clock that was not set, or has lost what sets it.
fn clock<'a>(text: &'a str, times: &Times) -> Option<(Stamp, &'a str)> {
    let text = text.strip_prefix(['*', '.']).unwrap_or(text);
    rfc3164(text, times)
        .or_else(|| year_first(text))
        .or_else(|| iso(text))
}

#[cfg(test)]
mod tests;

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
mod tests {
    use crate::parse::{ParserName, testing};

    #[track_caller]
    fn check(line: &str, time: &str, host: &str, (code, tag): (&str, &str)) {
        let host = match host {
            "" => String::new(),
            host => format!(r#""hostname":"{host}","#),
        };
        let expected = format!(
            r#"{time} notice {{"event":{{"code":"{code}"}},"log":{{"syslog":{{{host}"priority":189,"facility":{{"code":23}},"severity":{{"code":5}}}}}},"process":{{"name":"{tag}"}}}}"#
        );
        testing::check(ParserName::Syslog, line, Some(&expected));
    }

    #[test]
    fn messages_of_routers_and_firewalls() {
        let (this_year, given) = ("2026-03-01T18:46:11.000Z", "2024-03-01T18:46:11.000Z");
        let changed = ("CONFIG_I", "%SYS-5-CONFIG_I");
        for (line, time, host) in [
            (
                "<189>123: Mar  1 18:46:11: %SYS-5-CONFIG_I: x",
                this_year,
                "",
            ),
            (
                "<189>123: sw1: Mar  1 18:46:11: %SYS-5-CONFIG_I: x",
                this_year,
                "sw1",
            ),
            (
                "<189>123: 000046: *Mar  1 2024 18:46:11.000 UTC: %SYS-5-CONFIG_I: x",
                given,
                "",
            ),
            (
                "<189>45: .Mar  1 2024 19:46:11 CET: %SYS-5-CONFIG_I: x",
                given,
                "",
            ),
            (
                "<189>: 2024 Mar  1 18:46:11 UTC: %SYS-5-CONFIG_I: x",
                given,
                "",
            ),
            (
                "<189>2024 Mar  1 18:46:11 sw1 %SYS-5-CONFIG_I: x",
                given,
                "sw1",
            ),
            ("<189>123: %SYS-5-CONFIG_I: x", "", ""),
            ("<189>%SYS-5-CONFIG_I: x", "", ""),
        ] {
            check(line, time, host, changed);
        }
        let built = ("302013", "%ASA-6-302013");
        for (line, time, host) in [
            ("<189>Mar 01 2024 18:46:11: %ASA-6-302013: Built", given, ""),
            (
                "<189>Mar 01 2024 18:46:11 fw1 : %ASA-6-302013: Built",
                given,
                "fw1",
            ),
            (
                "<189>Mar 01 2024 18:46:11 fw1 %ASA-6-302013: Built",
                given,
                "fw1",
            ),
            (
                "<189>:Mar 01 2024 13:46:11 EST: %ASA-6-302013: Built",
                given,
                "",
            ),
        ] {
            check(line, time, host, built);
        }
        check(
            "<189>Mar  1 18:46:11 sw1 %LINEPROTO-SP-5-UPDOWN: x",
            this_year,
            "sw1",
            ("UPDOWN", "%LINEPROTO-SP-5-UPDOWN"),
        );
    }

    #[test]
    fn messages_that_a_relay_has_written_have_no_priority() {
        let told = |line: &str, time: &str, rest: &str| {
            testing::check(ParserName::Syslog, line, Some(&format!("{time} {rest}")));
        };
        let time = "2026-03-01T18:46:11.000Z";
        let built = r#"info {"event":{"code":"302013"},"log":{"syslog":{"hostname":"10.0.0.1"}},"process":{"name":"%ASA-6-302013"}}"#;
        told("Mar  1 18:46:11 10.0.0.1 %ASA-6-302013: Built", time, built);
        told(
            "Mar  1 18:46:12 10.0.0.1 123: Mar  1 19:46:11 CET: %ASA-6-302013: Built",
            time,
            built,
        );
        told(
            "000045: *Mar  1 18:46:11: %SYS-5-RESTART: x",
            time,
            r#"notice {"event":{"code":"RESTART"},"process":{"name":"%SYS-5-RESTART"}}"#,
        );
        told(
            "<189>45: rtr1: 001234: Mar  1 19:46:11 CET: %SYS-5-CONFIG_I: x",
            time,
            r#"notice {"event":{"code":"CONFIG_I"},"log":{"syslog":{"hostname":"rtr1","priority":189,"facility":{"code":23},"severity":{"code":5}}},"process":{"name":"%SYS-5-CONFIG_I"}}"#,
        );
        // A part that is no tag, and a tag without a time.
        testing::check(ParserName::Syslog, "%SYS-5-RESTART: x", None);
        told(
            "Mar  1 18:46:11 web1 df: disk at 95 %SYS-5-X: x",
            time,
            r#"- {"log":{"syslog":{"hostname":"web1"}},"process":{"name":"df"}}"#,
        );
    }

    #[test]
    fn other_messages_are_what_they_were() {
        testing::check(
            ParserName::Syslog,
            "<189>Mar  1 18:46:11 web1 app: at %ASA-6-302013: x",
            Some(
                r#"2026-03-01T18:46:11.000Z notice {"log":{"syslog":{"hostname":"web1","priority":189,"facility":{"code":23},"severity":{"code":5}}},"process":{"name":"app"}}"#,
            ),
        );
    }
}

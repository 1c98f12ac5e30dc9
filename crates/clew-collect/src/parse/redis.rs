//! The log of Redis, and of Valkey: `1234:M 10 Oct 2026 12:34:56.789 * text`, before 3.0 `[1234] 10 Oct 12:34:56.789 * text`.

use super::fields::{Fields, are_digits};
use super::stamp::{day_and_month, day_first, expect};
use super::token::{enclosed, split, word};
use super::{Record, Times};

/// What a line says in front of its text.
pub(super) struct Head<'a> {
    pub(super) ms: i64,
    pub(super) level: Option<&'static str>,
    pid: Option<u64>,
    role: Option<&'static str>,
    /// What is behind the time.
    pub(super) rest: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn of(line: &'a str, times: &mut Times) -> Option<Self> {
        let (pid, role, stamped) = match enclosed(line, '[', b']') {
            Some((pid, behind)) => (Some(pid), None, behind.strip_prefix(' ')?),
            None if line.as_bytes().get(2) == Some(&b' ') => (None, None, line),
            None => {
                // Most lines that begin with a digit begin otherwise.
                let digits = line.bytes().take_while(u8::is_ascii_digit).count();
                expect(line.as_bytes(), digits, b':')?;
                let (process, behind) = word(line)?;
                let (pid, role) = split(process, b':')?;
                (Some(pid), Some(role_of(role)?), behind)
            }
        };
        let pid = match pid {
            Some(pid) => Some(pid.parse().ok().filter(|_| are_digits(pid))?),
            None => None,
        };
        let stamped = day_first(stamped).or_else(|| day_and_month(stamped, times));
        let (stamp, rest) = stamped?;
        let level = match rest.as_bytes() {
            [b' ', b'.' | b'-', b' ', ..] => Some("debug"),
            [b' ', b'*', b' ', ..] => Some("notice"),
            [b' ', b'#', b' ', ..] => Some("warning"),
            _ => None,
        };
        Some(Head {
            ms: stamp.epoch_ms(times),
            level,
            pid,
            role,
            rest,
        })
    }
}

/// What a process is, by its letter.
fn role_of(letter: &str) -> Option<&'static str> {
    Some(match letter {
        "M" => "master",
        "S" => "slave",
        "C" => "child",
        "X" => "sentinel",
        _ => return None,
    })
}

/// Whether a line is none of the pictures and reports that go on with the line before them.
pub(crate) fn begins(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'0'..=b'9' | b'['))
}

pub(crate) fn parse(event: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let line = event.lines().next()?;
    if let Some((pid, rest)) = line.split_once(":signal-handler (") {
        let (seconds, _) = rest.split_once(')')?;
        let (pid, seconds): (u64, i64) = (pid.parse().ok()?, seconds.parse().ok()?);
        record.timestamp_ms = Some(seconds.checked_mul(1_000)?);
        record.fields.object("process", |o| o.number("pid", pid));
        return Some(());
    }
    let head = Head::of(line, times)?;
    record.level = Some(head.level?);
    record.timestamp_ms = Some(head.ms);
    let mut fields = Fields::default();
    if let Some(pid) = head.pid {
        fields.number("process.pid", pid);
    }
    if let Some(role) = head.role {
        fields.text("redis.log.role", role);
    }
    fields.write(record);
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn lines_of_all_versions() {
        let check = |line, expected| testing::check(ParserName::Redis, line, expected);
        check(
            "1234:M 10 Oct 2026 12:34:56.789 * Ready to accept connections",
            Some(
                r#"2026-10-10T12:34:56.789Z notice {"process":{"pid":1234},"redis":{"log":{"role":"master"}}}"#,
            ),
        );
        check(
            "12:X 10 Oct 2026 12:34:56.789 # +monitor",
            Some(
                r#"2026-10-10T12:34:56.789Z warning {"process":{"pid":12},"redis":{"log":{"role":"sentinel"}}}"#,
            ),
        );
        check(
            "[4990] 10 Jun 12:34:56.789 - Accepted 10.0.0.7:5",
            Some(r#"2026-06-10T12:34:56.789Z debug {"process":{"pid":4990}}"#),
        );
        check(
            "10 Jun 12:34:56 * Server started",
            Some("2026-06-10T12:34:56.000Z notice {}"),
        );
        check(
            "1234:signal-handler (1767323045) Received SIGTERM scheduling shutdown...",
            Some(r#"2026-01-02T03:04:05.000Z - {"process":{"pid":1234}}"#),
        );
        for other in [
            "10 Oct 2026 12:34:56.789 INFO x",
            "1234:Q 10 Oct 2026 12:34:56.789 * x",
            "12 a",
        ] {
            check(other, None);
        }
    }
}

//! `PostgreSQL`'s log as its files have it, `2026-01-02 03:04:05.678 UTC [12] user@db LOG:  text`: behind the time what
//! `log_line_prefix` has by itself, what Debian sets, or what pgBadger asks for (`[12]: user=a,db=b,client=10.0.0.7`). Its lines as CSV
//! and as JSON are not for this parser.

use super::access::write_client;
use super::stamp::iso;
use super::token::{enclosed, level, present, word};
use super::{Record, Times};

/// Words between the time and the severity.
const WORDS_MAX: usize = 5;

/// What a line says in front of its text.
#[derive(Default)]
struct Said<'a> {
    pid: Option<u64>,
    user: &'a str,
    database: &'a str,
    client: &'a str,
    severity: &'a str,
    text: &'a str,
}

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    // The other lines of a statement, which are events of their own unless an input joins them.
    if line.starts_with('\t') {
        return Some(());
    }
    let (stamp, rest) = iso(line)?;
    let said = said(rest.strip_prefix(' ')?)?;
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = level(
        said.severity
            .trim_end_matches(|letter: char| letter.is_ascii_digit()),
    );
    record.fields.object("process", |o| {
        o.text("name", "postgres");
        if let Some(pid) = said.pid {
            o.number("pid", pid);
        }
    });
    record.fields.object("user", |o| o.text("name", said.user));
    if !said.client.is_empty() {
        write_client(record, said.client, "");
    }
    record.fields.object("postgresql", |o| {
        o.object("log", |o| {
            o.text("severity", said.severity);
            o.text("database", said.database);
        });
    });
    if let Some(nanoseconds) = duration(said.text) {
        record.event.number("duration", nanoseconds);
    }
    Some(())
}

/// What stands behind the time.
fn said(behind_time: &str) -> Option<Said<'_>> {
    let mut said = Said::default();
    let mut rest = behind_time;
    for number in 0..=WORDS_MAX {
        let (first, behind) = word(rest)?;
        if let Some(severity) = first.strip_suffix(':').filter(|name| is_severity(name)) {
            // With two blanks, and in a line that says whose it is or that none but this server writes.
            said.text = rest.strip_prefix(first)?.strip_prefix("  ")?;
            said.severity = severity;
            let is_known = said.pid.is_some() || level(severity).is_none() || severity == "LOG";
            return is_known.then_some(said);
        }
        let is_zone = number == 0 && first.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_zone {
            take(first, &mut said)?;
        }
        rest = behind;
    }
    None
}

/// Takes a word of what stands between the time and the severity.
fn take<'a>(first: &'a str, said: &mut Said<'a>) -> Option<()> {
    let known = |name: &'a str| {
        present(name)
            .filter(|name| !matches!(*name, "[unknown]" | "[local]"))
            .unwrap_or("")
    };
    let process = enclosed(first, '[', b']').and_then(|(pid, _)| {
        let (pid, _) = pid.split_once('-').unwrap_or((pid, ""));
        pid.parse().ok()
    });
    if process.is_some() {
        said.pid = process;
    } else if let Some((user, database)) = first.split_once('@') {
        (said.user, said.database) = (known(user), known(database));
    } else if first.starts_with("user=") {
        for (key, value) in first.split(',').filter_map(|part| part.split_once('=')) {
            match key {
                "user" => said.user = known(value),
                "db" => said.database = known(value),
                "client" | "host" => said.client = known(value),
                _ => {}
            }
        }
    } else {
        return None;
    }
    Some(())
}

fn is_severity(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "LOG",
        "ERROR",
        "FATAL",
        "PANIC",
        "WARNING",
        "NOTICE",
        "INFO",
        "DEBUG1",
        "DEBUG2",
        "DEBUG3",
        "DEBUG4",
        "DEBUG5",
        "DETAIL",
        "HINT",
        "STATEMENT",
        "CONTEXT",
        "QUERY",
        "LOCATION",
    ];
    NAMES.contains(&name)
}

/// Nanoseconds of `duration: 12.345 ms`, which has three decimals.
fn duration(text: &str) -> Option<u64> {
    let (milliseconds, _) = text.strip_prefix("duration: ")?.split_once(" ms")?;
    let (whole, decimals) = milliseconds.split_once('.')?;
    let micros: u64 = decimals.parse().ok().filter(|_| decimals.len() == 3)?;
    let micros = whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(micros)?;
    micros.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::Postgresql, line, expected);
    }

    #[test]
    fn lines_of_the_usual_prefixes() {
        check(
            "2026-01-02 03:04:05.678 UTC [12] LOG:  database system is ready",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"process":{"name":"postgres","pid":12},"postgresql":{"log":{"severity":"LOG"}}}"#,
            ),
        );
        check(
            "2026-07-02 03:04:05.678 CEST [12-3] a@shop ERROR:  relation \"x\" does not exist at character 8",
            Some(
                r#"2026-07-02T01:04:05.678Z error {"process":{"name":"postgres","pid":12},"user":{"name":"a"},"postgresql":{"log":{"severity":"ERROR","database":"shop"}}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC [12] [unknown]@[unknown] LOG:  incomplete startup packet",
            Some(
                r#"2026-01-02T03:04:05.000Z info {"process":{"name":"postgres","pid":12},"postgresql":{"log":{"severity":"LOG"}}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC [12]: user=a,db=b,app=[unknown],client=10.0.0.7 LOG:  duration: 112.337 ms  statement: select 1",
            Some(
                r#"2026-01-02T03:04:05.000Z info {"event":{"duration":112337000},"process":{"name":"postgres","pid":12},"user":{"name":"a"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"postgresql":{"log":{"severity":"LOG","database":"b"}}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC STATEMENT:  select 1",
            Some(
                r#"2026-01-02T03:04:05.000Z - {"process":{"name":"postgres"},"postgresql":{"log":{"severity":"STATEMENT"}}}"#,
            ),
        );
        check("\tfrom orders", Some(" - {}"));
    }

    #[test]
    fn lines_of_others_are_refused() {
        for line in [
            "2026-01-02 03:04:05 UTC ERROR:  whose",
            "2026-01-02 03:04:05 UTC [12] ERROR: one blank",
            "2026-01-02 03:04:05 [main] LOG:  x",
            "2026-01-02 03:04:05 INFO app LOG:  x",
            "2026-01-02 03:04:05.678 UTC,\"a\",\"b\",12,,5ff,1,,,LOG,00000,\"x\"",
            "LOG:  x",
        ] {
            check(line, None);
        }
    }
}

//! `PostgreSQL`'s log as its files have it, `2026-01-02 03:04:05.678 UTC [12] user@db LOG:  text`: behind the time what
//! `log_line_prefix` has by itself, what Debian sets, what pgBadger asks for (`[12]: user=a,db=b,client=10.0.0.7`), or what the clouds
//! of Amazon (`:10.0.0.7(5678):user@db:[12]:LOG:  text`), Google (`[12]: [3-1] db=b,user=a`) and Microsoft (`-SESSION-LOG:  text`) have.

use super::super::fields::Fields;
use super::super::stamp::iso;
use super::super::token::{enclosed, word};
use super::super::{Record, Times};
use super::{client, is_severity, known, level_of, statement};

/// Words between the time and the severity.
const WORDS_MAX: usize = 6;

/// Whether a line is not one that goes on with a statement.
pub(crate) fn begins(line: &[u8]) -> bool {
    !line.starts_with(b"\t")
}

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    // The other lines of a statement, where nothing joins them.
    if !begins(line.as_bytes()) {
        return Some(());
    }
    let (stamp, rest) = iso(line)?;
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
        return message(rest, true, fields);
    }
    let mut rest = behind_time.strip_prefix(' ')?;
    let mut is_known = false;
    for number in 0..=WORDS_MAX {
        if let Some(severity) = message(rest, is_known, fields) {
            return Some(severity);
        }
        let (first, behind) = word(rest)?;
        let is_zone = number == 0 && first.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_zone {
            is_known |= take(first, is_known, fields)?;
        }
        rest = behind;
    }
    None
}

/// `SEVERITY:  TEXT`, in a line that says whose it is, or whose severity is one that none but this server writes.
fn message<'a>(text: &'a str, is_known: bool, fields: &mut Fields<'a>) -> Option<&'a str> {
    let (severity, said) = text.split_once(":  ")?;
    let is_own = level_of(severity).is_none() || severity == "LOG";
    (is_severity(severity) && (is_known || is_own)).then_some(())?;
    statement(said, fields);
    Some(severity)
}

/// `10.0.0.7(5678):user@database:[12]:`, and the rest.
fn divided<'a>(text: &'a str, fields: &mut Fields<'a>) -> Option<&'a str> {
    let (place, behind) = text.split_once(":[")?;
    let (pid, rest) = behind.split_once("]:")?;
    let (from, names) = place.rsplit_once(':')?;
    fields.number("process.pid", pid.parse().ok()?);
    (take(names, true, fields) == Some(false)).then_some(())?;
    if let Some(from) = known(from) {
        let ported = from.strip_suffix(')').and_then(|from| from.split_once('('));
        let ported = ported.map(|(address, port)| (address, port.parse().ok()));
        client(ported.unwrap_or((from, None)), fields);
    }
    message(rest, true, fields)
}

/// Takes a word of what stands between the time and the severity; whether it is the number of a process. Behind that one, the next
/// number is that of the line.
fn take<'a>(first: &'a str, is_known: bool, fields: &mut Fields<'a>) -> Option<bool> {
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
    if let Some(user) = first.split_once('@').filter(|_| !first.contains('=')) {
        let bare = |name: &'a str| enclosed(name, '[', b']').map_or(name, |(inside, _)| inside);
        for (name, said) in [("user.name", user.0), ("postgresql.log.database", user.1)] {
            if let Some(said) = known(said) {
                fields.text(name, bare(said));
            }
        }
        return Some(false);
    }
    let mut has_process = false;
    for part in first.split(',') {
        let (key, value) = part.split_once('=')?;
        let value = known(value).unwrap_or("");
        match key {
            "user" => fields.text("user.name", value),
            "db" => fields.text("postgresql.log.database", value),
            "app" => fields.text("postgresql.log.application_name", value),
            "client" | "host" if !value.is_empty() => client((value, None), fields),
            "pid" => {
                fields.number("process.pid", value.parse().ok()?);
                has_process = true;
            }
            _ => {}
        }
    }
    Some(has_process)
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
                r#"2026-01-02T03:04:05.678Z info {"postgresql":{"log":{"severity":"LOG"}},"process":{"name":"postgres","pid":12}}"#,
            ),
        );
        check(
            "2026-07-02 03:04:05.678 CEST [12-3] a@shop ERROR:  relation \"x\" does not exist at character 8",
            Some(
                r#"2026-07-02T01:04:05.678Z error {"postgresql":{"log":{"database":"shop","session_line_number":3,"severity":"ERROR"}},"process":{"name":"postgres","pid":12},"user":{"name":"a"}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC [12] [unknown]@[unknown] LOG:  incomplete startup packet",
            Some(
                r#"2026-01-02T03:04:05.000Z info {"postgresql":{"log":{"severity":"LOG"}},"process":{"name":"postgres","pid":12}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC [12]: user=a,db=b,app=[unknown],client=10.0.0.7 LOG:  duration: 112.337 ms  statement: select 1",
            Some(
                r#"2026-01-02T03:04:05.000Z info {"event":{"duration":112337000},"postgresql":{"log":{"client_addr":"10.0.0.7","database":"b","query":"select 1","query_step":"statement","severity":"LOG"}},"process":{"name":"postgres","pid":12},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"a"}}"#,
            ),
        );
        check(
            "2026-01-02 03:04:05 UTC STATEMENT:  select 1",
            Some(
                r#"2026-01-02T03:04:05.000Z - {"postgresql":{"log":{"severity":"STATEMENT"}},"process":{"name":"postgres"}}"#,
            ),
        );
        check("\tfrom orders", Some(" - {}"));
        check(
            "2026-01-02 03:04:05.678 UTC [12] a@b LOG:  duration: 0.455 ms  execute q1: select 1,\n\t2",
            Some(
                r#"2026-01-02T03:04:05.678Z info {"event":{"duration":455000},"postgresql":{"log":{"database":"b","query":"select 1,\n\t2","query_name":"q1","query_step":"execute","severity":"LOG"}},"process":{"name":"postgres","pid":12},"user":{"name":"a"}}"#,
            ),
        );
    }

    #[test]
    fn lines_of_the_prefixes_of_clouds() {
        let client = r#""client_addr":"10.0.0.7","client_port":49804,"#;
        let source = r#""source":{"address":"10.0.0.7","ip":"10.0.0.7","port":49804},"#;
        let told = |log: &str, pid: &str, source: &str, user: &str| {
            let severity = r#""severity":"ERROR"}}"#;
            format!(
                r#"2026-01-02T03:04:05.000Z error {{"postgresql":{{"log":{{{log}{severity},"process":{{"name":"postgres"{pid}}}{source}{user}}}"#
            )
        };
        let (pid, user) = (r#","pid":12"#, r#","user":{"name":"a"}"#);
        check(
            "2026-01-02 03:04:05 UTC:10.0.0.7(49804):a@b:[12]:ERROR:  no such table",
            Some(&told(
                &format!(r#"{client}"database":"b","#),
                pid,
                &format!(",{}", source.trim_end_matches(',')),
                user,
            )),
        );
        check(
            "2026-01-02 03:04:05 UTC [12]: [3-1] db=b,user=a ERROR:  no such table",
            Some(&told(
                r#""database":"b","session_line_number":3,"#,
                pid,
                "",
                user,
            )),
        );
        check(
            "2026-01-02 03:04:05 UTC-5f0a.1b-ERROR:  no such table",
            Some(&told(r#""session_id":"5f0a.1b","#, "", "", "")),
        );
        check(
            "2026-01-02 03:04:05 UTC pid=12,user=a,db=b,app=psql,client=[local] ERROR:  no such table",
            Some(&told(
                r#""application_name":"psql","database":"b","#,
                pid,
                "",
                user,
            )),
        );
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

//! nginx' error log: `2026/01/02 03:04:05 [error] 12#34: *56 text, client: ..., server: ...`.

use super::access::{Request, write_client};
use super::stamp::iso;
use super::token::{enclosed, level, split};
use super::{Record, Times};

/// Whether a line is none of what a program behind nginx has said in several lines.
pub(crate) fn begins(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit) && line.get(4) == Some(&b'/')
}

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (stamp, rest) = iso(line)?;
    let (severity, rest) = enclosed(rest.strip_prefix(' ')?, '[', b']')?;
    let severity = level(severity)?;
    let (process, rest) = split(rest.strip_prefix(' ')?, b':')?;
    let (pid, thread) = process.split_once('#')?;
    let pid = pid.parse().ok()?;
    let thread = thread.parse().ok()?;
    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record.level = Some(severity);
    record.fields.object("process", |o| {
        o.text("name", "nginx");
        o.number("pid", pid);
        o.object("thread", |o| o.number("id", thread));
    });
    let rest = rest.trim_start();
    let (connection, message) = match rest.strip_prefix('*').and_then(|rest| split(rest, b' ')) {
        Some((connection, message)) => (connection.parse().ok(), message),
        None => (None, rest),
    };
    if let Some(connection) = connection {
        record
            .fields
            .object("nginx", |o| o.number("connection", connection));
    }
    // The details come last, so that a message that holds such text is not mistaken for them.
    let (message, details) = match message.rfind(", client: ") {
        Some(at) => message.split_at(at),
        None => (message, ""),
    };
    record
        .fields
        .object("error", |o| o.text("message", message));
    if let Some(client) = detail(details, ", client: ") {
        write_client(record, client, "");
    }
    if let Some(request) = quoted_detail(details, ", request: \"") {
        let request = Request::of(request);
        record.fields.object("http", |o| {
            o.text("version", request.version);
            o.object("request", |o| o.text("method", request.method));
        });
        let domain = quoted_detail(details, ", host: \"").or(detail(details, ", server: "));
        request.write_url(record, domain.unwrap_or(""));
    }
    Some(())
}

fn detail<'a>(details: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = details.split_once(name)?;
    Some(split(value, b',').map_or(value, |(value, _)| value))
}

fn quoted_detail<'a>(details: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = details.split_once(name)?;
    Some(split(value, b'"')?.0)
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn messages_with_and_without_a_request() {
        let check = |line, expected| testing::check(ParserName::NginxError, line, expected);
        check(
            r#"2026/01/02 03:04:05 [error] 12#34: *56 open() "/x, y" failed (2: No such file), client: 10.0.0.7, server: _, request: "GET /a?b HTTP/1.1", host: "x.org:80""#,
            Some(
                r#"2026-01-02T03:04:05.000Z error {"process":{"name":"nginx","pid":12,"thread":{"id":34}},"nginx":{"connection":56},"error":{"message":"open() \"/x, y\" failed (2: No such file)"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"http":{"version":"1.1","request":{"method":"GET"}},"url":{"domain":"x.org","original":"/a?b","path":"/a","query":"b"}}"#,
            ),
        );
        check(
            "2026/01/02 03:04:05 [notice] 1#1: using the \"epoll\" event method",
            Some(
                r#"2026-01-02T03:04:05.000Z notice {"process":{"name":"nginx","pid":1,"thread":{"id":1}},"error":{"message":"using the \"epoll\" event method"}}"#,
            ),
        );
        check("2026/01/02 03:04:05 [shout] 1#1: x", None);
        check("2026/01/02 03:04:05 error: x", None);
    }
}

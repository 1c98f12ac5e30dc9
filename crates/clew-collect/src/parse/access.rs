//! Access logs of nginx and Apache: common, combined and Apache's vhost-combined format. What a
//! site appends after the user agent stays in `message` only.

use std::net::IpAddr;

use super::stamp::common_log;
use super::token::{present, quoted, split, split_last, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let (first, rest) = first_of_list(line)?;
    let (second, after_second) = first_of_list(rest)?;
    // `host:port client ident user [` has one word more than `client ident user [`, unless the user has blanks.
    let (_, third_onwards) = word(after_second)?;
    let (site, client, rest) = match second == "-" || third_onwards.starts_with('[') {
        true => ("", first, rest),
        false => (first, second, after_second),
    };
    let (_ident, rest) = word(rest)?;
    let (user, rest) = before_stamp(rest)?;
    let (stamp, rest) = common_log(rest)?;
    let (request, rest) = quoted(rest.strip_prefix("] ")?)?;
    let (status, rest) = word(rest.strip_prefix(' ')?)?;
    let status: u16 = status
        .parse()
        .ok()
        .filter(|status| (100..1000).contains(status))?;
    let (bytes, rest) = word(rest)?;
    let (referrer, rest) = quoted(rest).unwrap_or(("", rest));
    let (agent, _) = quoted(rest.trim_start()).unwrap_or(("", rest));

    record.timestamp_ms = Some(stamp.epoch_ms(times));
    record
        .event
        .text("outcome", if status < 400 { "success" } else { "failure" });
    write_client(record, client, "");
    if let Some(user) = present(user) {
        record.fields.object("user", |o| o.text("name", user));
    }
    let request = Request::of(request);
    record.fields.object("http", |o| {
        o.text("version", request.version);
        o.object("request", |o| {
            o.text("method", request.method);
            o.text("referrer", present(referrer).unwrap_or(""));
        });
        o.object("response", |o| {
            o.number("status_code", u64::from(status));
            if let Ok(bytes) = bytes.parse() {
                o.object("body", |o| o.number("bytes", bytes));
            }
        });
    });
    request.write_url(record, site);
    if let Some(agent) = present(agent) {
        record
            .fields
            .object("user_agent", |o| o.text("original", agent));
    }
    Some(())
}

/// A word; of those whom proxies forwarded for, `client, proxy`, the first, who has asked; and what is behind all of them.
fn first_of_list(text: &str) -> Option<(&str, &str)> {
    let (mut last, mut rest) = word(text)?;
    let first = last.trim_end_matches(',');
    while last.ends_with(',') {
        (last, rest) = word(rest)?;
    }
    Some((first, rest))
}

/// What stands before and behind the first ` [`. A search for two letters is set up for longer than it takes to find one.
fn before_stamp(rest: &str) -> Option<(&str, &str)> {
    let mut brackets = memchr::memchr_iter(b'[', rest.as_bytes());
    let at = brackets.find(|at| {
        at.checked_sub(1)
            .and_then(|before| rest.as_bytes().get(before))
            == Some(&b' ')
    })?;
    Some((rest.get(..at - 1)?, rest.get(at + 1..)?))
}

/// `source.address`, and `source.ip` when it is one: a resolved host name is not.
pub(super) fn write_client(record: &mut Record, address: &str, port: &str) {
    write_side(record, "source", address, port);
}

/// The same of the side of a connection that has this name.
pub(super) fn write_side(record: &mut Record, side: &'static str, address: &str, port: &str) {
    record.fields.object(side, |o| {
        o.text("address", address);
        if address.parse::<IpAddr>().is_ok() {
            o.text("ip", address);
        }
        if let Ok(port) = port.parse() {
            o.number("port", port);
        }
    });
}

/// A request line; anything that is not one (a dash, a TLS hello on the wrong port) has no parts.
#[derive(Default)]
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) version: &'a str,
}

impl<'a> Request<'a> {
    pub(super) fn of(line: &'a str) -> Request<'a> {
        let Some((method, rest)) = split(line, b' ') else {
            return Request::default();
        };
        if !method
            .bytes()
            .all(|b| b.is_ascii_uppercase() || b == b'_' || b == b'-')
        {
            return Request::default();
        }
        // Nearly always the last word.
        let protocol = split_last(rest, b' ');
        let protocol =
            protocol.and_then(|(target, last)| Some((target, last.strip_prefix("HTTP/")?)));
        let protocol = protocol.or_else(|| rest.rsplit_once(" HTTP/"));
        let (target, version) = protocol.unwrap_or((rest, ""));
        Request {
            method,
            target,
            version,
        }
    }

    pub(super) fn write_url(&self, record: &mut Record, domain: &str) {
        let (path, query) = split(self.target, b'?').unwrap_or((self.target, ""));
        record.fields.object("url", |o| {
            o.text(
                "domain",
                domain.rsplit_once(':').map_or(domain, |(domain, _)| domain),
            );
            o.text("original", self.target);
            o.text("path", path);
            o.text("query", query);
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    fn check(line: &str, expected: Option<&str>) {
        testing::check(ParserName::NginxAccess, line, expected);
    }

    #[test]
    fn combined_common_and_vhost_lines() {
        check(
            r#"10.0.0.7 - bob [02/Jan/2026:03:04:05 +0000] "GET /a/b?c=d HTTP/1.1" 200 1234 "https://x.org/" "curl/8.5 \"q\"" "10.1.1.1""#,
            Some(
                r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"success"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"bob"},"http":{"version":"1.1","request":{"method":"GET","referrer":"https://x.org/"},"response":{"status_code":200,"body":{"bytes":1234}}},"url":{"original":"/a/b?c=d","path":"/a/b","query":"c=d"},"user_agent":{"original":"curl/8.5 \\\"q\\\""}}"#,
            ),
        );
        check(
            r#"host.example - - [02/Jan/2026:03:04:05 +0100] "POST / HTTP/2.0" 404 -"#,
            Some(
                r#"2026-01-02T02:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"host.example"},"http":{"version":"2.0","request":{"method":"POST"},"response":{"status_code":404}},"url":{"original":"/","path":"/"}}"#,
            ),
        );
        check(
            r#"www.example.org:443 ::1 - - [02/Jan/2026:03:04:05 +0000] "OPTIONS * HTTP/1.0" 200 126 "-" "-""#,
            Some(
                r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"success"},"source":{"address":"::1","ip":"::1"},"http":{"version":"1.0","request":{"method":"OPTIONS"},"response":{"status_code":200,"body":{"bytes":126}}},"url":{"domain":"www.example.org","original":"*","path":"*"}}"#,
            ),
        );
    }

    #[test]
    fn users_with_blanks_and_lists_of_proxies() {
        for (start, expected) in [
            (
                "10.0.0.7 - Jo Doe",
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7"},"user":{"name":"Jo Doe"}"#,
            ),
            (
                "10.0.0.7, 10.1.1.1, 10.1.1.2 - -",
                r#""source":{"address":"10.0.0.7","ip":"10.0.0.7"}"#,
            ),
        ] {
            let line = format!(r#"{start} [02/Jan/2026:03:04:05 +0000] "-" 408 0 "-" "-""#);
            let expected = format!(
                r#"2026-01-02T03:04:05.000Z - {{"event":{{"outcome":"failure"}},{expected},"http":{{"response":{{"status_code":408,"body":{{"bytes":0}}}}}}}}"#
            );
            check(&line, Some(&expected));
        }
    }

    #[test]
    fn proxies_are_listed_behind_a_site_too() {
        check(
            r#"shop.example:80 10.0.0.7, 10.1.1.1 - - [02/Jan/2026:03:04:05 +0000] "-" 408 0"#,
            Some(
                r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"http":{"response":{"status_code":408,"body":{"bytes":0}}},"url":{"domain":"shop.example"}}"#,
            ),
        );
    }

    #[test]
    fn requests_that_are_no_requests_keep_their_status() {
        for request in ["-", r"\x16\x03\x01", ""] {
            let line =
                format!(r#"10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] "{request}" 400 0 "-" "-""#);
            check(
                &line,
                Some(
                    r#"2026-01-02T03:04:05.000Z - {"event":{"outcome":"failure"},"source":{"address":"10.0.0.7","ip":"10.0.0.7"},"http":{"response":{"status_code":400,"body":{"bytes":0}}}}"#,
                ),
            );
        }
    }

    #[test]
    fn blanks_stand_where_they_may() {
        for (user, request, version) in [
            ("a [b", "GET /a HTTP/1.1 b", "1.1 b"),
            ("a[ b", "GET /a b HTTP/1.1", "1.1"),
            ("[", "GET /a HTTP/1.0 HTTP/1.1", "1.1"),
        ] {
            let record = super::Request::of(request);
            assert_eq!(record.version, version, "{request}");
            let (found, rest) = super::before_stamp(&format!("{user} [2026"))
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .unwrap();
            let expected = format!("{user} [2026");
            let expected = expected.split_once(" [").unwrap();
            assert_eq!((found.as_str(), rest.as_str()), expected, "{user}");
        }
        assert!(super::before_stamp("[").is_none() && super::before_stamp("a b").is_none());
    }

    #[test]
    fn other_lines_are_refused() {
        check(
            r#"10.0.0.7 - - [02/Jan/2026:03:04:05 +0000] "GET / HTTP/1.1" abc 1"#,
            None,
        );
        check(
            r#"10.0.0.7 - - [02/Jan/2026:03:04:05] "GET / HTTP/1.1" 200 1"#,
            None,
        );
        check("Jun 14 09:08:07 web1 su: failed", None);
    }
}

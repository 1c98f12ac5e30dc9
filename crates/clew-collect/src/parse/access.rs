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
mod tests;

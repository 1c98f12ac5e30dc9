//! What a line holds under dotted names, `http.request.method`, in any order, and how it becomes the members of a record.

use std::borrow::Cow;
use std::net::IpAddr;

use super::Record;
use super::access::Request;
use super::token::{enclosed, present, split};
use crate::json::Members;

const NANOSECONDS_OF_MS: u64 = 1_000_000;
const EVENT_NAMES: &str = "event.";
const LOG_NAMES: &str = "log.";

/// The names of one side of a connection.
pub(super) struct Side {
    pub(super) address: &'static str,
    pub(super) ip: &'static str,
    pub(super) port: &'static str,
}

/// Who has asked, or has connected.
pub(super) const SOURCE: Side = Side {
    address: "source.address",
    ip: "source.ip",
    port: "source.port",
};

/// Who was asked, or connected to.
pub(super) const DESTINATION: Side = Side {
    address: "destination.address",
    ip: "destination.ip",
    port: "destination.port",
};

enum Value<'a> {
    Text(Cow<'a, str>),
    Number(u64),
    /// A number as it is written.
    Fraction(&'a str),
    Flag(bool),
}

/// A dotted name and what is kept under it.
type Member<'a> = (&'static str, Value<'a>);

/// What a line holds, under dotted names. Of what is named twice, the first stays.
#[derive(Default)]
pub(super) struct Fields<'a> {
    members: Vec<Member<'a>>,
}

impl<'a> Fields<'a> {
    /// A text; an empty one is left out.
    pub(super) fn text(&mut self, name: &'static str, text: impl Into<Cow<'a, str>>) {
        self.push(name, Value::Text(text.into()));
    }

    pub(super) fn number(&mut self, name: &'static str, number: u64) {
        self.push(name, Value::Number(number));
    }

    /// A number from zero on, as it is written: the text has to be one ([`is_decimal`]).
    pub(super) fn fraction(&mut self, name: &'static str, number: &'a str) {
        self.push(name, Value::Fraction(number));
    }

    pub(super) fn flag(&mut self, name: &'static str, is_so: bool) {
        self.push(name, Value::Flag(is_so));
    }

    fn push(&mut self, name: &'static str, value: Value<'a>) {
        /// As many as most lines have: their memory is asked for once.
        const USUAL: usize = 16;
        if self.members.capacity() == 0 {
            self.members.reserve(USUAL);
        }
        self.members.push((name, value));
    }

    /// Nanoseconds that all took; nothing for more than can be counted.
    pub(super) fn milliseconds(&mut self, ms: u64) -> Option<()> {
        self.number("event.duration", ms.checked_mul(NANOSECONDS_OF_MS)?);
        Some(())
    }

    /// Squid's status is `000` where nothing was answered.
    pub(super) fn status(&mut self, status: u16) {
        if (100..1000).contains(&status) {
            let outcome = if status < 400 { "success" } else { "failure" };
            self.number("http.response.status_code", u64::from(status));
            self.text("event.outcome", outcome);
        }
    }

    /// An address, which others may follow behind commas, and its port.
    pub(super) fn address(&mut self, side: &Side, value: &'a str) {
        let (first, _) = split(value, b',').unwrap_or((value, ""));
        // As PostgreSQL names those of its own machine.
        if first == "[local]" {
            return;
        }
        let first = first.strip_prefix("tcp://").unwrap_or(first);
        let is_address = |text: &str| text.parse::<IpAddr>().is_ok();
        let ported = first.rsplit_once(':').filter(|_| !is_address(first));
        let ported = ported.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let host = ported.map_or(first, |(host, _)| host);
        let host = enclosed(host, '[', b']').map_or(host, |(inside, _)| inside);
        self.text(side.address, host);
        if is_address(host) {
            self.text(side.ip, host);
        }
        if let Some((_, port)) = ported {
            self.number(side.port, u64::from(port));
        }
    }

    pub(super) fn request(&mut self, line: &'a str) {
        let request = Request::of(line);
        if let Some(method) = present(request.method) {
            self.text("http.request.method", method);
            self.text("http.version", request.version);
            self.target(request.target);
        }
    }

    /// What was asked for, which may begin with a scheme and a place.
    pub(super) fn target(&mut self, target: &'a str) {
        self.text("url.original", target);
        let mut path = target;
        if !target.starts_with('/') {
            let Some((scheme, behind)) = target.split_once("://") else {
                return;
            };
            let (place, rest) = behind.split_at(behind.find('/').unwrap_or(behind.len()));
            let ported = place.rsplit_once(':');
            let ported = ported.and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
            self.text("url.scheme", scheme);
            self.text("url.domain", ported.map_or(place, |(host, _)| host));
            if let Some((_, port)) = ported {
                self.number("url.port", u64::from(port));
            }
            path = rest;
        }
        let (path, query) = split(path, b'?').unwrap_or((path, ""));
        self.text("url.path", path);
        self.text("url.query", query);
    }

    /// Writes all of it: what is of `event` and of `log`, and what is of the document's root.
    pub(super) fn write(mut self, record: &mut Record) {
        self.members.sort_by_key(|(name, _)| *name);
        self.members.dedup_by_key(|(name, _)| *name);
        let members = self.members.as_slice();
        let (before_event, rest) =
            members.split_at(members.partition_point(|(name, _)| *name < EVENT_NAMES));
        let (event, rest) = with_prefix(rest, EVENT_NAMES);
        let (before_log, rest) = rest.split_at(rest.partition_point(|(name, _)| *name < LOG_NAMES));
        let (log, rest) = with_prefix(rest, LOG_NAMES);
        write(&mut record.event, event, EVENT_NAMES.len());
        write(&mut record.log, log, LOG_NAMES.len());
        for root in [before_event, before_log, rest] {
            write(&mut record.fields, root, 0);
        }
    }
}

/// The members at the beginning whose names begin so, and the others.
fn with_prefix<'f, 'a>(
    members: &'f [Member<'a>],
    prefix: &str,
) -> (&'f [Member<'a>], &'f [Member<'a>]) {
    let count = members
        .iter()
        .take_while(|(name, _)| name.starts_with(prefix))
        .count();
    members.split_at(count)
}

/// Writes members in the order of their dotted names, from that byte of the names on, as objects in objects.
fn write(members: &mut Members, found: &[Member<'_>], from: usize) {
    let mut rest = found;
    while let Some((name, value)) = rest.first() {
        let name: &'static str = name;
        let here = &name[from..];
        let Some((object, _)) = here.split_once('.') else {
            match value {
                Value::Text(text) => members.text(here, text),
                Value::Number(number) => members.number(here, *number),
                Value::Fraction(number) => members.raw(here, number),
                Value::Flag(true) => members.raw(here, "true"),
                Value::Flag(false) => members.raw(here, "false"),
            }
            rest = &rest[1..];
            continue;
        };
        let end = from + object.len() + 1;
        let (inside, behind) = with_prefix(rest, &name[..end]);
        members.object(object, |o| write(o, inside, end));
        rest = behind;
    }
}

pub(super) fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number that is none below zero, written as JSON has them.
pub(super) fn is_decimal(text: &str) -> bool {
    const BYTES_MAX: usize = 32;
    let (whole, fraction) = split(text, b'.').unwrap_or((text, "0"));
    let begins_well = whole == "0" || !whole.starts_with('0');
    text.len() <= BYTES_MAX && begins_well && are_digits(whole) && are_digits(fraction)
}

/// The nanoseconds of seconds with a fraction, to the nanosecond.
pub(super) fn nanoseconds(text: &str) -> Option<u64> {
    const PLACES: usize = 9;
    is_decimal(text).then_some(())?;
    let (whole, fraction) = split(text, b'.').unwrap_or((text, "0"));
    let below: u64 = format!("{fraction:0<PLACES$}")
        .get(..PLACES)?
        .parse()
        .ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(below)
}

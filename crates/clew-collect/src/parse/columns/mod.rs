//! Lines of columns, which are always the same ones in the same order: what the columns of a format hold, and under which names it is
//! kept, stands in a table (`tables.rs`).

mod tables;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::net::IpAddr;

use super::access::Request;
use super::stamp::{Stamp, common_log, expect, four, iso, time_of_day, two};
use super::token::{enclosed, present, quoted, split, word};
use super::{Civil, Record, Times};
use crate::json::Members;

pub(crate) use tables::{CLOUDFRONT, ELB, ENVOY, IIS, S3_ACCESS, SQUID, VPC_FLOW};

const NANOSECONDS_OF_MS: u64 = 1_000_000;

/// A format: its layouts, of which the first that fits is taken.
pub(crate) struct Format {
    /// Whether a tab stands between columns, and nothing is quoted; else blanks do, and what has some is in quotes or brackets.
    is_tabbed: bool,
    layouts: &'static [Layout],
}

/// The columns of a line. More may follow: formats grow as their programs do.
struct Layout {
    /// One part behind the other.
    parts: &'static [&'static [Column]],
    /// How many of them every version has.
    least: usize,
}

/// What a column holds. A dash is nothing in all of them.
enum Column {
    /// Nothing that is kept.
    Skipped,
    /// One of these words, kept under a name.
    OneOf(&'static [&'static str], &'static str),
    /// A text that begins so, kept under a name.
    Beginning(&'static str, &'static str),
    /// As many hexadecimal digits, kept under a name.
    Digits(usize, &'static str),
    Text(&'static str),
    /// A text with `+` for blanks.
    Plussed(&'static str),
    /// A whole number.
    Number(&'static str),
    /// A number with a fraction; those below zero say that there is none.
    Fraction(&'static str),
    /// Of an address, which others may follow behind commas, and of its port.
    Address(&'static Side),
    /// Milliseconds that all took.
    Milliseconds,
    /// Seconds that all took, with a fraction.
    Seconds,
    /// The status that a client was answered with.
    Status,
    /// A request line.
    Request,
    /// What was asked for.
    Target,
    Time(Clock),
    /// A moment, kept under a name, beside the time of the line.
    Moment(&'static str),
    /// What stands before and behind the first such byte.
    Both(u8, &'static (Column, Column)),
}

/// How the time of a line is written.
#[derive(Clone, Copy)]
enum Clock {
    Iso,
    /// As access logs have it.
    CommonLog,
    /// Seconds since the epoch, perhaps with a fraction.
    Epoch,
    /// A day, whose clock is in the next column.
    Day,
    /// The clock of that day, of UTC.
    OfDay,
}

/// The names of one side of a connection.
struct Side {
    address: &'static str,
    ip: &'static str,
    port: &'static str,
}

enum Value<'a> {
    Text(Cow<'a, str>),
    Number(u64),
    /// A number as it is written.
    Fraction(&'a str),
}

/// What the columns of a line hold, under dotted names.
#[derive(Default)]
struct Found<'a> {
    ms: Option<i64>,
    day: Option<Civil>,
    members: Vec<(&'static str, Value<'a>)>,
}

/// Takes a line of a format.
pub(crate) fn parse(
    format: &Format,
    line: &str,
    times: &mut Times,
    record: &mut Record,
) -> Option<()> {
    if is_header(line) {
        return format.has_headers().then_some(());
    }
    let mut layouts = format.layouts.iter();
    let mut found = layouts.find_map(|layout| layout.read(line, format.is_tabbed, times))?;
    record.timestamp_ms = found.ms;
    found.members.sort_by_key(|(name, _)| *name);
    let begin = found
        .members
        .partition_point(|(name, _)| *name < EVENT_NAMES);
    let end = found
        .members
        .iter()
        .skip(begin)
        .take_while(|(name, _)| name.starts_with(EVENT_NAMES))
        .count()
        + begin;
    write(
        &mut record.event,
        &found.members[begin..end],
        EVENT_NAMES.len(),
    );
    write(&mut record.fields, &found.members[..begin], 0);
    write(&mut record.fields, &found.members[end..], 0);
    Some(())
}

const EVENT_NAMES: &str = "event.";

/// Whether a line says what the lines behind it hold, and is none of them: `#Fields: date time`, as the W3C's extended format has it.
pub(crate) fn is_header(line: &str) -> bool {
    const BEGINS: [&str; 7] = [
        "#Software: ",
        "#Version: ",
        "#Date: ",
        "#Fields: ",
        "#Start-Date: ",
        "#End-Date: ",
        "#Remark: ",
    ];
    line.starts_with('#') && BEGINS.iter().any(|begin| line.starts_with(begin))
}

impl Format {
    /// Whether it is one of the W3C's extended format: the time begins with the day alone.
    fn has_headers(&self) -> bool {
        let mut layouts = self.layouts.iter();
        layouts.any(|layout| matches!(layout.parts, [[Column::Time(Clock::Day), ..], ..]))
    }
}

impl Layout {
    fn read<'a>(&self, line: &'a str, is_tabbed: bool, times: &mut Times) -> Option<Found<'a>> {
        let mut found = Found::default();
        let mut rest = line;
        for (number, column) in self.parts.iter().copied().flatten().enumerate() {
            if rest.is_empty() {
                (number >= self.least).then_some(())?;
                break;
            }
            let (value, behind) = match is_tabbed {
                true => split(rest, b'\t').unwrap_or((rest, "")),
                false => next_word(rest)?,
            };
            rest = behind;
            match present(value) {
                Some(value) => column.take(value, &mut found, times)?,
                None => (!column.is_needed()).then_some(())?,
            }
        }
        found.ms.is_some().then_some(found)
    }
}

/// A word, or what is in quotes or brackets, and what follows behind blanks.
fn next_word(text: &str) -> Option<(&str, &str)> {
    let whole = quoted(text).or_else(|| enclosed(text, '[', b']'));
    match whole {
        Some((inside, rest)) if rest.is_empty() || rest.starts_with(' ') => {
            Some((inside, rest.trim_start_matches(' ')))
        }
        _ => word(text),
    }
}

impl Column {
    /// Whether a line without it is none of the format.
    fn is_needed(&self) -> bool {
        matches!(
            self,
            Column::OneOf(..) | Column::Beginning(..) | Column::Digits(..) | Column::Time(_)
        )
    }

    /// Whether a column holds what tells the format from others.
    fn fits(&self, value: &str) -> bool {
        match *self {
            Column::OneOf(words, _) => words.contains(&value),
            Column::Beginning(begin, _) => value.starts_with(begin),
            Column::Digits(count, _) => {
                value.len() == count && value.bytes().all(|byte| byte.is_ascii_hexdigit())
            }
            _ => true,
        }
    }

    /// Takes what the column holds; `None` if that is not what it has to be.
    fn take<'a>(&self, value: &'a str, found: &mut Found<'a>, times: &mut Times) -> Option<()> {
        self.fits(value).then_some(())?;
        match *self {
            Column::Skipped => {}
            Column::OneOf(_, name)
            | Column::Beginning(_, name)
            | Column::Digits(_, name)
            | Column::Text(name) => found.text(name, value),
            Column::Plussed(name) => {
                let text = Cow::Owned(value.replace('+', " "));
                found.members.push((name, Value::Text(text)));
            }
            Column::Number(name) => found.number(name, value.parse().ok()?),
            Column::Fraction(name) => {
                is_decimal(value.strip_prefix('-').unwrap_or(value)).then_some(())?;
                if !value.starts_with('-') {
                    found.members.push((name, Value::Fraction(value)));
                }
            }
            Column::Address(side) => found.address(side, value),
            Column::Milliseconds => {
                let ms: u64 = value.parse().ok()?;
                found.number("event.duration", ms.checked_mul(NANOSECONDS_OF_MS)?);
            }
            Column::Seconds => found.number("event.duration", nanoseconds(value)?),
            Column::Status => found.status(value.parse().ok()?),
            Column::Request => found.request(value),
            Column::Target => found.target(value),
            Column::Time(clock) => found.ms = clock.read(value, found, times),
            Column::Moment(name) => {
                let ms = Clock::Iso.read(value, found, times);
                let ms = ms.or_else(|| Clock::Epoch.read(value, found, times))?;
                let mut text = Vec::new();
                Civil::from_utc_ms(ms).push_iso(&mut text);
                let text = String::from_utf8(text).ok()?;
                found.members.push((name, Value::Text(Cow::Owned(text))));
            }
            Column::Both(separator, columns) => {
                let (first, second) = split(value, separator)?;
                for (column, value) in [(&columns.0, first), (&columns.1, second)] {
                    if let Some(value) = present(value) {
                        column.take(value, found, times)?;
                    }
                }
            }
        }
        Some(())
    }
}

impl Clock {
    /// The milliseconds since the epoch that a text says. That of a day alone is kept until its clock comes.
    fn read(self, value: &str, found: &mut Found<'_>, times: &mut Times) -> Option<i64> {
        let whole = |(stamp, rest): (Stamp, &str)| rest.is_empty().then_some(stamp);
        match self {
            Clock::Iso => Some(iso(value).and_then(whole)?.epoch_ms(times)),
            Clock::CommonLog => Some(common_log(value).and_then(whole)?.epoch_ms(times)),
            Clock::Epoch => {
                // From 2001 to 2286.
                let (seconds, fraction) = split(value, b'.').unwrap_or((value, "0"));
                (seconds.len() == 10 && are_digits(seconds)).then_some(())?;
                are_digits(fraction).then_some(())?;
                let ms = format!("{fraction:0<3}").get(..3)?.parse::<i64>().ok()?;
                Some(seconds.parse::<i64>().ok()? * 1_000 + ms)
            }
            Clock::Day => {
                found.day = Some(day(value)?);
                None
            }
            Clock::OfDay => {
                let is_clock = value.len() == "03:04:05".len();
                let civil = time_of_day(value.as_bytes(), 0, found.day.filter(|_| is_clock)?)?;
                Some(civil.as_utc_ms())
            }
        }
    }
}

impl<'a> Found<'a> {
    fn text(&mut self, name: &'static str, text: &'a str) {
        self.members.push((name, Value::Text(Cow::Borrowed(text))));
    }

    fn number(&mut self, name: &'static str, number: u64) {
        self.members.push((name, Value::Number(number)));
    }

    /// Squid's status is `000` where nothing was answered.
    fn status(&mut self, status: u16) {
        if (100..1000).contains(&status) {
            let outcome = if status < 400 { "success" } else { "failure" };
            self.number("http.response.status_code", u64::from(status));
            self.text("event.outcome", outcome);
        }
    }

    fn address(&mut self, side: &Side, value: &'a str) {
        let (first, _) = split(value, b',').unwrap_or((value, ""));
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

    fn request(&mut self, line: &'a str) {
        let request = Request::of(line);
        if let Some(method) = present(request.method) {
            self.text("http.request.method", method);
            self.text("http.version", request.version);
            self.target(request.target);
        }
    }

    /// What was asked for, which may begin with a scheme and a place.
    fn target(&mut self, target: &'a str) {
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
}

/// The day of `2026-01-02`.
fn day(text: &str) -> Option<Civil> {
    let bytes = text.as_bytes();
    expect(bytes, 4, b'-')?;
    expect(bytes, 7, b'-')?;
    (bytes.len() == 10).then_some(())?;
    Civil::day(four(bytes, 0)?, two(bytes, 5)?, two(bytes, 8)?).checked()
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a number that is none below zero, written as JSON has them.
fn is_decimal(text: &str) -> bool {
    const BYTES_MAX: usize = 32;
    let (whole, fraction) = split(text, b'.').unwrap_or((text, "0"));
    let begins_well = whole == "0" || !whole.starts_with('0');
    text.len() <= BYTES_MAX && begins_well && are_digits(whole) && are_digits(fraction)
}

/// The nanoseconds of seconds with a fraction, to the nanosecond.
fn nanoseconds(text: &str) -> Option<u64> {
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

/// Writes members in the order of their dotted names, from that byte of the names on, as objects in objects.
fn write(members: &mut Members, found: &[(&'static str, Value<'_>)], from: usize) {
    let mut rest = found;
    while let Some((name, value)) = rest.first() {
        let name: &'static str = name;
        let here = &name[from..];
        let Some((object, _)) = here.split_once('.') else {
            match value {
                Value::Text(text) => members.text(here, text),
                Value::Number(number) => members.number(here, *number),
                Value::Fraction(number) => members.raw(here, number),
            }
            rest = &rest[1..];
            continue;
        };
        let end = from + object.len() + 1;
        let of_object = |other: &&(&'static str, Value<'_>)| other.0.starts_with(&name[..end]);
        let count = rest.iter().take_while(of_object).count();
        let (inside, behind) = rest.split_at(count);
        members.object(object, |o| write(o, inside, end));
        rest = behind;
    }
}

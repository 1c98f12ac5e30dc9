//! Lines of columns, which are always the same ones in the same order: what the columns of a format hold, and under which names it is
//! kept, stands in a table (`tables.rs`). Objects of JSON whose members are always the same are the same (`objects.rs`).

mod objects;
mod tables;
#[cfg(test)]
mod tests;

use super::fields::{Fields, Side, are_digits, is_decimal, nanoseconds};
use super::stamp::{Stamp, common_log, expect, four, iso_zoned, time_of_day, two};
use super::token::{enclosed, level, present, quoted, split, word};
use super::{Civil, Record, Times};

pub(crate) use objects::{MONGODB, Object, POSTGRESQL, TRAEFIK_JSON, parse_object};
pub(crate) use tables::{
    CLOUDFRONT, ELB, ENVOY, IIS, IIS_ERROR, S3_ACCESS, SQUID, TRAEFIK, VPC_FLOW,
};

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
    /// The same with its unit, `12ms`.
    MarkedMilliseconds,
    /// Seconds that all took, with a fraction.
    Seconds,
    /// The status that a client was answered with.
    Status,
    /// The protocol of a request, `HTTP/1.1`.
    Protocol,
    /// A request line.
    Request,
    /// What was asked for.
    Target,
    /// How severe it is.
    Level,
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

/// What the columns of a line hold.
#[derive(Default)]
struct Found<'a> {
    ms: Option<i64>,
    day: Option<Civil>,
    level: Option<&'static str>,
    fields: Fields<'a>,
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
    let found = layouts.find_map(|layout| layout.read(line, format.is_tabbed, times))?;
    found.write(record);
    Some(())
}

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
            Column::OneOf(..)
                | Column::Beginning(..)
                | Column::Digits(..)
                | Column::MarkedMilliseconds
                | Column::Time(_)
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
            | Column::Text(name) => found.fields.text(name, value),
            Column::Plussed(name) => found.fields.text(name, value.replace('+', " ")),
            Column::Number(name) => found.fields.number(name, value.parse().ok()?),
            Column::Fraction(name) => {
                is_decimal(value.strip_prefix('-').unwrap_or(value)).then_some(())?;
                if !value.starts_with('-') {
                    found.fields.fraction(name, value);
                }
            }
            Column::Address(side) => found.fields.address(side, value),
            Column::Milliseconds => found.fields.milliseconds(value.parse().ok()?)?,
            Column::MarkedMilliseconds => {
                let ms = value.strip_suffix("ms")?.parse().ok()?;
                found.fields.milliseconds(ms)?;
            }
            Column::Seconds => found.fields.number("event.duration", nanoseconds(value)?),
            Column::Status => found.fields.status(value.parse().ok()?),
            Column::Protocol => found
                .fields
                .text("http.version", value.strip_prefix("HTTP/")?),
            Column::Request => found.fields.request(value),
            Column::Target => found.fields.target(value),
            Column::Level => found.level = level(value),
            Column::Time(clock) => found.ms = clock.read(value, found, times),
            Column::Moment(name) => {
                let ms = Clock::Iso.read(value, found, times);
                let ms = ms.or_else(|| Clock::Epoch.read(value, found, times))?;
                let mut text = Vec::new();
                Civil::from_utc_ms(ms).push_iso(&mut text);
                found.fields.text(name, String::from_utf8(text).ok()?);
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
            Clock::Iso => Some(iso_zoned(value).and_then(whole)?.epoch_ms(times)),
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

impl Found<'_> {
    fn write(self, record: &mut Record) {
        record.timestamp_ms = self.ms;
        record.level = self.level;
        self.fields.write(record);
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

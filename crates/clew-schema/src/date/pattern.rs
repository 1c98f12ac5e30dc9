//! Date patterns of Java's kind: letters are parts, repeated for their width, quotes hold literal
//! text, brackets what may be missing.

use jiff::tz::TimeZone;

use super::civil::{
    DAY_MS, DAY_NAMES, DateReader, Fields, MONTH_NAMES, civil_from_days, days_from_civil,
    offset_ms, to_local, week_from_days, write_offset,
};
use super::nanos::Instant;

/// Optional sections inside each other; more have no use, and each is a call on the stack.
const NESTING_MAX: usize = 16;

/// A pattern that can read and write.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern(pub(super) Vec<PatternItem>);

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PatternItem {
    Literal(String),
    Part {
        letter: char,
        width: usize,
    },
    /// A part of a second in one digit to nine, written in three: what formats with names have.
    Fraction,
    Optional(Vec<PatternItem>),
}

/// The patterns by which formats that have names read; they write by [`written`].
#[rustfmt::skip]
const NAMED: &[(&str, &str)] = &[
    ("basic_date", "yyyyMMdd"),
    ("basic_date_time", "yyyyMMdd'T'HHmmss.SSSXXX"),
    ("basic_date_time_no_millis", "yyyyMMdd'T'HHmmssXXX"),
    ("basic_ordinal_date", "yyyyDDD"),
    ("basic_ordinal_date_time", "yyyyDDD'T'HHmmss.SSSXXX"),
    ("basic_ordinal_date_time_no_millis", "yyyyDDD'T'HHmmssXXX"),
    ("basic_t_time", "'T'HHmmss.SSSXXX"),
    ("basic_t_time_no_millis", "'T'HHmmssXXX"),
    ("basic_time", "HHmmss.SSSXXX"),
    ("basic_time_no_millis", "HHmmssXXX"),
    ("basic_week_date", "YYYY'W'wwe"),
    ("basic_week_date_time", "YYYY'W'wwe'T'HHmmss.SSSX"),
    ("basic_week_date_time_no_millis", "YYYY'W'wwe'T'HHmmssX"),
    ("date", "y-M-d"),
    ("date_hour", "y-M-d'T'H"),
    ("date_hour_minute", "y-M-d'T'H:m"),
    ("date_hour_minute_second", "y-M-d'T'H:m:s"),
    ("date_hour_minute_second_fraction", "y-M-d'T'H:m:s.SSS"),
    ("date_hour_minute_second_millis", "y-M-d'T'H:m:s.SSS"),
    ("date_time", "y-M-d'T'H:m[:s.SSS]XXX"),
    ("date_time_no_millis", "y-M-d'T'H:m[:s][XXX]"),
    ("hour", "H"),
    ("hour_minute", "H:m"),
    ("hour_minute_second", "H:m:s"),
    ("hour_minute_second_fraction", "H:m:s.SSS"),
    ("hour_minute_second_millis", "H:m:s.SSS"),
    ("ordinal_date", "y-D"),
    ("ordinal_date_time", "y-D'T'H:m:s.SSSXXX"),
    ("ordinal_date_time_no_millis", "y-D'T'H:m:sXXX"),
    ("strict_basic_week_date", "YYYY'W'wwe"),
    ("strict_basic_week_date_time", "YYYY'W'wwe'T'HHmmss.SSSX"),
    ("strict_basic_week_date_time_no_millis", "YYYY'W'wwe'T'HHmmssX"),
    ("strict_date", "yyyy-MM-dd"),
    ("strict_date_hour", "yyyy-MM-dd'T'HH"),
    ("strict_date_hour_minute", "yyyy-MM-dd'T'HH:mm"),
    ("strict_date_hour_minute_second", "yyyy-MM-dd'T'HH:mm:ss"),
    ("strict_date_hour_minute_second_fraction", "yyyy-MM-dd'T'HH:mm:ss.SSS"),
    ("strict_date_hour_minute_second_millis", "yyyy-MM-dd'T'HH:mm:ss.SSS"),
    ("strict_date_time", "yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX"),
    ("strict_date_time_no_millis", "yyyy-MM-dd'T'HH:mm:ssXXX"),
    ("strict_hour", "HH"),
    ("strict_hour_minute", "HH:mm"),
    ("strict_hour_minute_second", "HH:mm:ss"),
    ("strict_hour_minute_second_fraction", "HH:mm:ss.SSS"),
    ("strict_hour_minute_second_millis", "HH:mm:ss.SSS"),
    ("strict_ordinal_date", "yyyy-DDD"),
    ("strict_ordinal_date_time", "yyyy-DDD'T'HH:mm:ss.SSSXXX"),
    ("strict_ordinal_date_time_no_millis", "yyyy-DDD'T'HH:mm:ssXXX"),
    ("strict_t_time", "'T'HH:mm:ss.SSSXXX"),
    ("strict_t_time_no_millis", "'T'HH:mm:ssXXX"),
    ("strict_time", "HH:mm:ss.SSSXXX"),
    ("strict_time_no_millis", "HH:mm:ssXXX"),
    ("strict_week_date", "YYYY-'W'ww-e"),
    ("strict_week_date_time", "YYYY-'W'ww-e'T'HH:mm:ss.SSSXXX"),
    ("strict_week_date_time_no_millis", "YYYY-'W'ww-e'T'HH:mm:ssXXX"),
    ("strict_weekyear", "YYYY"),
    ("strict_weekyear_week", "YYYY-'W'ww"),
    ("strict_weekyear_week_day", "YYYY-'W'ww-e"),
    ("strict_year", "yyyy"),
    ("strict_year_month", "yyyy-MM"),
    ("strict_year_month_day", "yyyy-MM-dd"),
    ("t_time", "'T'H:m:s.SSSXXX"),
    ("t_time_no_millis", "'T'H:m:sXXX"),
    ("time", "H:m:s.SSSXXX"),
    ("time_no_millis", "H:m:sXXX"),
    ("week_date", "Y-'W'w-e"),
    ("week_date_time", "Y-'W'w-e'T'H:m:s.SSSXXX"),
    ("week_date_time_no_millis", "Y-'W'w-e'T'H:m:sXXX"),
    ("week_year", "Y"),
    ("weekyear", "Y"),
    ("weekyear_week", "Y-'W'w"),
    ("weekyear_week_day", "Y-'W'w-e"),
    ("year", "y"),
    ("year_month", "y-M"),
    ("year_month_day", "y-M-d"),
];

/// The pattern behind a format's name.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let found = NAMED.iter().find(|(known, _)| *known == name);
    found.map(|(_, pattern)| *pattern)
}

/// The name of the format by which another one writes: what reads fewer digits than there might be writes all of them.
pub(super) fn written(name: &str) -> String {
    let strict = format!("strict_{name}");
    match named(&strict) {
        Some(_) => strict,
        None => name.to_string(),
    }
}

impl Pattern {
    /// Understands the pattern of a format that has a name; its parts of a second have as many digits as there are.
    pub(super) fn parse_named(pattern: &str) -> Result<Pattern, String> {
        let Pattern(mut items) = Pattern::parse(pattern)?;
        set_fractions(&mut items);
        Ok(Pattern(items))
    }

    /// Understands a pattern; the error is a reason.
    pub(super) fn parse(pattern: &str) -> Result<Pattern, String> {
        if pattern.is_empty() {
            return Err("No date pattern provided".to_string());
        }
        let characters: Vec<char> = pattern.chars().collect();
        // Each open bracket holds the items before it.
        let mut open: Vec<Vec<PatternItem>> = Vec::new();
        let mut items = Vec::new();
        let mut at = 0;
        while let Some(&character) = characters.get(at) {
            let same = characters[at..]
                .iter()
                .take_while(|c| **c == character)
                .count();
            match character {
                '\'' => {
                    let (text, length) = quoted(&characters[at..])?;
                    push_literal(&mut items, &text);
                    at += length;
                    continue;
                }
                '[' if open.len() >= NESTING_MAX => {
                    return Err("Too many optional sections inside each other".to_string());
                }
                '[' => {
                    open.push(std::mem::take(&mut items));
                    at += 1;
                    continue;
                }
                ']' => {
                    let before = open
                        .pop()
                        .ok_or("Pattern invalid as it contains ] without previous [")?;
                    let inside = std::mem::replace(&mut items, before);
                    items.push(PatternItem::Optional(inside));
                    at += 1;
                    continue;
                }
                letter if letter.is_ascii_alphabetic() => {
                    if !"yuYMLQqdDwecHhKkmsSaEZXxzVn".contains(letter) || same > 9 {
                        return Err(format!("Unknown pattern letter: {letter}"));
                    }
                    let width = same;
                    if matches!(letter, 'Q' | 'q') && width > 3 {
                        return Err(format!("Too many pattern letters: {letter}"));
                    }
                    if letter == 'c' && width == 2 {
                        return Err("Invalid pattern \"cc\"".to_string());
                    }
                    items.push(PatternItem::Part { letter, width });
                }
                '{' | '}' | '#' => {
                    return Err(format!(
                        "Pattern includes reserved character: '{character}'"
                    ));
                }
                other => push_literal(&mut items, &other.to_string().repeat(same)),
            }
            at += same;
        }
        // As in Java, an open bracket may stay open.
        while let Some(before) = open.pop() {
            let inside = std::mem::replace(&mut items, before);
            items.push(PatternItem::Optional(inside));
        }
        Ok(Pattern(items))
    }

    /// Reads what the pattern describes; `None` when the text differs.
    pub(super) fn read(&self, reader: &mut DateReader<'_>, fields: &mut Fields) -> Option<()> {
        read_items(&self.0, reader, fields)
    }

    /// Writes the time as clocks of the zone show it.
    pub(super) fn format(&self, at: Instant, zone: &TimeZone) -> String {
        let moment = Moment::new(at, zone);
        let mut out = String::new();
        write_items(&self.0, &moment, &mut out);
        out
    }
}

fn set_fractions(items: &mut [PatternItem]) {
    for item in items {
        match item {
            PatternItem::Part { letter: 'S', .. } => *item = PatternItem::Fraction,
            PatternItem::Optional(inside) => set_fractions(inside),
            PatternItem::Literal(_) | PatternItem::Part { .. } | PatternItem::Fraction => {}
        }
    }
}

/// The text between quotes (a quote alone for two of them) and how many characters it took.
fn quoted(from: &[char]) -> Result<(String, usize), String> {
    let mut text = String::new();
    let mut at = 1;
    loop {
        match (from.get(at), from.get(at + 1)) {
            (Some('\''), Some('\'')) if at > 1 => {
                text.push('\'');
                at += 2;
            }
            (Some('\''), _) if at == 1 => return Ok(("'".to_string(), 2)),
            (Some('\''), _) => return Ok((text, at + 1)),
            (Some(c), _) => {
                text.push(*c);
                at += 1;
            }
            (None, _) => return Err("Pattern ends with an incomplete string literal".to_string()),
        }
    }
}

fn push_literal(items: &mut Vec<PatternItem>, text: &str) {
    match items.last_mut() {
        Some(PatternItem::Literal(before)) => before.push_str(text),
        _ => items.push(PatternItem::Literal(text.to_string())),
    }
}

fn read_items(
    items: &[PatternItem],
    reader: &mut DateReader<'_>,
    fields: &mut Fields,
) -> Option<()> {
    (0..items.len()).try_for_each(|index| read_item(items.get(index..)?, reader, fields))
}

/// Reads the first of some items.
pub(super) fn read_item(
    items: &[PatternItem],
    reader: &mut DateReader<'_>,
    fields: &mut Fields,
) -> Option<()> {
    match items.first()? {
        PatternItem::Literal(text) => {
            if !reader.take_text(text) {
                return None;
            }
        }
        PatternItem::Optional(inside) => {
            let before = reader.clone();
            if read_items(inside, reader, fields).is_none() {
                *reader = before;
            }
        }
        PatternItem::Fraction => fields.nanos = Some(reader.fraction(1, 9)?),
        PatternItem::Part { letter, width } => {
            // A number right before another one must not swallow its digits.
            let fixed = is_before_number(items);
            read_part(*letter, *width, fixed, reader, fields)?;
        }
    }
    Some(())
}

/// Whether the first of some items stands right before a number.
pub(super) fn is_before_number(items: &[PatternItem]) -> bool {
    matches!(
        items.get(1),
        Some(PatternItem::Part { letter, .. }) if "yuYMdDweHhmsS".contains(*letter)
    )
}

fn read_part(
    letter: char,
    width: usize,
    fixed: bool,
    reader: &mut DateReader<'_>,
    fields: &mut Fields,
) -> Option<()> {
    // One letter stands for as many digits as there are, more for exactly that many.
    let max = if width == 1 && !fixed { 3 } else { width };
    let mut number = || reader.number(width, max);
    match letter {
        'y' | 'u' if width == 2 => fields.year = Some(2000 + number()?),
        'y' | 'u' if fixed => fields.year = Some(number()?),
        'y' | 'u' => fields.year = Some(reader.year(width)?),
        'Y' if width == 2 => fields.week_year = Some(2000 + number()?),
        'Y' if fixed => fields.week_year = Some(number()?),
        'Y' => fields.week_year = Some(reader.year(width)?),
        'w' => fields.week = Some(number()?),
        'e' | 'c' if width < 3 => fields.week_day = Some(number()?),
        // The month says it, too; alone it names no day.
        'Q' | 'q' if width == 3 => {
            reader.take_text("Q").then_some(())?;
            is_quarter(reader.number(1, 1)?)?;
        }
        'Q' | 'q' => is_quarter(number()?)?,
        'M' | 'L' if width >= 3 => fields.month = Some(read_name(MONTH_NAMES, width, reader)?),
        'M' | 'L' => fields.month = Some(number()?),
        'd' => fields.day = Some(number()?),
        'D' => fields.day_of_year = Some(number()?),
        'H' => fields.hour = Some(number()?),
        'k' => fields.hour = Some(number()? % 24),
        'h' => fields.half_hour = Some(number()?),
        'K' => fields.half_hour = Some(number()?).map(|hour| if hour == 0 { 12 } else { hour }),
        'm' => fields.minute = Some(number()?),
        's' => fields.second = Some(number()?),
        'S' => fields.nanos = Some(reader.fraction(width, width)?),
        'n' => fields.nanos = Some(reader.number(1, 9)?),
        'a' => fields.afternoon = Some(read_half(reader)?),
        'E' | 'e' | 'c' => {
            read_name(DAY_NAMES, width.max(3), reader)?;
        }
        'z' | 'V' => fields.zone = Some(read_zone(reader)?),
        _ => fields.zone = Some(reader.offset()?),
    }
    Some(())
}

fn is_quarter(number: i64) -> Option<()> {
    (1..=4).contains(&number).then_some(())
}

/// The number, from 1, of a name, in full or its first three letters.
fn read_name(names: &[&str], width: usize, reader: &mut DateReader<'_>) -> Option<i64> {
    let found = names.iter().position(|name| {
        let written = if width >= 4 { name } else { &name[..3] };
        reader.take_text(written)
    })?;
    i64::try_from(found + 1).ok()
}

fn read_half(reader: &mut DateReader<'_>) -> Option<bool> {
    if reader.take_text("AM") {
        Some(false)
    } else if reader.take_text("PM") {
        Some(true)
    } else {
        None
    }
}

fn read_zone(reader: &mut DateReader<'_>) -> Option<TimeZone> {
    if matches!(reader.peek(), Some(b'+' | b'-')) {
        return reader.offset();
    }
    let name = reader.take_while(|b| b.is_ascii_alphanumeric() || b"/_-+".contains(&b));
    match std::str::from_utf8(name).ok()? {
        "Z" | "UTC" | "GMT" | "UT" => Some(TimeZone::UTC),
        name => TimeZone::get(name).ok(),
    }
}

/// A time taken apart for writing.
struct Moment<'z> {
    /// The name of the zone, where it is one of a region.
    region: Option<&'z str>,
    year: i64,
    month: i64,
    day: i64,
    days: i64,
    time: i64,
    sub_nanos: i64,
    offset_ms: i64,
}

impl<'z> Moment<'z> {
    fn new(at: Instant, zone: &'z TimeZone) -> Self {
        let millis = at.millis;
        let local = to_local(millis, zone);
        let days = local.div_euclid(DAY_MS);
        let (year, month, day) = civil_from_days(days);
        Moment {
            region: zone.iana_name().filter(|name| name.contains('/')),
            year,
            month,
            day,
            days,
            time: local.rem_euclid(DAY_MS),
            sub_nanos: at.sub_nanos,
            offset_ms: offset_ms(millis, zone),
        }
    }

    fn hour(&self) -> i64 {
        self.time / 3_600_000
    }

    fn number(&self, letter: char) -> i64 {
        match letter {
            'M' | 'L' => self.month,
            'd' => self.day,
            'D' => self.days - days_from_civil(self.year, 1, 1) + 1,
            'Q' | 'q' => (self.month + 2) / 3,
            'Y' => week_from_days(self.days).0,
            'w' => week_from_days(self.days).1,
            'e' | 'c' => week_from_days(self.days).2,
            'H' => self.hour(),
            'k' => (self.hour() + 23) % 24 + 1,
            'h' => (self.hour() + 11) % 12 + 1,
            'K' => self.hour() % 12,
            'm' => self.time / 60_000 % 60,
            's' => self.time / 1000 % 60,
            'n' => self.time % 1000 * 1_000_000 + self.sub_nanos,
            _ => self.year,
        }
    }
}

fn write_items(items: &[PatternItem], moment: &Moment<'_>, out: &mut String) {
    for item in items {
        match item {
            PatternItem::Literal(text) => out.push_str(text),
            PatternItem::Optional(inside) => write_items(inside, moment, out),
            PatternItem::Fraction => out.push_str(&write_part('S', 3, moment)),
            PatternItem::Part { letter, width } => {
                out.push_str(&write_part(*letter, *width, moment))
            }
        }
    }
}

fn write_part(letter: char, width: usize, moment: &Moment<'_>) -> String {
    let name = |names: &[&str], index: i64| {
        let full = usize::try_from(index).map_or("", |index| names[index]);
        let written = if width >= 4 { full } else { &full[..3] };
        written.to_string()
    };
    match letter {
        'y' | 'u' | 'Y' if width == 2 => format!("{:02}", moment.number(letter).rem_euclid(100)),
        'M' | 'L' if width >= 3 => name(MONTH_NAMES, moment.month - 1),
        'Q' | 'q' if width == 3 => format!("Q{}", moment.number(letter)),
        'e' | 'c' if width < 3 => format!("{:0width$}", moment.number(letter)),
        'E' | 'e' | 'c' => name(DAY_NAMES, (moment.days + 3).rem_euclid(7)),
        'a' => if moment.hour() < 12 { "AM" } else { "PM" }.to_string(),
        'S' => {
            let nanos = format!("{:03}{:06}", moment.time % 1000, moment.sub_nanos);
            nanos[..width.min(9)].to_string()
        }
        'V' if let Some(region) = moment.region => region.to_string(),
        'z' | 'V' | 'X' if moment.offset_ms == 0 => "Z".to_string(),
        'X' | 'x' if width == 1 && moment.offset_ms % 3_600_000 == 0 => {
            write_offset(moment.offset_ms, false)[..3].to_string()
        }
        'Z' | 'X' | 'x' => {
            let colon = if letter == 'Z' {
                width >= 5
            } else {
                width == 3 || width == 5
            };
            write_offset(moment.offset_ms, colon)
        }
        'z' | 'V' => write_offset(moment.offset_ms, true),
        'y' | 'u' | 'Y' if width >= 4 => write_year(moment.number(letter), width),
        _ => format!("{:0width$}", moment.number(letter)),
    }
}

/// A year in as many digits as letters stand for it; one of more has a sign, so that it is read again as one.
fn write_year(year: i64, width: usize) -> String {
    let digits = format!("{:0width$}", year.unsigned_abs());
    let sign = match year {
        ..0 => "-",
        0.. if digits.len() > width => "+",
        0.. => "",
    };
    format!("{sign}{digits}")
}

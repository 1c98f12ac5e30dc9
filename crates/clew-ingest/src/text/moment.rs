//! Dates and times by a format, compiled: Java's patterns (`yyyy-MM-dd HH:mm:ss,SSS`) and those of `strptime`
//! (`%d/%b/%Y:%H:%M:%S %z`). Of both what logs have; what is missing is not a format here, and left to others.

use super::civil::{Civil, Times, month_days};
use super::months::{Months, word};
use super::zones::{from_greenwich, zone};

/// A format.
#[derive(Debug)]
pub(crate) struct Moment(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// So many digits at least and at most.
    Number(Unit, usize, usize),
    /// A fraction of a second: as many digits as there are, nine at most.
    Fraction,
    MonthName,
    /// A month by its name in another language; a point may be behind it.
    MonthIn(&'static Months, Point),
    /// Any letters: the day of the week says nothing new.
    DayName,
    /// The same in another language, where a point may be behind it.
    DayIn(Point),
    /// `AM`, `pm`.
    Half,
    /// `Z`, `+01`, `+0100`, `+01:00`, `UTC`, `PST`.
    Zone,
    /// `GMT`, `GMT+8`, `UTC-03:30`.
    FromGreenwich,
    /// `AD`: years before that are none.
    Era,
    /// Milliseconds since midnight.
    OfDay,
    /// Seconds since the epoch.
    Epoch,
    /// One or more spaces.
    Spaces,
}

/// Whether the point behind a name belongs to the name: not where the format has one there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    OfName,
    OfFormat,
}

impl Point {
    /// What is behind a name and its point.
    fn behind(self, rest: &str) -> &str {
        match self {
            Point::OfName => rest.strip_prefix('.').unwrap_or(rest),
            Point::OfFormat => rest,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Year,
    YearOfCentury,
    Month,
    Day,
    DayOfYear,
    Hour,
    HourOfHalf,
    Minute,
    Second,
}

/// What was read so far.
#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    afternoon: Option<bool>,
    minute: i64,
    second: i64,
    millisecond: i64,
    offset_ms: Option<i64>,
    epoch_seconds: Option<i64>,
}

impl Moment {
    /// Compiles a format; nothing if it has what is not known here.
    pub(crate) fn compile(format: &str) -> Option<Moment> {
        Moment::compile_in(format, None)
    }

    /// The same for dates with names of months, and of days, of another language than English.
    pub(crate) fn compile_in(format: &str, months: Option<&'static Months>) -> Option<Moment> {
        let mut parts = if format.contains('%') {
            strptime(format)?
        } else {
            java(format)?
        };
        if let Some(months) = months {
            name_in(months, &mut parts);
        }
        // A format without a day or a time of day is too little to tell an instant by.
        let has = |unit| {
            parts
                .iter()
                .any(|part| matches!(part, Part::Number(known, ..) if *known == unit))
        };
        let is_name = |part: &Part| matches!(part, Part::MonthName | Part::MonthIn(..));
        let has_month = has(Unit::Month) || parts.iter().any(is_name);
        let has_year = has(Unit::Year) || has(Unit::YearOfCentury);
        let has_day = (has(Unit::Day) && has_month) || (has(Unit::DayOfYear) && has_year);
        let tells = has_day || parts.contains(&Part::Epoch);
        tells.then_some(Moment(parts))
    }

    /// Whether names of months or days are in it.
    pub(crate) fn has_names(&self) -> bool {
        self.0.iter().any(|part| {
            matches!(
                part,
                Part::MonthName | Part::MonthIn(..) | Part::DayName | Part::DayIn(_)
            )
        })
    }

    /// Milliseconds since the epoch of a text that is all of a date. A missing year is guessed, and a missing zone is the
    /// one of `times`.
    pub(crate) fn read(&self, text: &str, times: &mut Times) -> Option<i64> {
        let mut parts = Parts::default();
        let mut rest = text;
        for part in &self.0 {
            rest = part.read(rest, &mut parts)?;
        }
        rest.is_empty().then_some(())?;
        parts.instant(times)
    }
}

impl Parts {
    fn instant(&self, times: &mut Times) -> Option<i64> {
        if let Some(seconds) = self.epoch_seconds {
            return seconds.checked_mul(1_000)?.checked_add(self.millisecond);
        }
        let hour = match self.afternoon {
            None => self.hour,
            Some(_) if !(1..=12).contains(&self.hour) => return None,
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
        };
        let year = i16::try_from(self.year.unwrap_or(1972)).ok()?;
        let (month, day) = match self.day_of_year {
            Some(number) => month_and_day(year, number)?,
            None => (
                u8::try_from(self.month?).ok()?,
                u8::try_from(self.day?).ok()?,
            ),
        };
        let civil = Civil {
            year,
            month,
            day,
            hour: u8::try_from(hour).ok()?,
            minute: u8::try_from(self.minute).ok()?,
            second: u8::try_from(self.second).ok()?,
            millisecond: u16::try_from(self.millisecond).ok()?,
        }
        .checked()?;
        let civil = match self.year {
            Some(_) => civil,
            None => times.guess_year(civil)?,
        };
        Some(match self.offset_ms {
            Some(offset) => civil.as_utc_ms() - offset,
            None => times.local_ms(civil),
        })
    }
}

impl Part {
    /// Reads what a text begins with; returns what is behind it.
    fn read<'a>(&self, text: &'a str, parts: &mut Parts) -> Option<&'a str> {
        match self {
            Part::Text(literal) => text.strip_prefix(literal.as_str()),
            Part::Spaces => {
                let rest = text.trim_start_matches(' ');
                (rest.len() < text.len()).then_some(rest)
            }
            Part::Number(unit, least, most) => {
                // A day or an hour may have a space for its first digit.
                let spaced =
                    matches!(unit, Unit::Day | Unit::Hour | Unit::HourOfHalf) && *least == 1;
                let text = text.strip_prefix(' ').filter(|_| spaced).unwrap_or(text);
                let digits = digits(text, *most);
                (digits >= *least).then_some(())?;
                let number = text[..digits].parse().ok()?;
                unit.set(number, parts);
                Some(&text[digits..])
            }
            Part::Fraction => {
                let count = digits(text, 9);
                (count > 0).then_some(())?;
                let first = &text[..count.min(3)];
                let scale = [100, 10, 1][first.len() - 1];
                parts.millisecond = first.parse::<i64>().ok()? * scale;
                Some(&text[count..])
            }
            Part::MonthName => {
                let (month, length) = month_name(text)?;
                parts.month = Some(month);
                Some(&text[length..])
            }
            Part::DayName => day_name(text),
            Part::MonthIn(months, point) => {
                let (month, rest) = months.read(text)?;
                parts.month = Some(month);
                Some(point.behind(rest))
            }
            Part::DayIn(point) => day_name(text).map(|rest| point.behind(rest)),
            Part::Half => {
                let (is_afternoon, rest) = half(text)?;
                parts.afternoon = Some(is_afternoon);
                Some(rest)
            }
            Part::Zone => {
                let (offset, length) = zone(text)?;
                parts.offset_ms = Some(offset);
                Some(&text[length..])
            }
            Part::FromGreenwich => {
                let (offset, rest) = from_greenwich(text)?;
                parts.offset_ms = Some(offset);
                Some(rest)
            }
            Part::Era => era(text),
            Part::OfDay => of_day(text, parts),
            Part::Epoch => {
                let digits = digits(text, 12);
                parts.epoch_seconds = Some(text[..digits].parse().ok()?);
                Some(&text[digits..])
            }
        }
    }
}

impl Unit {
    fn set(self, number: i64, parts: &mut Parts) {
        match self {
            Unit::Year => parts.year = Some(number),
            Unit::YearOfCentury => {
                parts.year = Some(number + if number < 69 { 2000 } else { 1900 });
            }
            Unit::Month => parts.month = Some(number),
            Unit::Day => parts.day = Some(number),
            Unit::DayOfYear => parts.day_of_year = Some(number),
            Unit::Hour | Unit::HourOfHalf => parts.hour = number,
            Unit::Minute => parts.minute = number,
            Unit::Second => parts.second = number,
        }
    }
}

/// The month and its day of a day of a year, which is counted from 1.
fn month_and_day(year: i16, mut number: i64) -> Option<(u8, u8)> {
    for month in 1..=12 {
        let days = i64::from(month_days(year, month));
        if number <= days {
            return Some((month, u8::try_from(number).ok()?));
        }
        number -= days;
    }
    None
}

fn digits(text: &str, most: usize) -> usize {
    text.bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count()
}

fn month_name(text: &str) -> Option<(i64, usize)> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = &text[..letters];
    (1..).zip(MONTHS).find_map(|(number, name)| {
        let is_it = word.eq_ignore_ascii_case(name)
            || word.eq_ignore_ascii_case(&name[..3])
            || (number == 9 && word.eq_ignore_ascii_case("sept"));
        is_it.then_some((number, letters))
    })
}

/// What is behind the name of a day, in any language.
fn day_name(text: &str) -> Option<&str> {
    let (name, rest) = word(text);
    let is_name = name.chars().count() >= 2;
    is_name.then(|| rest.strip_prefix("-feira").unwrap_or(rest))
}

/// Whether a text begins with `pm` and not with `am`, and what is behind it.
fn half(text: &str) -> Option<(bool, &str)> {
    let (half, rest) = text.split_at_checked(2)?;
    match () {
        () if half.eq_ignore_ascii_case("am") => Some((false, rest)),
        () if half.eq_ignore_ascii_case("pm") => Some((true, rest)),
        () => None,
    }
}

/// What is behind the era of today.
fn era(text: &str) -> Option<&str> {
    let known = ["AD", "CE", "ad"];
    known.iter().find_map(|era| text.strip_prefix(era))
}

/// Reads milliseconds since midnight.
fn of_day<'a>(text: &'a str, parts: &mut Parts) -> Option<&'a str> {
    let digits = digits(text, 8);
    let ms: i64 = text[..digits].parse().ok()?;
    (parts.hour, parts.minute) = (ms / 3_600_000, ms / 60_000 % 60);
    (parts.second, parts.millisecond) = (ms / 1_000 % 60, ms % 1_000);
    Some(&text[digits..])
}

/// Has names be read in a language.
fn name_in(months: &'static Months, parts: &mut [Part]) {
    for at in 0..parts.len() {
        let point = match parts.get(at + 1) {
            Some(Part::Text(text)) if text.starts_with('.') => Point::OfFormat,
            _ => Point::OfName,
        };
        let part = &mut parts[at];
        match part {
            Part::MonthName => *part = Part::MonthIn(months, point),
            Part::DayName => *part = Part::DayIn(point),
            _ => {}
        }
    }
}

fn push_letter(parts: &mut Vec<Part>, letter: char) {
    match parts.last_mut() {
        Some(Part::Text(text)) => text.push(letter),
        _ => parts.push(Part::Text(letter.to_string())),
    }
}

fn strptime(format: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter == ' ' {
            parts.push(Part::Spaces);
            continue;
        }
        if letter != '%' {
            push_letter(&mut parts, letter);
            continue;
        }
        let mut kind = letters.next()?;
        // Padding, a colon in the zone and digits of a fraction are read either way.
        while matches!(kind, '-' | '_' | '0' | ':' | '.' | '3' | '6' | '9') {
            if kind == '.' {
                push_letter(&mut parts, '.');
            }
            kind = letters.next()?;
        }
        match kind {
            'Y' => parts.push(Part::Number(Unit::Year, 4, 4)),
            'y' => parts.push(Part::Number(Unit::YearOfCentury, 2, 2)),
            'm' => parts.push(Part::Number(Unit::Month, 1, 2)),
            'd' | 'e' => parts.push(Part::Number(Unit::Day, 1, 2)),
            'j' => parts.push(Part::Number(Unit::DayOfYear, 1, 3)),
            'H' | 'k' => parts.push(Part::Number(Unit::Hour, 1, 2)),
            'I' | 'l' => parts.push(Part::Number(Unit::HourOfHalf, 1, 2)),
            'M' => parts.push(Part::Number(Unit::Minute, 1, 2)),
            'S' => parts.push(Part::Number(Unit::Second, 1, 2)),
            'f' | 'L' | 'N' => parts.push(Part::Fraction),
            'b' | 'B' | 'h' => parts.push(Part::MonthName),
            'a' | 'A' => parts.push(Part::DayName),
            'p' | 'P' => parts.push(Part::Half),
            'z' | 'Z' => parts.push(Part::Zone),
            's' => parts.push(Part::Epoch),
            'n' | 't' => parts.push(Part::Spaces),
            'r' => parts.extend(strptime("%I:%M:%S %p")?),
            'T' => parts.extend(strptime("%H:%M:%S")?),
            'R' => parts.extend(strptime("%H:%M")?),
            'F' => parts.extend(strptime("%Y-%m-%d")?),
            'D' => parts.extend(strptime("%m/%d/%y")?),
            '%' => push_letter(&mut parts, '%'),
            _ => return None,
        }
    }
    Some(parts)
}

fn java(format: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\'' {
            match letters.next_if_eq(&'\'') {
                Some(_) => push_letter(&mut parts, '\''),
                None => loop {
                    match letters.next()? {
                        '\'' if letters.next_if_eq(&'\'').is_none() => break,
                        quoted => push_letter(&mut parts, quoted),
                    }
                },
            }
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            // Sections that may be missing are not for here.
            if matches!(letter, '[' | ']' | '{' | '}' | '|' | '#') {
                return None;
            }
            push_letter(&mut parts, letter);
            continue;
        }
        let mut count = 1;
        while letters.next_if_eq(&letter).is_some() {
            count += 1;
        }
        let least = if count == 1 { 1 } else { 2 };
        parts.push(match (letter, count) {
            ('y' | 'u', 2) => Part::Number(Unit::YearOfCentury, 2, 2),
            ('y' | 'u', 1 | 4) => Part::Number(Unit::Year, 4, 4),
            ('M' | 'L', 1 | 2) => Part::Number(Unit::Month, least, 2),
            ('M' | 'L', 3 | 4) => Part::MonthName,
            ('d', 1 | 2) => Part::Number(Unit::Day, least, 2),
            ('H', 1 | 2) => Part::Number(Unit::Hour, least, 2),
            ('h', 1 | 2) => Part::Number(Unit::HourOfHalf, least, 2),
            ('m', 1 | 2) => Part::Number(Unit::Minute, least, 2),
            ('s', 1 | 2) => Part::Number(Unit::Second, least, 2),
            ('S', 1..=9) => Part::Fraction,
            ('E', 1..=4) => Part::DayName,
            ('a', 1) => Part::Half,
            ('O', 1 | 4) => Part::FromGreenwich,
            ('G', 1..=3) => Part::Era,
            ('A', 1..=8) => Part::OfDay,
            ('Z' | 'X' | 'x' | 'z', 1..=3) => Part::Zone,
            _ => return None,
        });
    }
    Some(parts)
}

#[cfg(test)]
mod tests;

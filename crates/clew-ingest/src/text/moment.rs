//! Dates and times by a format, compiled: Java's patterns (`yyyy-MM-dd HH:mm:ss,SSS`) and those of `strptime`
//! (`%d/%b/%Y:%H:%M:%S %z`). Of both what logs have; what is missing is not a format here, and left to others.

use super::civil::{Civil, Times, month_days};

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
    /// Any letters: the day of the week says nothing new.
    DayName,
    /// `AM`, `pm`.
    Half,
    /// `Z`, `+01`, `+0100`, `+01:00`, `UTC`, `PST`.
    Zone,
    /// Seconds since the epoch.
    Epoch,
    /// One or more spaces.
    Spaces,
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
        let parts = if format.contains('%') {
            strptime(format)?
        } else {
            java(format)?
        };
        // A format without a day or a time of day is too little to tell an instant by.
        let has = |unit| {
            parts
                .iter()
                .any(|part| matches!(part, Part::Number(known, ..) if *known == unit))
        };
        let has_month = has(Unit::Month) || parts.contains(&Part::MonthName);
        let has_year = has(Unit::Year) || has(Unit::YearOfCentury);
        let has_day = (has(Unit::Day) && has_month) || (has(Unit::DayOfYear) && has_year);
        let tells = has_day || parts.contains(&Part::Epoch);
        tells.then_some(Moment(parts))
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
            Part::DayName => {
                let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
                (letters >= 2).then(|| &text[letters..])
            }
            Part::Half => {
                let half = text.get(..2)?;
                parts.afternoon = Some(match () {
                    () if half.eq_ignore_ascii_case("am") => false,
                    () if half.eq_ignore_ascii_case("pm") => true,
                    () => return None,
                });
                Some(&text[2..])
            }
            Part::Zone => {
                let (offset, length) = zone(text)?;
                parts.offset_ms = Some(offset);
                Some(&text[length..])
            }
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

/// Zones by name, and their hours from UTC: those of RFC 5322, and others that mean one thing only.
const ZONES: [(&str, i64); 20] = [
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("z", 0),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
    ("WET", 0),
    ("WEST", 1),
    ("CET", 1),
    ("CEST", 2),
    ("EET", 2),
    ("EEST", 3),
    ("MSK", 3),
    ("JST", 9),
];

/// The distance of a zone from UTC in milliseconds, by a name of few letters: `UTC`, `CET`, `PST`.
pub fn named_zone_ms(name: &str) -> Option<i64> {
    let (_, hours) = ZONES.iter().find(|(known, _)| *known == name)?;
    Some(hours * 3_600_000)
}

/// The distance from UTC that a text begins with, in milliseconds, and its length.
fn zone(text: &str) -> Option<(i64, usize)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    if letters > 0 {
        return Some((named_zone_ms(&text[..letters])?, letters));
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let two = |at: usize| {
        let part = text.get(at..at + 2)?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| part.parse::<i64>().ok())?
    };
    let hours = two(1)?;
    let colon = usize::from(text.as_bytes().get(3) == Some(&b':'));
    let (minutes, length) = match two(3 + colon) {
        Some(minutes) => (minutes, 5 + colon),
        None => (0, 3),
    };
    (hours < 24 && minutes < 60).then_some((sign * (hours * 60 + minutes) * 60_000, length))
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
            ('Z' | 'X' | 'x' | 'z', 1..=3) => Part::Zone,
            _ => return None,
        });
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    #[track_caller]
    fn check(format: &str, text: &str, expected: Option<&str>) {
        let mut times = Times::new(TimeZone::get("Europe/Berlin").unwrap());
        times.newest_ms = 1_767_400_000_000; // 2026-01-03
        let moment = Moment::compile(format).expect(format);
        let shown = moment.read(text, &mut times).map(|ms| {
            let mut out = Vec::new();
            Civil::from_utc_ms(ms).push_iso(&mut out);
            String::from_utf8(out).unwrap()
        });
        assert_eq!(shown.as_deref(), expected, "{format}: {text}");
    }

    #[test]
    fn formats_read_what_they_say_and_nothing_else() {
        check(
            "yyyy-MM-dd HH:mm:ss,SSS",
            "2026-07-02 03:04:05,678",
            Some("2026-07-02T01:04:05.678Z"),
        );
        check(
            "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
            "2026-07-02T03:04:05.6-03:30",
            Some("2026-07-02T06:34:05.600Z"),
        );
        check(
            "dd/MMM/yyyy:HH:mm:ss Z",
            "02/Jan/2026:03:04:05 +0100",
            Some("2026-01-02T02:04:05.000Z"),
        );
        check(
            "MMM d HH:mm:ss",
            "Dec 31 23:04:05",
            Some("2025-12-31T22:04:05.000Z"),
        );
        check(
            "MMM d HH:mm:ss",
            "Jan  1 23:04:05",
            Some("2026-01-01T22:04:05.000Z"),
        );
        check(
            "d/M/yy h:mm a",
            "3/4/26 12:30 PM",
            Some("2026-04-03T10:30:00.000Z"),
        );
        check(
            "%d/%b/%Y:%H:%M:%S %z",
            "02/Jan/2026:03:04:05 -0700",
            Some("2026-01-02T10:04:05.000Z"),
        );
        check(
            "%Y-%m-%dT%T.%fZ",
            "2026-01-02T03:04:05.123456Z",
            Some("2026-01-02T02:04:05.123Z"),
        );
        check(
            "%a %b %e %T %Y",
            "Fri Jan  2 03:04:05 2026",
            Some("2026-01-02T02:04:05.000Z"),
        );
        check("%s", "1767323045", Some("2026-01-02T03:04:05.000Z"));
        check("%s.%L", "1767323045.25", Some("2026-01-02T03:04:05.250Z"));
        check("%s", "-", None);
        check(
            "%D %r %Z",
            "01/02/26 03:04:05 PM PST",
            Some("2026-01-02T23:04:05.000Z"),
        );
        check(
            "EEE, dd MMM yyyy HH:mm:ss zzz",
            "Thu, 02 Jul 2026 03:04:05 CEST",
            Some("2026-07-02T01:04:05.000Z"),
        );
        check("yyyy-MM-dd z", "2026-02-03 ABC", None);
        check("yyyy-MM-dd", "2026-02-30", None);
        check("yyyy-MM-dd", "2026-02-03x", None);
        check("yyyy-MM-dd HH:mm", "2026-02-03 24:00", None);
        check("yyyy-MM-dd", "é", None);
    }

    #[test]
    fn days_may_be_counted_in_their_year() {
        check(
            "%Y%j %H:%M",
            "2024060 03:04",
            Some("2024-02-29T02:04:00.000Z"),
        );
        check("%j/%y", "365/26", Some("2026-12-30T23:00:00.000Z"));
        check("%Y-%j", "2026-366", None);
        check("%Y-%j", "2026-0", None);
    }

    #[test]
    fn formats_with_more_are_left_to_others() {
        for format in [
            "",
            "HH:mm",
            "yyyy[-MM]",
            "e",
            "%j",
            "%",
            "'open",
            "ww",
            "strict_date",
        ] {
            assert!(Moment::compile(format).is_none(), "{format}");
        }
    }
}

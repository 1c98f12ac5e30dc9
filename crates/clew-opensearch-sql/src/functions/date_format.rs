//! Dates and times by patterns in the letters of MySQL: `%Y-%m-%d %H:%i:%s`.

use jiff::civil::{Date, DateTime, Time};

use crate::functions::calendar::week;

/// The name of a day of the week.
pub(crate) fn day_name(date: Date) -> String {
    date.strftime("%A").to_string()
}

/// The name of a month.
pub(crate) fn month_name(date: Date) -> String {
    date.strftime("%B").to_string()
}

/// A moment by a pattern; letters that mean nothing are as they are.
pub(crate) fn format(moment: DateTime, pattern: &str) -> String {
    let mut text = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some(letter) => text.push_str(&part(moment, letter)),
            None => text.push('%'),
        }
    }
    text
}

fn part(moment: DateTime, letter: char) -> String {
    let (date, time) = (moment.date(), moment.time());
    let hour12 = (time.hour() + 11) % 12 + 1;
    let half = if time.hour() < 12 { "AM" } else { "PM" };
    let of_week = |mode: i64| week(date, mode).map_or(0, |(_, week)| week);
    let of_year = |mode: i64| week(date, mode).map_or(0, |(year, _)| year);
    match letter {
        'a' => date.strftime("%a").to_string(),
        'b' => date.strftime("%b").to_string(),
        'c' => format!("{:02}", date.month()),
        'D' => format!("{}{}", date.day(), ordinal(date.day())),
        'd' => format!("{:02}", date.day()),
        'e' => date.day().to_string(),
        'f' => format!("{:06}", time.subsec_nanosecond() / 1000),
        'H' => format!("{:02}", time.hour()),
        'h' | 'I' => format!("{hour12:02}"),
        'i' => format!("{:02}", time.minute()),
        'j' => format!("{:03}", date.day_of_year()),
        'k' => time.hour().to_string(),
        'l' => hour12.to_string(),
        'M' => month_name(date),
        'm' => format!("{:02}", date.month()),
        'p' => half.to_string(),
        'r' => format!(
            "{hour12:02}:{:02}:{:02} {half}",
            time.minute(),
            time.second()
        ),
        'S' | 's' => format!("{:02}", time.second()),
        'T' => format!(
            "{:02}:{:02}:{:02}",
            time.hour(),
            time.minute(),
            time.second()
        ),
        'U' => format!("{:02}", of_week(0)),
        'u' => format!("{:02}", of_week(1)),
        'V' => format!("{:02}", of_week(2)),
        'v' => format!("{:02}", of_week(3)),
        'W' => day_name(date),
        'w' => date.weekday().to_sunday_zero_offset().to_string(),
        'X' => format!("{:04}", of_year(2)),
        'x' => format!("{:04}", of_year(3)),
        'Y' => format!("{:04}", date.year()),
        'y' => format!("{:02}", date.year().rem_euclid(100)),
        other => other.to_string(),
    }
}

fn ordinal(day: i8) -> &'static str {
    match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    }
}

/// What of a moment has been read.
struct Read {
    year: i16,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    second: i8,
    micros: i32,
    afternoon: Option<bool>,
}

/// The moment that a text tells by a pattern, if it fits.
pub(crate) fn parse(text: &str, pattern: &str) -> Option<DateTime> {
    let mut read = Read {
        year: 2000,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        micros: 0,
        afternoon: None,
    };
    let mut rest = text;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter == '%' {
            rest = read.take(letters.next()?, rest)?;
        } else if letter.is_whitespace() {
            rest = rest.trim_start();
        } else {
            rest = rest.strip_prefix(letter)?;
        }
    }
    if !rest.trim().is_empty() {
        return None;
    }
    let hour = match read.afternoon {
        Some(afternoon) => read.hour % 12 + if afternoon { 12 } else { 0 },
        None => read.hour,
    };
    let date = Date::new(read.year, read.month, read.day).ok()?;
    let time = Time::new(hour, read.minute, read.second, read.micros * 1000).ok()?;
    Some(date.to_datetime(time))
}

impl Read {
    /// Reads one part; what comes behind it.
    fn take<'t>(&mut self, letter: char, text: &'t str) -> Option<&'t str> {
        match letter {
            'Y' => {
                let (number, rest) = digits(text, 4)?;
                self.year = i16::try_from(number).ok()?;
                Some(rest)
            }
            'y' => {
                let (number, rest) = digits(text, 2)?;
                let century = if number < 70 { 2000 } else { 1900 };
                self.year = i16::try_from(century + number).ok()?;
                Some(rest)
            }
            'm' | 'c' => small(&mut self.month, text),
            'd' | 'e' => small(&mut self.day, text),
            'H' | 'k' | 'h' | 'I' | 'l' => small(&mut self.hour, text),
            'i' => small(&mut self.minute, text),
            's' | 'S' => small(&mut self.second, text),
            'f' => {
                let (number, rest) = digits(text, 6)?;
                let missing = 6 - (text.len() - rest.len());
                let scale = 10_i32.checked_pow(u32::try_from(missing).ok()?)?;
                self.micros = i32::try_from(number).ok()?.checked_mul(scale)?;
                Some(rest)
            }
            'p' => {
                let half = text.get(..2)?.to_ascii_lowercase();
                self.afternoon = Some(half == "pm");
                (half == "am" || half == "pm").then(|| text.get(2..))?
            }
            'b' | 'M' => {
                let (month, rest) = month(letter, text)?;
                self.month = month;
                Some(rest)
            }
            'T' => {
                let rest = small(&mut self.hour, text)?.strip_prefix(':')?;
                let rest = small(&mut self.minute, rest)?.strip_prefix(':')?;
                small(&mut self.second, rest)
            }
            '%' => text.strip_prefix('%'),
            _ => None,
        }
    }
}

/// So many digits at most, and at least one.
fn digits(text: &str, most: usize) -> Option<(i64, &str)> {
    let count = text
        .bytes()
        .take(most)
        .take_while(u8::is_ascii_digit)
        .count();
    let (number, rest) = text.split_at_checked(count)?;
    Some((number.parse().ok()?, rest))
}

fn small<'t>(part: &mut i8, text: &'t str) -> Option<&'t str> {
    let (number, rest) = digits(text, 2)?;
    *part = i8::try_from(number).ok()?;
    Some(rest)
}

/// The month that a text begins with.
fn month(letter: char, text: &str) -> Option<(i8, &str)> {
    let shown = if letter == 'b' { "%b" } else { "%B" };
    (1_i8..=12).find_map(|number| {
        let name = Date::new(2000, number, 1).ok()?.strftime(shown).to_string();
        let (begin, rest) = text.split_at_checked(name.len())?;
        begin.eq_ignore_ascii_case(&name).then_some((number, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_read_by_patterns() {
        let moment: DateTime = "1998-01-31 13:14:15.012345".parse().unwrap();
        for (pattern, expected) in [
            ("%T.%f", "13:14:15.012345"),
            ("%Y-%b-%D %r", "1998-Jan-31st 01:14:15 PM"),
            ("%W %M %e %y %j %w", "Saturday January 31 98 031 6"),
            ("%k %l %c %% %q", "13 1 01 % q"),
            ("100%", "100%"),
        ] {
            assert_eq!(format(moment, pattern), expected);
        }
        for (text, pattern, expected) in [
            ("01,5,2013", "%d,%m,%Y", Some("2013-05-01 00:00:00")),
            ("May 1, 2013", "%M %d, %Y", Some("2013-05-01 00:00:00")),
            ("10:11 pm", "%h:%i %p", Some("2000-01-01 22:11:00")),
            ("1.5", "%s.%f", Some("2000-01-01 00:00:01.5")),
            ("2013-13-01", "%Y-%m-%d", None),
            ("2013-12-01x", "%Y-%m-%d", None),
            ("", "%Y", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(parse(text, pattern), expected, "{text}");
        }
    }
}

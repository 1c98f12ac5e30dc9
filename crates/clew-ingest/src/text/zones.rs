//! How far zones are from UTC, by what dates have behind them.

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
pub(super) fn zone(text: &str) -> Option<(i64, usize)> {
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

/// The distance from UTC that a text says with `GMT` in front, in milliseconds, and what is behind it.
pub(super) fn from_greenwich(text: &str) -> Option<(i64, &str)> {
    let rest = text
        .strip_prefix("GMT")
        .or_else(|| text.strip_prefix("UTC"))?;
    let sign = match rest.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some((0, rest)),
    };
    let rest = &rest[1..];
    let digits = |text: &str| text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let hours = digits(rest);
    let (hour, rest) = (rest[..hours].parse::<i64>().ok()?, &rest[hours..]);
    let (minute, rest) = match rest.strip_prefix(':') {
        Some(rest) if digits(rest) == 2 => (rest[..2].parse::<i64>().ok()?, &rest[2..]),
        _ => (0, rest),
    };
    (hour <= 18 && minute < 60).then_some((sign * (hour * 60 + minute) * 60_000, rest))
}

//! What the formats of a date's mapping say of its values: days, times of day, or moments.

use super::SqlType;

/// Letters of a pattern that stand for a part of the day.
const TIME_LETTERS: &[char] = &['n', 'N', 'A', 'S', 's', 'm', 'H', 'k', 'K', 'h', 'a'];

/// Letters that stand for a part of the date.
const DATE_LETTERS: &[char] = &[
    'F', 'e', 'c', 'E', 'W', 'w', 'Y', 'q', 'Q', 'g', 'd', 'M', 'L', 'D', 'y', 'u', 'G',
];

/// What values of one format have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Day,
    Clock,
    Both,
    /// A named one that is neither, as `year` is no whole date.
    Neither,
}

/// The type of dates that are written in some formats, with `||` between them: a moment, unless all of them
/// are of days alone, or all of times of day alone.
pub(crate) fn date_kind(formats: &str) -> SqlType {
    let formats = formats.strip_prefix('8').unwrap_or(formats);
    let parts = formats.split("||").map(|format| part(format.trim()));
    let (mut days, mut clocks) = (false, false);
    for part in parts {
        match part {
            Part::Day => days = true,
            Part::Clock => clocks = true,
            Part::Both => return SqlType::Timestamp,
            Part::Neither => {}
        }
    }
    match (days, clocks) {
        (true, false) => SqlType::Date,
        (false, true) => SqlType::Time,
        _ => SqlType::Timestamp,
    }
}

fn part(format: &str) -> Part {
    let name = format.strip_prefix("strict_").unwrap_or(format);
    let name = name.strip_prefix("basic_").unwrap_or(name);
    match name {
        "date" | "ordinal_date" | "year_month_day" | "week_date" | "weekyear_week_day" => Part::Day,
        "time"
        | "time_no_millis"
        | "t_time"
        | "t_time_no_millis"
        | "hour_minute_second"
        | "hour_minute_second_fraction"
        | "hour_minute_second_millis"
        | "hour_minute"
        | "hour" => Part::Clock,
        "year" | "year_month" | "weekyear" | "weekyear_week" | "week_year" => Part::Neither,
        // All other names tell of moments; patterns have large letters or other signs, too.
        name if name.contains('_') && name.chars().all(is_of_name) => Part::Both,
        "iso8601" => Part::Both,
        pattern => of_pattern(pattern),
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter == '_'
}

fn of_pattern(pattern: &str) -> Part {
    match (
        pattern.contains(DATE_LETTERS),
        pattern.contains(TIME_LETTERS),
    ) {
        (true, false) => Part::Day,
        (false, true) => Part::Clock,
        (true, true) => Part::Both,
        (false, false) => Part::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_days_from_times_and_moments() {
        for (formats, kind) in [
            ("yyyy-MM-dd", SqlType::Date),
            ("year_month_day", SqlType::Date),
            ("basic_date || strict_date||dd.MM.uuuu", SqlType::Date),
            ("HH:mm:ss", SqlType::Time),
            ("hour_minute_second||t_time", SqlType::Time),
            ("yyyy-MM-dd HH:mm:ss", SqlType::Timestamp),
            ("yyyy-MM-dd||epoch_millis", SqlType::Timestamp),
            ("yyyy-MM-dd||HH:mm", SqlType::Timestamp),
            (
                "strict_date_optional_time||epoch_second",
                SqlType::Timestamp,
            ),
            ("yyyy/MM/dd_HH", SqlType::Timestamp),
            ("yyyy_MM_dd", SqlType::Date),
            ("epoch_second", SqlType::Timestamp),
            ("iso8601", SqlType::Timestamp),
            ("year", SqlType::Timestamp),
        ] {
            assert_eq!(date_kind(formats), kind, "{formats}");
        }
    }
}

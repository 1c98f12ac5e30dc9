//! The two things queries need of the indexing side: tokens of a text and the time a date means.

use jiff::{Timestamp, civil, tz::TimeZone};
use unicode_segmentation::UnicodeSegmentation;

/// A token and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) position: usize,
}

/// Which end of the span a rounded date means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    Down,
    Up,
}

/// The tokens an analyzer makes of a text; `None` when there is no such analyzer.
pub(crate) fn analyze(analyzer: &str, text: &str) -> Option<Vec<Token>> {
    let words: Vec<String> = match analyzer {
        "keyword" => vec![text.to_string()],
        "whitespace" => text.split_whitespace().map(str::to_string).collect(),
        _ => text.unicode_words().map(str::to_lowercase).collect(),
    };
    Some(
        words
            .into_iter()
            .enumerate()
            .map(|(position, text)| Token { text, position })
            .collect(),
    )
}

/// A date as it is written, and what is needed to read it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DateText<'a> {
    pub(crate) text: &'a str,
    pub(crate) format: &'a str,
    pub(crate) time_zone: Option<&'a str>,
    pub(crate) now_ms: i64,
    pub(crate) rounding: Rounding,
}

/// Milliseconds since the epoch.
pub(crate) fn parse_date(date: &DateText<'_>) -> Result<i64, String> {
    let text = date.text;
    let wrong = || {
        format!(
            "failed to parse date field [{text}] with format [{}]",
            date.format
        )
    };
    if text == "now" {
        return Ok(date.now_ms);
    }
    if let Ok(number) = text.parse::<i64>()
        && text.len() > 4
    {
        return Ok(number);
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp.as_millisecond());
    }
    let zone = date
        .time_zone
        .map_or(Ok(TimeZone::UTC), TimeZone::get)
        .map_err(|_| wrong())?;
    let at = |time: civil::DateTime| {
        time.to_zoned(zone.clone())
            .map(|zoned| zoned.timestamp().as_millisecond())
            .map_err(|_| wrong())
    };
    if let Ok(day) = text.parse::<civil::Date>()
        && !text.contains('T')
    {
        let start = at(day.at(0, 0, 0, 0))?;
        return Ok(match date.rounding {
            Rounding::Down => start,
            Rounding::Up => start + 86_400_000 - 1,
        });
    }
    at(text.parse::<civil::DateTime>().map_err(|_| wrong())?)
}

//! Slow logs: their settings, of indexes and of the cluster, and what every line has. The lines themselves are written
//! by those who know what was done.

use clew_engine::{SlowLevel, SlowLimits, SlowLog, SlowRequests};

use crate::http::error::ApiError;
use crate::http::setting_values::parse_time;

/// A family of settings, of which each level has one.
type Limits = (&'static str, fn(&mut SlowLog) -> &mut SlowLimits);

const LIMITS: [Limits; 3] = [
    ("index.search.slowlog.threshold.query.", |slow| {
        &mut slow.query
    }),
    ("index.search.slowlog.threshold.fetch.", |slow| {
        &mut slow.fetch
    }),
    ("index.indexing.slowlog.threshold.index.", |slow| {
        &mut slow.write
    }),
];
const SEARCH_LEVEL: &str = "index.search.slowlog.level";
const WRITE_LEVEL: &str = "index.indexing.slowlog.level";
const SOURCE: &str = "index.indexing.slowlog.source";
const REFORMAT: &str = "index.indexing.slowlog.reformat";
const REQUEST_LIMIT: &str = "cluster.search.request.slowlog.threshold.";
const REQUEST_LEVEL: &str = "cluster.search.request.slowlog.level";
const MILVUS_LIMIT: &str = "cluster.milvus.request.slowlog.threshold.";
const MILVUS_LEVEL: &str = "cluster.milvus.request.slowlog.level";

/// Most characters of a document's source in a line, whatever a setting asks for.
const SOURCE_CHARS_MAX: usize = 65_536;

/// Gives what an index tells as slow another value, or the usual one; false when the setting is about something else.
pub(crate) fn set(slow: &mut SlowLog, name: &str, text: Option<&str>) -> Result<bool, ApiError> {
    let usual = SlowLog::default();
    match name {
        SEARCH_LEVEL => slow.search_level = text.map_or(Ok(usual.search_level), level)?,
        WRITE_LEVEL => slow.write_level = text.map_or(Ok(usual.write_level), level)?,
        SOURCE => slow.source_chars = text.map_or(Ok(usual.source_chars), source_chars)?,
        REFORMAT => {
            slow.source_on_one_line = text.map_or(Ok(usual.source_on_one_line), boolean)?;
        }
        _ => {
            let family = LIMITS.iter().find(|(prefix, _)| name.starts_with(prefix));
            let Some((prefix, limits)) = family else {
                return Ok(false);
            };
            let level = level_of(prefix, name)?;
            limits(slow).set(level, text.map_or(Ok(None), |text| parse_time(name, text))?);
        }
    }
    Ok(true)
}

/// The settings and their values in an index where nobody gave them.
pub(crate) fn usual() -> impl Iterator<Item = (String, String)> {
    let limits = LIMITS.iter().flat_map(|(prefix, _)| limits_off(prefix));
    let others = [
        (SEARCH_LEVEL, "TRACE"),
        (WRITE_LEVEL, "TRACE"),
        (SOURCE, "1000"),
        (REFORMAT, "true"),
    ];
    let others = others.map(|(name, value)| (name.to_string(), value.to_string()));
    limits.chain(others)
}

fn limits_off(prefix: &'static str) -> impl Iterator<Item = (String, String)> {
    let names = SlowLevel::ALL.map(name_of);
    names
        .map(|level| (format!("{prefix}{level}"), "-1".to_string()))
        .into_iter()
}

/// From which times on whole searches are told as slow, by the cluster's settings; `given` looks them up.
///
/// # Errors
/// Values that they cannot have.
pub(crate) fn searches(given: &dyn Fn(&str) -> Option<String>) -> Result<SlowRequests, ApiError> {
    requests((REQUEST_LIMIT, REQUEST_LEVEL), given)
}

/// From which times on calls of Milvus' API are told as slow.
///
/// # Errors
/// As [`searches`].
pub(crate) fn milvus_calls(
    given: &dyn Fn(&str) -> Option<String>,
) -> Result<SlowRequests, ApiError> {
    requests((MILVUS_LIMIT, MILVUS_LEVEL), given)
}

fn requests(
    (limit, least): (&str, &str),
    given: &dyn Fn(&str) -> Option<String>,
) -> Result<SlowRequests, ApiError> {
    let mut all = SlowRequests::default();
    for one in SlowLevel::ALL {
        let name = format!("{limit}{}", name_of(one));
        if let Some(text) = given(&name) {
            all.limits.set(one, parse_time(&name, &text)?);
        }
    }
    if let Some(text) = given(least) {
        all.least = level(&text)?;
    }
    Ok(all)
}

fn name_of(level: SlowLevel) -> &'static str {
    match level {
        SlowLevel::Warn => "warn",
        SlowLevel::Info => "info",
        SlowLevel::Debug => "debug",
        SlowLevel::Trace => "trace",
    }
}

fn level(text: &str) -> Result<SlowLevel, ApiError> {
    let lower = text.to_lowercase();
    let found = SlowLevel::ALL
        .into_iter()
        .find(|level| name_of(*level) == lower);
    found.ok_or_else(|| {
        let upper = text.to_uppercase();
        ApiError::illegal_argument(format!(
            "No enum constant org.opensearch.common.logging.SlowLogLevel.{upper}"
        ))
    })
}

/// The level whose limit a setting is: a typing error must not pass for a limit.
fn level_of(prefix: &str, name: &str) -> Result<SlowLevel, ApiError> {
    let mut levels = SlowLevel::ALL.into_iter();
    let found = levels.find(|level| name.strip_prefix(prefix) == Some(name_of(*level)));
    found.ok_or_else(|| {
        let known = SlowLevel::ALL.map(|level| format!("{prefix}{}", name_of(level)));
        ApiError::illegal_argument(format!(
            "unknown setting [{name}] did you mean any of [{}]?",
            known.join(", ")
        ))
    })
}

/// A number of characters; `true` is as many as a line can have, `false` none.
fn source_chars(text: &str) -> Result<usize, ApiError> {
    if let Ok(asked) = text.parse::<i32>() {
        let asked = usize::try_from(asked).unwrap_or(0);
        return Ok(asked.min(SOURCE_CHARS_MAX));
    }
    Ok(if boolean(text)? { SOURCE_CHARS_MAX } else { 0 })
}

fn boolean(text: &str) -> Result<bool, ApiError> {
    text.parse().map_err(|_| {
        ApiError::illegal_argument(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn settings_are_read_by_their_names_and_refused_in_opensearchs_words() {
        let mut slow = SlowLog::default();
        let query = "index.search.slowlog.threshold.query.warn";
        for (name, text, refused) in [
            (query, "10s", None),
            ("index.search.slowlog.threshold.fetch.debug", "0ms", None),
            (
                "index.indexing.slowlog.threshold.index.trace",
                "500micros",
                None,
            ),
            ("index.search.slowlog.level", "Info", None),
            ("index.indexing.slowlog.source", "true", None),
            ("index.indexing.slowlog.reformat", "false", None),
            (
                query,
                "1x",
                Some("with value [1x] as a time value: unit is missing or unrecognized"),
            ),
            (
                query,
                "-5s",
                Some("as a time value: negative durations are not supported"),
            ),
            (query, "-2", Some("unit is missing or unrecognized")),
            (
                query,
                "1.5s",
                Some("failed to parse [1.5s], fractional time values are not supported"),
            ),
            (
                "index.search.slowlog.threshold.query.all",
                "1s",
                Some("unknown setting [index."),
            ),
            (
                "index.indexing.slowlog.level",
                "loud",
                Some("logging.SlowLogLevel.LOUD"),
            ),
            (
                "index.indexing.slowlog.source",
                "maybe",
                Some("Failed to parse value [maybe] as only"),
            ),
        ] {
            match (set(&mut slow, name, Some(text)), refused) {
                (Ok(known), None) => assert!(known, "{name}"),
                (Err(error), Some(words)) => {
                    assert!(error.reason().contains(words), "{}", error.reason());
                }
                (other, _) => panic!("{name} {text}: {other:?}"),
            }
        }
        assert_eq!(
            slow.query.get(SlowLevel::Warn),
            Some(Duration::from_secs(10))
        );
        assert_eq!(slow.fetch.get(SlowLevel::Debug), Some(Duration::ZERO));
        assert_eq!(
            slow.write.get(SlowLevel::Trace),
            Some(Duration::from_micros(500))
        );
        assert_eq!(slow.search_level, SlowLevel::Info);
        assert_eq!(slow.source_chars, SOURCE_CHARS_MAX);
        assert!(!slow.source_on_one_line);
        for (name, value) in usual() {
            assert!(set(&mut slow, &name, Some(&value)).unwrap());
        }
        assert_eq!(slow, SlowLog::default());
        assert!(!set(&mut slow, "index.refresh_interval", Some("1s")).unwrap());
    }
}

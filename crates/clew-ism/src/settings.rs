//! Settings of index state management: of the cluster, and of an index.

use std::time::Duration;

use clew_engine::Index;
use clew_opensearch::wing::ApiError;

const PREFIXES: [&str; 2] = [
    "plugins.index_state_management.",
    "opendistro.index_state_management.",
];
const JOB_INTERVAL_MIN_DEFAULT: u64 = 5;
/// 41 days: longer than anybody waits.
const JOB_INTERVAL_MIN_MAX: u64 = 60_000;

/// How the job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JobSettings {
    pub(super) enabled: bool,
    pub(super) interval: Duration,
}

impl JobSettings {
    /// Reads them where cluster settings are found by name.
    pub(super) fn read(find: impl Fn(&str) -> Option<String>) -> Result<Self, ApiError> {
        let given = |name: &str| {
            let names = PREFIXES.iter().map(|prefix| format!("{prefix}{name}"));
            let mut found = names.filter_map(|name| Some((find(&name)?, name)));
            found.next()
        };
        let minutes = match given("job_interval") {
            None => JOB_INTERVAL_MIN_DEFAULT,
            Some((text, name)) => match text.parse::<u64>() {
                Ok(minutes @ 1..=JOB_INTERVAL_MIN_MAX) => minutes,
                Ok(0) => return Err(refused(&text, &name, " must be >= 1")),
                Ok(_) => {
                    let limit = format!(" must be <= {JOB_INTERVAL_MIN_MAX}");
                    return Err(refused(&text, &name, &limit));
                }
                Err(_) => return Err(refused(&text, &name, "")),
            },
        };
        let enabled = match given("enabled") {
            None => true,
            Some((text, name)) => text.parse().map_err(|_| {
                let why = " as only [true] or [false] are allowed.";
                refused(&text, &name, why)
            })?,
        };
        Ok(JobSettings {
            enabled,
            interval: Duration::from_secs(minutes * 60),
        })
    }
}

fn refused(text: &str, name: &str, why: &str) -> ApiError {
    ApiError::illegal_argument(format!(
        "Failed to parse value [{text}] for setting [{name}]{why}"
    ))
}

/// Refuses values of cluster settings that the job could not run by.
pub(crate) fn check(find: &dyn Fn(&str) -> Option<String>) -> Result<(), ApiError> {
    JobSettings::read(find).map(|_| ())
}

/// A setting of an index, under the new name or the old one.
pub(super) fn of_index(index: &Index, name: &str) -> Option<String> {
    let settings = index.settings();
    let names = PREFIXES
        .iter()
        .map(|prefix| format!("index.{prefix}{name}"));
    let mut given = names.filter_map(|name| settings.given.get(&name).cloned());
    given.next().filter(|text| !text.is_empty())
}

/// The name under which a setting of an index is set.
pub(super) fn index_setting(name: &str) -> String {
    format!("index.{}{name}", PREFIXES[0])
}

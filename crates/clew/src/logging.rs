//! The server's own messages: structured, on standard error.

use std::io::IsTerminal;

use anyhow::{Context, bail};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::config::{LogFormat, LoggingConfig};

/// What the targets of slow logs begin with.
const SLOW_LOGS: &str = "slowlog";

/// What is shown of messages. A word alone is a level: of a target that nobody has, such as `warning`, nothing would be shown.
fn filter_of(level: &str) -> anyhow::Result<EnvFilter> {
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric());
    let words = level.split(',').map(str::trim).filter(is_plain);
    for word in words.filter(|word| !word.is_empty() && *word != SLOW_LOGS) {
        if word.parse::<LevelFilter>().is_err() {
            bail!(
                "[logging.level] is [{level}]: [{word}] is none of error, warn, info, debug, trace and off"
            );
        }
    }
    EnvFilter::try_new(level).with_context(|| format!("[logging.level] is [{level}]"))
}

/// Starts logging for the whole process.
///
/// # Errors
/// A level that is none, or a second start.
pub(crate) fn start(config: &LoggingConfig) -> anyhow::Result<()> {
    let mut filter = filter_of(&config.level)?;
    // Whoever sets a limit for what is slow wants to see it, at whichever level, unless the filter says otherwise.
    if !config.level.contains(SLOW_LOGS) {
        filter = filter.add_directive(format!("{SLOW_LOGS}=trace").parse()?);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // What cannot be written, as nobody reads it or the disk is full, would be told there again, and that is a panic.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_level_is_refused_and_not_taken_for_a_target() {
        for right in [
            "info",
            "WARN",
            "off",
            "",
            "info,clew_engine=debug",
            "warn,slowlog",
            "clew_engine",
        ] {
            assert!(filter_of(right).is_ok(), "{right}");
        }
        for wrong in ["loud", "warning", "info,verbose", "clew_engine=loud"] {
            let refused = format!("{:#}", filter_of(wrong).unwrap_err());
            assert!(
                refused.contains(&format!("[logging.level] is [{wrong}]")),
                "{refused}"
            );
        }
    }
}

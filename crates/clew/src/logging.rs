//! The server's own messages: structured, on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, LoggingConfig};

/// What the targets of slow logs begin with.
const SLOW_LOGS: &str = "slowlog";

/// Starts logging for the whole process.
pub(crate) fn start(config: &LoggingConfig) -> anyhow::Result<()> {
    let mut filter = EnvFilter::try_new(&config.level)?;
    // Whoever sets a limit for what is slow wants to see it, at whichever level, unless the filter says otherwise.
    if !config.level.contains(SLOW_LOGS) {
        filter = filter.add_directive(format!("{SLOW_LOGS}=trace").parse()?);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match config.format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!(error))
}

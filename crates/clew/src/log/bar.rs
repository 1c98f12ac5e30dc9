//! Progress on a terminal's standard error.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over a number of bytes, or a counter when the number is not known.
pub(crate) fn of_bytes(total: Option<u64>) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {msg}",
        ),
        None => (
            ProgressBar::no_length(),
            "{spinner} {bytes} {bytes_per_sec} {msg}",
        ),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is valid"))
}

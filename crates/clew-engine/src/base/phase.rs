//! When something was done, as it is told to those who ask where the time went.

use std::time::Duration;

/// A part of what was done for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// When it began, since the epoch.
    pub began: Duration,
    /// How long it took.
    pub took: Duration,
}

//! What is measured of a running collector, beside its counters: how far each file is behind, and where time goes.

use std::path::PathBuf;
use std::time::Duration;

use clew_ingest::FailureCount;

use crate::counters::Counters;
use crate::sink::BufferFigures;

/// A run as it is at one moment.
#[derive(Clone, Debug, Default)]
pub struct RunFigures {
    /// The counters.
    pub counters: Counters,
    /// The files that are followed; at most [`crate::REPORT_FILES_MAX`].
    pub files: Vec<FileLag>,
    /// What processors could not do, by step and reason.
    pub failures: Vec<FailureCount>,
    /// Buffers of outputs.
    pub buffers: Vec<BufferFigures>,
    /// Where time went.
    pub times: StageTimes,
}

/// How far a file is behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLag {
    /// Where it was last seen.
    pub path: PathBuf,
    /// Bytes that are not delivered yet, as far as it was looked at; nothing for a compressed file.
    pub lag_bytes: Option<u64>,
    /// How long ago what is delivered last grew, if there is more.
    pub lag: Duration,
}

/// Time that the collecting thread spent since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageTimes {
    /// Looking for files.
    pub look: Duration,
    /// Reading, parsing and processing.
    pub read: Duration,
    /// Waiting for outputs.
    pub deliver: Duration,
    /// Writing the registry.
    pub registry: Duration,
}

impl StageTimes {
    /// Each stage with its name.
    pub fn named(&self) -> [(&'static str, Duration); 4] {
        [
            ("look", self.look),
            ("read", self.read),
            ("deliver", self.deliver),
            ("registry", self.registry),
        ]
    }
}

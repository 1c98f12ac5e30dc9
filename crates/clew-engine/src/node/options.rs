//! How an engine is set up, and what of it the disk decides.

use std::path::PathBuf;
use std::time::Duration;

use clew_log::LogOptions;
use clew_platform::{DiskSpace, MemoryLimits, memory_bytes};
use clew_query::QueryReader;
use clew_schema::MappingReader;

use crate::base::disk::DiskLimits;
use crate::base::settings::SettingsReader;

/// What is shared out where the system does not say how much memory there is.
const MEMORY_BYTES_UNKNOWN: u64 = 4 << 30;

/// Buffers take megabytes each, and become segments that have to be merged.
const SHARD_WRITERS_MAX: usize = 8;

/// A log file takes at most this part of the disk: space comes back by whole files.
const LOG_FILE_SHARE: u64 = 64;
const LOG_FILE_BYTES_MIN: u64 = 1 << 20;
/// A log of its largest size has so many files at least: whole ones are given up.
const LOG_FILES_MIN: u64 = 4;
/// And all that the log has beyond what the indexes need at most this.
const LOG_SHARE: u64 = 16;

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The data folder; one process at a time owns it.
    pub data: PathBuf,
    /// Threads that searches run on.
    pub search_threads: usize,
    /// Searches that may wait for a thread; more are refused.
    pub search_queue_max: usize,
    /// Size of a shard's buffer at which it is sealed into a segment.
    pub write_buffer_bytes: usize,
    /// Requests that write to one shard at once: each fills a segment of its own, so that one shard takes in as much as many do.
    pub shard_writers: usize,
    /// Whether a write creates a missing index.
    pub auto_create_index: bool,
    /// Size of the log at which the shards that hold it back are flushed.
    pub log_bytes_max: u64,
    /// So much of the log's newest files is kept for readers of changes, needed or not.
    pub changes_retention_bytes: u64,
    /// Memory whose shares the limits are, and by which caches are sized.
    pub memory_bytes: u64,
    /// Memory that requests and upkeep may take.
    pub memory: MemoryLimits,
    /// Threads that build the graph of a merge of the upkeep.
    pub merge_threads: usize,
    /// The same of a merge that somebody has asked for, and waits for.
    pub asked_merge_threads: usize,
    /// A graph in the making is saved this often, so that a restart goes on with it.
    pub merge_save_every: Duration,
    /// What a failing disk keeps from being mended is tried again after this long.
    pub retry_every: Duration,
    /// How full the disk of the data folder may get.
    pub disk: DiskLimits,
    /// Reads the queries that documents store; without it no document can store any.
    pub query_reader: Option<QueryReader>,
    /// Reads settings that catalogs of older formats keep; without it indexes that have such do not open.
    pub settings_reader: Option<SettingsReader>,
    /// Reads what of mappings is kept in the words of a protocol: format 1 of the catalog, and what dynamic templates
    /// make. Without it neither can be had.
    pub mapping_reader: Option<MappingReader>,
    /// How the log is laid out.
    pub log: LogOptions,
}

impl EngineOptions {
    /// The defaults over a data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let memory_bytes = memory_bytes().unwrap_or(MEMORY_BYTES_UNKNOWN);
        EngineOptions {
            data: data.into(),
            search_threads: cores,
            search_queue_max: 1000,
            write_buffer_bytes: 64 << 20,
            shard_writers: (cores / 2).clamp(1, SHARD_WRITERS_MAX),
            auto_create_index: true,
            log_bytes_max: 1 << 30,
            changes_retention_bytes: 0,
            memory_bytes,
            memory: MemoryLimits::shares_of(memory_bytes),
            merge_threads: (cores / 2).max(1),
            asked_merge_threads: cores,
            merge_save_every: Duration::from_secs(60),
            retry_every: Duration::from_secs(1),
            disk: DiskLimits::default(),
            query_reader: None,
            settings_reader: None,
            mapping_reader: None,
            log: LogOptions::default(),
        }
    }

    /// The same for a small disk: a log that is a fraction of it, in files that give space back before it is full, or before the
    /// log has grown far beyond what it may have.
    pub(crate) fn fitted_to(mut self, space: DiskSpace) -> Self {
        if space.total == 0 {
            return self;
        }
        let file = (space.total / LOG_FILE_SHARE).min(self.log_bytes_max / LOG_FILES_MIN);
        let file = file.max(LOG_FILE_BYTES_MIN);
        self.log.file_bytes_max = self.log.file_bytes_max.min(file);
        let log = (space.total / LOG_SHARE).max(2 * LOG_FILE_BYTES_MIN);
        self.log_bytes_max = self.log_bytes_max.min(log);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_fits_a_small_disk_and_is_left_alone_on_a_large_one() {
        let fitted = |total| {
            let space = DiskSpace {
                total,
                ..DiskSpace::default()
            };
            let options = EngineOptions::new("/data").fitted_to(space);
            (options.log.file_bytes_max, options.log_bytes_max)
        };
        let defaults = fitted(0);
        assert_eq!(fitted(64 << 20), (1 << 20, 4 << 20));
        assert_eq!(fitted(1 << 30), (16 << 20, 64 << 20));
        assert_eq!(fitted(1 << 40), defaults);
        assert_eq!(fitted(1000), (1 << 20, 2 << 20));
    }

    #[test]
    fn a_log_that_may_have_little_has_small_files() {
        let file_bytes = |log_bytes_max| {
            let options = EngineOptions {
                log_bytes_max,
                ..EngineOptions::new("/data")
            };
            let space = DiskSpace {
                total: 1 << 40,
                ..DiskSpace::default()
            };
            options.fitted_to(space).log.file_bytes_max
        };
        assert_eq!(
            file_bytes(1 << 30),
            EngineOptions::new("/data").log.file_bytes_max
        );
        assert_eq!(file_bytes(40 << 20), 10 << 20);
        assert_eq!(file_bytes(400_000), 1 << 20);
    }
}

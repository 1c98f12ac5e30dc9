//! What the configuration says of the engine.

use std::time::Duration;

use anyhow::Context;
use clew_engine::{DiskLimits, EngineOptions};
use clew_log::LogOptions;
use clew_platform::MemoryLimits;

use crate::config::{Config, DiskConfig};

/// The shares of some memory, as far as the configuration does not say otherwise. What the process may really have is
/// the machine's affair.
fn memory_limits(config: &Config, memory_bytes: u64, real: usize) -> MemoryLimits {
    let mut limits = MemoryLimits {
        real,
        ..MemoryLimits::shares_of(memory_bytes)
    };
    if config.vectors.build_memory_bytes > 0 {
        limits.merges = config.vectors.build_memory_bytes;
    }
    limits
}

/// What the engine is opened with.
///
/// # Errors
/// Marks of the disk that cannot be.
pub(crate) fn engine_options(config: &Config) -> anyhow::Result<EngineOptions> {
    let defaults = EngineOptions::new(&config.data);
    let (engine, vectors) = (&config.engine, &config.vectors);
    let memory_bytes = match config.memory.limit_bytes {
        0 => defaults.memory_bytes,
        bytes => bytes,
    };
    Ok(EngineOptions {
        search_threads: match engine.search_threads {
            0 => defaults.search_threads,
            threads => threads,
        },
        search_queue_max: engine.search_queue_max,
        write_buffer_bytes: engine.write_buffer_bytes,
        shard_writers: match engine.shard_writers {
            0 => defaults.shard_writers,
            writers => writers,
        },
        auto_create_index: engine.auto_create_index,
        log_bytes_max: engine.log_bytes_max,
        changes_retention_bytes: engine.changes_retention_bytes,
        memory_bytes,
        memory: memory_limits(config, memory_bytes, defaults.memory.real),
        merge_threads: match vectors.build_threads {
            0 => defaults.merge_threads,
            threads => threads,
        },
        merge_save_every: match vectors.save_interval_s {
            0 => defaults.merge_save_every,
            seconds => Duration::from_secs(seconds),
        },
        disk: disk_limits(&config.disk)?,
        query_reader: Some(clew_opensearch::dsl::query_reader()),
        settings_reader: Some(clew_opensearch::read_untyped_settings),
        mapping_reader: Some(clew_opensearch::mapping_reader()),
        log: LogOptions {
            retention_bytes: config.log.retention_bytes,
            retention_age_ms: config.log.retention_age_s.saturating_mul(1000),
            ..defaults.log
        },
        ..defaults
    })
}

/// The marks of the disk, by the names that they have as settings of the cluster, too.
fn disk_limits(config: &DiskConfig) -> anyhow::Result<DiskLimits> {
    let given = |name: &str| config.given(name);
    let limits = clew_opensearch::read_disk_limits(given, &DiskLimits::default());
    limits
        .map_err(anyhow::Error::msg)
        .context("in the section [disk]")
}

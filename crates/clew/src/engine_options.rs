//! What the configuration says of the engine.

use std::time::Duration;

use anyhow::anyhow;
use clew_engine::{DiskLimits, EngineOptions};
use clew_log::LogOptions;
use clew_opensearch::{DISK_LOOK_INTERVAL, DISK_WATERMARKS};
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
        asked_merge_threads: match vectors.build_threads {
            0 => defaults.asked_merge_threads,
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

/// The keys of the marks of the disk, and the words by which errors call them beside the names of settings.
const MARKS: [(&str, &str); 3] = [
    ("watermark_low", "low disk watermark"),
    ("watermark_high", "high disk watermark"),
    ("watermark_flood_stage", "flood stage disk watermark"),
];

/// The marks of the disk, by the names that they have as settings of the cluster, too.
fn disk_limits(config: &DiskConfig) -> anyhow::Result<DiskLimits> {
    let given = |name: &str| config.given(name);
    let limits = clew_opensearch::read_disk_limits(given, &DiskLimits::default());
    limits.map_err(|wrong| anyhow!(behind_key(config, &wrong)))
}

/// What is wrong with the section, behind the first key that it is about and that has no default.
fn behind_key(config: &DiskConfig, wrong: &str) -> String {
    if wrong.contains(DISK_LOOK_INTERVAL) {
        let seconds = config.update_interval_s;
        return format!("[disk.update_interval_s] is [{seconds}]: {wrong}");
    }
    let default = DiskConfig::default();
    let about = MARKS
        .iter()
        .zip(DISK_WATERMARKS)
        .find(|((_, words), name)| {
            let is_named = wrong.contains(*name) || wrong.contains(*words);
            is_named && config.given(name) != default.given(name)
        });
    match about {
        Some(((key, _), name)) => {
            let given = config.given(name).unwrap_or_default();
            format!("[disk.{key}] is [{given}]: {wrong}")
        }
        None => format!("[disk] is wrong: {wrong}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_disk_names_the_key_that_was_given() {
        let given = |low: &str, high: &str, seconds| {
            let default = DiskConfig::default();
            let or = |text: &str, default: String| match text {
                "" => default,
                text => text.to_string(),
            };
            DiskConfig {
                watermark_low: or(low, default.watermark_low),
                watermark_high: or(high, default.watermark_high),
                update_interval_s: seconds,
                ..DiskConfig::default()
            }
        };
        for (config, told) in [
            (given("lots", "", 30), "[disk.watermark_low] is [lots]: "),
            (given("", "lots", 30), "[disk.watermark_high] is [lots]: "),
            // Low is 85 %, by default.
            (given("", "50%", 30), "[disk.watermark_high] is [50%]: "),
            (given("91%", "", 30), "[disk.watermark_low] is [91%]: "),
            (given("", "5gb", 30), "[disk.watermark_high] is [5gb]: "),
            (given("", "", 1), "[disk.update_interval_s] is [1]: "),
        ] {
            let wrong = disk_limits(&config).unwrap_err().to_string();
            assert!(wrong.starts_with(told), "{wrong}");
        }
        assert!(disk_limits(&DiskConfig::default()).is_ok());
    }
}

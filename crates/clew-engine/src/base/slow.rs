//! From which times on what is done with an index is told as slow. Nothing is measured for it where no limit is set.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// How grave it is that something is slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowLevel {
    /// The least.
    #[default]
    Trace,
    /// More than that.
    Debug,
    /// More than that.
    Info,
    /// The gravest.
    Warn,
}

impl SlowLevel {
    /// All of them, the gravest first.
    pub const ALL: [SlowLevel; 4] = [Self::Warn, Self::Info, Self::Debug, Self::Trace];
}

/// What takes longer than the limit of a level is told at that level; without limits nothing is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SlowLimits(BTreeMap<SlowLevel, Duration>);

impl SlowLimits {
    /// Gives a level its limit, or takes it away.
    pub fn set(&mut self, level: SlowLevel, limit: Option<Duration>) {
        match limit {
            Some(limit) => self.0.insert(level, limit),
            None => self.0.remove(&level),
        };
    }

    /// The limit of a level.
    pub fn get(&self, level: SlowLevel) -> Option<Duration> {
        self.0.get(&level).copied()
    }

    /// Whether any is set.
    pub fn is_on(&self) -> bool {
        !self.0.is_empty()
    }

    /// The gravest level at which something that took so long is told; none of those below the least one that counts.
    pub fn level(&self, took: Duration, least: SlowLevel) -> Option<SlowLevel> {
        let mut passed = self.0.range(least..).rev();
        passed
            .find(|(_, limit)| took > **limit)
            .map(|(level, _)| *level)
    }
}

/// From which times on whole requests are told as slow; the default is never.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowRequests {
    /// The limits.
    pub limits: SlowLimits,
    /// The least level at which one is told.
    pub least: SlowLevel,
}

impl SlowRequests {
    /// Whether any can be told.
    pub fn is_on(&self) -> bool {
        self.limits.is_on()
    }

    /// At which level a request is told that took so long.
    pub fn level(&self, took: Duration) -> Option<SlowLevel> {
        self.limits.level(took, self.least)
    }
}

/// Characters of a document's source that are told with a slow write.
const SOURCE_CHARS: usize = 1000;

/// What of an index is told as slow; the default is nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SlowLog {
    /// Of the search of one shard.
    pub query: SlowLimits,
    /// Of reading what a shard's hits hold.
    pub fetch: SlowLimits,
    /// The least level at which either is told.
    pub search_level: SlowLevel,
    /// Of one document's write, without the wait for the disk.
    pub write: SlowLimits,
    /// The least level at which one is told.
    pub write_level: SlowLevel,
    /// How many characters of its source are told.
    pub source_chars: usize,
    /// Whether that is written on one line, without what stands between its members.
    pub source_on_one_line: bool,
}

impl Default for SlowLog {
    fn default() -> Self {
        SlowLog {
            query: SlowLimits::default(),
            fetch: SlowLimits::default(),
            search_level: SlowLevel::default(),
            write: SlowLimits::default(),
            write_level: SlowLevel::default(),
            source_chars: SOURCE_CHARS,
            source_on_one_line: true,
        }
    }
}

impl SlowLog {
    /// Whether anything can be told.
    pub fn is_on(&self) -> bool {
        self.query.is_on() || self.fetch.is_on() || self.write.is_on()
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == SlowLog::default()
    }
}

/// A document's write that took long.
#[derive(Clone, Debug)]
pub struct SlowWrite {
    /// How grave that is.
    pub level: SlowLevel,
    /// From its parsing to its place in the log and in the buffer of its shard.
    pub took: Duration,
    /// The document as it came; of an update the part that came.
    pub source: Bytes,
    /// Its routing key, when it was given one.
    pub routing: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_limit_that_was_passed_counts() {
        let ms = Duration::from_millis;
        let mut limits = SlowLimits::default();
        assert_eq!(limits.level(ms(1000), SlowLevel::Trace), None);
        limits.set(SlowLevel::Warn, Some(ms(100)));
        limits.set(SlowLevel::Debug, Some(ms(10)));
        for (took, least, told) in [
            (101, SlowLevel::Trace, Some(SlowLevel::Warn)),
            (100, SlowLevel::Trace, Some(SlowLevel::Debug)),
            (100, SlowLevel::Info, None),
            (10, SlowLevel::Trace, None),
        ] {
            assert_eq!(limits.level(ms(took), least), told, "{took} {least:?}");
        }
        limits.set(SlowLevel::Warn, None);
        assert_eq!(limits.level(ms(101), SlowLevel::Info), None);
    }
}

//! What lines of slow logs are made of, whichever protocol writes them.

use std::fmt;
use std::time::Duration;

use clew_platform::whole_ms;

/// Writes a line of a slow log at its own level: its fields, then where the time of the request went, then its message.
///
/// `tell_slow!(level, "slowlog.search", parts, { phase, shard }, "[{index}]")`, where `parts` is a
/// [`SpentTold`](clew_profile::SpentTold). Whoever writes one depends on `tracing`.
#[macro_export]
macro_rules! tell_slow {
    (@$name:ident $target:literal, $parts:expr, { $($fields:tt)+ }, $($message:tt)+) => {
        tracing::$name!(
            target: $target, $($fields)+, wall_us = $parts.wall_us, cpu_us = $parts.cpu_us,
            run_queue_us = $parts.run_queue_us, queue_us = $parts.queue_us, blocked_us = $parts.blocked_us,
            trace_id = $parts.trace_id, $($message)+
        )
    };
    ($level:expr, $target:literal, $parts:expr, { $($fields:tt)+ }, $($message:tt)+) => {
        match $level {
            $crate::SlowLevel::Warn => $crate::tell_slow!(@warn $target, $parts, { $($fields)+ }, $($message)+),
            $crate::SlowLevel::Info => $crate::tell_slow!(@info $target, $parts, { $($fields)+ }, $($message)+),
            $crate::SlowLevel::Debug => $crate::tell_slow!(@debug $target, $parts, { $($fields)+ }, $($message)+),
            $crate::SlowLevel::Trace => $crate::tell_slow!(@trace $target, $parts, { $($fields)+ }, $($message)+),
        }
    };
}

/// A time in the largest unit that it has one of, with a tenth where there is one.
#[derive(Clone, Copy, Debug)]
pub struct Took(pub Duration);

impl Took {
    /// Whole milliseconds.
    pub fn millis(&self) -> u64 {
        whole_ms(self.0)
    }
}

impl fmt::Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let units = [
            ("d", 86_400_000_000_000),
            ("h", 3_600_000_000_000),
            ("m", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("micros", 1_000),
        ];
        let Some((unit, size)) = units.into_iter().find(|(_, size)| nanos >= *size) else {
            let unit = if nanos == 0 { "s" } else { "nanos" };
            return write!(f, "{nanos}{unit}");
        };
        match nanos * 10 / size % 10 {
            0 => write!(f, "{}{unit}", nanos / size),
            tenth => write!(f, "{}.{tenth}{unit}", nanos / size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_their_largest_unit() {
        for (nanos, shown) in [
            (0, "0s"),
            (17, "17nanos"),
            (1_250, "1.2micros"),
            (15_000_000, "15ms"),
            (2_501_000_000, "2.5s"),
            (90_000_000_000, "1.5m"),
        ] {
            assert_eq!(Took(Duration::from_nanos(nanos)).to_string(), shown);
        }
    }
}

//! How often and when an action that failed is tried again.

use std::time::Duration;

use clew_opensearch::wing::ApiError;
use serde_json::Value;

use super::members::{members, read_count, read_time, unknown_field};

const RETRIES_MAX: u64 = 1000;

/// How often and when an action that failed is tried again.
#[derive(Debug)]
pub(super) struct Retry {
    pub(super) count: u64,
    backoff: Backoff,
    delay: Duration,
}

#[derive(Debug)]
enum Backoff {
    Exponential,
    Constant,
    Linear,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            count: 3,
            backoff: Backoff::Exponential,
            delay: Duration::from_secs(60),
        }
    }
}

impl Retry {
    pub(super) fn parse(value: &Value) -> Result<Self, ApiError> {
        let mut retry = Retry::default();
        for (key, value) in members(value, "ActionRetry")? {
            match key.as_str() {
                "count" => {
                    retry.count = read_count(key, value)?;
                    if retry.count > RETRIES_MAX {
                        return Err(ApiError::illegal_argument(format!(
                            "Count for ActionRetry must be at most [{RETRIES_MAX}]"
                        )));
                    }
                }
                "backoff" => {
                    retry.backoff = match value.as_str().unwrap_or_default() {
                        "exponential" => Backoff::Exponential,
                        "constant" => Backoff::Constant,
                        "linear" => Backoff::Linear,
                        _ => {
                            return Err(ApiError::illegal_argument(format!(
                                "Invalid backoff {value}: one of [exponential, constant, linear]"
                            )));
                        }
                    }
                }
                "delay" => retry.delay = read_time(key, value)?.unwrap_or(retry.delay),
                other => return Err(unknown_field(other, "ActionRetry")),
            }
        }
        Ok(retry)
    }

    /// How long to wait after so many attempts have failed.
    pub(super) fn pause(&self, failures: u64) -> Duration {
        let failures = u32::try_from(failures).unwrap_or(u32::MAX);
        let times = match self.backoff {
            Backoff::Exponential => 1u32.checked_shl(failures.saturating_sub(1)),
            Backoff::Constant => Some(1),
            Backoff::Linear => Some(failures),
        };
        self.delay.saturating_mul(times.unwrap_or(u32::MAX))
    }
}

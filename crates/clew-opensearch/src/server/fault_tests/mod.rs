//! The REST API over a simulated disk that loses power, fails, fills up or has lost bytes: what a request changes is
//! done whole or not at all, and an answer is right or says what is missing.

mod changes;
mod failed_shard;

use std::time::Duration;

use clew_engine::EngineError;
use clew_platform::{Clock, RealClock, SimDisk};

use super::fixture::{Node, segment_file};

/// Within this time a node has mended what can be mended.
const PATIENCE: Duration = Duration::from_secs(20);

/// What something gives as soon as it gives anything.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let clock = RealClock::new();
    let began = clock.monotonic();
    loop {
        if let Some(found) = look() {
            return found;
        }
        let waited = clock.monotonic().saturating_sub(began);
        assert!(waited < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

/// A node with the endpoints of this crate alone.
fn open(disk: &SimDisk) -> Result<Node, EngineError> {
    Node::open(disk, &[])
}

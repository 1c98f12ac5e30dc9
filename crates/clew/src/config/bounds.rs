//! Values that can be read, and that no server could work with: numbers beyond their bounds, and a folder that is not there.

use serde_json::Value;

use super::Config;

/// What a buffer takes before a document is in it is up to 4 MB; a smaller limit would make a segment of every few.
const WRITE_BUFFER_BYTES_MIN: u64 = 8 << 20;
/// Shorter ones leave no room for a search.
const MESSAGE_BYTES_MIN: u64 = 1 << 10;
/// Of less, the shares for bodies and searches are smaller than what one of them takes.
const MEMORY_BYTES_MIN: u64 = 16 << 20;
/// Many times as many as the largest machines have cores.
const THREADS_MAX: u64 = 1 << 10;
/// Buffers of one shard that may be filled at once.
const SHARD_WRITERS_MAX: u64 = 64;
/// Each that waits holds what it brought.
const WAITING_MAX: u64 = 1_000_000;

/// An hour: long past the patience of whatever runs servers.
const GRACE_MS_MAX: u64 = 60 * 60 * 1000;

/// The bounds of a number.
struct Bound {
    key: &'static str,
    least: u64,
    most: u64,
    /// What would become of a server with another one.
    reason: &'static str,
}

const BOUNDS: &[Bound] = &[
    Bound {
        key: "http.body_bytes_max",
        least: MESSAGE_BYTES_MIN,
        most: u64::MAX,
        reason: "longer requests are refused",
    },
    Bound {
        key: "grpc.message_bytes_max",
        least: MESSAGE_BYTES_MIN,
        most: u64::MAX,
        reason: "longer requests are refused",
    },
    Bound {
        key: "engine.search_threads",
        least: 1,
        most: THREADS_MAX,
        reason: "more than there are cores search no faster",
    },
    Bound {
        key: "engine.search_queue_max",
        least: 0,
        most: WAITING_MAX,
        reason: "each search that waits takes memory",
    },
    Bound {
        key: "engine.write_buffer_bytes",
        least: WRITE_BUFFER_BYTES_MIN,
        most: u64::MAX,
        reason: "an empty buffer takes half of that, and each that is full becomes a segment",
    },
    Bound {
        key: "engine.shard_writers",
        least: 1,
        most: SHARD_WRITERS_MAX,
        reason: "each has a buffer of megabytes, which becomes a segment with every refresh",
    },
    Bound {
        key: "memory.limit_bytes",
        least: MEMORY_BYTES_MIN,
        most: u64::MAX,
        reason: "requests that fit into their shares of less are few",
    },
    Bound {
        key: "vectors.build_threads",
        least: 1,
        most: THREADS_MAX,
        reason: "more than there are cores build no faster",
    },
    Bound {
        key: "tracing.queue_spans_max",
        least: 1,
        most: WAITING_MAX,
        reason: "the places of all are made at the start",
    },
    Bound {
        key: "stop.grace_ms",
        least: 0,
        most: GRACE_MS_MAX,
        reason: "a stop may last as long",
    },
];

/// The number at a key.
fn number(tree: &Value, key: &str) -> Option<u64> {
    let pointer = format!("/{}", key.replace('.', "/"));
    tree.pointer(&pointer).and_then(Value::as_u64)
}

/// What is wrong with the first key whose value no server could work with, `[section.key] is ...`. A default, as 0 often is,
/// is never wrong.
pub(super) fn unworkable(config: &Config, defaults: &Value) -> Option<String> {
    let given = serde_json::to_value(config).expect("plain fields");
    let beyond = BOUNDS.iter().find_map(|bound| {
        let value = number(&given, bound.key)?;
        if number(defaults, bound.key) == Some(value) {
            return None;
        }
        let limit = match value {
            small if small < bound.least => format!("at least [{}]", bound.least),
            large if large > bound.most => format!("at most [{}]", bound.most),
            _ => return None,
        };
        let Bound { key, reason, .. } = bound;
        Some(format!("[{key}] is [{value}], must be {limit}: {reason}"))
    });
    beyond
        .or_else(|| {
            let path = config.imports.path.as_ref();
            let path = path.filter(|path| !path.is_dir())?;
            let shown = path.display();
            Some(format!("[imports.path] is [{shown}], which is no folder"))
        })
        .or_else(|| {
            let password = &config.access.root_password.0;
            let given = Some(password).filter(|password| !password.is_empty())?;
            let wrong = clew_access::check_password(given).err()?;
            Some(format!("[access.root_password]: {wrong}"))
        })
}

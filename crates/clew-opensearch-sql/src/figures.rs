//! How statements went since the process began, and in this minute: what `_plugins/_sql/stats` shows.

use std::sync::atomic::{AtomicU64, Ordering};

use clew_opensearch::wing::Call;
use serde_json::{Value, json};

use crate::Language;
use crate::error::SqlError;

/// The figures of both languages.
#[derive(Debug, Default)]
pub(super) struct Figures {
    sql: Counts,
    ppl: Counts,
    /// Statements whose answers came in pages.
    paged: Count,
}

/// How the statements of a language went.
#[derive(Debug, Default)]
struct Counts {
    all: Count,
    /// Those that could not be done as they were written.
    refused: Count,
    /// Those that the server failed to do.
    failed: Count,
}

/// How often something happened.
#[derive(Debug, Default)]
struct Count {
    total: AtomicU64,
    minute: AtomicU64,
    in_minute: AtomicU64,
}

impl Count {
    fn add(&self, minute: u64) {
        self.total.fetch_add(1, Ordering::Relaxed);
        // Between two minutes one of those that come at once may not be counted in either.
        if self.minute.swap(minute, Ordering::Relaxed) != minute {
            self.in_minute.store(0, Ordering::Relaxed);
        }
        self.in_minute.fetch_add(1, Ordering::Relaxed);
    }

    fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    fn in_minute(&self, minute: u64) -> u64 {
        if self.minute.load(Ordering::Relaxed) == minute {
            self.in_minute.load(Ordering::Relaxed)
        } else {
            0
        }
    }
}

/// Notes how a statement went.
pub(super) fn note<T>(call: &Call, language: Language, answer: &Result<T, SqlError>) {
    let figures = call.api.part::<Figures>();
    let counts = match language {
        Language::Sql => &figures.sql,
        Language::Ppl => &figures.ppl,
    };
    let minute = minute(call);
    counts.all.add(minute);
    match answer {
        Ok(_) => {}
        Err(error) if error.is_of_server() => counts.failed.add(minute),
        Err(_) => counts.refused.add(minute),
    }
}

/// Notes that an answer comes in pages.
pub(super) fn note_pages(call: &Call) {
    call.api.part::<Figures>().paged.add(minute(call));
}

/// The figures as they are shown.
pub(super) fn shown(call: &Call) -> Value {
    let figures = call.api.part::<Figures>();
    let (sql, ppl, paged) = (&figures.sql, &figures.ppl, &figures.paged);
    let minute = minute(call);
    json!({
        "request_total": sql.all.total(),
        "request_count": sql.all.in_minute(minute),
        "default_cursor_request_total": paged.total(),
        "default_cursor_request_count": paged.in_minute(minute),
        "failed_request_count_syserr": sql.failed.in_minute(minute),
        "failed_request_count_cuserr": sql.refused.in_minute(minute),
        "failed_request_count_cb": 0,
        "circuit_breaker": 0,
        "ppl_request_total": ppl.all.total(),
        "ppl_request_count": ppl.all.in_minute(minute),
        "ppl_failed_request_count_syserr": ppl.failed.in_minute(minute),
        "ppl_failed_request_count_cuserr": ppl.refused.in_minute(minute),
    })
}

/// The minute that it is, since 1970.
fn minute(call: &Call) -> u64 {
    call.api.engine.clock().epoch_ms() / 60_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_begin_at_nothing() {
        let count = Count::default();
        count.add(7);
        count.add(7);
        assert_eq!((count.total(), count.in_minute(7)), (2, 2));
        count.add(8);
        assert_eq!((count.total(), count.in_minute(8)), (3, 1));
        assert_eq!(count.in_minute(9), 0);
    }
}

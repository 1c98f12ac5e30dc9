//! The calls of the service: each takes a message and gives one, or says why not.

mod aliases;
mod analyzer;
mod asked;
mod calls;
mod collections;
mod databases;
mod expiry;
mod hybrid;
mod indexes;
mod iterators;
mod loading;
mod partitions;
mod query;
mod read;
mod rename;
mod search;
mod segments;
mod server;
mod users;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use calls::{Answer, answer, answered};

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::http::HeaderMap;
use clew_engine::{Access, Engine, Purpose};

use crate::collections::{Collections, DEFAULT_DATABASE, Opened, millis};
use crate::error::{MilvusError, Result};
use crate::incoming::Limits;
use crate::timestamp::HybridClock;
use iterators::Iterators;

/// What all calls share.
#[derive(Clone)]
pub(crate) struct Service {
    shared: Arc<Shared>,
}

struct Shared {
    collections: Collections,
    limits: Limits,
    clock: HybridClock,
    iterators: Iterators,
    /// The last number that was given to something.
    last_id: AtomicI64,
}

/// Who calls, and in which database.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    database: String,
    pub(crate) access: Access,
}

impl Call {
    /// What the headers of a request say.
    pub(crate) fn of(headers: &HeaderMap) -> Call {
        let name = headers.get("dbname").and_then(|name| name.to_str().ok());
        Call::in_database(name.unwrap_or_default())
    }

    pub(crate) fn in_database(name: &str) -> Call {
        Call {
            database: name.to_string(),
            access: Access::everything().to_what_is_there(),
        }
    }

    /// The database that a request means: its own word comes first.
    pub(crate) fn database<'a>(&'a self, named: &'a str) -> &'a str {
        let mut names = [named, &self.database].into_iter();
        names
            .find(|name| !name.is_empty())
            .unwrap_or(DEFAULT_DATABASE)
    }
}

impl Service {
    pub(crate) fn new(engine: Engine, message_bytes_max: usize) -> Self {
        let first = i64::try_from(millis(engine.now()) << 18).unwrap_or(i64::MAX >> 1);
        Service {
            shared: Arc::new(Shared {
                limits: Limits {
                    bytes_max: message_bytes_max,
                    memory: engine.memory().clone(),
                },
                collections: Collections::new(engine),
                clock: HybridClock::default(),
                iterators: Iterators::default(),
                last_id: AtomicI64::new(first),
            }),
        }
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.shared.collections.engine()
    }

    pub(crate) fn collections(&self) -> &Collections {
        &self.shared.collections
    }

    fn iterators(&self) -> &Iterators {
        &self.shared.iterators
    }

    /// A time for what happens now.
    pub(crate) fn timestamp(&self) -> u64 {
        self.shared.clock.next(self.engine().now())
    }

    /// A number that nothing else has, and that later runs do not give again.
    pub(crate) fn new_id(&self) -> i64 {
        self.shared.last_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a collection.
    pub(crate) fn open(
        &self,
        call: &Call,
        (database, name): (&str, &str),
        purpose: Purpose,
    ) -> Result<Opened> {
        let place = (call.database(database), name);
        self.collections().open(place, &call.access, purpose)
    }

    /// What requests may take.
    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Does what waits for the disk, or takes long, on a thread where it may.
    pub(crate) async fn beside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let own = self.clone();
        let done = self.engine().run_beside(move || work(&own)).await;
        done.map_err(MilvusError::from)?
    }
}

//! The calls of the service: each takes a message and gives one, or says why not.

mod admit;
mod aggregate;
mod aliases;
mod analyzer;
mod asked;
mod bands;
mod boost;
mod buckets;
mod calls;
mod cell;
mod collapse;
mod collections;
mod databases;
mod decay;
mod delete;
mod denied;
mod effort;
mod elements;
mod expiry;
mod field_ops;
mod fields;
mod fusion;
mod grants;
mod groups;
mod highlight;
mod hit_groups;
mod hybrid;
mod imports;
mod indexes;
mod iterators;
mod loading;
mod moments;
mod order;
mod ordered;
mod partitions;
mod query;
mod read;
mod regroup;
mod rename;
mod resource_groups;
mod reused;
mod roles;
mod search;
mod segments;
mod server;
mod subject;
mod unary;
mod users;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use asked::EMBEDDING_LIST;
pub(crate) use calls::{Answer, Coming, Door, answer, is_call};
pub(crate) use field_ops::op_of;
pub(crate) use imports::DETAILS as IMPORT_DETAILS;
pub(crate) use unary::{Reply, not_let_in, reply};

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use clew_access::{AccessControl, Principal, ROOT, Records};
use clew_engine::{Access, Engine, Purpose};
use clew_platform::MemoryPurpose;

use crate::MilvusOptions;
use crate::collections::{Collections, Opened};
use crate::error::{MilvusError, Result};
use crate::held;
use crate::incoming::{Limits, Refused};
use crate::index_name::DEFAULT_DATABASE;
use crate::privilege;
use crate::proto::TemplateValue;
use crate::timestamp::HybridClock;
use denied::Denials;
use imports::Imports;
use iterators::Iterators;
use moments::Moments;
use subject::Subject;

pub(crate) use admit::Caller;
pub use admit::Login;

/// Parts of requests above this are read where that may take its time: an expression of a million keys takes seconds.
const READ_HERE_MAX: usize = 16 << 10;

/// The one node, as clients are told of it.
const NODE: i64 = 1;

/// What all calls share.
#[derive(Clone)]
pub(crate) struct Service {
    shared: Arc<Shared>,
}

struct Shared {
    collections: Collections,
    limits: Limits,
    access: Arc<AccessControl>,
    login: Login,
    clock: HybridClock,
    denials: Denials,
    iterators: Iterators,
    moments: Moments,
    imports: Imports,
    /// The last number that was given to something.
    last_id: AtomicI64,
}

/// A call that was let through: what it may open, and who makes it where that was asked. Made by [`Service::admit`] alone, for all who call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    database: String,
    pub(crate) access: Access,
    who: Option<Principal>,
}

impl Call {
    /// What is done by itself, for nobody.
    fn own() -> Call {
        Call {
            database: String::new(),
            access: Access::everything().to_what_is_there(),
            who: None,
        }
    }

    /// The database that a request means: its own word comes first.
    pub(crate) fn database<'a>(&'a self, named: &'a str) -> &'a str {
        let mut names = [named, &self.database].into_iter();
        names
            .find(|name| !name.is_empty())
            .unwrap_or(DEFAULT_DATABASE)
    }

    /// Who grants what this call grants.
    fn grantor(&self) -> &str {
        self.who.as_ref().map_or(ROOT, Principal::name)
    }

    /// Whether the caller sees a collection, by its database and its name, in lists.
    fn sees_collection(&self, place: (&str, &str)) -> bool {
        let sees = |who: &Principal| who.may_everything() || privilege::sees(who, place);
        self.who.as_ref().is_none_or(sees)
    }

    /// Whether the caller sees a database in lists.
    fn sees_database(&self, name: &str) -> bool {
        let sees = |who: &Principal| who.may_everything() || privilege::sees_database(who, name);
        self.who.as_ref().is_none_or(sees)
    }
}

/// Refuses what is asked for one namespace alone: nobody keeps them apart here, and others' rows would be told.
fn check_namespace(name: &str) -> Result<()> {
    match name.is_empty() {
        true => Ok(()),
        false => Err(MilvusError::Unsupported("a namespace".into())),
    }
}

/// The first number that a run gives: the time at which it began, and chance beside that, as a clock that stands or is set back
/// shows the same time to several runs. Those of the same time are further from each other than they count.
fn first_id(began_ms: u64, chance: u64) -> i64 {
    const TIME_SHIFT: u32 = 18;
    const CHANCE_SHIFT: u32 = 38;
    const CHANCE_BITS: u32 = 20;
    let chance = (chance & ((1 << CHANCE_BITS) - 1)) << CHANCE_SHIFT;
    let first = (began_ms << TIME_SHIFT).saturating_add(chance);
    i64::try_from(first).unwrap_or(i64::MAX >> 1)
}

impl Service {
    pub(crate) fn new(engine: Engine, access: Arc<AccessControl>, options: &MilvusOptions) -> Self {
        let first = first_id(engine.clock().epoch_ms(), engine.clock().identity());
        Service {
            shared: Arc::new(Shared {
                limits: Limits {
                    bytes_max: options.message_bytes_max,
                    memory: engine.memory().clone(),
                },
                imports: Imports::open(&engine, options.imports.clone()),
                collections: Collections::new(engine),
                access,
                login: options.login,
                clock: HybridClock::default(),
                denials: Denials::default(),
                iterators: Iterators::default(),
                moments: Moments::default(),
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

    fn denials(&self) -> &Denials {
        &self.shared.denials
    }

    fn iterators(&self) -> &Iterators {
        &self.shared.iterators
    }

    fn moments(&self) -> &Moments {
        &self.shared.moments
    }

    fn imports(&self) -> &Imports {
        &self.shared.imports
    }

    /// What is done by itself beside the calls, for as long as it is polled.
    pub(crate) async fn upkeep(self) {
        let expiring = self.clone().expire();
        tokio::join!(expiring, self.run_imports());
    }

    fn login(&self) -> Login {
        self.shared.login
    }

    /// Users and roles as they are now.
    fn records(&self) -> Arc<Records> {
        self.shared.access.records()
    }

    /// Changes users and roles, or looks at passwords, on a thread where that may take its time.
    async fn change_access<T: Send + 'static>(
        &self,
        change: impl FnOnce(&AccessControl) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.beside(move |service| change(&service.shared.access))
            .await
    }

    /// A time for what happens now.
    pub(crate) fn timestamp(&self) -> u64 {
        self.shared.clock.next(self.engine().now())
    }

    /// A time for how long something is kept: it goes on evenly, whatever the wall clock is set to.
    fn monotonic(&self) -> Duration {
        self.engine().clock().monotonic()
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

    /// Opens the collection that a request names first.
    pub(crate) fn open_named(
        &self,
        call: &Call,
        request: &impl Subject,
        purpose: Purpose,
    ) -> Result<Opened> {
        let name = request.collections().first().copied().unwrap_or_default();
        self.open(call, (request.database(), name), purpose)
    }

    /// What requests may take.
    pub(crate) fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Books what a call has found until it is answered.
    ///
    /// # Errors
    /// When it does not fit beside others.
    pub(crate) fn hold(&self, bytes: usize) -> Result<()> {
        let memory = self.limits().memory.reserve(MemoryPurpose::Searches, bytes);
        held::hold(memory.map_err(Refused::from)?);
        Ok(())
    }

    /// Holds the memory that an expression and the values beside it take once they are read, until the call is answered.
    ///
    /// # Errors
    /// When it does not fit beside others.
    pub(crate) fn hold_expression(
        &self,
        text: &str,
        values: &HashMap<String, TemplateValue>,
    ) -> Result<()> {
        self.hold(crate::expr::memory_bytes(text, values))
    }

    /// Reads a part of a request that is so many bytes long.
    async fn reading<T: Send + 'static>(
        &self,
        bytes: usize,
        read: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match bytes > READ_HERE_MAX {
            true => self.beside(move |_| read()).await,
            false => read(),
        }
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

    /// The same for what merges, of which a few run at once.
    pub(crate) async fn merging<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let own = self.clone();
        let done = self.engine().run_merge(move || work(&own)).await;
        done.map_err(MilvusError::from)?
    }
}

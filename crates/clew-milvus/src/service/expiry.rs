//! Rows whose time is over are deleted, now and then; until then searches pass them over.

use std::time::Duration;

use clew_engine::Purpose;
use clew_platform::caught;

use super::{Call, Service};
use crate::collection::Named;
use crate::error::Result;

/// How often collections are looked through.
const EVERY: Duration = Duration::from_secs(10);

impl Service {
    /// Looks after rows for as long as it is polled.
    pub(crate) async fn expire(self) {
        loop {
            tokio::time::sleep(EVERY).await;
            // What goes wrong with one collection is no reason for the node to end.
            if caught(self.expire_once()).await.is_err() {
                tracing::error!("looking for expired rows ran into a defect of the program");
            }
            self.iterators().sweep(self.monotonic());
            self.moments().sweep(self.monotonic());
        }
    }

    /// Deletes the rows of all collections whose time is over now; says how many.
    pub(crate) async fn expire_once(&self) -> u64 {
        let call = Call::own();
        let mut deleted = 0;
        for named in self.collections().all(&call.access) {
            match self.expire_rows(&call, &named).await {
                Ok(count) => deleted += count,
                // The next look is a new try.
                Err(error) => {
                    tracing::warn!(collection = named.name, %error, "expired rows cannot be deleted");
                }
            }
        }
        deleted
    }

    /// Deletes the rows of a collection whose time is over now; says how many.
    pub(super) async fn expire_rows(&self, call: &Call, named: &Named) -> Result<u64> {
        let Some(expired) = named.collection.expired(self.engine().now()) else {
            return Ok(0);
        };
        let opened = self.open(call, (&named.database, &named.name), Purpose::Read)?;
        // It serves nothing yet; a later look finds all of its rows.
        if opened.handle.is_unfinished() {
            return Ok(0);
        }
        let pinned = self.engine().pin(std::slice::from_ref(&opened.handle))?;
        // A row that was written again meanwhile has a new time.
        self.delete_seen(call, &opened, (&pinned, &expired)).await
    }
}

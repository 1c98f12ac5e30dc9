//! Asynchronous searches of this process: those that are running, and the answers that are kept for whoever asks later.
//! They are kept in memory, so many and so large at most, until their time is over or the process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use clew_platform::{CancellationToken, Reservation, whole_ms};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::http::error::{ApiError, Cause};
use crate::state::api::Api;

/// Searches that are known at once, running or kept.
const SEARCHES_MAX: usize = 500;
/// What the answers that are kept take together, in bytes.
const KEPT_BYTES_MAX: usize = 64 << 20;
/// How long the time of searches may be over before somebody looks.
const SWEEP_MAX: Duration = Duration::from_secs(60);
const SWEEP_MIN: Duration = Duration::from_secs(1);

/// How a search ended.
pub(super) enum Outcome {
    /// The JSON that `_search` would have answered.
    Found {
        answer: Bytes,
        /// What the answer takes for as long as it is there.
        _memory: Reservation,
    },
    /// The cause.
    Failed(Value),
}

impl Outcome {
    fn bytes(&self) -> usize {
        match self {
            Outcome::Found { answer, .. } => answer.len(),
            Outcome::Failed(_) => 0,
        }
    }
}

/// What is known of a search.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) id: String,
    pub(super) started_ms: u64,
    pub(super) expires_ms: u64,
    /// Whether its answer is kept for later requests.
    pub(super) keeps: bool,
    /// Its end, once it is there.
    pub(super) outcome: watch::Receiver<Option<Arc<Outcome>>>,
    token: CancellationToken,
}

/// A search that begins.
pub(super) struct Begun {
    pub(super) search: Search,
    /// Who tells how it ended.
    pub(super) ending: Ending,
}

/// The end of a search, still to be told.
pub(super) struct Ending {
    number: u64,
    told: watch::Sender<Option<Arc<Outcome>>>,
}

/// What a search that begins is to be like.
pub(super) struct WantedSearch {
    pub(super) keep_alive: Duration,
    pub(super) keeps: bool,
    /// How many may run at once, with this one.
    pub(super) running_max: usize,
    /// What stops it.
    pub(super) token: CancellationToken,
}

/// The searches of this process.
pub(super) struct AsynchronousSearches {
    /// Tells ids of this process from those of the ones before it.
    started: u128,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    searches: BTreeMap<u64, Search>,
    figures: Figures,
    /// Whether somebody ends those whose time is over.
    is_watched: bool,
}

/// What happened since the process began.
#[derive(Clone, Copy, Default)]
struct Figures {
    submitted: u64,
    initialized: u64,
    rejected: u64,
    completed: u64,
    failed: u64,
    kept: u64,
    not_kept: u64,
    cancelled: u64,
}

impl Default for AsynchronousSearches {
    fn default() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        AsynchronousSearches {
            started: started.unwrap_or_default().as_nanos(),
            state: Mutex::default(),
        }
    }
}

impl State {
    fn running(&self) -> usize {
        // One that panicked has gone without an outcome.
        let is_running = |search: &&Search| {
            search.outcome.has_changed().is_ok() && search.outcome.borrow().is_none()
        };
        self.searches.values().filter(is_running).count()
    }

    fn kept_bytes(&self) -> usize {
        let searches = self.searches.values();
        let bytes = searches.map(|search| match &*search.outcome.borrow() {
            Some(outcome) => outcome.bytes(),
            None => 0,
        });
        bytes.sum()
    }
}

impl AsynchronousSearches {
    /// Notes a search that begins.
    ///
    /// # Errors
    /// 429 when too many are running, or kept.
    pub(super) fn begin(&self, wanted: WantedSearch, now_ms: u64) -> Result<Begun, ApiError> {
        let mut state = self.state.lock();
        state.figures.submitted += 1;
        let refusal = if state.running() >= wanted.running_max {
            Some(format!(
                "Trying to create too many concurrent searches. Must be less than or equal to: [{}]. This limit can be \
                 set by changing the [plugins.asynchronous_search.node_concurrent_running_searches] setting.",
                wanted.running_max
            ))
        } else if state.searches.len() >= SEARCHES_MAX {
            Some(format!(
                "[{SEARCHES_MAX}] asynchronous searches are running or kept: delete some"
            ))
        } else {
            None
        };
        if let Some(reason) = refusal {
            state.figures.rejected += 1;
            let cause = Cause::new("rejected_execution_exception", reason);
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, cause));
        }
        state.figures.initialized += 1;
        state.last += 1;
        let number = state.last;
        let (told, outcome) = watch::channel(None);
        let search = Search {
            id: URL_SAFE_NO_PAD.encode(format!("a:{:x}:{number:x}", self.started)),
            started_ms: now_ms,
            expires_ms: now_ms.saturating_add(whole_ms(wanted.keep_alive)),
            keeps: wanted.keeps,
            outcome,
            token: wanted.token,
        };
        state.searches.insert(number, search.clone());
        Ok(Begun {
            search,
            ending: Ending { number, told },
        })
    }

    /// Notes how a search ended, and tells those who wait for it. What is not to be kept, or does not fit, is forgotten.
    pub(super) fn end(&self, ending: &Ending, outcome: Outcome) {
        let mut state = self.state.lock();
        let search = state.searches.get(&ending.number);
        // One that was deleted was counted then.
        if let Some(keeps) = search.map(|search| search.keeps) {
            let is_found = matches!(outcome, Outcome::Found { .. });
            let fits = state.kept_bytes().saturating_add(outcome.bytes()) <= KEPT_BYTES_MAX;
            if is_found {
                state.figures.completed += 1;
            } else {
                state.figures.failed += 1;
            }
            if keeps && is_found && fits {
                state.figures.kept += 1;
            } else {
                state.figures.not_kept += u64::from(keeps && is_found);
                state.searches.remove(&ending.number);
            }
        }
        ending.told.send_replace(Some(Arc::new(outcome)));
    }

    /// The search with an id, which is there for `keep_alive` from now on, or for as long as it was to be.
    ///
    /// # Errors
    /// 404 when there is none (any more).
    pub(super) fn find(
        &self,
        id: &str,
        keep_alive: Option<Duration>,
        now_ms: u64,
    ) -> Result<Search, ApiError> {
        let mut state = self.state.lock();
        let number = self.number_of(id).ok_or_else(|| missing(id))?;
        let search = state.searches.get_mut(&number);
        let living = search.filter(|search| search.expires_ms > now_ms);
        let search = living.ok_or_else(|| missing(id))?;
        if let Some(keep_alive) = keep_alive {
            search.expires_ms = now_ms.saturating_add(whole_ms(keep_alive));
        }
        Ok(search.clone())
    }

    /// Whether an answer is still there for later requests.
    pub(super) fn has(&self, id: &str) -> bool {
        let state = self.state.lock();
        let number = self.number_of(id);
        number.is_some_and(|number| state.searches.contains_key(&number))
    }

    /// Ends a search, or forgets its answer.
    ///
    /// # Errors
    /// As [`AsynchronousSearches::find`].
    pub(super) fn delete(&self, id: &str, now_ms: u64) -> Result<(), ApiError> {
        let mut state = self.state.lock();
        let number = self.number_of(id).ok_or_else(|| missing(id))?;
        let search = state.searches.remove(&number);
        let search = search.ok_or_else(|| missing(id))?;
        if search.outcome.borrow().is_none() {
            state.figures.cancelled += 1;
            search.token.cancel("by user request");
        }
        if search.expires_ms > now_ms {
            return Ok(());
        }
        Err(missing(id))
    }

    /// What happened, as it is shown.
    pub(super) fn figures(&self) -> Value {
        let state = self.state.lock();
        let figures = state.figures;
        json!({
            "submitted": figures.submitted,
            "initialized": figures.initialized,
            "running_current": state.running(),
            "persisted": figures.kept,
            "search_failed": figures.failed,
            "search_completed": figures.completed,
            "rejected": figures.rejected,
            "persist_failed": figures.not_kept,
            "cancelled": figures.cancelled,
        })
    }

    /// The number that an id stands for; one of an earlier process stands for none.
    fn number_of(&self, id: &str) -> Option<u64> {
        let bytes = URL_SAFE_NO_PAD.decode(id).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let number = text.strip_prefix(&format!("a:{:x}:", self.started))?;
        u64::from_str_radix(number, 16).ok()
    }

    /// Whether whoever asks is the first, and so is to end those whose time is over.
    fn is_first_to_watch(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_watched, true)
    }

    /// Ends those whose time is over, and says when to look again; never, where there are none.
    fn sweep(&self, now_ms: u64) -> Option<Duration> {
        let mut state = self.state.lock();
        state.searches.retain(|_, search| {
            let lives = search.expires_ms > now_ms;
            if !lives {
                search
                    .token
                    .cancel("the time of the asynchronous search is over");
            }
            lives
        });
        let next = state
            .searches
            .values()
            .map(|search| search.expires_ms)
            .min();
        state.is_watched = next.is_some();
        let wait = Duration::from_millis(next?.saturating_sub(now_ms));
        Some(wait.clamp(SWEEP_MIN, SWEEP_MAX))
    }
}

/// Ends searches when their time is over, for as long as there are any and the server lives.
pub(super) fn watch_over(api: &Arc<Api>) {
    if !api.parts.get::<AsynchronousSearches>().is_first_to_watch() {
        return;
    }
    let api: Weak<Api> = Arc::downgrade(api);
    tokio::spawn(async move {
        while let Some(wait) = api.upgrade().and_then(|api| {
            let searches = api.parts.get::<AsynchronousSearches>();
            searches.sweep(api.engine.clock().epoch_ms())
        }) {
            tokio::time::sleep(wait).await;
        }
    });
}

fn missing(id: &str) -> ApiError {
    let cause = Cause::new("resource_not_found_exception", id);
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(keeps: bool) -> WantedSearch {
        WantedSearch {
            keep_alive: Duration::from_millis(100),
            keeps,
            running_max: 2,
            token: CancellationToken::new(),
        }
    }

    fn failed() -> Outcome {
        Outcome::Failed(json!({"type": "some_exception"}))
    }

    #[test]
    fn so_many_run_at_once_and_those_that_fail_are_forgotten() {
        let searches = AsynchronousSearches::default();
        let first = searches.begin(wanted(true), 0).unwrap();
        let second = searches.begin(wanted(false), 0).unwrap();
        let refused = searches.begin(wanted(false), 0).err().unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        searches.end(&first.ending, failed());
        assert!(first.search.outcome.borrow().is_some());
        assert!(searches.find(&first.search.id, None, 1).is_err());
        assert!(searches.find(&second.search.id, None, 1).is_ok());
        let figures = searches.figures();
        let shown = ["submitted", "initialized", "rejected", "search_failed"];
        let shown = shown.map(|name| figures[name].as_u64().unwrap());
        assert_eq!(shown, [3, 2, 1, 1]);
    }

    #[test]
    fn a_search_ends_when_its_time_is_over_or_it_is_deleted() {
        let searches = AsynchronousSearches::default();
        let first = searches.begin(wanted(true), 0).unwrap();
        let second = searches.begin(wanted(true), 0).unwrap();
        let longer = Some(Duration::from_secs(1));
        assert!(searches.find(&first.search.id, longer, 50).is_ok());
        assert_eq!(searches.sweep(200), Some(SWEEP_MIN));
        assert!(second.search.token.stopped().is_some());
        assert!(searches.find(&second.search.id, None, 200).is_err());
        assert!(searches.delete(&first.search.id, 200).is_ok());
        assert!(first.search.token.stopped().is_some());
        assert!(searches.delete(&first.search.id, 200).is_err());
        assert_eq!(searches.sweep(200), None);
        assert!(searches.find("no id", None, 0).is_err());
    }
}

//! Searches that go on over several requests: scrolls and points in time. Each holds the shards'
//! views, so their number and their life are bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clew_engine::{Engine, Pinned, PinnedShard, Took};
use clew_platform::Reservation;
use clew_query::SortValue;
use clew_search::Total;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::Parts;
use super::request::Spec;
use crate::http::error::{ApiError, Cause};
use crate::http::request_memory::json_bytes;
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::cluster_settings::{PIT_ALIVE_SETTING, SCROLL_ALIVE_SETTING};

/// Scrolls that may be open at once.
const SCROLLS_MAX: usize = 500;
/// Points in time that may be open at once.
const PITS_MAX: usize = 300;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextKind {
    Scroll,
    Pit,
}

impl ContextKind {
    fn letter(self) -> char {
        match self {
            ContextKind::Scroll => 's',
            ContextKind::Pit => 'p',
        }
    }
}

/// Where a scroll is.
#[derive(Clone)]
pub(super) struct Scroll {
    pub(super) pinned: Pinned,
    pub(super) parts: Parts,
    pub(super) spec: Arc<Spec>,
    /// The order's values of the last hit; none when nothing was found.
    pub(super) after: Option<Vec<SortValue>>,
    pub(super) total: Option<Total>,
    pub(super) max_score: Option<f32>,
    /// What the search and the views take for as long as the scroll is open. Whoever reads a page has a share in it.
    pub(super) memory: Arc<Reservation>,
}

/// A point in time.
#[derive(Clone)]
pub(super) struct Pit {
    pub(super) pinned: Pinned,
    pub(super) parts: Parts,
    pub(super) created_ms: u64,
    /// What the views take for as long as it is open. Whoever searches over it has a share in it.
    pub(super) memory: Arc<Reservation>,
}

/// What a shard's view takes for whoever holds it alone: readers of segments that have gone meanwhile.
const VIEW_BYTES: usize = 4 << 10;

/// Takes memory for a context: of its views, and of the search that it goes on with.
pub(super) fn memory_of(
    call: &Call,
    pinned: &Pinned,
    search: &[u8],
) -> Result<Arc<Reservation>, ApiError> {
    let views = pinned.shards().len().saturating_mul(VIEW_BYTES);
    let bytes = views.saturating_add(json_bytes(search));
    Ok(Arc::new(call.memory.hold(bytes)?))
}

/// What is known of an open context.
#[derive(Clone)]
struct Open<T> {
    what: T,
    expires: Instant,
    keep_alive: Duration,
}

impl<T> Open<T> {
    /// Whether it is still there at this moment. One that is being read then has all of its time before it.
    fn lives_on(&mut self, now: Instant, is_read: bool) -> bool {
        if is_read {
            self.expires = self.expires.max(now + self.keep_alive);
        }
        self.expires > now
    }
}

/// A context's number in this process, and the id that clients are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContextId {
    number: u64,
}

/// The open contexts of a node.
pub(crate) struct SearchContexts {
    /// Tells ids of this process from those of the ones before it.
    started: u128,
    state: Mutex<State>,
    /// Wakes whoever ends contexts: the one that was opened may be the next.
    opened: Arc<Notify>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Somebody ends those whose time is over.
    is_watched: bool,
    scrolls: BTreeMap<u64, Open<Scroll>>,
    pits: BTreeMap<u64, Open<Pit>>,
}

impl Default for SearchContexts {
    fn default() -> Self {
        let started = SystemTime::now().duration_since(UNIX_EPOCH);
        SearchContexts {
            started: started.unwrap_or_default().as_nanos(),
            state: Mutex::default(),
            opened: Arc::default(),
        }
    }
}

/// An id that none of ours can be: either no Base64, or what it holds ends before an id would.
fn unreadable(kind: ContextKind, text: &str) -> ApiError {
    let reason = match kind {
        ContextKind::Scroll => "Cannot parse scroll id".to_string(),
        ContextKind::Pit => format!("invalid id: [{text}]"),
    };
    let within = match base64_fault(text) {
        Some(fault) => Cause::new("illegal_argument_exception", fault),
        None => Cause::new("e_o_f_exception", ""),
    };
    let cause = Cause::new("illegal_argument_exception", reason).caused_by(within);
    ApiError::new(StatusCode::BAD_REQUEST, cause)
}

/// Why a text is no Base64 (of URLs), as Java's decoder says it; `None` where it is.
fn base64_fault(text: &str) -> Option<String> {
    if text.len() == 1 {
        return Some("Input byte[] should at least have 2 bytes for base64 bytes".to_string());
    }
    let digits = text.trim_end_matches('=');
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if let Some(other) = digits.bytes().find(|byte| !is_digit(byte)) {
        return Some(format!("Illegal base64 character {other:x}"));
    }
    match (digits.len() % 4, text.len() - digits.len()) {
        (1, _) => Some("Last unit does not have enough valid bits".to_string()),
        (0, 1..) | (2, 1) => Some("Input byte array has wrong 4-byte ending unit".to_string()),
        _ => None,
    }
}

impl SearchContexts {
    /// The id that clients are given.
    pub(super) fn shown(&self, kind: ContextKind, id: ContextId) -> String {
        let text = format!("{}:{:x}:{:x}", kind.letter(), self.started, id.number);
        URL_SAFE_NO_PAD.encode(text)
    }

    /// Reads an id that a client was given; one of an earlier process names nothing any more.
    pub(super) fn read(
        &self,
        kind: ContextKind,
        text: &str,
    ) -> Result<Option<ContextId>, ApiError> {
        let unreadable = || unreadable(kind, text);
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable())?;
        let inner = String::from_utf8(bytes).map_err(|_| unreadable())?;
        let mut parts = inner.split(':');
        let (Some(letter), Some(started), Some(number), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(unreadable());
        };
        let started = u128::from_str_radix(started, 16).map_err(|_| unreadable())?;
        let number = u64::from_str_radix(number, 16).map_err(|_| unreadable())?;
        if letter != kind.letter().to_string() {
            return Err(unreadable());
        }
        Ok((started == self.started).then_some(ContextId { number }))
    }

    /// Opens a scroll.
    pub(super) fn open_scroll(
        &self,
        scroll: Scroll,
        keep_alive: Duration,
    ) -> Result<ContextId, ApiError> {
        let mut state = self.state.lock();
        if state.scrolls.len() >= SCROLLS_MAX {
            return Err(too_many(format!(
                "Trying to create too many scroll contexts. Must be less than or equal to: \
                 [{SCROLLS_MAX}]. This limit can be set by changing the \
                 [search.max_open_scroll_context] setting."
            )));
        }
        state.next += 1;
        let number = state.next;
        state.scrolls.insert(number, open(scroll, keep_alive));
        Ok(ContextId { number })
    }

    /// Opens a point in time.
    pub(super) fn open_pit(&self, pit: Pit, keep_alive: Duration) -> Result<ContextId, ApiError> {
        let mut state = self.state.lock();
        if state.pits.len() >= PITS_MAX {
            return Err(too_many(format!(
                "Trying to create too many Point In Time contexts. Must be less than or equal to: \
                 [{PITS_MAX}]. This limit can be set by changing the \
                 [search.max_open_pit_context] setting."
            )));
        }
        state.next += 1;
        let number = state.next;
        state.pits.insert(number, open(pit, keep_alive));
        Ok(ContextId { number })
    }

    /// A scroll's state; it lives on for `keep_alive`, or for as long as it did before.
    pub(super) fn scroll(
        &self,
        text: &str,
        keep_alive: Option<Duration>,
    ) -> Result<(ContextId, Scroll), ApiError> {
        let id = self
            .read(ContextKind::Scroll, text)?
            .ok_or_else(|| missing(0))?;
        let mut state = self.state.lock();
        let scroll = touch(&mut state.scrolls, ContextKind::Scroll, id, keep_alive)?;
        Ok((id, scroll))
    }

    /// A point in time; likewise.
    pub(super) fn pit(&self, text: &str, keep_alive: Option<Duration>) -> Result<Pit, ApiError> {
        let id = self
            .read(ContextKind::Pit, text)?
            .ok_or_else(|| missing(0))?;
        touch(
            &mut self.state.lock().pits,
            ContextKind::Pit,
            id,
            keep_alive,
        )
    }

    /// The shards of an open point in time, which lives no longer for that.
    pub(super) fn open_pinned(&self, id: ContextId) -> Option<Pinned> {
        let state = self.state.lock();
        let open = state.pits.get(&id.number)?;
        (open.expires > Instant::now()).then(|| open.what.pinned.clone())
    }

    /// Notes how far a scroll has come.
    pub(super) fn advance(&self, id: ContextId, after: Vec<SortValue>) {
        if let Some(open) = self.state.lock().scrolls.get_mut(&id.number) {
            open.what.after = Some(after);
        }
    }

    /// Ends a context; whether there was one.
    pub(super) fn close(&self, kind: ContextKind, id: ContextId) -> bool {
        // What it holds alone takes its time to go, and others look for theirs meanwhile.
        let (scroll, pit) = {
            let mut state = self.state.lock();
            match kind {
                ContextKind::Scroll => (state.scrolls.remove(&id.number), None),
                ContextKind::Pit => (None, state.pits.remove(&id.number)),
            }
        };
        scroll.is_some() || pit.is_some()
    }

    /// Ends all contexts of a kind and gives their ids.
    pub(super) fn close_all(&self, kind: ContextKind) -> Vec<ContextId> {
        let (scrolls, pits) = {
            let mut state = self.state.lock();
            match kind {
                ContextKind::Scroll => (std::mem::take(&mut state.scrolls), BTreeMap::new()),
                ContextKind::Pit => (BTreeMap::new(), std::mem::take(&mut state.pits)),
            }
        };
        let numbers = scrolls.into_keys().chain(pits.into_keys());
        numbers.map(|number| ContextId { number }).collect()
    }

    /// The open points in time, with how long each is kept.
    pub(super) fn pits(&self) -> Vec<(ContextId, Pit, Duration)> {
        let state = self.state.lock();
        let pits = state.pits.iter();
        pits.map(|(number, open)| {
            let id = ContextId { number: *number };
            (id, open.what.clone(), open.keep_alive)
        })
        .collect()
    }

    /// Whether whoever asks is the first, and so is to end those whose time is over.
    fn is_first_to_watch(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_watched, true)
    }

    /// Ends what nobody has asked for in time, or whose indexes are gone, and says when to look again; never, where there
    /// is nothing.
    fn sweep(&self, engine: &Engine) -> Option<Instant> {
        let at = (Instant::now(), engine);
        let mut state = self.state.lock();
        let gone = (
            take_ended(&mut state.scrolls, at, |one| (&one.pinned, &one.memory)),
            take_ended(&mut state.pits, at, |one| (&one.pinned, &one.memory)),
        );
        let scrolls = state.scrolls.values().map(|open| open.expires);
        let pits = state.pits.values().map(|open| open.expires);
        let next = scrolls.chain(pits).min();
        state.is_watched = next.is_some();
        // Not under the lock, as in `close`.
        drop(state);
        drop(gone);
        next
    }
}

/// Ends contexts when their time is over or their indexes are gone, for as long as there are any and the server lives: one task for all of them.
pub(super) fn watch(api: &Arc<Api>) {
    let contexts = api.parts.get::<SearchContexts>();
    if !contexts.is_first_to_watch() {
        contexts.opened.notify_one();
        return;
    }
    let mut names = api.engine.watch_names();
    let api: Weak<Api> = Arc::downgrade(api);
    let opened = contexts.opened.clone();
    tokio::spawn(async move {
        while let Some(next) = api
            .upgrade()
            .and_then(|api| api.parts.get::<SearchContexts>().sweep(&api.engine))
        {
            tokio::select! {
                () = tokio::time::sleep_until(next.into()) => {}
                () = opened.notified() => {}
                // The engine goes with the server.
                changed = names.changed() => if changed.is_err() { return },
            }
        }
    });
}

/// Takes out the contexts whose indexes are gone, and those whose time is over and that nobody reads, who would have a share in
/// their memory.
fn take_ended<T>(
    contexts: &mut BTreeMap<u64, Open<T>>,
    (now, engine): (Instant, &Engine),
    parts: fn(&T) -> (&Pinned, &Arc<Reservation>),
) -> Vec<Open<T>> {
    let ended = contexts.iter_mut().filter_map(|(number, open)| {
        let (pinned, memory) = parts(&open.what);
        let is_read = Arc::strong_count(memory) > 1;
        let goes_on = serves(engine, pinned) && open.lives_on(now, is_read);
        (!goes_on).then_some(*number)
    });
    let ended: Vec<u64> = ended.collect();
    let taken = ended.iter().filter_map(|number| contexts.remove(number));
    taken.collect()
}

/// Whether any index is there and open that is read. All files of a deleted one stay on the disk for as long as its views are
/// held; beside others it is read to the end, so that no page lacks what the ones before it had.
fn serves(engine: &Engine, pinned: &Pinned) -> bool {
    let serves = |shard: &PinnedShard| shard.index().is_open() && engine.has_index(shard.index());
    pinned.shards().is_empty() || pinned.shards().iter().any(serves)
}

fn open<T>(what: T, keep_alive: Duration) -> Open<T> {
    Open {
        what,
        expires: Instant::now() + keep_alive,
        keep_alive,
    }
}

fn touch<T: Clone>(
    contexts: &mut BTreeMap<u64, Open<T>>,
    kind: ContextKind,
    id: ContextId,
    keep_alive: Option<Duration>,
) -> Result<T, ApiError> {
    let now = Instant::now();
    let living = contexts
        .get_mut(&id.number)
        .filter(|open| open.expires > now);
    let Some(open) = living else {
        return Err(missing(id.number));
    };
    if let Some(keep_alive) = keep_alive {
        open.keep_alive = open.keep_alive.max(keep_alive);
        if kind == ContextKind::Scroll {
            open.keep_alive = keep_alive;
        }
    }
    open.expires = now + open.keep_alive;
    Ok(open.what.clone())
}

/// Refuses to keep a context for longer than the cluster allows.
pub(super) fn check_keep_alive(
    call: &Call,
    kind: ContextKind,
    keep_alive: Option<Duration>,
) -> Result<(), ApiError> {
    let Some(keep_alive) = keep_alive else {
        return Ok(());
    };
    let setting = match kind {
        ContextKind::Scroll => SCROLL_ALIVE_SETTING,
        ContextKind::Pit => PIT_ALIVE_SETTING,
    };
    let max = call.api.cluster_settings.keep_alive_max(setting);
    if keep_alive <= max {
        return Ok(());
    }
    Err(ApiError::illegal_argument(format!(
        "Keep alive for request ({}) is too large. It must be less than ({}). This limit can be set \
         by changing the [{setting}] cluster level setting.",
        Took(keep_alive),
        Took(max)
    )))
}

fn too_many(reason: String) -> ApiError {
    ApiError::new(
        StatusCode::TOO_MANY_REQUESTS,
        Cause::new("rejected_execution_exception", reason),
    )
}

fn missing(number: u64) -> ApiError {
    let reason = format!("No search context found for id [{number}]");
    ApiError::new(
        StatusCode::NOT_FOUND,
        Cause::new("search_context_missing_exception", reason),
    )
}

#[cfg(test)]
mod tests;

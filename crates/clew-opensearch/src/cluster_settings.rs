//! Settings of the whole cluster. Few change anything here; they are kept because tools set them and
//! then read them back: persistent ones with the definitions, transient ones while the process lives.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clew_engine::{DefinitionChange, Definitions, DiskLimits, Engine};
use clew_platform::MemoryLimits;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::disk_settings::{read_disk_limits, shown_defaults};
use crate::error::ApiError;
use crate::ism;
use crate::memory_stats;
use crate::reply::Reply;
use crate::search::Expensive;
use crate::settings::{flatten_plain, parse_time, shown, unflatten};

/// Settings kept at most, so that a client cannot fill the memory with them.
const SETTINGS_MAX: usize = 10_000;

const KIND: &str = "cluster_setting";

type Kept = BTreeMap<String, String>;
/// New values by name; none takes a setting away.
type Changes = BTreeMap<String, Option<String>>;

/// The settings of both kinds.
pub(crate) struct ClusterSettings {
    kept: Mutex<Both>,
    times: KeptTimes,
    /// How full the disk may get where nobody says otherwise.
    disk: DiskLimits,
}

#[derive(Clone, Default)]
struct Both {
    persistent: Kept,
    transient: Kept,
}

/// `GET /_cluster/settings`.
pub(crate) async fn get(call: Call) -> Result<Reply, ApiError> {
    let flat = call.params.flag("flat_settings", false)?;
    let both = call.api.cluster_settings.lock().clone();
    let mut body = json!({
        "persistent": render(&both.persistent, flat),
        "transient": render(&both.transient, flat),
    });
    if call.params.flag("include_defaults", false)?
        && let Value::Object(body) = &mut body
    {
        let shown = shown_defaults(&call.api.cluster_settings.disk);
        let unset = shown
            .into_iter()
            .filter(|(name, _)| both.given(name).is_none());
        let unset: Kept = unset.map(|(name, text)| (name.to_string(), text)).collect();
        body.insert("defaults".to_string(), render(&unset, flat));
    }
    Ok(Reply::json(&body))
}

/// `PUT /_cluster/settings`.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    if body.as_object().is_none_or(Map::is_empty) {
        return Err(ApiError::validation("no settings to update"));
    }
    let flat = call.params.flag("flat_settings", false)?;
    let (persistent, transient) = read_changes(&body)?;
    let mut next = call.api.cluster_settings.lock().clone();
    apply(&mut next.transient, &transient);
    let answer = json!({
        "acknowledged": true,
        "persistent": render(&set_by(&persistent), flat),
        "transient": render(&set_by(&transient), flat),
    });
    let checking = call.api.engine.clone();
    let disk = call.api.cluster_settings.disk;
    let glsn = call
        .changing(move |all| {
            next.persistent = persisted(all);
            apply(&mut next.persistent, &persistent);
            check(&next, &disk)?;
            memory_limits(&checking, &next)?;
            let change = |(name, text): (String, Option<String>)| match text {
                Some(text) => DefinitionChange::put(KIND, &name, Value::from(text)),
                None => DefinitionChange::remove(KIND, &name),
            };
            let known = |name: &str| all.get(KIND, name).is_some();
            let changes = persistent.into_iter();
            let changes = changes.filter(|(name, text)| text.is_some() || known(name));
            Ok(changes.map(change).collect())
        })
        .await?;
    let engine = &call.api.engine;
    let mut both = call.api.cluster_settings.lock();
    apply(&mut both.transient, &transient);
    both.persistent = engine.with_definitions(persisted);
    engine.set_buckets_max(buckets_max(&both)?);
    engine.memory().set_limits(memory_limits(engine, &both)?);
    call.api
        .cluster_settings
        .times
        .store(SearchTimes::of(&both)?);
    engine.set_disk_limits(disk_limits(&both, &disk)?);
    Ok(Reply::json(&answer).at(glsn))
}

/// What a request changes among the persistent and the transient settings.
fn read_changes(body: &Value) -> Result<(Changes, Changes), ApiError> {
    let (mut persistent, mut transient) = (Changes::new(), Changes::new());
    for (name, value) in body.as_object().into_iter().flatten() {
        let changes = match name.as_str() {
            "persistent" => &mut persistent,
            "transient" => &mut transient,
            other => {
                return Err(ApiError::bad_request(
                    "x_content_parse_exception",
                    format!("[cluster_update_settings_request] unknown field [{other}]"),
                ));
            }
        };
        let empty = Map::new();
        changes.extend(flatten_plain(value.as_object().unwrap_or(&empty))?);
    }
    Ok((persistent, transient))
}

fn persisted(all: &Definitions) -> Kept {
    let text = |value: &Value| value.as_str().map(String::from);
    all.of(KIND)
        .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
        .collect()
}

fn apply(kept: &mut Kept, changes: &Changes) {
    for (name, text) in changes {
        match text {
            Some(text) => kept.insert(name.clone(), text.clone()),
            None => kept.remove(name),
        };
    }
}

fn set_by(changes: &Changes) -> Kept {
    let set = |(name, text): (&String, &Option<String>)| Some((name.clone(), text.clone()?));
    changes.iter().filter_map(set).collect()
}

fn check(both: &Both, disk: &DiskLimits) -> Result<(), ApiError> {
    if both.persistent.len() + both.transient.len() > SETTINGS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{SETTINGS_MAX}] cluster settings"
        )));
    }
    ism::check_settings(|name| both.given(name))?;
    SearchTimes::of(both)?;
    // Those of each kind must fit together by themselves: the others may go away.
    for kept in [&both.persistent, &both.transient] {
        let alone = Both {
            persistent: kept.clone(),
            transient: Kept::new(),
        };
        disk_limits(&alone, disk)?;
    }
    disk_limits(both, disk)?;
    buckets_max(both).map(|_| ())
}

impl Both {
    /// A setting's value; a transient one wins.
    fn given(&self, name: &str) -> Option<String> {
        let given = self.transient.get(name).or(self.persistent.get(name));
        given.map(|text| text.trim_matches('"').to_string())
    }
}

/// How full the disk may get (`cluster.routing.allocation.disk.*`).
fn disk_limits(both: &Both, defaults: &DiskLimits) -> Result<DiskLimits, ApiError> {
    let limits = read_disk_limits(|name| both.given(name), defaults);
    limits.map_err(ApiError::illegal_argument)
}

/// How many buckets a search may have (`search.max_buckets`).
fn buckets_max(both: &Both) -> Result<usize, ApiError> {
    let name = "search.max_buckets";
    let given = both.transient.get(name).or(both.persistent.get(name));
    let Some(text) = given else {
        return Ok(clew_text::AggLimits::default().buckets_max);
    };
    text.trim_matches('"').parse().map_err(|_| {
        ApiError::illegal_argument(format!(
            "Failed to parse value [{text}] for setting [{name}]"
        ))
    })
}

/// What memory may be taken (`indices.breaker.*` and their like).
fn memory_limits(engine: &Engine, both: &Both) -> Result<MemoryLimits, ApiError> {
    let (defaults, whole) = (engine.memory_limits(), engine.memory_bytes());
    memory_stats::limits(defaults, whole, |name| both.given(name))
}

impl ClusterSettings {
    /// Those that were kept when the process last ended.
    pub(crate) fn load(engine: &Engine) -> Self {
        let both = Both {
            persistent: engine.with_definitions(persisted),
            transient: Kept::new(),
        };
        if let Ok(buckets) = buckets_max(&both) {
            engine.set_buckets_max(buckets);
        }
        if let Ok(limits) = memory_limits(engine, &both) {
            engine.memory().set_limits(limits);
        }
        let disk = engine.disk_limits();
        match disk_limits(&both, &disk) {
            Ok(limits) => engine.set_disk_limits(limits),
            Err(error) => {
                let reason = error.reason();
                tracing::warn!(reason, "the kept settings of the disk do not hold");
            }
        }
        ClusterSettings {
            times: KeptTimes::new(SearchTimes::of(&both).unwrap_or_default()),
            kept: Mutex::new(both),
            disk,
        }
    }

    /// When searches end that do not say so themselves. Costs no lock.
    pub(crate) fn search_times(&self) -> SearchTimes {
        self.times.load()
    }

    /// Whether clients are told the last version of the common ancestor
    /// (`compatibility.override_main_response_version`).
    pub(crate) fn old_version_shown(&self) -> bool {
        let both = self.lock();
        let name = "compatibility.override_main_response_version";
        let given = both.transient.get(name).or(both.persistent.get(name));
        given.is_some_and(|text| text.trim_matches('"') == "true")
    }

    /// Whether searches may run costly queries (`search.allow_expensive_queries`).
    pub(crate) fn expensive_queries(&self) -> Expensive {
        let both = self.lock();
        let name = "search.allow_expensive_queries";
        let given = both.transient.get(name).or(both.persistent.get(name));
        match given.map(String::as_str) {
            Some("false" | "\"false\"") => Expensive::Refused,
            _ => Expensive::Allowed,
        }
    }

    /// The value of a setting that was given.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        self.lock().given(name)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Both> {
        // The maps are replaced whole, so a panic elsewhere cannot leave them half changed.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When searches end that do not say so themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SearchTimes {
    /// `search.default_search_timeout`.
    pub(crate) timeout: Option<Duration>,
    /// `search.cancel_after_time_interval`.
    pub(crate) cancel_after: Option<Duration>,
}

impl SearchTimes {
    fn of(both: &Both) -> Result<Self, ApiError> {
        let time = |name: &str| match both.given(name) {
            Some(text) => parse_time(name, &text),
            None => Ok(None),
        };
        Ok(SearchTimes {
            timeout: time("search.default_search_timeout")?,
            cancel_after: time("search.cancel_after_time_interval")?,
        })
    }
}

/// The same as every search reads it: in milliseconds, none as the largest number.
struct KeptTimes {
    timeout_ms: AtomicU64,
    cancel_after_ms: AtomicU64,
}

impl KeptTimes {
    fn new(times: SearchTimes) -> Self {
        let kept = KeptTimes {
            timeout_ms: AtomicU64::new(u64::MAX),
            cancel_after_ms: AtomicU64::new(u64::MAX),
        };
        kept.store(times);
        kept
    }

    fn store(&self, times: SearchTimes) {
        let ms = |time: Option<Duration>| {
            time.and_then(|time| u64::try_from(time.as_millis()).ok())
                .unwrap_or(u64::MAX)
        };
        self.timeout_ms.store(ms(times.timeout), Ordering::Relaxed);
        self.cancel_after_ms
            .store(ms(times.cancel_after), Ordering::Relaxed);
    }

    fn load(&self) -> SearchTimes {
        let time = |ms: &AtomicU64| {
            let ms = ms.load(Ordering::Relaxed);
            (ms < u64::MAX).then(|| Duration::from_millis(ms))
        };
        SearchTimes {
            timeout: time(&self.timeout_ms),
            cancel_after: time(&self.cancel_after_ms),
        }
    }
}

fn render(kept: &Kept, flat: bool) -> Value {
    let pairs = kept
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    if flat {
        Value::Object(
            pairs
                .map(|(name, text)| (name.to_string(), shown(text)))
                .collect(),
        )
    } else {
        Value::Object(unflatten(pairs))
    }
}

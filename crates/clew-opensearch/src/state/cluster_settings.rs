//! Settings of the whole cluster. Few change anything here; they are kept because tools set them and
//! then read them back: persistent ones with the definitions, transient ones while the process lives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clew_engine::{DefinitionChange, Definitions, DiskLimits, Engine, SlowRequests};
use clew_log::Glsn;
use clew_platform::MemoryLimits;
use clew_schema::glob::matches as glob;
use parking_lot::Mutex;
use serde_json::Value;

use crate::http::error::ApiError;
use crate::http::memory_stats;
use crate::http::setting_values::parse_time;
use crate::state::call::Call;
use crate::state::disk_settings::read_disk_limits;
use crate::state::known_cluster_settings;
use crate::state::{promises, slow_log};

/// Settings kept at most, so that a client cannot fill the memory with them.
const SETTINGS_MAX: usize = 10_000;

const KIND: &str = "cluster_setting";

/// How long contexts of searches may be kept that nobody asks for: the setting of scrolls, and that of points in time.
pub(crate) const SCROLL_ALIVE_SETTING: &str = "search.max_keep_alive";
pub(crate) const PIT_ALIVE_SETTING: &str = "point_in_time.max_keep_alive";
/// The same unless somebody says otherwise.
const KEEP_ALIVE_MAX: Duration = Duration::from_secs(24 * 3600);

pub(crate) type Kept = BTreeMap<String, String>;
/// New values by name; none takes a setting away.
pub(crate) type Changes = BTreeMap<String, Option<String>>;

/// The settings of both kinds.
pub(crate) struct ClusterSettings {
    kept: Mutex<Both>,
    times: KeptTimes,
    switches: Switches,
    /// Whether whole searches are told as slow.
    slow_told: AtomicBool,
    /// How full the disk may get where nobody says otherwise.
    disk: DiskLimits,
    checks: Arc<[SettingCheck]>,
}

/// What was given, by how long it lasts.
#[derive(Clone, Default)]
pub(crate) struct Both {
    pub(crate) persistent: Kept,
    pub(crate) transient: Kept,
}

/// Refuses settings that mean something to a room; it looks each up by its name.
pub(crate) type SettingCheck = fn(&dyn Fn(&str) -> Option<String>) -> Result<(), ApiError>;

/// Changes settings, all or none. What they mean holds from now on.
///
/// # Errors
/// When a value cannot be read, or does not fit to the others.
pub(crate) async fn change(
    call: &Call,
    persistent: Changes,
    transient: Changes,
) -> Result<Option<Glsn>, ApiError> {
    let settings = &call.api.cluster_settings;
    let mut next = settings.both();
    known_cluster_settings::check("transient", &transient, &next.transient)?;
    known_cluster_settings::check("persistent", &persistent, &next.persistent)?;
    promises::refuse_blocks(&transient)?;
    promises::refuse_blocks(&persistent)?;
    let transient = expanded(transient, &next.transient);
    let persistent = expanded(persistent, &next.persistent);
    apply(&mut next.transient, &transient);
    let (checking, disk, checks) = (
        call.api.engine.clone(),
        settings.disk,
        settings.checks.clone(),
    );
    let glsn = call
        .changing(move |all| {
            next.persistent = persisted(all);
            apply(&mut next.persistent, &persistent);
            check(&next, &checking, &disk, &checks)?;
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
    let mut both = settings.kept.lock();
    apply(&mut both.transient, &transient);
    both.persistent = engine.with_definitions(persisted);
    engine.set_buckets_max(buckets_max(&both)?);
    engine.set_shards_max(shards_max(&both)?);
    engine.set_auto_creation(promises::auto_creation(&|name| both.given(name))?);
    engine.memory().set_limits(memory_limits(engine, &both)?);
    settings.times.store(SearchTimes::of(&both)?);
    settings.switches.store(&both);
    let slow = slow_log::searches(&|name| both.given(name))?;
    engine.set_slow_calls(slow_log::milvus_calls(&|name| both.given(name))?);
    settings.slow_told.store(slow.is_on(), Ordering::Relaxed);
    engine.set_disk_limits(disk_limits(&both, &disk)?);
    Ok(glsn)
}

fn persisted(all: &Definitions) -> Kept {
    let text = |value: &Value| value.as_str().map(String::from);
    all.of(KIND)
        .filter_map(|(name, value)| Some((name.to_string(), text(value)?)))
        .collect()
}

/// The same changes with the names of what is kept in place of patterns, all of which take away.
fn expanded(changes: Changes, kept: &Kept) -> Changes {
    let mut all = Changes::new();
    for (name, text) in changes {
        if text.is_none() && name.contains('*') {
            let fitting = kept.keys().filter(|known| glob(&name, known));
            all.extend(fitting.map(|known| (known.clone(), None)));
        } else {
            all.insert(name, text);
        }
    }
    all
}

fn apply(kept: &mut Kept, changes: &Changes) {
    for (name, text) in changes {
        match text {
            Some(text) => kept.insert(name.clone(), text.clone()),
            None => kept.remove(name),
        };
    }
}

fn check(
    both: &Both,
    engine: &Engine,
    disk: &DiskLimits,
    checks: &[SettingCheck],
) -> Result<(), ApiError> {
    if both.persistent.len() + both.transient.len() > SETTINGS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "more than [{SETTINGS_MAX}] cluster settings"
        )));
    }
    // Those of each kind must be right by themselves, and fit together: the others may go away, and a value that they hide
    // would keep all later changes from being made.
    for kept in [&both.persistent, &both.transient] {
        let alone = Both {
            persistent: kept.clone(),
            transient: Kept::new(),
        };
        check_together(&alone, engine, disk, checks)?;
    }
    check_together(both, engine, disk, checks)
}

/// Refuses what cannot be read of settings that hold together.
fn check_together(
    both: &Both,
    engine: &Engine,
    disk: &DiskLimits,
    checks: &[SettingCheck],
) -> Result<(), ApiError> {
    let given = |name: &str| both.given(name);
    checks.iter().try_for_each(|check| check(&given))?;
    SearchTimes::of(both)?;
    promises::auto_creation(&given)?;
    for name in [SCROLL_ALIVE_SETTING, PIT_ALIVE_SETTING] {
        keep_alive_max(both, name)?;
    }
    slow_log::searches(&given)?;
    slow_log::milvus_calls(&given)?;
    check_backpressure(both)?;
    disk_limits(both, disk)?;
    memory_limits(engine, both)?;
    shards_max(both)?;
    buckets_max(both).map(|_| ())
}

/// Settings of what OpenSearch does under duress are kept if they make sense.
fn check_backpressure(both: &Both) -> Result<(), ApiError> {
    let modes = ["monitor_only", "enforced", "disabled"];
    if let Some(mode) = both.given("search_backpressure.mode")
        && !modes.contains(&mode.to_ascii_lowercase().as_str())
    {
        let reason = format!("Invalid SearchBackpressureMode: {mode}");
        return Err(ApiError::illegal_argument(reason));
    }
    for task in ["search_task", "search_shard_task"] {
        for (figure, most) in [("cancellation_rate", f64::MAX), ("cancellation_ratio", 1.0)] {
            let name = format!("search_backpressure.{task}.{figure}");
            let Some(text) = both.given(&name) else {
                continue;
            };
            let number = text.parse::<f64>().map_err(|_| {
                let reason = format!("Failed to parse value [{text}] for setting [{name}]");
                ApiError::no_number(reason, &text)
            })?;
            if number <= 0.0 {
                return Err(ApiError::illegal_argument(format!("{name} must be > 0")));
            }
            if number > most {
                return Err(ApiError::illegal_argument(format!(
                    "Failed to parse value [{text}] for setting [{name}] must be <= {most:?}"
                )));
            }
        }
    }
    Ok(())
}

impl Both {
    /// A setting's value; a transient one wins.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
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
        return Ok(clew_aggregation::AggLimits::default().buckets_max);
    };
    let text = text.trim_matches('"');
    text.parse().map_err(|_| {
        let reason = format!("Failed to parse value [{text}] for setting [{name}]");
        ApiError::no_number(reason, text)
    })
}

/// How many shards open indexes may have (`cluster.max_shards_per_node`), where somebody says so.
fn shards_max(both: &Both) -> Result<Option<u64>, ApiError> {
    let name = "cluster.max_shards_per_node";
    let Some(text) = both.given(name) else {
        return Ok(None);
    };
    let max = text.parse().map_err(|_| {
        let reason = format!("Failed to parse value [{text}] for setting [{name}]");
        ApiError::no_number(reason, &text)
    })?;
    Ok(Some(max))
}

/// The longest time of a setting of contexts.
fn keep_alive_max(both: &Both, name: &str) -> Result<Duration, ApiError> {
    let given = both.given(name);
    let given = given.map(|text| parse_time(name, &text)).transpose()?;
    Ok(given.flatten().unwrap_or(KEEP_ALIVE_MAX))
}

/// What memory may be taken (`indices.breaker.*` and their like).
fn memory_limits(engine: &Engine, both: &Both) -> Result<MemoryLimits, ApiError> {
    let (defaults, whole) = (engine.memory_limits(), engine.memory_bytes());
    memory_stats::limits(defaults, whole, |name| both.given(name))
}

impl ClusterSettings {
    /// Those that were kept when the process last ended.
    pub(crate) fn load(engine: &Engine, checks: Arc<[SettingCheck]>) -> Self {
        let both = Both {
            persistent: engine.with_definitions(persisted),
            transient: Kept::new(),
        };
        if let Ok(buckets) = buckets_max(&both) {
            engine.set_buckets_max(buckets);
        }
        if let Ok(shards) = shards_max(&both) {
            engine.set_shards_max(shards);
        }
        if let Ok(creation) = promises::auto_creation(&|name| both.given(name)) {
            engine.set_auto_creation(creation);
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
        let slow = slow_log::searches(&|name| both.given(name)).unwrap_or_default();
        let calls = slow_log::milvus_calls(&|name| both.given(name));
        engine.set_slow_calls(calls.unwrap_or_default());
        ClusterSettings {
            slow_told: AtomicBool::new(slow.is_on()),
            times: KeptTimes::new(SearchTimes::of(&both).unwrap_or_default()),
            switches: Switches::of(&both),
            kept: Mutex::new(both),
            disk,
            checks,
        }
    }

    /// When searches end that do not say so themselves. Costs no lock.
    pub(crate) fn search_times(&self) -> SearchTimes {
        self.times.load()
    }

    /// Whether whole searches are told as slow. Costs no lock.
    pub(crate) fn tells_slow(&self) -> bool {
        self.slow_told.load(Ordering::Relaxed)
    }

    /// From which times on whole searches are told as slow; none where none are.
    pub(crate) fn slow_requests(&self) -> Option<SlowRequests> {
        if !self.tells_slow() {
            return None;
        }
        slow_log::searches(&|name| self.given(name)).ok()
    }

    /// Whether clients are told the last version of the common ancestor
    /// (`compatibility.override_main_response_version`).
    pub(crate) fn old_version_shown(&self) -> bool {
        let given = self.given("compatibility.override_main_response_version");
        given.as_deref() == Some("true")
    }

    /// Whether searches may run costly queries (`search.allow_expensive_queries`).
    pub(crate) fn expensive_queries(&self) -> Expensive {
        match self.switches.expensive_off.load(Ordering::Relaxed) {
            true => Expensive::Refused,
            false => Expensive::Allowed,
        }
    }

    /// Whether there are fields that scripts make (`search.derived_field.enabled`).
    pub(crate) fn derived_fields(&self) -> DerivedAllowed {
        match self.switches.derived_off.load(Ordering::Relaxed) {
            true => DerivedAllowed::No,
            false => DerivedAllowed::Yes,
        }
    }

    /// How long contexts may be kept whose setting has this name.
    pub(crate) fn keep_alive_max(&self, name: &str) -> Duration {
        keep_alive_max(&self.kept.lock(), name).unwrap_or(KEEP_ALIVE_MAX)
    }

    /// The value of a setting that was given.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        self.kept.lock().given(name)
    }

    /// All that was given.
    pub(crate) fn both(&self) -> Both {
        self.kept.lock().clone()
    }

    /// How full the disk may get where nobody says otherwise.
    pub(crate) fn disk_defaults(&self) -> &DiskLimits {
        &self.disk
    }
}

/// Whether costly queries are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expensive {
    Allowed,
    Refused,
}

/// Whether there are fields that scripts make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DerivedAllowed {
    Yes,
    No,
}

/// What of searches is switched off, as every search reads it.
#[derive(Default)]
struct Switches {
    expensive_off: AtomicBool,
    derived_off: AtomicBool,
}

impl Switches {
    fn of(both: &Both) -> Self {
        let switches = Switches::default();
        switches.store(both);
        switches
    }

    fn store(&self, both: &Both) {
        let store = |switch: &AtomicBool, name: &str| {
            let is_off = both.given(name).as_deref() == Some("false");
            switch.store(is_off, Ordering::Relaxed);
        };
        store(&self.expensive_off, "search.allow_expensive_queries");
        store(&self.derived_off, "search.derived_field.enabled");
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

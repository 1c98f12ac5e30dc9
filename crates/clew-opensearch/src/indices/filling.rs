//! Indexes that are made out of other documents: copies of an index, restored snapshots. Until all
//! documents are in, the index is unfinished, and serves nothing; one that is filled by nobody was never
//! finished, and is removed rather than taken for whole. Indexes that are made together are finished
//! together, so that there are all of them or none.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{
    Access, AliasAction, Aliases, CatalogChange, DefinitionChange, Engine, EngineError, Index,
    IndexPlan, SettingsChange,
};
use clew_schema::Mapping;
use parking_lot::Mutex;
use tokio::time::MissedTickBehavior;

use crate::http::error::ApiError;
use crate::http::setting_values::Flat;
use crate::indices::settings;
use crate::state::api::Api;

/// What early builds had among the given settings of an index that they had not filled to its end.
const MARK_BEFORE: &str = "index.clew.unfinished";

/// Whether an index is not filled to its end: nobody may take it for the whole.
pub fn is_unfinished(index: &Index) -> bool {
    index.is_unfinished() || index.settings().given.contains_key(MARK_BEFORE)
}

/// What an index is to be when it is full.
pub(crate) struct Filled {
    pub(crate) name: String,
    /// All settings, flat.
    pub(crate) settings: Flat,
    pub(crate) mapping: Mapping,
    pub(crate) aliases: Aliases,
    /// Settings that only the server itself gives.
    pub(crate) private: BTreeMap<String, String>,
}

/// The names of the indexes that are being filled, by how many requests.
#[derive(Debug, Default)]
pub(crate) struct Filling(Mutex<BTreeMap<String, usize>>);

/// Says that an index is being filled, until it is dropped.
struct Busy<'f>(&'f Filling, String);

impl Filling {
    fn begin(&self, name: &str) -> Busy<'_> {
        *self.0.lock().entry(name.to_string()).or_default() += 1;
        Busy(self, name.to_string())
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut names = self.0.0.lock();
        if let Entry::Occupied(mut count) = names.entry(std::mem::take(&mut self.1)) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Makes indexes, lets `fill` put the documents into each, by its place in the list, and then makes all of them whole
/// together, with changes of definitions. They get their blocks only then. When anything of it fails, none is left.
pub(crate) fn make(
    (api, access): (&Api, &Access),
    all: Vec<Filled>,
    definitions: Vec<DefinitionChange>,
    fill: impl Fn(&Engine, usize, &Arc<Index>) -> Result<(), EngineError>,
) -> Result<(), ApiError> {
    let engine = &api.engine;
    let filling = api.parts.get::<Filling>();
    let busy: Vec<Busy<'_>> = all
        .iter()
        .map(|filled| filling.begin(&filled.name))
        .collect();
    let (mut made, mut changes) = (Vec::new(), Vec::new());
    let work = || -> Result<(), ApiError> {
        for (place, filled) in all.into_iter().enumerate() {
            let (plan, name, end) = filled.begin()?;
            let (index, _) = engine.create_planned(access, &name, plan)?;
            made.push(index.clone());
            fill(engine, place, &index)?;
            changes.push(end.change(&index));
        }
        changes.extend(definitions.into_iter().map(CatalogChange::Definition));
        if !changes.is_empty() {
            engine.change_catalog(access, changes)?;
        }
        Ok(())
    };
    let done = work();
    if done.is_err()
        && let Err(left) = delete_what_is_left(engine, access, &made)
    {
        tracing::warn!(%left, "cannot remove unfinished indexes yet");
    }
    drop(busy);
    done
}

/// Deletes those of some indexes that nobody else has deleted yet.
fn delete_what_is_left(
    engine: &Engine,
    access: &Access,
    made: &[Arc<Index>],
) -> Result<(), EngineError> {
    let deleted = engine.change_aliases_by(access, |names| -> Result<_, EngineError> {
        let left = made.iter().filter_map(|index| names.of(index).ok());
        let each = left.map(|index| AliasAction::RemoveIndex { index });
        Ok(each.collect())
    });
    deleted.map(drop)
}

/// What an index gets when it is full.
struct Full {
    blocks: Flat,
    private: BTreeMap<String, String>,
}

impl Full {
    /// What finishes an index. Others may have changed settings meanwhile, which they keep.
    fn change(self, index: &Index) -> CatalogChange {
        let change = SettingsChange::new(move |current| {
            let mut whole = current.clone();
            whole.unfinished = false;
            whole.given.extend(self.private.clone());
            for (name, value) in &self.blocks {
                settings::set(&mut whole, name, value.as_deref())
                    .map_err(|error| settings::refused(&error))?;
            }
            Ok(whole)
        });
        CatalogChange::Settings {
            index: index.name().to_string(),
            uuid: index.uuid().to_string(),
            change,
            blocks_alone: false,
        }
    }
}

impl Filled {
    /// What the index begins with, its name, and what it gets in the end.
    fn begin(self) -> Result<(IndexPlan, String, Full), ApiError> {
        let limits = settings::create(&self.settings)?.mapping_limits;
        let (blocks, open): (Flat, Flat) = self
            .settings
            .into_iter()
            .partition(|(name, _)| name.starts_with(settings::BLOCKS));
        let mut begin = settings::create(&open)?;
        begin.unfinished = true;
        let end = Full {
            blocks,
            private: self.private,
        };
        let mut mapping = self.mapping;
        mapping.set_limits(limits);
        let plan = IndexPlan {
            name: None,
            any_case: false,
            settings: begin,
            mapping,
            aliases: self.aliases,
        };
        Ok((plan, self.name, end))
    }
}

/// How often indexes are looked for whose filling was cut short.
const SWEEP_EVERY: Duration = Duration::from_secs(15);

/// Removes such indexes now and then, until the server stops.
pub(crate) async fn sweep(api: Arc<Api>) {
    let stopped = api.stopped();
    tokio::pin!(stopped);
    let mut look = tokio::time::interval(SWEEP_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = &mut stopped => return,
            _ = look.tick() => {}
        }
        let sweeping = api.clone();
        let swept = tokio::task::spawn_blocking(move || {
            remove_unfinished(&sweeping.engine, &sweeping.parts.get::<Filling>());
        });
        if let Err(error) = swept.await {
            tracing::error!(%error, "removing unfinished indexes failed");
        }
    }
}

/// Removes indexes whose filling was cut short, by the end of the process or by a disk that kept them from being
/// removed at once.
pub(crate) fn remove_unfinished(engine: &Engine, filling: &Filling) {
    // Those that begin meanwhile are listed before they are made.
    let everything = Access::everything();
    let indices = engine.indices(&everything);
    let busy = filling.0.lock().clone();
    let unfinished = indices
        .iter()
        .filter(|index| is_unfinished(index) && !busy.contains_key(index.name()));
    for index in unfinished {
        tracing::warn!(
            index = index.name(),
            "removing an index that was never finished"
        );
        if let Err(error) = engine.delete_these(&everything, [index]) {
            tracing::warn!(%error, index = index.name(), "cannot remove it");
        }
    }
}

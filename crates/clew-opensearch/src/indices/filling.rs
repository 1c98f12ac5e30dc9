//! Indexes that are made out of other documents: copies of an index, restored snapshots. Until all
//! documents are in, the index is unfinished, and serves nothing; one that is filled by nobody was never
//! finished, and is removed rather than taken for whole. Indexes that are made together are finished
//! together, so that there are all of them or none. One that takes the place of a closed index is filled under a hidden
//! name of its own: until it is whole, the closed one is there as it was.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{
    Access, AliasAction, Aliases, BlockLevel, DefinitionChange, Engine, EngineError, FilledIndex,
    Index, IndexPlan, Purpose, SettingsChange,
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

/// How the names begin that indexes have while they are filled to take the place of others; an id follows.
const MEANWHILE: &str = ".clew-filling-";

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
    /// The closed index of that name, which it takes the place of.
    pub(crate) in_place_of: Option<Arc<Index>>,
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
/// together, with changes of definitions. They get their blocks only then. When anything of it fails, none is left, and
/// the closed indexes are there whose places they were to take. `fill` is given whom to write as.
pub(crate) fn make(
    (api, access): (&Api, &Access),
    all: Vec<Filled>,
    definitions: Vec<DefinitionChange>,
    fill: impl Fn((&Engine, &Access), usize, &Arc<Index>) -> Result<(), EngineError>,
) -> Result<(), ApiError> {
    let engine = &api.engine;
    let filling = api.parts.get::<Filling>();
    let named: Vec<(String, Filled)> = all
        .into_iter()
        .map(|filled| (filled.name_meanwhile(engine), filled))
        .collect();
    let names = named.iter().map(|(name, _)| filling.begin(name));
    let busy: Vec<Busy<'_>> = names.collect();
    let replaced = named
        .iter()
        .filter_map(|(_, filled)| filled.in_place_of.as_ref());
    let awaited: Vec<_> = replaced.map(Index::await_successor).collect();
    let (mut made, mut finished) = (Vec::new(), Vec::new());
    let work = || -> Result<(), ApiError> {
        for (_, filled) in &named {
            filled.check_replaces(engine, access)?;
        }
        let everything = Access::everything();
        for (place, (name, filled)) in named.into_iter().enumerate() {
            // The name that it has meanwhile is nobody's.
            let access = match filled.in_place_of {
                Some(_) => &everything,
                None => access,
            };
            let (plan, full) = filled.begin()?;
            let (index, _) = engine.create_planned(access, &name, plan)?;
            made.push(index.clone());
            fill((engine, access), place, &index)?;
            finished.push(full.of(index));
        }
        engine.finish_filled(access, finished, definitions)?;
        Ok(())
    };
    let done = work();
    if done.is_err()
        && let Err(left) = delete_what_is_left(engine, &made)
    {
        tracing::warn!(%left, "cannot remove unfinished indexes yet");
    }
    drop((busy, awaited));
    done
}

/// Deletes those of some indexes that are not whole, and that nobody else has deleted yet.
fn delete_what_is_left(engine: &Engine, made: &[Arc<Index>]) -> Result<(), EngineError> {
    let everything = Access::everything();
    let deleted = engine.change_aliases_by(&everything, |names| -> Result<_, EngineError> {
        // One that another thread has seen unfinished may have been finished since.
        let left = made.iter().filter(|index| is_unfinished(index));
        let left = left.filter_map(|index| names.of(index).ok());
        let each = left.map(|index| AliasAction::RemoveIndex { index });
        Ok(each.collect())
    });
    deleted.map(drop)
}

/// What an index gets when it is full.
struct Full {
    blocks: Flat,
    private: BTreeMap<String, String>,
    /// Of one that is hidden meanwhile.
    is_hidden: Option<bool>,
    aliases: Aliases,
    in_place_of: Option<Arc<Index>>,
}

impl Full {
    /// What finishes an index. Others may have changed settings meanwhile, which they keep.
    fn of(self, index: Arc<Index>) -> FilledIndex {
        let Full {
            blocks,
            private,
            is_hidden,
            aliases,
            in_place_of,
        } = self;
        let settings = SettingsChange::new(move |current| {
            let mut whole = current.clone();
            whole.unfinished = false;
            whole.hidden = is_hidden.unwrap_or(whole.hidden);
            whole.given.extend(private.clone());
            for (name, value) in &blocks {
                settings::set(&mut whole, name, value.as_deref())
                    .map_err(|error| settings::refused(&error))?;
            }
            Ok(whole)
        });
        FilledIndex {
            index,
            settings,
            aliases,
            in_place_of,
        }
    }
}

impl Filled {
    /// The name that the index has until it is whole.
    fn name_meanwhile(&self, engine: &Engine) -> String {
        match self.in_place_of {
            Some(_) => format!("{MEANWHILE}{}", engine.new_snapshot_id()),
            None => self.name.clone(),
        }
    }

    /// Refuses what takes the place of an index that may not be changed or that a block keeps, before anything is done.
    fn check_replaces(&self, engine: &Engine, access: &Access) -> Result<(), EngineError> {
        let Some(old) = &self.in_place_of else {
            return Ok(());
        };
        for purpose in [Purpose::Change, Purpose::Write] {
            engine.open_exactly(old.name(), access, purpose)?;
        }
        old.check_block(BlockLevel::Delete)
    }

    /// What the index begins with, and what it gets in the end.
    fn begin(self) -> Result<(IndexPlan, Full), ApiError> {
        let limits = settings::create(&self.settings)?.mapping_limits;
        let (blocks, open): (Flat, Flat) = self
            .settings
            .into_iter()
            .partition(|(name, _)| name.starts_with(settings::BLOCKS));
        let mut begin = settings::create(&open)?;
        begin.unfinished = true;
        let replaces = self.in_place_of.is_some();
        let is_hidden = replaces.then_some(begin.hidden);
        begin.hidden |= replaces;
        // The aliases of the closed one are its own until then.
        let (late, aliases) = match replaces {
            true => (self.aliases, Aliases::new()),
            false => (Aliases::new(), self.aliases),
        };
        let full = Full {
            blocks,
            private: self.private,
            is_hidden,
            aliases: late,
            in_place_of: self.in_place_of,
        };
        let mut mapping = self.mapping;
        mapping.set_limits(limits);
        let plan = IndexPlan {
            name: None,
            any_case: replaces,
            settings: begin,
            mapping,
            aliases,
        };
        Ok((plan, full))
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
        .into_iter()
        .filter(|index| !busy.contains_key(index.name()) && is_unfinished(index));
    for index in unfinished {
        tracing::warn!(
            index = index.name(),
            "removing an index that was never finished"
        );
        if let Err(error) = delete_what_is_left(engine, std::slice::from_ref(&index)) {
            tracing::warn!(%error, index = index.name(), "cannot remove it");
        }
    }
}

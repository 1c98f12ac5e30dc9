//! The action that writes an index again with fewer shards, beside the job. The source stays as it is,
//! blocked for writes; the new index's name is kept before it is made.

use clew_engine::{Access, AliasAction, Engine, EngineError, Index, Purpose};
use clew_opensearch::wing::{ApiError, is_unfinished, prepare_shrink};
use serde_json::{Value, json};

use super::carry::{block_writes, opened, rendered};
use super::{Outcome, Subject};
use crate::actions::{Shrink, ShrinkTo};
use crate::running::{Progress, RunningActions};

/// Begins to shrink, or looks how far that has come.
pub(super) fn attempt(subject: Subject<'_>, asked: &Shrink) -> Result<Outcome, ApiError> {
    let (api, index) = (subject.api, subject.index);
    let engine = &api.engine;
    if index.settings().shards == 1 {
        return Ok(Outcome::done(
            "Shrink action did not do anything because source index has only one primary shard."
                .to_string(),
        ));
    }
    let name = match &subject.managed.intent {
        Some(name) => name.clone(),
        None => {
            let pattern = asked.target.as_deref().unwrap_or("{{ctx.index}}_shrunken");
            let name = rendered(index, pattern)?;
            engine.check_new_name(&name)?;
            subject.managed.intent = Some(name.clone());
            subject.managed.save(engine)?;
            name
        }
    };
    block_writes(engine, index)?;
    let progress = match api.part::<RunningActions>().progress(index.uuid()) {
        Some(progress) => Some(progress),
        None if is_copy(engine, &name, index) => Some(Progress::Done),
        None => {
            let body = request(asked, index);
            let source = opened(&subject, Purpose::Copy)?;
            let work = prepare_shrink((api, &Access::everything()), &source, &name, body)?;
            api.part::<RunningActions>().begin(index.uuid(), work)
        }
    };
    let place = format!("[index={}]", index.name());
    Ok(match progress {
        Some(Progress::Done) => {
            if asked.switch_aliases {
                switch_aliases(engine, index, &name)?;
            }
            Outcome::done(format!("Shrink finished successfully: [{name}] {place}"))
        }
        Some(Progress::Failed { reason }) => Outcome::Failed {
            message: format!("Shrink failed {place}"),
            cause: Some(reason),
        },
        Some(Progress::Running) | None => {
            Outcome::waiting(format!("Shrink is still running {place}"))
        }
    })
}

/// Whether an index of this name is the finished copy of another. One that a crash has broken off, or whose removal has
/// failed, is none, and is removed before the next is begun.
fn is_copy(engine: &Engine, name: &str, source: &Index) -> bool {
    let Ok(copy) = engine.open_exactly(name, &Access::everything(), Purpose::Watch) else {
        return false;
    };
    if is_unfinished(copy.index()) {
        return false;
    }
    let settings = copy.settings();
    let of = settings.given.get("index.resize.source.uuid");
    of.is_some_and(|uuid| uuid == source.uuid())
}

/// What `_shrink` would be asked for.
fn request(asked: &Shrink, index: &Index) -> Value {
    let mut body = json!({
        "settings": {"index.blocks.write": null},
        "aliases": asked.aliases,
    });
    if let ShrinkTo::ShardBytes(bytes) = asked.to {
        body["max_shard_size"] = json!(format!("{bytes}b"));
    }
    if let Some(shards) = asked.to.shards(index.settings().shards) {
        body["settings"]["index.number_of_shards"] = json!(shards);
    }
    body
}

/// Gives the new index the aliases of the old one, as one change.
fn switch_aliases(engine: &Engine, index: &Index, new: &str) -> Result<(), ApiError> {
    engine.change_aliases_by(&Access::everything(), |names| -> Result<_, EngineError> {
        let old = names.of(index)?;
        let aliases = index.aliases();
        let moved = aliases.iter().flat_map(|(name, alias)| {
            let remove = AliasAction::Remove {
                index: old.clone(),
                name: name.clone(),
            };
            let add = AliasAction::Add {
                index: new.to_string(),
                name: name.clone(),
                alias: alias.clone(),
            };
            [remove, add]
        });
        Ok(moved.collect())
    })?;
    Ok(())
}

//! The action that lets a new index take over. The new index's name is kept before it is made, so that it is
//! made once even if the process ends in between.

use clew_engine::{Access, Alias, AliasAction, Engine, EngineError, Index, Purpose};
use clew_opensearch::wing::{Api, ApiError, finish_rollover, next_index_name, written_index};
use serde_json::json;

use super::{Outcome, Subject};
use crate::conditions::{Facts, RolloverConditions};
use crate::settings::of_index;

/// Rolls over when the conditions are met.
pub(super) fn attempt(
    subject: Subject<'_>,
    conditions: &RolloverConditions,
    copy_alias: bool,
) -> Result<Outcome, ApiError> {
    let (engine, index) = (&subject.api.engine, subject.index);
    let place = format!("[index={}]", index.name());
    if of_index(index, "rollover_skip").as_deref() == Some("true") {
        return Ok(Outcome::done(format!(
            "Skipped rollover action for {place}"
        )));
    }
    let Some(target) = target(index) else {
        return Ok(Outcome::failed(without_alias(index)));
    };
    let facts = Facts::of(index, engine.now(), None);
    let new = match &subject.managed.intent {
        Some(new) => new.clone(),
        None => {
            let (old, _) = written_index((engine, &Access::everything()), &target)?;
            if old.uuid() != index.uuid() {
                return Ok(match when_rolled_over(subject.api, index) {
                    None => Outcome::failed(not_written(index, &target)),
                    Some(at) => {
                        subject.managed.rolled_over_ms = Some(at);
                        Outcome::done(format!("This index has already been rolled over {place}"))
                    }
                });
            }
            if !conditions.is_met(&facts) {
                let info = json!({
                    "message": format!("Rollover conditions not met {place}"),
                    "conditions": conditions.shown(&facts),
                });
                return Ok(Outcome::Waiting { info });
            }
            let new = next_index_name(old.name())?;
            engine.check_new_name(&new)?;
            subject.managed.intent = Some(new.clone());
            subject.managed.save(engine)?;
            new
        }
    };
    finish_rollover((engine, &Access::everything()), &target, (index, &new))?;
    if copy_alias {
        copy_aliases(engine, index, (&target, &new))?;
    }
    subject.managed.rolled_over_ms = Some(engine.clock().epoch_ms());
    Ok(Outcome::Done {
        info: json!({
            "message": format!("Successfully rolled over index {place}"),
            "conditions": conditions.shown(&facts),
        }),
    })
}

/// What keeps an index from being rolled over, whatever the conditions say.
pub(crate) fn hindrance(api: &Api, index: &Index) -> Option<String> {
    let Some(target) = target(index) else {
        return Some(without_alias(index));
    };
    let written = written_index((&api.engine, &Access::everything()), &target);
    let is_written = written.is_ok_and(|(written, _)| written.uuid() == index.uuid());
    (!is_written).then(|| not_written(index, &target))
}

fn without_alias(index: &Index) -> String {
    format!(
        "Missing rollover_alias index setting [index={}]",
        index.name()
    )
}

fn not_written(index: &Index, target: &str) -> String {
    format!(
        "Not the write index when rollover [{target}] [index={}]",
        index.name()
    )
}

/// The alias or the data stream that an index is rolled over for.
fn target(index: &Index) -> Option<String> {
    index
        .data_stream()
        .or_else(|| of_index(index, "rollover_alias"))
}

/// When the index's successor was made, where another one is written to now.
pub(super) fn when_rolled_over(api: &Api, index: &Index) -> Option<u64> {
    let engine = &api.engine;
    let (newest, _) = written_index((engine, &Access::everything()), &target(index)?).ok()?;
    let (front, number) = numbered(index.name())?;
    let (newest_front, newest_number) = numbered(newest.name())?;
    if front != newest_front || newest_number <= number {
        return None;
    }
    let next = next_index_name(index.name()).ok()?;
    let everything = Access::everything();
    let next = engine.open_exactly(&next, &everything, Purpose::Watch);
    Some(next.map_or(newest.created_ms(), |next| next.created_ms()))
}

fn numbered(name: &str) -> Option<(&str, u64)> {
    let (front, number) = name.rsplit_once('-')?;
    Some((front, number.parse().ok()?))
}

/// Gives the new index the other aliases of the old one.
fn copy_aliases(
    engine: &Engine,
    index: &Index,
    (target, new): (&str, &str),
) -> Result<(), ApiError> {
    engine.change_aliases_by(&Access::everything(), |names| -> Result<_, EngineError> {
        names.of(index)?;
        let aliases = index.aliases();
        let others = aliases.iter().filter(|(name, _)| *name != target);
        let actions = others.map(|(name, alias)| AliasAction::Add {
            index: new.to_string(),
            name: name.clone(),
            alias: Alias {
                // Both cannot be the one that is written to.
                is_write_index: alias.is_write_index.map(|_| false),
                ..alias.clone()
            },
        });
        Ok(actions.collect())
    })?;
    Ok(())
}

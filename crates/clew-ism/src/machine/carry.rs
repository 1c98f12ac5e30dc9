//! Carrying out the actions of policies, with what the endpoints of the same names use. Each may be
//! carried out again after it was done.

use std::slice;

use clew_engine::{
    Access, AliasAction, Aliases, Block, Engine, EngineError, Index, IndexHandle, IndexState,
    Purpose,
};
use clew_opensearch::wing::{
    ApiError, FlatSettings, aliases_of, change_settings, filled_template, is_snapshot_taken,
    is_wanted, merge, prepare_snapshot, refuse_write_index,
};
use jiff::Timestamp;
use serde_json::json;

use super::{Outcome, Subject, rollover, shrink};
use crate::actions::{Action, AliasChange};
use crate::running::{Progress, RunningActions};

/// Carries an action out, or begins to.
pub(super) fn out(subject: Subject<'_>, action: &Action) -> Result<Outcome, ApiError> {
    let name = subject.index.name().to_string();
    match action {
        Action::Rollover {
            conditions,
            copy_alias,
        } => rollover::attempt(subject, conditions, *copy_alias),
        Action::Delete => delete(&subject),
        Action::ForceMerge { segments_max } => force_merge(&subject, *segments_max),
        Action::Open => {
            set_state(&subject, IndexState::Open)?;
            Ok(Outcome::done(format!(
                "Successfully opened index [index={name}]"
            )))
        }
        Action::Close => {
            set_state(&subject, IndexState::Closed)?;
            Ok(Outcome::done(format!(
                "Successfully closed index [index={name}]"
            )))
        }
        Action::Settings {
            name: kind,
            settings,
        } => {
            change_settings(
                (&subject.api.engine, &Access::everything()),
                subject.index,
                settings,
            )?;
            Ok(Outcome::done(format!(
                "Successfully set {kind} [index={name}]"
            )))
        }
        Action::Alias { changes } => change_aliases(&subject, changes),
        Action::Snapshot {
            repository,
            snapshot,
        } => take_snapshot(subject, repository, snapshot),
        Action::Shrink(asked) => shrink::attempt(subject, asked),
    }
}

fn delete(subject: &Subject<'_>) -> Result<Outcome, ApiError> {
    let (engine, index) = (&subject.api.engine, subject.index);
    refuse_write_index(engine, slice::from_ref(index), &[index.name()])?;
    engine.delete_these(&Access::everything(), [index])?;
    Ok(Outcome::Deleted)
}

/// The index, opened; no other one that has its name since it was deleted.
pub(super) fn opened(subject: &Subject<'_>, purpose: Purpose) -> Result<IndexHandle, EngineError> {
    let (engine, index) = (&subject.api.engine, subject.index);
    let opened = engine.open_exactly(index.name(), &Access::everything(), purpose)?;
    opened.check_is(index.uuid())?;
    Ok(opened)
}

fn set_state(subject: &Subject<'_>, state: IndexState) -> Result<(), ApiError> {
    let index = opened(subject, Purpose::Change)?;
    subject.api.engine.set_index_state(&[index], state)?;
    Ok(())
}

/// Blocks writes, then merges beside the job; done when the merge is.
fn force_merge(subject: &Subject<'_>, segments_max: usize) -> Result<Outcome, ApiError> {
    let (api, index) = (subject.api, subject.index.clone());
    let name = index.name().to_string();
    let uuid = index.uuid().to_string();
    block_writes(&api.engine, &index)?;
    let progress = api.part::<RunningActions>().progress(&uuid).or_else(|| {
        let engine = api.engine.clone();
        let work = move || Ok(merge(&engine, &index, segments_max)?);
        api.part::<RunningActions>().begin(&uuid, work)
    });
    Ok(match progress {
        Some(Progress::Done) => Outcome::done(format!("Force merge completed [index={name}]")),
        Some(Progress::Failed { reason }) => Outcome::Failed {
            message: format!("Force merge failed [index={name}]"),
            cause: Some(reason),
        },
        Some(Progress::Running) | None => {
            Outcome::waiting(format!("Force merge still running [index={name}]"))
        }
    })
}

fn change_aliases(subject: &Subject<'_>, changes: &[AliasChange]) -> Result<Outcome, ApiError> {
    let (engine, index) = (&subject.api.engine, subject.index);
    engine.change_aliases_by(&Access::everything(), |names| -> Result<_, EngineError> {
        let (name, have) = (names.of(index)?, aliases_of(index));
        Ok(alias_actions(&name, &have, changes))
    })?;
    let name = index.name();
    Ok(Outcome::done(format!(
        "Successfully updated alias [index={name}]"
    )))
}

/// What changes come to for an index with these aliases. What is removed already is no failure.
fn alias_actions(index: &str, have: &Aliases, changes: &[AliasChange]) -> Vec<AliasAction> {
    let mut actions = Vec::new();
    for change in changes {
        match change {
            AliasChange::Add { name, alias } => actions.push(AliasAction::Add {
                index: index.to_string(),
                name: name.clone(),
                alias: (**alias).clone(),
            }),
            AliasChange::Remove { pattern } => {
                let wanted = have.keys().filter(|alias| is_wanted(&[pattern], alias));
                actions.extend(wanted.map(|alias| AliasAction::Remove {
                    index: index.to_string(),
                    name: alias.clone(),
                }));
            }
        }
    }
    actions
}

/// Takes a snapshot beside the job, whose name is kept before it is begun.
fn take_snapshot(
    subject: Subject<'_>,
    repository: &str,
    snapshot: &str,
) -> Result<Outcome, ApiError> {
    let (api, index) = (subject.api, subject.index.clone());
    let (engine, uuid) = (&api.engine, index.uuid().to_string());
    let name = match &subject.managed.intent {
        Some(name) => name.clone(),
        None => {
            let name = snapshot_name(&subject, snapshot)?;
            subject.managed.intent = Some(name.clone());
            subject.managed.save(engine)?;
            name
        }
    };
    let progress = match api.part::<RunningActions>().progress(&uuid) {
        Some(progress) => Some(progress),
        // It was taken, and the process ended before that was recorded.
        None if is_snapshot_taken(api, repository, &name)? => Some(Progress::Done),
        None => {
            let opened = opened(&subject, Purpose::Copy)?;
            let work = prepare_snapshot(api, repository, &name, opened)?;
            api.part::<RunningActions>().begin(&uuid, work)
        }
    };
    let place = format!("[index={}]", index.name());
    let mut info = json!({"snapshot": name, "repository": repository});
    Ok(match progress {
        Some(Progress::Done) => {
            info["message"] = json!(format!("Snapshot successful for index: {place}"));
            Outcome::Done { info }
        }
        Some(Progress::Failed { reason }) => Outcome::Failed {
            message: format!("Failed to create snapshot {place}"),
            cause: Some(reason),
        },
        Some(Progress::Running) | None => {
            info["message"] = json!(format!("Snapshot currently in progress {place}"));
            Outcome::Waiting { info }
        }
    })
}

/// The policy's name with the index put in, and the time, as in `daily-2026.11.22-00:40:00.000`.
fn snapshot_name(subject: &Subject<'_>, pattern: &str) -> Result<String, ApiError> {
    let rendered = rendered(subject.index, pattern)?;
    let time = Timestamp::from_millisecond(subject.api.engine.now_ms()).unwrap_or(Timestamp::MAX);
    let time = time.strftime("%Y.%m.%d-%H:%M:%S%.3f");
    Ok(format!("{rendered}-{time}").to_lowercase())
}

/// A text with the index's name put in where it says `{{ctx.index}}`.
pub(super) fn rendered(index: &Index, pattern: &str) -> Result<String, ApiError> {
    let values = json!({"ctx": {"index": index.name(), "indexUuid": index.uuid()}});
    filled_template(pattern, &values).map_err(ApiError::illegal_argument)
}

/// Lets nobody write to an index any more.
pub(super) fn block_writes(engine: &Engine, index: &Index) -> Result<(), ApiError> {
    if !index.settings().blocks.contains(&Block::Write) {
        let setting = "index.blocks.write".to_string();
        let flat = FlatSettings::from([(setting, Some("true".to_string()))]);
        change_settings((engine, &Access::everything()), index, &flat)?;
    }
    Ok(())
}

//! Which policy a new index follows: the one that its own setting names, or whose templates want it.
//!
//! New indexes are not looked for when they are made, but before anything that could tell the
//! difference: before policies change, before managed indexes are shown or changed, and before the job
//! runs. A template is only for indexes younger than itself, so that the outcome is the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use clew_engine::{Access, DefinitionChange, Engine, Index};
use clew_opensearch::wing::ApiError;

use super::managed::{MANAGED, ManagedIndex, POLICY};
use super::policy::Policy;
use super::settings::of_index;

/// Managed indexes at most: each step of each is an entry of the log.
pub(super) const MANAGED_MAX: usize = 5_000;

/// Lets new indexes follow the policies whose templates want them, and forgets those that are gone.
pub(super) fn attach_new(engine: &Engine) -> Result<(), ApiError> {
    let everything = Access::everything();
    let indices = engine.indices(&everything);
    let nothing = engine.with_definitions(|all| {
        all.of(POLICY).next().is_none() && all.of(MANAGED).next().is_none()
    });
    if nothing {
        return Ok(());
    }
    engine.change_definitions(&everything, |all| {
        let present: BTreeSet<&str> = indices.iter().map(|index| index.uuid()).collect();
        let gone = all.of(MANAGED).filter(|(uuid, _)| !present.contains(uuid));
        let mut changes: Vec<_> = gone
            .map(|(uuid, _)| DefinitionChange::remove(MANAGED, uuid))
            .collect();
        let is_new = |index: &&Arc<Index>| all.get(MANAGED, index.uuid()).is_none();
        let new: Vec<&Arc<Index>> = indices.iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok::<_, ApiError>(changes);
        }
        let policies: Vec<(&str, Policy)> = all
            .of(POLICY)
            .filter_map(|(id, value)| Some((id, Policy::parse(&value["policy"]).ok()?)))
            .collect();
        let room = MANAGED_MAX.saturating_sub(all.of(MANAGED).count());
        let following = new.into_iter().filter_map(|index| {
            let id = policy_for(index, &policies)?;
            Some(ManagedIndex::new(index, &id).kept())
        });
        changes.extend(following.take(room));
        Ok(changes)
    })?;
    Ok(())
}

/// The policy that an index is to follow by its own setting or the templates.
fn policy_for(index: &Index, policies: &[(&str, Policy)]) -> Option<String> {
    if of_index(index, "auto_manage").as_deref() == Some("false") {
        return None;
    }
    if let Some(id) = of_index(index, "policy_id") {
        return policies.iter().any(|(have, _)| *have == id).then_some(id);
    }
    let stream = index.data_stream();
    if index.is_hidden() && stream.is_none() {
        return None;
    }
    let name = stream.as_deref().unwrap_or(index.name());
    let wanting = policies.iter().filter_map(|(id, policy)| {
        let priority = policy.wants(name, index.created_ms())?;
        Some((priority, *id))
    });
    wanting.max().map(|(_, id)| id.to_string())
}

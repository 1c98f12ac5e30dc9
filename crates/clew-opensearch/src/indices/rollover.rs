//! `_rollover`: a new index takes over from the one that an alias or a data stream writes to, when
//! that has become old or large enough.

use std::sync::Arc;
use std::time::Duration;

use clew_engine::{
    Access, Alias, AliasAction, Definitions, Engine, EngineError, Index, IndexPlan, NamesNow,
    Purpose,
};
use clew_schema::text_of;
use serde_json::{Map, Value, json};

use crate::dsl::Field;
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::http::setting_values::{parse_bytes, parse_time};
use crate::indices::data_streams;
use crate::indices::index_admin::read_request;
use crate::indices::index_settings::PROVIDED_NAME;
use crate::indices::templates::{compose, data_stream_template, plan_index};
use crate::state::call::Call;

/// When an index has had enough.
#[derive(Debug, PartialEq, Eq)]
enum Condition {
    Age(Duration),
    Docs(u64),
    Bytes(u64),
}

/// What is rolled over, and to what.
struct Rollover {
    target: String,
    old: Arc<Index>,
    stream: bool,
    new: String,
    /// The new name as it was given, where it has a date in it.
    dated: Option<String>,
}

/// `POST /{alias}/_rollover/{new_index}`.
pub(crate) async fn rollover(call: Call) -> Result<Reply, ApiError> {
    let dry_run = call.params.flag("dry_run", false)?;
    let engine = &call.api.engine;
    let target = call.path_required("index")?.to_string();
    let (mut body, conditions) = read_body(&call)?;
    body.remove("conditions");
    let (old, stream) = find((engine, &call.access), &target)?;
    let (new, dated) = match call.path("new_index") {
        Some(_) if stream => {
            return Err(ApiError::illegal_argument(
                "new index name may not be specified when rolling over a data stream",
            ));
        }
        Some(name) => (engine.dated_name(name)?, dated(name)),
        None => next_of(engine, &old)?,
    };
    engine.check_new_name(&new)?;
    let rollover = Rollover {
        target,
        old,
        stream,
        new,
        dated,
    };
    let plan = plan(engine, &rollover, body)?;
    let met: Vec<(String, bool)> = conditions
        .iter()
        .map(|(name, condition)| {
            let met = is_met(condition, &rollover.old, engine.now());
            (name.clone(), met)
        })
        .collect();
    let due = met.is_empty() || met.iter().any(|(_, met)| *met);
    let (old, new) = (rollover.old.name().to_string(), rollover.new.clone());
    let rolled = due && !dry_run;
    let mut glsn = None;
    if rolled {
        let access = call.access.clone();
        let work = move |engine: &Engine| carry_out((engine, &access), &rollover, plan);
        glsn = Some(call.to_its_end(work).await?);
    }
    let met: Map<String, Value> = met
        .into_iter()
        .map(|(name, met)| (name, json!(met)))
        .collect();
    let body = json!({
        "acknowledged": rolled,
        "shards_acknowledged": rolled,
        "old_index": old,
        "new_index": new,
        "rolled_over": rolled,
        "dry_run": dry_run,
        "conditions": met,
    });
    Ok(Reply::json(&body).at(glsn))
}

/// The index that is written to under this name, and whether that is a data stream.
///
/// # Errors
/// No alias or data stream, or an alias that does not say which index is written to.
pub fn find(
    (engine, access): (&Engine, &Access),
    target: &str,
) -> Result<(Arc<Index>, bool), ApiError> {
    if let Some(indices) = data_streams::all(engine, access).remove(target)
        && let Some(newest) = indices.last()
    {
        return Ok((newest.clone(), true));
    }
    let is_index = engine.open_exactly(target, access, Purpose::Watch).is_ok();
    if is_index && !engine.is_alias(target) {
        return Err(ApiError::illegal_argument(
            "rollover target is a [concrete index] but one of [alias,data_stream] was expected",
        ));
    }
    let holders = engine.aliases().remove(target).ok_or_else(|| {
        ApiError::illegal_argument(format!("rollover target [{target}] does not exist"))
    })?;
    let found = writer(target, &holders).ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "rollover target [{target}] does not point to a write index"
        ))
    })?;
    Ok((found.clone(), false))
}

/// The index that an alias of these is written to.
fn writer<'i>(alias: &str, holders: &'i [Arc<Index>]) -> Option<&'i Arc<Index>> {
    holders.iter().find(|index| {
        let says = index
            .aliases()
            .get(alias)
            .and_then(|says| says.is_write_index);
        says == Some(true) || (says.is_none() && holders.len() == 1)
    })
}

/// A name with a date in it, as it was given.
fn dated(name: &str) -> Option<String> {
    name.starts_with('<').then(|| name.to_string())
}

/// The name that follows an index's, and as it is given: where an index was given a date, its followers have that of
/// their day.
fn next_of(engine: &Engine, index: &Index) -> Result<(String, Option<String>), ApiError> {
    let next = next_name(index.name())?;
    let settings = index.settings();
    let given = settings.given.get(PROVIDED_NAME);
    let inner = given.and_then(|given| given.strip_prefix('<')?.strip_suffix('>'));
    let Some(inner) = inner.filter(|_| !index.name().starts_with('.')) else {
        return Ok((next, None));
    };
    let given = format!("<{}>", next_name(inner)?);
    Ok((engine.dated_name(&given)?, Some(given)))
}

/// `logs-1` is followed by `logs-000002`.
///
/// # Errors
/// A name without a number at its end.
pub fn next_name(name: &str) -> Result<String, ApiError> {
    let refused = || {
        ApiError::illegal_argument(format!(
            "index name [{name}] does not match pattern '^.*-\\d+$'"
        ))
    };
    let (front, number) = name.rsplit_once('-').ok_or_else(refused)?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    let number: u64 = number.parse().map_err(|_| refused())?;
    let next = number.checked_add(1).ok_or_else(refused)?;
    Ok(format!("{front}-{next:06}"))
}

/// What an index has had enough of, each as it was written.
type Conditions = Vec<(String, Condition)>;

/// What the request's body says: all of it, and the conditions.
fn read_body(call: &Call) -> Result<(Map<String, Value>, Conditions), ApiError> {
    let body = call.json()?.unwrap_or_else(|| json!({}));
    let conditions = call.read(&body, |body| {
        let mut conditions = Vec::new();
        for member in Field::all("rollover", body)? {
            match member.name {
                "conditions" => {
                    let read = read_conditions(member.object()?);
                    conditions = read.map_err(|error| error.in_field("rollover", "conditions"))?;
                }
                "settings" | "mappings" | "aliases" => {}
                _ => {
                    let known = ["conditions", "settings", "mappings", "aliases"];
                    return Err(member.unknown(&known).into());
                }
            }
        }
        Ok(conditions)
    })?;
    match body {
        Value::Object(members) => Ok((members, conditions)),
        _ => Ok((Map::new(), conditions)),
    }
}

fn read_conditions(body: &Value) -> Result<Conditions, ApiError> {
    let mut conditions = Vec::new();
    for member in Field::all("conditions", body)? {
        let (name, text) = (member.name, text_of(member.value));
        let condition = match name {
            "max_age" => parse_time(name, &text)?.map(Condition::Age),
            "max_docs" => Some(Condition::Docs(u64::try_from(member.long()?).unwrap_or(0))),
            "max_size" => Some(Condition::Bytes(parse_bytes(name, &text)?)),
            _ => return Err(member.unknown(&["max_age", "max_docs", "max_size"]).into()),
        };
        let condition = condition.ok_or_else(|| ApiError::from(member.other_sort()))?;
        conditions.push((format!("[{name}: {text}]"), condition));
    }
    Ok(conditions)
}

fn is_met(condition: &Condition, index: &Index, now: Duration) -> bool {
    match condition {
        Condition::Docs(docs) => index.stats().docs >= *docs,
        Condition::Bytes(bytes) => index.stats().bytes >= *bytes,
        Condition::Age(age) => {
            let created = Duration::from_millis(index.created_ms());
            now.saturating_sub(created) >= *age
        }
    }
}

/// What the new index begins with.
fn plan(
    engine: &Engine,
    rollover: &Rollover,
    body: Map<String, Value>,
) -> Result<IndexPlan, ApiError> {
    let definitions = engine.with_definitions(Definitions::clone);
    if rollover.stream {
        let stream = &rollover.target;
        let template = data_stream_template(&definitions, stream).ok_or_else(|| {
            ApiError::illegal_argument(format!(
                "no matching index template found for data stream [{stream}]"
            ))
        })?;
        let next = data_streams::generation(&rollover.new);
        return data_streams::next_index(&definitions, stream, template, next);
    }
    let mut request = read_request(Some(Value::Object(body)))?;
    // The alias moves as it was, whatever the request says of it.
    request.aliases.remove(&rollover.target);
    let mut plan = plan_index(&compose(&definitions, &rollover.new, request)?)?;
    let dated = rollover.dated.clone();
    let dated = dated.map(|given| (PROVIDED_NAME.to_string(), given));
    plan.settings.given.extend(dated);
    if plan.aliases.contains_key(&rollover.target) {
        return Err(ApiError::illegal_argument(format!(
            "Rollover alias [{}] can point to multiple indices, found duplicated alias [{}] in \
             index template [{}]",
            rollover.target, rollover.target, rollover.new
        )));
    }
    Ok(plan)
}

/// Makes the new index and moves the name to it, as one change.
fn carry_out(
    (engine, access): (&Engine, &Access),
    rollover: &Rollover,
    plan: IndexPlan,
) -> Result<clew_log::Glsn, EngineError> {
    let new = &rollover.new;
    let made = engine.create_and_move_aliases(access, new, plan, |names| rollover.moves(names));
    made.map(|(_, glsn)| glsn)
}

/// Lets a new index, whose name was decided on before, take over from the old one that `target` writes to: does what of it
/// is not done yet.
///
/// # Errors
/// A new index that cannot be made, for its name, its template or the disk; an old one that is written to no more.
pub fn finish(
    (engine, access): (&Engine, &Access),
    target: &str,
    (old, new): (&Arc<Index>, &str),
) -> Result<(), ApiError> {
    let rollover = Rollover {
        target: target.to_string(),
        old: old.clone(),
        stream: old.data_stream().is_some(),
        new: new.to_string(),
        dated: None,
    };
    let Ok(index) = engine.open_exactly(new, access, Purpose::Watch) else {
        let plan = plan(engine, &rollover, Map::new())?;
        carry_out((engine, access), &rollover, plan)?;
        return Ok(());
    };
    // Early builds made the index first, and could end before the name was moved.
    if !index.aliases().contains_key(target) {
        engine.change_aliases_by(access, |names| rollover.moves(names))?;
    }
    Ok(())
}

impl Rollover {
    /// What lets the name mean the new index.
    ///
    /// # Errors
    /// The old index was deleted meanwhile, or another one is written to.
    fn moves(&self, names: &NamesNow<'_>) -> Result<Vec<AliasAction>, EngineError> {
        let Rollover { target, old, .. } = self;
        let index = names.of(old)?;
        let holders = names.of_alias(target);
        let written = writer(target, holders).is_some_and(|writer| writer.uuid() == old.uuid());
        if !written {
            let reason =
                format!("rollover target [{target}] does not point to [{index}] as write index");
            return Err(EngineError::InvalidRequest { reason });
        }
        let before = old.aliases().get(target).cloned().unwrap_or_default();
        let name = target.clone();
        let mut actions = Vec::new();
        let is_write_index = if before.is_write_index == Some(true) {
            let alias = Alias {
                is_write_index: Some(false),
                ..before.clone()
            };
            actions.push(AliasAction::Add { index, name, alias });
            Some(true)
        } else {
            actions.push(AliasAction::Remove { index, name });
            None
        };
        actions.push(AliasAction::Add {
            index: self.new.clone(),
            name: target.clone(),
            // It finds the same, and writes to the same places, as before.
            alias: Alias {
                is_write_index,
                ..before
            },
        });
        Ok(actions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_up_with_six_digits() {
        assert_eq!(next_name("logs-1").unwrap(), "logs-000002");
        assert_eq!(next_name("a-b-000009").unwrap(), "a-b-000010");
        assert_eq!(next_name("a-1234567").unwrap(), "a-1234568");
        for bad in [
            "logs",
            "logs-",
            "logs-x",
            "logs-1x",
            "a-18446744073709551615",
        ] {
            assert!(next_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn conditions_are_named_as_they_were_written() {
        let body = json!({"max_age": "7d", "max_docs": 5, "max_size": "1kb"});
        let read = read_conditions(&body).unwrap();
        assert!(read.contains(&("[max_docs: 5]".to_string(), Condition::Docs(5))));
        assert!(read.contains(&("[max_size: 1kb]".to_string(), Condition::Bytes(1024))));
        let week = Duration::from_secs(7 * 86_400);
        assert!(read.contains(&("[max_age: 7d]".to_string(), Condition::Age(week))));
        assert!(read_conditions(&json!({"max_docs": "many"})).is_err());
        assert!(read_conditions(&json!({"min_docs": 1})).is_err());
    }
}

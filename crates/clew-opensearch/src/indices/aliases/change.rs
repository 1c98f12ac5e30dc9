//! Changing aliases: one at a time, or several as one change with `_aliases`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{
    Access, Alias, AliasAction, AliasNames, Engine, EngineError, ErrorKind, Index, Purpose,
    ResolveOptions,
};
use clew_query::unless_stopped;
use clew_schema::parsed_json_bytes;
use serde_json::{Map, Value};

use super::action::{self, Action, Target, Verb};
use super::body::{AliasBody, filter_refused, text};
use super::{aliases_of, is_wanted};
use crate::dsl;
use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::indices::data_streams;
use crate::search::names_documents;
use crate::state::call::Call;

/// `PUT /{index}/_alias/{alias}`; the body's `index` and `alias` win over the path.
pub(crate) async fn put(call: Call) -> Result<Reply, ApiError> {
    let body = call.json()?.unwrap_or(Value::Null);
    let empty = Map::new();
    let mut index = call.path("index").map(String::from);
    let mut name = call.path("alias").map(String::from);
    let mut alias = AliasBody::default();
    for (key, value) in body.as_object().unwrap_or(&empty) {
        match key.as_str() {
            "index" => index = text(key, value)?,
            "alias" => name = text(key, value)?,
            _ if alias.read(key, value)? => {}
            other => {
                return Err(ApiError::illegal_argument(format!(
                    "unknown field [{other}]"
                )));
            }
        }
    }
    let index = index.filter(|index| !index.is_empty());
    let index = index.ok_or_else(|| ApiError::illegal_argument("[indices] can't be empty"))?;
    let name = name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| empty_name("alias"))?;
    let mut changes = Changes::default();
    let add = Target {
        indices: vec![index],
        aliases: vec![name],
    };
    changes.add(&call, &add, alias)?;
    changes.run(call).await
}

/// `DELETE /{index}/_alias/{alias}`.
pub(crate) async fn delete(call: Call) -> Result<Reply, ApiError> {
    let split = |text: &str| text.split(',').map(String::from).collect();
    let target = Target {
        indices: vec![call.path_required("index")?.to_string()],
        aliases: split(call.path_required("alias")?),
    };
    let mut changes = Changes::default();
    changes.remove(&call, &target, None)?;
    changes.run(call).await
}

/// `POST /_aliases`.
pub(crate) async fn update(call: Call) -> Result<Reply, ApiError> {
    let body = call.json_object()?;
    let actions = action::read(&body).map_err(|error| error.placed(&body, &call.body))?;
    if actions.is_empty() {
        return Err(ApiError::illegal_argument("No action specified"));
    }
    let mut changes = Changes::default();
    let mut actions = actions.into_iter();
    call.while_others_go_on(|| actions.try_for_each(|action| changes.act(&call, action)))?;
    changes.run(call).await
}

/// An empty name is none, and above all does not mean every index.
fn empty_name(key: &str) -> ApiError {
    ApiError::illegal_argument(format!("[{key}] can't be empty string"))
}

/// Actions with their patterns resolved.
#[derive(Default)]
struct Changes {
    actions: Vec<AliasAction>,
    /// The indexes that they are about: no others that have their names by then.
    indices: Vec<Arc<Index>>,
    /// Aliases to remove that no index has.
    unmatched: BTreeSet<String>,
    /// Filters of aliases, which must be queries to their indexes: index, alias and query.
    filters: Vec<(String, String, Value)>,
}

impl Changes {
    fn act(&mut self, call: &Call, action: Action) -> Result<(), ApiError> {
        let target = &action.target;
        match action.verb {
            Verb::Add => self.add(call, target, action.alias),
            Verb::Remove => self.remove(call, target, action.must_exist),
            Verb::RemoveIndex => {
                for index in concrete(call, &target.indices)? {
                    let name = index.name().to_string();
                    self.actions.push(AliasAction::RemoveIndex { index: name });
                    self.indices.push(index);
                }
                Ok(())
            }
        }
    }

    fn add(&mut self, call: &Call, target: &Target, alias: AliasBody) -> Result<(), ApiError> {
        let streams = data_streams::all(&call.api.engine, &call.access);
        for index in concrete(call, &target.indices)? {
            for name in &target.aliases {
                if streams.contains_key(name) {
                    let uuid = index.uuid().to_string();
                    let alias = name.clone();
                    return Err(EngineError::AliasIsIndex { alias, uuid }.into());
                }
                unless_stopped()?;
                let alias = alias.clone().finish(name)?;
                call.memory.take(action_bytes(name, &alias))?;
                let (index, name) = (index.name().to_string(), name.clone());
                if let Some(filter) = &alias.filter {
                    let before = (index.clone(), name.clone(), filter.clone());
                    self.filters.push(before);
                }
                self.actions.push(AliasAction::Add { index, name, alias });
            }
            self.indices.push(index);
        }
        Ok(())
    }

    fn remove(
        &mut self,
        call: &Call,
        target: &Target,
        must_exist: Option<bool>,
    ) -> Result<(), ApiError> {
        let indices = concrete(call, &target.indices)?;
        let mut lacking = BTreeSet::new();
        for name in &target.aliases {
            let mut found = 0;
            for index in &indices {
                unless_stopped()?;
                let before = self.actions.len();
                for alias in aliases_of(index).keys() {
                    if is_wanted(&[name], alias) {
                        call.memory.take(ACTION_BYTES + 2 * alias.len())?;
                        let (index, name) = (index.name().to_string(), alias.clone());
                        self.actions.push(AliasAction::Remove { index, name });
                    }
                }
                if self.actions.len() > before {
                    found += 1;
                    // The others may go meanwhile: nothing of them changes.
                    self.indices.push(index.clone());
                }
            }
            // What must exist must do so in each index.
            let least = if must_exist == Some(true) {
                indices.len().max(1)
            } else {
                1
            };
            if found < least {
                lacking.insert(name.clone());
            }
        }
        match must_exist {
            Some(true) if !lacking.is_empty() => Err(aliases_missing(&lacking)),
            Some(_) => Ok(()),
            None => {
                self.unmatched.extend(lacking);
                Ok(())
            }
        }
    }

    async fn run(self, call: Call) -> Result<Reply, ApiError> {
        if self.actions.is_empty() {
            return if self.unmatched.is_empty() {
                Ok(Reply::acknowledged())
            } else {
                Err(aliases_missing(&self.unmatched))
            };
        }
        if !self.filters.is_empty() {
            let (filters, access) = (self.filters, call.access.clone());
            let work = move |engine: &Engine| Ok(refused(engine, &access, &filters));
            if let Some((alias, error)) = call.blocking(work).await? {
                return Err(filter_refused(&alias, error));
            }
        }
        let (actions, access) = (self.actions, call.access.clone());
        let indices = self.indices;
        let glsn = call
            .to_its_end(move |engine| {
                engine.change_aliases_by(&access, |names| {
                    let mut indices = indices.iter();
                    indices.try_for_each(|index| names.of(index).map(drop))?;
                    Ok::<_, EngineError>(actions)
                })
            })
            .await?;
        Ok(Reply::acknowledged().at(glsn))
    }
}

/// The indexes of an action, by their own names or patterns; those of data streams have no aliases, and go with their
/// stream.
fn concrete(call: &Call, expressions: &[String]) -> Result<Vec<Arc<Index>>, ApiError> {
    let options = ResolveOptions {
        allow_no_indices: false,
        closed: clew_engine::ClosedNames::Allow,
        aliases: AliasNames::Refuse,
        ..ResolveOptions::default()
    };
    let joined = expressions.join(",");
    let opened = call
        .api
        .engine
        .open((&joined, options), &call.access, Purpose::Change)?;
    if let Some(stream) = opened.iter().find_map(|found| found.data_stream()) {
        return Err(ApiError::illegal_argument(format!(
            "The provided expressions [{joined}] match a backing index belonging to data stream \
             [{stream}]. Data streams and their backing indices don't support aliases."
        )));
    }
    Ok(opened.iter().map(|found| found.index().clone()).collect())
}

/// What an action takes but for its names' letters: a list that grows has room for twice as many, and each of its two names is an
/// allocation, of which the smallest has 16 bytes.
const ACTION_BYTES: usize = 2 * (size_of::<AliasAction>() + 16);

/// What it takes to give an index an alias: a short list of names and another one of indexes make a long one of both.
fn action_bytes(name: &str, alias: &Alias) -> usize {
    let filter = alias.filter.as_ref().map(Value::to_string);
    let filter = filter.map_or(0, |filter| parsed_json_bytes(filter.as_bytes()));
    // The filter is tried before, too.
    ACTION_BYTES + 2 * (name.len() + filter)
}

/// The first alias whose filter means nothing to the mapping of its index, and why. Who may not read an index, or one that is
/// closed, is not told; searches are.
fn refused(
    engine: &Engine,
    access: &Access,
    filters: &[(String, String, Value)],
) -> Option<(String, EngineError)> {
    filters.iter().find_map(|(index, alias, filter)| {
        let mut query = dsl::parse_query(filter).ok()?;
        if names_documents(&mut query) {
            return None;
        }
        let handle = engine.open_exactly(index, access, Purpose::Read).ok()?;
        let pinned = handle.is_open().then(|| engine.pin(&[handle]).ok())??;
        let shard = pinned.shards().first()?;
        let error = shard.validate(&query, engine.now_ms()).err()?;
        (error.kind() == ErrorKind::Invalid).then(|| (alias.clone(), error))
    })
}

fn aliases_missing(names: &BTreeSet<String>) -> ApiError {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joined = names.join(", ");
    let cause = Cause::new(
        "aliases_not_found_exception",
        format!("aliases [{joined}] missing"),
    )
    .with("resource.type", "aliases")
    .with("resource.id", joined);
    ApiError::new(StatusCode::NOT_FOUND, cause)
}

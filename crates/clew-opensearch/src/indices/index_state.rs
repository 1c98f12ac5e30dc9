//! Opening, closing and blocking indexes.

use axum::http::StatusCode;
use clew_engine::{
    AliasNames, Block, ClosedNames, Engine, IndexHandle, IndexState, Purpose, ResolveOptions,
    Wildcards,
};
use serde_json::{Map, Value, json};

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::http::setting_values;
use crate::indices::copies::{enough_copies, replicas};
use crate::indices::data_streams::refuse_closing;
use crate::indices::settings;
use crate::state::call::Call;
use crate::state::promises::check_named;
use crate::state::tasks::stored;

/// `POST /{index}/_open`; with `wait_for_completion=false` it goes on as a task.
pub(crate) async fn open(call: Call) -> Result<Reply, ApiError> {
    check_named(&call)?;
    let expression = call.path_required("index")?.to_string();
    let indices = call.opened_from(Wildcards::CLOSED, Purpose::Change).await?;
    let enough = enough_everywhere(&call, &indices)?;
    let work = move |engine: &Engine| engine.set_index_state(&indices, IndexState::Open);
    let body = json!({"acknowledged": true, "shards_acknowledged": enough});
    if call.params.flag("wait_for_completion", true)? {
        let glsn = call.to_its_end(work).await?;
        return Ok(Reply::json(&body).at(glsn));
    }
    let description = format!("open indices [{expression}]");
    let number = call.begin_task("indices:admin/open", description)?;
    let task = format!("{}:{number}", call.api.node_id);
    let api = call.api.clone();
    tokio::task::spawn_blocking(move || {
        let work = || {
            let opened = work(&api.engine).map(|_| body).map_err(ApiError::from);
            stored::kept(&api, number, opened)
        };
        drop(api.tasks.carry_out(number, work));
    });
    Ok(Reply::json(&json!({ "task": task })))
}

/// `POST /{index}/_close`.
pub(crate) async fn close(call: Call) -> Result<Reply, ApiError> {
    check_named(&call)?;
    check_closing(&call)?;
    call.path_required("index")?;
    let indices = without_streams(&call).await?;
    refuse_closing(&call.api.engine, indices.iter().map(|found| &**found))?;
    let each = indices
        .iter()
        .filter(|index| index.is_open())
        .map(|index| (index.name().to_string(), json!({"closed": true})));
    let closed: Map<String, Value> = each.collect();
    let enough = enough_everywhere(&call, &indices)?;
    let glsn = call
        .to_its_end(move |engine| engine.set_index_state(&indices, IndexState::Closed))
        .await?;
    let enough = enough && !closed.is_empty();
    let body = json!({"acknowledged": true, "shards_acknowledged": enough, "indices": closed});
    Ok(Reply::json(&body).at(glsn))
}

/// The indexes that the path names, where a data stream is no name.
async fn without_streams(call: &Call) -> Result<Vec<IndexHandle>, ApiError> {
    let options = call.resolve_options_from(ResolveOptions {
        closed: ClosedNames::Allow,
        aliases: AliasNames::FollowButStreams,
        ..ResolveOptions::default()
    })?;
    call.open(call.index_expression(), options, Purpose::Change)
        .await
}

/// Refuses to close anything where the cluster says so.
fn check_closing(call: &Call) -> Result<(), ApiError> {
    const CLOSING: &str = "cluster.indices.close.enable";
    match call.api.cluster_settings.given(CLOSING).as_deref() {
        Some("false") => {
            let reason = format!(
                "closing indices is disabled - set [{CLOSING}: true] to enable it. NOTE: closed \
                 indices still consume a significant amount of diskspace"
            );
            let cause = Cause::new("illegal_state_exception", reason);
            Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause))
        }
        _ => Ok(()),
    }
}

fn enough_everywhere(call: &Call, indices: &[IndexHandle]) -> Result<bool, ApiError> {
    let mut enough = true;
    for index in indices {
        enough &= enough_copies(call, replicas(index))?;
    }
    Ok(enough)
}

/// `PUT /{index}/_block/{block}`.
pub(crate) async fn add_block(call: Call) -> Result<Reply, ApiError> {
    check_named(&call)?;
    let name = call.path_required("block")?;
    let block = Block::ALL.into_iter().find(|block| block.name() == name);
    let block = match block {
        None => {
            return Err(ApiError::illegal_argument(format!(
                "No block found with name {name}"
            )));
        }
        Some(Block::ReadOnlyAllowDelete) => {
            return Err(ApiError::validation(
                "read_only_allow_delete block is for internal use only",
            ));
        }
        Some(block) => block,
    };
    let setting = format!("index.blocks.{}", block.name());
    let flat = setting_values::Flat::from([(setting, Some("true".to_string()))]);
    let mut indices = without_streams(&call).await?;
    indices.retain(|index| !index.settings().blocks.contains(&block));
    let mut changes = Vec::new();
    for index in &indices {
        changes.push(settings::change(index, &flat)?);
    }
    let changed = call.change_catalog(changes).await?;
    let blocked = indices
        .iter()
        .map(|index| json!({"name": index.name(), "blocked": true}));
    let blocked: Vec<Value> = blocked.collect();
    let any = !blocked.is_empty();
    let body = json!({"acknowledged": true, "shards_acknowledged": any, "indices": blocked});
    Ok(Reply::json(&body).at(changed.glsn))
}

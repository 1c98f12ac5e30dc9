//! Copies of an index with as many, fewer or more shards: `_clone`, `_shrink`, `_split`. The source
//! must be blocked for writes; its documents are written into the new shards one by one.

mod request;

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::{Access, Block, Index, IndexHandle, Purpose};
use request::{Resize, ResizeKind};
use serde_json::{Value, json};

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::indices::filling::{self, Filled, Filling};
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::patience::Patience;
use crate::state::tasks::stored;

/// `PUT /{index}/_clone/{target}`.
pub(crate) async fn clone(call: Call) -> Result<Reply, ApiError> {
    resize(call, ResizeKind::Clone).await
}

/// `PUT /{index}/_shrink/{target}`.
pub(crate) async fn shrink(call: Call) -> Result<Reply, ApiError> {
    resize(call, ResizeKind::Shrink).await
}

/// `PUT /{index}/_split/{target}`.
pub(crate) async fn split(call: Call) -> Result<Reply, ApiError> {
    resize(call, ResizeKind::Split).await
}

async fn resize(call: Call, kind: ResizeKind) -> Result<Reply, ApiError> {
    if call.params.get("copy_settings") == Some("false") {
        return Err(ApiError::illegal_argument(
            "parameter [copy_settings] can not be explicitly set to [false]",
        ));
    }
    let wait = call.params.flag("wait_for_completion", true)?;
    let patience = Patience::of(&call.params, &["timeout"])?;
    let target = call.path_required("target")?.to_string();
    let body = call.json()?.unwrap_or_default();
    let asked = call.read(&body, |body| Resize::read(kind, &target, body))?;
    let source = call.path_required("index")?;
    let source = call
        .api
        .engine
        .open_exactly(source, &call.access, Purpose::Copy)?;
    let filled = asked.plan(&source)?;
    filling::remove_unfinished(&call.api.engine, &call.api.parts.get::<Filling>());
    call.api.engine.check_new_name(&target)?;
    check_blocked(&source)?;
    let description = format!("{} from [{}] to [{target}]", kind.name(), source.name());
    let number = call.begin_task("indices:admin/resize", description)?;
    let (api, access) = (call.api.clone(), call.access.clone());
    let answer = json!({"acknowledged": true, "shards_acknowledged": true, "index": target});
    let work = tokio::task::spawn_blocking(move || {
        let work = || {
            let ended = copy((&api, &access), &source, filled).map(|()| answer);
            match wait {
                true => ended,
                false => stored::kept(&api, number, ended),
            }
        };
        let ended = api.tasks.carry_out(number, work);
        if let Err(error) = &ended {
            tracing::warn!(reason = error.reason(), "a copy of an index failed");
        }
        ended
    });
    if !wait {
        let task = format!("{}:{number}", call.api.node_id);
        return Ok(Reply::json(&json!({"task": task})));
    }
    if let Some(ended) = patience.wait(work).await {
        return Ok(Reply::json(&ended??));
    }
    // It goes on, as OpenSearch's shards do that have not started in time.
    let is_there = call.api.engine.check_new_name(&target).is_err();
    Ok(Reply::json(&json!({
        "acknowledged": is_there,
        "shards_acknowledged": false,
        "index": target,
    })))
}

/// What makes a shrunken copy of an index, by a body of `_shrink`. It takes as long as the copy.
///
/// # Errors
/// What `_shrink` is refused for.
pub fn prepare_shrink(
    (api, access): (&Arc<Api>, &Access),
    source: &IndexHandle,
    target: &str,
    body: Value,
) -> Result<impl FnOnce() -> Result<(), ApiError> + Send + use<>, ApiError> {
    let asked = Resize::read(ResizeKind::Shrink, target, &body)?;
    let filled = asked.plan(source)?;
    filling::remove_unfinished(&api.engine, &api.parts.get::<Filling>());
    api.engine.check_new_name(target)?;
    check_blocked(source)?;
    let (api, access, source) = (api.clone(), access.clone(), source.clone());
    Ok(move || copy((&api, &access), &source, filled))
}

/// What could still be written would be missing in the copy.
fn check_blocked(source: &Index) -> Result<(), ApiError> {
    let mut blocks = source.settings().blocks.clone();
    blocks.retain(|block| matches!(block, Block::Write | Block::ReadOnly));
    if !blocks.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "index {} must block write operations to resize index. use \"index.blocks.write=true\"",
        source.name()
    );
    Err(illegal_state(reason))
}

/// A request that the state of an index does not allow.
fn illegal_state(reason: String) -> ApiError {
    ApiError::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        Cause::new("illegal_state_exception", reason),
    )
}

fn copy(
    (api, access): (&Api, &Access),
    source: &IndexHandle,
    filled: Filled,
) -> Result<(), ApiError> {
    filling::make(
        (api, access),
        vec![filled],
        Vec::new(),
        |(engine, access), _, target| {
            for documents in engine.index_documents(source)? {
                engine.fill_index(access, target, documents)?;
            }
            Ok(())
        },
    )
}

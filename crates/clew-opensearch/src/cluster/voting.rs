//! Nodes that shall not vote for a cluster manager. One node always is its own manager, so the list
//! only is kept, for tools that set it before they take a node away; it lives as long as the process.

use axum::http::StatusCode;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::http::error::{ApiError, Cause};
use crate::http::reply::Reply;
use crate::state::call::Call;

/// As many as OpenSearch keeps unless it is told otherwise.
const EXCLUSIONS_MAX: usize = 10;
const ABSENT: &str = "_absent_";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Exclusion {
    node_id: String,
    node_name: String,
}

/// The nodes on the list.
#[derive(Default)]
pub(crate) struct VotingExclusions {
    list: Mutex<Vec<Exclusion>>,
}

impl VotingExclusions {
    /// The list as the cluster's state shows it.
    pub(crate) fn shown(&self) -> Vec<Value> {
        let list = self.list.lock();
        let each = list
            .iter()
            .map(|one| json!({"node_id": one.node_id, "node_name": one.node_name}));
        each.collect()
    }
}

/// `POST /_cluster/voting_config_exclusions`.
pub(crate) async fn add(call: Call) -> Result<Reply, ApiError> {
    let (ids, names) = (call.params.list("node_ids"), call.params.list("node_names"));
    let (this_id, this_name) = (&call.api.node_id, &call.api.options.node_name);
    let exclude = |node_id: &str, node_name: &str| Exclusion {
        node_id: node_id.to_string(),
        node_name: node_name.to_string(),
    };
    let asked: Vec<Exclusion> = match (ids, names) {
        (Some(ids), None) => {
            let each = ids.iter().map(|id| match *id == this_id.as_str() {
                true => exclude(id, this_name),
                false => exclude(id, ABSENT),
            });
            each.collect()
        }
        (None, Some(names)) => {
            let each = names.iter().map(|name| match *name == this_name.as_str() {
                true => exclude(this_id, name),
                false => exclude(ABSENT, name),
            });
            each.collect()
        }
        _ => {
            return Err(ApiError::illegal_argument(
                "Please set node identifiers correctly. One and only one of [node_name], \
                 [node_names] and [node_ids] has to be set",
            ));
        }
    };
    let of_this_node = asked.iter().any(|one| one.node_id == *this_id);
    let excluded = call.api.parts.get::<VotingExclusions>();
    let mut list = excluded.list.lock();
    let mut next = list.clone();
    next.extend(asked.into_iter().filter(|one| !list.contains(one)));
    if next.len() > EXCLUSIONS_MAX {
        return Err(ApiError::illegal_argument(format!(
            "add voting config exclusions request would exceed the maximum of [{EXCLUSIONS_MAX}] \
             exclusions"
        )));
    }
    *list = next;
    drop(list);
    if of_this_node {
        let reason = "timed out waiting for voting config exclusions to take effect: the only node \
                      cannot leave the voting configuration";
        let cause = Cause::new("timeout_exception", reason);
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, cause));
    }
    Ok(Reply::empty(StatusCode::OK))
}

/// `DELETE /_cluster/voting_config_exclusions`.
pub(crate) async fn clear(call: Call) -> Result<Reply, ApiError> {
    call.api.parts.get::<VotingExclusions>().list.lock().clear();
    Ok(Reply::empty(StatusCode::OK))
}

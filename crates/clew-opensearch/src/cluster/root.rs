//! What clients ask first: who is there, and which version.

use serde_json::json;

use crate::http::client::{Client, Version};
use crate::http::error::ApiError;
use crate::http::reply::Reply;
use crate::state::api::{BUILD_HASH, BUILD_TYPE, LUCENE_VERSION, stable_id};
use crate::state::call::Call;

/// `GET /`.
pub(crate) async fn info(call: Call) -> Result<Reply, ApiError> {
    let options = &call.api.options;
    let mut body = json!({
        "name": options.node_name,
        "cluster_name": options.cluster_name,
        "cluster_uuid": stable_id(&[&options.cluster_name]),
        "version": {
            "number": options.version_number,
            "build_type": BUILD_TYPE,
            "build_hash": BUILD_HASH,
            "build_date": "unknown",
            "build_snapshot": false,
            "lucene_version": LUCENE_VERSION,
            "minimum_wire_compatibility_version": "7.10.0",
            "minimum_index_compatibility_version": "7.0.0",
        },
        "tagline": "Clew speaks the OpenSearch REST API",
    });
    let version = &mut body["version"];
    match &call.client {
        Client::OpenSearch => {
            version["distribution"] = json!("opensearch");
            if call.api.cluster_settings.old_version_shown() {
                version["number"] = json!(Version::ANCESTOR.to_string());
            }
        }
        // Such a client speaks to servers of its own version or older ones with the same paths,
        // and takes these words for a sign.
        Client::Elastic { version: asked, .. } => {
            let shown = asked.filter(|asked| asked.has_plain_paths());
            version["number"] = json!(shown.unwrap_or(Version::ANCESTOR).to_string());
            version["build_flavor"] = json!("default");
            body["tagline"] = json!("You Know, for Search");
        }
    }
    Ok(Reply::json(&body))
}

/// `GET /_license`: log shippers refuse to send without one.
pub(crate) async fn license(call: Call) -> Result<Reply, ApiError> {
    let uid = stable_id(&[&call.api.options.cluster_name, "license"]);
    Ok(Reply::json(&json!({
        "license": {
            "status": "active",
            "uid": uid,
            "type": "basic",
            "issue_date": "1970-01-01T00:00:00.000Z",
            "issue_date_in_millis": 0,
            "max_nodes": 1000,
            "issued_to": call.api.options.cluster_name,
            "issuer": "clew",
            "start_date_in_millis": -1,
        }
    })))
}

/// `GET /_xpack`: a 400 tells log shippers that there are no such extensions; any other error
/// stops them.
pub(crate) async fn xpack(_call: Call) -> Result<Reply, ApiError> {
    Err(ApiError::no_handler("/_xpack", "GET"))
}

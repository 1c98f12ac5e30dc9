//! Calls about the server itself, and about time.

use super::{Call, Service};
use crate::error::Result;
use crate::proto::*;

/// The version of Milvus whose calls these are: what clients compare.
const VERSION: &str = "v2.6.4";
/// The state of a part that works.
const HEALTHY: i32 = 1;

impl Service {
    pub(crate) async fn connect(
        &self,
        _: Call,
        request: ConnectRequest,
    ) -> Result<ConnectResponse> {
        let client = request.client_info.unwrap_or_default();
        tracing::debug!(
            sdk = client.sdk_type,
            version = client.sdk_version,
            "a client has connected"
        );
        Ok(ConnectResponse {
            server_info: Some(ServerInfo {
                build_tags: VERSION.to_string(),
                build_time: String::new(),
                git_commit: format!("clew-{}", env!("CARGO_PKG_VERSION")),
                go_version: String::new(),
                deploy_mode: "STANDALONE".to_string(),
            }),
            identifier: self.new_id(),
            ..ConnectResponse::default()
        })
    }

    pub(crate) async fn get_version(
        &self,
        _: Call,
        _: GetVersionRequest,
    ) -> Result<GetVersionResponse> {
        Ok(GetVersionResponse {
            version: VERSION.to_string(),
            ..GetVersionResponse::default()
        })
    }

    pub(crate) async fn check_health(
        &self,
        _: Call,
        _: CheckHealthRequest,
    ) -> Result<CheckHealthResponse> {
        let health = self.engine().health();
        let failed = health
            .shards
            .iter()
            .map(|shard| format!("shard {} of {}: {}", shard.shard, shard.index, shard.reason));
        Ok(CheckHealthResponse {
            is_healthy: health.is_whole(),
            reasons: failed.collect(),
            ..CheckHealthResponse::default()
        })
    }

    pub(crate) async fn get_component_states(
        &self,
        _: Call,
        _: GetComponentStatesRequest,
    ) -> Result<ComponentStates> {
        Ok(ComponentStates {
            state: Some(ComponentInfo {
                node_id: 1,
                role: "proxy".to_string(),
                state_code: HEALTHY,
            }),
            ..ComponentStates::default()
        })
    }

    pub(crate) async fn alloc_timestamp(
        &self,
        _: Call,
        _: AllocTimestampRequest,
    ) -> Result<AllocTimestampResponse> {
        Ok(AllocTimestampResponse {
            timestamp: self.timestamp(),
            ..AllocTimestampResponse::default()
        })
    }
}

//! Calls about the server itself, and about time.

use std::thread::available_parallelism;

use serde_json::{Value, json};

use super::{Call, NODE, Service};
use crate::error::{MilvusError, Result};
use crate::proto::*;

/// The version of Milvus whose calls these are: what clients compare.
const VERSION: &str = "v2.6.22";
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
                node_id: NODE,
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

    /// What the system is made of: one node, which is everything. Other figures are told by `/_metrics`.
    pub(crate) async fn get_metrics(
        &self,
        _: Call,
        request: GetMetricsRequest,
    ) -> Result<GetMetricsResponse> {
        let asked: Value = serde_json::from_str(&request.request).map_err(|error| {
            MilvusError::invalid(format!("failed to decode the request: {error}"))
        })?;
        let metric = asked.get("metric_type").and_then(Value::as_str);
        let metric = metric
            .ok_or_else(|| MilvusError::invalid("metric_type not found in request".to_string()))?;
        if metric != "system_info" {
            return Err(MilvusError::MetricNotFound(metric.to_string()));
        }
        let memory = self.limits().memory.total();
        let name = format!("standalone{NODE}");
        let node = json!({
            "identifier": NODE,
            "connected": [],
            "infos": {
                "has_error": false,
                "error_reason": "",
                "name": name,
                "id": NODE,
                "type": "standalone",
                "hardware_infos": {
                    "cpu_core_count": available_parallelism().map_or(1, usize::from),
                    "memory": memory.limit,
                    "memory_usage": memory.used,
                },
                "system_info": {
                    "system_version": format!("clew-{}", env!("CARGO_PKG_VERSION")),
                    "build_version": VERSION,
                    "deploy_mode": "STANDALONE",
                },
            },
        });
        Ok(GetMetricsResponse {
            response: json!({"nodes_info": [node]}).to_string(),
            component_name: name,
            ..GetMetricsResponse::default()
        })
    }
}

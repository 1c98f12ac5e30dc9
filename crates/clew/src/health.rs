//! `GET /_health`: whether the node does what it is for, in a status that a load balancer understands, and what is wrong
//! in words for whoever is woken up.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use clew_engine::{DiskStage, Engine, NodeHealth};
use serde_json::{Value, json};

/// Failed shards that are listed; the rest is counted.
const LISTED_MAX: usize = 100;

/// What the node can do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Everything.
    Ok,
    /// Reads are right, and what makes room is done; other writes are refused until there is room. A node that is
    /// taken out of service for that could not be helped through the API.
    Degraded,
    /// Acknowledged data cannot be read, or no write is taken.
    Failed,
}

impl Verdict {
    fn of(health: &NodeHealth) -> Self {
        if health.log.is_some() || !health.shards.is_empty() {
            Verdict::Failed
        } else if health.disk.is_blocked() {
            Verdict::Degraded
        } else {
            Verdict::Ok
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Verdict::Ok | Verdict::Degraded => StatusCode::OK,
            Verdict::Failed => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Degraded => "degraded",
            Verdict::Failed => "failed",
        }
    }
}

/// The answer for a node as it is now.
pub(crate) fn answer(engine: &Engine) -> Response {
    let health = engine.health();
    let verdict = Verdict::of(&health);
    let stats = engine.stats();
    let (last, durable) = (stats.last.get(), stats.durable.get());
    let mut body = json!({
        "status": verdict.word(), "version": env!("CARGO_PKG_VERSION"),
        "glsn": {"last": last, "durable": durable},
    });
    if verdict != Verdict::Ok {
        body["reasons"] = Value::from(reasons(&health));
    }
    (
        verdict.status(),
        [("content-type", "application/json")],
        body.to_string(),
    )
        .into_response()
}

fn reasons(health: &NodeHealth) -> Vec<Value> {
    let mut reasons = Vec::new();
    if let Some(reason) = &health.log {
        reasons.push(json!({"what": "log", "reason": reason}));
    }
    let listed = health.shards.iter().take(LISTED_MAX);
    reasons.extend(listed.map(|failed| {
        json!({
            "what": "shard", "index": failed.index, "shard": failed.shard, "reason": failed.reason,
        })
    }));
    let more = health.shards.len().saturating_sub(LISTED_MAX);
    if more > 0 {
        let reason = format!("[{more}] more shards have failed");
        reasons.push(json!({"what": "shards", "reason": reason}));
    }
    let disk = &health.disk;
    if disk.is_blocked() {
        let reason = match disk.stage {
            DiskStage::FloodStage => "above the flood-stage watermark, writes are refused",
            _ => "the rest may be needed for acknowledged writes, others are refused",
        };
        reasons.push(json!({
            "what": "disk", "reason": reason, "free_bytes": disk.free, "total_bytes": disk.total,
            "reserve_bytes": disk.reserve,
        }));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use clew_engine::{DiskState, FailedShard};

    use super::*;

    fn healthy() -> NodeHealth {
        NodeHealth {
            log: None,
            shards: Vec::new(),
            disk: DiskState::default(),
        }
    }

    fn check(health: &NodeHealth, word: &str, status: u16, reasons_of: &[&str]) {
        let verdict = Verdict::of(health);
        assert_eq!((verdict.word(), verdict.status().as_u16()), (word, status));
        let told = reasons(health);
        let told: Vec<&str> = told.iter().filter_map(|one| one["what"].as_str()).collect();
        assert_eq!(told, reasons_of);
    }

    #[test]
    fn what_cannot_be_read_or_written_is_a_failure_and_a_full_disk_is_none() {
        check(&healthy(), "ok", 200, &[]);
        let blocked = |stage| NodeHealth {
            disk: DiskState {
                stage,
                ..DiskState::default()
            },
            ..healthy()
        };
        check(&blocked(DiskStage::High), "ok", 200, &[]);
        check(&blocked(DiskStage::FloodStage), "degraded", 200, &["disk"]);
        check(&blocked(DiskStage::Reserved), "degraded", 200, &["disk"]);
        let failed = FailedShard {
            index: "docs".into(),
            shard: 1,
            reason: "x".into(),
        };
        let log = NodeHealth {
            log: Some("x".into()),
            ..healthy()
        };
        check(&log, "failed", 503, &["log"]);
        let shards = NodeHealth {
            shards: vec![failed.clone()],
            ..blocked(DiskStage::FloodStage)
        };
        check(&shards, "failed", 503, &["shard", "disk"]);
        let many = NodeHealth {
            shards: vec![failed; LISTED_MAX + 3],
            ..healthy()
        };
        let told = reasons(&many);
        assert_eq!(told.len(), LISTED_MAX + 1);
        assert_eq!(told[LISTED_MAX]["reason"], "[3] more shards have failed");
    }
}

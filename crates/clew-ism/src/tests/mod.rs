//! Policies followed on a simulated disk, by a clock that moves when told to: each run of the job is a
//! call, and what takes long is done at once.

mod late;
mod refused;
mod rollover;
mod shrink;

use std::sync::Arc;
use std::time::Duration;

use clew_engine::{Access, Engine, EngineError, IndexHandle, Purpose};
use clew_opensearch::fixture;
use clew_platform::{FixedClock, SimDisk};
use serde_json::{Value, json};

use super::WING;
use super::job::run_once;
use super::running::RunningActions;

const MINUTE: Duration = Duration::from_secs(60);

struct Node {
    served: fixture::Node,
    clock: Arc<FixedClock>,
}

impl Node {
    fn open(disk: &SimDisk) -> Result<Node, EngineError> {
        Self::open_at(disk, Duration::from_secs(1_790_000_000))
    }

    fn open_at(disk: &SimDisk, now: Duration) -> Result<Node, EngineError> {
        let clock = Arc::new(FixedClock::at(now));
        let served = fixture::Node::open_at(disk, clock.clone(), &[WING])?;
        served
            .api
            .set_part(RunningActions::spawned_by(|work| work()));
        Ok(Node { served, clock })
    }

    fn engine(&self) -> &Engine {
        &self.served.api.engine
    }

    /// Asks for what must succeed: the method and the path, and a body where it is not null.
    fn done(&self, request: &str, body: impl Into<Value>) -> Value {
        self.served.done(request, body)
    }

    /// The answer, or the reason why there is none.
    fn put_policy(&self, id: &str, body: Value) -> Result<Value, String> {
        let request = format!("PUT /_plugins/_ism/policies/{id}");
        let (status, answer) = self.served.ask(&request, json!({ "policy": body }));
        match status {
            200..300 => Ok(answer),
            _ => Err(answer["error"]["reason"].as_str().unwrap().to_string()),
        }
    }

    fn create(&self, index: &str, body: Value) {
        self.done(&format!("PUT /{index}"), body);
    }

    /// Writes documents and makes them visible.
    fn write(&self, index: &str, count: u64) {
        for n in 0..count {
            self.done(&format!("POST /{index}/_doc?refresh=true"), json!({"n": n}));
        }
    }

    fn add(&self, index: &str, policy: &str) -> Value {
        let body = json!({"policy_id": policy});
        self.done(&format!("POST /_plugins/_ism/add/{index}"), body)
    }

    /// Runs the job some minutes later.
    fn run(&self) {
        self.clock.advance(5 * MINUTE);
        run_once(&self.served.api);
    }

    /// Runs the job, and cuts the power after so many changes of the disk: the node as it comes back, and whether nothing was cut,
    /// as a write behind the job shows, which goes through then.
    fn run_into_power_cut(self, disk: &SimDisk, changes: u64) -> (Node, bool) {
        disk.cut_power_after(changes);
        self.run();
        let written = self
            .engine()
            .change_definitions(&Access::everything(), |_| {
                let change = clew_engine::DefinitionChange::put("probe", "p", json!(1));
                Ok::<_, EngineError>(vec![change])
            });
        let now = self.engine().now();
        drop(self);
        let found = disk.crashed(changes);
        (Node::open_at(&found, now).unwrap(), written.is_ok())
    }

    fn explain(&self, index: &str) -> Value {
        let explained = self.done(&format!("GET /_plugins/_ism/explain/{index}"), Value::Null);
        explained[index].clone()
    }

    /// Whether the action of an index could be carried out now.
    fn validated(&self, index: &str) -> Value {
        let path = format!("GET /_plugins/_ism/explain/{index}?validate_action=true");
        self.done(&path, Value::Null)[index]["validate"].clone()
    }

    fn message(&self, index: &str) -> String {
        let explained = self.explain(index);
        explained["info"]["message"].as_str().unwrap().to_string()
    }

    fn index(&self, name: &str) -> IndexHandle {
        let everything = Access::everything();
        self.engine()
            .open_exactly(name, &everything, Purpose::Watch)
            .unwrap()
    }

    fn names(&self) -> Vec<String> {
        let indices = self.engine().indices(&Access::everything());
        let names = indices.iter().map(|index| index.name().to_string());
        names.collect()
    }
}

/// A policy with one state.
fn only(actions: Value) -> Value {
    json!({
        "description": "one state",
        "default_state": "only",
        "states": [{"name": "only", "actions": actions, "transitions": []}],
    })
}

/// From hot to cold after three documents, and gone after a day.
fn life() -> Value {
    json!({
        "description": "a short life",
        "default_state": "hot",
        "states": [
            {
                "name": "hot",
                "actions": [{"index_priority": {"priority": 50}}],
                "transitions": [{"state_name": "cold", "conditions": {"min_doc_count": 3}}],
            },
            {
                "name": "cold",
                "actions": [{"read_only": {}}, {"force_merge": {"max_num_segments": 1}}],
                "transitions": [{"state_name": "gone", "conditions": {"min_index_age": "1d"}}],
            },
            {"name": "gone", "actions": [{"delete": {}}], "transitions": []},
        ],
    })
}

#[test]
fn an_index_is_led_through_its_states_to_its_end() {
    let node = Node::open(&SimDisk::new()).unwrap();
    node.put_policy("life", life()).unwrap();
    node.create("book", Value::Null);
    assert_eq!(node.add("book", "life")["updated_indices"], 1);
    node.run();
    assert_eq!(
        node.message("book"),
        "Successfully initialized policy: life"
    );
    node.run();
    let explained = node.explain("book");
    assert_eq!(explained["state"]["name"], "hot");
    assert_eq!(explained["action"]["name"], "index_priority");
    assert_eq!(explained["step"]["step_status"], "completed");
    let settings = node.index("book").settings();
    assert_eq!(settings.given["index.priority"], "50");
    node.run();
    assert_eq!(
        node.message("book"),
        "Evaluating transition conditions [index=book]"
    );
    node.write("book", 3);
    node.run();
    assert_eq!(node.message("book"), "Transitioning to cold [index=book]");
    node.run();
    assert!(!node.index("book").settings().blocks.is_empty());
    node.run();
    assert_eq!(node.message("book"), "Force merge completed [index=book]");
    let index = node.index("book");
    assert_eq!(
        index
            .segments()
            .into_iter()
            .map(|shard| shard.len())
            .sum::<usize>(),
        1
    );
    node.run();
    assert_eq!(
        node.explain("book")["step"]["step_status"],
        "condition_not_met"
    );
    node.clock.advance(24 * 60 * MINUTE);
    node.run();
    node.run();
    assert!(node.names().is_empty());
    let all = node.done("GET /_plugins/_ism/explain", Value::Null);
    assert_eq!(all, json!({"total_managed_indices": 0}));
}

#[test]
fn templates_want_new_indexes_only_and_the_highest_priority_wins() {
    let node = Node::open(&SimDisk::new()).unwrap();
    node.create("log-before", Value::Null);
    node.clock.advance(MINUTE);
    for (id, patterns, priority) in [("wide", "log*", 1), ("narrow", "log-a*", 2)] {
        let mut policy = only(json!([]));
        policy["ism_template"] = json!([{"index_patterns": [patterns], "priority": priority}]);
        node.put_policy(id, policy).unwrap();
    }
    let mut clash = only(json!([]));
    clash["ism_template"] = json!({"index_patterns": ["*-b"], "priority": 1});
    let refused = node.put_policy("clash", clash).unwrap_err();
    assert!(
        refused.contains("use a different priority than 1"),
        "{refused}"
    );
    node.clock.advance(MINUTE);
    for name in ["log-a", "log-b", "other"] {
        node.create(name, Value::Null);
    }
    node.create("log-hidden", json!({"settings": {"index.hidden": true}}));
    let followed = |name: &str| node.explain(name)["policy_id"].clone();
    assert_eq!(followed("log-a"), "narrow");
    assert_eq!(followed("log-b"), "wide");
    for name in ["log-before", "other", "log-hidden"] {
        assert_eq!(followed(name), Value::Null, "{name}");
    }
    let removed = node.done("POST /_plugins/_ism/remove/log-b", Value::Null);
    assert_eq!(removed["updated_indices"], 1);
    node.run();
    assert_eq!(followed("log-b"), Value::Null);
}

#[test]
fn a_failing_action_is_tried_again_later_and_less_often() {
    let node = Node::open(&SimDisk::new()).unwrap();
    // No alias says what to roll over.
    let retry = json!({"count": 2, "backoff": "linear", "delay": "6m"});
    let policy = only(json!([{"retry": retry, "rollover": {}}]));
    node.put_policy("failing", policy).unwrap();
    node.create("i-1", Value::Null);
    node.add("i-1", "failing");
    node.run();
    let mut seen = Vec::new();
    for _ in 0..7 {
        node.run();
        let explained = node.explain("i-1");
        let action = &explained["action"];
        seen.push((
            action["consumed_retries"].as_u64().unwrap(),
            action["failed"] == true,
        ));
    }
    // Every five minutes: at once, after six minutes, after twelve more.
    let want = [
        (1, false),
        (1, false),
        (2, false),
        (2, false),
        (2, false),
        (2, true),
        (2, true),
    ];
    assert_eq!(seen, want);
    assert_eq!(
        node.message("i-1"),
        "Missing rollover_alias index setting [index=i-1]"
    );
    let hindered = json!({
        "validation_message": "Missing rollover_alias index setting [index=i-1]",
        "validation_status": "re_validating",
    });
    assert_eq!(node.validated("i-1"), hindered);
    node.done("POST /_plugins/_ism/retry/i-1", Value::Null);
    assert_eq!(node.explain("i-1")["retry_info"]["failed"], false);
    node.run();
    assert_eq!(node.explain("i-1")["retry_info"]["consumed_retries"], 1);
}

#[test]
fn an_action_that_takes_too_long_has_failed() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let policy = only(json!([{"timeout": "1h", "rollover": {"min_doc_count": 5}}]));
    node.put_policy("slow", policy).unwrap();
    let settings = json!({"plugins.index_state_management.rollover_alias": "a"});
    let body = json!({"settings": settings, "aliases": {"a": {}}});
    node.create("i-1", body);
    node.add("i-1", "slow");
    for _ in 0..15 {
        node.run();
    }
    assert_eq!(node.explain("i-1")["action"]["failed"], true);
    assert_eq!(node.message("i-1"), "Action timed out");
}

#[test]
fn policies_change_between_actions_and_survive_a_restart() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    node.put_policy("life", life()).unwrap();
    node.create("book", Value::Null);
    node.add("book", "life");
    node.run();
    node.run();
    node.engine().close().unwrap();
    let now = node.engine().now();
    drop(node);
    let node = Node::open_at(&disk, now).unwrap();
    assert_eq!(node.explain("book")["state"]["name"], "hot");
    let mut other = only(json!([{"replica_count": {"number_of_replicas": 0}}, {"close": {}}]));
    other["states"][0]["name"] = json!("hot");
    other["default_state"] = json!("hot");
    node.put_policy("other", other).unwrap();
    let body = json!({"policy_id": "other", "include": [{"state": "cold"}]});
    let skipped = node.done("POST /_plugins/_ism/change_policy/book", body);
    assert_eq!(skipped["failures"], true);
    let body = json!({"policy_id": "other"});
    let changed = node.done("POST /_plugins/_ism/change_policy/book", body);
    assert_eq!(changed["updated_indices"], 1);
    for _ in 0..4 {
        node.run();
    }
    assert_eq!(node.explain("book")["policy_id"], "other");
    assert!(!node.index("book").is_open());
}

#[test]
fn snapshots_and_aliases_are_made_by_policies() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let body = json!({"type": "fs", "settings": {"location": "backup"}});
    node.done("PUT /_snapshot/backup", body);
    let policy = only(json!([
        {"snapshot": {"repository": "backup", "snapshot": "of-{{ctx.index}}"}},
        {"alias": {"actions": [{"add": {"alias": "kept"}}, {"remove": {"alias": "old"}}]}},
    ]));
    node.put_policy("keeping", policy).unwrap();
    node.create("book", json!({"aliases": {"old": {}}}));
    node.add("book", "keeping");
    node.run();
    node.run();
    let name = node.explain("book")["info"]["snapshot"].clone();
    assert_eq!(name, "of-book-2026.09.21-14:23:20.000");
    let taken = node.done("GET /_snapshot/backup/_all", Value::Null);
    assert_eq!(taken["snapshots"][0]["snapshot"], name);
    node.run();
    let aliases = node.index("book").aliases();
    assert_eq!(aliases.keys().collect::<Vec<_>>(), ["kept"]);
}

#[test]
fn the_job_runs_as_the_cluster_settings_say() {
    use crate::settings::JobSettings;
    let read = |name: &'static str, value: &'static str| {
        JobSettings::read(move |asked| (asked == name).then(|| value.to_string()))
    };
    let interval = "plugins.index_state_management.job_interval";
    assert_eq!(read("", "").unwrap().interval, 5 * MINUTE);
    assert_eq!(read(interval, "1").unwrap().interval, MINUTE);
    let old = "opendistro.index_state_management.enabled";
    assert!(!read(old, "false").unwrap().enabled);
    for wrong in ["0", "-1", "soon", "99999999"] {
        assert!(read(interval, wrong).is_err(), "{wrong}");
    }
}

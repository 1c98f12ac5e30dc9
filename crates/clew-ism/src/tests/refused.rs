//! Policies that are refused, and why.

use clew_platform::SimDisk;
use serde_json::{Value, json};

use super::{Node, only};

/// Every policy is refused for its reason.
fn check_refused(cases: &[(Value, &str)]) {
    let node = Node::open(&SimDisk::new()).unwrap();
    for (policy, want) in cases {
        let reason = node.put_policy("p", policy.clone()).unwrap_err();
        assert!(reason.contains(want), "{policy}: {reason}");
    }
}

#[test]
fn actions_that_cannot_be_carried_out_are_refused() {
    let alias = json!({"actions": [{"add": {"index": "i", "alias": "a"}}]});
    let cases = [
        (json!({"shrink": {}}), "Exactly one option"),
        (
            json!({"shrink": {"num_new_shards": 1, "max_shard_size": "1gb"}}),
            "Exactly one option",
        ),
        (json!({"rollup": {}}), "action [rollup] is not supported"),
        (json!({"notification": {}}), "action [notification] is not"),
        (json!({"fly": {}}), "Invalid field: [fly] found in Action."),
        (json!({"delete": {}, "open": {}}), "Only one action"),
        (json!({"timeout": "1h"}), "Action is null"),
        (json!({"force_merge": {}}), "max_num_segments is null"),
        (
            json!({"rollover": {"min_size": "0b"}}),
            "needs to be greater",
        ),
        (
            json!({"rollover": {"max_age": "1d"}}),
            "Invalid field: [max_age]",
        ),
        (
            json!({"retry": {"backoff": "soon"}, "open": {}}),
            "Invalid backoff",
        ),
        (json!({"alias": alias}), "don't accept"),
        (
            json!({"allocation": {}}),
            "At least one allocation parameter",
        ),
    ];
    let cases: Vec<_> = cases
        .into_iter()
        .map(|(action, want)| (only(json!([action])), want))
        .collect();
    check_refused(&cases);
}

#[test]
fn policies_that_cannot_be_followed_are_refused() {
    let when = |conditions: Value| {
        let mut policy = only(json!([]));
        let transition = json!({"state_name": "only", "conditions": conditions});
        policy["states"][0]["transitions"] = json!([transition]);
        policy
    };
    let with = |name: &str, value: Value| {
        let mut policy = only(json!([]));
        policy[name] = value;
        policy
    };
    let state = json!({"name": "only"});
    check_refused(&[
        (when(json!({"cron": {}})), "[cron] is not supported"),
        (
            when(json!({"min_size": "1gb", "min_doc_count": 1})),
            "Cannot provide more than one",
        ),
        (when(json!({"min_index_age": 5})), "must be a time"),
        (
            with("default_state", json!("x")),
            "must have a default state",
        ),
        (with("states", json!([])), "at least one State"),
        (
            with("states", json!([state, state])),
            "duplicate state names",
        ),
        (with("description", Value::Null), "description is null"),
        (with("colour", json!("red")), "Invalid field: [colour]"),
        (
            with("error_notification", json!({"channel": {}})),
            "no notifications",
        ),
        (
            with("ism_template", json!([{"index_patterns": []}])),
            "index_patterns is null",
        ),
    ]);
}

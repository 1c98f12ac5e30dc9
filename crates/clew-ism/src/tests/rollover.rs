//! Rollovers, of indexes and of streams.

use super::*;

pub(super) fn rolling(node: &Node) {
    let policy = only(json!([{"rollover": {"min_doc_count": 2, "copy_alias": true}}]));
    node.put_policy("rolling", policy).unwrap();
    let settings = json!({"plugins.index_state_management.rollover_alias": "logs"});
    node.create(
        "logs-000001",
        json!({"settings": settings, "aliases": {"logs": {"is_write_index": true}, "all": {}}}),
    );
    node.add("logs-000001", "rolling");
}

#[test]
fn a_full_index_is_rolled_over_with_its_aliases() {
    let node = Node::open(&SimDisk::new()).unwrap();
    rolling(&node);
    node.run();
    node.run();
    let explained = node.explain("logs-000001");
    assert_eq!(
        explained["info"]["message"],
        "Rollover conditions not met [index=logs-000001]"
    );
    assert_eq!(
        explained["info"]["conditions"]["min_doc_count"],
        json!({"condition": 2, "current": 0})
    );
    assert_eq!(explained["step"]["name"], "attempt_rollover");
    let passed = json!({"validation_message": "", "validation_status": "passed"});
    assert_eq!(node.validated("logs-000001"), passed);
    node.write("logs", 2);
    node.run();
    assert_eq!(node.names(), ["logs-000001", "logs-000002"]);
    assert_eq!(node.explain("logs-000001")["rolled_over"], true);
    node.write("logs", 1);
    let newer = node.index("logs-000002");
    assert_eq!(newer.stats().docs, 1);
    assert!(newer.aliases().contains_key("all"));
    node.run();
    node.run();
    assert_eq!(node.explain("logs-000001")["policy_completed"], true);
    assert_eq!(node.names().len(), 2);
}

#[test]
fn a_rollover_that_power_cuts_anywhere_happens_once() {
    let mut changes_until_cut = 1;
    loop {
        let disk = SimDisk::new();
        let node = Node::open(&disk).unwrap();
        rolling(&node);
        node.run();
        node.write("logs", 2);
        let (node, is_whole) = node.run_into_power_cut(&disk, changes_until_cut);
        for _ in 0..4 {
            node.run();
        }
        let explained = node.explain("logs-000001");
        assert_eq!(
            node.names(),
            ["logs-000001", "logs-000002"],
            "cut after {changes_until_cut}: {explained}"
        );
        assert_eq!(
            explained["policy_completed"], true,
            "cut after {changes_until_cut}"
        );
        node.write("logs", 1);
        assert_eq!(node.index("logs-000002").stats().docs, 1);
        if is_whole {
            break;
        }
        changes_until_cut += 1;
    }
    assert!(
        changes_until_cut > 3,
        "the rollover changed the disk at several points"
    );
}

#[test]
fn streams_are_rolled_over_and_their_new_indexes_follow_too() {
    let node = Node::open(&SimDisk::new()).unwrap();
    let template = json!({"index_patterns": ["metrics-*"], "data_stream": {}});
    node.done("PUT /_index_template/t", template);
    let mut policy = only(json!([{"rollover": {"min_index_age": "1h"}}]));
    policy["ism_template"] = json!([{"index_patterns": ["metrics-*"], "priority": 1}]);
    node.put_policy("streams", policy).unwrap();
    node.clock.advance(MINUTE);
    let body = json!({"@timestamp": "2026-11-22T00:00:00Z"});
    node.done("POST /metrics-cpu/_doc?op_type=create", body);
    for _ in 0..20 {
        node.run();
    }
    let names = node.names();
    assert_eq!(names, [".ds-metrics-cpu-000001", ".ds-metrics-cpu-000002"]);
    assert_eq!(node.explain(&names[1])["policy_id"], "streams");
    assert_eq!(node.explain(&names[0])["policy_completed"], true);
}

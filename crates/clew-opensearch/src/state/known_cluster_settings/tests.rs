use super::*;

fn refused(name: &str, text: Option<&str>) -> Option<String> {
    let changes = Changes::from([(name.to_string(), text.map(String::from))]);
    let kept = Kept::from([("mine.own".to_string(), "1".to_string())]);
    let checked = check("transient", &changes, &kept);
    checked.err().map(|error| error.reason())
}

#[test]
fn settings_that_there_are_not_are_refused() {
    for (name, text) in [
        ("cluster.routing.allocation.enable", Some("none")),
        ("cluster.routing.allocation.enable", None),
        ("cluster.routing.allocation.exclude._ip", Some("10.0.0.1")),
        ("cluster.max_shards_per_node", Some("2000")),
        ("cluster.remote.other.seeds", Some("[\"h:9300\"]")),
        ("indices.recovery.max_bytes_per_sec", Some("-1")),
        ("cluster.ingest.max_number_processors", Some("20")),
        ("cluster.search.request.slowlog.threshold.warn", Some("-1")),
        ("cluster.search.request.slowlog.level", Some("INFO")),
        (
            "cluster.milvus.request.slowlog.threshold.trace",
            Some("5ms"),
        ),
        ("indices.replication.retry_timeout", Some("60s")),
        ("monitor.fs.health.healthy_timeout_threshold", Some("60s")),
        ("logger.org.opensearch.index", Some("debug")),
        ("plugins.index_state_management.enabled", Some("true")),
        ("mine.own", None),
        ("archived.*", None),
        ("cluster.routing.*", None),
    ] {
        assert_eq!(refused(name, text), None, "{name}");
    }
    for (name, text, want) in [
        (
            "foo.bar",
            Some("1"),
            "transient setting [foo.bar], not recognized",
        ),
        (
            "foo.bar",
            None,
            "transient setting [foo.bar], not recognized",
        ),
        (
            "mine.own",
            Some("2"),
            "transient setting [mine.own], not recognized",
        ),
        (
            "cluster.routing.allocation.enabl",
            Some("all"),
            "transient setting [cluster.routing.allocation.enabl], not recognized",
        ),
        (
            "cluster.search.request.slowlog.threshold.fatal",
            Some("1s"),
            "transient setting [cluster.search.request.slowlog.threshold.fatal], not recognized",
        ),
        (
            "path.data",
            Some("/x"),
            "transient setting [path.data], not dynamically updateable",
        ),
    ] {
        assert_eq!(refused(name, text).as_deref(), Some(want));
    }
}

#[test]
fn values_that_no_setting_has_are_refused() {
    for (name, text, want) in [
        (
            "action.destructive_requires_name",
            "yes",
            "Failed to parse value [yes] as only [true] or [false] are allowed.",
        ),
        (
            "cluster.max_shards_per_node",
            "many",
            "Failed to parse value [many] for setting [cluster.max_shards_per_node]",
        ),
        (
            "cluster.max_shards_per_node",
            "0",
            "Failed to parse value [0] for setting [cluster.max_shards_per_node] must be >= 1",
        ),
        (
            "cluster.routing.allocation.enable",
            "some",
            "Illegal allocation.enable value [SOME]",
        ),
        (
            "script.max_compilations_rate",
            "5",
            "parameter must contain a positive integer and a timevalue, i.e. 10/1m, but was [5]",
        ),
    ] {
        assert_eq!(refused(name, Some(text)).as_deref(), Some(want));
    }
    assert!(refused("script.max_compilations_rate", Some("75/5m")).is_none());
    assert!(refused("search.keep_alive_interval", Some("1m")).is_some());
    assert!(refused("search.default_keep_alive", Some("long")).is_some());
    assert!(refused("indices.recovery.max_bytes_per_sec", Some("fast")).is_some());
}

#[test]
fn every_name_is_listed_once() {
    let mut names: Vec<&str> = DYNAMIC.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

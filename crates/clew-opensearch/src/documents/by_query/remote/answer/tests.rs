use super::*;

fn bytes(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

#[test]
fn versions_tell_how_a_cluster_is_spoken_to() {
    let read = |number: &str, distribution: Option<&str>| {
        let answer = json!({"version": {"number": number, "distribution": distribution}});
        version(&bytes(&answer)).map(|version| version.knows_all_or_nothing)
    };
    for (number, distribution, knows) in [
        ("8.15.0", None, true),
        ("7.10.2-SNAPSHOT", None, true),
        ("6.2.4", None, false),
        ("1.3.20", Some("opensearch"), true),
        ("3.0.0-beta1", Some("opensearch"), true),
    ] {
        assert_eq!(read(number, distribution).ok(), Some(knows), "{number}");
    }
    let old = read("1.7.6", None).unwrap_err();
    assert!(old.reason().contains("[1.7.6], must be at least [2.0.0]"));
    assert!(read("new", None).is_err());
    assert!(
        version(&Bytes::from("<html>"))
            .unwrap_err()
            .is_kind("exception")
    );
}

#[test]
fn pages_of_all_versions_are_read_without_a_copy() {
    let hits = json!([
        {"_index": "a", "_type": "_doc", "_id": "1", "_version": 4, "_source": {"n": 1.50}},
        {"_index": "b", "_id": "2", "_routing": "r", "_source": {}},
    ]);
    for total in [json!(7), json!({"value": 7, "relation": "eq"})] {
        let answer = bytes(&json!({
            "_scroll_id": "s", "took": 1, "timed_out": false, "_shards": {"total": 1},
            "hits": {"total": total, "max_score": null, "hits": hits},
        }));
        let Scrolled { id, page } = scrolled(&answer).ok().unwrap();
        assert_eq!((id.as_deref(), page.total), (Some("s"), Some(7)));
        let seen: Vec<_> = page
            .found
            .iter()
            .map(|found| {
                (
                    &*found.index,
                    &*found.id,
                    found.version,
                    found.routing.as_deref(),
                )
            })
            .collect();
        assert_eq!(seen, [("a", "1", 4, None), ("b", "2", 0, Some("r"))]);
        assert_eq!(page.found[0].source, Bytes::from_static(b"{\"n\":1.5}"));
        assert!(
            answer
                .as_ptr_range()
                .contains(&page.found[0].source.as_ptr())
        );
    }
}

#[test]
fn what_is_no_page_is_refused() {
    let hit = json!({"_index": "a", "_id": "1", "_source": {}});
    let of = |hits: Vec<Value>| bytes(&json!({"hits": {"total": 1, "hits": hits}}));
    assert!(scrolled(&of(vec![hit.clone(); PAGE_MAX])).is_ok());
    let many = scrolled(&of(vec![hit; PAGE_MAX + 1])).err().unwrap();
    assert!(many.is_kind("exception"));
    let bare = scrolled(&of(vec![json!({"_index": "a", "_id": "1"})]))
        .err()
        .unwrap();
    assert_eq!(bare.reason(), "[a][1] didn't store _source");
    assert!(scrolled(&bytes(&json!({"acknowledged": true}))).is_err());
}

#[test]
fn shards_that_failed_there_are_told_here() {
    let answer = bytes(&json!({
        "hits": {"total": 0, "hits": []},
        "_shards": {"failures": [
            {"index": "a", "shard": 3, "node": "n", "reason": {"type": "parsing_exception", "reason": "so"}},
            {"shard": 1, "reason": {"type": "io_exception", "reason": "gone"}},
            {"reason": "text"},
        ]},
    }));
    let failures = scrolled(&answer).ok().unwrap().page.failures;
    let told: Vec<_> = failures
        .iter()
        .map(|(status, failure)| {
            (
                status.as_u16(),
                failure["reason"]["reason"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    let unknown = "Unknown remote exception with reason=[\"text\"]";
    assert_eq!(
        told,
        [(400, "so"), (500, "io_exception: gone"), (500, unknown)]
    );
    assert_eq!(
        (&failures[0].1["index"], &failures[0].1["shard"]),
        (&json!("a"), &json!(3))
    );
}

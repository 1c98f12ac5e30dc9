use super::*;

fn read(remote: Value, source: Value) -> Result<Remote, ApiError> {
    let source = source.as_object().cloned().unwrap_or_default();
    Remote::read(&remote, &source)
}

#[test]
fn what_is_said_of_another_cluster_is_read_and_no_password_is_shown() {
    let remote = json!({
        "host": "https://old.example:9200/es/", "username": "u", "password": "p4ss",
        "headers": {"X-Tenant": "t"}, "socket_timeout": "1m", "connect_timeout": "0",
    });
    let source =
        json!({"index": "a", "query": {"term": {"a": 1}}, "_source": ["b"], "sort": ["n"]});
    let read = read(remote, source).ok().unwrap();
    assert_eq!(read.place.root(), "https://old.example:9200");
    let patience = RemotePatience {
        connect: PATIENCE_MAX,
        silence: Duration::from_secs(60),
    };
    assert_eq!(read.patience, patience);
    assert_eq!(read.headers["authorization"], "Basic dTpwNHNz");
    assert_eq!(read.headers["x-tenant"], "t");
    let search = json!({"query": {"term": {"a": 1}}, "_source": ["b"], "sort": ["n"]});
    assert_eq!(read.search, search);
    assert_eq!(
        read.described(),
        "scheme=https host=old.example port=9200 query={\"term\":{\"a\":1}} pathPrefix=/es \
         username=u password=<<>>"
    );
    let shown = format!("{read:?}");
    assert!(
        !shown.contains("p4ss") && !shown.contains("dTpw"),
        "{shown}"
    );
}

#[test]
fn what_a_request_does_not_say_is_usual() {
    let read = read(json!({"host": "http://a:9"}), json!({"index": "a"}));
    let read = read.ok().unwrap();
    assert_eq!(read.patience.connect, PATIENCE);
    let search = json!({"query": {"match_all": {}}, "_source": true, "sort": ["_doc"]});
    assert_eq!(read.search, search);
    assert_eq!(read.described(), "host=a port=9 query={\"match_all\":{}}");
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let host = "http://a:9";
    for (remote, source, reason) in [
        (
            json!(1),
            json!({}),
            "Expected [remote] to be an object but was [1]",
        ),
        (
            json!({}),
            json!({}),
            "[host] must be specified to reindex from a remote cluster",
        ),
        (
            json!({"host": "a:9"}),
            json!({}),
            "[host] must be of the form [scheme]://[host]:[port](/[pathPrefix])? but was [a:9]",
        ),
        (
            json!({"host": 1}),
            json!({}),
            "Expected [host] to be a string but was [1]",
        ),
        (
            json!({"host": host, "x": 1, "y": 2}),
            json!({}),
            "Unsupported fields in [remote]: [x,y]",
        ),
        (
            json!({"host": host, "headers": {"a": 1}}),
            json!({}),
            "Expected [headers] to be an object containing strings but has [a=1]",
        ),
        (
            json!({"host": host, "headers": {"a b": "c"}}),
            json!({}),
            "[headers] has [a b], which is no header",
        ),
        (
            json!({"host": host, "headers": {"a": "c\nd: e"}}),
            json!({}),
            "[headers] has [a], which is no header",
        ),
        (
            json!({"host": host, "headers": {"Content-Length": "1"}}),
            json!({}),
            "[headers] may not have [Content-Length]",
        ),
        (
            json!({"host": host, "socket_timeout": 1}),
            json!({}),
            "Expected [socket_timeout] to be a string but was [1]",
        ),
        (
            json!({"host": host}),
            json!({"query": 1}),
            "Expected [query] to be an object but was [1]",
        ),
    ] {
        let error = read(remote, source).err().unwrap();
        assert_eq!(error.reason(), reason);
    }
}

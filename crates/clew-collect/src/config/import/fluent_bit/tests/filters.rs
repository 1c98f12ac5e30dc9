//! Filters and processors of a Fluent Bit: which events they are for, and what they become.

use super::*;

/// An input of files with a tag, a section, and an output.
fn with(tag: &str, section: &str) -> (Value, Vec<String>) {
    imported(&format!(
        "[INPUT]\n Name tail\n Path /var/log/containers/*.log\n Tag {tag}\n{section}[OUTPUT]\n Name stdout\n Match *\n"
    ))
}

#[test]
fn of_several_parsers_each_is_asked_where_those_before_it_have_failed() {
    let (config, told) = with(
        "a",
        "[PARSER]\n Name p\n Format json\n Types n:integer\n[FILTER]\n Name parser\n Match *\n Key_Name log\n Parser p\n Parser logfmt\n Parser none\n",
    );
    assert_eq!(
        told,
        ["line 9: [filter.parser] [none] is a parser that is not defined here"]
    );
    let failed = |count: u64| json!({"equals": {"@metadata.unread": count}});
    let (raw, there) = ("@metadata.raw", json!({"has_fields": ["@metadata.raw"]}));
    let count = |count: u64| json!([{"add": {"field": "@metadata.unread", "value": count}}]);
    assert_eq!(
        config["inputs"][0]["processors"],
        json!([
            {"rename": {"field": "message", "target_field": raw, "ignore_missing": true}},
            {"add": {"field": "@metadata.unread", "value": 0}},
            {"json": {"add_to_root": true, "field": raw, "on_failure": count(1), "if": {"and": [failed(0), there]}}},
            {"convert": {"field": "n", "type": "long", "ignore_missing": true, "ignore_failure": true, "if": failed(0)}},
            {"logfmt": {"field": raw, "on_failure": count(2), "if": {"and": [failed(1), there]}}},
            {"rename": {"field": raw, "target_field": "message", "if": failed(2)}},
            {"remove": {"field": raw, "ignore_missing": true}},
        ])
    );
}

#[test]
fn parsers_that_come_with_it_give_its_names() {
    let (config, told) = with(
        "a",
        "[FILTER]\n Name parser\n Match *\n Key_Name log\n Parser nginx\n",
    );
    assert_eq!(told, Vec::<String>::new());
    let steps = config["inputs"][0]["processors"].as_array().unwrap();
    // What is called so there is no object.
    assert_eq!(steps[0]["remove"]["field"], "host");
    let pattern = steps[2]["regex"]["pattern"].as_str().unwrap();
    for name in [
        "remote", "host", "user", "time", "method", "path", "code", "size", "referer", "agent",
    ] {
        assert!(pattern.contains(&format!("(?<{name}>")), "{name}");
    }
    let line =
        r#"10.0.0.1 - bob [10/Oct/2026:13:55:36 -0700] "GET /a b?c HTTP/1.1" 200 23 "-" "curl/8""#;
    let groups = regex::Regex::new(pattern).unwrap().captures(line).unwrap();
    let found = [
        "remote", "host", "user", "method", "path", "code", "size", "agent",
    ]
    .map(|name| groups.name(name).map_or("", |group| group.as_str()));
    assert_eq!(
        found,
        [
            "10.0.0.1", "-", "bob", "GET", "/a b?c", "200", "23", "curl/8"
        ]
    );
    assert_eq!(steps[3]["date"]["formats"], json!(["%d/%b/%Y:%H:%M:%S %z"]));
    assert_eq!(steps[4]["remove"]["field"], "time");
    let (_, told) = with(
        "a",
        "[FILTER]\n Name parser\n Match *\n Key_Name log\n Parser syslog-rfc5424\n",
    );
    assert_eq!(
        told,
        ["line 5: [filter.parser] [syslog-rfc5424]: the fields are those of the parser [syslog]"]
    );
}

#[test]
fn filters_of_tags_with_paths_are_for_their_files_and_others_are_told() {
    let filter =
        |pattern: &str| format!("[FILTER]\n Name grep\n Match {pattern}\n Exclude log ping\n");
    let (config, told) = with("kube.*", &filter("kube.var.log.containers.web-*"));
    assert_eq!(told, Vec::<String>::new());
    let ping = json!({"or": [{"regexp": {"message": "ping"}}]});
    let web = json!({"regexp": {"log.file.path": r"^/?var[./]log[./]containers[./]web\-.*$"}});
    assert_eq!(
        config["inputs"][0]["processors"],
        json!([{"drop": {"if": {"and": [web, ping]}}}])
    );
    let (config, told) = with("kube.*", &filter("host.*"));
    assert_eq!(
        told,
        ["line 5: [filter.grep] takes no input's tag, and is left out"]
    );
    assert_eq!(config["inputs"][0].get("processors"), None);
    // An output for some of the files asks for both.
    let (config, _) = with(
        "kube.*",
        "[OUTPUT]\n Name file\n Path /out\n Match kube.var.log.containers.web-*\n",
    );
    assert_eq!(
        config["outputs"][0]["when"],
        json!({"or": [{"and": [{"equals": {"@metadata.tag": "kube.*"}}, web]}]})
    );
}

#[test]
fn the_filter_that_joins_lines_has_their_input_join_them() {
    let filter = |more: &str| {
        format!("[FILTER]\n Name multiline\n Match *\n multiline.key_content log\n{more}")
    };
    let (config, told) = with("a", &filter(" multiline.parser go, java\n Flush_Ms 300\n"));
    assert_eq!(told, Vec::<String>::new());
    let joined = json!({"preset": "java", "timeout_ms": 300});
    assert_eq!(config["inputs"][0]["multiline"], joined);
    let (config, told) = with("a", &filter(" Mode partial_message\n"));
    assert_eq!(config["inputs"][0].get("multiline"), None);
    assert_eq!(
        told,
        ["line 5: [filter.multiline] only lines are joined, by [multiline.parser]"]
    );
}

#[test]
fn yaml_has_variables_processors_and_conditions() {
    let text = r#"
env: {STAGE: prod, PORT: 5140}
includes: [more.yaml]
pipeline:
  inputs:
    - name: syslog
      mode: tcp
      port: ${PORT}
      tag: s
      processors:
        logs:
          - {name: content_modifier, action: upsert, key: stage, value: "${STAGE}"}
          - {name: content_modifier, action: insert, key: a, value: b}
          - {name: content_modifier, action: rename, key: a, value: c}
          - {name: content_modifier, action: delete, key: d}
          - {name: content_modifier, action: hash, key: e}
          - {name: content_modifier, action: extract, key: log, pattern: '^(?<first>\w+)'}
          - {name: content_modifier, action: convert, key: n, converted_type: int}
          - {name: content_modifier, context: attributes, action: delete, key: d}
          - name: modify
            add: on yes
            condition:
              op: or
              rules:
                - {field: $level, op: in, value: [warn, error]}
                - {field: "$http['code']", op: gte, value: 500}
                - {field: $log, op: not_regex, value: ^ok}
        metrics:
          - {name: labels, delete: x}
  outputs:
    - {name: stdout, match: '*'}
"#;
    let (config, told) = imported(text);
    assert_eq!(
        told,
        [
            "line 3: [includes] [more.yaml] is another file: it has to be put in",
            "line 19: [filter.content_modifier] [context attributes] has no counterpart: an event has its body alone",
            "line 28: [metrics] has no counterpart: events are logs",
        ]
    );
    assert_eq!(config["inputs"][0]["listen"], "tcp://0.0.0.0:5140");
    let steps = config["inputs"][0]["processors"].as_array().unwrap();
    assert_eq!(
        steps[..4],
        [
            json!({"add": {"field": "stage", "value": "prod"}}),
            json!({"add": {"field": "a", "value": "b", "override": false}}),
            json!({"rename": {"field": "a", "target_field": "c", "override_target": true, "ignore_missing": true}}),
            json!({"remove": {"field": "d", "ignore_missing": true}}),
        ]
    );
    let hashed = steps[4]["vrl"]["source"].as_str().unwrap();
    assert!(hashed.contains("sha2("), "{hashed}");
    assert_eq!(steps[5]["regex"]["field"], "message");
    assert_eq!(steps[6]["convert"]["type"], "long");
    assert_eq!(
        steps[7]["add"]["if"],
        json!({"or": [
            {"or": [{"equals": {"level": "warn"}}, {"equals": {"level": "error"}}]},
            {"range": {"http.code": {"gte": 500.0}}},
            {"not": {"regexp": {"message": "^ok"}}},
        ]})
    );
}

#[test]
fn a_cloud_of_elastic_is_an_address_and_a_login() {
    let (config, told) = imported(
        "[INPUT]\n Name stdin\n[OUTPUT]\n Name es\n Match *\n Cloud_ID my:ZXUuZXhhbXBsZS5jb20kYWJjJGRlZg==\n Cloud_Auth u:p:q\n",
    );
    assert_eq!(told, Vec::<String>::new());
    let output = &config["outputs"][0];
    assert_eq!(output["url"], "https://abc.eu.example.com:443");
    assert_eq!(
        output["authentication"],
        json!({"user": "u", "password": "p:q"})
    );
}

#[test]
fn rates_are_for_their_intervals_and_events_get_ids_of_their_own() {
    let limit = |interval: &str| {
        let (config, told) = with(
            "a",
            &format!("[FILTER]\n Name throttle\n Match *\n Rate 10\n{interval}"),
        );
        let steps = &config["inputs"][0]["processors"];
        (steps[0]["rate_limit"]["limit"].clone(), told.len())
    };
    for (interval, expected, told) in [
        ("", "10/s", 0),
        (" Interval 1s\n", "10/s", 0),
        (" Interval 30s\n", "20/m", 0),
        (" Interval 5m\n", "120/h", 0),
        (" Interval 7s\n", "10/s", 1),
    ] {
        assert_eq!(limit(interval), (json!(expected), told), "{interval}");
    }
    let (config, told) = with(
        "a",
        "[FILTER]\n Name record_modifier\n Match *\n Uuid_Key id\n",
    );
    assert_eq!(told, Vec::<String>::new());
    assert_eq!(
        config["inputs"][0]["processors"][0]["vrl"]["source"],
        r#"."id" = uuid_v4()"#
    );
    let (config, _) = imported(
        "[INPUT]\n Name stdin\n[OUTPUT]\n Name opensearch\n Match *\n Index $kubernetes['namespace_name']-%Y\n",
    );
    assert_eq!(
        config["outputs"][0]["index"],
        "{{kubernetes.namespace_name}}-%{+yyyy}"
    );
}

#[test]
fn what_is_nested_leaves_the_time_and_names_are_taken_away_by_expressions() {
    let source = |section: &str| {
        let (config, told) = with("a", section);
        assert_eq!(told, Vec::<String>::new());
        let steps = config["inputs"][0]["processors"].as_array().unwrap();
        let sources = steps.iter().map(|step| step["vrl"]["source"].as_str());
        sources.map(Option::unwrap_or_default).collect::<String>()
    };
    let nested =
        source("[FILTER]\n Name nest\n Match *\n Operation nest\n Wildcard *\n Nest_under all\n");
    assert!(
        nested.contains(r#"key != "@timestamp" && (starts_with(key, ""))"#),
        "{nested}"
    );
    let removed =
        source("[FILTER]\n Name modify\n Match *\n Remove_regex ^tmp_\n Move_to_end a*\n");
    assert!(removed.contains("match(key, r'^tmp_')"), "{removed}");
}

#[test]
fn what_outputs_write_otherwise_is_told() {
    let (_, told) = with(
        "a",
        "[OUTPUT]\n Name http\n Match *\n Format msgpack\n[OUTPUT]\n Name http\n Match *\n Format json_lines\n[OUTPUT]\n Name kafka\n Match *\n Format gelf\n",
    );
    let told: Vec<&String> = told.iter().filter(|one| one.contains("format")).collect();
    assert_eq!(
        told,
        [
            "line 5: [output.http] [format msgpack]: lines of JSON are sent",
            "line 13: [output.kafka] [format gelf]: lines of JSON are sent",
        ]
    );
}

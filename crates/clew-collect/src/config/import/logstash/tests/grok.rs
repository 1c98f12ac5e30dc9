//! `grok` of a Logstash.

use super::*;

#[test]
fn anything_is_several_lines_where_events_of_a_logstash_have_some() {
    let text = r#"
input { file { path => "/a" codec => multiline { pattern => "^\s" what => "previous" } } }
filter {
  grok { match => { "message" => ["%{WORD:a.b} %{GREEDYDATA:rest}", "^%{IP:a.b}$", "(?m)x(?<y>.*)", "%{WORD:w}: .+"] } }
}
output { stdout { } }
"#;
    let patterns = |text: &str| {
        let imported = import_pipeline("p.conf", text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        config["processors"][0]["grok"]["patterns"].clone()
    };
    let rest = "%{WORD:a.b} %{GREEDYDATA:rest}";
    let expected = |before: &str| {
        serde_json::json!([
            format!("{before}{rest}"),
            "^%{IP:a.b}$",
            "(?m)x(?<y>.*)",
            format!("{before}%{{WORD:w}}: .+"),
        ])
    };
    assert_eq!(patterns(text), expected("(?m)"));
    let of_one_line = "codec => plain { }";
    let start = text.find("codec").unwrap();
    let end = text.find(" } }\nfilter").unwrap();
    let text = format!("{}{of_one_line}{}", &text[..start], &text[end..]);
    assert_eq!(patterns(&text), expected(""));
}

#[test]
fn captures_of_a_logstash_that_are_empty_are_no_fields_unless_it_keeps_them() {
    for (settings, expected) in [
        (
            r#"match => { "message" => "%{DATA:a},%{INT:n}" }"#,
            Some(false),
        ),
        (r#"match => { "message" => "%{SYSLOGLINE}" }"#, Some(false)),
        (r#"match => { "message" => "(?<a>x*)" }"#, Some(false)),
        (r#"match => { "message" => "%{WORD:a} %{INT:n}" }"#, None),
        (
            r#"keep_empty_captures => true match => { "message" => "%{DATA:a}," }"#,
            None,
        ),
    ] {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let keeps = config["processors"][0]["grok"]["keep_empty_captures"].as_bool();
        assert_eq!(keeps, expected, "{settings}");
    }
}

#[test]
fn named_patterns_of_a_logstash_have_the_names_that_are_asked_for() {
    let check = |settings: &str, told: &[&str], has_definitions: bool| {
        let text = format!(
            "input {{ stdin {{ }} }}\nfilter {{ grok {{ {settings} }} }}\noutput {{ stdout {{ }} }}"
        );
        let imported = import_pipeline("p.conf", &text).unwrap();
        let found = imported.told();
        assert_eq!(found, told, "{settings}");
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let definitions = &config["processors"][0]["grok"]["pattern_definitions"];
        assert_eq!(definitions.is_object(), has_definitions, "{settings}");
    };
    let access = r#"match => { "message" => "%{COMBINEDAPACHELOG}" }"#;
    let without = "line 2: [filter.grok] [COMBINEDAPACHELOG] gives the names that it has without [ecs_compatibility], which is [v8] for a Logstash of the eighth generation";
    check(access, &[without], false);
    check(
        &format!("{access} ecs_compatibility => disabled"),
        &[],
        false,
    );
    check(&format!("{access} ecs_compatibility => v8"), &[], true);
    let renamed = r#"match => { "message" => "%{HAPROXYHTTP}" } ecs_compatibility => "v8""#;
    check(renamed, &[], true);
    let other = r#"match => { "message" => "%{CISCOFW106001}" } ecs_compatibility => "v8""#;
    check(
        other,
        &[
            "line 2: [filter.grok] [ecs_compatibility => v8]: [CISCOFW106001] gives the names that it had before",
        ],
        false,
    );
    check(
        r#"match => { "message" => "%{WORD:a} %{GREEDYDATA:b}" }"#,
        &[],
        false,
    );
}

#[test]
fn patterns_of_folders_become_definitions_where_they_are_used() {
    use serde_json::json;
    fn read(folder: &str) -> Option<String> {
        let text = "# of the shop\nORDER   o-%{ORDERID:[order][id]}\nORDERID \\d+\nSTAMP %{YEAR}\\|\nOTHER x\n";
        (folder == "./patterns").then(|| text.to_owned())
    }
    let text = r#"
input { file { path => "/a" codec => multiline { patterns_dir => ["./patterns"] pattern => "^%{STAMP}" negate => true what => "previous" } } }
filter {
  grok { patterns_dir => ["./patterns", "/nowhere"] match => { "message" => "%{ORDER}" } pattern_definitions => { "ORDERID" => "[a-z]" } }
}
output { stdout {} }
"#;
    let imported = import_logstash("p.conf", text, read).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let definitions = json!({"ORDERID": "[a-z]", "ORDER": "o-%{ORDERID:order.id}"});
    assert_eq!(
        config["processors"][0]["grok"]["pattern_definitions"],
        definitions
    );
    let start = config["inputs"][0]["multiline"]["start"].as_str().unwrap();
    assert!(
        start.starts_with("^(?:(?:") && start.ends_with("\\|)"),
        "{start}"
    );
    assert_eq!(
        imported.told(),
        [
            "line 4: [filter.grok] [patterns_dir => /nowhere] cannot be read: its patterns belong into [pattern_definitions]"
        ]
    );
}

/// The fields that a named pattern of a Logstash makes of a line.
fn fields(name: &str, settings: &str, line: &str) -> Value {
    let text = format!(
        "input {{ stdin {{ }} }}\nfilter {{ grok {{ match => {{ \"said\" => \"%{{{name}}}\" }} {settings} }} }}\noutput {{ stdout {{ }} }}"
    );
    let imported = import_pipeline("p.conf", &text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let mut plan = clew_ingest::Plan::default();
    plan.add(&config["processors"][0]).unwrap();
    let said = plan.slot("said").unwrap();
    let begun = plan.event.begin(line).unwrap();
    plan.event
        .put(said, clew_ingest::Value::Text(begun))
        .unwrap();
    plan.run(0).unwrap();
    let mut out = Vec::new();
    plan.event.write(&mut out);
    let mut found: Value = serde_json::from_slice(&out).unwrap();
    found.as_object_mut().unwrap().remove("said");
    found
}

#[test]
fn patterns_that_a_logstash_has_more_than_others_are_there() {
    use serde_json::json;
    let arrival = "2014-08-10 11:18:46 [123] 1XGPXW-0003eK-1h <= shop@example.com H=mail.example.com (helo) [192.0.2.7]:4321 P=esmtps X=TLS1.2:256 S=7065 T=\"a subject\" for you@example.org";
    assert_eq!(
        fields("EXIM", "ecs_compatibility => disabled", arrival),
        json!({
            "timestamp": "2014-08-10 11:18:46", "exim_year": "2014", "exim_month": "08", "exim_day": "10",
            "exim_time": "11:18:46", "pid": "123", "exim_msgid": "1XGPXW-0003eK-1h", "exim_flags": "<=",
            "exim_sender_email": "shop@example.com", "remote_hostname": "mail.example.com", "remote_heloname": "helo",
            "remote_host": "192.0.2.7", "remote_port": "4321", "protocol": "esmtps", "exim_msg_size": "7065",
            "exim_subject": "\"a subject\"", "exim_recipient_email": "you@example.org",
        })
    );
    assert_eq!(
        fields("EXIM", "ecs_compatibility => v8", arrival),
        json!({
            "timestamp": "2014-08-10 11:18:46", "process": {"pid": 123},
            "exim": {"log": {
                "message": {"id": "1XGPXW-0003eK-1h", "size": 7065, "subject": "a subject"}, "flags": "<=",
                "sender": {"email": "shop@example.com"}, "remote_address": "helo", "recipient": {"email": "you@example.org"},
            }},
            "source": {"address": "mail.example.com", "ip": "192.0.2.7", "port": 4321}, "network": {"protocol": "esmtps"},
        })
    );
    // What is there with the schema alone needs no setting.
    assert_eq!(
        fields(
            "BIND9_QUERYLOG",
            "",
            "17-Feb-2018 23:06:56.326 queries: info: client @0x7f1 192.0.2.1#123 (a.example): query: b.example IN A +E(0)K (192.0.2.3)"
        ),
        json!({
            "timestamp": "17-Feb-2018 23:06:56.326", "log": {"level": "info"}, "bing": {"log": {"category": "queries"}},
            "client": {"ip": "192.0.2.1", "port": 123}, "server": {"ip": "192.0.2.3"},
            "bind": {"log": {"question": {"name": "a.example", "flags": "+E(0)K"}}},
            "dns": {"question": {"name": "b.example", "class": "IN", "type": "A"}},
        })
    );
    assert_eq!(
        fields(
            "ELB_V1_HTTP_LOG",
            "",
            r#"2014-02-15T23:39:43.945958Z my-elb 192.0.2.1:2817 10.0.0.1:80 0.5 0.25 -1 200 - 0 29 "GET http://a.example:80/a/b?c=d HTTP/1.1" "curl/7.38.0" - -"#
        ),
        json!({
            "timestamp": "2014-02-15T23:39:43.945958Z", "source": {"ip": "192.0.2.1", "port": 2817},
            "aws": {"elb": {"name": "my-elb", "backend": {"ip": "10.0.0.1", "port": 80},
                            "request_processing_time": {"sec": 0.5}, "backend_processing_time": {"sec": 0.25}}},
            "http": {"version": "1.1", "request": {"method": "GET", "body": {"bytes": 0}},
                     "response": {"status_code": 200, "body": {"bytes": 29}}},
            "url": {"original": "http://a.example:80/a/b?c=d", "scheme": "http", "domain": "a.example", "port": 80,
                    "path": "/a/b", "query": "c=d"},
            "user_agent": {"original": "curl/7.38.0"},
        })
    );
}

#[test]
fn errors_of_an_apache_have_the_fields_of_the_schema() {
    use serde_json::json;
    let of_two_four = "[Mon Jul 20 09:10:42.368712 2015] [proxy_fcgi:error] [pid 28787:tid 14] (70008)Partial results: [client 192.0.2.1:4321] AH01075: Error x";
    assert_eq!(
        fields("HTTPD_ERRORLOG", "ecs_compatibility => v8", of_two_four),
        json!({
            "timestamp": "Mon Jul 20 09:10:42.368712 2015", "log": {"level": "error"}, "message": "Error x",
            "process": {"pid": 28787, "thread": {"id": 14}}, "source": {"address": "192.0.2.1", "port": 4321},
            "apache": {"error": {"module": "proxy_fcgi", "proxy": {"error": {"code": "70008", "message": "Partial results"}}}},
            "error": {"code": "AH01075"},
        })
    );
    let of_two = "[Mon Jun 26 22:22:13 2017] [error] [client 192.0.2.1] File missing";
    assert_eq!(
        fields("HTTPD_ERRORLOG", "ecs_compatibility => v8", of_two),
        json!({
            "timestamp": "Mon Jun 26 22:22:13 2017", "log": {"level": "error"}, "message": "File missing",
            "source": {"address": "192.0.2.1"},
        })
    );
}

#[test]
fn lines_of_tomcat_have_the_fields_of_the_schema() {
    use serde_json::json;
    let check = |name: &str,
                 line: &str,
                 (stamp, level, message): (&str, &str, &str),
                 origin: Value,
                 java: Value| {
        let found = fields(name, "ecs_compatibility => v8", line);
        let mut log = json!({ "level": level });
        if !origin.is_null() {
            log["origin"] = origin;
        }
        let expected = json!({
            "timestamp": stamp, "log": log, "message": message, "java": {"log": {"origin": java}},
        });
        assert_eq!(found, expected, "{line}");
    };
    check(
        "CATALINALOG",
        "Jan 9, 2014 7:13:13 AM org.example.HostConfig deploy\nSEVERE: Error x",
        ("Jan 9, 2014 7:13:13 AM", "SEVERE", "Error x"),
        json!({"function": "deploy"}),
        json!({"class": {"name": "org.example.HostConfig"}}),
    );
    check(
        "TOMCAT8_LOG",
        "31-Jul-2020 16:40:38.505 INFO [main] org.example.A.<init> x y",
        ("31-Jul-2020 16:40:38.505", "INFO", "x y"),
        json!({"function": "<init>"}),
        json!({"class": {"name": "org.example.A"}, "thread": {"name": "main"}}),
    );
    check(
        "TOMCATLOG",
        "2014-01-09 20:03:28,269 -0800 | ERROR | com.example.A - x y",
        ("2014-01-09 20:03:28,269 -0800", "ERROR", "x y"),
        Value::Null,
        json!({"class": {"name": "com.example.A"}}),
    );
}

#[test]
fn columns_of_zeek_have_the_fields_of_the_schema() {
    use serde_json::json;
    let session = "1541001600.5\tCx1\t192.0.2.1\t4321\t192.0.2.2\t53";
    let conn = |local: &str| {
        format!("{session}\tudp\tdns\t0.25\t-\t120\tSF\t-\t{local}0\tDd\t1\t60\t2\t180\t(empty)")
    };
    let expected = |connection: Value| {
        json!({
            "timestamp": "1541001600.5", "network": {"transport": "udp", "protocol": "dns"},
            "source": {"ip": "192.0.2.1", "port": 4321, "packets": 1, "bytes": 60},
            "destination": {"ip": "192.0.2.2", "port": 53, "packets": 2, "bytes": 180},
            "zeek": {"session_id": "Cx1", "connection": connection},
        })
    };
    let without = json!({"duration": 0.25, "resp_bytes": 120, "state": "SF", "missed_bytes": 0, "history": "Dd"});
    let mut with = without.clone();
    with["local_resp"] = "F".into();
    assert_eq!(fields("ZEEK_CONN", "", &conn("F\t")), expected(with));
    assert_eq!(
        fields("BRO_CONN", "ecs_compatibility => v1", &conn("")),
        expected(without)
    );
    let file = "1541001600.5\tFx1\t192.0.2.1,192.0.2.3\t192.0.2.2\tCx1\tHTTP\t0\tSHA1,MD5\ttext/html\t-\t0.5\t-\tF\t23\t23\t0\t0\tF\t-\td4\tda\t-\t-\tF\t5";
    assert_eq!(
        fields("ZEEK_FILES", "", file),
        json!({
            "timestamp": "1541001600.5", "server": {"ip": "192.0.2.1"}, "client": {"ip": "192.0.2.2"},
            "file": {"mime_type": "text/html", "size": 23, "hash": {"md5": "d4", "sha1": "da"}},
            "zeek": {"files": {
                "fuid": "Fx1", "tx_hosts": "192.0.2.1,192.0.2.3", "session_ids": "Cx1", "source": "HTTP", "depth": 0,
                "analyzers": "SHA1,MD5", "duration": 0.5, "is_orig": "F", "seen_bytes": 23, "missing_bytes": 0,
                "overflow_bytes": 0, "timedout": "F", "extracted_cutoff": "F", "extracted_size": 5,
            }},
        })
    );
    let dns = format!(
        "{session}\tudp\t77\t0.01\ta.example\t1\tC_INTERNET\t1\tA\t0\tNOERROR\tF\tF\tT\tT\t0\t192.0.2.9\t60.0\tF"
    );
    let found = fields("ZEEK_DNS", "", &dns);
    assert_eq!(
        found["dns"],
        json!({"id": 77, "question": {"name": "a.example", "type": "A"}, "response_code": "NOERROR"})
    );
    let http = format!(
        "{session}\t1\tGET\ta.example\t/a?b\t-\t1.1\tcurl (x)\t-\t0\t23\t200\tNot Found\t-\t-\t(empty)\t-\t-\t-\t-\t-\t-\tFx2\t-\ttext/html"
    );
    let found = fields("ZEEK_HTTP", "", &http);
    assert_eq!(
        found["url"],
        json!({"domain": "a.example", "original": "/a?b"})
    );
    assert_eq!(
        found["zeek"]["http"],
        json!({"trans_depth": 1, "status_msg": "Not Found", "resp_fuids": "Fx2"})
    );
}

#[test]
fn a_field_of_a_grok_is_looked_at_where_those_before_it_did_not_fit() {
    use serde_json::json;
    let marked = json!({"equals": {"@metadata.branch2": 0}});
    let branch = json!({"is": {"a": 1}});
    check_filter(
        r#"grok { match => { "m" => "%{INT:n}" "o" => ["%{WORD:a}"] } add_tag => ["read"] }"#,
        &json!([
            // What is tried then may change what the branch asks for.
            {"remove": {"field": "@metadata.branch2", "ignore_missing": true}},
            {"add": {"field": "@metadata.branch2", "value": 0, "if": branch}},
            {"grok": {
                "field": "m", "patterns": ["%{INT:n}"], "if": marked,
                "on_failure": [{"grok": {
                    "field": "o", "patterns": ["%{WORD:a}"],
                    "on_failure": [
                        {"append": {"field": "tags", "value": ["_grokparsefailure"]}},
                        {"add": {"field": "@metadata.failed", "value": 0}},
                    ],
                }}],
            }},
            {"append": {
                "field": "tags", "value": ["read"],
                "if": {"and": [marked, {"not": {"equals": {"@metadata.failed": 0}}}]},
            }},
        ]),
    );
}

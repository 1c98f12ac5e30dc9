//! Inputs of a Filebeat, and its autodiscovery.

use super::*;

#[test]
fn inputs_of_a_filebeat_keep_their_stream_and_their_journal() {
    let text = "\
filebeat.inputs:
- {type: filestream, paths: [/a], parsers: [{container: {stream: stderr, format: cri}}]}
- {type: journald, id: sys, units: [a.service], include_matches.match: [_UID=0], seek: tail}
output.elasticsearch:
  hosts: ['https://es:9200']
  ssl: {certificate_authorities: [/ca.pem], verification_mode: none}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert!(imported.left_out.is_empty(), "{:?}", imported.left_out);
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let dropped = serde_json::json!([{"drop": {"if": {"not": {"equals": {"stream": "stderr"}}}}}]);
    assert_eq!(config["inputs"][0]["processors"], dropped);
    let journal = serde_json::json!({
        "type": "journald", "id": "sys", "units": ["a.service"], "matches": ["_UID=0"], "start_at": "end",
    });
    assert_eq!(config["inputs"][1], journal);
    let tls = serde_json::json!({"verification": "none"});
    assert_eq!(config["outputs"][0]["tls"], tls);
}

#[test]
fn events_of_several_lines_are_those_of_beats_and_of_a_logstash() {
    use serde_json::json;
    let check = |given: &str, expected: Value| {
        let text = format!(
            "filebeat.inputs: [{{type: log, paths: [/a], multiline: {given}}}]\noutput.console: {{}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        assert!(
            imported.left_out.is_empty(),
            "{given}: {:?}",
            imported.left_out
        );
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        assert_eq!(config["inputs"][0]["multiline"], expected, "{given}");
    };
    check(
        "{pattern: '\\\\$', match: before}",
        json!({"goes_on": "\\\\$"}),
    );
    check(
        "{pattern: ';$', negate: true, match: before}",
        json!({"end": ";$"}),
    );
    check(
        "{pattern: '^a', negate: true, match: after, flush_pattern: '^{'}",
        json!({"start": "^a", "end": "^\\{"}),
    );
    check("{type: count, count_lines: 3}", json!({"count": 3}));
    check(
        "{type: while_pattern, pattern: '^{'}",
        json!({"while": "^\\{"}),
    );
    let text = r#"input { file { path => "/a" codec => multiline { pattern => "-$" what => "next" } } } output { stdout {} }"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["inputs"][0]["multiline"], json!({"goes_on": "-$"}));
}

#[test]
fn what_inputs_say_of_paths_and_lines_is_kept() {
    use serde_json::json;
    let text = "\
fields: {a: 1, b: 2}
filebeat.inputs:
- {type: log, paths: ['/v/**/*.log'], recursive_glob.enabled: false, encoding: latin1, max_bytes: 10, fields: {a: 3}}
- {type: log, paths: [/a], multiline: {pattern: ^a, skip_newline: true}, ignore_older: 1h30m}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(inputs[0]["paths"], json!(["/v/*/*.log"]));
    assert_eq!(inputs[0]["encoding"], "windows-1252");
    assert_eq!(inputs[0]["line_bytes_max"], 64);
    assert_eq!(inputs[1]["ignore_older_s"], 5_400);
    assert_eq!(
        inputs[1]["processors"],
        json!([
            {"add": {
                "field": "log.flags", "value": ["multiline"], "override": false,
                "if": {"regexp": {"message": r"\n"}},
            }},
            {"gsub": {
                "field": "message", "pattern": r"\r?\n", "replacement": "", "ignore_missing": true,
            }},
        ])
    );
    // What an input gives its events is not taken from them.
    let absent = json!({"not": {"has_fields": ["fields.a"]}});
    assert_eq!(
        config["processors"],
        json!([
            {"add": {"field": "fields.a", "value": 1, "if": absent}},
            {"add": {"field": "fields.b", "value": 2}},
        ])
    );
    assert_eq!(imported.told().len(), 1, "{:?}", imported.told());
}

#[test]
fn topics_lists_and_addresses_of_a_filebeat_are_carried_over() {
    use serde_json::json;
    let text = r#"
filebeat.inputs:
- {type: kafka, hosts: [k1, k2], topics: [a, b], group_id: g, initial_offset: newest, client_id: x}
processors:
- decode_csv_fields: {fields: {message: decoded.csv}, separator: ";"}
- extract_array: {field: decoded.csv, mappings: {source.ip: 0, a: {b: 2}}}
- append: {target_field: t, fields: [a], values: [x], allow_duplicate: false}
- community_id: {fields.source_ip: client}
- fingerprint: {fields: [a], method: md5}
output.console: {}
"#;
    let imported = import_filebeat("f.yml", text).unwrap();
    let told: Vec<&LeftOut> = imported.left_out.iter().collect();
    assert!(told.iter().all(|one| one.line.is_none()), "{told:?}");
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["inputs"],
        json!([{
            "type": "kafka", "parse": "plain", "brokers": "k1,k2", "topics": ["a", "b"], "offset_reset": "latest", "group_id": "g",
            "properties": {"client.id": "x"},
        }])
    );
    let list = "list = array!(.\"decoded\".\"csv\")\nif length(list) > 2 {\nif length(list) > 0 { .\"source\".\"ip\" = list[0] }\nif length(list) > 2 { .\"a\".\"b\" = list[2] }\n}";
    let csv = r#"."decoded"."csv" = parse_csv!(string!(."message"), delimiter: ";")"#;
    let there = |field: &str| json!({"has_fields": [field]});
    let first = |field: &str, targets: &[&str]| {
        let others: Vec<Value> = targets.iter().copied().map(there).collect();
        json!({"and": [there(field), {"not": {"or": others}}]})
    };
    let spelled = |field: &str, name: &str| {
        json!({"convert": {
            "field": field, "target_field": format!("@metadata.spelled.{name}"), "type": "integer",
            "ignore_missing": true, "ignore_failure": true,
        }})
    };
    let md5 = "joined = \"\"\nif exists(.\"a\") { joined = joined + \"|a|\" + to_string!(.\"a\") }\n.\"fingerprint\" = md5(joined + \"|\")";
    assert_eq!(
        config["processors"],
        json!([
            {"vrl": {"source": csv, "ignore_failure": true, "if": first("message", &["decoded.csv"])}},
            {"vrl": {"source": list, "ignore_failure": true, "if": first("decoded.csv", &["source.ip", "a.b"])}},
            {"append": {"field": "t", "value": "{{a}}", "allow_duplicates": false, "if": there("a")}},
            {"append": {"field": "t", "value": ["x"], "allow_duplicates": false}},
            spelled("source.port", "source_port"),
            spelled("destination.port", "destination_port"),
            spelled("icmp.type", "icmp_type"),
            {"add": {"field": "@metadata.spelled.icmp_type", "value": 0, "override": false}},
            spelled("icmp.code", "icmp_code"),
            {"add": {"field": "@metadata.spelled.icmp_code", "value": 0, "override": false}},
            spelled("network.iana_number", "iana_number"),
            {"community_id": {
                "target_field": "network.community_id", "ignore_missing": true, "ignore_failure": true,
                "source_ip_field": "client", "source_port_field": "@metadata.spelled.source_port",
                "destination_ip_field": "destination.ip",
                "destination_port_field": "@metadata.spelled.destination_port",
                "protocol_field": "network.transport",
                "icmp_type_field": "@metadata.spelled.icmp_type",
                "icmp_code_field": "@metadata.spelled.icmp_code",
                "iana_protocol_number_field": "@metadata.spelled.iana_number",
            }},
            {"remove": {"field": "@metadata.spelled", "ignore_missing": true}},
            {"vrl": {"source": md5, "ignore_failure": true, "if": there("a")}},
        ])
    );
}

#[test]
fn what_is_discovered_is_read_of_all_containers() {
    let text = "\
filebeat.autodiscover:
  providers:
  - type: kubernetes
    node: ${NODE_NAME}
    hints.enabled: true
    hints.default_config:
      type: container
      paths: ['/var/log/containers/*${data.kubernetes.container.id}.log']
  - type: docker
    templates:
    - condition: {contains: {docker.container.image: redis}}
      config:
      - type: container
        paths: ['/var/lib/docker/containers/${data.docker.container.id}/*.log']
        fields: {id: '${data.docker.container.id}'}
        exclude_lines: ['^#']
      - module: redis
  - type: nomad
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = config["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 2, "{}", imported.config);
    assert_eq!(inputs[0]["paths"][0], "/var/log/containers/*.log");
    assert_eq!(inputs[0]["wrapping"], "container");
    assert_eq!(
        inputs[0]["processors"][0]["regex"]["field"],
        "log.file.path"
    );
    assert_eq!(inputs[1]["paths"][0], "/var/lib/docker/containers/*/*.log");
    let told = imported.told().join("\n");
    for part in [
        "hints of containers are not read",
        "[filebeat.autodiscover.providers[1].templates[0].condition] is not asked",
        "a module reads its own files",
        "nothing tells of what [nomad] would find",
        "[${data.docker.container.id}] is known to its shipper, and no variable",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn messages_are_kept_by_their_parsers_and_homes_of_modules_are_heeded() {
    let text = "\
filebeat.inputs:
- type: filestream
  paths: [/x]
  parsers:
  - include_message: {patterns: ['^ERR', '^WARN']}
filebeat.modules:
- {module: kafka, log: {var.kafka_home: /srv/kafka}}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let condition = &config["inputs"][0]["processors"][0]["drop"]["if"];
    assert_eq!(condition["not"]["or"][1]["regexp"]["message"], "^WARN");
    assert_eq!(
        config["inputs"][1]["paths"][1],
        "/srv/kafka/logs/server.log*"
    );
    assert_eq!(imported.told(), Vec::<String>::new());
}

#[test]
fn members_of_json_that_stand_for_lines_are_looked_at() {
    use serde_json::json;
    let steps = |input: &str| {
        let text = format!("filebeat.inputs: [{{paths: [/a], {input}}}]\noutput.console: {{}}\n");
        let imported = import_filebeat("f.yml", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        (
            config["inputs"][0]["processors"].clone(),
            imported.told().len(),
        )
    };
    let (filtered, told) = steps(
        "type: log, json: {message_key: msg, keys_under_root: true}, exclude_lines: [^x], multiline: {pattern: ^a}",
    );
    assert_eq!(told, 1);
    let fits = json!({"or": [
        {"regexp": {"msg": "^x"}},
        {"and": [{"not": {"has_fields": ["msg"]}}, {"regexp": {"message": "^x"}}]},
    ]});
    assert_eq!(filtered[3], json!({"drop": {"if": {"or": [fits]}}}));
    let (parsed, told) =
        steps("type: filestream, parsers: [{ndjson: {target: '', message_key: log}}]");
    assert_eq!(told, 0);
    assert_eq!(parsed[2]["json"]["target_field"], "@metadata.said");
    assert_eq!(
        parsed[3]["rename"],
        json!({
            "field": "@metadata.said.log", "target_field": "message", "override_target": true,
            "ignore_missing": true, "ignore_failure": true,
        })
    );
    let (parsed, told) = steps("type: filestream, parsers: [{ndjson: ~}]");
    assert_eq!(
        (&parsed[1]["json"]["target_field"], told),
        (&json!("json"), 0)
    );
    // What is no object stays a message, and does not become of another type what is one.
    assert_eq!(parsed[1]["json"]["objects_only"], true);
    // Nothing else has to be done for the name that the line has anyway.
    let (parsed, _) =
        steps("type: filestream, parsers: [{ndjson: {target: '', message_key: message}}]");
    assert_eq!(parsed.as_array().unwrap().len(), 2);
}

#[test]
fn what_a_filebeat_joins_of_what_it_has_read_is_told() {
    let told = |parsers: &str| {
        let text = format!(
            "filebeat.inputs: [{{type: filestream, paths: [/a], parsers: [{parsers}]}}]\noutput.console: {{}}\n"
        );
        import_filebeat("f.yml", &text).unwrap().told()
    };
    let lines = "multiline: {pattern: ^a, negate: true, match: after}";
    for read in [
        "ndjson: {target: '', message_key: m}",
        "syslog: {format: rfc3164}",
    ] {
        let place = "[filebeat.inputs[0].parsers[1].multiline] lines are joined before";
        let behind = told(&format!("{{{read}}}, {{{lines}}}"));
        assert!(
            behind.iter().any(|one| one.contains(place)),
            "{read}: {behind:?}"
        );
    }
    assert_eq!(
        told(&format!(
            "{{container: {{stream: all}}}}, {{{lines}}}, {{ndjson: {{target: j}}}}"
        )),
        Vec::<String>::new()
    );
}

#[test]
fn sockets_journals_and_files_are_found_or_told() {
    use serde_json::json;
    let text = "\
filebeat.inputs:
- {type: unix, path: /run/a.sock, socket_type: datagram}
- {type: syslog, protocol.unix.path: /run/b.sock}
- {type: tcp, host: 'localhost:1', framing: rfc6587, line_delimiter: '|'}
- {type: journald, seek: since, since: -24h, include_matches: {or: [{match: [a=b]}]}}
- {type: filestream, paths: [/a], prospector.scanner: {include_files: [b], symlinks: true}}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(inputs[0]["listen"], "unixgram:///run/a.sock");
    assert_eq!(inputs[1]["listen"], "unix:///run/b.sock");
    assert_eq!(inputs[3], json!({"type": "journald", "since": "-24h"}));
    assert_eq!(
        inputs[4]["processors"],
        json!([{"drop": {"if": {"not": {"or": [{"regexp": {"log.file.path": "b"}}]}}}}])
    );
    assert_eq!(
        imported.told(),
        [
            "line 3: [filebeat.inputs[1]] the fields are those of the parser [syslog], of the Elastic Common Schema",
            "line 4: [filebeat.inputs[2].line_delimiter] messages end with their lines",
            "line 5: [filebeat.inputs[3].include_matches] has a counterpart only where it is a list of `FIELD=value` and `+`",
        ]
    );
}

#[test]
fn messages_have_parsers_addresses_need_no_host_and_names_have_several_ends() {
    use serde_json::json;
    let text = r#"
filebeat.inputs:
- {type: udp, host: ':9001'}
- {type: syslog, format: rfc3164, protocol.tcp: {host: ':9002', line_delimiter: "\n", framing: rfc6587, max_message_size: 1MiB}}
- {type: journald, parsers: [{ndjson: {target: doc}}, {multiline: {pattern: a}}]}
- {type: filestream, paths: [/c], exclude_files: ['\.(gz|zip)$', '^/c/(?:a|b)\.log$', '\.(g[zx])$']}
output.console: {}
"#;
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 4: [filebeat.inputs[1]] the fields are those of the parser [syslog], of the Elastic Common Schema",
            "line 5: [filebeat.inputs[2].parsers[1].multiline] lines are joined before what is in them is read",
            "line 5: [filebeat.inputs[2].parsers] only lines of files have [multiline]",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(inputs[0]["listen"], "udp://0.0.0.0:9001");
    assert_eq!(inputs[1]["listen"], "tcp://0.0.0.0:9002");
    assert_eq!(inputs[1]["line_bytes_max"], 1 << 20);
    assert_eq!(inputs[2]["processors"][1]["json"]["target_field"], "doc");
    assert_eq!(inputs[2].get("multiline"), None);
    assert_eq!(
        inputs[3]["exclude"],
        json!(["*.gz", "*.zip", "/c/a.log", "/c/b.log"])
    );
    let others = json!([{"drop": {"if": {"or": [{"regexp": {"log.file.path": r"\.(g[zx])$"}}]}}}]);
    assert_eq!(inputs[3]["processors"], others);
}

#[test]
fn lines_that_are_no_json_say_so_and_ways_to_look_are_told_where_they_matter() {
    use serde_json::json;
    let text = "\
filebeat.inputs:
- {type: filestream, paths: [/a], parsers: [{ndjson: {target: j, add_error_key: true}}], line_terminator: auto, ignore_inactive: since_last_start}
- {type: filestream, paths: [/b], line_terminator: null_terminator, buffer_size: 16384}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(
        imported.told(),
        ["line 3: [filebeat.inputs[1].line_terminator] lines never end with [null_terminator]"]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let input = &config["inputs"][0];
    assert_eq!(input["start_at"], "end");
    assert_eq!(
        input["processors"][1]["json"]["on_failure"],
        json!([
            {"rename": {"field": "@metadata.line", "target_field": "message"}},
            {"add": {"field": "j.error.message", "value": "Error decoding JSON"}},
            {"add": {"field": "j.error.type", "value": "json"}},
        ])
    );
}

use super::super::*;

const FILEBEAT: &str = r#"
name: web1
tags: [edge]
filebeat.registry.path: /var/lib/filebeat
filebeat.inputs:
- type: log
  enabled: true
  paths:
    - /var/log/app/*.log
  exclude_files: ['\.gz$', 'a(b']
  exclude_lines: ['^DBG']
  multiline.pattern: '^\d{4}'
  multiline.negate: true
  multiline.match: after
  multiline.max_lines: 200
  ignore_older: 48h
  scan_frequency: 10s
  fields: {service: shop}
  fields_under_root: true
  processors:
    - dissect:
        tokenizer: '%{level} %{took|integer}ms %{?skip} %{text}'
        target_prefix: app
    - drop_event.when.equals.app.level: DEBUG
- type: container
  paths: ['/var/log/containers/*.log']
  json.keys_under_root: true
- type: syslog
  protocol.udp:
    host: "localhost:9000"
- type: mqtt
  hosts: [a]
- type: filestream
  enabled: false
processors:
  - add_host_metadata: ~
  - rename:
      fields: [{from: a, to: b.c}]
      ignore_missing: true
  - timestamp:
      field: when
      layouts: ['2006-01-02T15:04:05.999Z07:00']
  - drop_event:
      when:
        and:
          - range: {http.code.gte: 400}
          - not: {contains: {message: x}}
output.elasticsearch:
  hosts: ["es1:9200", "es2:9200"]
  username: u
  password: p
  index: "shop-%{[agent.version]}-%{+yyyy.MM.dd}"
output:
  file: {path: /tmp/out, filename: f.json, rotate_every_kb: 1000}
setup.template.enabled: false
logging:
  level: info
"#;

const EXPECTED: &str = r#"registry: /var/lib/filebeat/clew-registry.json
host: web1
inputs:
- type: file
  paths:
  - /var/log/app/*.log
  parse: plain
  exclude:
  - '*.gz'
  ignore_older_s: 172800
  multiline:
    start: ^\d{4}
    lines_max: 200
  processors:
  - drop:
      if:
        or:
        - regexp:
            message: ^DBG
  - add:
      field: service
      value: shop
  - dissect:
      field: message
      pattern: '%{app.level} %{app.took}ms %{?skip} %{app.text}'
      on_failure:
      - append:
          field: log.flags
          value:
          - dissect_parsing_error
  - convert:
      field: app.took
      type: integer
      ignore_missing: true
      ignore_failure: true
  - drop:
      if:
        equals:
          app.level: DEBUG
- type: file
  paths:
  - /var/log/containers/*.log
  parse: plain
  wrapping: container
  processors:
  - rename:
      field: message
      target_field: '@metadata.line'
  - json:
      field: '@metadata.line'
      add_to_root: true
      overwrite: false
      on_failure:
      - rename:
          field: '@metadata.line'
          target_field: message
- type: syslog
  listen: udp://127.0.0.1:9000
processors:
- append:
    field: tags
    value:
    - edge
- rename:
    field: a
    target_field: b.c
    ignore_missing: true
    ignore_failure: true
- date:
    field: when
    formats:
    - yyyy-MM-dd'T'HH:mm:ss.SSSXXX
    target_field: '@timestamp'
    ignore_failure: true
- drop:
    if:
      and:
      - range:
          http.code:
            gte: 400
      - not:
          contains:
            message: x
outputs:
- type: opensearch
  url: http://es1:9200
  index: shop-{{agent.version}}-%{+yyyy.MM.dd}
  authentication:
    user: u
    password: p
  compression: gzip
- type: file
  path: /tmp/out/f.json
  rotate_bytes: 1024000
"#;

#[test]
fn a_filebeat_becomes_a_collector_and_what_does_not_is_told_with_its_line() {
    let imported = import_filebeat("filebeat.yml", FILEBEAT).unwrap();
    assert_eq!(imported.config, EXPECTED);
    let told = imported.told();
    assert_eq!(
        told,
        [
            "line 10: [filebeat.inputs[0].exclude_files] [a(b] is no pattern of names: [exclude] takes those",
            "line 31: [filebeat.inputs[3]] no input does what [mqtt] does",
            "line 33: [filebeat.inputs[4]] is not enabled, and left out",
            "line 36: [processors[0].add_host_metadata] has no counterpart: events have `host.name`, and what `add` gives them",
            "line 49: [output.elasticsearch.hosts] events go to the first host only",
            "line 55: [setup.template.enabled] has no counterpart",
            "line 57: [logging.level] has no counterpart",
        ]
    );
}

#[test]
fn lines_are_told_however_keys_and_dots_are_mixed() {
    let text = "\
output:
  file.enabled: false
  elasticsearch.hosts: [a, b]
  elasticsearch:
    ssl.sha: x
    ssl: {pin: 2}
filebeat:
  inputs:
  - type: log
    paths: [/a]
    multiline.pattern: ^a
    multiline.odd: 1
    json: {deep.er: 1}
  - {type: stdin, prospector: {scanner.odd: 1}}
processors:
  dissect.tokenizer: '%{a}'
logging.to:
  files: true
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let told = imported.told();
    for expected in [
        "line 3: [output.elasticsearch.hosts] events go to the first host only",
        "line 12: [filebeat.inputs[0].multiline.odd] has no counterpart",
        "line 13: [filebeat.inputs[0].json.deep.er] has no counterpart",
        "line 14: [filebeat.inputs[1].prospector.scanner.odd] has no counterpart",
        "line 18: [logging.to.files] has no counterpart",
    ] {
        assert!(
            told.iter().any(|told| told == expected),
            "{expected}: {told:#?}"
        );
    }
    assert!(
        told.iter().all(|told| told.starts_with("line ")),
        "{told:#?}"
    );
}

#[test]
fn modules_become_inputs_with_parsers() {
    let modules = "\
- module: nginx
  access:
    enabled: true
    var.paths: [/srv/log/access.log]
    var.odd: 1
  error: {enabled: false}
  ingress_controller: {enabled: false}
- module: system
- module: ibmmq
";
    let inputs = "\
- type: file
  paths:
  - /srv/log/access.log
  exclude:
  - '*.gz'
  parse: nginx_access
  processors:
  - add:
      field: event.module
      value: nginx
  - add:
      field: event.dataset
      value: nginx.access
- type: file
  paths:
  - /var/log/messages*
  - /var/log/syslog*
";
    let alone = import_filebeat("nginx.yml", modules).unwrap();
    assert!(alone.config.contains(inputs), "{}", alone.config);
    assert!(alone.config.contains("parse: auth"), "{}", alone.config);
    let told = alone.told();
    assert_eq!(
        told,
        [
            "line 5: [[0].access.var.odd] has no counterpart",
            "line 7: [[0].ingress_controller.enabled] has no counterpart",
            "line 8: [[1]] names no fileset: all are read, as Filebeat 7 does",
            "line 9: [[2]] there is no parser for the module [ibmmq]",
            "what is printed has to be completed: [outputs] must name at least one",
        ]
    );
    let whole = modules.replace('\n', "\n  ");
    let whole = format!("filebeat.modules:\n  {whole}\noutput.console: {{}}\n");
    let within = import_filebeat("f.yml", &whole).unwrap();
    assert!(within.config.contains(inputs), "{}", within.config);
    assert!(!within.left_out.iter().any(|one| one.line.is_none()));
}

#[test]
fn modules_of_servers_have_parsers_that_know_their_lines() {
    for (module, fileset, parser, path) in [
        (
            "postgresql",
            "log",
            "postgresql",
            "/var/log/postgresql/postgresql-*-*.log*",
        ),
        (
            "postgresql",
            "csv",
            "postgresql_csv",
            "/var/log/postgresql/postgresql-*-*.csv*",
        ),
        (
            "mysql",
            "slowlog",
            "mysql_slowlog",
            "/var/log/mysql/*-slow.log*",
        ),
        ("mysql", "error", "mysql_error", "/var/log/mysqld.log*"),
        ("redis", "log", "redis", "/var/log/redis/redis-server.log*"),
        ("mongodb", "log", "mongodb", "/var/log/mongodb/mongod.log*"),
        ("kafka", "log", "kafka", "/opt/kafka*/logs/server.log*"),
        (
            "elasticsearch",
            "server",
            "auto",
            "/var/log/elasticsearch/*_server.json",
        ),
        ("traefik", "access", "auto", "/var/log/traefik/access.log*"),
        (
            "rabbitmq",
            "log",
            "rabbitmq",
            "/var/log/rabbitmq/rabbit@*.log*",
        ),
    ] {
        let text = format!("- module: {module}\n  {fileset}: {{enabled: true}}\n");
        let imported = import_filebeat("f.yml", &text).unwrap();
        let parse = format!("parse: {parser}\n");
        for part in [parse.as_str(), path] {
            assert!(imported.config.contains(part), "{}", imported.config);
        }
        assert!(
            !imported.config.contains("multiline"),
            "{}",
            imported.config
        );
    }
}

#[test]
fn the_log_of_postgresql_may_be_csv() {
    let text = "- module: postgresql\n  log: {var.paths: [/pg/*.log, /pg/*.csv]}\n";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert!(
        imported.config.contains("parse: auto\n"),
        "{}",
        imported.config
    );
}

#[test]
fn what_cef_says_goes_where_it_is_asked_to() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- decode_cef: {target_field: fw.said, ecs: false}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let rename = &config["processors"][1]["rename"];
    assert_eq!(
        (&rename["field"], &rename["target_field"]),
        (&Value::from("cef"), &Value::from("fw.said"))
    );
    let told = imported.told();
    assert!(
        told.iter().any(|one| one.contains("decode_cef.ecs")),
        "{told:?}"
    );
}

#[test]
fn ids_are_added_where_a_field_is_named_and_cef_is_taken_apart() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- add_id: {target_field: event.id}
- add_id: ~
- decode_cef: {field: raw, ignore_missing: true}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let processors = config["processors"].as_array().unwrap();
    assert_eq!(processors.len(), 2, "{}", imported.config);
    assert_eq!(
        processors[0]["vrl"]["source"],
        r#"."event"."id" = uuid_v4()"#
    );
    assert_eq!(
        processors[1]["parse"],
        serde_json::json!({"field": "raw", "format": "cef", "ignore_missing": true, "ignore_failure": true})
    );
    let told: Vec<String> = imported.left_out.iter().map(ToString::to_string).collect();
    assert!(
        told.iter().any(|one| one.contains("events have ids here")),
        "{told:?}"
    );
}

#[test]
fn modules_of_the_audit_log_and_of_iis_read_their_files() {
    for (name, expected) in [
        (
            "auditd, log: {enabled: true}",
            "- type: file\n  paths:\n  - /var/log/audit/audit.log*\n  exclude:\n  - '*.gz'\n  parse: auditd\n",
        ),
        (
            "iis, access: {enabled: true, var.paths: [/mnt/iis/*.log]}",
            "- type: file\n  paths:\n  - /mnt/iis/*.log\n  exclude:\n  - '*.gz'\n  parse: iis_access\n",
        ),
    ] {
        let imported = import_filebeat("f.yml", &format!("- {{module: {name}}}\n")).unwrap();
        assert!(imported.config.contains(expected), "{}", imported.config);
    }
}

#[test]
fn the_module_of_haproxy_listens_unless_files_are_asked_for() {
    for (more, expected) in [
        (
            "",
            "- type: syslog\n  listen: udp://127.0.0.1:9001\n  parse: haproxy\n",
        ),
        (
            ", var.syslog_host: 0.0.0.0, var.syslog_port: 9002",
            "- type: syslog\n  listen: udp://0.0.0.0:9002\n  parse: haproxy\n",
        ),
        (
            ", var.syslog_host: '::1'",
            "- type: syslog\n  listen: udp://[::1]:9001\n  parse: haproxy\n",
        ),
        (
            ", var.input: file",
            "- type: file\n  paths:\n  - /var/log/haproxy.log\n  exclude:\n  - '*.gz'\n  parse: haproxy\n",
        ),
    ] {
        let text = format!("- module: haproxy\n  log: {{enabled: true{more}}}\n");
        let imported = import_filebeat("f.yml", &text).unwrap();
        assert!(imported.config.contains(expected), "{}", imported.config);
    }
}

#[test]
fn syslog_of_filebeat_becomes_the_step_parse() {
    let text = "\
filebeat.inputs:
- type: filestream
  paths: [/a]
  parsers:
  - syslog: {format: rfc3164, timezone: Local}
processors:
- syslog: {field: said, timezone: Europe/Berlin, ignore_missing: true}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    for expected in [
        "  - parse:\n      field: message\n      format: syslog\n",
        "- parse:\n    field: said\n    format: syslog\n    timezone: Europe/Berlin\n    ignore_missing: true\n    ignore_failure: true\n",
    ] {
        assert!(imported.config.contains(expected), "{}", imported.config);
    }
    let lines: Vec<Option<usize>> = imported.left_out.iter().map(|one| one.line).collect();
    assert_eq!(lines, [Some(5), Some(7)]);
}

/// The processors of a Filebeat, as ours, and how much is told of them.
#[track_caller]
fn check_processors(given: &str, expected: &Value, told: usize) {
    let text = format!(
        "filebeat.inputs: [{{type: stdin}}]\nprocessors: [{given}]\noutput.console: {{}}\n"
    );
    let imported = import_filebeat("f.yml", &text).unwrap();
    assert_eq!(imported.left_out.len(), told, "{:?}", imported.left_out);
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(&config["processors"], expected, "{given}");
}

#[test]
fn processors_of_a_filebeat_do_what_they_are_told_by_their_options() {
    use serde_json::json;
    let flagged = json!([{"append": {"field": "log.flags", "value": ["dissect_parsing_error"]}}]);
    let check = check_processors;
    check(
        "{if: {equals: {a: 1}}, then: [{drop_event: ~}], else: {add_tags: {tags: [t], when.has_fields: [b]}}}",
        &json!([
            {"drop": {"if": {"equals": {"a": 1}}}},
            {"append": {"field": "tags", "value": ["t"], "if": {"and": [
                {"not": {"equals": {"a": 1}}}, {"has_fields": ["b"]},
            ]}}},
        ]),
        0,
    );
    check(
        "{dissect: {tokenizer: '%{a|long} %{b}', target_prefix: '', trim_values: all}}",
        &json!([
            {"dissect": {"field": "message", "pattern": "%{a} %{b}", "on_failure": flagged}},
            {"trim": {"field": "a", "ignore_missing": true}},
            {"trim": {"field": "b", "ignore_missing": true}},
            {"convert": {"field": "a", "type": "long", "ignore_missing": true, "ignore_failure": true}},
        ]),
        0,
    );
    check(
        "{dissect: {tokenizer: '%{t} %{+t} %{?k}=%{&k}', ignore_failure: true}}",
        &json!([{"dissect": {
            "field": "message", "pattern": "%{dissect.t} %{+dissect.t} %{*k}=%{&k}", "append_separator": " ",
            "ignore_failure": true,
        }}]),
        1,
    );
    check(
        "{decode_json_fields: {fields: [a], target: '', document_id: k}}",
        &json!([
            {"json": {"field": "a", "add_to_root": true, "overwrite": false, "ignore_failure": true}},
            {"rename": {
                "field": "k", "target_field": "@metadata._id", "ignore_missing": true, "ignore_failure": true,
            }},
        ]),
        0,
    );
    check(
        "{uppercase: {fields: [a], ignore_missing: true, when.regexp.a: '^{'}}",
        &json!([{"uppercase": {"field": "a", "ignore_missing": true, "if": {"regexp": {"a": "^\\{"}}}}]),
        0,
    );
}

#[test]
fn processors_of_a_filebeat_change_fields_and_go_on_after_failures() {
    use serde_json::json;
    let check = check_processors;
    check(
        "{convert: {fields: [{from: a, to: b, type: long}, {from: c, to: d}], mode: rename}}",
        &json!([
            {"convert": {"field": "a", "target_field": "b", "type": "long", "ignore_failure": true}},
            {"remove": {"field": "a", "ignore_missing": true}},
            {"rename": {"field": "c", "target_field": "d", "ignore_failure": true}},
        ]),
        0,
    );
    check(
        "{drop_fields: {fields: [a, '/^tmp_/']}}",
        &json!([{"remove": {"field": ["a"], "ignore_missing": true}}]),
        1,
    );
    check(
        "{timestamp: {field: t, layouts: [UNIX], timezone: Local, ignore_missing: true, when.equals.a: 1}}",
        &json!([{"date": {
            "field": "t", "formats": ["UNIX"], "target_field": "@timestamp", "timezone": "Local",
            "ignore_failure": true,
            "if": {"and": [{"equals": {"a": 1}}, {"has_fields": ["t"]}]},
        }}]),
        0,
    );
    check(
        "{drop_event.when.network: {source.ip: [private, 192.0.2.0/24]}}",
        &json!([{"drop": {"if": {"network": {"source.ip": ["private", "192.0.2.0/24"]}}}}]),
        0,
    );
    check(
        "{replace: {fields: [{field: f, pattern: a, replacement: b}]}}",
        &json!([{"gsub": {
            "field": "f", "pattern": "a", "replacement": "b", "ignore_missing": false, "ignore_failure": true,
        }}]),
        0,
    );
}

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
fn what_is_not_enough_for_a_run_is_told() {
    let imported = import_filebeat("f.yml", "output.console: {}").unwrap();
    let told = imported.left_out.last().unwrap().to_string();
    assert_eq!(
        told,
        "what is printed has to be completed: [inputs] must name at least one"
    );
    assert!(import_filebeat("f.yml", "- a").is_err());
    assert!(import_filebeat("f.yml", "a: [").is_err());
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
    let imported = import_logstash("p.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["inputs"][0]["multiline"], json!({"goes_on": "-$"}));
}

#[test]
fn indices_of_a_filebeat_are_outputs_with_conditions() {
    use serde_json::json;
    let text = "\
filebeat.inputs: [{type: stdin}]
output.elasticsearch:
  hosts: ['es']
  index: '%{[fields.app]:other}'
  indices:
  - {index: errors, when.contains: {message: E}}
  - {index: '%{[b]}', when.has_fields: [b]}
output.kafka: {hosts: [k1, k2], topic: '%{[t]}'}
output.logstash: {hosts: [l]}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let (errors, has_b) = (
        json!({"contains": {"message": "E"}}),
        json!({"has_fields": ["b"]}),
    );
    let output = |index: &str, when: &Value| json!({"type": "opensearch", "url": "http://es:9200", "index": index, "compression": "gzip", "when": when});
    let not = |one: &Value| json!({"not": one});
    let outputs = config["outputs"].as_array().unwrap();
    assert_eq!(outputs[0], output("errors", &errors));
    assert_eq!(
        outputs[1],
        output("{{b}}", &json!({"and": [not(&errors), has_b]}))
    );
    let usual = "{{fields.app}}{{^fields.app}}other{{/fields.app}}";
    assert_eq!(
        outputs[2],
        output(usual, &json!({"and": [not(&errors), not(&has_b)]}))
    );
    let kafka = json!({"type": "kafka", "brokers": "k1,k2", "topic": "{{t}}"});
    assert_eq!(outputs[3], kafka);
    let told = imported.left_out[0].to_string();
    assert!(
        told.starts_with("line 9: [output.logstash] speaks a protocol"),
        "{told}"
    );
}

#[test]
fn the_pipeline_of_an_input_is_asked_for_before_that_of_the_output() {
    let convert = |own: &str| {
        let text = format!(
            "filebeat.inputs:\n- {{type: log, paths: [/a], pipeline: p}}\n- {{type: log, paths: [/b]}}\n\
             output.elasticsearch: {{hosts: [es]{own}}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        assert!(imported.left_out.is_empty(), "{:?}", imported.told());
        serde_yaml_ng::from_str::<Value>(&imported.config).unwrap()
    };
    let config = convert("");
    let step = serde_json::json!([{"add": {"field": "@metadata.pipeline", "value": "p"}}]);
    assert_eq!(config["inputs"][0]["processors"], step);
    assert_eq!(config["outputs"][0]["pipeline"], "{{@metadata.pipeline}}");
    assert_eq!(
        convert(", pipeline: own")["outputs"][0]["pipeline"],
        "{{^@metadata.pipeline}}own{{/@metadata.pipeline}}{{@metadata.pipeline}}"
    );
}

#[test]
fn certificates_of_a_filebeat_are_carried_over() {
    let text = r#"
filebeat.inputs:
- {type: tcp, host: "127.0.0.1:9000", ssl: {certificate: c, key: k, certificate_authorities: [a], client_authentication: optional}}
- {type: http_endpoint, ssl.enabled: false, ssl.key: k, basic_auth: true, username: u, password: p}
- type: syslog
  protocol.tcp: {host: "127.0.0.1:9001", ssl.certificate: c, ssl.key: k, ssl.key_passphrase: p}
output.elasticsearch:
  hosts: ["https://es:9200"]
  ssl: {certificate_authorities: [a], verification_mode: strict}
"#;
    let imported = import_filebeat("f.yml", text).unwrap();
    let told = imported.told();
    let passphrase = "[filebeat.inputs[2].protocol.tcp.ssl.key_passphrase] has no counterpart";
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with(passphrase), "{told:?}");
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let expected = serde_json::json!({
        "certificate": "c", "key": "k", "client_ca": ["a"], "client_authentication": "optional",
    });
    assert_eq!(config["inputs"][0]["tls"], expected);
    assert_eq!(config["inputs"][1]["tls"], Value::Null);
    let expected = serde_json::json!([{"user": "u", "password": "p"}]);
    assert_eq!(config["inputs"][1]["authentication"], expected);
    let expected = serde_json::json!({"certificate": "c", "key": "k"});
    assert_eq!(config["inputs"][2]["tls"], expected);
    let expected = serde_json::json!({"ca": ["a"], "verification": "full"});
    assert_eq!(config["outputs"][0]["tls"], expected);
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
        }])
    );
    let list = "list = array!(.\"decoded\".\"csv\")\nif length(list) > 0 { .\"source\".\"ip\" = list[0] }\nif length(list) > 2 { .\"a\".\"b\" = list[2] }\n";
    let csv = r#"."decoded"."csv" = parse_csv!(string!(."message"), delimiter: ";")"#;
    let there = |field: &str| json!({"has_fields": [field]});
    assert_eq!(
        config["processors"],
        json!([
            {"vrl": {"source": csv, "ignore_failure": true, "if": there("message")}},
            {"vrl": {"source": list, "ignore_failure": true, "if": there("decoded.csv")}},
            {"append": {"field": "t", "value": "{{a}}", "allow_duplicates": false, "if": there("a")}},
            {"append": {"field": "t", "value": ["x"], "allow_duplicates": false}},
            {"community_id": {
                "target_field": "network.community_id", "ignore_missing": true, "ignore_failure": true,
                "source_ip_field": "client", "source_port_field": "source.port",
                "destination_ip_field": "destination.ip", "destination_port_field": "destination.port",
                "protocol_field": "network.transport",
            }},
            {"fingerprint": {"fields": ["a"], "target_field": "fingerprint", "hash_method": "MD5@2.16.0"}},
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
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn processors_that_decode_become_steps() {
    let text = "\
filebeat.inputs: [{type: filestream, paths: [/x]}]
processors:
- decode_base64_field: {field: {from: a, to: b}}
- decompress_gzip_field: {field: {from: c, to: d}}
- decode_duration: {field: took, format: seconds}
- move_fields: {from: app, fields: [method, error], to: 'rpc.'}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let steps = config["processors"].as_array().unwrap();
    assert_eq!(steps.len(), 5, "{}", imported.config);
    assert_eq!(
        steps[0]["vrl"]["source"],
        r#"."b" = decode_base64!(string!(."a"))"#
    );
    assert_eq!(
        steps[1]["vrl"]["source"],
        r#"."d" = decode_gzip!(string!(."c"))"#
    );
    assert_eq!(
        (
            &steps[2]["duration"]["field"],
            &steps[2]["duration"]["unit"]
        ),
        (&Value::from("took"), &Value::from("s"))
    );
    assert_eq!(steps[2]["duration"]["ignore_failure"], true);
    assert_eq!(steps[3]["rename"]["ignore_failure"], true);
    assert_eq!(steps[3]["rename"]["field"], "app.method");
    assert_eq!(steps[4]["rename"]["target_field"], "rpc.error");
    assert_eq!(imported.told(), Vec::<String>::new());
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
fn clients_of_kafka_log_in_as_they_did() {
    use serde_json::json;
    let text = "\
filebeat.inputs:
- {type: kafka, hosts: [k1], topics: [a], username: jo, password: x, ssl: {certificate_authorities: [/ca.pem], verification_mode: none}}
output.kafka: {hosts: [k2], topic: b, username: bo, password: y, sasl.mechanism: SCRAM-SHA-512}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["inputs"][0]["properties"],
        json!({
            "sasl.mechanism": "PLAIN", "sasl.username": "jo", "sasl.password": "x",
            "ssl.ca.location": "/ca.pem", "enable.ssl.certificate.verification": "false",
            "security.protocol": "sasl_ssl",
        })
    );
    assert_eq!(
        config["outputs"][0]["properties"],
        json!({
            "sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "bo", "sasl.password": "y",
            "security.protocol": "sasl_plaintext",
        })
    );
}

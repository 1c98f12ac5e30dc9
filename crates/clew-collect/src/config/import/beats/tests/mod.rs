//! A whole Filebeat, and what is told of one; its parts lie beside.

mod inputs;
mod modules;
mod outputs;
mod processors;
mod values;

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
  exclude_files: ['\.gz$', '/a[bc]/']
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
  - drop:
      if:
        or:
        - regexp:
            log.file.path: /a[bc]/
  - add:
      field: log.flags
      value:
      - multiline
      override: false
      if:
        regexp:
          message: \n
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
      lenient: go
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
    on_failure:
    - add:
        field: error.message
        value: Failed to rename fields in processor
- date:
    field: when
    formats:
    - yyyy-MM-dd'T'H:mm:ssXXX
    - yyyy-MM-dd'T'H:mm:ss.SXXX
    - yyyy-MM-dd'T'H:mm:ss,SXXX
    target_field: '@timestamp'
    ignore_failure: true
- drop:
    if:
      and:
      - range:
          http.code:
            gte: 400
            numbers_only: true
      - not:
          contains:
            message: x
outputs:
- type: opensearch
  url: http://es1:9200
  index: shop-%{+yyyy.MM.dd}
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
            "line 28: [filebeat.inputs[2]] the fields are those of the parser [syslog], of the Elastic Common Schema",
            "line 31: [filebeat.inputs[3]] no input does what [mqtt] does",
            "line 33: [filebeat.inputs[4]] is not enabled, and left out",
            "line 36: [processors[0].add_host_metadata] has no counterpart: events have `host.name`, and what `add` gives them",
            "line 49: [output.elasticsearch.hosts] events go to the first host only",
            "line 52: [output.elasticsearch.index] has the version of a Filebeat in it, which is left out",
            "line 56: [logging] what goes on is told on standard error",
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
        "line 17: [logging] what goes on is told on standard error",
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
fn what_is_said_in_another_place_is_told_with_it() {
    let text = "\
filebeat.inputs: [{type: stdin}]
filebeat.config:
  modules: {path: 'modules.d/*.yml', reload.enabled: false}
queue.disk.max_size: 10GB
http.enabled: true
http.port: 5066
monitoring.enabled: false
filebeat.registry: {path: '${path.data}/r', flush: 1s}
path.data: /data
path.home: /usr/share/filebeat
queue.mem.events: 4096
setup: {kibana.host: k, ilm.enabled: false}
logging.to_files.enabled: false
output.console: {codec.json.pretty: true}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 3: [filebeat.config.modules] files of a folder are carried over one by one",
            "line 4: [queue.disk] the [buffer] of an output keeps what waits for it",
            "line 5: [http] figures are shown with [metrics]",
            "line 12: [setup] templates, policies and dashboards are given to the server, not by who sends to it",
        ]
    );
    let registry = "registry: /data/r/clew-registry.json\n";
    assert!(imported.config.starts_with(registry), "{}", imported.config);
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
fn what_no_field_contains_is_told_and_never_holds() {
    let text = "\
filebeat.inputs: [{type: stdin}]
processors:
- drop_event.when.contains: {a: [x, y]}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["processors"],
        serde_json::json!([{"drop": {"if": {"not": {"has_fields": []}}}}])
    );
    assert_eq!(imported.told().len(), 1, "{:?}", imported.told());
}

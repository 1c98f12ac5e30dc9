use serde_json::json;

use super::super::{import_promtail, is_of_promtail};
use super::*;

/// What a text becomes, and what is told of it but for Loki.
fn imported(text: &str) -> (Value, Vec<String>) {
    let imported = import_promtail("p", text).unwrap();
    let told = imported.left_out.iter().map(ToString::to_string);
    let told = told.filter(|one| !one.contains("[clients]"));
    (
        serde_yaml_ng::from_str(&imported.config).unwrap(),
        told.collect(),
    )
}

/// The steps that stages become, and what is told of them.
fn stages(written: &str) -> (Vec<Value>, Vec<String>) {
    let text = format!(
        "scrape_configs:\n- job_name: j\n  static_configs: [{{labels: {{__path__: /x}}}}]\n  pipeline_stages:\n{written}"
    );
    let (config, told) = imported(&text);
    let steps = config["inputs"][0]["processors"].as_array();
    (steps.cloned().unwrap_or_default(), told)
}

const WHOLE: &str = r#"
server: {http_listen_port: 9080}
positions: {filename: /var/lib/promtail/positions.yaml}
clients:
- url: http://loki:3100/loki/api/v1/push
  external_labels: {site: north}
scrape_configs:
- job_name: app
  static_configs:
  - targets: [localhost]
    labels: {job: app, __path__: '/var/log/{app,web}/*.log', __path_exclude__: '/var/log/*/*.gz'}
  pipeline_stages:
  - cri: {}
  - multiline: {firstline: '^\d{4}', max_wait_time: 2s}
  - regex: {expression: '^(?P<level>\w+) (?P<text>.*)$'}
  - labels: {level: }
  - match:
      selector: '{job="app"} |= "health"'
      action: drop
  - geoip: {}
- job_name: journal
  journal: {max_age: 12h, labels: {job: journal}}
  relabel_configs:
  - {source_labels: [__journal__systemd_unit], target_label: unit}
  - {source_labels: [a], regex: b, action: keep}
- job_name: net
  syslog: {listen_address: '0.0.0.0:1514'}
"#;

#[test]
fn jobs_become_inputs_and_stages_processors() {
    assert!(is_of_promtail(WHOLE));
    assert!(is_of_promtail("scrape_configs: [{job_name: a}]\n"));
    let (config, told) = imported(WHOLE);
    assert_eq!(
        told,
        [
            "line 20: [pipeline_stages.geoip] has no counterpart",
            "line 21: [scrape_configs.journal] a rule of [relabel_configs], of [keep], has no counterpart",
        ]
    );
    assert_eq!(config["registry"], "/var/lib/promtail/clew-registry.json");
    assert_eq!(config["metrics"], json!({"listen": "0.0.0.0:9080"}));
    assert_eq!(
        config["inputs"][0],
        json!({
            "type": "file", "paths": ["/var/log/app/*.log", "/var/log/web/*.log"], "parse": "plain",
            "exclude": ["/var/log/*/*.gz"], "wrapping": "cri",
            "multiline": {"start": r"^\d{4}", "timeout_ms": 2000, "lines_max": 128},
            "processors": [
                {"add": {"field": "labels.job", "value": "app"}},
                {"regex": {
                    "field": "message", "ignore_missing": true, "ignore_failure": true,
                    "pattern": r"^(?P<extracted.level>\w+) (?P<extracted.text>.*)$",
                }},
                {"copy": {
                    "source_field": "extracted.level", "target_field": "labels.level",
                    "override_target": true, "ignore_missing": true,
                }},
                {"drop": {"if": {"and": [
                    {"equals": {"labels.job": "app"}}, {"contains": {"message": "health"}},
                ]}}},
                {"remove": {"field": "extracted", "ignore_missing": true}},
            ],
        })
    );
    let journal = &config["inputs"][1];
    assert_eq!(
        (&journal["type"], &journal["since"]),
        (&json!("journald"), &json!("-43200s"))
    );
    assert_eq!(
        journal["processors"][1]["copy"]["source_field"],
        "journald.systemd_unit"
    );
    assert_eq!(config["inputs"][2]["listen"], "tcp://0.0.0.0:1514");
    assert_eq!(
        config["processors"],
        json!([{"add": {"field": "labels.site", "value": "north"}}])
    );
}

#[test]
fn stages_do_what_they_do_there() {
    for (written, number, expected) in [
        (
            "  - json: {expressions: {level: severity, user: 'http.user', x: }}",
            2,
            json!({"copy": {
                "source_field": "@metadata.taken.http.user", "target_field": "extracted.user",
                "override_target": true, "ignore_missing": true,
            }}),
        ),
        (
            "  - timestamp: {source: t, format: '2006-01-02 15:04:05.000', fallback_formats: [Unix], location: Europe/Berlin}",
            0,
            json!({"date": {
                "field": "extracted.t", "formats": ["yyyy-MM-dd H:mm:ss.SSS", "UNIX"],
                "ignore_failure": true, "timezone": "Europe/Berlin",
            }}),
        ),
        (
            "  - drop: {source: level, value: debug}",
            0,
            json!({"drop": {"if": {"equals": {"extracted.level": "debug"}}}}),
        ),
        (
            r"  - replace: {expression: 'ip=(\d+)\.', replace: '<{{ .Value }}$>'}",
            0,
            json!({"gsub": {
                "field": "message", "pattern": r"(ip=)(\d+)(\.)", "replacement": r"$1<$2\$>$3",
                "ignore_missing": true, "ignore_failure": true,
            }}),
        ),
        (
            "  - template: {source: app, template: '{{ .Value }}-{{ .env }}'}",
            0,
            json!({"set": {"field": "extracted.app", "value": "{{extracted.app}}-{{extracted.env}}"}}),
        ),
        (
            "  - template: {source: level, template: '{{ ToUpper .Value }}'}",
            0,
            json!({"uppercase": {
                "field": "extracted.level", "ignore_missing": true, "ignore_failure": true,
            }}),
        ),
        (
            "  - match: {selector: '{a=~\"x.*\"}', stages: [{static_labels: {b: c}}]}",
            0,
            json!({"add": {
                "field": "labels.b", "value": "c", "if": {"regexp": {"labels.a": "^(?:x.*)$"}},
            }}),
        ),
        (
            "  - limit: {rate: 10, burst: 20, drop: true}",
            0,
            json!({"rate_limit": {"limit": "10/s"}}),
        ),
        (
            "  - sampling: {rate: 0.25}",
            0,
            json!({"sample": {"percentage": 25.0}}),
        ),
    ] {
        let (steps, told) = stages(written);
        assert_eq!(told, Vec::<String>::new(), "{written}");
        assert_eq!(steps[number], expected, "{written}");
    }
}

#[test]
fn ages_sizes_and_names_of_labels_are_asked_by_programs() {
    for (written, number, expected) in [
        (
            "  - drop: {older_than: 24h, longer_than: 8kb, source: level, value: debug}",
            0,
            json!({"vrl": {
                "source": "if to_unix_timestamp(now()) - to_unix_timestamp(timestamp!(.\"@timestamp\")) > 86400 && length(string!(.\"message\")) > 8192 { abort }",
                "ignore_failure": true, "if": {"equals": {"extracted.level": "debug"}},
            }}),
        ),
        (
            "  - labelallow: [a, b]",
            0,
            json!({"vrl": {
                "source": ".\"labels\" = filter(object!(.\"labels\")) -> |key, _value| { includes([\"a\",\"b\"], key) }",
                "ignore_failure": true, "if": {"has_fields": ["labels"]},
            }}),
        ),
    ] {
        let (steps, told) = stages(written);
        assert_eq!(told, Vec::<String>::new(), "{written}");
        assert_eq!(steps[number], expected, "{written}");
    }
}

#[test]
fn lines_that_are_only_slowed_down_or_counted_there_are_told() {
    for written in [
        "  - limit: {rate: 10, burst: 20}",
        "  - metrics: {lines: {type: Counter}}",
    ] {
        let (_, told) = stages(written);
        assert_eq!(told.len(), 1, "{written}: {told:?}");
    }
}

#[test]
fn stages_without_counterpart_are_told() {
    for (written, reason) in [
        (
            "  - drop: {older_than: soon}",
            "has no duration in [older_than]",
        ),
        (
            "  - replace: {expression: '(a)(b)'}",
            "with several groups in [expression] has no counterpart",
        ),
        (
            "  - template: {source: a, template: '{{ Sha2Hash .Value }}'}",
            "[Sha2Hash .Value] has no counterpart",
        ),
        (
            "  - json: {expressions: {a: 'b[0]'}}",
            "[b[0]] is more than names with dots between them",
        ),
        (
            "  - match: {selector: 'x'}",
            "[selector] does not begin with a {",
        ),
        ("  - pack: {labels: [a]}", "has no counterpart"),
    ] {
        let (_, told) = stages(written);
        assert!(told.iter().any(|one| one.ends_with(reason)), "{told:?}");
    }
}

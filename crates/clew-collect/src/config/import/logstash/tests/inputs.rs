//! Inputs of a Logstash and their codecs.

use super::*;

#[test]
fn codecs_of_a_logstash_and_what_cannot_be_compared() {
    let text = r#"
input {
  file { path => "/a" codec => multiline { pattern => "^%{YEAR}-%{MONTHNUM} " negate => true what => "previous" } }
  file { path => "/b" codec => plain { charset => "ISO-8859-1" } }
  file { path => "/c" codec => plain { charset => "Windows-31J" } }
  udp { port => 514 codec => plain { charset => "CP1252" } }
}
filter {
  if [a] =~ [b] {
    drop { }
  }
  if [a][b] != [c] and [d] in [e] { drop { } }
}
output { stdout { } }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let told = imported.told();
    assert_eq!(
        told,
        [
            "line 6: [input.udp] [charset => CP1252] is read as UTF-8",
            "line 10: [if] compares what is not compared here, which never holds",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let start = config["inputs"][0]["multiline"]["start"].as_str().unwrap();
    let start = regex::Regex::new(start).unwrap();
    assert!(start.is_match("2026-01 a") && !start.is_match(" 2026-01 a"));
    assert_eq!(config["inputs"][1]["encoding"], "latin-1");
    assert_eq!(config["inputs"][2]["encoding"], "shift_jis");
    let condition = serde_json::json!({"and": [
        {"not": {"compare": {"a.b": {"eq": "c"}}}}, {"compare": {"d": {"in": "e"}}},
    ]});
    assert_eq!(config["processors"][1]["drop"]["if"], condition);
}

#[test]
fn inputs_of_a_logstash_say_how_they_are_secured_and_what_they_read() {
    use serde_json::json;
    let text = r#"
input {
  beats { port => 5044 ssl_enabled => true ssl_certificate => "c" ssl_key => "k" ssl_certificate_authorities => ["a"] ssl_client_authentication => "optional" }
  tcp { port => 5000 ssl_enable => true ssl_cert => "c" ssl_key => "k" ssl_verify_mode => "force_peer" }
  http { port => 8080 ssl => false ssl_certificate => "c" ssl_key => "k" user => "u" password => "p" }
  kafka { bootstrap_servers => "k1:9092,k2:9092" topics_pattern => "app-.*" auto_offset_reset => "earliest" consumer_threads => 3 }
}
output { stdout {} }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let told: Vec<String> = imported.left_out.iter().map(ToString::to_string).collect();
    let lines: Vec<&LeftOut> = imported
        .left_out
        .iter()
        .filter(|one| one.line.is_some())
        .collect();
    assert_eq!(lines.len(), 1, "{told:?}");
    assert!(told[0].contains("speaks another protocol"), "{told:?}");
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(
        inputs[0]["tls"],
        json!({"certificate": "c", "key": "k", "client_ca": ["a"], "client_authentication": "optional"})
    );
    assert_eq!(
        inputs[1]["tls"],
        json!({"certificate": "c", "key": "k", "client_authentication": "required"})
    );
    assert_eq!(inputs[2]["tls"], Value::Null);
    assert_eq!(
        inputs[2]["authentication"],
        json!([{"user": "u", "password": "p"}])
    );
    assert_eq!(
        inputs[3],
        json!({
            "type": "kafka", "parse": "plain", "topics": ["^app-.*"], "brokers": "k1:9092,k2:9092",
            "group_id": "logstash", "offset_reset": "earliest",
        })
    );
}

#[test]
fn what_codecs_say_is_not_lost() {
    let text = r#"
input {
  file { path => "/a" mode => "read" codec => json { target => "[doc][said]" } }
  file { path => "/b" codec => multiline { pattern => "^ " what => "previous" auto_flush_interval => 2 odd => 1 } }
  stdin { codec => multiline { pattern => "^ " what => "previous" } }
  unix { path => "/tmp/x.sock" mode => "server" }
  unix { path => "/tmp/y.sock" mode => "client" }
}
output { stdout {} }
"#;
    let imported = import_pipeline("x.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = config["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 4, "{}", imported.config);
    assert_eq!(inputs[0]["start_at"], Value::Null);
    let steps = &inputs[0]["processors"];
    assert_eq!(steps[0]["rename"]["target_field"], "@metadata.line");
    assert_eq!(steps[1]["json"]["target_field"], "doc.said");
    let failed = &steps[1]["json"]["on_failure"];
    assert_eq!(failed[0]["rename"]["target_field"], "message");
    assert_eq!(failed[1]["append"]["value"][0], "_jsonparsefailure");
    assert_eq!(inputs[1]["multiline"]["timeout_ms"], 2_000);
    assert_eq!(inputs[2]["multiline"], Value::Null);
    assert_eq!(inputs[3]["listen"], "unix:///tmp/x.sock");
    assert_eq!(
        imported.told(),
        [
            "line 4: [input.file.codec] [odd] has no counterpart",
            "line 5: [input.stdin] lines that are sent are not joined: only files have [multiline]",
            "line 7: [input.unix] has no counterpart",
        ]
    );
}

#[test]
fn clients_of_kafka_log_in_as_java_has_it() {
    use serde_json::json;
    let text = r#"
input { kafka { bootstrap_servers => "k:9092" topics => ["a"] security_protocol => "SASL_SSL" sasl_mechanism => "PLAIN"
  ssl_truststore_type => "PEM" ssl_truststore_location => "/ca.pem" ssl_endpoint_identification_algorithm => ""
  sasl_jaas_config => 'org.apache.kafka.common.security.plain.PlainLoginModule required username="jo" password="x";' } }
output { kafka { bootstrap_servers => "k:9092" topic_id => "b" security_protocol => "SSL" ssl_truststore_location => "/t.jks" codec => json } }
"#;
    let imported = import_pipeline("x.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let input = &config["inputs"][0];
    let login = json!({"user": "jo", "password": "x"});
    assert_eq!(input["authentication"], login);
    let tls = json!({"ca": "/ca.pem", "verification": "certificate"});
    assert_eq!(input["tls"], tls);
    assert_eq!(config["outputs"][0]["tls"], json!({}));
    let told = imported.told();
    let expected = "line 5: [output.kafka] [ssl_truststore_location] has no counterpart";
    assert!(told.iter().any(|one| one == expected), "{told:?}");
}

#[test]
fn an_input_of_syslog_listens_in_both_ways_and_codecs_read_cells_and_cef() {
    use serde_json::json;
    let text = r#"
input {
  syslog { port => 5514 type => "net" }
  tcp { port => 5515 codec => cef }
  file { path => "/a" start_position => "beginning" codec => csv { columns => ["a", "b"] separator => ";" convert => { "b" => "integer" "a" => "date" } } }
}
output { stdout {} }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(
        imported.told(),
        ["line 5: [input.file] [convert] of [a] to [date]: it stays a text"]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(inputs[0]["listen"], "tcp://0.0.0.0:5514");
    assert_eq!(inputs[1]["listen"], "udp://0.0.0.0:5514");
    assert_eq!(inputs[1]["processors"], inputs[0]["processors"]);
    assert_eq!(inputs[2]["parse"], "cef");
    let line = "@metadata.line";
    assert_eq!(
        inputs[3]["processors"],
        json!([
            {"rename": {"field": "message", "target_field": line}},
            {"csv": {
                "field": line, "target_fields": ["a", "b"], "separator": ";", "ignore_missing": true,
                "unnamed_prefix": "column",
                "on_failure": [
                    {"rename": {"field": line, "target_field": "message"}},
                    {"append": {"field": "tags", "value": ["_csvparsefailure"]}},
                ],
            }},
            {"convert": {"field": "b", "type": "long", "lenient": true, "ignore_missing": true, "ignore_failure": true}},
        ])
    );
}

#[test]
fn conditions_that_have_no_counterpart_are_told() {
    let text = r#"
input { stdin {} }
filter {
  if [tags] == ["a"] { drop {} }
  if [a][0] == "b" or [c] { drop {} }
  if [a] in ["b", "c"] { drop {} }
  if [a] > "b" { drop {} }
}
output { stdout {} }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 4: [if] compares what is not compared here, which never holds",
            "line 5: [if] asks for an item of a list by its number, which no field is here",
            "line 7: [if] compares what is not compared here, which never holds",
        ]
    );
}

#[test]
fn files_are_left_alone_after_a_time_in_words_and_clients_are_told() {
    let text = r#"
input {
  file { path => "/a" ignore_older => "2 days" delimiter => "\n" }
  file { path => "/b" ignore_older => 90 delimiter => "|" }
  file { path => "/c" ignore_older => "1.5 h" }
  file { path => "/d" ignore_older => "a while" }
  tcp { port => 1 host => "far" mode => "client" }
  tcp { port => 2 mode => "server" }
}
output { stdout {} }
"#;
    let imported = import_pipeline("x.conf", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 4: [input.file] [delimiter]: lines end with a line feed",
            "line 6: [input.file] [ignore_older => a while] is no time",
            "line 7: [input.tcp] has no counterpart",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = config["inputs"].as_array().unwrap();
    let ages = inputs.iter().map(|input| input["ignore_older_s"].as_u64());
    assert_eq!(
        ages.collect::<Vec<_>>(),
        [Some(172_800), Some(90), Some(5_400), None, None]
    );
    assert_eq!(inputs[4]["listen"], "tcp://0.0.0.0:2");
}

//! Outputs of a Logstash.

use super::*;

#[test]
fn an_output_of_a_logstash_names_documents_and_is_secured() {
    use serde_json::json;
    let text = r#"
input { stdin {} }
filter { fingerprint { source => ["message"] target => "[@metadata][fp]" } }
output {
  elasticsearch {
    hosts => ["es"] ssl => true cacert => "/ca.pem" index => "%{[app]:none}" document_id => "%{[@metadata][fp]}"
    ssl_verification_mode => "full" http_compression => true
  }
}
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let told = imported.told();
    assert!(
        told.iter().all(|told| !told.contains("counterpart")),
        "{told:?}"
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let named = json!({"has_fields": ["@metadata.fp"]});
    let hashed = r#"if exists(."message") { ."@metadata"."fp" = sha1(to_string!(."message")) }"#;
    assert_eq!(
        config["processors"],
        json!([
            {"vrl": {"source": hashed, "ignore_failure": true}},
            {"set": {"field": "@metadata._id", "value": "{{@metadata.fp}}", "if": named}},
            {"add": {"field": "@metadata.op_type", "value": "index", "if": named}},
        ])
    );
    assert_eq!(
        config["outputs"],
        json!([{
            "type": "opensearch", "url": "https://es:9200", "index": "{{app}}{{^app}}none{{/app}}",
            "tls": {"ca": ["/ca.pem"]}, "compression": "gzip",
        }])
    );
}

#[test]
fn the_name_and_the_version_of_a_beat_are_found_where_it_sends_over_http() {
    let text = r#"
input { beats { port => 5044 } }
output { elasticsearch { hosts => ["es"] index => "%{[@metadata][beat]}-%{[@metadata][version]}-%{+YYYY.MM.dd}" } }
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["outputs"][0]["index"],
        concat!(
            "{{@metadata.beat}}{{^@metadata.beat}}{{agent.type}}{{/@metadata.beat}}-",
            "{{@metadata.version}}{{^@metadata.version}}{{agent.version}}{{/@metadata.version}}-%{+YYYY.MM.dd}",
        )
    );
}

#[test]
fn what_writes_events_otherwise_is_told() {
    let text = r#"
input { stdin {} }
output {
  elasticsearch { hosts => ["es"] codec => plain }
  stdout { codec => rubydebug { metadata => true } }
  file { path => "/a" codec => line { format => "%{message}" } }
  kafka { topic_id => "t" }
  http { url => "http://h/" http_method => "put" format => "message" }
  http { url => "http://h/" http_method => "post" format => "json_batch" }
}
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    let told: Vec<String> = imported
        .told()
        .into_iter()
        .filter(|one| one.starts_with("line "))
        .collect();
    assert_eq!(
        told,
        [
            "line 6: [output.file] the codec [line] has no counterpart: lines of JSON are written",
            "line 7: [output.kafka] has no [codec], and so writes time, host and message there: messages are documents of JSON here",
            "line 8: [output.http] [http_method => put]: lines of JSON are sent by POST",
            "line 8: [output.http] [format => message]: lines of JSON are sent by POST",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["outputs"][0]["index"], "logstash-%{+yyyy.MM.dd}");
}

#[test]
fn a_cloud_a_path_and_an_alias_say_where_an_output_writes() {
    use serde_json::json;
    let text = r#"
input { stdin {} }
output {
  elasticsearch { cloud_id => "my:ZXUuZXhhbXBsZS5jb20kYWJjJGRlZg==" cloud_auth => "u:p" ilm_rollover_alias => "shop" ilm_pattern => "{now/d}-1" }
  elasticsearch { hosts => ["https://es"] path => "/below/" ilm_policy => "mine" ilm_rollover_alias => "b" template => "/t.json" }
  elasticsearch { cloud_id => "none" index => "c" }
}
"#;
    let imported = import_pipeline("p.conf", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 5: [output.elasticsearch] [ilm_policy => mine]: policies are put to the server",
            "line 5: [output.elasticsearch] [template => /t.json]: templates are put to the server",
            "line 6: [output.elasticsearch] [cloud_id => none] is no `NAME:` and the base64 of `DOMAIN$ID`",
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(
        config["outputs"],
        json!([
            {
                "type": "opensearch", "url": "https://abc.eu.example.com:443", "index": "shop",
                "authentication": {"user": "u", "password": "p"},
            },
            {"type": "opensearch", "url": "https://es:9200/below", "index": "b"},
            {"type": "opensearch", "url": "http://127.0.0.1:9200", "index": "c"},
        ])
    );
}

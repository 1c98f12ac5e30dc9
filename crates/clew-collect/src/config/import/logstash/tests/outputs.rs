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
    let imported = import_logstash("p.conf", text).unwrap();
    let told = imported.told();
    assert!(
        told.iter().all(|told| !told.contains("counterpart")),
        "{told:?}"
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let named = json!({"has_fields": ["@metadata.fp"]});
    assert_eq!(
        config["processors"],
        json!([
            {"fingerprint": {"target_field": "@metadata.fp", "ignore_missing": true, "fields": ["message"]}},
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

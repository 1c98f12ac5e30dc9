//! Outputs of a Filebeat, and how its connections are secured.

use super::*;

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
fn an_address_that_a_variable_says_is_told() {
    let text = "filebeat.inputs: [{type: stdin}]\noutput.elasticsearch.hosts: ['${ES_HOST}:443']\n";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(
        imported.told(),
        [
            "line 2: [output.elasticsearch.hosts] the [url] is whole, http://HOST:PORT, whatever of it is in the variable"
        ]
    );
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["outputs"][0]["url"], "http://${ES_HOST}:443");
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
    let prefix = "[filebeat.inputs[1]] objects are events themselves here, and not inside of [json] or another [prefix]";
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].ends_with(prefix), "{told:?}");
    assert!(told[2].ends_with(passphrase), "{told:?}");
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
fn clients_of_kafka_log_in_as_they_did() {
    use serde_json::json;
    let check = |given: &str, expected: &Value| {
        let text = format!(
            "filebeat.inputs: [{{type: stdin}}]\noutput.kafka: {{hosts: [k], topic: t, {given}}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        let mut output = config["outputs"][0].clone();
        for key in ["type", "brokers", "topic"] {
            output.as_object_mut().unwrap().shift_remove(key);
        }
        assert_eq!(&output, expected, "{given}");
        let told = imported.told();
        let places = told.iter().filter(|one| one.starts_with("line "));
        places.count()
    };
    let login = json!({"user": "jo", "password": "x"});
    for (given, expected, told) in [
        (
            "username: jo, password: x, ssl: {certificate_authorities: [/a, /b], verification_mode: certificate}",
            json!({"authentication": login, "tls": {"ca": ["/a"], "verification": "certificate"}}),
            1,
        ),
        (
            "username: jo, password: x, sasl.mechanism: SCRAM-SHA-512, client_id: web",
            json!({"authentication": login, "mechanism": "SCRAM-SHA-512", "properties": {"client.id": "web"}}),
            0,
        ),
        (
            "ssl: {key: k, certificate: c, key_passphrase: p}, partition.round_robin.reachable_only: true",
            json!({"tls": {}, "properties": {
                "ssl.key.password": "p", "ssl.key.location": "k", "ssl.certificate.location": "c",
            }}),
            0,
        ),
        (
            "sasl.mechanism: OAUTHBEARER, partition.hash: {hash: [a], random: false}",
            json!({"properties": {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER"}}),
            1,
        ),
    ] {
        assert_eq!(check(given, &expected), told, "{given}");
    }
    let text = "\
filebeat.inputs:
- {type: kafka, hosts: [k1], topics: [a], username: jo, password: x, ssl.enabled: true}
output.console: {}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    assert_eq!(config["inputs"][0]["authentication"], login);
    assert_eq!(config["inputs"][0]["tls"], json!({}));
}

#[test]
fn an_index_of_an_input_goes_before_those_of_the_output() {
    use serde_json::json;
    let text = "\
filebeat.inputs:
- {type: log, paths: [/a], index: 'a-%{+yyyy.MM.dd}'}
- {type: log, paths: [/b]}
output.elasticsearch:
  hosts: [es]
  path: /below/
  indices: [{index: errors, when.contains: {message: E}}]
  pipelines: [{pipeline: p, when.has_fields: [x]}]
";
    let imported = import_filebeat("f.yml", text).unwrap();
    assert!(imported.left_out.is_empty(), "{:?}", imported.told());
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let own = json!({"equals": {"@metadata.raw_index": "a-%{+yyyy.MM.dd}"}});
    let outputs = config["outputs"].as_array().unwrap();
    let chosen: Vec<(&Value, &Value)> = outputs
        .iter()
        .map(|one| (&one["index"], &one["pipeline"]))
        .collect();
    let (dated, usual) = (json!("a-%{+yyyy.MM.dd}"), json!("filebeat-%{+yyyy.MM.dd}"));
    let (errors, piped, none) = (json!("errors"), json!("p"), Value::Null);
    assert_eq!(
        chosen,
        [
            (&dated, &piped),
            (&dated, &none),
            (&errors, &piped),
            (&errors, &none),
            (&usual, &piped),
            (&usual, &none),
        ]
    );
    let has_x = json!({"has_fields": ["x"]});
    assert_eq!(outputs[0]["when"], json!({"and": [own, has_x]}));
    assert_eq!(outputs[0]["url"], "http://es:9200/below");
}

#[test]
fn clusters_of_the_cloud_are_reached_by_their_address() {
    use base64::Engine;
    let check = |decoded: &str, expected: &str| {
        let id = base64::engine::general_purpose::STANDARD.encode(decoded);
        let text = format!(
            "filebeat.inputs: [{{type: stdin}}]\ncloud: {{id: 'my:one:{id}', auth: 'jo:a:b'}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        assert!(imported.left_out.is_empty(), "{:?}", imported.told());
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        assert_eq!(config["outputs"][0]["url"], expected);
        let login = serde_json::json!({"user": "jo", "password": "a:b"});
        assert_eq!(config["outputs"][0]["authentication"], login);
    };
    check("eu.found.io$abc$def", "https://abc.eu.found.io:443");
    check("eu.found.io:9243$abc$def", "https://abc.eu.found.io:9243");
    check("eu.found.io$abc:9244$def", "https://abc.eu.found.io:9244");
    let wrong = import_filebeat("f.yml", "cloud.id: x\ncloud.auth: y\n").unwrap();
    let told = wrong.told();
    for expected in [
        "line 1: [cloud.id] is no `NAME:` and the base64 of `DOMAIN$ID`",
        "line 2: [cloud.auth] is no `user:password`",
    ] {
        assert!(told.iter().any(|one| one == expected), "{told:?}");
    }
}

#[test]
fn topics_of_a_filebeat_are_chosen_by_conditions() {
    use serde_json::json;
    let outputs = |topic: &str| {
        let text = format!(
            "filebeat.inputs: [{{type: stdin}}]\noutput.kafka: {{hosts: [k], {topic} max_message_bytes: 9, \
             topics: [{{topic: bad, when.has_fields: [e]}}]}}\n"
        );
        let imported = import_filebeat("f.yml", &text).unwrap();
        let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
        config["outputs"].as_array().unwrap().clone()
    };
    let bad = json!({"has_fields": ["e"]});
    let both = outputs("topic: all,");
    assert_eq!((&both[0]["topic"], &both[0]["when"]), (&json!("bad"), &bad));
    assert_eq!(
        (&both[1]["topic"], &both[1]["when"]),
        (&json!("all"), &json!({"not": bad}))
    );
    assert_eq!(both[0]["properties"]["message.max.bytes"], 9);
    assert_eq!(outputs("").len(), 1);
}

#[test]
fn values_of_a_field_name_indexes_by_their_mappings() {
    use serde_json::json;
    let text = r#"
filebeat.inputs:
- {type: stdin}
processors:
- add_formatted_index: {index: "shop-%{[team]}-%{+yyyy}", when: {has_fields: [team]}}
output.elasticsearch:
  hosts: ["http://es:9200"]
  compression_level: 0
  index: all
  indices:
  - index: "%{[kind]}"
    mappings: {critical: sev1, normal: sev2}
    default: sev3
    when.has_fields: [kind]
"#;
    let imported = import_filebeat("f.yml", text).unwrap();
    assert_eq!(imported.told(), Vec::<String>::new());
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let own = json!({"equals": {"@metadata.raw_index": "shop-%{[team]}-%{+yyyy}"}});
    let not = |condition: &Value| json!({"not": condition});
    let kind = json!({"has_fields": ["kind"]});
    let is = |value: &str| json!({"and": [kind, {"equals": {"kind": value}}]});
    let outputs = config["outputs"].as_array().unwrap();
    let found: Vec<(&Value, &Value)> = outputs
        .iter()
        .map(|output| (&output["index"], &output["when"]))
        .collect();
    let (first, second) = (is("critical"), is("normal"));
    let expected = [
        (json!("shop-{{team}}-%{+yyyy}"), own.clone()),
        (json!("sev1"), json!({"and": [not(&own), first]})),
        (
            json!("sev2"),
            json!({"and": [not(&own), not(&first), second]}),
        ),
        (
            json!("sev3"),
            json!({"and": [not(&own), not(&first), not(&second), kind]}),
        ),
        (
            json!("all"),
            json!({"and": [not(&own), not(&first), not(&second), not(&kind)]}),
        ),
    ];
    let expected: Vec<(&Value, &Value)> = expected.iter().map(|(a, b)| (a, b)).collect();
    assert_eq!(found, expected);
    assert_eq!(
        config["processors"][0]["add"]["field"],
        "@metadata.raw_index"
    );
}

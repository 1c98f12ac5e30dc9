use serde_json::{Value, json};

use super::super::{Imported, import_fluent_bit, import_promtail, import_vector};

fn read(imported: &Imported) -> Value {
    serde_yaml_ng::from_str(&imported.config).unwrap()
}

#[test]
fn clients_of_a_vector_log_in_as_they_did() {
    let text = "\
sources:
  in:
    type: kafka
    bootstrap_servers: 'k:1'
    group_id: g
    topics: [a]
    sasl: {enabled: true, mechanism: SCRAM-SHA-256, username: jo, password: x}
    tls: {enabled: true, ca_file: /ca, verify_hostname: false}
sinks:
  out:
    type: kafka
    inputs: [in]
    bootstrap_servers: 'k:1'
    topic: t
    encoding: {codec: json}
    librdkafka_options: {client.id: me, acks: '1', compression.codec: zstd}
    tls: {enabled: true, ca_file: /ca, verify_certificate: false}
";
    let config = read(&import_vector("v.yaml", text).unwrap());
    let input = &config["inputs"][0];
    assert_eq!(
        input["tls"],
        json!({"ca": "/ca", "verification": "certificate"})
    );
    assert_eq!(
        input["authentication"],
        json!({"user": "jo", "password": "x"})
    );
    assert_eq!(input["mechanism"], "SCRAM-SHA-256");
    let output = &config["outputs"][0];
    assert_eq!(output["properties"], json!({"client.id": "me"}));
    assert_eq!(output["compression"], "zstd");
    assert_eq!(output["tls"], json!({"verification": "none"}));
}

#[test]
fn settings_of_a_vector_that_say_what_keys_say_are_said_once() {
    let text = "\
sources:
  in:
    type: kafka
    bootstrap_servers: 'k:1'
    group_id: g
    topics: [a]
    sasl: {enabled: true, mechanism: SCRAM-SHA-256, username: jo, password: x}
    librdkafka_options: {security.protocol: sasl_ssl, sasl.mechanism: SCRAM-SHA-512, ssl.ca.location: /ca}
sinks:
  out:
    type: kafka
    inputs: [in]
    bootstrap_servers: 'k:1'
    topic: t
    encoding: {codec: json}
    librdkafka_options: {enable.ssl.certificate.verification: 'false', ssl.ca.location: /other}
    tls: {enabled: true, ca_file: /ca}
";
    let config = read(&import_vector("v.yaml", text).unwrap());
    let input = &config["inputs"][0];
    assert_eq!(input["tls"], json!({}));
    assert_eq!(
        input["authentication"],
        json!({"user": "jo", "password": "x"})
    );
    assert_eq!(input["mechanism"], "SCRAM-SHA-512");
    assert_eq!(input["properties"], json!({"ssl.ca.location": "/ca"}));
    let output = &config["outputs"][0];
    assert_eq!(output["tls"], json!({"verification": "none"}));
    assert_eq!(output["properties"], Value::Null);
}

#[test]
fn settings_of_a_fluent_bit_stay_what_they_are() {
    let text = "\
[INPUT]
    Name kafka
    Brokers k:1
    Topics a
    rdkafka.security.protocol sasl_ssl
    rdkafka.sasl.username jo
[OUTPUT]
    Name kafka
    Match *
    Brokers k:1
    Topics t
    rdkafka.request.required.acks 1
    rdkafka.compression.codec lz4
";
    let config = read(&import_fluent_bit("f.conf", text).unwrap());
    let expected = json!({"security.protocol": "sasl_ssl", "sasl.username": "jo"});
    assert_eq!(config["inputs"][0]["properties"], expected);
    let output = &config["outputs"][0];
    assert_eq!(output["compression"], "lz4");
    assert_eq!(output["properties"], Value::Null);
}

#[test]
fn sources_of_a_promtail_are_secured_and_lose_no_key_in_silence() {
    let text = "\
scrape_configs:
- job_name: k
  kafka:
    brokers: ['k:1']
    topics: [a]
    authentication:
      type: sasl
      sasl_config: {mechanism: PLAIN, user: jo, password: x, use_tls: true, insecure_skip_verify: true}
- job_name: s
  syslog: {listen_address: '127.0.0.1:1', tls_config: {cert_file: c, key_file: k}, odd: 1}
";
    let imported = import_promtail("p.yaml", text).unwrap();
    let config = read(&imported);
    assert_eq!(config["inputs"][0]["tls"], json!({"verification": "none"}));
    assert_eq!(
        config["inputs"][0]["authentication"],
        json!({"user": "jo", "password": "x"})
    );
    assert_eq!(
        config["inputs"][1]["tls"],
        json!({"certificate": "c", "key": "k"})
    );
    let told = imported.told().join("\n");
    assert!(told.contains("[syslog.odd] has no counterpart"), "{told}");
}

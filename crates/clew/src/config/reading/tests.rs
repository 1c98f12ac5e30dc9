use std::collections::BTreeSet;
use std::path::PathBuf;

use super::super::EngineConfig;
use super::*;

fn load(yaml: &str, variables: &[(&str, &str)]) -> anyhow::Result<Config> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clew.yaml");
    std::fs::write(&path, yaml).unwrap();
    let variables = variables
        .iter()
        .map(|(k, v)| ((*k).to_string(), (*v).to_string()));
    Config::read(Some(&path), variables).map(|(config, _)| config)
}

#[test]
fn variables_win_over_the_file_and_the_file_over_defaults() {
    let yaml = "data: /x\nhttp:\n  body_bytes_max: 5000\n  address: 127.0.0.1:1\n";
    let config = load(
        yaml,
        &[("CLEW_HTTP__BODY_BYTES_MAX", "7000"), ("CLEW_BIN", "1")],
    )
    .unwrap();
    assert_eq!(config.data, PathBuf::from("/x"));
    assert_eq!(config.http.body_bytes_max, 7000);
    assert_eq!(config.http.address.port(), 1);
    assert_eq!(config.engine, EngineConfig::default());
}

#[test]
fn names_are_a_list_or_a_text_with_commas() {
    let yaml = "http:\n  hosts_allowed: [a, '*.b']\n";
    let variables = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "http://a, http://b")];
    let http = load(yaml, &variables).unwrap().http;
    assert_eq!(http.hosts_allowed, ["a", "*.b"]);
    assert_eq!(http.cors.allow_origin, ["http://a", "http://b"]);
    let pattern = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "/http:..a{1,2}/")];
    let http = load("", &pattern).unwrap().http;
    assert_eq!(http.cors.allow_origin, ["/http:..a{1,2}/"]);
}

#[test]
fn a_password_is_a_text_and_is_not_shown() {
    let yaml = "access:\n  authentication: true\n";
    let config = load(yaml, &[("CLEW_ACCESS__ROOT_PASSWORD", "012345")]).unwrap();
    assert!(config.access.authentication);
    assert_eq!(config.access.root_password.0, "012345");
    let shown = serde_json::to_string(&config).unwrap() + &format!("{config:?}");
    assert!(!shown.contains("012345") && shown.contains("***"));
    let told = "[access.root_password]: a password must have 6 to 256 bytes, and has 5";
    let by_file = refused("data: x\naccess:\n  root_password: short\n", &[]);
    assert!(by_file.contains(&format!("line 3: {told}")), "{by_file}");
    let by_variable = refused("", &[("CLEW_ACCESS__ROOT_PASSWORD", "short")]);
    let variable = "in the variable CLEW_ACCESS__ROOT_PASSWORD: ";
    assert_eq!(by_variable, format!("{variable}{told}"));
}

#[test]
fn an_empty_file_means_the_defaults() {
    assert_eq!(load("", &[]).unwrap(), Config::default());
}

#[test]
fn what_no_server_could_work_with_is_refused_with_its_place() {
    for (key, value, told) in [
        ("http.body_bytes_max", "0", "must be at least [1024]"),
        ("grpc.message_bytes_max", "1023", "must be at least [1024]"),
        ("engine.search_threads", "100000", "must be at most [1024]"),
        (
            "engine.search_queue_max",
            "18446744073709551615",
            "must be at most [1000000]",
        ),
        (
            "engine.write_buffer_bytes",
            "0",
            "must be at least [8388608]",
        ),
        (
            "engine.write_buffer_bytes",
            "8388607",
            "must be at least [8388608]",
        ),
        ("engine.shard_writers", "65", "must be at most [64]"),
        ("memory.limit_bytes", "1", "must be at least [16777216]"),
        ("vectors.build_threads", "1025", "must be at most [1024]"),
        ("tracing.queue_spans_max", "0", "must be at least [1]"),
        (
            "tracing.queue_spans_max",
            "1000001",
            "must be at most [1000000]",
        ),
        ("tracing.sample_ratio", "2", "must be from 0 to 1"),
        ("stop.grace_ms", "3600001", "must be at most [3600000]"),
        ("imports.path", "/none/such", "which is no folder"),
    ] {
        let wanted = format!("[{key}] is [{value}], {told}");
        let by_file = refused(&format!("data: x\n{key}: {value}\n"), &[]);
        assert!(by_file.contains(&format!("line 2: {wanted}")), "{by_file}");
        let variable = format!("CLEW_{}", key.to_uppercase().replace('.', "__"));
        let by_variable = refused("", &[(variable.as_str(), value)]);
        let wanted = format!("in the variable {variable}: {wanted}");
        assert!(by_variable.starts_with(&wanted), "{by_variable}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (key, value) in [
        ("http.body_bytes_max", "1024"),
        ("engine.search_threads", "0"),
        ("engine.search_threads", "1024"),
        ("engine.search_queue_max", "0"),
        ("engine.write_buffer_bytes", "8388608"),
        ("engine.shard_writers", "0"),
        ("engine.shard_writers", "64"),
        ("memory.limit_bytes", "0"),
        ("memory.limit_bytes", "16777216"),
        ("stop.grace_ms", "0"),
        ("imports.path", path),
    ] {
        assert!(load(&format!("{key}: {value}\n"), &[]).is_ok(), "{key}");
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    for (yaml, nearest) in [
        ("http:\n  adress: 127.0.0.1:1\n", "[http.address]"),
        ("datta: x\n", "[data]"),
        ("log:\n  retention_byte: 1\n", "[log.retention_bytes]"),
        (
            "http:\n  cors:\n    allow-origin: x\n",
            "[http.cors.allow_origin]",
        ),
    ] {
        let error = load(yaml, &[]).unwrap_err().to_string();
        assert!(error.contains(nearest), "{error}");
    }
    let error = load("", &[("CLEW_ENGINE__SEARCH_TREADS", "1")])
        .unwrap_err()
        .to_string();
    assert!(error.contains("[engine.search_threads]"), "{error}");
}

/// What a file of this text is refused with.
fn refused(yaml: &str, variables: &[(&str, &str)]) -> String {
    format!("{:#}", load(yaml, variables).unwrap_err())
}

#[test]
fn a_wrong_value_is_told_with_its_place_and_what_would_be_right() {
    for (yaml, told) in [
        (
            "data: x\nhttp:\n  body_bytes_max: lots\n",
            "line 3: [http.body_bytes_max] is [lots], must be a whole number, 0 or more",
        ),
        (
            "http:\n  body_bytes_max: -5\n",
            "line 2: [http.body_bytes_max] is [-5], must be a whole number, 0 or more",
        ),
        ("http: 5\n", "line 1: [http] must be a mapping of keys"),
        (
            "http.address: x\n",
            "line 1: [http.address] is [x], must be an address with a port",
        ),
        (
            "profile: {heap: maybe}\n",
            "[profile.heap] is [maybe], must be `true` or `false`",
        ),
        (
            "\nlogging:\n  format: xml\n",
            "line 3: [logging.format] is [xml], must be `text` or `json`",
        ),
        (
            "tracing.sample_ratio: much\n",
            "[tracing.sample_ratio] is [much], must be a number",
        ),
        (
            "http: {cors: {allow_origin: 5}}\n",
            "must be a list, or one text with commas",
        ),
        ("a: 1\n", "line 1: unknown configuration key [a]"),
        (
            "data: x\nhttp:\n  adress: y\n",
            "line 3: unknown configuration key [http.adress]",
        ),
        ("data: x\ndata: y\n", "is not valid YAML: duplicate entry"),
        (
            "http.address: 127.0.0.1:1\nhttp: {address: 127.0.0.1:2}\n",
            "[http.address] is there twice",
        ),
        (
            "access: [true]\n",
            "line 1: [access] must be a mapping of keys",
        ),
        ("- 1\n", "must be a mapping of keys"),
    ] {
        let refused = refused(yaml, &[]);
        assert!(refused.contains(told), "{yaml}: {refused}");
    }
}

#[test]
fn a_wrong_value_is_told_with_its_variable() {
    for (variable, value, told) in [
        (
            "CLEW_HTTP__BODY_BYTES_MAX",
            "lots",
            "in the variable CLEW_HTTP__BODY_BYTES_MAX: [http.body_bytes_max] is [lots]",
        ),
        (
            "CLEW_NONE__SUCH",
            "1",
            "in the variable CLEW_NONE__SUCH: unknown configuration key [none]",
        ),
    ] {
        // The same key stands in the file, with a value that is right.
        let refused = refused("http:\n  body_bytes_max: 7000\n", &[(variable, value)]);
        assert!(refused.starts_with(told), "{refused}");
    }
}

#[test]
fn what_is_found_wrong_later_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clew.yaml");
    std::fs::write(&path, "data: x\nlogging:\n  level: loud\n").unwrap();
    let variable = ("CLEW_DISK__WATERMARK_LOW", "much");
    let variable = (variable.0.to_string(), variable.1.to_string());
    let (_, origins) = Config::read(Some(&path), [variable]).unwrap();
    for (wrong, told) in [
        (
            "[logging.level] is [loud]",
            "line 3: [logging.level] is [loud]",
        ),
        (
            "[disk.watermark_low] is [much]",
            "in the variable CLEW_DISK__WATERMARK_LOW: [disk.watermark_low] is [much]",
        ),
        ("[http.address] is a default", "[http.address] is a default"),
        ("no key", "no key"),
    ] {
        let placed = origins.placed(&anyhow!(wrong)).to_string();
        assert!(placed.ends_with(told), "{placed}");
    }
}

#[test]
fn what_opentelemetrys_variables_say_wrong_is_told_with_them() {
    for (name, value, told) in [
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "nope",
            "[tracing.otlp.endpoint] is [nope], must begin with",
        ),
        (
            "OTEL_TRACES_SAMPLER_ARG",
            "2",
            "[tracing.sample_ratio] is [2], must be from 0 to 1",
        ),
    ] {
        let error = refused("", &[(name, value)]);
        let wanted = format!("in the variable {name}: {told}");
        assert!(error.starts_with(&wanted), "{error}");
    }
    // What the file says wins, and is what is wrong.
    let yaml = "tracing:\n  otlp.endpoint: other\n";
    let error = refused(yaml, &[("OTEL_EXPORTER_OTLP_ENDPOINT", "nope")]);
    assert!(
        error.contains("line 2: [tracing.otlp.endpoint] is [other]"),
        "{error}"
    );
}

#[test]
fn a_password_is_not_told() {
    for yaml in [
        "access: {root_password: 12345678}\n",
        "access: {root_password: {12345678}}\n",
        "access: {root_password: [12345678]}\n",
        "access.root_password: 12345678\n",
        "access: 12345678\n",
        "access: [root_password: 12345678]\n",
    ] {
        let secret = refused(yaml, &[]);
        assert!(secret.contains("line 1: [access"), "{secret}");
        assert!(!secret.contains("1234"), "{secret}");
    }
}

#[test]
fn variables_with_texts_are_not_read_as_yaml() {
    let variables = [
        ("CLEW_SNAPSHOTS__PATHS", "5"),
        ("CLEW_HTTP__HOSTS_ALLOWED", "true"),
        ("CLEW_TRACING__OTLP__ENDPOINT", "https://127.0.0.1:1"),
        ("CLEW_TRACING__OTLP__TLS__CA", "007"),
    ];
    let config = load("", &variables).unwrap();
    assert_eq!(config.snapshots.paths, [PathBuf::from("5")]);
    assert_eq!(config.http.hosts_allowed, ["true"]);
    assert_eq!(config.tracing.otlp.tls.ca, Some(PathBuf::from("007")));
    let listed = load("", &[("CLEW_SNAPSHOTS__PATHS", "[/a, /b]")]).unwrap();
    assert_eq!(listed.snapshots.paths, ["/a", "/b"].map(PathBuf::from));
}

#[test]
fn keys_may_have_dots_and_no_value_and_numbers_be_texts() {
    let yaml = "http.cors.enabled: true\nhttp:\n  body_bytes_max: 5000\nengine:\ndata:\ndisk: {watermark_low: 0.85}\n";
    let config = load(yaml, &[("CLEW_TRACING__SERVICE_NAME", "007")]).unwrap();
    assert!(config.http.cors.enabled);
    assert_eq!(config.http.body_bytes_max, 5000);
    assert_eq!(config.data, Config::default().data);
    assert_eq!(config.disk.watermark_low, "0.85");
    assert_eq!(config.tracing.service_name, "007");
    let emptied = load("data: x\n", &[("CLEW_DATA", "")]).unwrap();
    assert_eq!(emptied.data, Config::default().data);
    let yaml = "data: ''\nlogging: {level: ''}\nhttp: {body_bytes_max: '5000'}\nprofile: {heap: 'false'}\n";
    let config = load(yaml, &[]).unwrap();
    assert_eq!(config.data, Config::default().data);
    assert_eq!(config.logging, Config::default().logging);
    assert_eq!(
        (config.http.body_bytes_max, config.profile.heap),
        (5000, false)
    );
}

#[test]
fn folders_of_snapshots_are_a_list_or_a_text_with_commas() {
    let folders = ["/a/", "/b/"].map(PathBuf::from);
    let given = load("", &[("CLEW_SNAPSHOTS__PATHS", "/a/, /b/")]).unwrap();
    assert_eq!(given.snapshots.paths, folders);
    let listed = load("snapshots:\n  paths: [/a/, /b/]\n", &[]).unwrap();
    assert_eq!(listed.snapshots.paths, folders);
}

/// The keys of a value, each with all that stands above it.
fn keys_of(above: &str, value: &Value, keys: &mut BTreeSet<String>) {
    let Value::Object(members) = value else {
        keys.insert(above.to_string());
        return;
    };
    for (name, inner) in members {
        let key = match above {
            "" => name.clone(),
            above => format!("{above}.{name}"),
        };
        keys_of(&key, inner, keys);
    }
}

#[test]
fn every_key_has_a_row_in_the_documentation_and_every_row_a_key() {
    let mut keys = BTreeSet::new();
    let config = serde_json::to_value(Config::default()).unwrap();
    keys_of("", &config, &mut keys);
    let page = include_str!("../../../../../docs/configuration.md");
    let mut told = BTreeSet::new();
    for row in page.lines().filter_map(|line| line.strip_prefix("| `")) {
        // A row may tell of several keys of a section: `a.b`, `.c`.
        let (names, _) = row.split_once(" | ").unwrap();
        let mut names = names.split('`').step_by(2);
        let first = names.next().unwrap_or_default();
        let section = first.rsplit_once('.').map_or("", |(section, _)| section);
        // Other tables are of words without a section.
        if section.is_empty() && first != "data" {
            continue;
        }
        told.insert(first.to_string());
        let others = names.filter_map(|name| name.strip_prefix('.'));
        told.extend(others.map(|name| format!("{section}.{name}")));
    }
    assert_eq!(told, keys);
}

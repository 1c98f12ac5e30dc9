//! Modules of a Filebeat as inputs with parsers.

use super::*;

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
        ("iis", "error", "iis_error", "LogFiles/HTTPERR/*.log"),
        ("logstash", "log", "auto", "/logstash/logstash-plain*.log"),
        ("icinga", "main", "icinga", "/var/log/icinga2/icinga2.log*"),
        ("nats", "log", "nats", "/var/log/nats/nats.log*"),
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
fn modules_that_listen_have_ports_of_their_own_and_inputs_further_processors() {
    let text = "\
- module: cef
  log: {enabled: true, input.processors: [{add_tags: {tags: [fw]}}]}
- {module: squid, log: {var.syslog_port: 7}}
- {module: envoyproxy, log: {enabled: true}}
- {module: iptables, log: {var.input: file}}
";
    let imported = import_filebeat("f.yml", text).unwrap();
    let config: Value = serde_yaml_ng::from_str(&imported.config).unwrap();
    let inputs = &config["inputs"];
    assert_eq!(inputs[0]["listen"], "udp://127.0.0.1:9003");
    assert_eq!(inputs[0]["processors"][2]["append"]["value"][0], "fw");
    assert_eq!(inputs[1]["listen"], "udp://127.0.0.1:7");
    assert_eq!(inputs[2]["paths"][0], "/var/log/envoy.log*");
    assert_eq!(inputs[3]["paths"][0], "/var/log/iptables.log");
    let parsers = [0, 1, 2, 3].map(|number: usize| inputs[number]["parse"].as_str());
    let expected = ["cef", "squid", "envoy", "iptables"].map(Some);
    assert_eq!(parsers, expected);
}

#[test]
fn a_list_of_pipelines_is_none_of_modules() {
    let text = "- {pipeline.id: main, path.config: /etc/logstash/conf.d/a.conf}\n";
    let error = import_filebeat("pipelines.yml", text)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is imported by itself"), "{error}");
}

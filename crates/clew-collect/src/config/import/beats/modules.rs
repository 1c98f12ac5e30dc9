//! Filebeat's modules, of its configuration or of a file of its folder `modules.d`: those whose formats there are parsers for. What
//! a module has its server do in a pipeline, the parser does here.

use serde_json::{Map, Value, json};

use super::processors;
use crate::config::import::keys::Keys;
use crate::config::import::{Notes, Part, processor, texts};

/// A fileset that has a parser.
struct Fileset {
    module: &'static str,
    name: &'static str,
    /// Which lines belong together, it knows.
    parser: &'static str,
    /// Where its files are, on Linux unless it runs on Windows alone.
    paths: &'static [&'static str],
    /// The port of UDP that it listens at, unless it is said that files have its lines.
    port: Option<&'static str>,
}

const FILESETS: [Fileset; 29] = [
    Fileset {
        module: "nginx",
        name: "access",
        parser: "nginx_access",
        paths: &["/var/log/nginx/access.log*"],
        port: None,
    },
    Fileset {
        module: "nginx",
        name: "error",
        parser: "nginx_error",
        paths: &["/var/log/nginx/error.log*"],
        port: None,
    },
    Fileset {
        module: "apache",
        name: "access",
        parser: "apache_access",
        paths: &[
            "/var/log/apache2/access.log*",
            "/var/log/apache2/other_vhosts_access.log*",
            "/var/log/httpd/access_log*",
        ],
        port: None,
    },
    Fileset {
        module: "apache",
        name: "error",
        parser: "apache_error",
        paths: &["/var/log/apache2/error.log*", "/var/log/httpd/error_log*"],
        port: None,
    },
    Fileset {
        module: "postgresql",
        name: "log",
        parser: "postgresql",
        paths: &["/var/log/postgresql/postgresql-*-*.log*"],
        port: None,
    },
    Fileset {
        module: "postgresql",
        name: "csv",
        parser: "postgresql_csv",
        paths: &["/var/log/postgresql/postgresql-*-*.csv*"],
        port: None,
    },
    Fileset {
        module: "haproxy",
        name: "log",
        parser: "haproxy",
        paths: &["/var/log/haproxy.log"],
        port: Some("9001"),
    },
    Fileset {
        module: "iptables",
        name: "log",
        parser: "iptables",
        paths: &["/var/log/iptables.log"],
        port: Some("9001"),
    },
    Fileset {
        module: "auditd",
        name: "log",
        parser: "auditd",
        paths: &["/var/log/audit/audit.log*"],
        port: None,
    },
    Fileset {
        module: "iis",
        name: "access",
        parser: "iis_access",
        paths: &["C:/inetpub/logs/LogFiles/*/*.log"],
        port: None,
    },
    Fileset {
        module: "iis",
        name: "error",
        parser: "iis_error",
        paths: &["C:/Windows/System32/LogFiles/HTTPERR/*.log"],
        port: None,
    },
    Fileset {
        module: "mysql",
        name: "error",
        parser: "mysql_error",
        paths: &["/var/log/mysql/error.log*", "/var/log/mysqld.log*"],
        port: None,
    },
    Fileset {
        module: "mysql",
        name: "slowlog",
        parser: "mysql_slowlog",
        paths: &["/var/log/mysql/*-slow.log*", "/var/lib/mysql/*-slow.log"],
        port: None,
    },
    Fileset {
        module: "redis",
        name: "log",
        parser: "redis",
        paths: &["/var/log/redis/redis-server.log*"],
        port: None,
    },
    Fileset {
        module: "mongodb",
        name: "log",
        parser: "mongodb",
        paths: &[
            "/var/log/mongodb/mongodb.log*",
            "/var/log/mongodb/mongod.log*",
        ],
        port: None,
    },
    Fileset {
        module: "kafka",
        name: "log",
        parser: "kafka",
        paths: &[
            "/opt/kafka*/logs/controller.log*",
            "/opt/kafka*/logs/server.log*",
            "/opt/kafka*/logs/state-change.log*",
            "/opt/kafka*/logs/kafka-*.log*",
        ],
        port: None,
    },
    Fileset {
        module: "elasticsearch",
        name: "server",
        parser: "auto",
        paths: &["/var/log/elasticsearch/*_server.json"],
        port: None,
    },
    Fileset {
        module: "logstash",
        name: "log",
        parser: "auto",
        paths: &["/var/log/logstash/logstash-plain*.log"],
        port: None,
    },
    Fileset {
        module: "icinga",
        name: "main",
        parser: "icinga",
        paths: &["/var/log/icinga2/icinga2.log*"],
        port: None,
    },
    Fileset {
        module: "icinga",
        name: "debug",
        parser: "icinga",
        paths: &["/var/log/icinga2/debug.log*"],
        port: None,
    },
    Fileset {
        module: "icinga",
        name: "startup",
        parser: "icinga",
        paths: &["/var/lib/icinga2/startup.log"],
        port: None,
    },
    Fileset {
        module: "nats",
        name: "log",
        parser: "nats",
        paths: &["/var/log/nats/nats.log*"],
        port: None,
    },
    Fileset {
        module: "traefik",
        name: "access",
        parser: "auto",
        paths: &["/var/log/traefik/access.log*"],
        port: None,
    },
    Fileset {
        module: "rabbitmq",
        name: "log",
        parser: "rabbitmq",
        paths: &["/var/log/rabbitmq/rabbit@*.log*"],
        port: None,
    },
    Fileset {
        module: "system",
        name: "syslog",
        parser: "syslog",
        paths: &["/var/log/messages*", "/var/log/syslog*"],
        port: None,
    },
    Fileset {
        module: "system",
        name: "auth",
        parser: "auth",
        paths: &["/var/log/auth.log*", "/var/log/secure*"],
        port: None,
    },
    Fileset {
        module: "cef",
        name: "log",
        parser: "cef",
        paths: &[],
        port: Some("9003"),
    },
    Fileset {
        module: "squid",
        name: "log",
        parser: "squid",
        paths: &["/var/log/squid/access.log*"],
        port: Some("9537"),
    },
    Fileset {
        module: "envoyproxy",
        name: "log",
        parser: "envoy",
        paths: &["/var/log/envoy.log*"],
        port: None,
    },
];

/// Where Kafka is, if nothing else is said.
const KAFKA_HOME: &str = "/opt/kafka*";

/// Whether a tree is a file of modules: a list of mappings that name one.
pub(super) fn is_list(tree: &Value) -> bool {
    let items = tree.as_array().filter(|items| !items.is_empty());
    items.is_some_and(|items| items.iter().all(|item| item.get("module").is_some()))
}

/// The inputs of a list of modules.
pub(super) fn inputs(
    items: Vec<Value>,
    path: &[Part],
    inputs: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    for (number, item) in items.into_iter().enumerate() {
        let mut path = path.to_vec();
        path.push(Part::Item(number));
        match Keys::new(item, path.clone()) {
            Some(keys) => module(keys, inputs, notes),
            None => notes.tell(&path, "is no module"),
        }
    }
}

fn module(mut keys: Keys, inputs: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let name = keys.take_text("module").unwrap_or_default();
    let module = match name.as_str() {
        "apache2" => "apache",
        name => name,
    };
    if keys.take_flag("enabled") == Some(false) {
        notes.tell(&keys.path, "is not enabled, and left out");
        return;
    }
    let of_module = || FILESETS.iter().filter(|fileset| fileset.module == module);
    if of_module().next().is_none() {
        let reason = format!("there is no parser for the module [{name}]");
        notes.tell(&keys.path, reason);
        return;
    }
    let mut is_any_named = false;
    for fileset in of_module() {
        let Some(given) = keys.take_keys(fileset.name) else {
            continue;
        };
        is_any_named = true;
        inputs.extend(input(fileset, given, notes));
    }
    if !is_any_named {
        notes.tell(
            &keys.path,
            "names no fileset: all are read, as Filebeat 7 does",
        );
        for fileset in of_module() {
            inputs.extend(input(fileset, Keys::default(), notes));
        }
    }
    keys.tell_rest(notes);
}

fn input(fileset: &Fileset, mut keys: Keys, notes: &mut Notes<'_>) -> Option<Value> {
    if keys.take_flag("enabled") == Some(false) {
        return None;
    }
    // What others have in files is sent, unless it is said that files have it.
    let source = match fileset.port {
        Some(port) if keys.take_text("var.input").as_deref() != Some("file") => {
            sent(port, &mut keys)
        }
        _ => files(fileset, &mut keys),
    };
    // Times without a zone are in the machine's here.
    keys.take("var.convert_timezone");
    let Fileset { module, name, .. } = fileset;
    let dataset = format!("{module}.{name}");
    let added = [
        ("event.module", (*module).into()),
        ("event.dataset", dataset.into()),
    ];
    let mut processors: Vec<Value> = added
        .into_iter()
        .map(|(field, value)| processor("add", [("field", field.into()), ("value", value)]))
        .collect();
    if let Some(tags) = keys.take("var.tags") {
        let tags = texts(tags);
        processors.push(processor(
            "append",
            [("field", "tags".into()), ("value", tags.into())],
        ));
    }
    // What is done with its lines beside what the module does.
    let path = keys.path_of("input.processors");
    let given = keys.take("input.processors");
    processors::convert(given, &path, &mut processors, notes);
    keys.tell_rest(notes);
    // What PostgreSQL's files have, the module tells by their lines.
    let has_csv = |(_, value): &(&str, Value)| {
        let paths = texts(value.clone());
        paths.iter().any(|path| path.contains(".csv"))
    };
    let parser = match fileset.parser {
        "postgresql" if source.iter().any(has_csv) => "auto",
        parser => parser,
    };
    let rest: [(&str, Value); 2] = [("parse", parser.into()), ("processors", processors.into())];
    let members = source.into_iter().chain(rest);
    let members = members.map(|(name, value)| (name.to_owned(), value));
    let input: Map<String, Value> = members.collect();
    Some(Value::Object(input))
}

/// Where the lines of a fileset are that reads files.
fn files(fileset: &Fileset, keys: &mut Keys) -> Vec<(&'static str, Value)> {
    let mut paths = texts(keys.take("var.paths").unwrap_or_default());
    // Where Kafka is, all of whose logs are in one folder.
    let home = keys.take_text("var.kafka_home");
    if paths.is_empty() {
        let place = |path: &&str| match &home {
            Some(home) => path.replace(KAFKA_HOME, home),
            None => (*path).to_owned(),
        };
        paths = fileset.paths.iter().map(place).collect();
    }
    vec![
        ("type", "file".into()),
        ("paths", paths.into()),
        ("exclude", json!(["*.gz"])),
    ]
}

/// Where the lines of a fileset are sent to that listens.
fn sent(port: &str, keys: &mut Keys) -> Vec<(&'static str, Value)> {
    let host = keys.take_text("var.syslog_host").unwrap_or_default();
    let host = match host.as_str() {
        "" | "localhost" => "127.0.0.1".to_owned(),
        host if host.contains(':') && !host.starts_with('[') => format!("[{host}]"),
        host => host.to_owned(),
    };
    let own = keys.take_text("var.syslog_port");
    let port = own.as_deref().unwrap_or(port);
    vec![
        ("type", "syslog".into()),
        ("listen", format!("udp://{host}:{port}").into()),
    ]
}

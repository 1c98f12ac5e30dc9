//! Logstash's `grok`, and what its named patterns are with `ecs_compatibility`.

use serde_json::{Value, json};

use super::keys::Keys;
use super::logstash::{Told, path};
use super::logstash_filters::{dotted, pairs};
use super::texts;

/// The patterns of access logs and of syslog with the names of the Elastic Common Schema, for those that have them.
const IN_SCHEMA: [(&str, &str); 12] = [
    (
        "HTTPD_COMMONLOG",
        r#"%{IPORHOST:source.address} (?:-|%{HTTPDUSER:apache.access.user.identity}) (?:-|%{HTTPDUSER:user.name}) \[%{HTTPDATE:timestamp}\] "(?:%{WORD:http.request.method} %{NOTSPACE:url.original}(?: HTTP/%{NUMBER:http.version})?|%{DATA})" (?:-|%{INT:http.response.status_code:int}) (?:-|%{INT:http.response.body.bytes:int})"#,
    ),
    (
        "HTTPD_COMBINEDLOG",
        r#"%{HTTPD_COMMONLOG} "(?:-|%{DATA:http.request.referrer})" "(?:-|%{DATA:user_agent.original})""#,
    ),
    ("COMMONAPACHELOG", "%{HTTPD_COMMONLOG}"),
    ("COMBINEDAPACHELOG", "%{HTTPD_COMBINEDLOG}"),
    (
        "SYSLOGPROG",
        r"%{PROG:process.name}(?:\[%{POSINT:process.pid:int}\])?",
    ),
    (
        "SYSLOGFACILITY",
        "<%{NONNEGINT:log.syslog.facility.code:int}.%{NONNEGINT:log.syslog.priority:int}>",
    ),
    (
        "SYSLOGBASE",
        "%{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:host.hostname} %{SYSLOGPROG}:",
    ),
    (
        "SYSLOGBASE2",
        "(?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp}) (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:host.hostname}(?: %{SYSLOGPROG}:)?",
    ),
    ("SYSLOGLINE", "%{SYSLOGBASE2} %{GREEDYDATA:message}"),
    ("SYSLOG5424PRI", "<%{NONNEGINT:log.syslog.priority:int}>"),
    (
        "SYSLOG5424BASE",
        "%{SYSLOG5424PRI}%{NONNEGINT:system.syslog.version} +(?:-|%{TIMESTAMP_ISO8601:timestamp}) +(?:-|%{IPORHOST:host.hostname}) +(?:-|%{SYSLOG5424PRINTASCII:process.name}) +(?:-|%{POSINT:process.pid:int}) +(?:-|%{SYSLOG5424PRINTASCII:event.code}) +(?:-|%{SYSLOG5424SD:system.syslog.structured_data})",
    ),
    ("SYSLOG5424LINE", "%{SYSLOG5424BASE} +%{GREEDYDATA:message}"),
];

/// How the names of these patterns begin.
const RENAMED: [&str; 10] = [
    "HTTPD_COM",
    "COMMONAPACHELOG",
    "COMBINEDAPACHELOG",
    "SYSLOGPROG",
    "SYSLOGFACILITY",
    "SYSLOGBASE",
    "SYSLOGLINE",
    "SYSLOG5424PRI",
    "SYSLOG5424BASE",
    "SYSLOG5424LINE",
];

/// How the names of others begin whose names the schema changes.
const OTHERS: [&str; 21] = [
    "BACULA",
    "BIND9",
    "BRO_",
    "CATALINA",
    "CISCO",
    "CLOUDFRONT",
    "CRONLOG",
    "ELB_",
    "EXIM",
    "HAPROXY",
    "HTTPD_ERRORLOG",
    "MAVEN",
    "MONGO",
    "NAGIOS",
    "NETSCREEN",
    "RAILS",
    "REDIS",
    "S3_",
    "SQUID",
    "SYSLOGPAM",
    "TOMCAT",
];

/// The first named pattern whose name begins with one of these.
fn named<'p>(patterns: &'p [String], begins: &[&str]) -> Option<&'p str> {
    patterns.iter().find_map(|pattern| {
        pattern.split("%{").skip(1).find_map(|behind| {
            let name = behind.split(['}', ':']).next()?;
            let is_one = begins.iter().any(|begin| name.starts_with(begin));
            is_one.then_some(name)
        })
    })
}

/// Definitions with those that have the schema's names, where one of them is asked for; a step's own come first.
fn in_schema(patterns: &[String], definitions: Option<Value>) -> Option<Value> {
    if named(patterns, &RENAMED).is_none() {
        return definitions;
    }
    let mut all = pairs(definitions);
    for (name, definition) in IN_SCHEMA {
        if !all.contains_key(name) {
            all.insert(name.to_owned(), definition.into());
        }
    }
    Some(all.into())
}

/// Lets what is anything in patterns be several lines, as it is in Logstash: where no event has several, that is the same, and
/// slower.
pub(super) fn over_lines(steps: &mut [Value]) {
    for step in steps {
        let Some(patterns) = step.pointer_mut("/grok/patterns") else {
            continue;
        };
        for pattern in patterns.as_array_mut().into_iter().flatten() {
            if let Value::String(pattern) = pattern
                && !pattern.starts_with("(?m)")
                && has_anything(pattern)
            {
                pattern.insert_str(0, "(?m)");
            }
        }
    }
}

/// Whether there is a point in a pattern, or a named one that may have some.
fn has_anything(pattern: &str) -> bool {
    let mut pieces = pattern.split("%{");
    let has_point = |text: &str| text.contains('.');
    pieces.next().is_some_and(has_point)
        || pieces.any(|piece| {
            let (reference, behind) = piece.split_once('}').unwrap_or((piece, ""));
            let name = reference.split([':', '=']).next().unwrap_or_default();
            let may_have = ["DATA", "MESSAGE", "LINE", "LOG"];
            has_point(behind) || may_have.iter().any(|part| name.contains(part))
        })
}

/// Whether a capture of a pattern may be empty: one of `DATA`, a group of its own, or one inside a named pattern.
fn may_capture_nothing(pattern: &str) -> bool {
    pattern.contains("(?<")
        || pattern.split("%{").skip(1).any(|behind| {
            let reference = behind
                .split_once('}')
                .map_or(behind, |(reference, _)| reference);
            !reference.contains(':') || reference.contains("DATA")
        })
}

/// Adds the steps of a filter, one for each field.
pub(super) fn grok(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let mut definitions = keys.take("pattern_definitions");
    let takes_all = keys.take_flag("break_on_match") == Some(false);
    for key in ["overwrite", "named_captures_only", "timeout_millis"] {
        keys.take(key);
    }
    let keeps_empty = keys.take_flag("keep_empty_captures") == Some(true);
    let given = pairs(keys.take("match"));
    let all: Vec<String> = given.values().cloned().flat_map(texts).collect();
    let mode = keys.take_text("ecs_compatibility");
    match mode.as_deref() {
        Some("disabled") => {}
        Some(mode) => {
            definitions = in_schema(&all, definitions);
            if let Some(name) = named(&all, &OTHERS) {
                let reason = format!(
                    "[ecs_compatibility => {mode}]: [{name}] gives the names that it had before"
                );
                told.tell(line, place, reason);
            }
        }
        None => {
            let renamed = named(&all, &RENAMED).or_else(|| named(&all, &OTHERS));
            if let Some(name) = renamed {
                let reason = format!(
                    "[{name}] gives the names that it has without [ecs_compatibility], which is [v8] for a Logstash of the eighth generation"
                );
                told.tell(line, place, reason);
            }
        }
    }
    if takes_all {
        let reason =
            "[break_on_match => false]: an event that no pattern fits has no tag that says so";
        told.tell(line, place, reason);
    } else if given.len() > 1 {
        let reason = "the fields of [match] are all looked at, though one has fitted";
        told.tell(line, place, reason);
    }
    for (field, patterns) in given {
        let patterns: Vec<String> = texts(patterns)
            .iter()
            .map(|pattern| dotted(pattern))
            .collect();
        // Patterns of which each is to be tried are steps of their own.
        let lists = match takes_all {
            true => patterns.chunks(1),
            false => patterns.chunks(patterns.len().max(1)),
        };
        for patterns in lists {
            let mut parts = json!({"field": path(&field), "patterns": patterns});
            if let Some(definitions) = &definitions {
                parts["pattern_definitions"] = definitions.clone();
            }
            if !keeps_empty && patterns.iter().any(|pattern| may_capture_nothing(pattern)) {
                parts["keep_empty_captures"] = false.into();
            }
            if takes_all {
                parts["ignore_failure"] = true.into();
            }
            steps.push(json!({ "grok": parts }));
        }
    }
}

//! Logstash's named patterns with the names of the Elastic Common Schema, which it gives with `ecs_compatibility`: definitions of their own
//! where the schema's differ by more than names, and else the usual ones with other names.

mod defined;
mod zeek;

use std::borrow::Cow;
use std::collections::BTreeSet;

use clew_ingest::grok_patterns;
use serde_json::{Map, Value};

use defined::{IN_SCHEMA, WITHOUT_SCHEMA};

/// The patterns of access logs and of syslog.
static DEFINED: [(&str, &str); 12] = [
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

/// What the captures of the patterns whose names begin so are called in the schema, with their types; those that it has no name for have an
/// empty one.
static RENAMED: [(&str, &[(&str, &str)]); 8] = [
    (
        "EXIM_",
        &[
            ("exim_year", ""),
            ("exim_month", ""),
            ("exim_day", ""),
            ("exim_time", ""),
            ("remote_hostname", "source.address"),
            ("remote_heloname", "exim.log.remote_address"),
            ("remote_host", "source.ip"),
            ("remote_port", "source.port:int"),
            ("exim_interface", "destination.ip"),
            ("exim_interface_port", "destination.port:int"),
            ("protocol", "network.protocol"),
            ("exim_msg_size", "exim.log.message.size:int"),
            ("exim_header_id", "exim.log.header_id"),
            ("exim_subject", "exim.log.message.subject"),
        ],
    ),
    (
        "HAPROXY",
        &[
            ("haproxy_hour", ""),
            ("haproxy_minute", ""),
            ("haproxy_second", ""),
            ("haproxy_monthday", ""),
            ("haproxy_month", ""),
            ("haproxy_year", ""),
            ("haproxy_time", ""),
            ("haproxy_milliseconds", ""),
            ("syslog_timestamp", "timestamp"),
            ("timestamp8601", "timestamp"),
            ("syslog_server", "host.hostname"),
            ("client_ip", "source.address"),
            ("client_port", "source.port:int"),
            ("accept_date", "haproxy.request_date"),
            ("frontend_name", "haproxy.frontend_name"),
            ("backend_name", "haproxy.backend_name"),
            ("server_name", "haproxy.server_name"),
            ("time_request", "haproxy.http.request.time_wait_ms:int"),
            ("time_queue", "haproxy.total_waiting_time_ms:int"),
            (
                "time_backend_connect",
                "haproxy.connection_wait_time_ms:int",
            ),
            (
                "time_backend_response",
                "haproxy.http.request.time_wait_without_data_ms:int",
            ),
            ("time_duration", "haproxy.total_time_ms"),
            ("http_status_code", "http.response.status_code:int"),
            ("bytes_read", "source.bytes:int"),
            (
                "captured_request_cookie",
                "haproxy.http.request.captured_cookie",
            ),
            (
                "captured_response_cookie",
                "haproxy.http.response.captured_cookie",
            ),
            (
                "captured_request_headers",
                "haproxy.http.request.captured_headers",
            ),
            (
                "captured_response_headers",
                "haproxy.http.response.captured_headers",
            ),
            ("termination_state", "haproxy.termination_state"),
            ("actconn", "haproxy.connections.active:int"),
            ("feconn", "haproxy.connections.frontend:int"),
            ("beconn", "haproxy.connections.backend:int"),
            ("srvconn", "haproxy.connections.server:int"),
            ("retries", "haproxy.connections.retries:int"),
            ("srv_queue", "haproxy.server_queue:int"),
            ("backend_queue", "haproxy.backend_queue:int"),
            ("http_verb", "http.request.method"),
            ("http_proto", "url.scheme"),
            ("http_user", "url.username"),
            ("http_host", "url.domain"),
            ("http_request", "url.original"),
            ("http_version", "http.version"),
        ],
    ),
    (
        "MONGO3_LOG",
        &[
            ("severity", "log.level"),
            ("component", "mongodb.component"),
            ("context", "mongodb.context"),
        ],
    ),
    ("MONGO_LOG", &[("component", "mongodb.component")]),
    (
        "NAGIOS",
        &[
            ("nagios_epoch", "timestamp"),
            ("nagios_message", "message"),
            ("nagios_type", "nagios.log.type"),
            ("nagios_hostname", "host.hostname"),
            ("nagios_service", "service.name"),
            ("nagios_state", "service.state"),
            ("nagios_statetype", "nagios.log.state_type"),
            ("nagios_statelevel", "nagios.log.state_type"),
            ("nagios_statecode", "nagios.log.attempt:int"),
            ("nagios_attempt", "nagios.log.attempt:int"),
            ("nagios_notifyname", "user.name"),
            ("nagios_contact", "nagios.log.notification_command"),
            ("nagios_comment", "nagios.log.comment"),
            ("nagios_event_handler_name", "nagios.log.event_handler_name"),
            ("nagios_command", "nagios.log.command"),
            ("nagios_check_result", "nagios.log.check_result"),
            ("nagios_start_time", "nagios.log.start_time"),
            ("nagios_end_time", "nagios.log.end_time"),
            ("nagios_fixed", "nagios.log.fixed"),
            ("nagios_trigger_id", "nagios.log.trigger_id"),
            ("nagios_duration", "nagios.log.duration:int"),
            ("nagios_unknown1", "nagios.log.period_from:int"),
            ("nagios_unknown2", "nagios.log.period_to:int"),
            ("author", "user.name"),
            ("comment", "nagios.log.comment"),
        ],
    ),
    (
        "REDIS",
        &[
            ("pid", "process.pid:int"),
            ("database", "redis.database.id"),
            ("client", "client.ip"),
            ("port", "client.port:int"),
            ("command", "redis.command.name"),
            ("params", "redis.command.args"),
        ],
    ),
    (
        "RUBY_LOGGER",
        &[
            ("pid", "process.pid:int"),
            ("loglevel", "log.level"),
            ("progname", "process.name"),
        ],
    ),
    (
        "SQUID",
        &[
            ("duration", "squid.request.duration:int"),
            ("client_address", "source.ip"),
            ("cache_result", "event.action"),
            ("status_code", "http.response.status_code:int"),
            ("bytes", "http.response.bytes:int"),
            ("request_method", "http.request.method"),
            ("url", "url.original"),
            ("user", "user.name"),
            ("hierarchy_code", "squid.hierarchy_code"),
            ("server", "destination.address"),
            ("content_type", "http.response.mime_type"),
        ],
    ),
];

/// The names of the patterns that a text refers to.
pub(super) fn references(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("%{").skip(1);
    behind.filter_map(|behind| behind.split(['}', ':']).next())
}

/// Whether a pattern has other names in the schema, which [`add_definitions`] knows.
pub(super) fn is_known(name: &str) -> bool {
    defined(name, Names::OfSchema).is_some() || captures_of(name).is_some()
}

/// Whether there is a pattern with the schema, and none of the name without it.
pub(super) fn is_of_schema_only(name: &str) -> bool {
    let is_usual = grok_patterns().contains_key(name) || defined(name, Names::Before).is_some();
    !is_usual && defined(name, Names::OfSchema).is_some()
}

/// Which of the two names captures have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Those of the Elastic Common Schema.
    OfSchema,
    /// Those that a Logstash gave before it, and gives without it.
    Before,
}

/// The definition of a pattern that is not made of the usual one.
fn defined(name: &str, names: Names) -> Option<Cow<'static, str>> {
    fn find(table: &[(&'static str, &'static str)], name: &str) -> Option<Cow<'static, str>> {
        let found = table.iter().find(|(known, _)| *known == name);
        found.map(|(_, definition)| Cow::Borrowed(*definition))
    }
    match names {
        Names::Before => find(&WITHOUT_SCHEMA, name),
        Names::OfSchema => find(&DEFINED, name)
            .or_else(|| find(&IN_SCHEMA, name))
            .or_else(|| zeek::definition(name).map(Cow::Owned)),
    }
}

/// Adds definitions with such names of all that patterns and definitions refer to, themselves or by what they refer to, where the usual ones
/// are others. Those that are there come first.
pub(super) fn add_definitions(
    patterns: &[String],
    names: Names,
    definitions: &mut Map<String, Value>,
) {
    let usual = grok_patterns();
    let given = definitions.values().filter_map(Value::as_str);
    let texts = patterns.iter().map(String::as_str).chain(given);
    let mut open: Vec<String> = texts.flat_map(references).map(str::to_owned).collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if definitions.contains_key(&name) || !seen.insert(name.clone()) {
            continue;
        }
        let before = usual.get(name.as_str()).copied();
        let captures = captures_of(&name).filter(|_| names == Names::OfSchema);
        let definition = match (defined(&name, names), before, captures) {
            (Some(definition), ..) => definition.into_owned(),
            (None, Some(before), Some(captures)) => renamed(before, captures),
            (None, Some(before), None) => before.to_owned(),
            (None, None, _) => continue,
        };
        open.extend(references(&definition).map(str::to_owned));
        if before != Some(definition.as_str()) {
            definitions.insert(name, definition.into());
        }
    }
}

fn captures_of(name: &str) -> Option<&'static [(&'static str, &'static str)]> {
    let of_name = RENAMED.iter().find(|(begin, _)| name.starts_with(begin));
    of_name.map(|(_, captures)| *captures)
}

/// A definition whose captures have other names.
fn renamed(definition: &str, captures: &[(&str, &str)]) -> String {
    let mut pieces = definition.split("%{");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str("%{");
        let Some((reference, behind)) = piece.split_once('}') else {
            out.push_str(piece);
            continue;
        };
        let (pattern, capture) = reference.split_once(':').unwrap_or((reference, ""));
        match captures.iter().find(|(known, _)| *known == capture) {
            Some((_, "")) => out.push_str(pattern),
            Some((_, name)) => {
                out.push_str(pattern);
                out.push(':');
                out.push_str(name);
            }
            None => out.push_str(reference),
        }
        out.push('}');
        out.push_str(behind);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(pattern: &str) -> Map<String, Value> {
        let mut definitions = Map::new();
        add_definitions(&[pattern.to_owned()], Names::OfSchema, &mut definitions);
        definitions
    }

    #[test]
    fn captures_have_the_names_of_the_schema() {
        for (pattern, name, expected) in [
            ("REDISMONLOG", "REDISMONLOG", "%{IP:client.ip}"),
            (
                "SQUID3",
                "SQUID3",
                "%{WORD:event.action}/%{POSINT:http.response.status_code:int}",
            ),
            ("NAGIOSLOGLINE", "NAGIOSTIME", "%{NUMBER:timestamp}"),
            (
                "HAPROXYHTTP",
                "HAPROXYHTTPBASE",
                "%{IP:source.address}:%{INT:source.port:int}",
            ),
            ("HAPROXYHTTP", "HAPROXYTIME", "%{HOUR}"),
            ("HAPROXYTCP", "SYSLOGPROG", "%{PROG:process.name}"),
            ("RUBY_LOGGER", "RUBY_LOGGER", "%{RUBY_LOGLEVEL:log.level}"),
            ("EXIM_REMOTE_HOST", "EXIM_REMOTE_HOST", "%{IP:source.ip}"),
        ] {
            let definitions = added(&format!("x %{{{pattern}}} y"));
            let found = definitions.get(name).and_then(Value::as_str);
            assert!(
                found.is_some_and(|found| found.contains(expected)),
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn definitions_that_are_there_stay_and_say_what_else_is_needed() {
        assert!(added("%{WORD:a} %{GREEDYDATA:b}").is_empty());
        let mut definitions = Map::new();
        definitions.insert("MINE".to_owned(), "%{REDISLOG}".into());
        definitions.insert("SQUID3".to_owned(), "x".into());
        add_definitions(
            &["%{MINE} %{SQUID3}".to_owned()],
            Names::OfSchema,
            &mut definitions,
        );
        assert!(definitions.contains_key("REDISLOG"));
        assert_eq!(definitions["SQUID3"], "x");
    }
}

//! Fluent Bit's parsers, of lines and of several lines, and what is done by them.

use serde_json::{Value, json};

use super::syntax::{Kind, Section};
use crate::config::import::conditions::{only_if, parameters};
use crate::config::import::patterns::expression;
use crate::config::import::programs;
use crate::config::import::told::Told;

/// What is taken apart while what is in it takes its place, in no document.
const RAW: &str = "@metadata.raw";

/// Whether what is taken apart stays as it was, beside what was in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Kept,
    Gone,
}

/// The parsers that a configuration defines.
#[derive(Debug, Default)]
pub(super) struct Parsers(Vec<Section>);

/// Parsers of Fluent Bit's own `parsers.conf` that have a counterpart here.
const KNOWN: [(&str, &str); 5] = [
    ("docker", "docker"),
    ("cri", "cri"),
    ("syslog-rfc3164", "syslog"),
    ("syslog-rfc3164-local", "syslog"),
    ("syslog-rfc5424", "syslog"),
];

/// Parsers of Fluent Bit's own `parsers.conf` whose fields have names that configurations ask for: how each writes its times, if it says
/// so, and what its lines are.
const USUAL: [(&str, &str, &str); 6] = [
    ("apache", HTTP_TIME, ACCESS),
    ("apache2", HTTP_TIME, ACCESS),
    (
        "apache_error",
        "",
        r"^\[\S* (?<time>[^\]]*)\] \[(?<level>[^\]]*)\](?: \[pid (?<pid>[^\]]*)\])?(?: \[client (?<client>[^\]]*)\])? (?<message>.*)$",
    ),
    (
        "nginx",
        HTTP_TIME,
        r#"^(?<remote>\S*) (?<host>\S*) (?<user>\S*) \[(?<time>[^\]]*)\] "(?<method>\S+)(?: +(?<path>[^"]*?)(?: +\S*)?)?" (?<code>\S*) (?<size>\S*)(?: "(?<referer>[^"]*)" "(?<agent>[^"]*)")?"#,
    ),
    (
        "k8s-nginx-ingress",
        HTTP_TIME,
        r#"^(?<host>\S*) - (?<user>\S*) \[(?<time>[^\]]*)\] "(?<method>\S+)(?: +(?<path>[^"]*?)(?: +\S*)?)?" (?<code>\S*) (?<size>\S*) "(?<referer>[^"]*)" "(?<agent>[^"]*)" (?<request_length>\S*) (?<request_time>\S*) \[(?<proxy_upstream_name>\S*)\] (?:\[(?<proxy_alternative_upstream_name>\S*)\] )?(?<upstream_addr>\S*) (?<upstream_response_length>\S*) (?<upstream_response_time>\S*) (?<upstream_status>\S*) (?<reg_id>\S*)"#,
    ),
    (
        "mongodb",
        "%Y-%m-%dT%H:%M:%S.%L%z",
        r"^(?<time>\S*)\s+(?<severity>\w)\s+(?<component>\S+)\s+\[(?<context>[^\]]+)\]\s+(?<message>.*?) *(?<ms>\d+)?(?:ms)?$",
    ),
];
const HTTP_TIME: &str = "%d/%b/%Y:%H:%M:%S %z";
const ACCESS: &str = r#"^(?<host>\S*) \S* (?<user>\S*) \[(?<time>[^\]]*)\] "(?<method>\S+)(?: +(?<path>[^"]*?)(?: +\S*)?)?" (?<code>\S*) (?<size>\S*)(?: "(?<referer>[^"]*)" "(?<agent>[^"]*)")?"#;

/// The name of a key here, `$a['b']` as `a.b`; a line's is `message`.
pub(super) fn path(key: &str) -> String {
    let key = key.trim().trim_start_matches('$');
    let path = key
        .replace("']['", ".")
        .replace("['", ".")
        .replace("']", "");
    match path.as_str() {
        "log" => "message".to_owned(),
        _ => path,
    }
}

impl Parsers {
    pub(super) fn add(&mut self, section: Section) {
        self.0.push(section);
    }

    fn find(&self, kind: Kind, name: &str) -> Option<Section> {
        let mut all = self.0.iter();
        all.find(|one| one.kind == kind && one.name == name)
            .cloned()
    }

    /// The regular expression of a parser that is defined here.
    pub(super) fn expression_of(&self, name: &str) -> Option<String> {
        let mut section = self.find(Kind::Parser, name)?;
        section.take("regex").map(|pattern| ruby(&pattern))
    }

    /// Adds the steps by which the first parser that can takes a field apart, which stays where none can.
    pub(super) fn parse(
        &self,
        field: &str,
        (names, raw): (&[String], Raw),
        steps: &mut Vec<Value>,
        (line, place, told): (usize, &str, &mut Told),
    ) {
        let mut known = Vec::new();
        for name in names {
            let mut rest = Vec::new();
            let own = match self.find(Kind::Parser, name) {
                Some(section) => defined(section, &mut rest, told),
                None => usual(name, &mut rest),
            };
            match own {
                Some(own) => known.push((own, rest)),
                None => {
                    let reason = format!("[{name}] is a parser that is not defined here");
                    told.tell(line, place, reason);
                    continue;
                }
            }
            if name.starts_with("syslog-") && self.find(Kind::Parser, name).is_none() {
                let reason = format!("[{name}]: the fields are those of the parser [syslog]");
                told.tell(line, place, reason);
            }
        }
        if known.is_empty() {
            return;
        }
        steps
            .push(json!({"rename": {"field": field, "target_field": RAW, "ignore_missing": true}}));
        in_turn(field, known, steps);
        if raw == Raw::Kept {
            let is_free = json!({"and": [{"has_fields": [RAW]}, {"not": {"has_fields": [field]}}]});
            steps.push(json!({"rename": {"field": RAW, "target_field": field, "if": is_free}}));
        }
        steps.push(json!({"remove": {"field": RAW, "ignore_missing": true}}));
    }

    /// Says how the lines of an input are joined.
    pub(super) fn join(
        &self,
        name: &str,
        input: &mut Value,
        (line, place, told): (usize, &str, &mut Told),
    ) {
        match name {
            "docker" | "cri" => {
                // Either may be named, and then both are known.
                input["wrapping"] = match input.get("wrapping") {
                    Some(_) => "container".into(),
                    None => name.into(),
                };
            }
            "java" | "python" | "go" | "ruby" => input["multiline"] = json!({"preset": name}),
            name => match self.find(Kind::MultilineParser, name) {
                Some(section) => multiline(section, input, told),
                None => {
                    let reason = format!("[{name}] is a parser that is not defined here");
                    told.tell(line, place, reason);
                }
            },
        }
    }
}

/// Says how many parsers could not take a field apart, in no document.
const UNREAD: &str = "@metadata.unread";

/// Adds the steps of parsers, of which each but the first is asked where those before it have failed; where all have, the field is
/// as it was.
fn in_turn(field: &str, known: Vec<(Value, Vec<Value>)>, steps: &mut Vec<Value>) {
    let back = |condition: Option<Value>| {
        let mut step = json!({"rename": {"field": RAW, "target_field": field}});
        if let Some(condition) = condition {
            only_if(&mut step, condition);
        }
        step
    };
    let have_failed = |count: usize| json!({"equals": {UNREAD: count}});
    let count = known.len();
    if count > 1 {
        steps.push(json!({"add": {"field": UNREAD, "value": 0}}));
    }
    for (number, (mut own, mut rest)) in known.into_iter().enumerate() {
        if let Some(own) = parameters(&mut own) {
            let on_failure = match count {
                1 => back(None),
                _ => json!({"add": {"field": UNREAD, "value": number + 1}}),
            };
            own.insert("field".to_owned(), RAW.into());
            own.insert("if".to_owned(), json!({"has_fields": [RAW]}));
            own.insert("on_failure".to_owned(), json!([on_failure]));
        }
        for step in std::iter::once(&mut own)
            .chain(&mut rest)
            .filter(|_| count > 1)
        {
            only_if(step, have_failed(number));
        }
        steps.push(own);
        steps.append(&mut rest);
    }
    if count > 1 {
        steps.push(back(Some(have_failed(count))));
    }
}

/// A parser that is known without being defined, and the steps that come behind it.
fn usual(name: &str, rest: &mut Vec<Value>) -> Option<Value> {
    if let Some((_, format, pattern)) = USUAL.iter().find(|(known, ..)| *known == name) {
        if !format.is_empty() {
            rest.push(time_of("time", &[(*format).to_owned()], None));
            rest.push(json!({"remove": {"field": "time", "ignore_missing": true}}));
        }
        return Some(json!({"regex": {"pattern": pattern}}));
    }
    let format = KNOWN.iter().find(|(known, _)| *known == name);
    match (format, name) {
        (Some((_, format)), _) => Some(json!({"parse": {"format": format}})),
        (None, "json") => Some(json!({"json": {"add_to_root": true}})),
        (None, "logfmt") => Some(json!({"logfmt": {}})),
        (None, _) => None,
    }
}

/// A regular expression of Ruby's, which may stand between slashes with its flags behind them, in our words.
pub(super) fn ruby(written: &str) -> String {
    let inside = written
        .strip_prefix('/')
        .and_then(|rest| rest.rsplit_once('/'));
    let is_flag = |letter: char| "imxo".contains(letter);
    match inside.filter(|(_, flags)| flags.chars().all(is_flag)) {
        None => expression(written),
        Some((inside, flags)) => {
            // Without `m` a point is no end of a line there, either; `o` says nothing of what matches.
            let flags = flags.replace('o', "").replace('m', "s");
            match flags.is_empty() {
                true => expression(inside),
                false => format!("(?{flags}){}", expression(inside)),
            }
        }
    }
}

/// Whether a format of times says the day.
fn has_day(format: &str) -> bool {
    const DAYS: [&str; 9] = ["%d", "%e", "%j", "%s", "%D", "%F", "%c", "%x", "%-d"];
    DAYS.iter().any(|day| format.contains(*day))
}

/// The step of a parser, and those that come behind it.
fn defined(mut section: Section, rest: &mut Vec<Value>, told: &mut Told) -> Option<Value> {
    let (line, place) = (section.line, section.place());
    let own = match section
        .take("format")
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "json" => json!({"json": {"add_to_root": true}}),
        "logfmt" => json!({"logfmt": {}}),
        "ltsv" => json!({"kv": {"field_split": "\t", "value_split": ":"}}),
        "regex" => {
            let pattern = section.take("regex").unwrap_or_default();
            json!({"regex": {"pattern": ruby(&pattern)}})
        }
        other => {
            told.tell(line, &place, format!("[format {other}] has no counterpart"));
            return None;
        }
    };
    time(&mut section, rest, told);
    types(&mut section, rest);
    for key in [
        "time_keep",
        "time_strict",
        "time_system_timezone",
        "skip_empty_values",
    ] {
        section.take(key);
    }
    for (key, _) in section.take_rest() {
        told.tell(line, &place, format!("[{key}] has no counterpart"));
    }
    Some(own)
}

/// Adds the steps by which a parser reads the time.
fn time(section: &mut Section, rest: &mut Vec<Value>, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    let key = section
        .take("time_key")
        .unwrap_or_else(|| "time".to_owned());
    let format = section.take("time_format");
    if let Some(format) = format.as_ref().filter(|format| !has_day(format)) {
        let reason = format!("[time_format], [{format}], says no day: events keep their times");
        told.tell(line, &place, reason);
    } else if let Some(format) = format {
        // What stands behind the time is passed over there: docker's `Z`, above all.
        let ends = ["%L", "%S", "%T"].iter().any(|end| format.ends_with(*end));
        let with_zone = ends.then(|| format!("{format}%z"));
        let formats: Vec<String> = std::iter::once(format).chain(with_zone).collect();
        let offset = section.take("time_offset");
        rest.push(time_of(&key, &formats, offset.as_deref()));
        if section.take_flag("time_keep") != Some(true) {
            rest.push(json!({"remove": {"field": key, "ignore_missing": true}}));
        }
    }
}

/// The step that reads the time of a field.
fn time_of(key: &str, formats: &[String], offset: Option<&str>) -> Value {
    let mut date = json!({
        "field": key, "formats": formats, "if": {"has_fields": [key]}, "ignore_failure": true,
    });
    if let Some(zone) = offset {
        // `+0200` has a colon in it here.
        let (hours, minutes) = zone.split_at_checked(3).unwrap_or((zone, "00"));
        date["timezone"] = format!("{hours}:{minutes}").into();
    }
    json!({ "date": date })
}

/// Adds the steps by which a parser's values become what they spell.
fn types(section: &mut Section, rest: &mut Vec<Value>) {
    for kind in section.take("types").unwrap_or_default().split_whitespace() {
        let Some((field, kind)) = kind.split_once(':') else {
            continue;
        };
        let kind = match kind {
            "integer" => "long",
            "float" => "double",
            "bool" => "boolean",
            "hex" => {
                rest.push(programs::of_hexadecimal(field));
                continue;
            }
            _ => continue,
        };
        rest.push(json!({"convert": {
            "field": field, "type": kind, "ignore_missing": true, "ignore_failure": true,
        }}));
    }
}

/// A parser of several lines: what goes on with the event before it, or, where an expression of that has no counterpart, what
/// begins one.
fn multiline(mut section: Section, input: &mut Value, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    let rules = section.take_all("rule");
    let rules = rules.iter().filter_map(|rule| {
        let mut parts = rule.split('"').skip(1).step_by(2);
        let (state, regex) = (parts.next()?, parts.next()?);
        Some((state == "start_state", ruby(regex)))
    });
    let (starts, more): (Vec<_>, Vec<_>) = rules.partition(|(starts, _)| *starts);
    let Some((_, start)) = starts.first() else {
        told.tell(line, &place, "has no rule of [start_state]");
        return;
    };
    let more: Vec<&str> = more.iter().map(|(_, regex)| regex.as_str()).collect();
    let goes_on = match more[..] {
        [one] => one.to_owned(),
        _ => format!("(?:{})", more.join(")|(?:")),
    };
    if more.len() > 1 {
        let reason = "states are not told apart: what any rule but the first takes goes on with the event before it";
        told.tell(line, &place, reason);
    }
    input["multiline"] = match more.is_empty() || regex::Regex::new(&goes_on).is_err() {
        true => json!({"start": start}),
        false => json!({"continue": goes_on}),
    };
    let timeout = section.take("flush_timeout");
    if let Some(timeout) = timeout.and_then(|timeout| timeout.parse::<u64>().ok()) {
        input["multiline"]["timeout_ms"] = timeout.into();
    }
}

//! Fluent Bit's parsers, of lines and of several lines, and what is done by them.

use serde_json::{Value, json};

use super::syntax::{Kind, Section};
use crate::config::import::patterns::expression;
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
const KNOWN: [(&str, &str); 9] = [
    ("apache", "apache_access"),
    ("apache2", "apache_access"),
    ("apache_error", "apache_error"),
    ("nginx", "nginx_access"),
    ("docker", "docker"),
    ("cri", "cri"),
    ("syslog-rfc3164", "syslog"),
    ("syslog-rfc3164-local", "syslog"),
    ("syslog-rfc5424", "syslog"),
];

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

    /// Adds the steps by which a parser takes a field apart, which stays if it is not of its format.
    pub(super) fn parse(
        &self,
        field: &str,
        (name, raw): (&str, Raw),
        steps: &mut Vec<Value>,
        (line, place, told): (usize, &str, &mut Told),
    ) {
        let section = self.find(Kind::Parser, name);
        let mut rest = Vec::new();
        let own = match section {
            Some(section) => defined(section, &mut rest, told),
            None => usual(name),
        };
        let Some(mut own) = own else {
            let reason = format!("[{name}] is a parser that is not defined here");
            told.tell(line, place, reason);
            return;
        };
        if let Some(parameters) = own
            .as_object_mut()
            .and_then(|step| step.values_mut().next())
        {
            parameters["field"] = RAW.into();
            parameters["if"] = json!({"has_fields": [RAW]});
            parameters["on_failure"] = json!([{"rename": {"field": RAW, "target_field": field}}]);
        }
        steps
            .push(json!({"rename": {"field": field, "target_field": RAW, "ignore_missing": true}}));
        steps.push(own);
        steps.append(&mut rest);
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

/// A parser that is known without being defined.
fn usual(name: &str) -> Option<Value> {
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
    types(&mut section, rest, told);
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
        let mut date = json!({
            "field": key, "formats": formats, "if": {"has_fields": [key]}, "ignore_failure": true,
        });
        if let Some(zone) = section.take("time_offset") {
            // `+0200` has a colon in it here.
            let (hours, minutes) = zone.split_at_checked(3).unwrap_or((zone.as_str(), "00"));
            date["timezone"] = format!("{hours}:{minutes}").into();
        }
        rest.push(json!({ "date": date }));
        if section.take_flag("time_keep") != Some(true) {
            rest.push(json!({"remove": {"field": key, "ignore_missing": true}}));
        }
    }
}

/// Adds the steps by which a parser's values become what they spell.
fn types(section: &mut Section, rest: &mut Vec<Value>, told: &mut Told) {
    let (line, place) = (section.line, section.place());
    for kind in section.take("types").unwrap_or_default().split_whitespace() {
        let Some((field, kind)) = kind.split_once(':') else {
            continue;
        };
        let kind = match kind {
            "integer" => "long",
            "float" => "double",
            "bool" => "boolean",
            "hex" => {
                let reason = format!("[types] [{field}:hex] has no counterpart: it stays a text");
                told.tell(line, &place, reason);
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

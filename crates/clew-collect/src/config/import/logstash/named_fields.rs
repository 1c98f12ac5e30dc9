//! Texts of a Logstash in which fields and dates are named.

use serde_json::{Value, json};

use super::path;
use crate::config::import::named_by_fields;
use crate::config::import::told::Told;

/// Adds the steps that give a field a value, in which others and dates may be named; the last of them sets it.
pub(super) fn set(
    name: &str,
    value: Value,
    steps: &mut Vec<Value>,
    place: (usize, &str, &mut Told),
) {
    let (line, key, told) = place;
    // A name may be told by other fields, too.
    let field = match name.contains("%{") {
        true => template(name, steps, (line, key, &mut *told)),
        false => path(name),
    };
    let step = match value {
        Value::String(text) if text.contains("%{") => {
            let value = template(&text, steps, (line, key, told));
            json!({"set": {"field": field, "value": value, "keep_references": true}})
        }
        value if field.contains("{{") => json!({"set": {"field": field, "value": value}}),
        value => json!({"add": {"field": field, "value": value}}),
    };
    steps.push(step);
}

/// `host`: for a Logstash without the schema it is the name of the machine, which is inside of it here, unless something else is called so.
const HOST: &str = "{{host.name}}{{^host.name}}{{host}}{{/host.name}}";

/// The same in texts that say where something is missing.
const HOST_IF_THERE: &str =
    "{{#host.name}}{{host.name}}{{/host.name}}{{^host.name}}{{host}}{{/host.name}}";

/// What Beats say of themselves beside an event in their own protocol, and in the event where they send it over HTTP.
const OF_BEATS: [(&str, &str); 2] = [
    ("@metadata.beat", "agent.type"),
    ("@metadata.version", "agent.version"),
];

/// A name of an index, a topic or a document; nothing where a field in it does not end.
pub(super) fn by_fields(written: &str) -> Option<String> {
    let mut template = named_by_fields(written)?.replace("{{host}}", HOST);
    for (beside, within) in OF_BEATS {
        let named = format!("{{{{{beside}}}}}");
        let either = format!("{named}{{{{^{beside}}}}}{{{{{within}}}}}{{{{/{beside}}}}}");
        template = template.replace(&named, &either);
    }
    Some(template)
}

/// `%{[a][b]}` as `{{a.b}}`, and dates, `%{+YYYY.MM.dd}` and `%{{yyyy.MM.dd}}`, as fields that steps in front of it write them
/// to; what cannot be written so is told, and stays. Steps with such texts have to keep references that say nothing.
pub(super) fn template(
    text: &str,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("%{") {
        let (format, name, after) = match behind.strip_prefix('{') {
            Some(behind) => match behind.split_once("}}") {
                Some((written, after)) => (of_java(written), written, after),
                None => break,
            },
            None => match behind.split_once('}') {
                Some((name, after)) => (
                    name.strip_prefix('+').map_or(Date::None, of_joda),
                    name,
                    after,
                ),
                None => break,
            },
        };
        out.push_str(before);
        match format {
            Date::None => match path(name).as_str() {
                "host" => out.push_str(HOST_IF_THERE),
                field => out.push_str(&format!("{{{{{field}}}}}")),
            },
            Date::Written(format) => {
                // Several texts may be asked for together: each date has a field of its own.
                let field = format!("@metadata.date{}", steps.len());
                out.push_str(&format!("{{{{{field}}}}}"));
                steps.push(json!({"date": {
                    "field": "@timestamp", "formats": ["ISO8601"], "timezone": "UTC",
                    "target_field": field, "output_format": format,
                }}));
            }
            Date::Unknown => {
                let written = &rest[before.len()..rest.len() - after.len()];
                let reason = format!("[{text}] has a date in it, which stays as it is written");
                told.tell(line, place, reason);
                out.push_str(written);
            }
        }
        rest = after;
    }
    out + rest
}

/// What braces have in them.
enum Date {
    /// A field.
    None,
    /// The format of a date, in Java's words.
    Written(String),
    /// A date that has no such format.
    Unknown,
}

/// The format of a date in Joda's words, but for weeks' years, centuries, days of the week as numbers, and seconds (`%s`).
fn of_joda(written: &str) -> Date {
    match written.contains(['x', 'C', 'e', '%']) {
        true => Date::Unknown,
        false => Date::Written(written.replace('Y', "y")),
    }
}

/// The format of a date in Java's words.
fn of_java(written: &str) -> Date {
    match written {
        // The time of the clock, and no event's.
        "TIME_NOW" => Date::Unknown,
        written => Date::Written(written.to_owned()),
    }
}

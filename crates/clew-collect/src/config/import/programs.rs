//! What others have a processor for and only a program does here: steps of `vrl`.

use serde_json::{Map, Value, json};

use super::conditions::{none_of, only_if};
use super::keys::Keys;
use super::{processor, texts};

/// A text as the language writes it, which is as JSON does.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A field, `a.b`, as the language names it.
pub(super) fn named(field: &str) -> String {
    let parts = field.split('.').map(|part| format!(".{}", quoted(part)));
    parts.collect()
}

/// A step that runs a program, and leaves an event that it cannot take as it is.
pub(super) fn step(program: &str) -> Value {
    json!({"vrl": {"source": program, "ignore_failure": true}})
}

/// A part of the events, of 1; what rounds to none is the least there is.
pub(super) fn sampled(part: f64) -> Value {
    let percentage = ((part * 1e6).round() / 1e4).clamp(0.0001, 100.0);
    json!({"sample": {"percentage": percentage}})
}

/// How far the machine's clock is from UTC, `+02:00`, as a field.
pub(super) fn offset_from_utc(target: &str) -> Value {
    let target = named(target);
    step(&format!(
        "{target} = format_timestamp!(now(), \"%:z\", timezone: \"local\")"
    ))
}

/// Whether an event is from longer ago than so many seconds.
pub(super) fn is_older(seconds: u64) -> String {
    let time = named("@timestamp");
    format!("to_unix_timestamp(now()) - to_unix_timestamp(timestamp!({time})) > {seconds}")
}

/// Whether a text has more bytes.
pub(super) fn is_longer(field: &str, bytes: u64) -> String {
    format!("length(string!({})) > {bytes}", named(field))
}

/// Keeps of an object's members those of these names.
pub(super) fn kept_members(field: &str, names: &[String]) -> Value {
    let (object, names) = (named(field), Value::from(names));
    let mut step = step(&format!(
        "{object} = filter(object!({object})) -> |key, _value| {{ includes({names}, key) }}"
    ));
    only_if(&mut step, json!({"has_fields": [field]}));
    step
}

/// Filebeat's `registered_domain`: what was registered of a name, and what is before and behind it.
pub(super) fn registered(keys: &mut Keys, out: &mut Vec<Value>) {
    let field = keys.take_text("field").unwrap_or_default();
    for key in ["ignore_missing", "ignore_failure"] {
        keys.take(key);
    }
    let from = named(&field);
    let mut program = format!(
        "name = string!({from})\nparts = parse_etld!(name, plus_parts: 1)\n\
         whole = parts.etld_plus\nif whole != parts.etld {{\n"
    );
    for (key, value) in [
        ("target_field", "whole"),
        ("target_etld_field", "parts.etld"),
    ] {
        if let Some(target) = keys.take_text(key) {
            program.push_str(&format!("{} = {value}\n", named(&target)));
        }
    }
    if let Some(target) = keys.take_text("target_subdomain_field") {
        let target = named(&target);
        program.push_str(&format!(
            "if name != whole {{ {target} = replace(name, \".\" + whole, \"\") }}\n"
        ));
    }
    // What nobody could register, `localhost` and `co.uk`, has no such name.
    program.push_str("}\n");
    let mut step = step(&program);
    only_if(&mut step, json!({"has_fields": [field]}));
    out.push(step);
}

/// Cells as fields `column1`, `column2`, ..., as a Logstash calls those that have no name.
pub(super) fn numbered_columns(from: &str, target: Option<&str>, separator: &str) -> Value {
    let around = target.into_iter().flat_map(|target| target.split('.'));
    let around: String = around.map(|name| format!("{}, ", quoted(name))).collect();
    let mut step = json!({"vrl": {"source": format!(
        "for_each(parse_csv!(string!({}), delimiter: {})) -> |index, cell| {{ \
         . = set!(., path: [{around}\"column\" + to_string(index + 1)], data: cell) }}",
        named(from),
        quoted(separator)
    )}});
    only_if(&mut step, json!({"has_fields": [from]}));
    step
}

/// Filebeat's `decode_csv_fields`: texts with separators as lists.
pub(super) fn decoded_csv(keys: &mut Keys, out: &mut Vec<Value>) {
    let separator = keys
        .take_text("separator")
        .unwrap_or_else(|| ",".to_owned());
    // What is not there is not looked at.
    keys.take("ignore_missing");
    let overwrites = keys.take_flag("overwrite_keys") == Some(true);
    let trims = keys.take_flag("trim_leading_space") == Some(true);
    let Some(Value::Object(fields)) = keys.take("fields") else {
        return;
    };
    for (from, to) in fields {
        let to = texts(to).pop().unwrap_or_else(|| from.clone());
        let cells = format!(
            "parse_csv!(string!({}), delimiter: {})",
            named(&from),
            quoted(&separator)
        );
        let absent = none_of([to.as_str()]);
        let is_in_place = to == from;
        let to = named(&to);
        let program = match trims {
            true => format!(
                "{to} = map_values({cells}) -> |cell| {{ replace(string!(cell), r'^\\s+', \"\") }}"
            ),
            false => format!("{to} = {cells}"),
        };
        let mut step = step(&program);
        if !overwrites && !is_in_place {
            only_if(&mut step, absent);
        }
        only_if(&mut step, json!({"has_fields": [from]}));
        out.push(step);
    }
}

/// A text of JSON as another field, in which members that are texts of JSON, too, have been read, so many levels of them: objects,
/// and with `lists` lists. What is no object stays a text.
pub(super) fn deeper_json((field, to): (&str, &str), levels: u64, lists: bool) -> Value {
    let (from, to) = (named(field), named(to));
    let read = (1..=levels).rev().fold(String::new(), |inner, level| {
        let object = match inner.as_str() {
            "" => format!("read{level}"),
            inner => {
                let member = level + 1;
                format!("map_values(object!(read{level})) -> |text{member}| {{ {inner} }}")
            }
        };
        let list = match lists {
            true => format!(" else if is_array(read{level}) {{ read{level} }}"),
            false => String::new(),
        };
        format!(
            "read{level} = parse_json(string(text{level}) ?? \"\") ?? null\n\
             if is_object(read{level}) {{ {object} }}{list} else {{ text{level} }}"
        )
    });
    let mut step = step(&format!(
        "{to} = {from}\nwhole = parse_json(string({from}) ?? \"\") ?? null\n\
         if is_object(whole) {{ {to} = encode_json(map_values(object!(whole)) -> |text1| {{ {read} }}) }}"
    ));
    only_if(&mut step, json!({"has_fields": [field]}));
    step
}

/// Filebeat's `extract_array`: items of a list as fields, as many as there are where the event goes on though one is missing.
pub(super) fn extracted((keys, goes_on): (&mut Keys, bool), out: &mut Vec<Value>) {
    let field = keys.take_text("field").unwrap_or_default();
    keys.take("ignore_missing");
    let omits = keys.take_flag("omit_empty") == Some(true);
    let overwrites = keys.take_flag("overwrite_keys") == Some(true);
    // Names with dots are the same as objects inside each other.
    let mut mappings = Vec::new();
    if let Some(Value::Object(given)) = keys.take("mappings") {
        flatten("", given, &mut mappings);
    }
    let absent = none_of(mappings.iter().map(|(target, _)| target.as_str()));
    let mut program = format!("list = array!({})\n", named(&field));
    let last = mappings.iter().map(|(_, index)| *index).max();
    // Where one is missing it has none of them.
    let all = last.filter(|_| !goes_on);
    if let Some(last) = all {
        program.push_str(&format!("if length(list) > {last} {{\n"));
    }
    for (target, index) in mappings {
        let target = named(&target);
        let is_there = match omits {
            true => format!(" && !includes([null, \"\", [], {{}}], list[{index}])"),
            false => String::new(),
        };
        program.push_str(&format!(
            "if length(list) > {index}{is_there} {{ {target} = list[{index}] }}\n"
        ));
    }
    if all.is_some() {
        program.push('}');
    }
    let mut step = step(&program);
    if !overwrites {
        only_if(&mut step, absent);
    }
    only_if(&mut step, json!({"has_fields": [field]}));
    out.push(step);
}

/// The numbers in objects, each with its whole name.
fn flatten(prefix: &str, given: Map<String, Value>, out: &mut Vec<(String, u64)>) {
    for (name, value) in given {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) => flatten(&format!("{name}."), inner, out),
            value => out.extend(value.as_u64().map(|index| (name, index))),
        }
    }
}

/// Filebeat's `append`.
pub(super) fn appended(keys: &mut Keys, out: &mut Vec<Value>) {
    let target = keys.take_text("target_field").unwrap_or_default();
    let again = keys.take_flag("allow_duplicate").unwrap_or(true);
    keys.take("ignore_empty_values");
    keys.take("ignore_missing");
    let append = |value: Value| {
        let parts = [
            ("field", target.as_str().into()),
            ("value", value),
            ("allow_duplicates", again.into()),
        ];
        processor("append", parts)
    };
    for field in texts(keys.take("fields").unwrap_or_default()) {
        let mut step = append(format!("{{{{{field}}}}}").into());
        only_if(&mut step, json!({"has_fields": [field]}));
        out.push(step);
    }
    let values = texts(keys.take("values").unwrap_or_default());
    if !values.is_empty() {
        out.push(append(values.into()));
    }
}

/// Logstash's `uuid`.
pub(super) fn uuid(target: &str, overwrites: bool) -> Value {
    let mut step = step(&format!("{} = uuid_v4()", named(target)));
    if !overwrites {
        only_if(&mut step, json!({"not": {"has_fields": [target]}}));
    }
    step
}

/// What a function of the language makes of a text.
pub(super) fn called(function: &str, from: &str, to: &str) -> Value {
    let mut step = step(&format!(
        "{} = {function}!(string!({}))",
        named(to),
        named(from)
    ));
    only_if(&mut step, json!({"has_fields": [from]}));
    step
}

/// The bytes of a size that is written with its unit, `1.5 kB`; what is none fails.
pub(super) fn size(from: &str, to: &str, base: u32) -> Value {
    let (from, to) = (named(from), named(to));
    let read = format!("parse_bytes!(string!({from}), unit: \"B\", base: \"{base}\")");
    json!({"vrl": {"source": format!("{to} = to_int({read})")}})
}

/// A value for a field that is there and has none, of Logstash's `mutate { coerce }`.
pub(super) fn coerced(field: &str, value: &Value) -> Value {
    let field = named(field);
    step(&format!(
        "if exists({field}) && {field} == null {{ {field} = {value} }}"
    ))
}

/// A text as another field, with what a dictionary says of each of its keys in it, as Logstash's `translate` has it where parts of
/// values are looked up; `found` is 1 where there was one.
pub(super) fn translated_parts(
    (from, to): (&str, &str),
    dictionary: &Map<String, Value>,
    found: &str,
) -> Value {
    // A quote would end the expression.
    let keys = dictionary
        .keys()
        .map(|key| regex::escape(key).replace('\'', "\\x27"));
    let any = keys.collect::<Vec<String>>().join("|");
    let mut step = step(&format!(
        "before = to_string!({})\ndictionary = {}\n\
         after = replace_with(before, r'{any}') -> |part| {{ string!(get!(dictionary, [part.string])) }}\n\
         if after != before {{\n{} = after\n{} = 1\n}}",
        named(from),
        Value::from(dictionary.clone()),
        named(to),
        named(found)
    ));
    only_if(&mut step, json!({"has_fields": [from]}));
    step
}

/// A value as the text of JSON that it is, as another field.
pub(super) fn encoded_json(from: &str, to: &str) -> Value {
    let mut step = step(&format!("{} = encode_json({})", named(to), named(from)));
    only_if(&mut step, json!({"has_fields": [from]}));
    step
}

/// The number that hexadecimal digits are, which `0x` may stand in front of.
pub(super) fn of_hexadecimal(field: &str) -> Value {
    let value = named(field);
    let mut step = step(&format!(
        "{value} = parse_int!(replace(string!({value}), r'^0[xX]', \"\"), base: 16)"
    ));
    only_if(&mut step, json!({"has_fields": [field]}));
    step
}

/// What SHA-256 makes of a value, in hexadecimal digits, in its place.
pub(super) fn hashed(field: &str) -> Value {
    let value = named(field);
    let mut step = step(&format!(
        "{value} = sha2(to_string!({value}), variant: \"SHA-256\")"
    ));
    only_if(&mut step, json!({"has_fields": [field]}));
    step
}

/// Lists put behind each other, what is no list as one of a single item, and objects put together; an object and what is none stay, as
/// Logstash's `mutate { merge }` has it.
pub(super) fn merged(from: &str, into: &str) -> Value {
    let (more, all) = (named(from), named(into));
    let mut step = step(&format!(
        "if is_object({all}) && is_object({more}) {{\n\
         {all} = merge(object!({all}), object!({more}))\n\
         }} else if !is_object({all}) && !is_object({more}) {{\n\
         first = if is_array({all}) {{ array!({all}) }} else if {all} == null {{ [] }} else {{ [{all}] }}\n\
         next = if is_array({more}) {{ array!({more}) }} else {{ [{more}] }}\n\
         {all} = append(first, next)\n}}"
    ));
    only_if(&mut step, json!({"has_fields": [from]}));
    step
}

/// A text with a large first letter and small ones behind it, of Logstash's `mutate { capitalize }`. Texts are sliced by bytes there,
/// and letters may have several.
pub(super) fn capitalized(field: &str) -> Value {
    let named = named(field);
    let mut step = step(&format!(
        "letters = parse_regex!(string!({named}), r'(?s)^(?P<first>.)(?P<rest>.*)$')\n\
         {named} = upcase(string!(letters.first)) + downcase(string!(letters.rest))"
    ));
    only_if(&mut step, json!({"has_fields": [field]}));
    step
}

/// Which fields names keep.
#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    Fitting,
    Others,
}

/// Keeps fields by their whole names, `a.b`: those that are named, with all that is inside of them, or fit one of some patterns,
/// which have no `'` in them; or all others. The time stays in any case.
pub(super) fn of_names(named: &[String], patterns: &[String], which: Names) -> Value {
    let named = named.iter().map(|name| {
        let inside = format!("{name}.");
        let (name, inside) = (quoted(name), quoted(&inside));
        format!("key == {name} || starts_with(key, {inside})")
    });
    let fits = patterns
        .iter()
        .map(|pattern| format!("match(key, r'{pattern}')"));
    let fits = named.chain(fits).collect::<Vec<String>>().join(" || ");
    let condition = match which {
        Names::Fitting => fits,
        Names::Others => format!("!({fits})"),
    };
    step(&format!(
        ". = unflatten(filter(flatten(.)) -> |key, _value| {{ key == \"@timestamp\" || {condition} }})"
    ))
}

/// The fields whose names fit one of some patterns, which have no `'` in them, or all others; the time stays in any case.
pub(super) fn pruned(patterns: &[String], keeps: bool) -> Value {
    let fits = patterns
        .iter()
        .map(|pattern| format!("match(key, r'{pattern}')"));
    let fits = fits.collect::<Vec<String>>().join(" || ");
    let condition = if keeps { fits } else { format!("!({fits})") };
    step(&format!(
        ". = filter(.) -> |key, _value| {{ key == \"@timestamp\" || {condition} }}"
    ))
}

/// The names of fields, of some or of all, with another sign for their dots.
pub(super) fn without_dots(fields: &[String], separator: &str) -> Value {
    let renamed = format!("replace(key, \".\", {})", quoted(separator));
    let renamed = match fields {
        [] => renamed,
        fields => format!(
            "if includes({}, key) {{ {renamed} }} else {{ key }}",
            Value::from(fields)
        ),
    };
    step(&format!(". = map_keys(.) -> |key| {{ {renamed} }}"))
}

/// Logstash's `syslog_pri`: severity and facility of a priority, with the names that it has for them.
pub(super) fn syslog_priority(field: &str, has_labels: bool) -> Value {
    const SEVERITIES: &str = r#"["emergency", "alert", "critical", "error", "warning", "notice", "informational", "debug"]"#;
    const FACILITIES: &str = r#"["kernel", "user-level", "mail", "daemon", "security/authorization", "syslogd", "line printer", "network news", "uucp", "clock", "security/authorization", "ftp", "ntp", "log audit", "log alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"]"#;
    let field = named(field);
    // A message without one is a user's notice.
    let mut program = format!(
        "priority = 13\nif {field} != null {{ priority = to_int({field}) ?? 13 }}\n\
         severity = mod(priority, 8)\nfacility = to_int(floor(priority / 8))\n\
         .syslog_severity_code = severity\n.syslog_facility_code = facility\n"
    );
    if has_labels {
        program.push_str(&format!(
            ".syslog_severity = get({SEVERITIES}, [severity]) ?? null\n\
             .syslog_facility = get({FACILITIES}, [facility]) ?? null\n"
        ));
    }
    step(&program)
}

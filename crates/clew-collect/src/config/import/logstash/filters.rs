//! Logstash's filters as processors.

use clew_ingest::reads_dates_of;
use serde_json::{Map, Value, json};

use super::common::common;
use super::grok::grok;
use super::key_values::key_values;
use super::lookups::{FOUND, fingerprint, translate, within_networks};
use super::mutate::mutate;
use super::names::{prune, size, why_left_out, without_dots};
use super::syntax::Plugin;
use super::xml::xml;
use super::{keys, path};
use crate::config::import::conditions::{only_if, parameters};
use crate::config::import::keys::Keys;
use crate::config::import::patterns::{before_appended, first_separator, with_names};
use crate::config::import::told::Told;
use crate::config::import::{programs, texts};

/// Adds what a filter becomes.
pub(super) fn convert(
    plugin: Plugin,
    condition: Option<&Value>,
    out: &mut Vec<Value>,
    told: &mut Told,
) {
    let (line, place) = (plugin.line, format!("filter.{}", plugin.name));
    let mut keys = keys(plugin.settings);
    let mut steps = Vec::new();
    let is_known = match plugin.name.as_str() {
        "mutate" => {
            mutate(&mut keys, &mut steps, (line, &place, told));
            true
        }
        name => one(name, &mut keys, &mut steps, (line, &place, told)),
    };
    if !is_known {
        told.tell(line, &place, why_left_out(&plugin.name));
        return;
    }
    // What a `cidr` does is what it adds for the addresses that fit.
    let fits = (plugin.name == "cidr").then(|| within_networks(&mut keys));
    let mut done = common(&mut keys, (line, &place, told));
    for step in &mut done {
        if let Some(fits) = &fits {
            only_if(step, fits.clone());
        }
    }
    let needed = needed_field(&plugin.name, &mut steps);
    let needs_pairs = !done.is_empty() && needs_pairs(&mut steps);
    if let Some(mut tags) = failure_tags(&mut keys, &plugin.name)
        && !steps.is_empty()
    {
        if needs_pairs {
            tags.clear();
        }
        let mark = (!done.is_empty()).then_some(out.len());
        go_on_after_failures(&mut steps, &tags, mark);
        for step in &mut done {
            only_if(step, json!({"not": {"equals": {FAILED: mark}}}));
        }
    }
    for step in done.iter_mut().filter(|_| needed.is_some()) {
        only_if(step, json!({"has_fields": [needed]}));
    }
    steps.append(&mut done);
    for step in &mut steps {
        if let Some(condition) = condition {
            only_if(step, condition.clone());
        }
    }
    out.append(&mut steps);
    told.tell_rest(line, &place, &keys.into_rest());
}

/// Says which filter failed last, in no document: what a filter does for events that it took is not done for others.
const FAILED: &str = "@metadata.failed";

/// The field without which a filter does nothing, neither its work nor what is done once it has done it.
fn needed_field(name: &str, steps: &mut [Value]) -> Option<String> {
    if !matches!(
        name,
        "date" | "json" | "kv" | "csv" | "useragent" | "translate" | "xml"
    ) {
        return None;
    }
    // A mark is of the steps' own.
    let mut fields = steps.iter_mut().filter_map(|step| {
        let field = parameters(step)?.get("field")?.as_str()?;
        (field != FOUND).then(|| field.to_owned())
    });
    fields.next()
}

/// Has a `kv` fail, in silence, on a text without pairs, for which nothing else is done either: with `remove_field` the text would be
/// lost. One with `default_keys`, which are steps behind it, has always found something.
fn needs_pairs(steps: &mut [Value]) -> bool {
    match steps {
        [step] if step.get("kv").is_some() => {
            step["kv"]["needs_pairs"] = true.into();
            true
        }
        _ => false,
    }
}

/// Has an event go on to what comes next where a step fails, with tags, and with a mark if something asks for it.
fn go_on_after_failures(steps: &mut [Value], tags: &[String], mark: Option<usize>) {
    let mut handlers = Vec::new();
    if !tags.is_empty() {
        handlers.push(json!({"append": {"field": "tags", "value": tags}}));
    }
    handlers.extend(mark.map(|mark| json!({"add": {"field": FAILED, "value": mark}})));
    let steps = steps.iter_mut().filter_map(parameters);
    for parameters in steps.filter(|parameters| !parameters.contains_key("ignore_failure")) {
        fails_with(parameters, &handlers);
    }
}

/// Gives a step what is done where it fails; where another one is tried then, that gets it.
fn fails_with(step: &mut Map<String, Value>, handlers: &[Value]) {
    if let Some(Value::Array(tried)) = step.get_mut("on_failure") {
        let tried = tried.iter_mut().filter_map(parameters);
        tried.for_each(|next| fails_with(next, handlers));
    } else if handlers.is_empty() {
        step.insert("ignore_failure".to_owned(), true.into());
    } else {
        step.insert("on_failure".to_owned(), handlers.into());
    }
}

/// The tags of an event that a filter could not take, if it gives any.
fn failure_tags(keys: &mut Keys, plugin: &str) -> Option<Vec<String>> {
    let given = keys.take("tag_on_failure").map(texts);
    // What `json` passes over in silence has no tag, and nothing else is done for it either.
    if keys.take_flag("skip_on_invalid_json") == Some(true) {
        return Some(Vec::new());
    }
    given.or_else(|| plugin_tag(plugin).map(|tag| vec![tag.to_owned()]))
}

/// The tag of an event that a filter could not take.
fn plugin_tag(name: &str) -> Option<&'static str> {
    match name {
        "mutate" => Some("_mutate_error"),
        "kv" => Some("_kv_filter_error"),
        "bytes" => Some("_bytesparsefailure"),
        "urldecode" => Some("_urldecodefailure"),
        "grok" => Some("_grokparsefailure"),
        "dissect" => Some("_dissectfailure"),
        "date" => Some("_dateparsefailure"),
        "json" => Some("_jsonparsefailure"),
        "csv" => Some("_csvparsefailure"),
        "xml" => Some("_xmlparsefailure"),
        _ => None,
    }
}

/// Names and what they are given: a mapping, or, as it was written earlier, a list of a name and its value, and so on.
pub(super) fn pairs(given: Option<Value>) -> Map<String, Value> {
    match given {
        Some(Value::Object(fields)) => fields,
        Some(Value::Array(items)) => {
            let pairs = items.chunks_exact(2);
            pairs
                .filter_map(|pair| Some((texts(pair[0].clone()).pop()?, pair[1].clone())))
                .collect()
        }
        _ => Map::new(),
    }
}

/// Adds what another filter becomes; false if it has no counterpart. Filters but `grok` leave events alone that have not their field.
fn one(
    name: &str,
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let source = |keys: &mut Keys| {
        path(
            &keys
                .take_text("source")
                .unwrap_or_else(|| "message".to_owned()),
        )
    };
    match name {
        "grok" => grok(keys, steps, (line, place, told)),
        "dissect" => dissect(keys, steps, (line, place, told)),
        "date" => return date(keys, steps, (line, place, told)),
        "json" => json_text(&source(keys), keys, steps),
        "kv" => key_values(source(keys), keys, steps, (line, place, told)),
        "csv" => csv(source(keys), keys, steps, (line, place, told)),
        "json_encode" => encoded(&source(keys), keys, steps),
        "environment" => environment(keys, steps),
        "translate" => return translate(keys, steps, (line, place, told)),
        "xml" => return xml(keys, steps, (line, place, told)),
        "fingerprint" => fingerprint(keys, steps, (line, place, told)),
        "drop" => {
            let share = keys.take_text("percentage");
            let dropped = share.and_then(|share| share.parse::<f64>().ok());
            steps.extend(dropped_of_hundred(dropped.unwrap_or(100.0)));
        }
        "urldecode" => {
            let field = keys
                .take_text("field")
                .unwrap_or_else(|| "message".to_owned());
            steps.push(json!({"urldecode": {"field": path(&field), "ignore_missing": true}}));
        }
        "useragent" => {
            let target = keys
                .take_text("target")
                .unwrap_or_else(|| "user_agent".to_owned());
            steps.push(
                json!({"user_agent": {"field": source(keys), "target_field": path(&target), "ignore_missing": true}}),
            );
        }
        "uuid" => {
            let overwrites = keys.take_flag("overwrite") == Some(true);
            let target = keys.take_text("target").unwrap_or_default();
            steps.push(programs::uuid(&path(&target), overwrites));
        }
        "syslog_pri" => {
            let field = keys
                .take_text("syslog_pri_field_name")
                .unwrap_or_else(|| "syslog_pri".to_owned());
            let has_labels = keys.take_flag("use_labels").unwrap_or(true);
            steps.push(programs::syslog_priority(&path(&field), has_labels));
        }
        "bytes" => size(keys, steps),
        "cidr" => {}
        "prune" => prune(keys, steps, (line, place, told)),
        "de_dot" => without_dots(keys, steps, (line, place, told)),
        "truncate" => truncated(keys, steps),
        _ => return false,
    }
    true
}

/// `truncate`: texts that are longer are cut.
fn truncated(keys: &mut Keys, steps: &mut Vec<Value>) {
    let fields: Vec<String> = texts(keys.take("fields").unwrap_or_else(|| json!(["message"])));
    let longest = keys.take("length_bytes").unwrap_or_else(|| json!(1 << 20));
    let fields: Vec<String> = fields.iter().map(|field| path(field)).collect();
    steps.push(json!({"truncate": {"field": fields, "max_bytes": longest}}));
}

/// `json_encode`: a value as the text of JSON that it is.
fn encoded(source: &str, keys: &mut Keys, steps: &mut Vec<Value>) {
    let target = keys.take_text("target").map(|target| path(&target));
    let target = target.as_deref().unwrap_or(source);
    steps.push(programs::encoded_json(source, target));
}

/// `drop`, of all events or of so many of a hundred, if it drops any.
fn dropped_of_hundred(dropped: f64) -> Option<Value> {
    match dropped {
        dropped if dropped >= 100.0 => Some(json!({"drop": {}})),
        dropped if dropped > 0.0 => Some(programs::sampled((100.0 - dropped) / 100.0)),
        _ => None,
    }
}

/// The zone of the machine, in which times are that say none.
const LOCAL: &str = "Local";

fn date(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let given = texts(keys.take("match").unwrap_or_default());
    let Some((field, formats)) = given.split_first() else {
        return false;
    };
    let formats: Vec<String> = formats.iter().map(|format| java_format(format)).collect();
    let target = keys
        .take_text("target")
        .unwrap_or_else(|| "@timestamp".to_owned());
    let mut parts =
        json!({"field": path(field), "formats": formats, "target_field": path(&target)});
    match keys.take_text("locale") {
        Some(locale) if reads_dates_of(&locale) => parts["locale"] = locale.into(),
        Some(locale) => {
            let reason = format!("[locale => {locale}]: names of months are read in English");
            told.tell(line, place, reason);
        }
        None => {}
    }
    let zone = keys
        .take_text("timezone")
        .unwrap_or_else(|| LOCAL.to_owned());
    if zone.contains("%{") {
        let reason = format!("[timezone => {zone}] depends on the event: it has to be a name");
        told.tell(line, place, reason);
    } else {
        parts["timezone"] = zone.into();
    }
    let mut step = json!({"date": parts});
    only_if(&mut step, json!({"has_fields": [path(field)]}));
    steps.push(step);
    true
}

/// A pattern of Joda, in which dates are written for Logstash, as one of Java, where `Y` is the year of a week and `VV` what
/// `ZZZ` is there: the name of a zone.
fn java_format(joda: &str) -> String {
    let mut in_quotes = false;
    let letters = joda.chars().map(|letter| {
        in_quotes ^= letter == '\'';
        match letter {
            'Y' if !in_quotes => 'y',
            letter => letter,
        }
    });
    let format = letters.collect::<String>().replace("ZZZ", "VV");
    // Every second piece is in quotes.
    let pieces = format.split('\'').enumerate();
    let pieces = pieces.map(|(at, piece)| match at % 2 {
        0 => of_a_digit(piece),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<String>>().join("'")
}

/// Days, months and hours of a digit may stand for `dd`, `MM` and `HH` in Joda, and only for `d`, `M` and `H` in Java; what stands right
/// beside other digits keeps its two.
fn of_a_digit(format: &str) -> String {
    let is_letter = |beside: Option<char>| beside.is_some_and(|letter| letter.is_alphabetic());
    let mut format = format.to_owned();
    for (two, one) in [("dd", "d"), ("MM", "M"), ("HH", "H"), ("hh", "h")] {
        if let Some((before, behind)) = format.split_once(two)
            && !is_letter(before.chars().next_back())
            && !is_letter(behind.chars().next())
        {
            format = format!("{before}{one}{behind}");
        }
    }
    format
}

fn dissect(keys: &mut Keys, steps: &mut Vec<Value>, (line, place, told): (usize, &str, &mut Told)) {
    for (field, pattern) in pairs(keys.take("mapping")) {
        let pattern = pattern.as_str().unwrap_or_default();
        let mut parts = json!({
            "field": path(&field), "pattern": with_names(&dotted(pattern)), "ignore_missing": true,
        });
        // What is put behind something else has in front of it what it has in the text.
        if let Some((separator, has_others)) = before_appended(pattern) {
            parts["append_separator"] = separator.into();
            if has_others {
                told.tell(line, place, first_separator(pattern));
            }
        }
        steps.push(json!({ "dissect": parts }));
    }
    for (field, kind) in pairs(keys.take("convert_datatype")) {
        let kind = if kind == "int" { "long" } else { "double" };
        steps.push(
            json!({"convert": {"field": path(&field), "type": kind, "ignore_missing": true}}),
        );
    }
}

/// Fields, and some in no document, that say what variables of the environment do.
fn environment(keys: &mut Keys, steps: &mut Vec<Value>) {
    for (key, before) in [
        ("add_field_from_env", ""),
        ("add_metadata_from_env", "@metadata."),
    ] {
        for (name, variable) in pairs(keys.take(key)) {
            let variable = texts(variable).pop().unwrap_or_default();
            let field = format!("{before}{}", path(&name));
            steps.push(json!({"add": {"field": field, "value": format!("${{{variable}}}")}}));
        }
    }
}

pub(super) fn csv(
    source: String,
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let columns = texts(keys.take("columns").unwrap_or_default());
    let target = keys.take_text("target").map(|target| path(&target));
    let at = |column: &str| match &target {
        Some(target) => format!("{target}.{}", path(column)),
        None => path(column),
    };
    let fields: Vec<String> = columns.iter().map(|column| at(column)).collect();
    let separator = keys
        .take_text("separator")
        .unwrap_or_else(|| ",".to_owned());
    if columns.is_empty() {
        keys.take("autogenerate_column_names");
        keys.take("skip_empty_columns");
        let separator = separator.replace("\\t", "\t");
        let step = programs::numbered_columns(&source, target.as_deref(), &separator);
        steps.push(step);
        return;
    }
    let mut parts = json!({
        "field": source, "target_fields": fields, "separator": separator.replace("\\t", "\t"), "ignore_missing": true,
    });
    if let Some(quote) = keys.take_text("quote_char") {
        parts["quote"] = quote.into();
    }
    // Nothing comes of empty columns here, either way.
    keys.take("skip_empty_columns");
    if keys.take_flag("autogenerate_column_names") != Some(false) {
        parts["unnamed_prefix"] = at("column").into();
    }
    steps.push(json!({ "csv": parts }));
    if keys.take_flag("skip_header") == Some(true) && !columns.is_empty() {
        // A line of the columns' names is the head of a file.
        let named = columns
            .iter()
            .map(|column| json!({"equals": {(at(column)): column}}));
        steps.push(json!({"drop": {"if": {"and": named.collect::<Vec<Value>>()}}}));
    }
    for (column, kind) in pairs(keys.take("convert")) {
        let kind = match kind.as_str().unwrap_or_default() {
            "string" => continue,
            "integer" => "long",
            "float" => "double",
            "boolean" => "boolean",
            other => {
                // A server that has a date for it reads what is written.
                let reason = format!("[convert] of [{column}] to [{other}]: it stays a text");
                told.tell(line, place, reason);
                continue;
            }
        };
        // What cannot be converted stays as it is, and is told by no tag.
        steps.push(json!({"convert": {"field": at(&column), "type": kind, "lenient": true, "ignore_missing": true, "ignore_failure": true}}));
    }
}

/// `json`; what is none is tagged, and what is not there is not looked at.
fn json_text(source: &str, keys: &mut Keys, steps: &mut Vec<Value>) {
    let mut parts = json!({"field": source});
    match keys.take_text("target") {
        Some(target) => parts["target_field"] = path(&target).into(),
        None => parts["add_to_root"] = true.into(),
    }
    let mut step = json!({"json": parts});
    only_if(&mut step, json!({"has_fields": [source]}));
    steps.push(step);
}

/// References in a pattern, `%{WORD:[a][b]}`, as paths.
pub(super) fn dotted(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once("%{") {
        out.push_str(before);
        out.push_str("%{");
        let end = behind.find('}').unwrap_or(behind.len());
        out.push_str(&behind[..end].replace("][", ".").replace(['[', ']'], ""));
        rest = &behind[end..];
    }
    out + rest
}

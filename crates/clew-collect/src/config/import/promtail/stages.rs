//! Promtail's stages as processors.

use serde_json::{Value, json};

use super::selectors::selected;
use super::{label, list};
use crate::config::import::branches::decide_once;
use crate::config::import::conditions::{only_if, together};
use crate::config::import::dates::java_formats;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{Part, Source, bytes, duration_ms, programs, texts};

/// Where what stages extract is until all of them are done.
pub(super) const EXTRACTED: &str = "extracted";
/// Where JSON and pairs are taken apart, in no document.
const TAKEN: &str = "@metadata.taken";

/// What the stages of a job become.
pub(super) struct Stages<'s, 't> {
    source: &'s Source<'s>,
    told: &'t mut Told,
    /// What is done with each line.
    pub(super) steps: Vec<Value>,
    /// How lines are joined.
    pub(super) multiline: Option<Value>,
    /// What lines are wrapped in.
    pub(super) wrapping: Option<&'static str>,
}

/// The field of a name: the line where there is none.
fn from(name: Option<&str>) -> String {
    match name {
        None | Some("") => "message".to_owned(),
        Some(name) => format!("{EXTRACTED}.{name}"),
    }
}

impl<'s, 't> Stages<'s, 't> {
    pub(super) fn new(source: &'s Source<'s>, told: &'t mut Told) -> Self {
        Stages {
            source,
            told,
            steps: Vec::new(),
            multiline: None,
            wrapping: None,
        }
    }

    /// Adds stages, which are asked for events of which a condition holds.
    pub(super) fn add(&mut self, stages: Vec<Value>, path: &[Part], when: Option<&Value>) {
        for (number, stage) in stages.into_iter().enumerate() {
            let Value::Object(stage) = stage else {
                continue;
            };
            for (name, given) in stage {
                let place = [Part::Item(number), Part::Key(name.clone())];
                let path = [path, &place].concat();
                let line = self.source.line_of(&path).unwrap_or(1);
                self.one(&name, &given, (line, &path, when));
            }
        }
    }

    fn tell(&mut self, line: usize, name: &str, reason: impl Into<String>) {
        self.told
            .tell(line, &format!("pipeline_stages.{name}"), reason);
    }

    fn one(
        &mut self,
        name: &str,
        given: &Value,
        (line, path, when): (usize, &[Part], Option<&Value>),
    ) {
        if name == "match" {
            self.matched(given, (line, path, when));
            return;
        }
        let own = match name {
            // Lines are taken out of what wraps them before they are joined.
            "docker" | "cri" if when.is_none() => {
                self.wrapping = Some(if name == "cri" { "cri" } else { "docker" });
                return;
            }
            "docker" | "cri" => Ok(vec![json!({"parse": {"field": "message", "format": name}})]),
            "multiline" => {
                self.multiline = joined(given);
                return;
            }
            "regex" => regex(given),
            "json" => Ok(self.taken("json", line, given, "expressions")),
            "logfmt" => Ok(self.taken("logfmt", line, given, "mapping")),
            "timestamp" => timestamp(given),
            "labels" => Ok(copied(given, label)),
            "structured_metadata" => Ok(copied(given, str::to_owned)),
            "static_labels" => Ok(static_labels(given)),
            "labeldrop" => {
                let names = texts(given.clone());
                let fields: Vec<String> = names.iter().map(|name| label(name)).collect();
                Ok(vec![
                    json!({"remove": {"field": fields, "ignore_missing": true}}),
                ])
            }
            "output" => Ok(vec![json!({"copy": {
                "source_field": from(text(given, "source")), "target_field": "message",
                "override_target": true, "ignore_missing": true,
            }})]),
            "labelallow" => {
                let kept = programs::kept_members("labels", &texts(given.clone()));
                Ok(vec![kept])
            }
            "drop" => dropped(given).map(|step| vec![step]),
            "replace" => replaced(given),
            "template" => templated(given),
            "limit" => limited(given),
            "sampling" => sampled(given),
            "decolorize" => Ok(vec![json!({"gsub": {
                "field": "message", "pattern": r"\x1b\[[0-9;]*[A-Za-z]", "replacement": "",
            }})]),
            "metrics" => Err("has no counterpart: the server counts, by an aggregation".to_owned()),
            _ => Err("has no counterpart".to_owned()),
        };
        match own {
            Ok(steps) => self.push(steps, when),
            Err(reason) => self.tell(line, name, reason),
        }
    }

    fn push(&mut self, steps: Vec<Value>, when: Option<&Value>) {
        for mut step in steps {
            if let Some(when) = when {
                only_if(&mut step, when.clone());
            }
            self.steps.push(step);
        }
    }

    /// `match`: stages for what a selector takes.
    fn matched(&mut self, given: &Value, (line, path, when): (usize, &[Part], Option<&Value>)) {
        let selector = text(given, "selector").unwrap_or_default();
        let condition = match selected(selector) {
            Ok(condition) => condition,
            Err(reason) => {
                self.tell(line, "match", format!("[selector] {reason}"));
                return;
            }
        };
        let all = when.cloned().into_iter().chain(condition).collect();
        let when = together(all);
        if text(given, "action") == Some("drop") {
            self.push(vec![json!({"drop": {}})], when.as_ref());
            return;
        }
        let path = [path, &[Part::Key("stages".to_owned())]].concat();
        let before = self.steps.len();
        self.add(list(given.get("stages").cloned()), &path, when.as_ref());
        if let Some(when) = when {
            let own = before..self.steps.len();
            decide_once(&mut self.steps, &[(when, own)]);
        }
    }

    /// `json` and `logfmt`: members, or keys, under names of their own.
    fn taken(&mut self, step: &str, line: usize, given: &Value, key: &str) -> Vec<Value> {
        let field = from(text(given, "source"));
        let mut steps = vec![json!({step: {
            "field": field, "target_field": TAKEN, "ignore_failure": true,
            "if": {"has_fields": [field]},
        }})];
        if given.get("drop_malformed") == Some(&Value::Bool(true))
            && let Some(parameters) = steps[0][step].as_object_mut()
        {
            parameters.shift_remove("ignore_failure");
            parameters.insert("on_failure".to_owned(), json!([{"drop": {}}]));
        }
        let named = given.get(key).and_then(Value::as_object);
        for (name, written) in named.into_iter().flatten() {
            let written = written.as_str().filter(|written| !written.is_empty());
            let path = written.unwrap_or(name).replace('"', "");
            let is_plain = path
                .chars()
                .all(|letter| letter.is_alphanumeric() || "._-@".contains(letter));
            if !is_plain {
                let reason = format!("[{path}] is more than names with dots between them");
                self.tell(line, step, reason);
                continue;
            }
            steps.push(json!({"copy": {
                "source_field": format!("{TAKEN}.{path}"), "target_field": format!("{EXTRACTED}.{name}"),
                "override_target": true, "ignore_missing": true,
            }}));
        }
        steps.push(json!({"remove": {"field": TAKEN, "ignore_missing": true}}));
        steps
    }
}

/// A text of a stage.
fn text<'v>(given: &'v Value, key: &str) -> Option<&'v str> {
    given.get(key)?.as_str()
}

/// `multiline`.
fn joined(given: &Value) -> Option<Value> {
    let first = expression(text(given, "firstline")?);
    let mut joined = json!({ "start": first });
    joined["timeout_ms"] = given
        .get("max_wait_time")
        .and_then(duration_ms)
        .unwrap_or(3_000)
        .into();
    joined["lines_max"] = given
        .get("max_lines")
        .cloned()
        .unwrap_or_else(|| json!(128));
    Some(joined)
}

/// `regex`: groups are extracted under their names.
fn regex(given: &Value) -> Result<Vec<Value>, String> {
    let written = text(given, "expression").ok_or("has no [expression]")?;
    let named = expression(written)
        .replace("(?P<", &format!("(?P<{EXTRACTED}."))
        .replace("(?<", &format!("(?<{EXTRACTED}."));
    // What looks behind is no group.
    let named = named.replace(&format!("(?<{EXTRACTED}.="), "(?<=");
    let field = from(text(given, "source"));
    Ok(vec![json!({"regex": {
        "field": field, "pattern": named, "ignore_missing": true, "ignore_failure": true,
    }})])
}

/// `timestamp`: the time of the event.
fn timestamp(given: &Value) -> Result<Vec<Value>, String> {
    let mut formats = Vec::new();
    let written = list(given.get("format").cloned());
    for format in written
        .into_iter()
        .chain(list(given.get("fallback_formats").cloned()))
    {
        let format = format.as_str().unwrap_or_default();
        let java = match format {
            "ANSIC" => java_formats("Mon Jan _2 15:04:05 2006"),
            "UnixDate" => java_formats("Mon Jan _2 15:04:05 MST 2006"),
            "RubyDate" => java_formats("Mon Jan 02 15:04:05 -0700 2006"),
            "RFC822" => java_formats("02 Jan 06 15:04 MST"),
            "RFC822Z" => java_formats("02 Jan 06 15:04 -0700"),
            "RFC850" => java_formats("Monday, 02-Jan-06 15:04:05 MST"),
            "RFC1123" => java_formats("Mon, 02 Jan 2006 15:04:05 MST"),
            "RFC1123Z" => java_formats("Mon, 02 Jan 2006 15:04:05 -0700"),
            "RFC3339" | "RFC3339Nano" => Some(vec!["ISO8601".to_owned()]),
            "Unix" => java_formats("UNIX"),
            "UnixMs" => java_formats("UNIX_MS"),
            layout => java_formats(layout),
        };
        formats.extend(java.ok_or_else(|| format!("[format {format}] has no counterpart"))?);
    }
    let mut step = json!({"date": {
        "field": from(text(given, "source")), "formats": formats, "ignore_failure": true,
    }});
    if let Some(zone) = text(given, "location") {
        step["date"]["timezone"] = zone.into();
    }
    Ok(vec![step])
}

/// Values that go with the event under a name of their own.
fn copied(given: &Value, target: impl Fn(&str) -> String) -> Vec<Value> {
    let named = given.as_object().into_iter().flatten();
    let step = |(name, source): (&String, &Value)| {
        let source = source.as_str().filter(|source| !source.is_empty());
        json!({"copy": {
            "source_field": from(Some(source.unwrap_or(name))), "target_field": target(name),
            "override_target": true, "ignore_missing": true,
        }})
    };
    named.map(step).collect()
}

fn static_labels(given: &Value) -> Vec<Value> {
    let named = given.as_object().into_iter().flatten();
    named
        .map(|(name, value)| json!({"add": {"field": label(name), "value": value}}))
        .collect()
}

/// `drop`: what all that it says holds for.
fn dropped(given: &Value) -> Result<Value, String> {
    let sources = texts(given.get("source").cloned().unwrap_or_default());
    if sources.len() > 1 {
        return Err("of several [source] has no counterpart".to_owned());
    }
    let field = from(sources.first().map(String::as_str));
    let mut all = Vec::new();
    match (text(given, "value"), text(given, "expression")) {
        (Some(value), _) => all.push(json!({"equals": {&field: value}})),
        (None, Some(written)) => all.push(json!({"regexp": {&field: expression(written)}})),
        (None, None) if !sources.is_empty() => all.push(json!({"has_fields": [field]})),
        (None, None) => {}
    }
    let mut measured = Vec::new();
    if let Some(age) = given.get("older_than") {
        let ms = duration_ms(age).ok_or("has no duration in [older_than]")?;
        measured.push(programs::is_older(ms / 1_000));
    }
    if let Some(longest) = given.get("longer_than") {
        let longest = bytes(longest).ok_or("has no number of bytes in [longer_than]")?;
        measured.push(programs::is_longer("message", longest));
    }
    let condition = together(all);
    if measured.is_empty() {
        let condition = condition.ok_or("says nothing that is dropped")?;
        return Ok(json!({"drop": {"if": condition}}));
    }
    let mut step = programs::step(&format!("if {} {{ abort }}", measured.join(" && ")));
    if let Some(condition) = condition {
        only_if(&mut step, condition);
    }
    Ok(step)
}

/// `replace`: what the one group of an expression finds gets another text.
fn replaced(given: &Value) -> Result<Vec<Value>, String> {
    let written = expression(text(given, "expression").ok_or("has no [expression]")?);
    let new = text(given, "replace").unwrap_or_default();
    let field = from(text(given, "source"));
    let (before, behind) = written
        .split_once('(')
        .filter(|(before, _)| !before.ends_with('\\'))
        .ok_or("wants one group in [expression]")?;
    let (inside, behind) = behind
        .rsplit_once(')')
        .filter(|(inside, _)| !inside.ends_with('\\'))
        .ok_or("wants one group in [expression]")?;
    // Its name is not needed.
    let inside = match inside
        .strip_prefix("?P<")
        .or_else(|| inside.strip_prefix("?<"))
    {
        Some(named) => named.split_once('>').map_or("", |(_, inside)| inside),
        None => inside,
    };
    if inside.starts_with('?')
        || before.contains('(')
        || behind.contains('(')
        || inside.replace("(?:", "").contains('(')
    {
        return Err("with several groups in [expression] has no counterpart".to_owned());
    }
    let new = new
        .replace('\\', r"\\")
        .replace('$', r"\$")
        .replace("{{ .Value }}", "$2")
        .replace("{{.Value}}", "$2");
    if new.contains("{{") {
        return Err(format!("[replace {new}] has no counterpart"));
    }
    Ok(vec![json!({"gsub": {
        "field": field, "pattern": format!("({before})({inside})({behind})"),
        "replacement": format!("$1{new}$3"), "ignore_missing": true, "ignore_failure": true,
    }})])
}

/// `template`: a value made of others.
fn templated(given: &Value) -> Result<Vec<Value>, String> {
    let written = text(given, "template").ok_or("has no [template]")?;
    let target = from(text(given, "source"));
    let trimmed = written.replace(' ', "");
    let change = match trimmed.as_str() {
        "{{ToUpper.Value}}" | "{{.Value|ToUpper}}" => Some("uppercase"),
        "{{ToLower.Value}}" | "{{.Value|ToLower}}" => Some("lowercase"),
        "{{TrimSpace.Value}}" | "{{.Value|TrimSpace}}" => Some("trim"),
        _ => None,
    };
    if let Some(change) = change {
        return Ok(vec![json!({change: {
            "field": target, "ignore_missing": true, "ignore_failure": true,
        }})]);
    }
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (name, behind) = behind.split_once("}}").ok_or("has a {{ without its }}")?;
        let name = name.trim().trim_matches('-').trim();
        let field = match name.strip_prefix('.') {
            Some("Value") => target.clone(),
            Some("Entry") => "message".to_owned(),
            Some(name) if name.chars().all(|one| one.is_alphanumeric() || one == '_') => {
                from(Some(name))
            }
            _ => return Err(format!("[{name}] has no counterpart")),
        };
        out.push_str(&format!("{before}{{{{{field}}}}}"));
        rest = behind;
    }
    out.push_str(rest);
    Ok(vec![json!({"set": {"field": target, "value": out}})])
}

fn limited(given: &Value) -> Result<Vec<Value>, String> {
    // What comes too fast is waited for there, and nothing is lost.
    if given.get("drop").and_then(Value::as_bool) != Some(true) {
        return Err(
            "without [drop] has no counterpart: lines are sent as fast as they are taken"
                .to_owned(),
        );
    }
    let rate = given.get("rate").and_then(Value::as_f64).unwrap_or(1.0);
    // Fewer than one in a second are counted by the minute.
    let limit = match rate < 1.0 {
        true => format!("{:.0}/m", (rate * 60.0).max(1.0)),
        false => format!("{rate:.0}/s"),
    };
    let mut step = json!({"rate_limit": { "limit": limit }});
    if let Some(name) = text(given, "by_label_name") {
        step["rate_limit"]["fields"] = json!([label(name)]);
    }
    Ok(vec![step])
}

fn sampled(given: &Value) -> Result<Vec<Value>, String> {
    let rate = given.get("rate").and_then(Value::as_f64);
    let rate = rate.filter(|rate| *rate > 0.0).ok_or("has no [rate]")?;
    Ok(vec![programs::sampled(rate)])
}

//! The two languages of Fluent Bit's configurations, the classic one of sections and YAML, read into the same sections.

use clew_schema::glob::matches as glob;
use serde_json::{Map, Value};

use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{ConfigError, Part, Source, texts};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Service,
    Input,
    Filter,
    Output,
    Parser,
    MultilineParser,
}

/// A section with its entries, of which those that are read are taken out.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) kind: Kind,
    pub(super) line: usize,
    /// The name of the plugin, or of the parser.
    pub(super) name: String,
    /// The tags that it takes, `*` for any letters, and as an expression.
    matched: Option<String>,
    matched_by: Option<String>,
    /// Keys in small letters, some of them more than once.
    entries: Vec<(String, String)>,
    /// What is done with events of an input before filters are.
    pub(super) processors: Vec<Section>,
    /// What has to hold for an event that is changed.
    pub(super) condition: Option<Value>,
}

impl Section {
    fn new(kind: Kind, line: usize) -> Self {
        Section {
            kind,
            line,
            name: String::new(),
            matched: None,
            matched_by: None,
            entries: Vec::new(),
            processors: Vec::new(),
            condition: None,
        }
    }

    /// One that takes the tags of a pattern, and has nothing else.
    #[cfg(test)]
    pub(super) fn of_tags(pattern: &str) -> Self {
        let mut section = Section::new(Kind::Filter, 1);
        section.add("match", pattern);
        section
    }

    /// The pattern of tags that it takes, where it has one.
    pub(super) fn pattern(&self) -> Option<&str> {
        self.matched.as_deref()
    }

    fn add(&mut self, key: &str, value: &str) {
        match key.to_ascii_lowercase() {
            key if key == "name" => value.clone_into(&mut self.name),
            key if key == "match" => self.matched = Some(value.to_owned()),
            key if key == "match_regex" => self.matched_by = Some(value.to_owned()),
            key => self.entries.push((key, value.to_owned())),
        }
    }

    /// Whether events with a tag are for it; all are where it says nothing.
    pub(super) fn takes(&self, tag: &str) -> bool {
        match (&self.matched, &self.matched_by) {
            (Some(pattern), _) => glob(pattern, tag),
            (None, Some(pattern)) => {
                let pattern = regex::Regex::new(&expression(pattern));
                pattern.is_ok_and(|pattern| pattern.is_match(tag))
            }
            (None, None) => true,
        }
    }

    /// Takes out an entry, the last one if there are several.
    pub(super) fn take(&mut self, key: &str) -> Option<String> {
        self.take_all(key).pop()
    }

    /// Takes out the entries whose keys begin so, each under what is behind that.
    pub(super) fn take_below(&mut self, begin: &str) -> Vec<(String, String)> {
        let mut taken = Vec::new();
        self.entries.retain(|(key, value)| {
            let behind = key.strip_prefix(begin);
            taken.extend(behind.map(|behind| (behind.to_owned(), value.clone())));
            behind.is_none()
        });
        taken
    }

    /// Takes out all entries of a key.
    pub(super) fn take_all(&mut self, key: &str) -> Vec<String> {
        let entries = std::mem::take(&mut self.entries);
        let (taken, rest): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(own, _)| own == key);
        self.entries = rest;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Takes out an entry that says yes or no.
    pub(super) fn take_flag(&mut self, key: &str) -> Option<bool> {
        let value = self.take(key)?.to_ascii_lowercase();
        Some(matches!(value.as_str(), "on" | "true" | "yes" | "1"))
    }

    /// Takes out all entries, in their order.
    pub(super) fn take_rest(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.entries)
    }

    /// The section in words, for what is told of it.
    pub(super) fn place(&self) -> String {
        let kind = match self.kind {
            Kind::Service => return "service".to_owned(),
            Kind::Input => "input",
            Kind::Filter => "filter",
            Kind::Output => "output",
            Kind::Parser => "parser",
            Kind::MultilineParser => "multiline_parser",
        };
        format!("{kind}.{}", self.name)
    }
}

/// Whether a text looks like a configuration of Fluent Bit, in either language.
pub(in crate::config::import) fn is_one(text: &str) -> bool {
    text.lines().any(|line| {
        let is_top = line.starts_with("pipeline:");
        is_top || heading(line.trim()).is_some_and(|name| kind_of(name).is_some())
    })
}

/// The name in a line that begins a section.
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

fn kind_of(name: &str) -> Option<Kind> {
    Some(match name.trim().to_ascii_lowercase().as_str() {
        "service" => Kind::Service,
        "input" => Kind::Input,
        "filter" => Kind::Filter,
        "output" => Kind::Output,
        "parser" => Kind::Parser,
        "multiline_parser" => Kind::MultilineParser,
        _ => return None,
    })
}

/// Reads the classic language.
pub(super) fn classic(text: &str, told: &mut Told) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut variables: Vec<(String, String)> = Vec::new();
    // Entries of a section that is not known belong to none.
    let mut is_known = false;
    for (number, line) in text.lines().enumerate() {
        let (number, line) = (number + 1, line.trim());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = heading(line) {
            let kind = kind_of(name);
            is_known = kind.is_some();
            match kind {
                Some(kind) => sections.push(Section::new(kind, number)),
                None => told.tell(number, name, "has no counterpart"),
            }
            continue;
        }
        let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let value = variables
            .iter()
            .fold(value.trim().to_owned(), |value, (name, given)| {
                value.replace(name.as_str(), given)
            });
        match (key.to_ascii_lowercase().as_str(), value.split_once('=')) {
            ("@set", Some((name, given))) => {
                variables.push((format!("${{{}}}", name.trim()), given.trim().to_owned()));
            }
            (directive, _) if directive.starts_with('@') => {
                let reason = format!("[{value}] is another file: it has to be put in");
                told.tell(number, key, reason);
            }
            _ => {
                if let Some(section) = sections.last_mut().filter(|_| is_known) {
                    section.add(key, &value);
                }
            }
        }
    }
    sections
}

/// Reads YAML.
pub(super) fn yaml(source: &Source<'_>, told: &mut Told) -> Result<Vec<Section>, ConfigError> {
    let Value::Object(mut root) = source.raw_tree()? else {
        let reason = "must be a mapping of keys to values".to_owned();
        return Err(source.error("", None, reason));
    };
    if let Some(Value::Object(variables)) = root.shift_remove("env") {
        let variables = variables.iter();
        let variables: Vec<(String, String)> = variables
            .map(|(name, value)| (format!("${{{name}}}"), text_of(value)))
            .collect();
        root.values_mut()
            .for_each(|value| put_in(value, &variables));
    }
    let mut sections = Vec::new();
    for (key, value) in root {
        let path = vec![Part::Key(key.clone())];
        match (key.as_str(), value) {
            ("service", service) => {
                sections.extend(section(Kind::Service, service, &path, source, told));
            }
            ("parsers", list) => {
                sections.append(&mut all(Kind::Parser, list, &path, source, told));
            }
            ("multiline_parsers", list) => {
                sections.append(&mut all(Kind::MultilineParser, list, &path, source, told));
            }
            ("pipeline", Value::Object(pipeline)) => {
                for (key, list) in pipeline {
                    let path = [&path[..], &[Part::Key(key.clone())]].concat();
                    match kind_of(key.trim_end_matches('s')) {
                        Some(kind) => {
                            sections.append(&mut all(kind, list, &path, source, told));
                        }
                        None => told.tell(line_of(source, &path), &key, "has no counterpart"),
                    }
                }
            }
            ("includes", files) => {
                for file in texts(files) {
                    let reason = format!("[{file}] is another file: it has to be put in");
                    told.tell(line_of(source, &path), "includes", reason);
                }
            }
            (key, _) => told.tell(line_of(source, &path), key, "has no counterpart"),
        }
    }
    Ok(sections)
}

/// Puts the values of variables in their places, in all texts of a tree.
fn put_in(value: &mut Value, variables: &[(String, String)]) {
    match value {
        Value::String(text) => {
            for (name, given) in variables {
                if text.contains(name.as_str()) {
                    *text = text.replace(name.as_str(), given);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put_in(item, variables)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| put_in(member, variables)),
        _ => {}
    }
}

fn line_of(source: &Source<'_>, path: &[Part]) -> usize {
    source.line_of(path).unwrap_or(1)
}

/// Reads a list of sections.
fn all(
    kind: Kind,
    list: Value,
    path: &[Part],
    source: &Source<'_>,
    told: &mut Told,
) -> Vec<Section> {
    let Value::Array(items) = list else {
        return Vec::new();
    };
    let one = |(number, item)| {
        let path = [path, &[Part::Item(number)]].concat();
        section(kind, item, &path, source, told)
    };
    items.into_iter().enumerate().filter_map(one).collect()
}

fn section(
    kind: Kind,
    value: Value,
    path: &[Part],
    source: &Source<'_>,
    told: &mut Told,
) -> Option<Section> {
    let Value::Object(members) = value else {
        return None;
    };
    let mut section = Section::new(kind, line_of(source, path));
    for (key, value) in members {
        match value {
            Value::Object(kinds) if key == "processors" && kind == Kind::Input => {
                let path = [path, &[Part::Key(key)]].concat();
                section.processors = processors(kinds, &path, source, told);
            }
            Value::Object(_) if key == "condition" && kind == Kind::Filter => {
                section.condition = Some(value);
            }
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::Object(rule) => section.add("rule", &rule_of(&rule)),
                        item => section.add(&key, &text_of(&item)),
                    }
                }
            }
            Value::Object(_) => told.tell(section.line, &key, "has no counterpart"),
            value => section.add(&key, &text_of(&value)),
        }
    }
    Some(section)
}

/// What is done with events of an input: filters, and others that only processors have.
fn processors(
    kinds: Map<String, Value>,
    path: &[Part],
    source: &Source<'_>,
    told: &mut Told,
) -> Vec<Section> {
    let mut sections = Vec::new();
    for (kind, list) in kinds {
        let path = [path, &[Part::Key(kind.clone())]].concat();
        match kind.as_str() {
            "logs" => sections.append(&mut all(Kind::Filter, list, &path, source, told)),
            _ => {
                let reason = "has no counterpart: events are logs";
                told.tell(line_of(source, &path), &kind, reason);
            }
        }
    }
    sections
}

/// A rule of a parser of several lines as the classic language writes it.
fn rule_of(rule: &Map<String, Value>) -> String {
    let part = |key: &str| rule.get(key).map(text_of).unwrap_or_default();
    let (state, regex, next) = (part("state"), part("regex"), part("next_state"));
    format!("\"{state}\" \"{regex}\" \"{next}\"")
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

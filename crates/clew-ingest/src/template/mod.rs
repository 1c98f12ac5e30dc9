//! Mustache templates, as OpenSearch has them (mustache.java): values, sections, inverted sections, blocks, comments, other
//! marks of tags, and the functions `toJson`, `join` and `url`. There are no templates to put into others.

mod reading;

use serde_json::Value;

use crate::java::java_text;

/// Sections inside each other.
const DEPTH_MAX: usize = 50;
/// Longest text that a template may become.
const OUTPUT_BYTES_MAX: usize = 10 << 20;
/// Parts of a template that are gone through: lists within lists are gone through once for each item of those around them,
/// also where nothing is written.
const STEPS_MAX: usize = 10_000_000;

/// Why a text is no template. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A tag holds nothing.
    #[error("a tag is empty")]
    EmptyTag {
        /// Where it stands.
        line: usize,
    },
    /// A tag does not end.
    #[error("a tag is not closed")]
    OpenTag {
        /// Where it begins.
        line: usize,
    },
    /// A tag that begins with three marks ends with two.
    #[error("tag [{name}] is closed by half")]
    HalfClosedTag {
        /// What it is about.
        name: String,
        /// The line that it was read to.
        line: usize,
        /// How many characters of the template had been read by then.
        read: usize,
    },
    /// A section does not end.
    #[error("section [{name}] is not closed")]
    OpenSection {
        /// What it is about.
        name: String,
        /// Where it begins.
        line: usize,
    },
    /// What is closed is not what was opened last.
    #[error("[{closed}] is closed but was not opened")]
    Mismatched {
        /// The section that was opened last.
        opened: Option<String>,
        /// The one that is closed.
        closed: String,
        /// Where.
        line: usize,
    },
    /// What tags are to be known by is not two marks.
    #[error("[{marks}] does not say how tags begin and end")]
    Marks {
        /// What stands in their place.
        marks: String,
        /// Where.
        line: usize,
    },
    /// Another template is to be put in.
    #[error("there is no template [{name}] to put in")]
    Missing {
        /// Its name.
        name: String,
    },
    /// Sections lie too deep in each other.
    #[error("sections are nested more than [{}] deep", DEPTH_MAX)]
    TooDeep,
}

/// A template that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
    shown: Shown,
}

/// How values are written into a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// As mustache.java writes them, and nothing where there is none.
    AsJava,
    /// As Logstash does: lists as their items with commas between, objects as JSON, and where there is no value what asks for it there,
    /// `%{[a][b]}`.
    OrReference,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Value {
        path: String,
        escape: bool,
    },
    Section {
        path: String,
        inverted: bool,
        nodes: Vec<Node>,
    },
}

/// What becomes of characters that would end a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// They are escaped as JSON wants it.
    Json,
    /// Nothing is escaped.
    Plain,
}

/// A template's text with the values put in, as plain text.
///
/// # Errors
/// Says what is wrong with the template, or that the text becomes too long.
pub fn filled(template: &str, values: &Value) -> Result<String, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    template.render(values, Escape::Plain)
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Says what is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let nodes = reading::nodes_of(text)?;
        Ok(Template {
            nodes,
            shown: Shown::AsJava,
        })
    }

    /// From now on values are written as Logstash writes them: a field that is missing stays as what asks for it, `%{a}`.
    pub(crate) fn keep_references(&mut self) {
        self.shown = Shown::OrReference;
    }

    /// Whether it has anything but text.
    pub fn is_text(&self) -> bool {
        self.nodes.iter().all(|node| matches!(node, Node::Text(_)))
    }

    /// The text that it is, whatever the values.
    pub(crate) fn text(&self) -> Option<&str> {
        match self.nodes.as_slice() {
            [] => Some(""),
            [Node::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Fills a template with values.
    ///
    /// # Errors
    /// When the text becomes too long.
    pub fn render(&self, values: &Value, escape: Escape) -> Result<String, String> {
        let mut renderer = Renderer {
            stack: vec![values],
            beside: None,
            shown: self.shown,
            escape,
            text: String::new(),
            steps: 0,
        };
        renderer.nodes(&self.nodes)?;
        Ok(renderer.text)
    }

    /// Fills a template with values, plain, and with others that have names of their own; all values are `_source`.
    ///
    /// # Errors
    /// When the text becomes too long.
    pub(crate) fn render_beside(&self, values: &Value, beside: &Value) -> Result<String, String> {
        let mut renderer = Renderer {
            stack: vec![values],
            beside: Some(beside),
            shown: self.shown,
            escape: Escape::Plain,
            text: String::new(),
            steps: 0,
        };
        renderer.nodes(&self.nodes)?;
        Ok(renderer.text)
    }
}

struct Renderer<'a> {
    /// What paths are looked up in, the innermost last.
    stack: Vec<&'a Value>,
    /// What has names before the outermost values.
    beside: Option<&'a Value>,
    shown: Shown,
    escape: Escape,
    text: String,
    /// Parts that were gone through.
    steps: usize,
}

impl<'a> Renderer<'a> {
    fn nodes(&mut self, nodes: &[Node]) -> Result<(), String> {
        for node in nodes {
            // What a path may be looked up in is gone through as well.
            self.step(self.stack.len())?;
            match node {
                Node::Text(text) => self.text.push_str(text),
                Node::Value { path, escape } => {
                    let text = self.text_at(path);
                    self.push(&text, *escape);
                }
                Node::Section {
                    path,
                    inverted,
                    nodes,
                } => self.section(path, *inverted, nodes)?,
            }
            if self.text.len() > OUTPUT_BYTES_MAX {
                return Err(format!("the text has more than [{OUTPUT_BYTES_MAX}] bytes"));
            }
        }
        Ok(())
    }

    fn section(&mut self, path: &str, inverted: bool, nodes: &[Node]) -> Result<(), String> {
        if !inverted && self.function(path, nodes)? {
            return Ok(());
        }
        let found = self.find(path);
        let holds = found.is_some_and(is_true);
        if inverted {
            return if holds { Ok(()) } else { self.nodes(nodes) };
        }
        match found {
            Some(Value::Array(items)) => {
                for item in items {
                    self.step(1)?;
                    self.within(item, nodes)?;
                }
                Ok(())
            }
            Some(value) if holds => self.within(value, nodes),
            _ => Ok(()),
        }
    }

    /// Counts parts that are gone through.
    fn step(&mut self, parts: usize) -> Result<(), String> {
        self.steps = self.steps.saturating_add(parts);
        if self.steps > STEPS_MAX {
            return Err(format!(
                "the template goes through more than [{STEPS_MAX}] parts"
            ));
        }
        Ok(())
    }

    fn within(&mut self, value: &'a Value, nodes: &[Node]) -> Result<(), String> {
        self.stack.push(value);
        let done = self.nodes(nodes);
        self.stack.pop();
        done
    }

    /// Sections that are functions of what they hold.
    fn function(&mut self, name: &str, nodes: &[Node]) -> Result<bool, String> {
        let separator = name
            .strip_prefix("join")
            .and_then(|rest| rest.trim().strip_prefix("delimiter="))
            .map(|text| text.trim_matches('\''));
        match name {
            "toJson" => {
                let inside = self.inside(nodes)?;
                let text = match self.find(&inside) {
                    Some(value @ (Value::Array(_) | Value::Object(_))) => value.to_string(),
                    Some(other) => plain(other),
                    None => String::new(),
                };
                self.text.push_str(&text);
            }
            "url" => {
                let before = self.text.len();
                self.nodes(nodes)?;
                let text = self.text.split_off(before);
                self.text.push_str(&url(&text));
            }
            _ if name == "join" || separator.is_some() => {
                let inside = self.inside(nodes)?;
                if let Some(Value::Array(items)) = self.find(&inside) {
                    self.step(items.len())?;
                    let items: Vec<String> = items.iter().map(java_text).collect();
                    self.push(&items.join(separator.unwrap_or(",")), true);
                } else {
                    // What is no list is no name of one.
                    self.text.push_str(&inside);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The text that a function is given.
    fn inside(&mut self, nodes: &[Node]) -> Result<String, String> {
        let before = self.text.len();
        self.nodes(nodes)?;
        Ok(self.text.split_off(before).trim().to_string())
    }

    /// The value at a path as text; a list has a `size`.
    fn text_at(&self, path: &str) -> String {
        let found = self.find(path);
        if self.shown == Shown::OrReference {
            let found = found.or_else(|| self.counted_from_end(path));
            let found = found.filter(|value| !value.is_null());
            return found.map_or_else(|| reference(path), joined);
        }
        if let Some(found) = found {
            return shown(found);
        }
        let list = path.strip_suffix(".size").and_then(|list| self.find(list));
        match list {
            Some(Value::Array(items)) => items.len().to_string(),
            _ => String::new(),
        }
    }

    fn push(&mut self, text: &str, escape: bool) {
        if !escape || self.escape == Escape::Plain {
            self.text.push_str(text);
            return;
        }
        let quoted = Value::from(text).to_string();
        self.text.push_str(&quoted[1..quoted.len() - 1]);
    }

    /// The item of a list that is counted from its end, `c.-1`, as Logstash does.
    fn counted_from_end(&self, path: &str) -> Option<&'a Value> {
        let (list, number) = path.rsplit_once(".-")?;
        let items = self.find(list)?.as_array()?;
        items.get(items.len().checked_sub(number.parse().ok()?)?)
    }

    /// The value at a path, looked for from the inside out.
    fn find(&self, path: &str) -> Option<&'a Value> {
        if path == "." {
            return self.stack.last().copied();
        }
        let (outermost, inner) = self.stack.split_first()?;
        let outermost: &'a Value = outermost;
        let found = inner.iter().rev().find_map(|value| lookup(value, path));
        let beside = || {
            let beside = self.beside?;
            if path == "_source" {
                return Some(outermost);
            }
            match path.strip_prefix("_source.") {
                Some(rest) => lookup(outermost, rest),
                None => lookup(beside, path),
            }
        };
        found.or_else(beside).or_else(|| lookup(outermost, path))
    }
}

/// The value at a dotted path; items of lists have their numbers as names.
pub fn lookup<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let step = |value: &'a Value, name: &str| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    };
    step(value, path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        lookup(step(value, first)?, rest)
    })
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}

/// A value as text.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A value as templates show it: items of a list have their numbers as names.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(items) => {
            let items = (0..).zip(items);
            let items =
                items.map(|(number, item): (usize, _)| format!("{number}={}", java_text(item)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        other => java_text(other),
    }
}

/// A value as Logstash shows it.
fn joined(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(joined).collect();
            items.join(",")
        }
        Value::Object(_) => value.to_string(),
        other => plain(other),
    }
}

/// What asks for the value at a path in Logstash.
fn reference(path: &str) -> String {
    match path.contains('.') {
        true => format!("%{{[{}]}}", path.replace('.', "][")),
        false => format!("%{{{path}}}"),
    }
}

/// A text as a form's value is written, with `+` for spaces.
fn url(text: &str) -> String {
    let mut written = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => written.push('+'),
            _ if byte.is_ascii_alphanumeric() || b"-_.*".contains(&byte) => {
                written.push(char::from(byte));
            }
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}

#[cfg(test)]
mod tests;

//! Mustache templates, as far as pipelines and searches use them: values, sections, inverted
//! sections, comments, and the functions `toJson`, `join` and `url`.

use serde_json::Value;

use crate::java::java_text;

/// Sections inside each other.
const DEPTH_MAX: usize = 50;
/// Longest text that a template may become.
const OUTPUT_BYTES_MAX: usize = 10 << 20;
/// Parts of a template that are gone through: lists within lists are gone through once for each item of those around them,
/// also where nothing is written.
const STEPS_MAX: usize = 10_000_000;

/// A template that was understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
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
    Template::parse(template)?.render(values, Escape::Plain)
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// Says what is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let nodes = section(&mut rest, None, 0)?;
        Ok(Template { nodes })
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
            escape: Escape::Plain,
            text: String::new(),
            steps: 0,
        };
        renderer.nodes(&self.nodes)?;
        Ok(renderer.text)
    }
}

/// Reads up to the end of a section, or of the text.
fn section(rest: &mut &str, name: Option<&str>, depth: usize) -> Result<Vec<Node>, String> {
    if depth > DEPTH_MAX {
        return Err(format!("sections are nested more than [{DEPTH_MAX}] deep"));
    }
    let mut nodes = Vec::new();
    loop {
        let Some(start) = rest.find("{{") else {
            if let Some(name) = name {
                return Err(format!("section [{name}] is not closed"));
            }
            push_text(&mut nodes, rest);
            *rest = "";
            return Ok(nodes);
        };
        push_text(&mut nodes, &rest[..start]);
        let triple = rest[start..].starts_with("{{{");
        let (open, close) = if triple { (3, "}}}") } else { (2, "}}") };
        let inner = &rest[start + open..];
        let end = inner
            .find(close)
            .ok_or_else(|| "a tag is not closed".to_string())?;
        let tag = inner[..end].trim();
        *rest = &inner[end + close.len()..];
        let mut letters = tag.chars();
        match letters.next() {
            _ if triple => nodes.push(value(tag, false)),
            None => return Err("a tag is empty".to_string()),
            Some('!') => {}
            Some('&') => nodes.push(value(letters.as_str().trim(), false)),
            Some(sign @ ('#' | '^')) => {
                let path = letters.as_str().trim();
                nodes.push(Node::Section {
                    path: path.to_string(),
                    inverted: sign == '^',
                    nodes: section(rest, Some(path), depth + 1)?,
                });
            }
            Some('/') => {
                let closed = letters.as_str().trim();
                if name == Some(closed) {
                    return Ok(nodes);
                }
                return Err(format!("[{closed}] is closed but was not opened"));
            }
            Some('>' | '=') => return Err(format!("tag [{tag}] is not supported")),
            Some(_) => nodes.push(value(tag, true)),
        }
    }
}

fn value(path: &str, escape: bool) -> Node {
    Node::Value {
        path: path.to_string(),
        escape,
    }
}

fn push_text(nodes: &mut Vec<Node>, text: &str) {
    if !text.is_empty() {
        nodes.push(Node::Text(text.to_string()));
    }
}

struct Renderer<'a> {
    /// What paths are looked up in, the innermost last.
    stack: Vec<&'a Value>,
    /// What has names before the outermost values.
    beside: Option<&'a Value>,
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
                    let found = self.find(path);
                    let text = match self.escape {
                        Escape::Json => found.map(plain),
                        Escape::Plain => found.map(shown),
                    };
                    let text = text.unwrap_or_default();
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
        let inside = match nodes {
            [Node::Text(text)] => text.trim(),
            _ => "",
        };
        match name {
            "toJson" => {
                let value = self.find(inside).cloned().unwrap_or(Value::Null);
                self.text.push_str(&value.to_string());
            }
            "url" => {
                let before = self.text.len();
                self.nodes(nodes)?;
                let text = self.text.split_off(before);
                self.text.push_str(&url(&text));
            }
            _ if name == "join" || separator.is_some() => {
                let items = match self.find(inside) {
                    Some(Value::Array(items)) => {
                        self.step(items.len())?;
                        items.iter().map(plain).collect()
                    }
                    Some(other) => vec![plain(other)],
                    None => Vec::new(),
                };
                let text = items.join(separator.unwrap_or(","));
                self.push(&text, true);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn push(&mut self, text: &str, escape: bool) {
        if !escape || self.escape == Escape::Plain {
            self.text.push_str(text);
            return;
        }
        let quoted = Value::from(text).to_string();
        self.text.push_str(&quoted[1..quoted.len() - 1]);
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

/// A value as templates of pipelines show it: items of a list have their numbers as names.
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
mod tests {
    use super::*;

    #[test]
    fn lists_within_lists_are_not_gone_through_for_ever() {
        let template = format!("{}{}", "{{#x}}".repeat(40), "{{/x}}".repeat(40));
        let values = serde_json::json!({"x": [1, 1]});
        let refused = filled(&template, &values).unwrap_err();
        assert_eq!(
            refused,
            "the template goes through more than [10000000] parts"
        );
    }
    use serde_json::json;

    fn check(template: &str, values: &Value, expected: &str) {
        let template = Template::parse(template).unwrap();
        assert_eq!(template.render(values, Escape::Json).unwrap(), expected);
    }

    #[test]
    fn tags_are_filled_in() {
        let values = json!({
            "a": {"b": "x\"y"}, "n": 3, "list": ["p", "q"], "yes": true, "no": false,
            "people": [{"name": "Ann"}, {"name": "Bo"}],
        });
        check(
            "{{a.b}}|{{{a.b}}}|{{n}}|{{none}}",
            &values,
            "x\\\"y|x\"y|3|",
        );
        check("{{list.1}}{{! ignored }}", &values, "q");
        check(
            "{{#yes}}Y{{n}}{{/yes}}{{^no}}N{{/no}}{{#no}}X{{/no}}",
            &values,
            "Y3N",
        );
        check("{{#people}}{{name}},{{/people}}", &values, "Ann,Bo,");
        check("{{#list}}[{{.}}]{{/list}}", &values, "[p][q]");
        check("{{#toJson}}list{{/toJson}}", &values, "[\"p\",\"q\"]");
        check("{{#join}}list{{/join}}", &values, "p,q");
        check(
            "{{#join delimiter=' or '}}list{{/join delimiter=' or '}}",
            &values,
            "p or q",
        );
        check("{{#url}}a b/{{n}}{{/url}}", &values, "a+b%2F3");
        check(
            "{{#size}}{{size}}{{/size}}{{^size}}10{{/size}}",
            &values,
            "10",
        );
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for text in ["{{a", "{{#a}}x", "{{/a}}", "{{#a}}{{/b}}", "{{}}", "{{>p}}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        let deep = "{{#a}}".repeat(100);
        assert!(Template::parse(&deep).is_err());
    }
}

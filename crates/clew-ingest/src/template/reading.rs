//! Reads the text of a template into its parts.

use super::{DEPTH_MAX, Node, TemplateError};

/// The parts of a template.
pub(super) fn nodes_of(text: &str) -> Result<Vec<Node>, TemplateError> {
    let mut reader = Reader {
        rest: text,
        line: 1,
        read: 0,
        open: OPEN.to_string(),
        close: CLOSE.to_string(),
    };
    reader.section(None, 0)
}

/// How tags begin and end unless a template says otherwise.
const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// A template that is being read.
struct Reader<'a> {
    rest: &'a str,
    /// The line that it stands in.
    line: usize,
    /// Characters that were read.
    read: usize,
    /// How tags begin.
    open: String,
    /// How they end.
    close: String,
}

impl<'a> Reader<'a> {
    /// Reads up to the end of a section, or of the text.
    fn section(
        &mut self,
        opened: Option<(&str, usize)>,
        depth: usize,
    ) -> Result<Vec<Node>, TemplateError> {
        if depth > DEPTH_MAX {
            return Err(TemplateError::TooDeep);
        }
        let mut nodes = Vec::new();
        loop {
            let Some(start) = self.rest.find(&self.open) else {
                if let Some((name, line)) = opened {
                    let name = name.to_string();
                    return Err(TemplateError::OpenSection { name, line });
                }
                push_text(&mut nodes, self.take(self.rest.len()));
                return Ok(nodes);
            };
            push_text(&mut nodes, self.take(start));
            let line = self.line;
            let Tag { text, is_raw } = self.tag()?;
            let mut letters = text.chars();
            let first = letters.next();
            let name = letters.as_str().trim();
            match first {
                _ if is_raw => nodes.push(value(text, false)),
                None => return Err(TemplateError::EmptyTag { line }),
                Some('!') => {}
                Some('&') => nodes.push(value(name, false)),
                Some(sign @ ('#' | '^')) => nodes.push(Node::Section {
                    path: name.to_string(),
                    inverted: sign == '^',
                    nodes: self.section(Some((name, line)), depth + 1)?,
                }),
                // What a template that puts this one in may put in its place.
                Some('$') => nodes.extend(self.section(Some((name, line)), depth + 1)?),
                Some('/') if opened.is_some_and(|(opened, _)| opened == name) => return Ok(nodes),
                Some('/') => {
                    return Err(TemplateError::Mismatched {
                        opened: opened.map(|(opened, _)| opened.to_string()),
                        closed: name.to_string(),
                        line,
                    });
                }
                Some('>' | '<') => {
                    let name = name.to_string();
                    return Err(TemplateError::Missing { name });
                }
                Some('=') => self.set_marks(name, line)?,
                Some(_) => nodes.push(value(text, true)),
            }
        }
    }

    /// Reads a tag.
    fn tag(&mut self) -> Result<Tag<'a>, TemplateError> {
        let line = self.line;
        self.take(self.open.len());
        let rest = self.rest;
        let is_raw = self.open == OPEN && rest.starts_with('{');
        let begin = usize::from(is_raw);
        let length = rest[begin..].find(&self.close);
        let end = begin + length.ok_or(TemplateError::OpenTag { line })?;
        let text = rest[begin..end].trim();
        self.take(end + self.close.len());
        if is_raw {
            if !self.rest.starts_with('}') {
                return Err(TemplateError::HalfClosedTag {
                    name: text.to_string(),
                    line: self.line,
                    read: self.read,
                });
            }
            self.take(1);
        }
        Ok(Tag { text, is_raw })
    }

    /// Has tags begin and end otherwise from here on: `<% %>=`.
    fn set_marks(&mut self, written: &str, line: usize) -> Result<(), TemplateError> {
        let marks = written.strip_suffix('=').unwrap_or(written);
        let mut each = marks.split_whitespace();
        match (each.next(), each.next(), each.next()) {
            (Some(open), Some(close), None) if marks != written => {
                self.open = open.to_string();
                self.close = close.to_string();
                Ok(())
            }
            _ => Err(TemplateError::Marks {
                marks: marks.to_string(),
                line,
            }),
        }
    }

    /// Goes on by so many bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.matches('\n').count();
        self.read += taken.chars().count();
        self.rest = rest;
        taken
    }
}

/// What stands in a tag.
struct Tag<'a> {
    text: &'a str,
    /// Whether it is a value that is not escaped: `{{{a}}}`.
    is_raw: bool,
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

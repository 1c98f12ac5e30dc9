//! The language of Logstash's pipelines: sections of plugins with their settings, and branches with conditions.

use serde_json::{Map, Value};

/// Branches, and values, inside each other.
const DEPTH_MAX: usize = 50;

/// `xor` and `nand` of one pipeline: each has both of its sides twice.
const JOINS_MAX: usize = 8;

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SectionPart {
    Plugin(Plugin),
    /// What is done when conditions hold, of which the first that does counts; the last may have none.
    Branches(Vec<(Option<Condition>, Vec<SectionPart>)>),
}

/// A plugin with its settings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plugin {
    pub(super) name: String,
    pub(super) line: usize,
    /// Repeated settings are put together. A codec is an object of its name and its settings.
    pub(super) settings: Map<String, Value>,
}

/// A condition, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    /// A field that is there.
    There(String),
    Compared(Operand, String, Operand),
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Field(String),
    Value(Value),
    Regex(String),
}

/// What is wrong, and in which line.
pub(super) type Wrong = (usize, String);

/// Reads a pipeline: its sections in their order.
pub(super) fn parse(text: &str) -> Result<Vec<(String, Vec<SectionPart>)>, Wrong> {
    let mut reader = Reader {
        text,
        at: 0,
        joins: 0,
    };
    let mut sections = Vec::new();
    loop {
        reader.pass_blanks();
        if reader.rest().is_empty() {
            return Ok(sections);
        }
        let name = reader.word()?;
        if !matches!(name.as_str(), "input" | "filter" | "output") {
            return Err(reader.wrong(&format!("[{name}] is no section")));
        }
        reader.expect("{")?;
        sections.push((name, reader.items(0)?));
    }
}

/// Conditions of which one has to hold.
fn any(mut parts: Vec<Condition>) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => Condition::Or(parts),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// How many `xor` and `nand` there were.
    joins: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }

    fn wrong(&self, reason: &str) -> Wrong {
        (self.line(), reason.to_owned())
    }

    /// Passes over blanks and comments.
    fn pass_blanks(&mut self) {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            if !self.rest().starts_with('#') {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn takes(&mut self, text: &str) -> bool {
        self.pass_blanks();
        let is_there = self.rest().starts_with(text);
        if is_there {
            self.at += text.len();
        }
        is_there
    }

    /// As [`Reader::takes`], for words, which end where they end.
    fn takes_word(&mut self, word: &str) -> bool {
        self.pass_blanks();
        let behind = self.rest().strip_prefix(word);
        let ends =
            behind.is_some_and(|rest| !rest.starts_with(|l: char| l.is_alphanumeric() || l == '_'));
        if ends {
            self.at += word.len();
        }
        ends
    }

    fn expect(&mut self, text: &str) -> Result<(), Wrong> {
        match self.takes(text) {
            true => Ok(()),
            false => Err(self.wrong(&format!("a [{text}] is missing"))),
        }
    }

    fn word(&mut self) -> Result<String, Wrong> {
        self.pass_blanks();
        let is_other = |letter: char| !(letter.is_alphanumeric() || "_-.@".contains(letter));
        let end = self.rest().find(is_other).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(self.wrong("a name is missing"));
        }
        let word = self.rest()[..end].to_owned();
        self.at += end;
        Ok(word)
    }

    /// Plugins and branches up to the end of what they are in.
    fn items(&mut self, depth: usize) -> Result<Vec<SectionPart>, Wrong> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("too much is inside each other"));
        }
        let mut items = Vec::new();
        while !self.takes("}") {
            if !self.takes_word("if") {
                items.push(SectionPart::Plugin(self.plugin(depth)?));
                continue;
            }
            let mut branches = vec![self.branch(depth)?];
            while self.takes_word("else") {
                if self.takes_word("if") {
                    branches.push(self.branch(depth)?);
                    continue;
                }
                self.expect("{")?;
                branches.push((None, self.items(depth + 1)?));
                break;
            }
            items.push(SectionPart::Branches(branches));
        }
        Ok(items)
    }

    fn branch(&mut self, depth: usize) -> Result<(Option<Condition>, Vec<SectionPart>), Wrong> {
        let condition = self.any_of(depth)?;
        self.expect("{")?;
        Ok((Some(condition), self.items(depth + 1)?))
    }

    fn plugin(&mut self, depth: usize) -> Result<Plugin, Wrong> {
        self.pass_blanks();
        let line = self.line();
        let name = self.word()?;
        self.expect("{")?;
        let settings = self.settings(depth + 1)?;
        Ok(Plugin {
            name,
            line,
            settings,
        })
    }

    fn settings(&mut self, depth: usize) -> Result<Map<String, Value>, Wrong> {
        let mut settings = Map::new();
        while !self.takes("}") {
            self.pass_blanks();
            let key = match self.rest().starts_with(['"', '\'']) {
                true => self.quoted()?,
                false => self.word()?,
            };
            self.expect("=>")?;
            let value = self.value(depth)?;
            match (settings.get_mut(&key), value) {
                (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
                (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                (Some(known), value) => *known = Value::Array(vec![known.take(), value]),
                (None, value) => {
                    settings.insert(key, value);
                }
            }
            self.takes(",");
        }
        Ok(settings)
    }

    fn value(&mut self, depth: usize) -> Result<Value, Wrong> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("too much is inside each other"));
        }
        self.pass_blanks();
        let rest = self.rest();
        if rest.starts_with(['"', '\'']) {
            return self.quoted().map(Value::String);
        }
        if self.takes("[") {
            let mut items = Vec::new();
            while !self.takes("]") {
                items.push(self.value(depth + 1)?);
                self.takes(",");
            }
            return Ok(Value::Array(items));
        }
        if self.takes("{") {
            return self.settings(depth + 1).map(Value::Object);
        }
        let word = self.word()?;
        if let Ok(number) = word.parse::<serde_json::Number>() {
            return Ok(Value::Number(number));
        }
        if self.takes("{") {
            let settings = self.settings(depth + 1)?;
            return Ok(Value::Object(Map::from_iter([(word, settings.into())])));
        }
        Ok(match word.as_str() {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(word),
        })
    }

    /// A text in quotes. Backslashes stand for themselves, but in front of a quote.
    fn quoted(&mut self) -> Result<String, Wrong> {
        let rest = self.rest();
        let quote = rest.chars().next().unwrap_or('"');
        let mut text = String::new();
        let mut letters = rest.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                self.at += at + quote.len_utf8();
                return Ok(text);
            }
            match letters.peek() {
                Some((_, next)) if letter == '\\' && *next == quote => {
                    text.push(quote);
                    letters.next();
                }
                _ => text.push(letter),
            }
        }
        Err(self.wrong("a text has no end"))
    }

    fn any_of(&mut self, depth: usize) -> Result<Condition, Wrong> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("too much is inside each other"));
        }
        let mut parts = vec![self.all_of(depth)?];
        loop {
            if self.takes_word("or") {
                parts.push(self.all_of(depth)?);
                continue;
            }
            let is_xor = self.takes_word("xor");
            if !is_xor && !self.takes_word("nand") {
                return Ok(any(parts));
            }
            self.joins += 1;
            if self.joins > JOINS_MAX {
                return Err(self.wrong("there are too many [xor] and [nand]"));
            }
            let (left, right) = (any(parts), self.all_of(depth)?);
            let both = Condition::And(vec![left.clone(), right.clone()]);
            let not_both = Condition::Not(Box::new(both));
            parts = vec![match is_xor {
                true => Condition::And(vec![Condition::Or(vec![left, right]), not_both]),
                false => not_both,
            }];
        }
    }

    fn all_of(&mut self, depth: usize) -> Result<Condition, Wrong> {
        let mut parts = vec![self.one(depth)?];
        while self.takes_word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => Condition::And(parts),
        })
    }

    fn one(&mut self, depth: usize) -> Result<Condition, Wrong> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("too much is inside each other"));
        }
        if self.takes("!") || self.takes_word("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes("(") {
            let inner = self.any_of(depth + 1)?;
            self.expect(")")?;
            return Ok(inner);
        }
        let left = self.operand()?;
        let signs = ["==", "!=", "<=", ">=", "=~", "!~", "<", ">"];
        let sign = signs.into_iter().find(|sign| self.takes(sign));
        let sign = match sign {
            Some(sign) => sign,
            None if self.takes_word("in") => "in",
            None if self.takes_word("not") => {
                if !self.takes_word("in") {
                    return Err(self.wrong("an [in] is missing"));
                }
                "not in"
            }
            None => match left {
                Operand::Field(field) => return Ok(Condition::There(field)),
                _ => return Err(self.wrong("a comparison is missing")),
            },
        };
        let right = self.operand()?;
        Ok(Condition::Compared(left, sign.to_owned(), right))
    }

    fn operand(&mut self) -> Result<Operand, Wrong> {
        self.pass_blanks();
        let rest = self.rest();
        if let Some(behind) = rest.strip_prefix('/') {
            let mut end = 0;
            while let Some(slash) = behind[end..].find('/') {
                let at = end + slash;
                if !behind[..at].ends_with('\\') {
                    self.at += at + 2;
                    return Ok(Operand::Regex(behind[..at].replace("\\/", "/")));
                }
                end = at + 1;
            }
            return Err(self.wrong("a regular expression has no end"));
        }
        let is_field = rest.strip_prefix('[').is_some_and(|inside| {
            let inside = inside.trim_start();
            !inside.starts_with(['"', '\'', ']'])
                && !inside.starts_with(|l: char| l.is_ascii_digit())
        });
        if !is_field {
            return self.value(0).map(Operand::Value);
        }
        let mut path = String::new();
        while self.rest().starts_with('[') {
            let end = self.rest().find(']');
            let end = end.ok_or_else(|| self.wrong("a field has no end"))?;
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&self.rest()[1..end]);
            self.at += end + 1;
        }
        Ok(Operand::Field(path))
    }
}

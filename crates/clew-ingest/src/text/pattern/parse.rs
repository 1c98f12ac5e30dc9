//! Reading an expression into a tree.

use super::known::Known;

/// Named patterns inside each other, and groups.
const DEPTH_MAX: usize = 60;
/// Repetitions that are written out.
const COUNT_MAX: u32 = 100;

/// A class of bytes.
pub(super) type Class = [bool; 256];

/// Part of an expression.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Literal(Vec<u8>),
    Class(Box<Class>),
    Sequence(Vec<Tree>),
    Alternatives(Vec<Tree>),
    Repeat {
        inner: Box<Tree>,
        least: u32,
        most: Option<u32>,
        greedy: bool,
    },
    Group(usize, Box<Tree>),
    /// What has a shortcut.
    Known(Known, Box<Tree>),
    /// What it matches first is kept.
    Atomic(Box<Tree>),
    Ahead(Box<Tree>, bool),
    /// One byte before, of a class.
    Behind(Box<Class>, bool),
    WordBoundary,
    Start,
    End,
}

impl Tree {
    /// Texts that every match has, in their order.
    pub(super) fn needed(&self) -> Vec<String> {
        let mut all = Vec::new();
        self.add_needed(&mut all);
        all
    }

    fn add_needed(&self, all: &mut Vec<String>) {
        match self {
            Tree::Literal(bytes) => all.extend(String::from_utf8(bytes.clone())),
            Tree::Sequence(parts) => parts.iter().for_each(|part| part.add_needed(all)),
            Tree::Group(_, inner) | Tree::Known(_, inner) | Tree::Atomic(inner) => {
                inner.add_needed(all);
            }
            _ => {}
        }
    }

    /// Whether it can match nothing at all.
    pub(super) fn can_be_empty(&self) -> bool {
        match self {
            Tree::Literal(bytes) => bytes.is_empty(),
            Tree::Class(_) => false,
            Tree::Sequence(parts) => parts.iter().all(Tree::can_be_empty),
            Tree::Alternatives(parts) => parts.iter().any(Tree::can_be_empty),
            Tree::Repeat { inner, least, .. } => *least == 0 || inner.can_be_empty(),
            Tree::Group(_, inner) | Tree::Known(_, inner) | Tree::Atomic(inner) => {
                inner.can_be_empty()
            }
            _ => true,
        }
    }

    /// Whether it asks for the border of a line, of which a text may have several.
    pub(super) fn has_borders(&self) -> bool {
        match self {
            Tree::Start | Tree::End => true,
            Tree::Sequence(parts) | Tree::Alternatives(parts) => {
                parts.iter().any(Tree::has_borders)
            }
            Tree::Repeat { inner, .. }
            | Tree::Group(_, inner)
            | Tree::Known(_, inner)
            | Tree::Atomic(inner)
            | Tree::Ahead(inner, _) => inner.has_borders(),
            Tree::Literal(_) | Tree::Class(_) | Tree::Behind(..) | Tree::WordBoundary => false,
        }
    }

    pub(super) fn has_groups(&self) -> bool {
        match self {
            Tree::Group(..) => true,
            Tree::Sequence(parts) | Tree::Alternatives(parts) => parts.iter().any(Tree::has_groups),
            Tree::Repeat { inner, .. }
            | Tree::Known(_, inner)
            | Tree::Atomic(inner)
            | Tree::Ahead(inner, _) => inner.has_groups(),
            _ => false,
        }
    }
}

pub(super) fn parse<'d>(
    expression: &str,
    named: &dyn Fn(&str) -> Option<&'d str>,
    names: &mut Vec<String>,
) -> Option<Tree> {
    let mut parser = Parser {
        rest: expression.as_bytes(),
        named,
        names,
        depth: 0,
    };
    let tree = parser.alternatives()?;
    parser.rest.is_empty().then_some(tree)
}

struct Parser<'e, 'd, 'n> {
    rest: &'e [u8],
    named: &'n dyn Fn(&str) -> Option<&'d str>,
    names: &'n mut Vec<String>,
    depth: usize,
}

impl Parser<'_, '_, '_> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text.as_bytes());
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn until(&mut self, end: u8) -> Option<String> {
        let at = self.rest.iter().position(|byte| *byte == end)?;
        let text = std::str::from_utf8(&self.rest[..at]).ok()?.to_owned();
        self.rest = &self.rest[at + 1..];
        Some(text)
    }

    fn alternatives(&mut self) -> Option<Tree> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let mut parts = vec![self.sequence()?];
        while self.eat("|") {
            parts.push(self.sequence()?);
        }
        self.depth -= 1;
        match parts.len() {
            1 => parts.pop(),
            _ => Some(Tree::Alternatives(parts)),
        }
    }

    fn sequence(&mut self) -> Option<Tree> {
        let mut parts: Vec<Tree> = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == b'|' || byte == b')' {
                break;
            }
            let one = self.one()?;
            let one = self.repeated(one)?;
            match (parts.last_mut(), one) {
                (Some(Tree::Literal(before)), Tree::Literal(more)) => before.extend(more),
                (_, one) => parts.push(one),
            }
        }
        Some(Tree::Sequence(parts))
    }

    fn repeated(&mut self, inner: Tree) -> Option<Tree> {
        let (least, most) = match self.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => {
                self.next();
                let counts = self.until(b'}')?;
                let (least, most) = match counts.split_once(',') {
                    None => (counts.parse().ok()?, Some(counts.parse().ok()?)),
                    Some((least, "")) => (least.parse().ok()?, None),
                    Some((least, most)) => (least.parse().ok()?, Some(most.parse().ok()?)),
                };
                if least > COUNT_MAX || most.is_some_and(|most| most > COUNT_MAX || most < least) {
                    return None;
                }
                return self.quantified(inner, least, most);
            }
            _ => return Some(inner),
        };
        self.next();
        self.quantified(inner, least, most)
    }

    fn quantified(&mut self, inner: Tree, least: u32, most: Option<u32>) -> Option<Tree> {
        let greedy = !self.eat("?");
        // Possessive repetitions, and repetitions of repetitions, are left to others.
        if matches!(self.peek(), Some(b'+' | b'*' | b'?' | b'{')) {
            return None;
        }
        Some(Tree::Repeat {
            inner: Box::new(inner),
            least,
            most,
            greedy,
        })
    }

    fn one(&mut self) -> Option<Tree> {
        if self.rest.starts_with(b"%{") {
            self.rest = &self.rest[2..];
            return self.named_pattern();
        }
        Some(match self.next()? {
            b'(' => return self.group(),
            b'[' => Tree::Class(Box::new(self.class()?)),
            b'\\' => return self.escape(),
            b'.' => Tree::Class(Box::new(class_of(|byte| byte != b'\n'))),
            b'^' => Tree::Start,
            b'$' => Tree::End,
            b'*' | b'+' | b'?' | b'{' => return None,
            byte if byte.is_ascii() => Tree::Literal(vec![byte]),
            // A letter that no line of ASCII has, with all its bytes, so that a repetition is of all of them.
            byte => {
                let mut letter = vec![byte];
                while self.peek().is_some_and(|byte| byte & 0xc0 == 0x80) {
                    letter.extend(self.next());
                }
                Tree::Literal(letter)
            }
        })
    }

    fn named_pattern(&mut self) -> Option<Tree> {
        let written = self.until(b'}')?;
        let mut parts = written.split(':');
        let name = parts.next()?;
        let group = parts.next().filter(|group| !group.is_empty());
        if name.contains('=') || written.contains('=') {
            return None;
        }
        let group = match group {
            Some(group) => Some(self.name(group)?),
            None => None,
        };
        let definition = (self.named)(name)?;
        let mut inner = Parser {
            rest: definition.as_bytes(),
            named: self.named,
            names: &mut *self.names,
            depth: self.depth,
        };
        let tree = inner.alternatives()?;
        inner.rest.is_empty().then_some(())?;
        let tree = match Known::of(name, self.named) {
            Some(known) => Tree::Known(known, Box::new(tree)),
            None => tree,
        };
        Some(match group {
            Some(group) => Tree::Group(group, Box::new(tree)),
            None => tree,
        })
    }

    /// A new group; two of one name are left to others.
    fn name(&mut self, name: &str) -> Option<usize> {
        if self.names.iter().any(|known| known == name) {
            return None;
        }
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }

    fn group(&mut self) -> Option<Tree> {
        if self.eat("?<!") {
            return self.behind(false);
        }
        if self.eat("?<=") {
            return self.behind(true);
        }
        let wrap: fn(Tree) -> Tree = if self.eat("?>") {
            |inner| Tree::Atomic(Box::new(inner))
        } else if self.eat("?!") {
            |inner| Tree::Ahead(Box::new(inner), false)
        } else if self.eat("?=") {
            |inner| Tree::Ahead(Box::new(inner), true)
        } else if self.eat("?:") {
            |inner| inner
        } else if self.eat("?<") || self.eat("?P<") {
            let name = self.until(b'>')?;
            let group = self.name(&name)?;
            let inner = self.alternatives()?;
            return self.eat(")").then(|| Tree::Group(group, Box::new(inner)));
        } else if self.peek() == Some(b'?') {
            return None;
        } else {
            |inner| inner
        };
        let inner = self.alternatives()?;
        self.eat(")").then(|| wrap(inner))
    }

    /// Looking back at one byte, behind `(?<!` or `(?<=`.
    fn behind(&mut self, wanted: bool) -> Option<Tree> {
        let class = match self.one()? {
            Tree::Class(class) => class,
            Tree::Literal(bytes) => Box::new(class_of(|byte| [byte] == bytes[..])),
            _ => return None,
        };
        self.eat(")").then_some(Tree::Behind(class, wanted))
    }

    fn escape(&mut self) -> Option<Tree> {
        let byte = self.next()?;
        if byte == b'b' {
            return Some(Tree::WordBoundary);
        }
        Some(match escaped_class(byte) {
            Some(class) => Tree::Class(Box::new(class)),
            None => Tree::Literal(vec![self.escaped_byte(byte)?]),
        })
    }

    fn escaped_byte(&mut self, byte: u8) -> Option<u8> {
        Some(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = self.rest.get(..2)?;
                self.rest = &self.rest[2..];
                let digits = std::str::from_utf8(digits).ok()?;
                u8::from_str_radix(digits, 16).ok().filter(u8::is_ascii)?
            }
            byte if byte.is_ascii_punctuation() || byte == b' ' => byte,
            _ => return None,
        })
    }

    /// The class behind `[`.
    fn class(&mut self) -> Option<Class> {
        let negated = self.eat("^");
        let mut class = [false; 256];
        let mut is_first = true;
        loop {
            let byte = self.next()?;
            if byte == b']' && !is_first {
                break;
            }
            is_first = false;
            // Classes in classes are left to others.
            if byte == b'[' || (byte == b'&' && self.peek() == Some(b'&')) {
                return None;
            }
            let low = match byte {
                b'\\' => {
                    let byte = self.next()?;
                    if let Some(inner) = escaped_class(byte) {
                        (0..256).for_each(|at| class[at] |= inner[at]);
                        continue;
                    }
                    self.escaped_byte(byte)?
                }
                byte if byte.is_ascii() => byte,
                _ => return None,
            };
            let mut high = low;
            if self.peek() == Some(b'-') && self.rest.get(1).is_some_and(|next| *next != b']') {
                self.next();
                high = match self.next()? {
                    b'\\' => {
                        let byte = self.next()?;
                        escaped_class(byte).is_none().then_some(())?;
                        self.escaped_byte(byte)?
                    }
                    b'[' => return None,
                    byte => byte,
                };
                (low <= high && high.is_ascii()).then_some(())?;
            }
            (low..=high).for_each(|byte| class[usize::from(byte)] = true);
        }
        Some(if negated {
            class.map(|is_in| !is_in)
        } else {
            class
        })
    }
}

fn class_of(is_in: impl Fn(u8) -> bool) -> Class {
    let mut class = [false; 256];
    for (byte, place) in (0..=u8::MAX).zip(&mut class) {
        *place = is_in(byte);
    }
    class
}

/// The class of an escape. Lines are ASCII, so that Unicode's classes are these.
fn escaped_class(byte: u8) -> Option<Class> {
    let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
    Some(match byte {
        b'd' => class_of(|byte| byte.is_ascii_digit()),
        b'D' => class_of(|byte| !byte.is_ascii_digit()),
        b'w' => class_of(is_word),
        b'W' => class_of(|byte| !is_word(byte)),
        b's' => class_of(is_space),
        b'S' => class_of(|byte| !is_space(byte)),
        _ => return None,
    })
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

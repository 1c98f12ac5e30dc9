//! Expressions of Java in the syntax that both our engines read: names of groups, flags, comments and quotes are taken out,
//! and classes of characters spelled.
//!
//! What is refused by name: `\G`, `\X`, `\N{…}` and `\b{g}`.

mod escape;
mod reach;

use super::flags::Flags;
use super::letters;

use escape::Meant;
use reach::Reach;

/// Most groups inside one another, and most classes.
const DEPTH_MAX: usize = 50;

/// Which engine an expression is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The one that takes as many steps as the text is long, and cannot look around.
    Linear,
    /// The one that goes back and tries again.
    Looking,
}

/// An expression in our syntax.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) text: String,
    /// What the groups are called, the whole match first.
    pub(super) names: Vec<Option<String>>,
    /// Whether it looks around or back, which the linear engine cannot.
    pub(super) looks: bool,
    /// Whether one step of the looking one may go over any length of a text.
    pub(super) goes_far: bool,
}

/// What is wrong with an expression, and at which of its characters.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) reason: String,
    pub(super) at: usize,
}

/// Translates an expression.
///
/// # Errors
/// When it is none, or has what is refused by name.
pub(super) fn translate(written: &str, flags: Flags, target: Target) -> Result<Translated, Wrong> {
    let is_literal = flags.has(Flags::LITERAL);
    let mut translator = Translator {
        letters: if is_literal {
            written.chars().collect()
        } else {
            without_quotes(written)
        },
        at: 0,
        flags,
        target,
        out: String::with_capacity(written.len()),
        names: vec![None],
        looks: false,
        reach: Reach::default(),
    };
    if is_literal {
        while let Some(letter) = translator.next() {
            translator.literal(letter);
        }
    } else {
        translator.all()?;
    }
    Ok(Translated {
        text: translator.out,
        names: translator.names,
        looks: translator.looks,
        goes_far: translator.reach.goes_far(),
    })
}

/// The letters of an expression, those between `\Q` and `\E` each behind a backslash.
fn without_quotes(written: &str) -> Vec<char> {
    let mut out = Vec::with_capacity(written.len());
    let mut letters = written.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('E')) if is_quoted => {
                letters.next();
                is_quoted = false;
            }
            ('\\', Some('Q')) if !is_quoted => {
                letters.next();
                is_quoted = true;
            }
            (letter, _) if is_quoted => {
                if !letter.is_ascii_alphanumeric() {
                    out.push('\\');
                }
                out.push(letter);
            }
            ('\\', Some(_)) => {
                out.push('\\');
                out.extend(letters.next());
            }
            (letter, _) => out.push(letter),
        }
    }
    out
}

struct Translator {
    letters: Vec<char>,
    at: usize,
    flags: Flags,
    target: Target,
    out: String,
    names: Vec<Option<String>>,
    looks: bool,
    reach: Reach,
}

impl Translator {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        Some(letter)
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let length = wanted.chars().count();
        let rest = self.letters.iter().copied().skip(self.at);
        let is_there = rest.take(length).eq(wanted.chars());
        if is_there {
            self.at += length;
        }
        is_there
    }

    /// The letters up to a sign, which is taken with them.
    fn until(&mut self, end: char) -> Option<String> {
        let rest = self.letters.get(self.at..)?;
        let length = rest.iter().position(|letter| *letter == end)?;
        let name = rest.iter().take(length).collect();
        self.at += length + 1;
        Some(name)
    }

    fn wrong<T>(&self, reason: impl Into<String>) -> Result<T, Wrong> {
        Err(Wrong {
            reason: reason.into(),
            at: self.at.saturating_sub(1),
        })
    }

    fn all(&mut self) -> Result<(), Wrong> {
        let mut open: Vec<Flags> = Vec::new();
        let mut can_repeat = false;
        while let Some(letter) = self.next() {
            if self.skips(letter) {
                continue;
            }
            if !matches!(letter, '(' | ')' | '|' | '?' | '*' | '+' | '{') {
                self.reach.part();
            }
            match letter {
                '(' => {
                    can_repeat = !self.group(&mut open)? && can_repeat;
                    continue;
                }
                ')' => match open.pop() {
                    Some(before) => {
                        self.flags = before;
                        self.reach.closed();
                        self.out.push(')');
                    }
                    None => return self.wrong("Unmatched closing ')'"),
                },
                '|' => {
                    self.reach.branched();
                    self.out.push('|');
                    can_repeat = false;
                    continue;
                }
                '?' | '*' | '+' | '{' => self.repeated(letter, can_repeat)?,
                '[' => {
                    let class = self.class(0)?;
                    self.push_class(&class);
                }
                '\\' => match self.escape()? {
                    Meant::One(letter) => self.literal(letter),
                    Meant::Class(text) | Meant::Outside(text) => self.out.push_str(&text),
                },
                '.' | '^' | '$' => self.sign(letter),
                other => self.literal(other),
            }
            can_repeat = !matches!(letter, '?' | '*' | '+' | '{');
        }
        if open.is_empty() {
            return Ok(());
        }
        self.at += 1;
        self.wrong("Unclosed group")
    }

    /// Whether a letter is there for the reader alone; the rest of its comment is passed over.
    fn skips(&mut self, letter: char) -> bool {
        if !self.flags.has(Flags::COMMENTS) {
            return false;
        }
        if letter == '#' {
            while self
                .next()
                .is_some_and(|letter| !matches!(letter, '\n' | '\r'))
            {}
            return true;
        }
        letter.is_ascii_whitespace() || letter == '\u{b}'
    }

    /// A letter that means itself.
    fn literal(&mut self, letter: char) {
        let ignores_case = self.flags.has(Flags::IGNORE_CASE);
        if ignores_case && letter.is_ascii_alphabetic() {
            self.out.push('[');
            self.out.push(letter.to_ascii_lowercase());
            self.out.push(letter.to_ascii_uppercase());
            self.out.push(']');
        } else if ignores_case && self.flags.has(Flags::UNICODE_CASE) && letter.is_alphabetic() {
            self.out.push_str("(?i:");
            self.out.push(letter);
            self.out.push(')');
        } else {
            push_one(&mut self.out, letter);
        }
    }

    fn push_class(&mut self, class: &str) {
        if self.flags.has(Flags::IGNORE_CASE) {
            self.out.push_str("(?i:");
            self.out.push_str(class);
            self.out.push(')');
        } else {
            self.out.push_str(class);
        }
    }

    fn sign(&mut self, sign: char) {
        let is_unix = self.flags.has(Flags::UNIX_LINES);
        let is_exact = self.target == Target::Looking && !is_unix;
        let text = match sign {
            '.' if self.flags.has(Flags::DOT_ALL) => "(?s:.)",
            '.' if is_exact => r"[^\x{a}\x{d}\x{85}\x{2028}\x{2029}]",
            '.' => r"[^\x{a}]",
            '^' if self.flags.has(Flags::MULTILINE) => "(?m:^)",
            '^' => r"\A",
            _ if self.flags.has(Flags::MULTILINE) => "(?m:$)",
            // The end of a line at the very end does not count.
            _ if is_exact => LAST_LINE_END,
            _ => r"\z",
        };
        self.out.push_str(text);
    }

    /// What a parenthesis opens; false where it only turns switches.
    fn group(&mut self, open: &mut Vec<Flags>) -> Result<bool, Wrong> {
        if open.len() >= DEPTH_MAX {
            return self.wrong(format!("more than {DEPTH_MAX} groups inside one another"));
        }
        let before = self.flags;
        if !self.takes("?") {
            self.names.push(None);
            self.out.push('(');
            self.reach.opened(false);
            open.push(before);
            return Ok(true);
        }
        for start in ["=", "!", "<=", "<!", ">"] {
            if self.takes(start) {
                self.looks = true;
                self.out.push_str("(?");
                self.out.push_str(start);
                self.reach.opened(true);
                open.push(before);
                return Ok(true);
            }
        }
        if self.takes("<") || self.takes("P<") {
            let name = self.group_name()?;
            self.names.push(Some(name));
            self.out.push('(');
            self.reach.opened(false);
            open.push(before);
            return Ok(true);
        }
        let mut is_on = true;
        loop {
            match self.next() {
                Some('-') if is_on => is_on = false,
                Some(':') => {
                    self.out.push_str("(?:");
                    self.reach.opened(false);
                    open.push(before);
                    return Ok(true);
                }
                Some(')') => return Ok(false),
                Some(letter) => match Flags::of_letter(letter) {
                    Some(flag) if is_on => self.flags.turn_on(flag),
                    Some(flag) => self.flags.turn_off(flag),
                    None => return self.wrong("Unknown inline modifier"),
                },
                None => return self.wrong("Unknown inline modifier"),
            }
        }
    }

    /// The name of a group, up to the sign behind it. Those with `_` and dots, which Java has not, are names of fields.
    fn group_name(&mut self) -> Result<String, Wrong> {
        let start = self.at;
        let Some(name) = self.until('>') else {
            return self.wrong("named capturing group is missing trailing '>'");
        };
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            self.at = start + 1;
            return self.wrong("capturing group name does not start with a Latin letter");
        }
        let is_part = |letter: char| {
            letter.is_alphanumeric() || matches!(letter, '_' | '.' | '[' | ']' | '@' | '-')
        };
        if !name.chars().all(is_part) {
            return self.wrong("named capturing group is missing trailing '>'");
        }
        if self.names.iter().flatten().any(|known| *known == name) {
            return self.wrong(format!("Named capturing group <{name}> is already defined"));
        }
        Ok(name)
    }

    /// How often the last one may come.
    fn repeated(&mut self, sign: char, can_repeat: bool) -> Result<(), Wrong> {
        let mut most = if sign == '?' { 1 } else { u32::MAX };
        if sign == '{' {
            let start = self.at;
            let counts = self.until('}');
            let counts = counts.filter(|counts| can_repeat && is_repetition(counts));
            let Some(counts) = counts else {
                self.at = start + 1;
                return self.wrong("Illegal repetition");
            };
            most = most_of(&counts);
            self.out.push('{');
            self.out.push_str(&counts);
            self.out.push('}');
        } else if can_repeat {
            self.out.push(sign);
        } else {
            return self.wrong(format!("Dangling meta character '{sign}'"));
        }
        let mut keeps = false;
        if self.takes("?") {
            self.out.push('?');
        } else if self.takes("+") {
            // It does not give back what it has.
            keeps = true;
            self.looks = true;
            self.out.push('+');
        }
        self.reach.repeated(most, keeps);
        Ok(())
    }

    /// A class, whose bracket has been taken.
    fn class(&mut self, depth: usize) -> Result<String, Wrong> {
        if depth >= DEPTH_MAX {
            return self.wrong(format!("more than {DEPTH_MAX} classes inside one another"));
        }
        let mut out = String::from("[");
        if self.takes("^") {
            out.push('^');
        }
        let mut is_first = true;
        loop {
            let Some(letter) = self.next() else {
                return self.wrong("Unclosed character class");
            };
            if self.skips(letter) {
                continue;
            }
            match letter {
                ']' if !is_first => {
                    out.push(']');
                    return Ok(out);
                }
                '[' => out.push_str(&self.class_inside(depth)?),
                '&' if self.takes("&") => out.push_str("&&"),
                '\\' => match self.escape()? {
                    Meant::One(letter) => self.range(letter, &mut out)?,
                    Meant::Class(class) => out.push_str(&class),
                    Meant::Outside(_) => return self.wrong("Illegal/unsupported escape sequence"),
                },
                other => self.range(other, &mut out)?,
            }
            is_first = false;
        }
    }

    fn class_inside(&mut self, depth: usize) -> Result<String, Wrong> {
        let start = self.at;
        if self.takes(":")
            && let Some(name) = self.until(':')
            && let Some(class) = letters::of_brackets(&name)
            && self.takes("]")
        {
            return Ok(class);
        }
        self.at = start;
        self.class(depth + 1)
    }

    /// A character of a class, or all from it to another one.
    fn range(&mut self, first: char, out: &mut String) -> Result<(), Wrong> {
        push_one(out, first);
        let after = self.letters.get(self.at + 1).copied();
        if self.peek() != Some('-') || matches!(after, None | Some(']' | '[')) {
            return Ok(());
        }
        self.at += 1;
        let last = match self.next() {
            Some('\\') => match self.escape()? {
                Meant::One(letter) => letter,
                Meant::Class(class) => {
                    // As in `[+-\d]`: the sign between them is one of the class.
                    push_one(out, '-');
                    out.push_str(&class);
                    return Ok(());
                }
                Meant::Outside(_) => return self.wrong("Illegal/unsupported escape sequence"),
            },
            Some(letter) => letter,
            None => return self.wrong("Unclosed character class"),
        };
        if last < first {
            return self.wrong("Illegal character range");
        }
        out.push('-');
        push_one(out, last);
        Ok(())
    }
}

/// The end of a text, or where nothing but the end of its last line follows.
const LAST_LINE_END: &str = r"(?=(?:\x{d}\x{a}|[\x{a}\x{d}\x{85}\x{2028}\x{2029}])?\z)";

/// Whether counts are those of a repetition: `3`, `3,` or `3,5`.
fn is_repetition(counts: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| !text.starts_with('+'));
    match counts.split_once(',') {
        None => number(counts).is_some(),
        Some((least, "")) => number(least).is_some(),
        Some((least, most)) => match (number(least), number(most)) {
            (Some(least), Some(most)) => least <= most,
            _ => false,
        },
    }
}

/// How often at most something comes by such counts.
fn most_of(counts: &str) -> u32 {
    let most = counts.rsplit(',').next().unwrap_or_default();
    most.parse().unwrap_or(u32::MAX)
}

/// A character that means itself, in a class or outside.
fn push_one(out: &mut String, letter: char) {
    if letter.is_alphanumeric() {
        out.push(letter);
    } else {
        out.push_str(&format!(r"\x{{{:x}}}", u32::from(letter)));
    }
}

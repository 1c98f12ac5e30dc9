//! What a backslash makes of the letters behind it.

use super::super::flags::Flags;
use super::super::letters;
use super::{LAST_LINE_END, Target, Translator, Wrong};

/// What an escape means.
pub(super) enum Meant {
    One(char),
    /// A class.
    Class(String),
    /// Something that has no place in a class.
    Outside(String),
}

impl Translator {
    /// What stands behind a backslash.
    pub(super) fn escape(&mut self) -> Result<Meant, Wrong> {
        let Some(letter) = self.next() else {
            return self.wrong("Unexpected internal error");
        };
        let is_unicode = self.flags.has(Flags::UNICODE);
        if let Some(class) = letters::of_letter(letter, is_unicode) {
            return Ok(Meant::Class(class));
        }
        Ok(match letter {
            't' => Meant::One('\t'),
            'n' => Meant::One('\n'),
            'r' => Meant::One('\r'),
            'f' => Meant::One('\u{c}'),
            'a' => Meant::One('\u{7}'),
            'e' => Meant::One('\u{1b}'),
            '0' | 'x' | 'u' | 'c' => Meant::One(self.code(letter)?),
            'p' | 'P' => Meant::Class(self.property(letter == 'P')?),
            'R' => Meant::Outside(format!(r"(?:\x{{d}}\x{{a}}|[{}])", letters::LINE_ENDS)),
            'A' => Meant::Outside(r"\A".to_string()),
            'z' => Meant::Outside(r"\z".to_string()),
            'Z' => {
                self.looks = true;
                Meant::Outside(LAST_LINE_END.to_string())
            }
            'b' | 'B' if self.peek() != Some('{') => Meant::Outside(self.edge(letter == 'b')),
            'k' => {
                let name = if self.takes("<") {
                    self.until('>')
                } else {
                    None
                };
                let known = |name: &String| {
                    self.names
                        .iter()
                        .position(|known| known.as_ref() == Some(name))
                };
                match name.as_ref().map(|name| (name, known(name))) {
                    Some((_, Some(group))) => self.reference(group),
                    Some((name, None)) => {
                        return self
                            .wrong(format!("named capturing group <{name}> does not exist"));
                    }
                    None => {
                        return self.wrong(r"\k is not followed by '<' for named capturing group");
                    }
                }
            }
            '1'..='9' => {
                let group = self.group_number(letter)?;
                self.reference(group)
            }
            letter if letter.is_ascii_alphabetic() => {
                return self.wrong("Illegal/unsupported escape sequence");
            }
            other => Meant::One(other),
        })
    }

    /// A group that must match once more what it has matched.
    fn reference(&mut self, group: usize) -> Meant {
        self.looks = true;
        Meant::Outside(format!(r"(?:\{group})"))
    }

    /// The number of a group that is there already: it goes on while there is such a group.
    fn group_number(&mut self, first: char) -> Result<usize, Wrong> {
        let digit = |letter: char| {
            letter
                .to_digit(10)
                .and_then(|digit| usize::try_from(digit).ok())
        };
        let mut number = digit(first).unwrap_or(0);
        if number >= self.names.len() {
            return self.wrong(format!("there is no group {number} before it"));
        }
        while let Some(next) = self.peek().and_then(digit) {
            let longer = number * 10 + next;
            if longer >= self.names.len() {
                break;
            }
            number = longer;
            self.at += 1;
        }
        Ok(number)
    }

    /// Where a word begins or ends, or where none does.
    fn edge(&self, is_edge: bool) -> String {
        let is_unicode = self.flags.has(Flags::UNICODE);
        let word = letters::of_letter('w', is_unicode).unwrap_or_default();
        match (self.target, is_edge) {
            (Target::Looking, true) => {
                format!("(?:(?<={word})(?!{word})|(?<!{word})(?={word}))")
            }
            (Target::Looking, false) => {
                format!("(?:(?<={word})(?={word})|(?<!{word})(?!{word}))")
            }
            (Target::Linear, true) if !is_unicode => r"(?-u:\b)".to_string(),
            (Target::Linear, true) => r"\b".to_string(),
            (Target::Linear, false) => r"\B".to_string(),
        }
    }

    /// A character by its number.
    fn code(&mut self, kind: char) -> Result<char, Wrong> {
        let number = match kind {
            'c' => self.next().map(|letter| u32::from(letter) ^ 64),
            '0' => {
                let most = if matches!(self.peek(), Some('0'..='3')) {
                    3
                } else {
                    2
                };
                self.digits(8, 1, most)
            }
            _ if self.takes("{") => {
                let digits = self.until('}').unwrap_or_default();
                u32::from_str_radix(&digits, 16).ok()
            }
            'x' => self.digits(16, 2, 2),
            _ => match self.digits(16, 4, 4) {
                // Two halves of one.
                Some(high @ 0xd800..=0xdbff) if self.takes("\\u") => match self.digits(16, 4, 4) {
                    Some(low @ 0xdc00..=0xdfff) => {
                        Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => None,
                },
                one => one,
            },
        };
        match number.and_then(char::from_u32) {
            Some(letter) => Ok(letter),
            None => self.wrong(match kind {
                'c' => "Illegal control escape sequence",
                '0' => "Illegal octal escape sequence",
                'x' => "Illegal hexadecimal escape sequence",
                _ => "Illegal Unicode escape sequence",
            }),
        }
    }

    /// A number of so many digits; of less, nothing is taken.
    fn digits(&mut self, radix: u32, least: usize, most: usize) -> Option<u32> {
        let rest = self.letters.iter().skip(self.at).take(most);
        let digits: Vec<u32> = rest.map_while(|letter| letter.to_digit(radix)).collect();
        if digits.len() < least {
            return None;
        }
        self.at += digits.len();
        Some(
            digits
                .iter()
                .fold(0, |number, digit| number * radix + digit),
        )
    }

    /// A class by its name.
    fn property(&mut self, is_negated: bool) -> Result<String, Wrong> {
        let name = match self.next() {
            Some('{') => match self.until('}') {
                Some(name) => name,
                None => return self.wrong("Unclosed character family"),
            },
            Some(letter) => letter.to_string(),
            None => return self.wrong("Illegal/unsupported escape sequence"),
        };
        let is_unicode = self.flags.has(Flags::UNICODE);
        match letters::of_name(&name, is_negated, is_unicode) {
            Some(class) => Ok(class),
            None => self.wrong(format!("Unknown character property name {{{name}}}")),
        }
    }
}

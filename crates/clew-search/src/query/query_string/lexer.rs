//! Tokens of the strict query language.

use clew_platform::Pace;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    And,
    Or,
    Not,
    Plus,
    Minus,
    Open,
    Close,
    /// A word directly followed by a colon.
    Field(String),
    Word {
        text: String,
        pattern: Option<String>,
    },
    Phrase(String),
    /// What stands between brackets, and whether the ends belong to it.
    Range {
        low: Option<String>,
        high: Option<String>,
        low_inclusive: bool,
        high_inclusive: bool,
    },
    /// `>=5` and the like: the operator and the value.
    Compare(&'static str, String),
    Regexp(String),
    /// `~` and what follows it.
    Tilde(String),
    Boost(f32),
}

struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::CharIndices<'a>>,
    tokens: Vec<Token>,
}

/// All tokens; less once the request that the thread works for is over.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut lexer = Lexer {
        rest: text.char_indices().peekable(),
        tokens: Vec::new(),
    };
    let mut pace = Pace::default();
    while let Some((at, character)) = lexer.rest.peek().copied() {
        if pace.is_over() {
            break;
        }
        lexer.token(at, character)?;
    }
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn token(&mut self, at: usize, character: char) -> Result<(), String> {
        let single = match character {
            space if space.is_whitespace() => {
                self.rest.next();
                return Ok(());
            }
            '(' => Some(Token::Open),
            ')' => Some(Token::Close),
            '+' => Some(Token::Plus),
            '-' => Some(Token::Minus),
            '!' => Some(Token::Not),
            _ => None,
        };
        if let Some(token) = single {
            self.rest.next();
            let is_bare = matches!(character, '+' | '-' | '!')
                && self
                    .rest
                    .peek()
                    .is_some_and(|(_, next)| next.is_whitespace());
            // A sign before white space is a word like others.
            self.tokens.push(match is_bare {
                true => Token::Word {
                    text: character.to_string(),
                    pattern: None,
                },
                false => token,
            });
            return Ok(());
        }
        let token = match character {
            '"' => Token::Phrase(self.until('"', at)?),
            '/' => Token::Regexp(self.until('/', at)?),
            '[' | '{' => self.range(character == '[', at)?,
            '~' => {
                self.rest.next();
                Token::Tilde(self.distance_text())
            }
            '^' => {
                self.rest.next();
                let number = self.number_text();
                Token::Boost(
                    number
                        .parse()
                        .map_err(|_| format!("boost expected at {at}"))?,
                )
            }
            '<' | '>' => self.comparison(character),
            ']' | '}' | ':' => return Err(format!("unexpected [{character}] at {at}")),
            _ => self.word(at)?,
        };
        self.tokens.push(token);
        Ok(())
    }

    /// What stands behind a tilde, whatever it is: whether it is a distance is seen by who needs one.
    fn distance_text(&mut self) -> String {
        let mut text = String::new();
        let belongs = |next: char| !ends_word(next) && !matches!(next, '*' | '?');
        while let Some((_, character)) = self.rest.next_if(|(_, next)| belongs(*next)) {
            text.push(character);
        }
        text
    }

    fn number_text(&mut self) -> String {
        let mut text = String::new();
        while let Some((_, digit)) = self
            .rest
            .next_if(|(_, next)| next.is_ascii_digit() || *next == '.')
        {
            text.push(digit);
        }
        text
    }

    /// What stands before the closing character; a backslash takes the next one as it is.
    fn until(&mut self, close: char, at: usize) -> Result<String, String> {
        self.rest.next();
        let mut text = String::new();
        while let Some((_, character)) = self.rest.next() {
            if character == close {
                return Ok(text);
            }
            if character == '\\' {
                let (_, next) = self.rest.next().ok_or("text ends in a backslash")?;
                if close == '/' && next != '/' {
                    text.push('\\');
                }
                text.push(next);
            } else {
                text.push(character);
            }
        }
        Err(format!("[{close}] opened at {at} is not closed"))
    }

    fn comparison(&mut self, first: char) -> Token {
        self.rest.next();
        let equal = self.rest.next_if(|(_, next)| *next == '=').is_some();
        while self
            .rest
            .next_if(|(_, next)| next.is_whitespace())
            .is_some()
        {}
        let mut text = String::new();
        let quoted = self.rest.next_if(|(_, next)| *next == '"').is_some();
        let ends = |next: char| {
            if quoted {
                next == '"'
            } else {
                next.is_whitespace() || matches!(next, '(' | ')' | '^')
            }
        };
        while let Some((_, next)) = self.rest.next_if(|(_, next)| !ends(*next)) {
            text.push(next);
        }
        if quoted {
            self.rest.next();
        }
        let operator = match (first, equal) {
            ('>', true) => ">=",
            ('>', false) => ">",
            (_, true) => "<=",
            (_, false) => "<",
        };
        Token::Compare(operator, text)
    }

    fn range(&mut self, low_inclusive: bool, at: usize) -> Result<Token, String> {
        self.rest.next();
        let mut parts: Vec<String> = Vec::new();
        let high_inclusive = loop {
            match self.rest.peek().copied() {
                None => return Err(format!("range opened at {at} is not closed")),
                Some((_, ']' | '}')) => {
                    let closing = self.rest.next();
                    break matches!(closing, Some((_, ']')));
                }
                Some((_, space)) if space.is_whitespace() => {
                    self.rest.next();
                }
                Some((inner, '"')) => parts.push(self.until('"', inner)?),
                Some(_) => {
                    let mut part = String::new();
                    while let Some((_, next)) = self
                        .rest
                        .next_if(|(_, next)| !next.is_whitespace() && !matches!(next, ']' | '}'))
                    {
                        if next != '\\' {
                            part.push(next);
                        } else if let Some((_, escaped)) = self.rest.next() {
                            part.push(escaped);
                        }
                    }
                    parts.push(part);
                }
            }
        };
        let [low, to, high] = <[String; 3]>::try_from(parts)
            .map_err(|_| format!("range at {at} must read [low TO high]"))?;
        if to != "TO" {
            return Err(format!("range at {at} must read [low TO high]"));
        }
        let end = |text: String| (text != "*").then_some(text);
        Ok(Token::Range {
            low: end(low),
            high: end(high),
            low_inclusive,
            high_inclusive,
        })
    }

    fn word(&mut self, at: usize) -> Result<Token, String> {
        let (mut text, mut pattern) = (String::new(), String::new());
        let (mut wild, mut escaped) = (false, false);
        while let Some((_, character)) = self.rest.next_if(|(_, next)| !ends_word(*next)) {
            match character {
                '\\' => {
                    let (_, next) = self
                        .rest
                        .next()
                        .ok_or_else(|| format!("text ends in a backslash at {at}"))?;
                    escaped = true;
                    text.push(next);
                    pattern.push('\\');
                    pattern.push(next);
                }
                other => {
                    wild |= matches!(other, '*' | '?');
                    text.push(other);
                    pattern.push(other);
                }
            }
        }
        if self.rest.next_if(|(_, next)| *next == ':').is_some() {
            return Ok(Token::Field(text));
        }
        Ok(match (text.as_str(), escaped) {
            // A sign of these alone, or beside letters, is a word like others.
            ("AND" | "&&", false) => Token::And,
            ("OR" | "||", false) => Token::Or,
            ("NOT", false) => Token::Not,
            _ => Token::Word {
                pattern: wild.then_some(pattern),
                text,
            },
        })
    }
}

fn ends_word(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '(' | ')' | '"' | '~' | '^' | ':' | '[' | ']' | '{' | '}' | '/' | '!'
        )
}

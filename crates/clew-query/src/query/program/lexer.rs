//! From the text of a script to its words and signs.

/// A word or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Whole(i64),
    /// A whole number with an `L` behind it.
    Long(i64),
    Float(f64),
    Text(String),
    Word(String),
    /// A regular expression between slashes, and the letters of its flags.
    Regex(String, String),
    Sign(&'static str),
    End,
}

/// Signs, so that none stands before one that begins with it.
const SIGNS: &[&str] = &[
    ">>>=", "===", "!==", "<<=", ">>=", ">>>", "==~", "==", "!=", "<=", ">=", "&&", "||", "++",
    "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "=~", "?.", "?:", "<<", ">>", "->", "::",
    "(", ")", "{", "}", "[", "]", ".", ",", ";", "?", ":", "+", "-", "*", "/", "%", "<", ">", "=",
    "!", "&", "|", "^", "~",
];

/// The tokens with the bytes where they begin; the last is the end.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut found: Vec<(usize, Token)> = Vec::new();
    let mut at = 0;
    loop {
        at += space(&text[at..]).map_err(|reason| format!("{reason} at [{at}]"))?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            found.push((at, Token::End));
            return Ok(found);
        };
        let (token, length) = if first.is_ascii_digit() || starts_fraction(rest) {
            number(rest).ok_or_else(|| format!("invalid number at [{at}]"))?
        } else if first == '\'' || first == '"' {
            quoted(rest, first).ok_or_else(|| format!("a text that begins at [{at}] has no end"))?
        } else if first == '/' && stands_before_value(&found) {
            regex(rest)
                .ok_or_else(|| format!("a regular expression that begins at [{at}] has no end"))?
        } else if is_letter(first) {
            let end = rest.find(|c| !is_letter(c) && !c.is_ascii_digit());
            let word = &rest[..end.unwrap_or(rest.len())];
            (Token::Word(word.to_string()), word.len())
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("unexpected character [{first}] at [{at}]"))?;
            // A choice may have a fraction behind it.
            let sign = match *sign {
                "?." if starts_fraction(&rest[1..]) => "?",
                sign => sign,
            };
            (Token::Sign(sign), sign.len())
        };
        found.push((at, token));
        at += length;
    }
}

/// Words behind which a value stands, and no operator.
const BEFORE_VALUES: &[&str] = &["return", "else", "do", "in", "throw", "instanceof"];

/// Whether a value may begin behind tokens: a slash divides where one has just ended.
fn stands_before_value(tokens: &[(usize, Token)]) -> bool {
    let mut backwards = tokens.iter().rev().map(|(_, token)| token);
    match backwards.next() {
        None => true,
        Some(Token::Word(word)) => {
            // A member may be called like any word.
            let is_member = matches!(backwards.next(), Some(Token::Sign("." | "?.")));
            !is_member && BEFORE_VALUES.contains(&word.as_str())
        }
        Some(Token::Sign(sign)) => !matches!(*sign, ")" | "]" | "}" | "++" | "--"),
        Some(
            Token::Whole(_)
            | Token::Long(_)
            | Token::Float(_)
            | Token::Text(_)
            | Token::Regex(..)
            | Token::End,
        ) => false,
    }
}

/// `/a+/i`: a backslash takes the next letter with it, and both stay as they are written.
fn regex(text: &str) -> Option<(Token, usize)> {
    let mut letters = text.char_indices().skip(1);
    let end = loop {
        match letters.next()? {
            (_, '\n') => return None,
            (_, '\\') if letters.next()?.1 == '\n' => return None,
            (at, '/') => break at,
            _ => {}
        }
    };
    let written = text.get(1..end)?;
    let end = end + 1;
    let rest = text.get(end..)?;
    let flags = rest.find(|letter: char| !letter.is_ascii_alphabetic());
    let flags = rest.get(..flags.unwrap_or(rest.len()))?;
    let token = Token::Regex(written.to_string(), flags.to_string());
    Some((token, end + flags.len()))
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || letter == '$'
}

fn starts_fraction(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next() == Some('.') && letters.next().is_some_and(|next| next.is_ascii_digit())
}

/// How many bytes of space and comments there are.
fn space(text: &str) -> Result<usize, String> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").ok_or("a comment has no end")?;
            rest = &comment[end + 2..];
        } else {
            return Ok(text.len() - rest.len());
        }
    }
}

fn quoted(text: &str, quote: char) -> Option<(Token, usize)> {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                other => value.push(other),
            },
            end if end == quote => return Some((Token::Text(value), at + 1)),
            other => value.push(other),
        }
    }
    None
}

fn number(text: &str) -> Option<(Token, usize)> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if let Some(digits) = hexadecimal {
        let end = digits.find(|c: char| !c.is_ascii_hexdigit());
        let digits = &digits[..end.unwrap_or(digits.len())];
        let bits = u64::from_str_radix(digits, 16).ok()?;
        let length = 2 + digits.len();
        let has_letter = text[length..].starts_with(['L', 'l']);
        // The highest of 32 bits is a sign where nothing says that there are more.
        let value = match u32::try_from(bits) {
            Ok(bits) if !has_letter => i64::from(i32::from_ne_bytes(bits.to_ne_bytes())),
            _ => i64::from_ne_bytes(bits.to_ne_bytes()),
        };
        let token = match has_letter {
            true => Token::Long(value),
            false => Token::Whole(value),
        };
        return Some((token, length + usize::from(has_letter)));
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = digits(0);
    let mut is_whole = true;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        is_whole = false;
        end += 1 + digits(end + 1);
    } else if bytes.get(end) == Some(&b'.')
        && !bytes.get(end + 1).is_some_and(u8::is_ascii_alphabetic)
    {
        is_whole = false;
        end += 1;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            is_whole = false;
            end += 1 + sign + exponent;
        }
    }
    let written = &text[..end];
    let width = bytes.get(end).copied();
    let (token, has_letter) = match width {
        Some(b'f' | b'F' | b'd' | b'D') => (Token::Float(written.parse().ok()?), true),
        Some(b'l' | b'L') if is_whole => (Token::Long(whole(written)?), true),
        _ if is_whole => (Token::Whole(whole(written)?), false),
        _ => (Token::Float(written.parse().ok()?), false),
    };
    Some((token, end + usize::from(has_letter)))
}

/// A whole number, in eights where a zero stands first. The least one has no positive of its size: its minus stands before
/// it and leaves it as it is.
fn whole(digits: &str) -> Option<i64> {
    if let Some(eights) = digits.strip_prefix('0')
        && !eights.is_empty()
    {
        return i64::from_str_radix(eights, 8).ok();
    }
    let size: u64 = digits.parse().ok()?;
    match size == i64::MIN.unsigned_abs() {
        true => Some(i64::MIN),
        false => i64::try_from(size).ok(),
    }
}

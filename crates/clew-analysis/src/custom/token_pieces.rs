//! The words of which scripts that choose terms are made.

/// Signs, those first that begin like others.
const SIGNS: [&str; 22] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", ".", ",", "+",
    "-", "*", "/", "%", ";",
];

/// A word of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Name(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
}

/// Says that a piece stands where it may not.
pub(super) fn not_understood(piece: &Piece) -> String {
    let written = match piece {
        Piece::Name(text) | Piece::Text(text) => text.clone(),
        Piece::Number(number) => number.to_string(),
        Piece::Sign(sign) => (*sign).to_string(),
    };
    format!("compile error: [{written}] is not understood in a script about a token")
}

/// A script in its pieces.
///
/// # Errors
/// A reason, when a character begins none, a text has no end or a number is too large.
pub(super) fn pieces(source: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = |belongs: fn(char) -> bool| {
            let end = rest.find(|letter: char| !belongs(letter));
            end.unwrap_or(rest.len())
        };
        let (piece, behind) = if first.is_ascii_digit() {
            let (digits, behind) = rest.split_at(length(|letter: char| letter.is_ascii_digit()));
            let number = digits.parse::<i64>();
            let number = number.map_err(|_| format!("[{digits}] is too large a number"))?;
            (Piece::Number(number), behind)
        } else if first.is_ascii_alphabetic() || first == '_' {
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let (name, behind) = rest.split_at(length(is_part));
            (Piece::Name(name.to_string()), behind)
        } else if first == '\'' || first == '"' {
            let (text, behind) = quoted(&rest[1..], first)?;
            (Piece::Text(text), behind)
        } else {
            let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign));
            let sign =
                sign.ok_or_else(|| format!("compile error: unexpected character [{first}]"))?;
            (Piece::Sign(sign), &rest[sign.len()..])
        };
        pieces.push(piece);
        rest = behind.trim_start();
    }
    Ok(pieces)
}

/// A text up to the sign that it began with, and what stands behind it.
fn quoted(source: &str, end: char) -> Result<(String, &str), String> {
    let mut text = String::new();
    let mut letters = source.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next().map(|(_, letter)| letter)),
            letter if letter == end => return Ok((text, &source[at + letter.len_utf8()..])),
            letter => text.push(letter),
        }
    }
    Err("compile error: a text has no end".to_string())
}

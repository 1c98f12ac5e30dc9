//! Writing JSON straight into a byte buffer: no tree, no copies beyond the final one.

/// Appends a string with its quotes.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Appends text that is known to be UTF-8, escaping what JSON requires and nothing else.
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut copied = 0;
    let mut index = 0;
    while index < bytes.len() {
        if let Some(word) = bytes.get(index..index + 8) {
            let word = u64::from_le_bytes(word.try_into().expect("the slice has eight bytes"));
            let found = special_bytes(word);
            if found == 0 {
                index += 8;
                continue;
            }
            index += (found.trailing_zeros() / 8) as usize;
        }
        if is_special(bytes[index]) {
            out.extend_from_slice(&bytes[copied..index]);
            push_escape(out, bytes[index]);
            copied = index + 1;
        }
        index += 1;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Where the next byte is, from a place on, that JSON wants escaped; the length if there is none.
#[inline]
pub(crate) fn next_special(bytes: &[u8], from: usize) -> usize {
    let mut index = from;
    while let Some(word) = bytes.get(index..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            // The lowest one is always right.
            return index + (found.trailing_zeros() / 8) as usize;
        }
        index += 8;
    }
    while index < bytes.len() && !is_special(bytes[index]) {
        index += 1;
    }
    index
}

/// Where the first byte is that JSON wants escaped, and where behind the last; both are the length where there is none.
pub(crate) fn to_escape(bytes: &[u8]) -> (usize, usize) {
    const WIDTH: usize = 32;
    let is_clean = |chunk: &[u8]| {
        let found = chunk.iter().fold(0, |found, &byte| {
            found | u8::from(byte < 0x20) | u8::from(byte == b'"') | u8::from(byte == b'\\')
        });
        found == 0
    };
    // Whole chunks first, which the compiler turns into vectors.
    let clean = bytes
        .chunks_exact(WIDTH)
        .take_while(|chunk| is_clean(chunk));
    let from = WIDTH * clean.count();
    let Some(first) = bytes[from..].iter().position(|&byte| is_special(byte)) else {
        return (bytes.len(), bytes.len());
    };
    let rest = &bytes[from + first..];
    let clean = rest
        .rchunks_exact(WIDTH)
        .take_while(|chunk| is_clean(chunk));
    let upto = rest.len() - WIDTH * clean.count();
    let last = rest[..upto].iter().rposition(|&byte| is_special(byte));
    (from + first, from + first + last.map_or(0, |last| last + 1))
}

/// Appends a whole number.
pub fn push_number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + u8::try_from(value % 10).expect("a digit is below ten");
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The top bit of each byte that may need an escape. The lowest bit set is always right; borrow
/// can set higher ones by mistake, which the caller's own check of the byte catches.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let zero_in = |value: u64| value.wrapping_sub(ONES) & !value;
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero_in(word ^ (ONES * u64::from(b'"')));
    let backslash = zero_in(word ^ (ONES * u64::from(b'\\')));
    (below_space | quote | backslash) & TOPS
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_escaped_is_found_at_every_place() {
        for length in 0..100 {
            for first in 0..=length {
                for last in first..=length {
                    let mut text = vec![b'a'; length];
                    for at in [first, last] {
                        if let Some(byte) = text.get_mut(at) {
                            *byte = b'"';
                        }
                    }
                    let has = |byte: &u8| *byte == b'"';
                    let start = text.iter().position(has).unwrap_or(length);
                    let end = text.iter().rposition(has).map_or(length, |at| at + 1);
                    assert_eq!(to_escape(&text), (start, end), "{length} {first} {last}");
                }
            }
        }
    }

    #[test]
    fn every_byte_at_every_place_of_a_word_survives_escaping() {
        for code in 0..=0x2ff_u32 {
            let Some(letter) = char::from_u32(code) else {
                continue;
            };
            for place in 0..17 {
                let text = format!("{}{letter}{}", "a".repeat(place), "\u{7f}b é\"".repeat(2));
                let mut out = Vec::new();
                push_text(&mut out, &text);
                assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
            }
        }
    }
}

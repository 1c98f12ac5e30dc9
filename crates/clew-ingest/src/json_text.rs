//! Writing JSON straight into a byte buffer: no tree, no copies beyond the final one.

use std::ops::Range;

pub(crate) use clew_kernels::next_escape;
use clew_kernels::{Parts, last_escape};

/// Appends a string with its quotes.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Appends text that is known to be UTF-8, escaping what JSON requires and nothing else.
#[inline]
pub fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    push_part_escaped(out, bytes, 0..bytes.len());
}

/// The same for a part of a text.
pub(crate) fn push_part_escaped(out: &mut Vec<u8>, bytes: &[u8], part: Range<usize>) {
    let (text, mut from) = (&bytes[..part.end], part.start);
    let mut out = Parts::new(out, part.len());
    loop {
        let special = next_escape(text, from);
        out.push(bytes, from..special);
        let Some(byte) = text.get(special) else {
            return;
        };
        let (escape, length) = escape(*byte);
        out.push(&escape, 0..length);
        from = special + 1;
    }
}

/// Where the first byte is that JSON wants escaped, and where behind the last; both are the length where there is none.
pub(crate) fn to_escape(bytes: &[u8]) -> (usize, usize) {
    let first = next_escape(bytes, 0);
    let last = last_escape(&bytes[first..]);
    (first, first + last.map_or(0, |last| last + 1))
}

/// Appends a whole number.
pub fn push_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number to the base 16, with at least so many digits. By hand, as every line gets ids: all sixteen digits at
/// once, each in a byte of its own.
pub fn push_hex(out: &mut String, value: u64, digits_min: usize) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let digits = |half: u64| {
        let spread = (half | half << 16) & 0x0000_ffff_0000_ffff;
        let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
        let spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        // 1 in the bytes that are ten or more: they are letters, 39 further on than digits would be.
        let letters = ((spread + 6 * ONES) >> 4) & ONES;
        (spread + 0x30 * ONES + letters * 39).to_be_bytes()
    };
    let mut all = [0; 16];
    all[..8].copy_from_slice(&digits(value >> 32));
    all[8..].copy_from_slice(&digits(value & u64::from(u32::MAX)));
    let needed = (67 - (value | 1).leading_zeros() as usize) / 4;
    let start = 16 - needed.max(digits_min);
    out.push_str(std::str::from_utf8(&all[start..]).expect("digits are text"));
}

/// How a byte is escaped, with zeros behind, so that it is copied as a block, and how many bytes that takes.
#[inline]
fn escape(byte: u8) -> ([u8; 32], usize) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut escape = [0; 32];
    escape[0] = b'\\';
    let short = match byte {
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        b'"' | b'\\' => byte,
        _ => {
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            escape[1..6].copy_from_slice(&[b'u', b'0', b'0', high, low]);
            return (escape, 6);
        }
    };
    escape[1] = short;
    (escape, 2)
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

//! Answers as Smile: values that were read from JSON. Nothing is told by the number of what was there, which is an option.

use serde_json::{Number, Value};

use super::smile::{BEGIN, END_OF_TEXT};

/// Version 0, with no options.
const OPTIONS: u8 = 0;
/// Longest text whose length is in its token, in bytes.
const SHORT_BYTES_MAX: usize = 64;
/// The same of names that are not all ASCII.
const SHORT_NAME_BYTES_MAX: usize = 56;

/// A value as a document.
pub(super) fn document(value: &Value) -> Vec<u8> {
    let mut bytes = BEGIN.to_vec();
    bytes.push(OPTIONS);
    write(&mut bytes, value);
    bytes
}

fn write(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => bytes.push(0x21),
        Value::Bool(false) => bytes.push(0x22),
        Value::Bool(true) => bytes.push(0x23),
        Value::Number(number) => write_number(bytes, number),
        Value::String(text) => write_text(bytes, text),
        Value::Array(items) => {
            bytes.push(0xf8);
            for item in items {
                write(bytes, item);
            }
            bytes.push(0xf9);
        }
        Value::Object(members) => {
            bytes.push(0xfa);
            for (name, member) in members {
                write_name(bytes, name);
                write(bytes, member);
            }
            bytes.push(0xfb);
        }
    }
}

fn write_number(bytes: &mut Vec<u8>, number: &Number) {
    if let Some(number) = number.as_i64() {
        let folded = ((number << 1) ^ (number >> 63)).cast_unsigned();
        match u8::try_from(folded) {
            Ok(small @ ..0x20) => bytes.push(0xc0 | small),
            _ => {
                bytes.push(if i32::try_from(number).is_ok() {
                    0x24
                } else {
                    0x25
                });
                write_unsigned(bytes, folded);
            }
        }
    } else if let Some(number) = number.as_u64() {
        // One of any length, with a byte that says that it is not negative: nine bytes, as a group of seven and two more.
        bytes.extend([0x26, 0x80 | 9]);
        write_sevens(bytes, &u128::from(number).to_be_bytes()[7..]);
    } else {
        let bits = number.as_f64().unwrap_or_default().to_bits();
        bytes.push(0x29);
        write_bits(bytes, bits, 10);
    }
}

/// Seven bits a byte, and six in the last, whose upper bit is set.
fn write_unsigned(bytes: &mut Vec<u8>, number: u64) {
    let upper = number >> 6;
    let count = (64 - upper.leading_zeros()).div_ceil(7);
    write_bits(bytes, upper, count);
    bytes.push(0x80 | low(number, 0x3f));
}

/// The lowest bits of a number, seven a byte.
fn write_bits(bytes: &mut Vec<u8>, bits: u64, count: u32) {
    for place in (0..count).rev() {
        bytes.push(low(bits >> (7 * place), 0x7f));
    }
}

/// Bytes of which seven take eight, and the last ones a byte more.
fn write_sevens(bytes: &mut Vec<u8>, whole: &[u8]) {
    let bits = |part: &[u8]| {
        part.iter()
            .fold(0, |bits, byte| (bits << 8) | u64::from(*byte))
    };
    let (groups, rest) = whole.as_chunks::<7>();
    for group in groups {
        write_bits(bytes, bits(group), 8);
    }
    if let Ok(length @ 1..) = u32::try_from(rest.len()) {
        let last = bits(rest);
        write_bits(bytes, last >> length, length);
        bytes.push(low(last, (1 << length) - 1));
    }
}

fn low(bits: u64, mask: u8) -> u8 {
    bits.to_le_bytes()[0] & mask
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    match (text.len(), text.is_ascii()) {
        (0, _) => bytes.push(0x20),
        (length @ ..=SHORT_BYTES_MAX, true) => write_short(bytes, (0x3f, length), text),
        (length @ ..=SHORT_BYTES_MAX, false) => write_short(bytes, (0x7e, length), text),
        (_, true) => write_long(bytes, 0xe0, text),
        (_, false) => write_long(bytes, 0xe4, text),
    }
}

fn write_name(bytes: &mut Vec<u8>, name: &str) {
    match (name.len(), name.is_ascii()) {
        (0, _) => bytes.push(0x20),
        (length @ ..=SHORT_BYTES_MAX, true) => write_short(bytes, (0x7f, length), name),
        (length @ ..=SHORT_NAME_BYTES_MAX, false) => write_short(bytes, (0xbe, length), name),
        _ => write_long(bytes, 0x34, name),
    }
}

/// A text behind the token that tells its length: so many above a token.
fn write_short(bytes: &mut Vec<u8>, (token, length): (u8, usize), text: &str) {
    bytes.push(token + u8::try_from(length).unwrap_or_default());
    bytes.extend_from_slice(text.as_bytes());
}

fn write_long(bytes: &mut Vec<u8>, token: u8, text: &str) {
    bytes.push(token);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(END_OF_TEXT);
}

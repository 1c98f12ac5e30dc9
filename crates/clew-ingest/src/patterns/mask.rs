//! What differs from line to line by its form alone is masked before lines are compared: numbers, addresses, hashes and ids. The
//! line is cut into words on the way.

use std::ops::Range;

/// What a byte may be in: a bit each.
const DIGIT: u8 = 1;
const HEX: u8 = 2;
const LETTER_OR_DIGIT: u8 = 4;
const BLANK: u8 = 8;

/// What every byte is in.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut letter = 0_u8;
    while letter < 128 {
        let mut bits = 0;
        if letter.is_ascii_alphanumeric() {
            bits |= LETTER_OR_DIGIT;
        }
        if letter.is_ascii_hexdigit() {
            bits |= HEX;
        }
        if letter.is_ascii_digit() {
            bits |= DIGIT;
        }
        if letter.is_ascii_whitespace() {
            bits |= BLANK;
        }
        classes[letter as usize] = bits;
        letter += 1;
    }
    classes
};

/// Appends the words of a text with their variable parts masked, one blank between them: `took 15ms from 10.0.0.1` becomes
/// `took <num>ms from <ip>`. What stands behind letters, as the digit of `eth0`, is left. `ends` gets where each word ends.
pub(super) fn mask(text: &str, out: &mut String, ends: &mut Vec<usize>) {
    let bytes = text.as_bytes();
    // What is left as it is, is copied in one piece up to the next part that is not.
    let (mut at, mut copied) = (0, 0);
    let mut begun = out.len();
    while at < bytes.len() {
        if CLASSES[usize::from(bytes[at])] & BLANK != 0 {
            let end = out.len() + at - copied;
            let is_word = end > begun;
            if is_word {
                ends.push(end);
                begun = end + 1;
            }
            // One blank behind a word is left as it is, too.
            if !is_word || bytes[at] != b' ' {
                out.push_str(&text[copied..at]);
                out.extend(is_word.then_some(' '));
                copied = at + 1;
            }
            at += 1;
            continue;
        }
        let (word, is_any, is_all) = word_at(bytes, at);
        let found = match word.is_empty() {
            true if bytes[at] == b':' && bytes.get(at + 1) == Some(&b':') => colons(bytes, at),
            true => None,
            false => variable(bytes, &word, (is_any, is_all)),
        };
        match found {
            Some((end, name)) => {
                out.push_str(&text[copied..at]);
                out.push_str(name);
                (at, copied) = (end, end);
            }
            None => at = word.end.max(at + 1),
        }
    }
    out.push_str(&text[copied..]);
    match out.len() > begun {
        true => ends.push(out.len()),
        false => out.truncate(ends.last().copied().unwrap_or(begun)),
    }
}

/// The letters and digits from a place on, what any of them is, and what all of them are.
#[inline]
fn word_at(bytes: &[u8], start: usize) -> (Range<usize>, u8, u8) {
    let (mut end, mut is_any, mut is_all) = (start, 0, u8::MAX);
    while let Some(byte) = bytes.get(end) {
        let classes = CLASSES[usize::from(*byte)];
        if classes & LETTER_OR_DIGIT == 0 {
            break;
        }
        is_any |= classes;
        is_all &= classes;
        end += 1;
    }
    (start..end, is_any, is_all)
}

/// Where the variable part ends that begins with a word, and what it is called; beside the word, what any and what all of its
/// bytes are.
fn variable(
    bytes: &[u8],
    word: &Range<usize>,
    (is_any, is_all): (u8, u8),
) -> Option<(usize, &'static str)> {
    // Most words have no digit, and are not followed by what makes them an address.
    let has_digit = is_any & DIGIT != 0;
    let is_hex = is_all & HEX != 0;
    let next = bytes.get(word.end);
    let may_go_on = is_hex && matches!(next, Some(b'-' | b':'));
    if !has_digit && !may_go_on {
        return None;
    }
    let first = &bytes[word.clone()];
    if is_hex && next == Some(&b'-') && is_uuid(bytes, word.start) {
        return Some((word.start + UUID_BYTES, "<uuid>"));
    }
    if is_hex
        && next == Some(&b':')
        && let Some(found) = colons(bytes, word.start)
    {
        return Some(found);
    }
    if is_all & DIGIT != 0 {
        return Some(number(bytes, word));
    }
    if !has_digit {
        return None;
    }
    let is_prefixed = first.starts_with(b"0x") || first.starts_with(b"0X");
    if is_prefixed && first.len() > 2 && first[2..].iter().all(u8::is_ascii_hexdigit) {
        return Some((word.end, "<hex>"));
    }
    let digits = first.iter().take_while(|byte| byte.is_ascii_digit());
    let digits = digits.count();
    if digits > 0
        && first[digits..].iter().all(u8::is_ascii_alphabetic)
        && !(is_hex && first.len() > 6)
    {
        // A number and its unit.
        return Some((word.start + digits, "<num>"));
    }
    if is_hex && first.len() >= 4 && digits < first.len() {
        return Some((word.end, "<hex>"));
    }
    let runs = first
        .windows(2)
        .filter(|two| two[0].is_ascii_alphabetic() && two[1].is_ascii_digit());
    let runs = runs.count() + usize::from(digits > 0);
    (runs >= 2).then_some((word.end, "<id>"))
}

/// Digits, with further groups of them behind points or commas, or an address of four such groups.
fn number(bytes: &[u8], word: &Range<usize>) -> (usize, &'static str) {
    let (mut end, mut groups) = (word.end, 1);
    let mut is_address = word.len() <= 3;
    while matches!(bytes.get(end), Some(b'.' | b','))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
    {
        is_address &= bytes[end] == b'.';
        let digits = bytes[end + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let digits = digits.count();
        is_address &= digits <= 3;
        groups += 1;
        end += 1 + digits;
    }
    match is_address && groups == 4 {
        true => (end, "<ip>"),
        false => (end, "<num>"),
    }
}

const UUID_BYTES: usize = 36;

fn is_uuid(bytes: &[u8], start: usize) -> bool {
    let Some(text) = bytes.get(start..start + UUID_BYTES) else {
        return false;
    };
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let behind = bytes.get(start + UUID_BYTES);
    text.iter().enumerate().all(is_right) && !behind.is_some_and(u8::is_ascii_alphanumeric)
}

/// Groups of hexadecimal digits between colons, if they are an address: of a network card, or of IPv6.
fn colons(bytes: &[u8], start: usize) -> Option<(usize, &'static str)> {
    const ADDRESS_BYTES_MAX: usize = 39;
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b':';
    let rest = &bytes[start..];
    let length = rest.iter().take_while(is_part).count();
    let text = &rest[..length];
    let behind = rest.get(length);
    if length > ADDRESS_BYTES_MAX || behind.is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let mut groups = 0;
    let (mut longest, mut shortest) = (0, usize::MAX);
    for group in text.split(|byte| *byte == b':') {
        groups += 1;
        longest = longest.max(group.len());
        shortest = shortest.min(group.len());
    }
    let is_shortened = text.windows(2).any(|two| two == b"::");
    let has_digit = text.iter().any(u8::is_ascii_digit);
    if groups == 6 && (shortest, longest) == (2, 2) {
        return Some((start + length, "<mac>"));
    }
    let is_address = longest <= 4 && groups >= 3 && (groups == 8 || is_shortened) && has_digit;
    is_address.then_some((start + length, "<ip>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_by_its_form_is_masked_and_words_are_left() {
        let check = |text: &str, expected: &str| {
            let (mut out, mut ends) = (String::new(), Vec::new());
            mask(text, &mut out, &mut ends);
            assert_eq!(out, expected, "{text}");
            let blanks = out.match_indices(' ').map(|(at, _)| at);
            let expected = blanks.chain(Some(out.len()).filter(|end| *end > 0));
            assert_eq!(ends, expected.collect::<Vec<_>>(), "{text}");
        };
        check("", "");
        check("all is well", "all is well");
        check("  all\tis \r\n 7  ", "all is <num>");
        check("   ", "");
        check(" \tone  two\tthree \t 4", "one two three <num>");
        check(
            "took 15ms, 1.5 s or 1,234",
            "took <num>ms, <num> s or <num>",
        );
        check("from 10.0.0.1:8080 to 1.2.3", "from <ip>:<num> to <num>");
        check("1234.0.0.1", "<num>");
        check("blk_-1608999687919862906", "blk_-<num>");
        check("eth0 node12 x86 sha256", "eth0 node12 x86 sha256");
        check("at 0xdeadBEEF 0x", "at <hex> <num>x");
        check(
            "commit 3f2a9c01 deadbeef a1b2",
            "commit <hex> deadbeef <hex>",
        );
        check("pod x2x4z-7d9f8b6c5", "pod <id>-<hex>");
        check(
            "id 123e4567-e89b-12d3-a456-426614174000, abcdefab-cdef-abcd-efab-cdefabcdefab",
            "id <uuid>, <uuid>",
        );
        check("123e4567-e89b", "<hex>-<hex>");
        check(
            "fe80::1ff:fe23:4567:890a ::1 2001:db8:0:0:0:0:0:1",
            "<ip> <ip> <ip>",
        );
        check("00:1a:2b:3c:4d:5e 12:34:56", "<mac> <num>:<num>:<num>");
        check("std::add Foo::Bar a::b", "std::add Foo::Bar a::b");
        check("größe 7 日志8", "größe <num> 日志<num>");
        check("GET /a/17?b=2 HTTP/1.1", "GET /a/<num>?b=<num> HTTP/<num>");
    }
}

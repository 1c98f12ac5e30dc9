//! Writing JSON straight into a byte buffer: no tree, no copies beyond the final one.

/// Appends a string with its quotes.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_escaped(out, text.as_bytes());
    out.push(b'"');
}

/// Appends text that is known to be UTF-8, escaping what JSON requires and nothing else.
pub(crate) fn push_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
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

/// Appends a whole number.
pub(crate) fn push_number(out: &mut Vec<u8>, mut value: u64) {
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

/// The inside of a JSON object that is written member by member, objects in objects included.
#[derive(Debug, Default)]
pub(crate) struct Members {
    out: Vec<u8>,
}

impl Members {
    pub(crate) fn clear(&mut self) {
        self.out.clear();
    }

    /// The members written so far, without the braces around them.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.out
    }

    fn name(&mut self, name: &str) {
        if !matches!(self.out.last(), None | Some(b'{' | b'[')) {
            self.out.push(b',');
        }
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// A text member; an empty text is left out.
    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        if !value.is_empty() {
            self.name(name);
            push_text(&mut self.out, value);
        }
    }

    pub(crate) fn number(&mut self, name: &'static str, value: u64) {
        self.name(name);
        push_number(&mut self.out, value);
    }

    pub(crate) fn flag(&mut self, name: &'static str) {
        self.name(name);
        self.out.extend_from_slice(b"true");
    }

    /// A member whose value is JSON already.
    pub(crate) fn raw(&mut self, name: &'static str, json: &str) {
        self.name(name);
        self.out.extend_from_slice(json.as_bytes());
    }

    /// A nested object; left out when nothing is written into it.
    pub(crate) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut Members)) {
        let before = self.out.len();
        self.name(name);
        self.out.push(b'{');
        let inside = self.out.len();
        fill(self);
        if self.out.len() == inside {
            self.out.truncate(before);
        } else {
            self.out.push(b'}');
        }
    }

    /// An array of objects, one for each item.
    pub(crate) fn objects<T>(
        &mut self,
        name: &'static str,
        items: impl Iterator<Item = T>,
        mut fill: impl FnMut(&mut Members, T),
    ) {
        self.name(name);
        self.out.push(b'[');
        for item in items {
            if self.out.last() != Some(&b'[') {
                self.out.push(b',');
            }
            self.out.push(b'{');
            fill(self, item);
            self.out.push(b'}');
        }
        self.out.push(b']');
    }

    /// An array of texts.
    pub(crate) fn texts<'a>(&mut self, name: &'static str, items: impl Iterator<Item = &'a str>) {
        self.name(name);
        self.out.push(b'[');
        for item in items {
            if self.out.last() != Some(&b'[') {
                self.out.push(b',');
            }
            push_text(&mut self.out, item);
        }
        self.out.push(b']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn members_nest_and_leave_out_what_is_empty() {
        let mut members = Members::default();
        members.text("a", "x\"y");
        members.object("gone", |o| o.text("empty", ""));
        members.object("b", |o| {
            o.number("n", 10);
            o.object("c", |o| o.flag("d"));
        });
        members.texts("e", ["1", "2"].into_iter());
        members.objects("f", [1_u64, 2].into_iter(), |o, n| o.number("n", n));
        assert_eq!(
            String::from_utf8_lossy(members.bytes()),
            r#""a":"x\"y","b":{"n":10,"c":{"d":true}},"e":["1","2"],"f":[{"n":1},{"n":2}]"#
        );
    }
}

//! Finding what stands between two parts of a line: by the rarest of its bytes, with SIMD, and then the rest of it. In a
//! line the next separator is a few bytes away, where a general search would still be getting ready.

/// A text to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    bytes: Box<[u8]>,
    /// Where its rarest byte is.
    rarest: usize,
}

impl Separator {
    pub(crate) fn new(text: &str) -> Self {
        let bytes: Box<[u8]> = text.as_bytes().into();
        let rarest = (0..bytes.len()).min_by_key(|at| frequency(bytes[*at]));
        Separator {
            rarest: rarest.unwrap_or(0),
            bytes,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    #[inline]
    pub(crate) fn begins(&self, text: &[u8]) -> bool {
        // Byte by byte: there are a few, for which a call would cost more.
        let (mut own, mut other) = (self.bytes.iter(), text.iter());
        own.all(|byte| other.next() == Some(byte))
    }

    /// Where it stands for the first time; an empty one stands nowhere.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let byte = *self.bytes.get(self.rarest)?;
        let mut from = self.rarest;
        while let Some(at) = find_near(byte, text.get(from..)?) {
            let start = from + at - self.rarest;
            if self.bytes.len() == 1 || self.begins(&text[start..]) {
                return Some(start);
            }
            from += at + 1;
        }
        None
    }
}

/// Where a byte stands for the first time: looked for in two words first, as it is mostly near, and a call would cost more.
#[inline]
fn find_near(byte: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let wanted = ONES * u64::from(byte);
    let mut near = 0;
    while near < 16
        && let Some(word) = text[near.min(text.len())..].first_chunk::<8>()
    {
        let differs = u64::from_le_bytes(*word) ^ wanted;
        let found = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if found != 0 {
            return Some(near + (found.trailing_zeros() / 8) as usize);
        }
        near += 8;
    }
    memchr::memchr(byte, &text[near..]).map(|at| near + at)
}

/// How often a byte is to be expected in logs, coarsely.
fn frequency(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' => 3,
        b' ' | b'A'..=b'Z' | b'.' | b'-' | b'/' | b':' => 2,
        b'"' | b'=' | b',' | b'_' => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_the_standard_library_finds() {
        let texts = [
            "",
            "a",
            "] ",
            "aab aab] aab] ] x",
            "é] é",
            "  -  - ",
            "]]] ]",
            "abababac",
        ];
        for separator in ["", "a", "] ", " - ", "é", "abac", "]", "  "] {
            let own = Separator::new(separator);
            for text in texts {
                let expected = match separator {
                    "" => None,
                    _ => text.find(separator),
                };
                assert_eq!(
                    own.find(text.as_bytes()),
                    expected,
                    "{separator:?} in {text:?}"
                );
            }
        }
    }
}

//! Finding what stands between two parts of a line: by the rarest of its bytes, with SIMD, and then the rest of it. In a
//! line the next separator is a few bytes away, where a general search would still be getting ready.

use clew_kernels::find_near;

/// A text to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    bytes: Box<[u8]>,
    /// Its rarest byte, and where that is.
    byte: u8,
    rarest: usize,
    /// Its first bytes, as many as there are in a word, and a mask of them.
    word: u64,
    mask: u64,
}

/// Bytes of a word.
const WORD: usize = 8;

impl Separator {
    pub(crate) fn new(text: &str) -> Self {
        let bytes: Box<[u8]> = text.as_bytes().into();
        let rarest = (0..bytes.len()).min_by_key(|at| frequency(bytes[*at]));
        let rarest = rarest.unwrap_or(0);
        let (mut word, mut mask) = ([0; WORD], [0; WORD]);
        for (at, byte) in bytes.iter().take(WORD).enumerate() {
            (word[at], mask[at]) = (*byte, u8::MAX);
        }
        Separator {
            byte: bytes.get(rarest).copied().unwrap_or(0),
            rarest,
            bytes,
            word: u64::from_le_bytes(word),
            mask: u64::from_le_bytes(mask),
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
        match text.first_chunk() {
            Some(word) if self.bytes.len() <= WORD => {
                (u64::from_le_bytes(*word) ^ self.word) & self.mask == 0
            }
            _ => text.starts_with(&self.bytes),
        }
    }

    /// Where it stands for the first time from a place on; an empty one stands nowhere.
    #[inline]
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        // Mostly the first of its bytes that comes is its own.
        if let Ok(at) = find_near(text, from + self.rarest, self.byte) {
            let start = at - self.rarest;
            match self.bytes.len() {
                1 => return Some(start),
                2.. if self.begins(&text[start..]) => return Some(start),
                _ => {}
            }
        }
        self.find_far(text, from)
    }

    /// The same, wherever it is.
    #[inline(never)]
    fn find_far(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut from = from + self.rarest;
        while !self.is_empty() {
            let at = match find_near(text, from, self.byte) {
                Ok(at) => at,
                Err(upto) => upto + memchr::memchr(self.byte, text.get(upto..)?)?,
            };
            let start = at - self.rarest;
            if self.begins(&text[start..]) {
                return Some(start);
            }
            from = at + 1;
        }
        None
    }
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
            "a line that has its = behind more than forty bytes, and its uid=7 - at the end - ",
            "uid=",
            "uid=1",
        ];
        for separator in [
            "",
            "a",
            "] ",
            " - ",
            "é",
            "abac",
            "]",
            "  ",
            "ms uid=",
            "its uid=",
            "its uid=7 - at",
        ] {
            let own = Separator::new(separator);
            for text in texts {
                let expected = match separator {
                    "" => None,
                    _ => text.find(separator),
                };
                assert_eq!(
                    own.find(text.as_bytes(), 0),
                    expected,
                    "{separator:?} in {text:?}"
                );
                for from in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let behind = expected.and_then(|_| text[from..].find(separator));
                    let found = own.find(text.as_bytes(), from);
                    assert_eq!(
                        found,
                        behind.map(|at| from + at),
                        "{separator:?} in {text:?} from {from}"
                    );
                }
            }
        }
    }
}

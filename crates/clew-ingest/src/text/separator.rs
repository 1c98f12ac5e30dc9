//! Finding what stands between two parts of a line: by the rarest of its bytes, with SIMD, and then the rest of it. In a
//! line the next separator is a few bytes away, where a general search would still be getting ready.

/// A text to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    bytes: Box<[u8]>,
    /// Where its rarest byte is.
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
        let (mut word, mut mask) = ([0; WORD], [0; WORD]);
        for (at, byte) in bytes.iter().take(WORD).enumerate() {
            (word[at], mask[at]) = (*byte, u8::MAX);
        }
        Separator {
            rarest: rarest.unwrap_or(0),
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

    /// Where it stands for the first time; an empty one stands nowhere.
    #[inline]
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let byte = *self.bytes.get(self.rarest)?;
        let mut from = self.rarest;
        loop {
            let at = from + find_near(byte, text.get(from..)?)?;
            let start = at - self.rarest;
            if self.begins(&text[start..]) {
                return Some(start);
            }
            from = at + 1;
        }
    }
}

/// Where a byte stands for the first time: looked for in some words first, as it is mostly near, and a call would cost more than
/// all of them. The ids of 32 and 36 letters that lines have many of are behind it then.
#[inline]
fn find_near(byte: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const WORDS: usize = 5;
    let wanted = ONES * u64::from(byte);
    let mut rest = text;
    for number in 0..WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<WORD>() else {
            break;
        };
        let differs = u64::from_le_bytes(*word) ^ wanted;
        let found = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if found != 0 {
            return Some(number * WORD + (found.trailing_zeros() / 8) as usize);
        }
        rest = behind;
    }
    let passed = text.len() - rest.len();
    memchr::memchr(byte, rest).map(|at| passed + at)
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
                    own.find(text.as_bytes()),
                    expected,
                    "{separator:?} in {text:?}"
                );
            }
        }
    }
}

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

    pub(crate) fn begins(&self, text: &[u8]) -> bool {
        text.starts_with(&self.bytes)
    }

    /// Where it stands for the first time; an empty one stands nowhere.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let byte = *self.bytes.get(self.rarest)?;
        let mut from = self.rarest;
        while let Some(at) = memchr::memchr(byte, text.get(from..)?) {
            let start = from + at - self.rarest;
            if self.bytes.len() == 1 || self.begins(&text[start..]) {
                return Some(start);
            }
            from += at + 1;
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

//! Texts as addresses write them, with `%20` for a byte.

/// What a plus sign means: a space in a query or a form, itself in a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plus {
    /// A space.
    IsSpace,
    /// Itself.
    IsPlus,
}

/// The bytes that a text stands for, which may be no UTF-8; none where a percent sign has no two digits behind it.
pub fn decoded(text: &str, plus: Plus) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' if plus == Plus::IsSpace => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let (high, low) = digit(bytes.next()).zip(digit(bytes.next()))?;
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    Some(decoded)
}

/// A text as one segment of a path: whatever has a meaning there is written as its bytes.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_bytes_and_wrong_ones_are_none() {
        let cases: [(&str, Plus, Option<&[u8]>); 8] = [
            ("a+b%3A", Plus::IsSpace, Some(b"a b:")),
            ("a+b%3a", Plus::IsPlus, Some(b"a+b:")),
            ("%C3%A9", Plus::IsPlus, Some("é".as_bytes())),
            ("%E9", Plus::IsPlus, Some(b"\xe9")),
            ("", Plus::IsPlus, Some(b"")),
            ("%4", Plus::IsPlus, None),
            ("%zz", Plus::IsPlus, None),
            ("%+f", Plus::IsPlus, None),
        ];
        for (text, plus, expected) in cases {
            assert_eq!(decoded(text, plus).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_encoded_is_one_segment_that_means_the_same() {
        assert_eq!(encoded("logs-2026.11_a~"), "logs-2026.11_a~");
        assert_eq!(encoded("a/b?c#d%e é"), "a%2Fb%3Fc%23d%25e%20%C3%A9");
        let text = "<logs-{now/d}>,*";
        let back = decoded(&encoded(text), Plus::IsPlus);
        assert_eq!(back.as_deref(), Some(text.as_bytes()));
    }
}

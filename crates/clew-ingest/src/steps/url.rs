//! Texts as URLs write them, read as Java reads them.

/// Undoes percent encoding; a plus sign is a space, and what is not UTF-8 then becomes U+FFFD, as Java does it.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn decoded(text: &str) -> Result<String, String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                let value = digit(bytes.next()).zip(digit(bytes.next()));
                let value = value.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
                value.ok_or_else(|| wrong_escape(text))?
            }
            other => other,
        });
    }
    Ok(String::from_utf8_lossy(&decoded).into_owned())
}

/// What is wrong with the first escape that is not one.
fn wrong_escape(text: &str) -> String {
    for piece in text.split('%').skip(1) {
        let digits: Vec<char> = piece.chars().take(2).collect();
        if let Some(wrong) = digits.iter().find(|digit| !digit.is_ascii_hexdigit()) {
            return format!(
                "URLDecoder: Illegal hex characters in escape (%) pattern - not a hexadecimal \
                 digit: \"{wrong}\" = {}",
                u32::from(*wrong)
            );
        }
        if digits.len() < 2 {
            break;
        }
    }
    "URLDecoder: Incomplete trailing escape (%) pattern".to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_or_named() {
        assert_eq!(decoded("a+b%3A%22c%22").unwrap(), "a b:\"c\"");
        assert_eq!(decoded("%C3%A9").unwrap(), "\u{e9}");
        assert_eq!(decoded("/caf%E9?a").unwrap(), "/caf\u{fffd}?a");
        for (text, reason) in [
            ("%zz", "Illegal hex characters"),
            ("%4", "Incomplete trailing escape"),
        ] {
            let told = decoded(text).unwrap_err();
            assert!(told.contains(reason), "{told}");
        }
    }
}

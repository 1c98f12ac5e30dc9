//! Regular expressions that are none, told as Milvus tells of them, whose words are those of Go.

use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;

/// What is wrong with the form of a regular expression, where that has a name. What else may be wrong with one is found where
/// it is made ready.
pub(super) fn fault(pattern: &str) -> Option<String> {
    let error = Parser::new().parse(pattern).err()?;
    let span = error.span();
    let part = |end: usize| pattern.get(span.start.offset..end).unwrap_or_default();
    let own = part(span.end.offset);
    let (what, place) = match error.kind() {
        ErrorKind::GroupUnclosed => ("missing closing )", pattern),
        ErrorKind::GroupUnopened => ("unexpected )", pattern),
        ErrorKind::ClassUnclosed => ("missing closing ]", part(pattern.len())),
        ErrorKind::ClassRangeInvalid => ("invalid character class range", own),
        ErrorKind::RepetitionMissing => ("missing argument to repetition operator", own),
        ErrorKind::RepetitionCountInvalid => ("invalid repeat count", own),
        ErrorKind::EscapeUnexpectedEof => ("trailing backslash at end of expression", ""),
        ErrorKind::EscapeUnrecognized | ErrorKind::UnsupportedBackreference => {
            ("invalid escape sequence", own)
        }
        ErrorKind::UnsupportedLookAround | ErrorKind::FlagUnrecognized => {
            ("invalid or unsupported Perl syntax", own)
        }
        _ => return None,
    };
    Some(format!(
        "invalid regex pattern: error parsing regexp: {what}: `{place}`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_the_words_of_go() {
        for (pattern, want) in [
            ("(unclosed", "missing closing ): `(unclosed`"),
            ("a)", "unexpected ): `a)`"),
            ("a[bc", "missing closing ]: `[bc`"),
            ("[z-a]", "invalid character class range: `z-a`"),
            ("*a", "missing argument to repetition operator: `*`"),
            ("a\\", "trailing backslash at end of expression: ``"),
            (r"(a)\1", r"invalid escape sequence: `\1`"),
            ("a(?=b)", "invalid or unsupported Perl syntax: `(?=`"),
        ] {
            let told = fault(pattern).unwrap();
            let told = told.strip_prefix("invalid regex pattern: error parsing regexp: ");
            assert_eq!(told, Some(want), "{pattern}");
        }
        assert_eq!(fault("^a.*(b|c)[^d]{2,3}$"), None);
    }
}

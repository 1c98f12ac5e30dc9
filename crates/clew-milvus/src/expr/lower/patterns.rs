//! Regular expressions: what is wrong with those that are none, told as Milvus tells of them, whose words are those of Go, and
//! what they are to an index of whole texts.

use regex_syntax::ParserBuilder;
use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Longest expression that a pattern becomes; one class of the letters of all scripts takes some thousand bytes.
const EXPRESSION_BYTES_MAX: usize = 200_000;
/// What is left open before and behind a pattern.
const ANYTHING: &str = ".*";
const NOTHING: &str = "()";
/// Before and behind what stands within a pattern.
const WITHIN: &str = "";

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
        ErrorKind::RepetitionMissing => {
            // It is told to be before the operator: `*`, `+` or `?`.
            let operator = part(span.start.offset + 1);
            ("missing argument to repetition operator", operator)
        }
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

/// The expression of all texts in which a pattern is found, as an index of whole texts takes it (Lucene's, with every sign
/// that means something there behind a backslash). Nothing where there is none: for edges of words and of lines, for ends that
/// are not the pattern's own, and for what would be too long.
pub(super) fn of_whole_texts(pattern: &str) -> Option<String> {
    let mut parser = ParserBuilder::new().dot_matches_new_line(true).build();
    let parsed = parser.parse(pattern).ok()?;
    let mut out = String::new();
    write_whole(&parsed, (ANYTHING, ANYTHING), &mut out)?;
    (out.len() <= EXPRESSION_BYTES_MAX).then_some(out)
}

/// Writes what may stand before and behind a part, which is nothing where the part says that the text begins or ends there, and
/// no place of the text's ends at all within it. What ways have in common stands before them, so that an end may be said within.
fn write_whole(hir: &Hir, (before, behind): (&str, &str), out: &mut String) -> Option<()> {
    let parts: &[Hir] = match hir.kind() {
        HirKind::Alternation(ways) => {
            let way = |way: &Hir, out: &mut String| write_whole(way, (before, behind), out);
            return write_either(ways, way, out);
        }
        HirKind::Capture(group) => return write_whole(&group.sub, (before, behind), out),
        HirKind::Concat(parts) => parts,
        HirKind::Look(_) => std::slice::from_ref(hir),
        _ => {
            out.push_str(before);
            write_part(hir, out)?;
            out.push_str(behind);
            return Some(());
        }
    };
    let is = |hir: &Hir, look: Look| matches!(hir.kind(), HirKind::Look(own) if *own == look);
    let is_first = parts.first().is_some_and(|first| is(first, Look::Start));
    let parts = &parts[usize::from(is_first)..];
    let is_last = parts.last().is_some_and(|last| is(last, Look::End));
    let parts = &parts[..parts.len() - usize::from(is_last)];
    if is_first && before == WITHIN || is_last && behind == WITHIN {
        return None;
    }
    let before = if is_first { NOTHING } else { before };
    let behind = if is_last { NOTHING } else { behind };
    match parts {
        [] => {
            out.push_str(before);
            out.push_str(behind);
            Some(())
        }
        [only] if matches!(only.kind(), HirKind::Look(_)) => None,
        [only] => write_whole(only, (before, behind), out),
        [first, between @ .., last] => {
            write_whole(first, (before, WITHIN), out)?;
            between.iter().try_for_each(|part| write_part(part, out))?;
            write_whole(last, (WITHIN, behind), out)
        }
    }
}

fn write_part(hir: &Hir, out: &mut String) -> Option<()> {
    if out.len() > EXPRESSION_BYTES_MAX {
        return None;
    }
    match hir.kind() {
        HirKind::Empty => out.push_str(NOTHING),
        HirKind::Literal(literal) => {
            let letters = std::str::from_utf8(&literal.0).ok()?.chars();
            letters.for_each(|letter| write_letter(letter, out));
        }
        HirKind::Class(Class::Unicode(class)) if !class.ranges().is_empty() => {
            out.push('[');
            for range in class.ranges() {
                write_letter(range.start(), out);
                out.push('-');
                write_letter(range.end(), out);
            }
            out.push(']');
        }
        HirKind::Class(_) | HirKind::Look(_) => return None,
        HirKind::Repetition(repetition) => {
            out.push('(');
            write_part(&repetition.sub, out)?;
            let most = repetition
                .max
                .map_or(String::new(), |most| most.to_string());
            out.push_str(&format!("){{{},{most}}}", repetition.min));
        }
        HirKind::Capture(group) => {
            out.push('(');
            write_part(&group.sub, out)?;
            out.push(')');
        }
        HirKind::Concat(parts) => {
            for part in parts {
                write_part(part, out)?;
            }
        }
        HirKind::Alternation(ways) => write_either(ways, write_part, out)?,
    }
    Some(())
}

fn write_either(
    ways: &[Hir],
    write: impl Fn(&Hir, &mut String) -> Option<()>,
    out: &mut String,
) -> Option<()> {
    for (number, way) in ways.iter().enumerate() {
        out.push(if number == 0 { '(' } else { '|' });
        write(way, out)?;
    }
    out.push(')');
    Some(())
}

/// A letter that means itself: letters and digits behind a backslash might be classes.
fn write_letter(letter: char, out: &mut String) {
    if !letter.is_alphanumeric() {
        out.push('\\');
    }
    out.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_found_in_texts_are_expressions_of_whole_texts() {
        for (pattern, want) in [
            ("^ab$", Some("()ab()")),
            ("^$", Some("()()")),
            ("ab", Some(".*ab.*")),
            ("a|^b", Some("(.*a.*|()b.*)")),
            (r"a\.b+", Some(r".*a\.(b){1,}.*")),
            ("x[0-9]{2}", Some(".*x([0-9]){2,2}.*")),
            ("(?:ab|c-)?$", Some(r".*((ab|c\-)){0,1}()")),
            (r"\bab", None),
            ("(?m)^ab", None),
            ("^w[12]$|^x", Some(r"(()w[1-2]()|()x.*)")),
            ("^ab$|^ac", Some("(()ab()|()ac.*)")),
            ("(^a|b)c$", Some("(()a|.*b)c()")),
            ("a$b", None),
            ("a(^b|c)", None),
            ("(a$|b)c", None),
        ] {
            assert_eq!(of_whole_texts(pattern).as_deref(), want, "{pattern}");
        }
    }

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

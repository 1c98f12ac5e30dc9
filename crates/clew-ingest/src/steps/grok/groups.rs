//! Named groups and flags of expressions, in the words of the engine here.

/// A regular expression whose named groups have other names.
pub(super) fn with_groups(expression: &str, mut named: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(at) = rest.find("(?") {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        match group_name(behind).filter(|_| !is_escaped(before)) {
            Some((name, behind)) => {
                out.push_str(&format!("(?<{}>", named(name)));
                rest = behind;
            }
            None => {
                out.push_str("(?");
                rest = &behind[2..];
            }
        }
    }
    out + rest
}

/// The name of the group that a text begins with, and what is behind it.
fn group_name(text: &str) -> Option<(&str, &str)> {
    if let Some(name) = text.strip_prefix("(?'") {
        return name.split_once('\'');
    }
    let name = text
        .strip_prefix("(?<")
        .or_else(|| text.strip_prefix("(?P<"))?;
    if name.starts_with(['=', '!', '>']) {
        return None;
    }
    name.split_once('>')
}

/// Whether what comes next is escaped.
pub(super) fn is_escaped(before: &str) -> bool {
    let slashes = before.bytes().rev().take_while(|byte| *byte == b'\\');
    slashes.count() % 2 == 1
}

/// A regular expression of Ruby, whose flag `m` lets a point be the end of a line, too, with the flag that says so here.
pub(super) fn with_flags(expression: &str) -> String {
    let mut out = String::new();
    let mut rest = expression;
    while let Some(at) = rest.find("(?") {
        let (before, behind) = rest.split_at(at + 2);
        let is_flag = |letter: char| matches!(letter, 'i' | 'm' | 'x' | '-');
        let end = behind.find(|letter: char| !is_flag(letter));
        let (flags, behind) = behind.split_at(end.unwrap_or(behind.len()));
        out.push_str(before);
        match behind.starts_with([')', ':']) && !is_escaped(&before[..at]) {
            true => out.push_str(&flags.replace('m', "s")),
            false => out.push_str(flags),
        }
        rest = behind;
    }
    out + rest
}

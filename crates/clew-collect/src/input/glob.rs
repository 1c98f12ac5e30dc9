//! Patterns for paths: `*` and `?` inside one name, `[a-z]` and `[!a-z]`, and `**` for any number
//! of folders. As in a shell, a leading dot must be written out.

use std::path::{Component, Path};

/// Whether a path component holds a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Whether a whole path fits a pattern; a pattern without `/` is held against the name alone.
pub(crate) fn path_matches(pattern: &str, path: &Path) -> bool {
    let parts = |path: &'_ Path| -> Vec<String> {
        let text = |part: Component<'_>| part.as_os_str().to_string_lossy().into_owned();
        path.components().map(text).collect()
    };
    let path_parts = parts(path);
    if !pattern.contains('/') {
        return path_parts
            .last()
            .is_some_and(|name| name_matches(pattern, name));
    }
    parts_match(&parts(Path::new(pattern)), &path_parts)
}

fn parts_match(pattern: &[String], path: &[String]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return path.is_empty();
    };
    if first == "**" {
        return (0..=path.len()).any(|skipped| parts_match(rest, &path[skipped..]));
    }
    path.split_first()
        .is_some_and(|(name, behind)| name_matches(first, name) && parts_match(rest, behind))
}

/// Whether a name fits one component of a pattern.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut from) = (0, 0);
    // The last star and the name's place it was tried at: on a mismatch it takes one more.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => class(&pattern, at, name[from]),
            Some(letter) => (*letter == name[from]).then_some(at + 1),
            None => None,
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                from += 1;
            }
            (None, Some((star_at, star_from))) => {
                star = Some((star_at, star_from + 1));
                at = star_at + 1;
                from = star_from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// The place after a `[...]` that takes the letter; an unclosed one is an ordinary bracket.
fn class(pattern: &[char], open: usize, letter: char) -> Option<usize> {
    let negated = matches!(pattern.get(open + 1), Some('!' | '^'));
    let first = open + 1 + usize::from(negated);
    let close = (first + 1..pattern.len()).find(|&at| pattern[at] == ']');
    let Some(close) = close else {
        return (letter == '[').then_some(open + 1);
    };
    let mut inside = false;
    let mut at = first;
    while at < close {
        if pattern.get(at + 1) == Some(&'-') && at + 2 < close {
            inside |= (pattern[at]..=pattern[at + 2]).contains(&letter);
            at += 3;
        } else {
            inside |= pattern[at] == letter;
            at += 1;
        }
    }
    (inside != negated).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns() {
        let check = |pattern, name, fits| {
            assert_eq!(name_matches(pattern, name), fits, "{pattern} {name}");
        };
        check("*.log", "app.log", true);
        check("*.log", ".app.log", false);
        check(".*.log", ".app.log", true);
        check("*.log", "app.log.1", false);
        check("app*log*", "app-x.log.1", true);
        check("a?c", "abc", true);
        check("a?c", "ac", false);
        check("a[0-9][!x]", "a7y", true);
        check("a[0-9][!x]", "a7x", false);
        check("a[]]", "a]", true);
        check("a[b", "a[b", true);
        check("*", "anything", true);
        check(
            "*a*a*a*a*b",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            false,
        );
        check("é*", "éa", true);
        check("", "a", false);
    }

    #[test]
    fn whole_paths() {
        let check = |pattern, path: &str, fits| {
            assert_eq!(
                path_matches(pattern, Path::new(path)),
                fits,
                "{pattern} {path}"
            );
        };
        check("*.gz", "/var/log/a.gz", true);
        check("*.gz", "/var/log.gz/a", false);
        check("/var/log/*.log", "/var/log/a.log", true);
        check("/var/log/*.log", "/var/log/x/a.log", false);
        check("/var/**/*.log", "/var/log/x/a.log", true);
        check("/var/**", "/var/log/x/a.log", true);
        check("**/debug/*", "/srv/app/debug/x", true);
        check("/srv/a*", "/srv", false);
    }
}

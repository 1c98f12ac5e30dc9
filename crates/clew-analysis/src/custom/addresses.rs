//! `uax_url_email`: addresses of the web and of mail are one term each, all else is cut as `standard` does. Of an address
//! and a word that begin at one place the longer one is taken.
//!
//! The grammar is that of Lucene's tokenizer of this name: RFC 3986 and RFC 5321 without what texts seldom have. Hosts
//! without a scheme, and those of mail, end in a top-level domain, which are those of the Public Suffix List. Addresses
//! hold no white space, also not within quotes.

use std::iter;
use std::net::Ipv6Addr;
use std::ops::Range;
use std::sync::LazyLock;

use psl::Psl;
use regex::Regex;

use crate::stream::piece_within;

/// Bytes of the longest top-level domain.
const TOP_LEVEL_MAX: usize = 24;

/// Patterns of what stands before and behind hosts.
struct Patterns {
    /// `https://` and the like, with the scheme as a group.
    scheme: Regex,
    /// `user:secret@`.
    login: Regex,
    ip: Regex,
    /// What may stand behind the host: port, path, query and fragment.
    web_tail: Regex,
    /// The same of files, where a path is not left out.
    file_tail: Regex,
    /// All of an address of mail up to its host.
    mail_local: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let compiled = |pattern: String| {
        Regex::new(&format!(r"\A(?:{pattern})")).expect("the patterns are those of this file")
    };
    // Signs of one part of an address, or any that are written as numbers.
    let signs = |more: &str| format!(r"(?:[\-._~A-Za-z0-9{more}]|%[0-9A-Fa-f]{{2}})*");
    let login = signs("!$&'()*+,;=");
    let rest = signs("!$&'()*+,;=:@/?");
    let (web, file) = (signs(";:@&="), signs("?:@&="));
    let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    let label = concat!(
        r"(?:[A-Za-z0-9!#$%&'*+,\-./=?^_`{|}~]+",
        r#"|"(?:[\x01-\x08\x0B\x0C\x0E-\x21\x23-\x5B\x5D-\x7E]|\\[\x00-\x7F])*")"#
    );
    Patterns {
        scheme: compiled("(?i)(https?|ftp|file)://".to_string()),
        login: compiled(format!("{login}(?::{login})?@")),
        ip: compiled(format!(r"(?:{octet}\.){{3}}{octet}")),
        web_tail: compiled(format!(
            r"(?::[0-9]{{1,5}})?(?:/{web})*(?:\?{rest})?(?:#{rest})?"
        )),
        file_tail: compiled(format!(
            r"(?::[0-9]{{1,5}})?(?:/{file})+(?:;(?i:type)=[aAiIdD])?(?:#{rest})?"
        )),
        mail_local: compiled(format!(r"{label}(?:\.{label})*@")),
    }
});

/// Where the words and addresses of a text lie, of which addresses have at most so many UTF-16 units.
pub(super) fn words(text: &str, most: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Where that begins in which no address was seen yet.
    let mut plain = 0;
    let mut at = 0;
    for stretch in text.split_inclusive(char::is_whitespace) {
        let stretch = at..at + stretch.len();
        at = stretch.end;
        if may_hold_address(&text[stretch.clone()]) {
            push_words(text, plain..stretch.start, &mut found);
            push_mixed(text, stretch, most, &mut found);
            plain = at;
        }
    }
    push_words(text, plain..text.len(), &mut found);
    found
}

/// What a word is called, where it is an address.
pub(super) fn kind(word: &str) -> Option<&'static str> {
    let word = word.strip_suffix('.').unwrap_or(word);
    if url(word) == Some(word.len()) {
        return Some("<URL>");
    }
    let is_mail = mail(word).is_some_and(|length| length == word.len());
    is_mail.then_some("<EMAIL>")
}

fn may_hold_address(stretch: &str) -> bool {
    stretch.contains('.') || stretch.contains("://") || stretch.contains("@[")
}

fn push_words(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let start = range.start;
    crate::plain_words(&text[range], &mut |token| {
        found.push(start + token.offset_from..start + token.offset_to);
    });
}

/// Cuts what may hold addresses, a window for each word.
fn push_mixed(text: &str, range: Range<usize>, most: usize, found: &mut Vec<Range<usize>>) {
    let mut at = range.start;
    while at < range.end {
        let rest = &text[at..range.end];
        let window = &rest[..piece_within(rest, most)];
        let word = first_word(window);
        let last = word.as_ref().map_or(window.len(), |word| word.start);
        let places = window.char_indices().map(|(place, _)| place);
        let mut places = places.take_while(|place| *place <= last);
        let address = places.find_map(|place| {
            let length = address(&window[place..])?;
            Some(place..place + length)
        });
        let next = match (address, word) {
            (Some(address), Some(word)) if word.start == address.start => {
                address.start..address.end.max(word.end)
            }
            (Some(only), _) | (None, Some(only)) => only,
            (None, None) => window.len()..window.len(),
        };
        if !next.is_empty() {
            found.push(at + next.start..at + next.end);
        }
        at += next.end;
    }
}

fn first_word(window: &str) -> Option<Range<usize>> {
    let mut first = None;
    crate::plain_words(window, &mut |token| {
        first.get_or_insert(token.offset_from..token.offset_to);
    });
    first
}

/// The length of the longest address at the beginning of a text.
fn address(text: &str) -> Option<usize> {
    if !text.starts_with(|first: char| first.is_ascii_graphic()) {
        return None;
    }
    url(text).max(mail(text))
}

fn mail(text: &str) -> Option<usize> {
    let host = PATTERNS.mail_local.find(text)?.end();
    let rest = &text[host..];
    if let Some(length) = bracketed(rest, "IPv6:") {
        return Some(host + length);
    }
    let length = named_host(rest)?;
    // The point behind a top-level domain is part of it.
    Some(host + length + usize::from(rest[length..].starts_with('.')))
}

fn url(text: &str) -> Option<usize> {
    let Some(scheme) = PATTERNS.scheme.captures(text) else {
        return bare_url(text);
    };
    let mut at = scheme[0].len();
    let is_file = scheme[1].eq_ignore_ascii_case("file");
    if !is_file {
        at += PATTERNS
            .login
            .find(&text[at..])
            .map_or(0, |found| found.end());
    }
    let rest = &text[at..];
    match bracketed(rest, "").or_else(|| loose_host(rest)) {
        Some(length) => at += length,
        None if is_file => {}
        None => return None,
    }
    let is_web = scheme[1].len() >= 4 && !is_file;
    let tail = if is_web {
        &PATTERNS.web_tail
    } else {
        &PATTERNS.file_tail
    };
    Some(at + tail.find(&text[at..])?.end())
}

/// A host and what follows it, without a scheme.
fn bare_url(text: &str) -> Option<usize> {
    let named = named_host(text);
    let ip = PATTERNS.ip.find(text).map(|found| found.end());
    let host = named.max(ip).or_else(|| bracketed(text, ""))?;
    let mut at = host;
    if named == Some(host) && ends_with_point(&text[host..]) {
        at += 1;
    }
    let end = at + PATTERNS.web_tail.find(&text[at..])?.end();
    // What goes on with a hyphen is no host.
    let goes_on = end == host && text[host..].starts_with('-');
    (!goes_on).then_some(end)
}

/// Whether the point behind a host is part of it: what follows the point is no word, and there is something.
fn ends_with_point(behind: &str) -> bool {
    let next = behind
        .strip_prefix('.')
        .and_then(|rest| rest.chars().next());
    next.is_some_and(|next| !(next.is_alphanumeric() || matches!(next, '-' | '_')))
}

/// The length of an address of the network in brackets.
fn bracketed(text: &str, prefix: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let inside = &inside[..inside.find(']')?];
    let is_ip = |found: regex::Match<'_>| found.end() == inside.len();
    let is_prefixed = inside
        .get(..prefix.len())
        .is_some_and(|written| written.eq_ignore_ascii_case(prefix));
    let is_v6 = is_prefixed && inside[prefix.len()..].parse::<Ipv6Addr>().is_ok();
    let is_v4 = !prefix.is_empty() && PATTERNS.ip.find(inside).is_some_and(is_ip);
    (is_v6 || is_v4).then_some(inside.len() + 2)
}

/// Where the parts of a host's name lie, as long as they begin and end with letters or digits.
fn labels(text: &str) -> Vec<Range<usize>> {
    let mut labels = Vec::new();
    let mut start = 0;
    loop {
        let rest = &text.as_bytes()[start..];
        let is_of_label = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
        let length = rest.iter().take_while(is_of_label).count();
        let hyphens = rest[..length]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'-');
        let end = start + length - hyphens.count();
        if end == start || rest[0] == b'-' {
            return labels;
        }
        labels.push(start..end);
        if end != start + length || rest.get(length) != Some(&b'.') {
            return labels;
        }
        start = end + 1;
    }
}

/// The length of the longest name that may be a host's.
fn loose_host(text: &str) -> Option<usize> {
    labels(text).last().map(|label| label.end)
}

/// The length of the longest name of a host in a top-level domain.
fn named_host(text: &str) -> Option<usize> {
    let labels = labels(text);
    let mut behind_first = labels.iter().skip(1).rev();
    behind_first.find_map(|label| {
        let longest = label.len().min(TOP_LEVEL_MAX);
        let mut ends = (label.start + 1..=label.start + longest).rev();
        ends.find(|end| is_top_level(&text[label.start..*end]))
    })
}

/// Whether there is such a top-level domain.
fn is_top_level(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    // Names that are not ASCII are written this way alone, and the list has them as they are meant.
    if let Some(written) = label.strip_prefix("xn--") {
        return written.ends_with(|last: char| last != '-');
    }
    // A rule of the list may speak of the names below it only, so one stands there. It is the same for all labels, so that
    // the compiler leaves out what the list has of names below: asked by `psl::suffix`, it was 0.65 MB of the program.
    let mut last = Some(label.as_bytes());
    let from_the_end = iter::from_fn(move || Some(last.take().unwrap_or(b"x")));
    psl::List.find(from_the_end).typ.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = words(text, 255).into_iter();
        let found: Vec<&str> = found.map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn addresses_are_one_term_each() {
        for text in [
            "a.b+c@d-e.co.uk",
            "http://example.com/a?b=c#d",
            "file:///etc/passwd",
            "ftp://u@h/p?x;type=a",
            "http://[::1]/x",
            "a@[1.2.3.4]",
            "a@[IPv6:::1]",
            "google.com:80/x",
            "1.2.3.4:80",
            "xn--p1ai.xn--p1ai",
            "a.com-x.org",
            "http://u:p@h.com/",
            "http://localhost",
            "HTTP://EXAMPLE.COM",
            "{a}@b.com",
            "1,5@x.com",
            "a@b.com.",
            "foo.ck",
        ] {
            check(text, &[text]);
        }
    }

    #[test]
    fn what_is_no_address_is_cut_in_words() {
        let rows: &[(&str, &[&str])] = &[
            ("ftp://h", &["ftp", "h"]),
            ("foo@bar.c 1,000 it's", &["foo", "bar.c", "1,000", "it's"]),
            ("1.2.3.400 😀 b.zz", &["1.2.3.400", "😀", "b.zz"]),
            ("\"q@x.com\"", &["q@x.com"]),
            ("see a.com. a.com..", &["see", "a.com.", "a.com."]),
            ("a.com.日", &["a.com", "日"]),
            ("http://a.com. x", &["http://a.com", "x"]),
            ("example.com-foo", &["example.com", "foo"]),
            ("-b.com ex_a.com", &["b.com", "ex_a.com"]),
            ("a@b.comx.y", &["a@b.com", "x.y"]),
            ("u:p@h.com", &["u:p", "h.com"]),
            ("a@b.com,c@d.org", &["a@b.com", ",c@d.org"]),
            ("http://a.com/a,b(z)", &["http://a.com/a", "b", "z"]),
            ("日本http://a.com", &["日", "本", "http://a.com"]),
            ("a.com:123456 a.com's", &["a.com:12345", "6", "a.com's"]),
            ("http://a-/x https://", &["http://a", "x", "https"]),
            ("http://a_b.com", &["http://a", "_b.com"]),
            ("x@日.com", &["x", "日", "com"]),
        ];
        for (text, expected) in rows {
            check(text, expected);
        }
        let long = format!("http://a.com/{}", "y".repeat(300));
        check(&long, &[&long[..255], &long[255..]]);
    }

    #[test]
    fn addresses_are_of_a_kind_of_their_own() {
        for (word, expected) in [
            ("wi.fi", Some("<URL>")),
            ("x.np", Some("<URL>")),
            ("a.arpa", Some("<URL>")),
            ("a.onion", Some("<URL>")),
            ("a.photography", Some("<URL>")),
            ("a.localhost", None),
            ("a.com.", Some("<URL>")),
            ("http://x", Some("<URL>")),
            ("a@b.com", Some("<EMAIL>")),
            ("b.zz", None),
            ("3.14", None),
            ("word", None),
        ] {
            assert_eq!(kind(word), expected, "{word}");
        }
    }
}

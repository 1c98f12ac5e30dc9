//! Texts without the tags of HTML, as Lucene's filter of characters leaves them: what is malformed in ways that it does not
//! know is text.

use super::char_filter::Stretches;
use super::entities::ENTITIES;

/// Tags within a line leave nothing, all others, those that nobody knows too, end one.
const INLINE: [&str; 31] = [
    "a", "abbr", "acronym", "b", "basefont", "bdo", "big", "cite", "code", "dfn", "em", "font",
    "i", "img", "input", "kbd", "label", "q", "s", "samp", "select", "small", "span", "strike",
    "strong", "sub", "sup", "textarea", "tt", "u", "var",
];
/// How far into a tag values in quotes are looked at; a longer one ends with its first `>`.
const TAG_BYTES_MAX: usize = 1024;

/// Bytes of the longest entity, its signs included.
const ENTITY_BYTES_MAX: usize = 11;
/// What begins and ends a stretch in which nothing is read.
const RAW: (&str, &str) = ("<![CDATA[", "]]>");

/// A text without the tags of HTML, and with what its entities mean.
pub fn strip_html(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in stretches(text) {
        stripped.push_str(&text[at..range.start]);
        stripped.push_str(&replacement);
        at = range.end;
    }
    stripped.push_str(&text[at..]);
    stripped
}

/// The tags and entities of a text, and what stands for them.
pub(super) fn stretches(text: &str) -> Stretches {
    let mut found: Stretches = Vec::new();
    let mut at = 0;
    let mut ends = Ends::default();
    while let Some(place) = text.get(at..).and_then(|rest| rest.find(['<', '&'])) {
        let start = at + place;
        let rest = &text[start..];
        if rest.starts_with(RAW.0) {
            let inside = start + RAW.0.len();
            found.push((start..inside, String::new()));
            let Some(length) = text[inside..].find(RAW.1) else {
                break;
            };
            at = inside + length + RAW.1.len();
            found.push((inside + length..at, String::new()));
            continue;
        }
        let stretch = if rest.starts_with('<') {
            tag(rest, &mut ends)
        } else {
            entity(rest)
        };
        match stretch {
            Some((length, replacement)) => {
                found.push((start..start + length, replacement));
                at = start + length;
            }
            None => at = start + 1,
        }
    }
    found
}

/// Whether a stretch is a tag with one of these names.
pub(super) fn is_tag_of(stretch: &str, names: &[String]) -> bool {
    let Some(inside) = stretch.strip_prefix('<') else {
        return false;
    };
    let inside = inside.strip_prefix('/').unwrap_or(inside).trim_start();
    let end = inside.find(|letter: char| !letter.is_alphanumeric());
    let name = &inside[..end.unwrap_or(inside.len())];
    names.iter().any(|kept| kept.eq_ignore_ascii_case(name))
}

/// What a text does not have any more behind the place that was reached: it is not looked for again from each tag on, which
/// would be a walk over all of the text for each.
#[derive(Debug, Default)]
struct Ends(Vec<&'static str>);

impl Ends {
    /// Where an end is, unless it is known not to be there.
    fn place(&mut self, end: &'static str, look: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if self.0.contains(&end) {
            return None;
        }
        let found = look();
        if found.is_none() {
            self.0.push(end);
        }
        found
    }
}

/// Where the end of an element is, which begins with `</`, in letters of any case.
fn find_ignoring_case(rest: &str, close: &str) -> Option<usize> {
    let is_it = |at: usize| {
        let written = rest.as_bytes().get(at..at + close.len());
        written.is_some_and(|written| written.eq_ignore_ascii_case(close.as_bytes()))
    };
    let mut slashes = rest.match_indices("</");
    slashes.find_map(|(at, _)| is_it(at).then_some(at))
}

/// The length of a tag or comment, and what stands for it.
fn tag(rest: &str, ends: &mut Ends) -> Option<(usize, String)> {
    if rest.starts_with("<!--") {
        // One without an end goes on to that of the text.
        let end = ends.place("-->", || rest.find("-->"));
        return Some((end.map_or(rest.len(), |end| end + 3), String::new()));
    }
    if let Some(behind) = rest.strip_prefix("<!").or_else(|| rest.strip_prefix("<?")) {
        let end = ends.place(">", || rest.find('>'))?;
        let is_whole = rest.starts_with("<!") || end > 2 && behind[..end - 2].ends_with('?');
        return is_whole.then(|| (end + 1, String::new()));
    }
    let written = rest[1..].strip_prefix('/');
    let closes = written.is_some();
    let name = written.unwrap_or(&rest[1..]).trim_start();
    let is_begin = |first: char| first.is_alphabetic() || matches!(first, '_' | ':');
    if !name.starts_with(is_begin) {
        return None;
    }
    let is_of_name = |letter: char| letter.is_alphanumeric() || "-_:.".contains(letter);
    let length = name.find(|letter: char| !is_of_name(letter));
    let (name, behind) = name.split_at(length.unwrap_or(name.len()));
    if behind.is_empty() {
        // A text may end within a name, and begin a tag that way.
        return Some((rest.len(), String::new()));
    }
    let end = rest.len() - behind.len() + end_of_tag(behind, closes, ends)?;
    let name = name.to_lowercase();
    if !closes && let Some(&(_, close)) = RAW_ELEMENTS.iter().find(|(raw, _)| *raw == name) {
        let length = ends.place(close, || {
            let from = find_ignoring_case(rest, close)?;
            let end = rest.get(from..)?.find('>')?;
            Some(from + end + 1)
        });
        return Some(match length {
            Some(length) => (length, "\n".to_string()),
            None => (rest.len(), String::new()),
        });
    }
    let replacement = if INLINE.contains(&name.as_str()) {
        ""
    } else {
        "\n"
    };
    Some((end, replacement.to_string()))
}

/// Elements in which no tags are, and how their ends begin.
const RAW_ELEMENTS: [(&str, &str); 2] = [("script", "</script"), ("style", "</style")];

/// Where a tag ends whose name is read already.
fn end_of_tag(behind: &str, closes: bool, ends: &mut Ends) -> Option<usize> {
    let spaces = behind.len() - behind.trim_start().len();
    let bare = behind.trim_start();
    if bare.starts_with('>') {
        return Some(spaces + 1);
    }
    let slash = bare.strip_prefix('/').map(str::trim_start);
    if let Some(last) = slash.filter(|_| !closes)
        && last.starts_with('>')
    {
        return Some(behind.len() - last.len() + 1);
    }
    // Attributes stand behind a space, and in no tag that closes an element.
    if closes || spaces == 0 {
        return None;
    }
    let mut quote = None;
    let mut last = b' ';
    for (at, byte) in behind.bytes().take(TAG_BYTES_MAX).enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'<') => return None,
            (None, b'"' | b'\'') if last == b'=' => quote = Some(byte),
            // Values of attributes may have other signs within their quotes.
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    let first = ends.place(">", || behind.find('>'))?;
    Some(first + 1)
}

/// The length of an entity, and the character it means.
fn entity(rest: &str) -> Option<(usize, String)> {
    let (name, length) = match semicolon(rest) {
        Some(end) => (rest.get(1..end)?, end + 1),
        // The end of the text ends one, too.
        None if rest.len() <= ENTITY_BYTES_MAX => (&rest[1..], rest.len()),
        None => return None,
    };
    let Some(number) = name.strip_prefix('#') else {
        let found = ENTITIES.binary_search_by_key(&name, |(known, _)| *known);
        return Some((length, ENTITIES.get(found.ok()?)?.1.to_string()));
    };
    let code = code(number)?;
    if let Some(character) = char::from_u32(code) {
        return Some((length, character.to_string()));
    }
    // Half of a character, whose other half may follow.
    let first = u16::try_from(code).ok()?;
    let whole = half(&rest[length..]).and_then(|(second, more)| {
        let character = char::decode_utf16([first, second]).next()?.ok()?;
        Some((character, more))
    });
    let (character, more) = whole.unwrap_or((char::REPLACEMENT_CHARACTER, 0));
    Some((length + more, character.to_string()))
}

/// What may be half of a character at the beginning of a text, and its length.
fn half(rest: &str) -> Option<(u16, usize)> {
    let end = semicolon(rest)?;
    let unit = code(rest.get(..end)?.strip_prefix("&#")?)?;
    Some((u16::try_from(unit).ok()?, end + 1))
}

/// Where an entity ends: names are short.
fn semicolon(rest: &str) -> Option<usize> {
    let mut near = rest.bytes().take(ENTITY_BYTES_MAX);
    near.position(|byte| byte == b';')
}

/// The number of a character, decimal or behind an `x` hexadecimal.
fn code(number: &str) -> Option<u32> {
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u32::from_str_radix(digits, radix).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_malformed_is_read_as_lucene_reads_it() {
        for (text, expected) in [
            ("a<b", "a"),
            ("</p", ""),
            ("<p class=\"x", "<p class=\"x"),
            ("<br/", "<br/"),
            ("x < y > z", "x \n z"),
            ("< p>x</ p>", "\nx\n"),
            ("a < 5 > 3 <= b>c <", "a < 5 > 3 <= b>c <"),
            ("if a<b && c>d then", "if ad then"),
            ("<b <i>x", "<b x"),
            ("</p a=b>x<//p>", "</p a=b>x<//p>"),
            ("<p,>x<p a,b>y<p/a>", "<p,>x\ny<p/a>"),
            ("<p / >a<br/>b<é>c<_x>d", "\na\nb\nc\nd"),
            ("<p a='1>q' r>s<p =b>t<p a=\"1>u", "\ns\nt\nu"),
            ("<?x y?>a<?php b>c ?>d<!x>e", "a<?php b>c ?>de"),
            ("<![CDATA[&lt;<b>]]>&lt;<![CDATA[<i>", "&lt;<b><<i>"),
            ("a<!-- b <i>", "a"),
            ("a<script>b", "a"),
            ("&amp &lt", "&amp <"),
            ("&#xD83D;&#xDE00; &#xD83D; &#+65;", "😀 \u{fffd} &#+65;"),
        ] {
            assert_eq!(strip_html(text), expected, "{text}");
        }
    }
}

//! What happens to a text before it is cut: and where each place of the new text came from, since
//! highlights are shown in the old one.

use serde_json::Value;

use super::entities::ENTITIES;
use super::part::Part;
use super::room::{MADE_BYTES_MAX, leave_out};
use crate::java_pattern::{JavaPattern, Replacement, each_match};

/// A text that filters have changed.
pub(super) struct Filtered {
    pub(super) text: String,
    /// Places of the text from which on others of the original follow, in order.
    anchors: Vec<(usize, usize)>,
    length: usize,
}

impl Filtered {
    pub(super) fn new(text: &str) -> Self {
        Filtered {
            text: text.to_string(),
            anchors: Vec::new(),
            length: text.len(),
        }
    }

    /// Where a place was in the original.
    pub(super) fn origin(&self, place: usize) -> usize {
        let after = self.anchors.partition_point(|(new, _)| *new <= place);
        let origin = match after.checked_sub(1).and_then(|at| self.anchors.get(at)) {
            Some((new, old)) => {
                // Inside of what is longer than the text it stands for, no place is behind that text's last letter.
                let next = self.anchors.get(after);
                let last = next.map_or(self.length, |(_, next)| next.saturating_sub(1));
                (old + (place - new)).min(last).max(*old)
            }
            None => place,
        };
        origin.min(self.length)
    }

    /// The text with stretches replaced, which come in order.
    fn replaced(self, stretches: &[(std::ops::Range<usize>, String)]) -> Filtered {
        let mut text = String::with_capacity(self.text.len());
        let mut anchors = Vec::new();
        let mut at = 0;
        for (range, replacement) in stretches {
            if range.start < at {
                continue;
            }
            // What lies before keeps the anchors that it had.
            let first = self.anchors.partition_point(|(new, _)| *new < at);
            let behind = self.anchors.partition_point(|(new, _)| *new < range.start);
            let kept = self.anchors.get(first..behind).unwrap_or_default();
            anchors.extend(
                kept.iter()
                    .map(|(new, old)| (text.len() + (new - at), *old)),
            );
            text.push_str(self.text.get(at..range.start).unwrap_or_default());
            anchors.push((text.len(), self.origin(range.start)));
            text.push_str(replacement);
            at = range.end;
            anchors.push((text.len(), self.origin(at)));
        }
        let shift = text.len();
        let rest = self.anchors.iter().filter(|(new, _)| *new > at);
        anchors.extend(rest.map(|(new, old)| (new - at + shift, *old)));
        text.push_str(self.text.get(at..).unwrap_or_default());
        Filtered {
            text,
            anchors,
            length: self.length,
        }
    }
}

/// One filter of characters.
#[derive(Clone, Debug)]
pub(super) enum CharFilter {
    /// Takes out tags, but for those with these names, and reads entities.
    Html(Vec<String>),
    /// Replaces texts by texts, the longest first.
    Mapping(Vec<(String, String)>),
    /// Replaces what matches.
    Pattern(JavaPattern, Replacement),
}

impl CharFilter {
    pub(super) fn compile(part: &Value) -> Result<Self, String> {
        let part = Part::new(part);
        Ok(match part.type_name() {
            "html_strip" => CharFilter::Html(part.list("escaped_tags").unwrap_or_default()),
            "mapping" => {
                let mut pairs = Vec::new();
                for rule in part.lines("mappings").unwrap_or_default() {
                    let (from, to) = rule
                        .split_once("=>")
                        .ok_or_else(|| format!("Invalid Mapping Rule : [{rule}]"))?;
                    let meant = |side: &str| {
                        unescaped(side.trim())
                            .ok_or_else(|| format!("Invalid escaped char in [{side}]"))
                    };
                    pairs.push((meant(from)?, meant(to)?));
                }
                pairs.retain(|(from, _)| !from.is_empty());
                pairs.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
                CharFilter::Mapping(pairs)
            }
            "pattern_replace" => {
                let (pattern, replacement) = part.replacement("char filter")?;
                CharFilter::Pattern(pattern, replacement)
            }
            other => return Err(format!("Unknown char_filter type [{other}]")),
        })
    }

    pub(super) fn apply(&self, input: Filtered) -> Filtered {
        let stretches = match self {
            CharFilter::Html(kept) => {
                let mut stretches = html(&input.text);
                stretches.retain(|(range, _)| !is_tag_of(&input.text[range.clone()], kept));
                stretches
            }
            CharFilter::Mapping(pairs) => mapped(&input.text, pairs),
            CharFilter::Pattern(pattern, replacement) => {
                let text = &input.text;
                let mut stretches = Vec::new();
                let mut left = MADE_BYTES_MAX;
                // What takes too many steps, or becomes too long, is left as it is, from where that shows.
                let ended = each_match(text, pattern, usize::MAX, |range, places| {
                    let Some(rest) = left.checked_sub(replacement.bytes(places)) else {
                        leave_out();
                        return false;
                    };
                    left = rest;
                    let mut new = String::new();
                    replacement.push(text, places, &mut new);
                    stretches.push((range, new));
                    true
                });
                if ended.is_err() {
                    leave_out();
                }
                stretches
            }
        };
        input.replaced(&stretches)
    }
}

/// Whether a stretch is a tag with one of these names.
fn is_tag_of(stretch: &str, names: &[String]) -> bool {
    let Some(inside) = stretch.strip_prefix('<') else {
        return false;
    };
    let inside = inside.strip_prefix('/').unwrap_or(inside);
    let end = inside.find(|letter: char| !letter.is_alphanumeric());
    let name = &inside[..end.unwrap_or(inside.len())];
    names.iter().any(|kept| kept.eq_ignore_ascii_case(name))
}

/// One side of a mapping: a backslash says what cannot be written.
pub(super) fn unescaped(side: &str) -> Option<String> {
    let mut out = String::new();
    let mut letters = side.chars();
    while let Some(letter) = letters.next() {
        out.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let digits: String = letters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok();
                    code.filter(|_| digits.len() == 4)
                        .and_then(char::from_u32)?
                }
                other => other,
            },
            other => other,
        });
    }
    Some(out)
}

type Stretches = Vec<(std::ops::Range<usize>, String)>;

fn mapped(text: &str, pairs: &[(String, String)]) -> Stretches {
    let mut found = Vec::new();
    let mut at = 0;
    let mut left = MADE_BYTES_MAX;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match pairs.iter().find(|(from, _)| rest.starts_with(from)) {
            Some((from, to)) => {
                let Some(rest) = left.checked_sub(to.len()) else {
                    leave_out();
                    break;
                };
                left = rest;
                found.push((at..at + from.len(), to.clone()));
                at += from.len();
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// Tags within a line leave nothing, all others, those that nobody knows too, end one.
const INLINE: [&str; 31] = [
    "a", "abbr", "acronym", "b", "basefont", "bdo", "big", "cite", "code", "dfn", "em", "font",
    "i", "img", "input", "kbd", "label", "q", "s", "samp", "select", "small", "span", "strike",
    "strong", "sub", "sup", "textarea", "tt", "u", "var",
];
/// How far into a tag values in quotes are looked at; a longer one ends with its first `>`.
const TAG_BYTES_MAX: usize = 1024;

/// A text without the tags of HTML, and with what its entities mean.
pub fn strip_html(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in html(text) {
        stripped.push_str(&text[at..range.start]);
        stripped.push_str(&replacement);
        at = range.end;
    }
    stripped.push_str(&text[at..]);
    stripped
}

fn html(text: &str) -> Stretches {
    let mut found: Stretches = Vec::new();
    let mut at = 0;
    let mut ends = Ends::default();
    while let Some(place) = text.get(at..).and_then(|rest| rest.find(['<', '&'])) {
        let start = at + place;
        let rest = &text[start..];
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
        let end = ends.place("-->", || rest.find("-->"))?;
        return Some((end + 3, String::new()));
    }
    let name = rest[1..].trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!' || c == '?') {
        return None;
    }
    let first = ends.place(">", || rest.find('>'))?;
    let end = end_of_tag(rest).unwrap_or(first) + 1;
    let is_of_name = |c: &char| c.is_ascii_alphanumeric() || "-_:.".contains(*c);
    let name: String = name.chars().take_while(is_of_name).collect();
    let name = name.to_ascii_lowercase();
    if name == "script" || name == "style" {
        let close = if name == "script" {
            "</script"
        } else {
            "</style"
        };
        let length = ends.place(close, || {
            let from = find_ignoring_case(rest, close)?;
            let end = rest.get(from..)?.find('>')?;
            Some(from + end + 1)
        });
        return Some((length.unwrap_or(end), "\n".to_string()));
    }
    // What begins with `!` or `?` is no element.
    let replacement = if name.is_empty() || INLINE.contains(&name.as_str()) {
        ""
    } else {
        "\n"
    };
    Some((end, replacement.to_string()))
}

/// Where the `>` of a tag is: values of attributes may have others within their quotes.
fn end_of_tag(rest: &str) -> Option<usize> {
    let (mut quote, mut last) = (None, b'<');
    for (at, byte) in rest.bytes().take(TAG_BYTES_MAX).enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') if last == b'=' => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    None
}

/// The length of an entity, and the character it means.
fn entity(rest: &str) -> Option<(usize, String)> {
    // Names are short.
    let end = rest.bytes().take(11).position(|byte| byte == b';')?;
    let name = rest.get(1..end)?;
    let character = match name.strip_prefix('#') {
        None => {
            let found = ENTITIES.binary_search_by_key(&name, |(known, _)| *known);
            ENTITIES.get(found.ok()?)?.1
        }
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((end + 1, character.to_string()))
}

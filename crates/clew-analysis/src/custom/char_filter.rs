//! What happens to a text before it is cut: and where each place of the new text came from, since
//! highlights are shown in the old one.

use serde_json::Value;

use super::html::{is_tag_of, stretches};
use super::part::Part;
use super::room::{MADE_BYTES_MAX, leave_out};
use crate::java_pattern::{JavaPattern, Replacement, each_match};

/// A text that filters have changed.
#[derive(Debug)]
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
                        .rsplit_once("=>")
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
                let mut found = stretches(&input.text);
                found.retain(|(range, _)| !is_tag_of(&input.text[range.clone()], kept));
                found
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

/// Stretches of a text, in order, and what stands for them.
pub(super) type Stretches = Vec<(std::ops::Range<usize>, String)>;

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

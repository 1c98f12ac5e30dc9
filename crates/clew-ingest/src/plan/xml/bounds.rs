//! What a document may have before it is read: its reader takes time by the square of an element's attributes, and room by that of
//! its namespaces.

use memchr::memmem;

/// Bytes of a document.
const BYTES_MAX: usize = 1 << 20;

/// Nodes of a document.
pub(super) const NODES_MAX: u32 = 100_000;

/// Attributes of an element.
const ATTRIBUTES_MAX: usize = 256;

/// Declarations of namespaces.
const NAMESPACES_MAX: usize = 500;

/// Elements inside each other: as values they are objects, and lists of them.
const DEPTH_MAX: usize = 50;

/// Whether a text may be read as a document. One that is none may pass.
pub(super) fn is_within(text: &str) -> bool {
    text.len() <= BYTES_MAX
        && memmem::find_iter(text.as_bytes(), "xmlns")
            .take(NAMESPACES_MAX + 1)
            .count()
            <= NAMESPACES_MAX
        && has_small_elements(text)
}

fn has_small_elements(text: &str) -> bool {
    let mut depth: usize = 0;
    let mut rest = text;
    while let Some((_, tag)) = rest.split_once('<') {
        let passed = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
        let passed = passed.iter().find(|(begin, _)| tag.starts_with(begin));
        if let Some((begin, end)) = passed {
            rest = tag[begin.len()..]
                .split_once(end)
                .map_or("", |(_, rest)| rest);
            continue;
        }
        let Some((attributes, is_closed, behind)) = tag_in_quotes(tag) else {
            // It does not end, so that its reader does not get beyond it either.
            return tag
                .matches(['"', '\''])
                .take(2 * ATTRIBUTES_MAX + 1)
                .count()
                <= 2 * ATTRIBUTES_MAX;
        };
        if attributes > ATTRIBUTES_MAX {
            return false;
        }
        match (tag.starts_with('/'), is_closed) {
            (true, _) => depth = depth.saturating_sub(1),
            (false, true) => {}
            (false, false) => depth += 1,
        }
        if depth > DEPTH_MAX {
            return false;
        }
        rest = behind;
    }
    true
}

/// How many texts in quotes a tag has, whether it ends its element itself, and what is behind it.
fn tag_in_quotes(tag: &str) -> Option<(usize, bool, &str)> {
    let mut quoted = 0;
    let mut rest = tag;
    loop {
        let at = rest.find(['"', '\'', '>'])?;
        let (before, behind) = rest.split_at(at);
        if let Some(behind) = behind.strip_prefix('>') {
            return Some((quoted, before.ends_with('/'), behind));
        }
        let quote = behind.chars().next()?;
        quoted += 1;
        rest = behind[1..].split_once(quote)?.1;
    }
}

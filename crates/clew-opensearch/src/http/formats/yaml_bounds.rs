//! What a YAML text may not have, found before its parser sees it. At each token the parser goes over all flow collections that
//! are open, and at each `%TAG` over all earlier ones, so that some kilobytes of brackets keep it busy for minutes; its own bound
//! on depth is kept only when all is parsed. Whether a text is YAML is not said here.
//!
//! Flow collections are read as the parser reads them. Where one begins is guessed from what stands before a bracket, on the safe
//! side: text in a block scalar may look like one, and is refused when it leaves more of them open than may lie in one another.

/// How deep collections may lie: as deep as the parser lets values lie when it hands them out.
const FLOW_DEPTH_MAX: usize = 128;
/// More abbreviations of tags than a text has that somebody wrote.
const TAG_DIRECTIVES_MAX: usize = 64;

/// What is too much in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMuch {
    Depth,
    TagDirectives,
}

impl TooMuch {
    pub(super) fn reason(self) -> String {
        match self {
            TooMuch::Depth => {
                format!("recursion limit exceeded: more than {FLOW_DEPTH_MAX} open collections")
            }
            TooMuch::TagDirectives => format!("more than {TAG_DIRECTIVES_MAX} %TAG directives"),
        }
    }
}

/// Takes time by the length of the text; where collections lie in one another, so many times.
pub(super) fn check(text: &[u8]) -> Result<(), TooMuch> {
    // In text whose brackets close, no byte lies in more collections than this.
    let mut bytes_left = text.len().saturating_mul(FLOW_DEPTH_MAX + 1);
    let mut directives = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'[' | b'{' if may_begin(text, at) => {
                let mut flow = Flow { text, at };
                if flow.is_too_deep() {
                    return Err(TooMuch::Depth);
                }
                let read = flow.at.saturating_sub(at);
                bytes_left = bytes_left.checked_sub(read).ok_or(TooMuch::Depth)?;
            }
            b'%' if begins_line(text, at) && rest(text, at).starts_with(b"%TAG") => {
                directives += 1;
                if directives > TAG_DIRECTIVES_MAX {
                    return Err(TooMuch::TagDirectives);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a collection may begin at this bracket, outside of all others: at the begin of a line, behind an indicator, a tag or an
/// anchor. Behind anything else the parser takes it for text, or fails at once.
fn may_begin(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let Some(last) = before.iter().rposition(|byte| !is_space(*byte)) else {
        return true;
    };
    match before.get(last) {
        None => true,
        Some(byte) if may_break(*byte) => true,
        Some(_) if last + 1 == at => false,
        Some(b'-' | b':' | b'?') => true,
        // One bracket stands behind each word, so that all of them together are gone over once.
        Some(_) => {
            let word = before.get(..=last).unwrap_or_default();
            let start = word
                .iter()
                .rposition(|byte| is_space(*byte) || may_break(*byte))
                .map_or(0, |space| space + 1);
            matches!(word.get(start), Some(b'&' | b'!'))
        }
    }
}

/// A flow collection and what lies in it, token by token.
struct Flow<'a> {
    text: &'a [u8],
    at: usize,
}

impl Flow<'_> {
    /// Whether more collections are open at one place than may be; else it has gone to the end of the outermost one.
    fn is_too_deep(&mut self) -> bool {
        let mut depth = 0_usize;
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'[' | b'{' => {
                    self.at += 1;
                    depth += 1;
                    if depth > FLOW_DEPTH_MAX {
                        return true;
                    }
                }
                b']' | b'}' => {
                    self.at += 1;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return false;
                    }
                }
                b',' | b'?' | b':' => self.at += 1,
                b'-' if self.is_blank_behind() => self.at += 1,
                b'#' => self.pass_while(|text, at| break_length(text, at).is_none()),
                b'\'' => self.pass_single_quoted(),
                b'"' => self.pass_double_quoted(),
                b'&' | b'*' => {
                    self.at += 1;
                    self.pass_while(|text, at| text.get(at).is_some_and(|byte| is_letter(*byte)));
                }
                b'!' => self.pass_tag(),
                _ => match self.blank_length() {
                    Some(length) => self.at += length,
                    None => self.pass_plain(),
                },
            }
        }
        false
    }

    fn pass_while(&mut self, goes_on: impl Fn(&[u8], usize) -> bool) {
        while self.at < self.text.len() && goes_on(self.text, self.at) {
            self.at += 1;
        }
    }

    /// Two of its marks in a row stand for one.
    fn pass_single_quoted(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            let is_mark = *byte == b'\'';
            self.at += 1;
            if is_mark {
                if self.text.get(self.at) != Some(&b'\'') {
                    return;
                }
                self.at += 1;
            }
        }
    }

    fn pass_double_quoted(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return;
            }
        }
    }

    /// One in angle brackets may have brackets of other kinds in it.
    fn pass_tag(&mut self) {
        self.at += 1;
        if self.text.get(self.at) == Some(&b'<') {
            self.pass_while(|text, at| text.get(at) != Some(&b'>'));
            self.at += 1;
        } else {
            self.pass_while(|text, at| {
                !ends_word(text.get(at)) && blank_length(text, at).is_none()
            });
        }
    }

    /// Text without marks: white space is a part of it, and quotes are no marks there.
    fn pass_plain(&mut self) {
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            let behind = self.text.get(self.at + 1);
            let is_colon = *byte == b':'
                && (behind.is_none_or(|byte| *byte == b'?')
                    || ends_word(behind)
                    || self.is_blank_behind());
            if is_colon || ends_word(Some(byte)) {
                return;
            }
            match blank_length(self.text, self.at) {
                None => self.at += 1,
                Some(length) => {
                    self.at += length;
                    if self.text.get(self.at) == Some(&b'#') {
                        return;
                    }
                }
            }
        }
    }

    fn is_blank_behind(&self) -> bool {
        self.at + 1 == self.text.len() || blank_length(self.text, self.at + 1).is_some()
    }

    /// As `blank_length`; between tokens, a mark of the byte order at the begin of a line is none, too.
    fn blank_length(&self) -> Option<usize> {
        let is_mark = rest(self.text, self.at).starts_with(b"\xef\xbb\xbf");
        if is_mark && begins_line(self.text, self.at) {
            return Some(3);
        }
        blank_length(self.text, self.at)
    }
}

fn rest(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Whether a byte may be the last one of a line break, or of a mark of the byte order.
fn may_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | 0x85 | 0xa8 | 0xa9 | 0xbf)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether a byte ends text inside of a flow collection.
fn ends_word(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b',' | b'[' | b']' | b'{' | b'}'))
}

/// The length of the line break that begins here.
fn break_length(text: &[u8], at: usize) -> Option<usize> {
    match rest(text, at) {
        [b'\n' | b'\r', ..] => Some(1),
        [0xc2, 0x85, ..] => Some(2),
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(3),
        _ => None,
    }
}

/// The length of the white space that begins here.
fn blank_length(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at) {
        Some(byte) if is_space(*byte) => Some(1),
        _ => break_length(text, at),
    }
}

fn begins_line(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let breaks: [&[u8]; 5] = [b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"];
    before.is_empty() || breaks.iter().any(|end| before.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(text: &str) -> Result<(), TooMuch> {
        check(text.as_bytes())
    }

    #[test]
    fn collections_lie_no_deeper_than_values_may() {
        for open in ["[", "{a: ", "[\n", "[a, ", "{? ", "[!t ", "[&a "] {
            for before in ["", "\n  ", "a: ", "- ", "? ", "--- ", "- !t ", "a: &a !t\t"] {
                let nested = |depth: usize| [before, &open.repeat(depth)].concat();
                assert_eq!(check_text(&nested(128)), Ok(()), "{before}{open}");
                assert_eq!(
                    check_text(&nested(129)),
                    Err(TooMuch::Depth),
                    "{before}{open}"
                );
            }
        }
        let deep = ["[".repeat(128), "]".repeat(128)].concat();
        assert_eq!(check_text(&format!("{deep}\n").repeat(50)), Ok(()));
    }

    #[test]
    fn brackets_that_are_text_close_nothing() {
        for text in [
            "']]''}}'",
            r#""]]\"}}\\""#,
            "x # ]]\n",
            "#]]\u{85}",
            "!<]]]> x",
            "a 'b",
            "a: 'b]]'",
            "a:\u{85}']]'",
            "a:\u{2028}\"]]\"",
            "\n\u{feff}']]'",
            "x-\"y",
            "- ']]'",
        ] {
            let deep = ["[", text, ", ["].concat().repeat(129);
            assert_eq!(check_text(&deep), Err(TooMuch::Depth), "{text:?}");
        }
    }

    #[test]
    fn brackets_that_are_text_open_nothing() {
        for line in [
            "a: [1, {b: ']'}, \"[[[\", x'[y]]\n",
            "a: {b: [c, d]} # [[[\n",
            "a: x [y {z\n",
            "a: 'it''s [so {'\n",
            "a: \"[[[\"\n",
            "a: |\n  at[0] [1, 2) x[\n",
            "- !<tag:[> [a]\n",
        ] {
            assert_eq!(check_text(&line.repeat(1000)), Ok(()), "{line}");
        }
    }

    #[test]
    fn brackets_in_one_long_word_cost_no_look_at_all_of_it() {
        let count = 1 << 20;
        let points = ["[", &"[1,2],".repeat(count), "[1,2]]"].concat();
        let quoted = ["\"", &"[".repeat(count), "\""].concat();
        for text in [points, quoted] {
            assert_eq!(check_text(&text), Ok(()));
        }
    }

    #[test]
    fn tags_have_few_abbreviations() {
        let lines = |count: usize| "%TAG !a! x\n".repeat(count);
        assert_eq!(check_text(&lines(64)), Ok(()));
        assert_eq!(check_text(&lines(65)), Err(TooMuch::TagDirectives));
        assert_eq!(check_text(&"a: 5 %TAG\n".repeat(65)), Ok(()));
    }
}

//! Where one record ends and the next begins. Most files have a record a line; apt's history has
//! one a stanza.

use std::ops::Range;

use crate::parse::ParserName;

/// One record in a window of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// What belongs to the record, without its line end; empty for a blank line.
    pub(crate) content: Range<usize>,
    /// Where the next record begins.
    pub(crate) end: usize,
    /// Whether the record was longer than allowed.
    pub(crate) cut: bool,
}

/// How records are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Lines,
    /// From `Start-Date:` to `End-Date:`, or to the next `Start-Date:`.
    AptStanzas,
}

impl Framing {
    pub(crate) fn of(parser: ParserName) -> Framing {
        match parser {
            ParserName::AptHistory => Framing::AptStanzas,
            _ => Framing::Lines,
        }
    }

    /// The first whole record of a window; with `last`, nothing follows the window, and what is
    /// left is a record too. `None` means that more bytes are needed.
    pub(crate) fn first(self, window: &[u8], bytes_max: usize, last: bool) -> Option<Frame> {
        match self {
            Framing::Lines => line(window, bytes_max, last),
            Framing::AptStanzas => stanza(window, bytes_max, last),
        }
    }
}

fn line(window: &[u8], bytes_max: usize, last: bool) -> Option<Frame> {
    let (text_end, end) = match memchr::memchr(b'\n', window) {
        Some(at) => (at, at + 1),
        None if last && !window.is_empty() => (window.len(), window.len()),
        None => return None,
    };
    let text_end = text_end - usize::from(text_end > 0 && window[text_end - 1] == b'\r');
    let cut = text_end > bytes_max;
    let text_end = if cut {
        cut_point(window, bytes_max)
    } else {
        text_end
    };
    Some(Frame {
        content: 0..text_end,
        end,
        cut,
    })
}

/// The end of the longest start of at most `bytes_max` bytes that does not cut a character.
pub(crate) fn cut_point(text: &[u8], bytes_max: usize) -> usize {
    let mut end = bytes_max.min(text.len());
    let continues = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    for _ in 0..3 {
        if end > 0 && continues(end) {
            end -= 1;
        }
    }
    end
}

fn stanza(window: &[u8], bytes_max: usize, last: bool) -> Option<Frame> {
    let mut content: Option<Range<usize>> = None;
    let mut at = 0;
    while let Some(next) = line(&window[at..], usize::MAX, last) {
        let text = &window[at..at + next.content.end];
        let end = at + next.end;
        match &mut content {
            None if text.is_empty() => {
                return Some(Frame {
                    content: 0..0,
                    end,
                    cut: false,
                });
            }
            None => content = Some(at..at + text.len()),
            Some(so_far) => {
                if text.starts_with(b"Start-Date:") {
                    return Some(Frame {
                        content: so_far.clone(),
                        end: at,
                        cut: false,
                    });
                }
                if at + text.len() > bytes_max {
                    return Some(Frame {
                        content: so_far.clone(),
                        end: at,
                        cut: true,
                    });
                }
                if !text.is_empty() {
                    so_far.end = at + text.len();
                }
            }
        }
        at = end;
        let first_is_start = window.starts_with(b"Start-Date:");
        if text.starts_with(b"End-Date:") || !first_is_start {
            let content = content?;
            let cut = content.end > bytes_max;
            let content = 0..content.end.min(cut_point(window, bytes_max));
            return Some(Frame { content, end, cut });
        }
        if at == window.len() {
            break;
        }
    }
    content
        .filter(|_| last && at == window.len())
        .map(|content| Frame {
            cut: content.end > bytes_max,
            content: 0..content.end.min(cut_point(window, bytes_max)),
            end: at,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All records of a text, with what is left, at a limit of 12 bytes.
    fn frames(framing: Framing, text: &str, last: bool) -> (Vec<String>, String) {
        let mut records = Vec::new();
        let mut rest = text.as_bytes();
        while let Some(frame) = framing.first(rest, 48, last) {
            assert!(frame.end > 0);
            let record = String::from_utf8(rest[frame.content].to_vec()).unwrap();
            records.push(if frame.cut { record + "+" } else { record });
            rest = &rest[frame.end..];
        }
        (records, String::from_utf8(rest.to_vec()).unwrap())
    }

    #[track_caller]
    fn check(framing: Framing, text: &str, last: bool, records: &[&str], rest: &str) {
        let (found, left) = frames(framing, text, last);
        assert_eq!(
            (found, left.as_str()),
            (records.iter().map(|r| (*r).to_owned()).collect(), rest)
        );
    }

    #[test]
    fn lines() {
        check(Framing::Lines, "a\nb\r\n\nc", false, &["a", "b", ""], "c");
        check(
            Framing::Lines,
            "a\nb\r\n\nc",
            true,
            &["a", "b", "", "c"],
            "",
        );
        check(Framing::Lines, "", true, &[], "");
        let long = "é".repeat(25) + "\nx\n";
        check(
            Framing::Lines,
            &long,
            false,
            &[&("é".repeat(24) + "+"), "x"],
            "",
        );
        let odd = "a".to_owned() + &"é".repeat(25) + "\n";
        check(
            Framing::Lines,
            &odd,
            false,
            &[&("a".to_owned() + &"é".repeat(23) + "+")],
            "",
        );
    }

    #[test]
    fn stanzas() {
        let one = "Start-Date: 1\nInstall: x\nEnd-Date: 2\n";
        let record = "Start-Date: 1\nInstall: x\nEnd-Date: 2";
        check(
            Framing::AptStanzas,
            &format!("\n{one}\n{one}"),
            false,
            &["", record, "", record],
            "",
        );
        // A stanza that was never finished ends where the next one starts.
        check(
            Framing::AptStanzas,
            &format!("Start-Date: 0\n{one}"),
            false,
            &["Start-Date: 0", record],
            "",
        );
        check(
            Framing::AptStanzas,
            "Start-Date: 1\nInst",
            false,
            &[],
            "Start-Date: 1\nInst",
        );
        check(
            Framing::AptStanzas,
            "Start-Date: 1\nInst",
            true,
            &["Start-Date: 1\nInst"],
            "",
        );
        check(
            Framing::AptStanzas,
            "noise\nStart-Date: 1\n",
            true,
            &["noise", "Start-Date: 1"],
            "",
        );
        let long = format!("Start-Date: 1\nInstall: {}\nEnd-Date: 2\n", "x".repeat(60));
        check(
            Framing::AptStanzas,
            &long,
            false,
            &[
                "Start-Date: 1+",
                &format!("Install: {}+", "x".repeat(39)),
                "End-Date: 2",
            ],
            "",
        );
    }
}

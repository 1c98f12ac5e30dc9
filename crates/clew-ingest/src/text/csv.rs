//! A line of cells, some of them in quotes.

use super::span::{Span, TEXT_BYTES_MAX};

/// What stands between cells and around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Csv {
    pub(crate) separator: char,
    pub(crate) quote: char,
    /// Whether spaces around cells without quotes are left out.
    pub(crate) trim: bool,
}

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cell {
    /// A part of the line.
    Line(Span),
    /// A part of the texts that were made, because of quotes inside.
    Made(Span),
}

impl Csv {
    /// So many first cells of a line at most; what is behind them is not looked at. False if a quote is not closed, or stands
    /// elsewhere than around a cell, or a cell without quotes has the end of a line inside ([`Self::fault`]). What has to be made is put behind `made`.
    pub(crate) fn cut(
        self,
        line: &str,
        cells_max: usize,
        cells: &mut Vec<Cell>,
        made: &mut String,
    ) -> bool {
        cells.clear();
        if line.len() > TEXT_BYTES_MAX {
            return false;
        }
        let has_ends = memchr::memchr2(b'\n', b'\r', line.as_bytes()).is_some();
        let mut at = 0;
        while cells.len() < cells_max {
            let (end, quotes) = self.end(&line[at..]);
            let Some(end) = end else {
                return false;
            };
            if has_ends && quotes == 0 && line[at..at + end].contains(['\n', '\r']) {
                return false;
            }
            let Some(cell) = self.cell(line, Span::new(at, at + end), quotes, made) else {
                return false;
            };
            cells.push(cell);
            if at + end == line.len() {
                return true;
            }
            at += end + self.separator.len_utf8();
        }
        true
    }

    /// What is wrong with a line that cannot be cut, in the words of OpenSearch's reader, which counts as Java does.
    pub(crate) fn fault(self, line: &str) -> String {
        enum Place {
            Start,
            Plain,
            Quoted,
            /// Behind a quote, which may be the last one of a cell, and whether blanks follow it.
            Behind {
                blanks: bool,
            },
        }
        let (mut place, mut at) = (Place::Start, 0);
        for letter in line.chars() {
            let (is_quote, is_blank) = (letter == self.quote, matches!(letter, ' ' | '\t'));
            place = match place {
                Place::Quoted if is_quote => Place::Behind { blanks: false },
                Place::Quoted => Place::Quoted,
                Place::Start if is_quote => Place::Quoted,
                Place::Behind { blanks: false } if is_quote => Place::Quoted,
                _ if letter == self.separator => Place::Start,
                Place::Start if is_blank => Place::Start,
                Place::Behind { .. } if is_blank => Place::Behind { blanks: true },
                Place::Behind { .. } => {
                    return format!("character '{letter}' after quoted field at {at}");
                }
                Place::Start | Place::Plain if is_quote || matches!(letter, '\n' | '\r') => {
                    return format!("Illegal character inside unquoted field at {at}");
                }
                Place::Start | Place::Plain => Place::Plain,
            };
            at += letter.len_utf16();
        }
        "Unmatched quote".to_string()
    }

    /// Where the cell ends that a text begins with, and how many quotes are in it; nowhere if one is not closed.
    fn end(self, text: &str) -> (Option<usize>, usize) {
        let mut quotes = 0;
        if self.separator.is_ascii() && self.quote.is_ascii() {
            let mut separator = [0; 4];
            let mut quote = [0; 4];
            self.separator.encode_utf8(&mut separator);
            self.quote.encode_utf8(&mut quote);
            for at in memchr::memchr2_iter(separator[0], quote[0], text.as_bytes()) {
                if text.as_bytes()[at] == quote[0] {
                    quotes += 1;
                } else if quotes % 2 == 0 {
                    return (Some(at), quotes);
                }
            }
        } else {
            for (at, letter) in text.char_indices() {
                if letter == self.quote {
                    quotes += 1;
                } else if letter == self.separator && quotes % 2 == 0 {
                    return (Some(at), quotes);
                }
            }
        }
        ((quotes % 2 == 0).then_some(text.len()), quotes)
    }

    /// A cell; nothing if quotes stand elsewhere than around it.
    fn cell(self, line: &str, span: Span, quotes: usize, made: &mut String) -> Option<Cell> {
        let text = span.of(line);
        if quotes == 0 {
            let trimmed = if self.trim { text.trim() } else { text };
            let before = if self.trim {
                text.len() - text.trim_start().len()
            } else {
                0
            };
            let start = span.start() + before;
            return Some(Cell::Line(Span::new(start, start + trimmed.len())));
        }
        // Blanks around quotes are never a part of the value.
        let from_quote = text.trim_start_matches([' ', '\t']);
        let inside = from_quote.trim_end_matches([' ', '\t']);
        let inside = inside.strip_prefix(self.quote)?.strip_suffix(self.quote)?;
        if quotes == 2 {
            let start = span.end() - from_quote.len() + self.quote.len_utf8();
            return Some(Cell::Line(Span::new(start, start + inside.len())));
        }
        // Of two quotes in a row one stays.
        let start = made.len();
        let mut letters = inside.chars();
        while let Some(letter) = letters.next() {
            if letter == self.quote && letters.next() != Some(self.quote) {
                return None;
            }
            made.push(letter);
        }
        Some(Cell::Made(Span::new(start, made.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str, cells_max: usize) -> Option<Vec<String>> {
        let csv = Csv {
            separator: ',',
            quote: '"',
            trim: false,
        };
        let (mut cells, mut made) = (Vec::new(), String::new());
        let text = |cell: &Cell, made: &String| match cell {
            Cell::Line(span) => span.of(line).to_owned(),
            Cell::Made(span) => span.of(made).to_owned(),
        };
        csv.cut(line, cells_max, &mut cells, &mut made)
            .then(|| cells.iter().map(|cell| text(cell, &made)).collect())
    }

    #[test]
    fn quotes_stand_around_cells_and_blanks_around_quotes() {
        for (line, expected) in [
            (r#"a, b ,"c""#, Some(vec!["a", " b ", "c"])),
            (
                "\"a\" ,\t\"b,c\" , \"d\"\"e\" ",
                Some(vec!["a", "b,c", "d\"e"]),
            ),
            (r#""","""","a""""#, Some(vec!["", "\"", "a\""])),
            (r#"a,b"c",d"#, None),
            ("a,b\nc", None),
            ("a,\"b\nc\"", Some(vec!["a", "b\nc"])),
            (r#""a" b,c"#, None),
            (r#""a"b"c""#, None),
            (r#"a,"b"#, None),
            // Only what is asked for is looked at.
            (r#"a,b,c,d"e"#, Some(vec!["a", "b", "c"])),
            ("a,", Some(vec!["a", ""])),
        ] {
            let expected: Option<Vec<String>> =
                expected.map(|all| all.into_iter().map(str::to_owned).collect());
            assert_eq!(cells(line, 3), expected, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told_with_its_place() {
        let csv = Csv {
            separator: ',',
            quote: '"',
            trim: false,
        };
        for (line, expected) in [
            ("a\"b,c", "Illegal character inside unquoted field at 1"),
            ("a,b\r\n", "Illegal character inside unquoted field at 3"),
            (
                "\u{1f600},b\n",
                "Illegal character inside unquoted field at 4",
            ),
            ("\"a\"b,c", "character 'b' after quoted field at 3"),
            ("\"a\"\"\" \"", "character '\"' after quoted field at 6"),
            ("a, \"b", "Unmatched quote"),
        ] {
            assert_eq!(csv.fault(line), expected, "{line}");
        }
    }
}

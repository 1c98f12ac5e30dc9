//! Where bytes of a text stand in UTF-16 units, in which Java, and so clients, count.

/// The places of a text's tokens, which are asked for about as they come: each time only what lies between two places is
/// counted, so that all tokens of a text together cost about its length.
#[derive(Debug)]
pub struct Utf16Places<'a> {
    text: &'a str,
    /// Bytes are units.
    is_ascii: bool,
    start: Known,
    /// Kept apart from where tokens start: those that a filter cuts out of one word all have the word's places.
    end: Known,
}

/// A byte of the text, and the units before it.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    byte: usize,
    units: usize,
}

impl<'a> Utf16Places<'a> {
    /// The places of a text. Looks at the text once.
    pub fn new(text: &'a str) -> Self {
        Utf16Places {
            text,
            is_ascii: text.is_ascii(),
            start: Known::default(),
            end: Known::default(),
        }
    }

    /// Units before the first and before the byte behind the last one of a part. Costs what lies between these places
    /// and those that were asked for last.
    pub fn of(&mut self, start: usize, end: usize) -> std::ops::Range<usize> {
        if self.is_ascii {
            return start..end;
        }
        self.start.go(self.text, start);
        self.end.go(self.text, end);
        self.start.units..self.end.units
    }

    /// Units of the whole text.
    pub fn length(&mut self) -> usize {
        self.of(0, self.text.len()).end
    }
}

impl Known {
    fn go(&mut self, text: &str, byte: usize) {
        let units = |from: usize, to: usize| text[from..to].encode_utf16().count();
        if byte >= self.byte {
            self.units += units(self.byte, byte);
        } else {
            self.units -= units(byte, self.byte);
        }
        self.byte = byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_are_counted_from_the_beginning() {
        for text in ["", "abc", "aé日𝄞z𝄞", "日本語日本語"] {
            let counted = |end: usize| text[..end].encode_utf16().count();
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            let ends: Vec<usize> = ends.collect();
            let mut places = Utf16Places::new(text);
            // Forwards, and from each place to each other one.
            for start in &ends {
                for end in ends.iter().filter(|end| *end >= start) {
                    let expected = counted(*start)..counted(*end);
                    assert_eq!(places.of(*start, *end), expected, "{text} {start} {end}");
                }
            }
            assert_eq!(places.length(), counted(text.len()), "{text}");
        }
    }
}

//! Where pieces begin and end: at sentences, of which as many are taken as fit, and between words
//! where one sentence is too long.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) bytes: Range<usize>,
    /// The same in numbers of characters.
    pub(super) chars: Range<usize>,
}

/// The boundaries of one text, as numbers of characters.
pub(super) struct Scanner {
    /// Where each character begins, and the end.
    bytes: Vec<usize>,
    sentences: Vec<usize>,
    words: Vec<usize>,
    /// Most characters of a piece; 0 means one sentence, however long.
    size: usize,
    /// The sentences that were looked at last, and the piece that was cut from them.
    window: Range<usize>,
    inner: Range<usize>,
}

impl Scanner {
    pub(super) fn new(text: &str, size: usize) -> Self {
        let mut bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        bytes.push(text.len());
        let number = |at: usize| bytes.partition_point(|byte| *byte < at);
        let with_end = |mut starts: Vec<usize>| {
            starts.push(bytes.len() - 1);
            starts
        };
        Scanner {
            sentences: with_end(sentence_starts(text).into_iter().map(number).collect()),
            words: with_end(word_starts(text).into_iter().map(number).collect()),
            bytes,
            size,
            window: 0..0,
            inner: 0..0,
        }
    }

    /// Pieces that are words, and what is between them.
    pub(super) fn of_words(text: &str) -> Self {
        let scanner = Scanner::new(text, 0);
        Scanner {
            sentences: scanner.words.clone(),
            ..scanner
        }
    }

    /// The piece around the character at a byte; bytes must ascend from call to call.
    pub(super) fn around(&mut self, byte: usize) -> Cut {
        let offset = self.bytes.partition_point(|at| *at < byte) + 1;
        if self.window.start < offset && offset < self.window.end {
            self.inner = self.inner.end..self.window.end;
        } else {
            let end = following(&self.sentences, offset - 1);
            self.inner = preceding(&self.sentences, offset)..end;
            while self.inner.len() < self.size {
                let end = following(&self.sentences, self.inner.end);
                if end == self.inner.end || end - self.inner.start > self.size {
                    break;
                }
                self.inner.end = end;
            }
            self.window = self.inner.clone();
        }
        if self.size > 0 && self.inner.len() > self.size {
            self.cut(offset);
        }
        Cut {
            bytes: self.bytes[self.inner.start]..self.bytes[self.inner.end],
            chars: self.inner.clone(),
        }
    }

    /// Takes what fits around the place: first what is left of it, then what is right of it.
    fn cut(&mut self, offset: usize) {
        if let Some(left) = offset.checked_sub(self.size)
            && left > self.inner.start
        {
            let start = preceding(&self.words, left);
            self.inner.start = self.inner.start.max(start);
        }
        let taken = offset.saturating_sub(self.inner.start);
        let right = offset + self.size.saturating_sub(taken);
        if right < self.window.end {
            self.inner.end = following(&self.words, right);
        }
    }
}

/// Where the sentences of a text begin, in bytes.
pub(in crate::highlight) fn sentence_starts(text: &str) -> Vec<usize> {
    // A new line is a space: what ends a sentence is a point.
    let line = text.replace(['\n', '\r'], " ");
    // A point before a number ends nothing.
    let begins = |(at, sentence): &(usize, &str)| {
        let is_number = sentence.starts_with(char::is_numeric);
        !(is_number && line[..*at].trim_end().ends_with('.'))
    };
    let sentences = line.split_sentence_bound_indices();
    sentences.filter(begins).map(|(at, _)| at).collect()
}

/// Where its words begin, and what is between them.
pub(in crate::highlight) fn word_starts(text: &str) -> Vec<usize> {
    let words = text.split_word_bound_indices().map(|(at, _)| at);
    words.filter(|at| !is_inside_word(text, *at)).collect()
}

/// Whether a place lies inside what Java takes for one word: around a hyphen between letters, and
/// between ideographs.
fn is_inside_word(text: &str, at: usize) -> bool {
    let (mut before, mut behind) = (text[..at].chars().rev(), text[at..].chars());
    let is_ideograph = |character: char| {
        let number = u32::from(character);
        let within = [0x3040..=0x30FF, 0x3400..=0x9FFF, 0xAC00..=0xD7AF_u32];
        within.iter().any(|range| range.contains(&number))
    };
    match (before.next(), behind.next()) {
        (Some('-'), Some(next)) => {
            next.is_alphanumeric() && before.next().is_some_and(char::is_alphanumeric)
        }
        (Some(last), Some('-')) => {
            last.is_alphanumeric() && behind.next().is_some_and(char::is_alphanumeric)
        }
        (Some(last), Some(next)) => is_ideograph(last) && is_ideograph(next),
        _ => false,
    }
}

/// The last boundary before a place.
fn preceding(boundaries: &[usize], at: usize) -> usize {
    let before = boundaries.partition_point(|boundary| *boundary < at);
    boundaries[before.saturating_sub(1)]
}

/// The first boundary behind a place; the last one when there is none.
fn following(boundaries: &[usize], at: usize) -> usize {
    let behind = boundaries.partition_point(|boundary| *boundary <= at);
    boundaries[behind.min(boundaries.len() - 1)]
}

/// The end of the word that `size` characters of the beginning end in.
pub(super) fn word_end(text: &str, size: usize) -> usize {
    let Some((end, _)) = text.char_indices().nth(size) else {
        return text.len();
    };
    let words = text.split_word_bound_indices().map(|(at, _)| at);
    let mut behind = words.filter(|at| *at > end && !is_inside_word(text, *at));
    behind.next().unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_hold_as_many_sentences_as_fit() {
        let text = "One two. Three four. Five six seven eight nine ten.";
        let piece = |size: usize, word: &str| {
            let at = text.find(word).unwrap();
            text[Scanner::new(text, size).around(at).bytes].to_string()
        };
        assert_eq!(piece(25, "two"), "One two. Three four. ");
        assert_eq!(piece(10, "two"), "One two. ");
        assert_eq!(
            piece(100, "Three"),
            "Three four. Five six seven eight nine ten."
        );
        assert_eq!(piece(12, "nine"), "seven eight nine");
        assert_eq!(piece(0, "nine"), "Five six seven eight nine ten.");
        let at = text.find("nine").unwrap();
        assert_eq!(&text[Scanner::of_words(text).around(at).bytes], "nine");
        let text = "a b c d by e-mail";
        let around = Scanner::new(text, 12).around(8).bytes;
        assert_eq!(&text[around], "a b c d by e-mail");
    }

    #[test]
    fn the_next_piece_of_a_long_sentence_begins_where_the_last_one_ended() {
        let text = "a b c d e f g h i j k l m n o p";
        let mut scanner = Scanner::new(text, 5);
        let first = scanner.around(2).bytes;
        let second = scanner.around(text.find('k').unwrap()).bytes;
        assert!(first.end <= second.start, "{first:?} {second:?}");
        assert!(second.contains(&text.find('k').unwrap()));
    }

    #[test]
    fn a_piece_is_told_in_bytes_and_in_characters() {
        let text = "Ünd äin Wört. Nöch äins dazü. Ünd mehr.";
        let mut scanner = Scanner::new(text, 5);
        for word in ["Wört", "äins", "mehr"] {
            let cut = scanner.around(text.find(word).unwrap());
            let chars = |range: Range<usize>| text[range].chars().count();
            assert_eq!(cut.chars.start, chars(0..cut.bytes.start), "{word}");
            assert_eq!(cut.chars.len(), chars(cut.bytes), "{word}");
        }
    }
}

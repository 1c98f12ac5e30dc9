//! Pieces as Lucene's `Highlighter` cuts texts, which the `plain` one does: by words alone, of which each piece begins with
//! one whose end lies behind the next multiple of its size. What lies between two pieces belongs to the second.

use std::ops::Range;

use clew_analysis::Token;

use crate::highlight::wanted::Mark;
use crate::highlight::{Place, length};

/// Words that overlap of which Lucene's `TokenGroup` takes no more; those behind them are in no group.
const GROUP_WORDS_MAX: usize = 50;

/// How long pieces become.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceSize {
    /// Characters of 16 bits, about.
    pub(super) units: usize,
    /// Whether what is left at the end of the text may be a piece, however short.
    pub(super) ends_short: bool,
}

/// Where the pieces of a text lie, in bytes: all of the text, in order. Costs a look at each word and each character.
pub(super) fn cuts(text: &str, words: &[Token], size: PieceSize) -> Vec<Range<usize>> {
    let all = length(text);
    let mut place = Place::default();
    let mut cuts = Vec::new();
    let (mut begin, mut group) = (0, Group::default());
    for word in words {
        let behind = group.end;
        if group.take(word) == Taken::Begins && behind > 0 {
            let end = place.units_before(text, word.end);
            let is_due = end >= size.units.saturating_mul(cuts.len() + 1);
            if is_due && (size.ends_short || all.saturating_sub(end) >= size.units / 2) {
                cuts.push(begin..behind);
                begin = behind;
            }
        }
    }
    cuts.push(begin..text.len());
    cuts
}

/// Where the marked words lie in a piece that begins at a byte: of words that overlap, whether they are all marked or not,
/// from the first marked one to the end of the last. Costs a look at each word of the piece.
pub(super) fn spans(words: &[Token], marks: &[Mark], begin: usize) -> Vec<Range<usize>> {
    let mut marked = marks.iter().map(|mark| mark.word).peekable();
    let Some(&first_marked) = marked.peek() else {
        return Vec::new();
    };
    let first = words.partition_point(|word| word.start < begin);
    let mut group = Group::default();
    let mut spans: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for (number, word) in words.iter().enumerate().skip(first.min(first_marked)) {
        if marked.peek().is_none() {
            break;
        }
        let taken = group.take(word);
        goes_on &= taken != Taken::Begins;
        if marked.next_if_eq(&number).is_none() || taken == Taken::Not {
            continue;
        }
        match spans.last_mut().filter(|_| goes_on) {
            Some(span) => *span = span.start.min(word.start)..span.end.max(word.end),
            None => spans.push(word.start..word.end),
        }
        goes_on = true;
    }
    spans
}

/// Words that overlap, which stay together.
#[derive(Default)]
struct Group {
    /// Where the last of them ends, in bytes.
    end: usize,
    words: usize,
}

/// What became of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// It overlaps none before it, and begins the next group.
    Begins,
    /// It is one more of the group.
    Joins,
    /// The group has as many words as one can have.
    Not,
}

impl Group {
    fn take(&mut self, word: &Token) -> Taken {
        if self.words == 0 || word.start >= self.end {
            *self = Group {
                end: word.end,
                words: 1,
            };
            return Taken::Begins;
        }
        if self.words == GROUP_WORDS_MAX {
            return Taken::Not;
        }
        self.end = self.end.max(word.end);
        self.words += 1;
        Taken::Joins
    }
}

#[cfg(test)]
mod tests {
    use clew_analysis::tokens;

    use super::*;

    fn pieces(text: &str, units: usize, ends_short: bool) -> Vec<&str> {
        let size = PieceSize { units, ends_short };
        let cuts = cuts(text, &tokens("standard", text), size);
        cuts.into_iter().map(|cut| &text[cut]).collect()
    }

    #[test]
    fn a_piece_begins_behind_the_word_that_reaches_its_size() {
        let text = "One two three. Four, five six seven eight ni";
        let begin = ["One two", " three. Four", ", five six"];
        let whole_end = [begin.as_slice(), &[" seven eight ni"][..]].concat();
        assert_eq!(pieces(text, 10, false), whole_end);
        let short_end = [begin.as_slice(), &[" seven", " eight ni"][..]].concat();
        assert_eq!(pieces(text, 10, true), short_end);
        assert_eq!(pieces("a bc", 0, false), ["a", " bc"]);
        assert_eq!(pieces("a bc", 100, false), ["a bc"]);
        assert_eq!(pieces("...", 1, false), ["..."]);
        assert_eq!(pieces("ä𝄞 öö üü", 7, true), ["ä𝄞 öö", " üü"]);
    }

    #[test]
    fn what_overlaps_is_one_word_of_fifty_at_most() {
        let word = |start: usize| Token {
            text: String::new(),
            position: start,
            length: 1,
            start,
            end: start + 3,
            kind: "word",
            keyword: None,
        };
        let mark = |word| Mark { word, group: None };
        let words: Vec<Token> = (0..60).chain(70..75).map(word).collect();
        let shown = |marked: &[usize], begin: usize| -> Vec<(usize, usize)> {
            let marks: Vec<Mark> = marked.iter().copied().map(mark).collect();
            let spans = spans(&words, &marks, begin);
            spans
                .into_iter()
                .map(|span| (span.start, span.end))
                .collect()
        };
        assert!(shown(&[], 0).is_empty());
        assert_eq!(shown(&[1, 5], 0), [(1, 8)]);
        // The group ends at 52: the two words behind its fiftieth are in none, and another one begins.
        assert_eq!(shown(&[49, 50, 51, 52], 0), [(49, 52), (52, 55)]);
        assert_eq!(shown(&[3, 60, 63], 0), [(3, 6), (70, 76)]);
        assert_eq!(shown(&[60, 63], 70), [(70, 76)]);
    }
}

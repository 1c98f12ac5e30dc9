//! Pieces as Lucene's `Highlighter` cuts texts, which the `plain` one does: by words alone, of which each piece begins with
//! one whose end lies behind the next multiple of its size. What lies between two pieces belongs to the second.

use std::ops::Range;

use clew_analysis::Token;

use crate::highlight::{Place, length};

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
    let (mut begin, mut behind) = (0, 0);
    for word in words {
        // Words that overlap stay together.
        if behind > 0 && word.start >= behind {
            let end = place.units_before(text, word.end);
            let is_due = end >= size.units.saturating_mul(cuts.len() + 1);
            if is_due && (size.ends_short || all.saturating_sub(end) >= size.units / 2) {
                cuts.push(begin..behind);
                begin = behind;
            }
        }
        behind = behind.max(word.end);
    }
    cuts.push(begin..text.len());
    cuts
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
}

//! Pieces of text around marked words: as many sentences as fit, and parts of those that do not.

mod plain;
pub(super) mod scanner;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use clew_analysis::Token;

use super::wanted::Mark;
use super::{HighlightOptions, push_text};
use plain::PieceSize;
use scanner::{Cut, Scanner};

/// How long a piece usually is; what pieces tell is judged around that.
const PIECE_CHARS: f64 = 87.0;
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A piece of a text with marked words in it.
struct Piece {
    order: usize,
    /// Where it begins in all values, and its length.
    start: usize,
    length: usize,
    /// The marked words, as they are in the index.
    words: Vec<String>,
    text: String,
}

/// The pieces found so far.
pub(super) struct PiecesFound<'a> {
    options: &'a HighlightOptions,
    pieces: Vec<Piece>,
    /// Characters of the values so far.
    chars: usize,
    /// How often each marked word was there.
    frequencies: BTreeMap<String, usize>,
}

impl Piece {
    fn different_words(&self) -> usize {
        self.words.iter().collect::<BTreeSet<_>>().len()
    }
}

impl<'a> PiecesFound<'a> {
    pub(super) fn new(options: &'a HighlightOptions) -> Self {
        PiecesFound {
            options,
            pieces: Vec::new(),
            chars: 0,
            frequencies: BTreeMap::new(),
        }
    }

    /// What a mark counts as: its word, or, but for `plain` pieces, what found it and others.
    fn counted(&self, words: &[Token], mark: &Mark) -> String {
        match mark.group {
            // No word begins so.
            Some(group) if !self.options.plain => format!("\0{group}"),
            _ => words[mark.word].text.clone(),
        }
    }

    /// Adds the pieces of one value.
    pub(super) fn add(&mut self, text: &str, words: &[Token], marks: &[Mark]) {
        let chars = text.chars().count();
        self.cut(text, chars, (words, marks));
        // One more character stands between two values.
        self.chars += chars + 1;
    }

    fn cut(&mut self, text: &str, chars: usize, (words, marks): (&[Token], &[Mark])) {
        if marks.is_empty() {
            return;
        }
        for mark in marks {
            let counted = self.counted(words, mark);
            *self.frequencies.entry(counted).or_default() += 1;
        }
        let whole = Cut {
            bytes: 0..text.len(),
            chars: 0..chars,
        };
        if self.options.fragments_max == 0 {
            return self.take(text, whole, words, marks);
        }
        if self.options.plain {
            return self.cut_plainly(text, words, marks);
        }
        let mut scanner = if self.options.by_word {
            Scanner::of_words(text)
        } else {
            Scanner::new(text, self.options.fragment_size)
        };
        let mut at = 0;
        while let Some(mark) = marks.get(at) {
            let cut = scanner.around(words[mark.word].start);
            let inside = marks[at..]
                .iter()
                .take_while(|mark| words[mark.word].start < cut.bytes.end)
                .count()
                .max(1);
            self.take(text, cut, words, &marks[at..at + inside]);
            at += inside;
        }
    }

    /// Adds the pieces of one value that say most: those with the most different words, and the first of those.
    fn cut_plainly(&mut self, text: &str, words: &[Token], marks: &[Mark]) {
        let size = PieceSize {
            units: self.options.fragment_size,
            ends_short: self.options.ends_short,
        };
        let (known, mut at) = (self.pieces.len(), 0);
        for bytes in plain::cuts(text, words, size) {
            let inside = marks[at..].iter();
            let inside = inside.take_while(|mark| words[mark.word].start < bytes.end);
            let inside = inside.count();
            if inside > 0 {
                // Where they lie among the characters says nothing here.
                let cut = Cut { bytes, chars: 0..0 };
                self.take(text, cut, words, &marks[at..at + inside]);
            }
            at += inside;
        }
        self.pieces[known..].sort_by_cached_key(|piece| Reverse(piece.different_words()));
        let most = known.saturating_add(self.options.fragments_max);
        self.pieces.truncate(most);
    }

    fn take(&mut self, text: &str, cut: Cut, words: &[Token], marks: &[Mark]) {
        let piece = Piece {
            order: self.pieces.len(),
            start: self.chars + cut.chars.start,
            length: cut.chars.len(),
            words: marks.iter().map(|mark| self.counted(words, mark)).collect(),
            text: self.write(text, cut.bytes, words, marks),
        };
        self.pieces.push(piece);
    }

    /// How much a piece tells: its words weigh more the rarer they are in the whole text, the more
    /// often they are in a short piece, and a little more near the beginning.
    #[allow(
        clippy::cast_precision_loss,
        reason = "lengths of texts are far below 2^53"
    )]
    fn score(&self, piece: &Piece) -> f64 {
        let documents = 1.0 + self.chars.saturating_sub(1) as f64 / PIECE_CHARS;
        let length = K1 * (1.0 - B + B * (piece.length as f64 / PIECE_CHARS));
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in &piece.words {
            *counts.entry(word).or_default() += 1;
        }
        let of_word = |(word, count): (&&str, &usize)| {
            let frequency = self.frequencies.get(*word).copied().unwrap_or(0) as f64;
            let weight = (K1 + 1.0) * (1.0 + (documents + 0.5) / (frequency + 0.5)).ln();
            let count = *count as f64;
            weight * count / (count + length)
        };
        let sum: f64 = counts.iter().map(of_word).sum();
        sum * (1.0 + 1.0 / (PIECE_CHARS + piece.start as f64).ln())
    }

    fn write(&self, text: &str, range: Range<usize>, words: &[Token], marks: &[Mark]) -> String {
        let spans = if self.options.plain {
            plain::spans(words, marks, range.start)
        } else {
            spans(words, marks, range.end)
        };
        let mut written = String::new();
        let mut at = range.start;
        for Range { start, end } in spans {
            if start < at || end <= start {
                continue;
            }
            self.push(&mut written, &text[at..start]);
            written.push_str(&self.options.before);
            self.push(&mut written, &text[start..end]);
            written.push_str(&self.options.after);
            at = end;
        }
        if at < range.end {
            self.push(&mut written, &text[at..range.end]);
        }
        // What lies around the words of plain pieces belongs to them.
        if self.options.fragments_max == 0 || self.options.plain {
            return written;
        }
        written.trim().to_string()
    }

    fn push(&self, written: &mut String, text: &str) {
        push_text(written, text, self.options.escape);
    }

    /// The pieces to show.
    pub(super) fn finish(mut self, texts: &[String]) -> Vec<String> {
        let max = match self.options.fragments_max {
            0 => usize::MAX,
            max => max,
        };
        if self.pieces.is_empty() {
            return self.beginning(texts);
        }
        if self.options.plain {
            if self.options.best_first {
                self.pieces
                    .sort_by_cached_key(|piece| Reverse(piece.different_words()));
            }
            self.pieces.truncate(max);
            return self.pieces.into_iter().map(|piece| piece.text).collect();
        }
        let scores: Vec<f64> = self.pieces.iter().map(|piece| self.score(piece)).collect();
        self.pieces.sort_by(|a, b| {
            scores[b.order]
                .total_cmp(&scores[a.order])
                .then(a.order.cmp(&b.order))
        });
        self.pieces.truncate(max);
        if !self.options.best_first {
            // Of those that begin at one place the less telling ones come first.
            self.pieces.sort_by(|a, b| {
                (a.start.cmp(&b.start)).then(scores[a.order].total_cmp(&scores[b.order]))
            });
        }
        self.pieces.into_iter().map(|piece| piece.text).collect()
    }

    fn beginning(&self, texts: &[String]) -> Vec<String> {
        let Some(text) = texts.first().filter(|_| self.options.no_match_size > 0) else {
            return Vec::new();
        };
        let end = scanner::word_end(text, self.options.no_match_size);
        let mut written = String::new();
        self.push(&mut written, text[..end].trim());
        vec![written]
    }
}

/// Where the marked words lie in a piece that ends at a byte. Those that overlap, as parts of one word do, are shown as
/// one, which ends where the last of them does.
fn spans(words: &[Token], marks: &[Mark], end_max: usize) -> Vec<Range<usize>> {
    let mut places: Vec<(usize, usize)> = marks
        .iter()
        .map(|mark| (words[mark.word].start, words[mark.word].end))
        .collect();
    places.sort_unstable();
    let mut spans: Vec<Range<usize>> = Vec::new();
    for (start, end) in places {
        match spans.last_mut() {
            Some(last) if start < last.end => last.end = end,
            _ => spans.push(start..end),
        }
    }
    for span in &mut spans {
        span.end = span.end.min(end_max);
    }
    spans
}

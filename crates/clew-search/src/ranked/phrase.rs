//! Documents with words one after the other. A phrase is never more frequent than its rarest word in the
//! document, so most documents are passed over by that before their positions are read.

use clew_platform::Pace;
use tantivy::{DocId, TERMINATED};

use super::bm25::{NormTable, Weight, factor};
use super::files::Lengths;
use super::hits::Hits;
use super::list::{BLOCK, List};
use super::positions::Positions;

/// A word of a phrase.
#[derive(Default)]
pub(super) struct PhraseWord<'a> {
    pub(super) list: List<'a>,
    /// Its place among the words.
    offset: u32,
    positions: Positions<'a>,
    found: Vec<u32>,
    /// Room for what is found of the others, of the first one alone.
    others: Vec<u32>,
}

impl<'a> PhraseWord<'a> {
    /// Goes to a word of a segment, whose list is open.
    pub(super) fn open(&mut self, offset: u32, positions: &'a [u8]) {
        self.offset = offset;
        self.positions.open(positions);
    }

    /// Reads where the phrase would end for each occurrence of the word, if its last word has this offset.
    fn read(&mut self, last: u32) {
        let own = (self.list.positions_before(), self.list.frequency());
        self.found.clear();
        self.positions
            .read(own, last.wrapping_sub(self.offset), &mut self.found);
    }
}

/// How a phrase scores.
#[derive(Clone, Copy)]
pub(super) struct Scoring<'a> {
    pub(super) weight: Weight,
    pub(super) table: &'a NormTable,
    pub(super) lengths: Lengths<'a>,
}

/// Two words or more, the rarest first.
pub(super) fn phrase(parts: &mut [PhraseWord<'_>], scoring: Scoring<'_>, hits: &mut Hits<'_>) {
    let mut scores = [0.0; BLOCK];
    let mut pace = Pace::of_blocks();
    while !pace.is_over() {
        let Some((lead, others)) = parts.split_first_mut() else {
            return;
        };
        if lead.list.is_over() {
            return;
        }
        let (from, end) = (lead.list.next_at_least(), lead.list.last());
        // As long as every match counts, scores are of use only where all words are.
        let counts_all = hits.floor() == f32::MIN;
        // No document before this one has all words.
        let mut least = from;
        if counts_all || bound(lead, others, (from, end), scoring.weight) > hits.floor() {
            let places = if counts_all {
                lead.list.seek(from);
                lead.list.places()
            } else {
                lead.list.score_block(&mut scores)
            };
            let after = places.end;
            let mut floor = hits.floor();
            for (at, score) in places.zip(&scores) {
                if (counts_all || *score > floor) && parts[0].list.doc_at(at) >= least {
                    least = check(parts, at, scoring, hits);
                    floor = hits.floor();
                }
            }
            parts[0].list.place_at(after);
        }
        if end == TERMINATED {
            return;
        }
        parts[0].list.shallow((end + 1).max(least));
    }
}

/// The best score that the blocks around some documents allow: one word that is bad there is enough.
fn bound(
    lead: &mut PhraseWord<'_>,
    others: &mut [PhraseWord<'_>],
    (from, end): (DocId, DocId),
    weight: Weight,
) -> f32 {
    let mut best = lead.list.block_factor();
    for part in others {
        part.list.shallow(from);
        best = best.min(part.list.factor_until(end));
    }
    weight.times(best)
}

/// Takes the document at a place of the leading list, if it has the phrase and scores enough; returns the first
/// document that may have all words beside it.
fn check(
    parts: &mut [PhraseWord<'_>],
    at: usize,
    scoring: Scoring<'_>,
    hits: &mut Hits<'_>,
) -> DocId {
    let doc = parts[0].list.doc_at(at);
    if !hits.admits(doc) {
        return doc + 1;
    }
    // A list that has gone past the document says where the next one with all words can be at the earliest.
    let mut found = parts[1..].iter_mut().map(|part| part.list.seek(doc));
    if let Some(further) = found.find(|found| *found != doc) {
        return further;
    }
    parts[0].list.place_at(at);
    let floor = hits.floor();
    // Reading a length often waits for memory.
    let norm = || scoring.table.of(scoring.lengths.id(doc));
    if floor > f32::MIN {
        let frequencies = parts.iter_mut().map(|part| part.list.frequency());
        // A phrase is at most as frequent as its rarest word.
        let most = frequencies.min().unwrap_or(0);
        if scoring.weight.times(factor(most, norm())) <= floor {
            return doc + 1;
        }
    }
    let frequency = occurrences(parts);
    if frequency > 0 {
        let score = scoring.weight.times(factor(frequency, norm()));
        if score > floor {
            hits.take(doc, score);
        }
    }
    doc + 1
}

/// How often the words follow each other in the document that all lists are at.
fn occurrences(parts: &mut [PhraseWord<'_>]) -> u32 {
    let last = parts.iter().map(|part| part.offset).max().unwrap_or(0);
    let Some((first, rest)) = parts.split_first_mut() else {
        return 0;
    };
    first.read(last);
    // One list for all others: a phrase may have thousands of words, and a word as many places.
    let mut found = std::mem::take(&mut first.others);
    let mut pace = Pace::of_blocks();
    for part in rest {
        std::mem::swap(&mut found, &mut part.found);
        part.read(last);
        std::mem::swap(&mut found, &mut part.found);
        keep_common(&mut first.found, &found);
        if first.found.is_empty() || pace.is_over() {
            first.found.clear();
            break;
        }
    }
    first.others = found;
    u32::try_from(first.found.len()).unwrap_or(u32::MAX)
}

/// Leaves in `places` what is in both; both ascend.
fn keep_common(places: &mut Vec<u32>, others: &[u32]) {
    let (mut own, mut other, mut kept) = (0, 0, 0);
    while let (Some(here), Some(there)) = (places.get(own).copied(), others.get(other)) {
        if here == *there {
            places[kept] = here;
            kept += 1;
        }
        // Of what is twice in `places` both are kept.
        other += usize::from(*there < here);
        own += usize::from(here <= *there);
    }
    places.truncate(kept);
}

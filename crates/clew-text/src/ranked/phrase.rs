//! Documents with words one after the other. A phrase is never more frequent than its rarest word in the
//! document, so most documents are passed over by that before their positions are read.

use std::io;
use std::ops::Range;

use tantivy::positions::PositionReader;
use tantivy::{DocId, TERMINATED, directory::OwnedBytes};

use super::bm25::{NormTable, Weight, factor};
use super::files::Lengths;
use super::hits::Hits;
use super::list::{BLOCK, List};

/// A word of a phrase.
#[derive(Default)]
pub(super) struct Part<'a> {
    pub(super) list: List<'a>,
    /// Its place among the words.
    pub(super) offset: u32,
    /// Where its positions are in the segment.
    positions: Option<(&'a OwnedBytes, Range<usize>)>,
    reader: Option<PositionReader>,
    found: Vec<u32>,
}

impl<'a> Part<'a> {
    /// Goes to a word of a segment, whose list is open.
    pub(super) fn open(&mut self, offset: u32, positions: &'a OwnedBytes, own: Range<usize>) {
        self.offset = offset;
        self.positions = Some((positions, own));
        self.reader = None;
    }

    /// Reads where the phrase would begin for each occurrence of the word; places before the text's first word
    /// wrap round, for all words alike.
    fn read(&mut self) -> io::Result<()> {
        let reader = match (&mut self.reader, &self.positions) {
            (Some(reader), _) => reader,
            (none, Some((all, own))) => none.insert(PositionReader::open(all.slice(own.clone()))?),
            (None, None) => return Ok(()),
        };
        let (before, count) = (self.list.positions_before(), self.list.frequency());
        self.found.clear();
        self.found.resize(count as usize, 0);
        reader.read(before, &mut self.found);
        let mut at = 0u32;
        for place in &mut self.found {
            at += *place;
            *place = at.wrapping_sub(self.offset);
        }
        Ok(())
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
pub(super) fn phrase(
    parts: &mut [Part<'_>],
    scoring: Scoring<'_>,
    hits: &mut Hits<'_>,
) -> io::Result<()> {
    let mut scores = [0.0; BLOCK];
    loop {
        let Some((lead, others)) = parts.split_first_mut() else {
            return Ok(());
        };
        if lead.list.is_over() {
            return Ok(());
        }
        let (from, end) = (lead.list.next_at_least(), lead.list.last());
        // As long as every match counts, scores are of use only where all words are.
        let counts_all = hits.floor() == f32::MIN;
        // No document before this one has all words.
        let mut least = from;
        if counts_all || bound(lead, others, (from, end), scoring.weight) > hits.floor() {
            let places = if counts_all {
                scores.fill(f32::MAX);
                lead.list.seek(from);
                lead.list.places()
            } else {
                lead.list.score_block(&mut scores)
            };
            let after = places.end;
            for (at, score) in places.zip(&scores) {
                if *score > hits.floor() && parts[0].list.doc_at(at) >= least {
                    least = check(parts, at, scoring, hits)?;
                }
            }
            parts[0].list.place_at(after);
        }
        if end == TERMINATED {
            return Ok(());
        }
        parts[0].list.shallow((end + 1).max(least));
    }
}

/// The best score that the blocks around some documents allow: one word that is bad there is enough.
fn bound(
    lead: &mut Part<'_>,
    others: &mut [Part<'_>],
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
    parts: &mut [Part<'_>],
    at: usize,
    scoring: Scoring<'_>,
    hits: &mut Hits<'_>,
) -> io::Result<DocId> {
    let doc = parts[0].list.doc_at(at);
    if !hits.admits(doc) {
        return Ok(doc + 1);
    }
    let mut found = parts[1..].iter_mut().map(|part| part.list.seek(doc));
    if let Some(further) = found.find(|found| *found != doc) {
        return Ok(further);
    }
    parts[0].list.place_at(at);
    let floor = hits.floor();
    let norm = scoring.table.of(scoring.lengths.id(doc));
    let frequencies = parts.iter_mut().map(|part| part.list.frequency());
    // A phrase is at most as frequent as its rarest word.
    let most = frequencies.min().unwrap_or(0);
    if floor > f32::MIN && scoring.weight.times(factor(most, norm)) <= floor {
        return Ok(doc + 1);
    }
    let frequency = occurrences(parts)?;
    let score = scoring.weight.times(factor(frequency, norm));
    if frequency > 0 && score > floor {
        hits.take(doc, score);
    }
    Ok(doc + 1)
}

/// How often the words follow each other in the document that all lists are at.
fn occurrences(parts: &mut [Part<'_>]) -> io::Result<u32> {
    let Some((first, rest)) = parts.split_first_mut() else {
        return Ok(0);
    };
    first.read()?;
    for part in rest {
        part.read()?;
        keep_common(&mut first.found, &part.found);
        if first.found.is_empty() {
            return Ok(0);
        }
    }
    Ok(u32::try_from(first.found.len()).unwrap_or(u32::MAX))
}

/// Leaves in `places` what is in both; both ascend, but for places that have wrapped round, which come first.
fn keep_common(places: &mut Vec<u32>, others: &[u32]) {
    let order = |place: u32| place.wrapping_add(1 << 31);
    let mut others = others.iter().copied().peekable();
    places.retain(|place| {
        while others
            .next_if(|other| order(*other) < order(*place))
            .is_some()
        {}
        others.peek() == Some(place)
    });
}

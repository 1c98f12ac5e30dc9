//! Ranges of numbers and times, found in a field's column.
//!
//! tantivy reads a column from end to end for every range. Documents of logs come in the order of their times, and much else
//! is written in some order, so that most ranges of documents lie wholly outside of what is asked for, or wholly inside:
//! once the spans of a column are known, only the others are read.

use std::ops::{Bound, Range, RangeInclusive};
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::query::{
    AllScorer, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, RangeQuery, Scorer,
    Weight,
};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

use crate::segments::{Columns, RANGE, Span};

/// Values that are read before the next document is asked for: few where others may leap over what is behind them, twice as
/// many with each piece that is read through.
const PIECE_MIN: DocId = 64;
const PIECE_MAX: DocId = 1024;

/// Documents with a value between two numbers, as a query with score 1.
#[derive(Clone, Debug)]
pub(crate) struct ColumnRange {
    low: Bound<Term>,
    high: Bound<Term>,
    columns: Arc<Columns>,
}

impl ColumnRange {
    /// Both ends are numbers of one field; `columns` are those of the shard.
    pub(crate) fn new(low: Bound<Term>, high: Bound<Term>, columns: Arc<Columns>) -> Self {
        ColumnRange { low, high, columns }
    }
}

impl Query for ColumnRange {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let range = self.clone();
        Ok(Box::new(ColumnRangeWeight { range }))
    }
}

struct ColumnRangeWeight {
    range: ColumnRange,
}

impl ColumnRangeWeight {
    /// Tantivy's own, which reads the column from end to end: for what is no column of numbers, and for explanations.
    fn whole(&self, reader: &SegmentReader) -> tantivy::Result<Box<dyn Weight>> {
        let ColumnRange { low, high, .. } = &self.range;
        let scoring = EnableScoring::disabled_from_schema(reader.schema());
        RangeQuery::new(low.clone(), high.clone()).weight(scoring)
    }

    /// The documents that may have a value of the range; `None` where that is not for a column of numbers to say.
    fn docs(&self, reader: &SegmentReader) -> tantivy::Result<Option<ColumnDocs>> {
        let ColumnRange { low, high, columns } = &self.range;
        let (Bound::Included(term) | Bound::Excluded(term)) = (match low {
            Bound::Unbounded => high,
            low => low,
        }) else {
            return Ok(None);
        };
        let name = reader.schema().get_field_name(term.field());
        let Some(wanted) = places(low, high) else {
            return Ok(None);
        };
        let Some(column) = columns.places(reader, name)? else {
            return Ok(None);
        };
        let docs = reader.max_doc();
        let whole = Span::of_column(&column, |place| place);
        let mut parts = Part::all(&wanted, (&[whole], docs.max(1)), docs);
        if docs > RANGE && parts.iter().any(|part| !part.is_inside) {
            let of = (reader.segment_id(), name);
            let known = columns.spans.of(of, docs, || {
                let begins = (0..docs).step_by(RANGE as usize);
                let span = |begin: DocId| {
                    Span::of(&column, begin..(begin + RANGE).min(docs), |place| place)
                };
                Some(begins.map(span).collect())
            });
            match known {
                Some(known) => parts = Part::all(&wanted, (&known, RANGE), docs),
                None => columns.spans.looked(of, docs.into()),
            }
        }
        Ok(Some(ColumnDocs::new(column, wanted, parts)))
    }
}

impl Weight for ColumnRangeWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Some(docs) = self.docs(reader)? else {
            return self.whole(reader)?.scorer(reader, boost);
        };
        Ok(match &docs.parts[..] {
            [] => Box::new(EmptyScorer),
            [part] if part.is_inside && part.docs == (0..reader.max_doc()) => {
                Box::new(ConstScorer::new(AllScorer::new(reader.max_doc()), boost))
            }
            _ => Box::new(ConstScorer::new(docs.begun(), boost)),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.whole(reader)?.explain(reader, doc)
    }
}

/// The numbers between two ends, as places in their order.
fn places(low: &Bound<Term>, high: &Bound<Term>) -> Option<RangeInclusive<u64>> {
    let place = |term: &Term| {
        let bytes = term.serialized_value_bytes().try_into().ok();
        bytes.map(u64::from_be_bytes)
    };
    let low = match low {
        Bound::Included(term) => place(term)?,
        Bound::Excluded(term) => place(term)?.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let high = match high {
        Bound::Included(term) => place(term)?,
        Bound::Excluded(term) => place(term)?.checked_sub(1)?,
        Bound::Unbounded => u64::MAX,
    };
    Some(low..=high)
}

/// Neighbours that are alike.
#[derive(Debug)]
struct Part {
    /// Those that were not handed out or read yet.
    docs: Range<DocId>,
    /// Whether all of them match, so that none is read.
    is_inside: bool,
}

impl Part {
    /// The parts that may have some of what is wanted; each span is of so many documents.
    fn all(
        wanted: &RangeInclusive<u64>,
        (spans, step): (&[Span], DocId),
        max_doc: DocId,
    ) -> Vec<Part> {
        let (low, high) = (u128::from(*wanted.start()), u128::from(*wanted.end()));
        let mut parts: Vec<Part> = Vec::new();
        for (span, begin) in spans.iter().zip((0..max_doc).step_by(step as usize)) {
            let Some((least, most)) = span.places else {
                continue;
            };
            if most < low || least > high {
                continue;
            }
            let is_inside = low <= least && most <= high && !span.has_missing;
            let end = begin.saturating_add(step).min(max_doc);
            match parts.last_mut() {
                Some(last) if last.docs.end == begin && last.is_inside == is_inside => {
                    last.docs.end = end;
                }
                _ => parts.push(Part {
                    docs: begin..end,
                    is_inside,
                }),
            }
        }
        parts
    }
}

/// The documents with a wanted value, of the parts that may have some.
struct ColumnDocs {
    column: Column<u64>,
    wanted: RangeInclusive<u64>,
    parts: Vec<Part>,
    /// The part that comes next.
    part: usize,
    /// Matches that were read, and how many of them were handed out.
    found: Vec<DocId>,
    handed: usize,
    /// Values of the next piece.
    piece: DocId,
    doc: DocId,
}

impl ColumnDocs {
    fn new(column: Column<u64>, wanted: RangeInclusive<u64>, parts: Vec<Part>) -> Self {
        ColumnDocs {
            column,
            wanted,
            parts,
            part: 0,
            found: Vec::new(),
            handed: 0,
            piece: PIECE_MIN,
            doc: TERMINATED,
        }
    }

    /// At the first match.
    fn begun(mut self) -> Self {
        self.advance();
        self
    }

    /// The next match that was read, from `target` on.
    fn next_found(&mut self, target: DocId) -> Option<DocId> {
        while let Some(doc) = self.found.get(self.handed).copied() {
            if doc >= target {
                return Some(doc);
            }
            self.handed += 1;
        }
        None
    }

    /// The part that `target` is in, or the first behind it; what comes before is left out.
    fn part_at(&mut self, target: DocId) -> Option<&mut Part> {
        while self.parts.get(self.part)?.docs.end <= target {
            self.part += 1;
        }
        self.parts.get_mut(self.part)
    }

    fn matches(&self, doc: DocId) -> bool {
        let mut values = self.column.values_for_doc(doc);
        values.any(|value| self.wanted.contains(&value))
    }
}

impl DocSet for ColumnDocs {
    fn advance(&mut self) -> DocId {
        loop {
            if let Some(doc) = self.next_found(0) {
                self.handed += 1;
                self.doc = doc;
                return doc;
            }
            let Some(part) = self.parts.get_mut(self.part) else {
                self.doc = TERMINATED;
                return TERMINATED;
            };
            if part.docs.is_empty() {
                self.part += 1;
            } else if part.is_inside {
                self.doc = part.docs.start;
                part.docs.start += 1;
                return self.doc;
            } else {
                let end = part
                    .docs
                    .end
                    .min(part.docs.start.saturating_add(self.piece));
                self.piece = (2 * self.piece).min(PIECE_MAX);
                let piece = part.docs.start..end;
                part.docs.start = end;
                self.found.clear();
                self.handed = 0;
                self.column
                    .get_docids_for_value_range(self.wanted.clone(), piece, &mut self.found);
            }
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        if self.next_found(target).is_none()
            && let Some(part) = self.part_at(target)
        {
            part.docs.start = part.docs.start.max(target);
            self.piece = PIECE_MIN;
        }
        self.advance()
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if self.doc == target && target != TERMINATED {
            return SeekDangerResult::Found;
        }
        if let Some(doc) = self.next_found(target) {
            if doc > target {
                return SeekDangerResult::SeekLowerBound(doc);
            }
            self.handed += 1;
            self.doc = target;
            return SeekDangerResult::Found;
        }
        let Some(part) = self.part_at(target) else {
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        };
        if target < part.docs.start {
            return SeekDangerResult::SeekLowerBound(part.docs.start);
        }
        part.docs.start = target + 1;
        // One value is read where a piece of them would be to find the next match.
        if part.is_inside || self.matches(target) {
            self.doc = target;
            return SeekDangerResult::Found;
        }
        SeekDangerResult::SeekLowerBound(target + 1)
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let share = |part: &Part| match part.is_inside {
            true => part.docs.len(),
            false => part.docs.len() / 2,
        };
        let rest = self.parts[self.part..].iter().map(share).sum::<usize>();
        u32::try_from(rest).unwrap_or(u32::MAX)
    }

    fn cost(&self) -> u64 {
        let price = |part: &Part| part.docs.len() as u64;
        self.parts[self.part..].iter().map(price).sum()
    }
}

#[cfg(test)]
mod tests;

//! Documents that belong together through a `join` field, found by the ids that they share.
//!
//! Segments do not know each other's numbers, so the ids themselves carry what was found from the
//! documents that match to those that belong to them. There is one entry for each parent that has
//! a match in the shard.

use std::collections::BTreeMap;

use clew_platform::{Pace, Reservation, book_for_a_while, sorted_while_wanted};
use clew_query::{JoinScore, QueryError, go_on, unless_stopped};
use clew_schema::{MappedField, Mapping};
use tantivy::columnar::StrColumn;
use tantivy::query::Weight;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, Term};

use super::join::Joined;
use crate::query::resolver::SegmentHits;
use crate::snapshot::Snapshot;

/// From this share of a dictionary on it is read through instead of being asked term by term.
const READ_THROUGH_SHARE: u64 = 64;
/// The same for the documents of a kind.
const WALK_SHARE: u64 = 8;

/// What a parent takes: its number and its id, each in a tree with what was found of it.
const PARENT_BYTES: usize = 160;

/// What was found, by the id that it shares.
pub(crate) type ByParent = BTreeMap<Vec<u8>, Joined>;

/// An id that a segment has: its number there, itself, and what was found with it.
type Known<'f> = (u64, &'f [u8], &'f Joined);

/// The fields of one relation.
#[derive(Clone, Copy)]
pub struct JoinRelation<'a> {
    /// Has the kinds of documents.
    pub(crate) kind: &'a MappedField,
    /// Has the ids of the parents.
    pub ids: &'a MappedField,
}

impl<'a> JoinRelation<'a> {
    /// The relation of one kind of parents.
    pub fn of(mapping: &'a Mapping, parent: &str) -> Option<Self> {
        let (kind, _) = mapping.join()?;
        let ids = mapping.join_ids(&kind.path, parent)?;
        Some(JoinRelation { kind, ids })
    }

    fn id_column(self, reader: &SegmentReader) -> tantivy::Result<Option<StrColumn>> {
        reader.fast_fields().str(&self.ids.column())
    }

    /// Gathers the living documents that match by the ids of their parents, and the memory that these are booked on. With
    /// `scores` each brings its own.
    pub(crate) fn gather(
        self,
        snapshot: &Snapshot,
        weight: &dyn Weight,
        scores: bool,
    ) -> Result<(ByParent, Option<Reservation>), QueryError> {
        let mut found = ByParent::new();
        let mut memory = book_for_a_while(0)?;
        for reader in &snapshot.readers {
            let Some(column) = self.id_column(reader)? else {
                continue;
            };
            let mut here: BTreeMap<u64, Joined> = BTreeMap::new();
            let alive = reader.alive_bitset();
            let mut docs = weight.scorer(reader, 1.0)?;
            let mut doc = docs.doc();
            let mut pace = Pace::default();
            while doc != TERMINATED {
                go_on(&mut pace)?;
                if alive.is_none_or(|alive| alive.is_alive(doc))
                    && let Some(ord) = column.ords().first(doc)
                {
                    let score = if scores { docs.score() } else { 1.0 };
                    here.entry(ord).or_default().add(score);
                }
                doc = docs.advance();
            }
            if let Some(memory) = &mut memory {
                memory.grow(here.len().saturating_mul(PARENT_BYTES))?;
            }
            let ords: Vec<u64> = here.keys().copied().collect();
            let mut joined = here.into_values();
            let mut pace = Pace::default();
            column.dictionary().sorted_ords_to_term_cb(&ords, |id| {
                if let Some(joined) = joined.next()
                    && !pace.is_over()
                {
                    found.entry(id.to_vec()).or_default().absorb(&joined);
                }
            })?;
            unless_stopped()?;
        }
        Ok((found, memory))
    }

    /// The living documents of some kinds that have one of the ids, with the score that it brings.
    pub(crate) fn scatter(
        self,
        snapshot: &Snapshot,
        kinds: &[&str],
        found: &ByParent,
        score: impl Fn(&Joined) -> Option<Score>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let mut all = Vec::with_capacity(snapshot.readers.len());
        for reader in &snapshot.readers {
            let mut hits = Vec::new();
            self.each_of((snapshot, reader), kinds, found, &mut |doc, joined| {
                hits.extend(score(joined).map(|score| (doc, score)));
            })?;
            all.push(hits);
        }
        Ok(all)
    }

    /// The same documents of one segment, ascending.
    fn each_of(
        self,
        (snapshot, reader): (&Snapshot, &SegmentReader),
        kinds: &[&str],
        found: &ByParent,
        each: &mut dyn FnMut(DocId, &Joined),
    ) -> Result<(), QueryError> {
        let Some(column) = self.id_column(reader)? else {
            return Ok(());
        };
        let known = ords_of(&column, found)?;
        if known.is_empty() {
            return Ok(());
        }
        let alive = reader.alive_bitset();
        let mut pace = Pace::default();
        for doc in self.candidates(snapshot, reader, kinds, &known)? {
            go_on(&mut pace)?;
            if !alive.is_none_or(|alive| alive.is_alive(doc)) {
                continue;
            }
            let ord = column.ords().first(doc);
            let at = ord.and_then(|ord| known.binary_search_by_key(&ord, |one| one.0).ok());
            if let Some(at) = at {
                each(doc, known[at].2);
            }
        }
        Ok(())
    }

    /// Documents of these kinds among which are all with one of the ids, ascending.
    fn candidates(
        self,
        snapshot: &Snapshot,
        reader: &SegmentReader,
        kinds: &[&str],
        known: &[Known<'_>],
    ) -> Result<Vec<DocId>, QueryError> {
        let (Some(kind), Some(ids)) = (
            snapshot.searchable(self.kind),
            snapshot.searchable(self.ids),
        ) else {
            return Ok(Vec::new());
        };
        let mut of_kind = Vec::new();
        let mut total = 0_u64;
        for name in kinds {
            let term = Term::from_field_text(kind, name);
            let count = reader.inverted_index(kind)?.doc_freq(&term)?;
            total += u64::from(count);
            of_kind.push(name.as_bytes());
        }
        let mut docs = if (known.len() as u64).saturating_mul(WALK_SHARE) >= total {
            postings(reader, kind, of_kind.into_iter())?
        } else {
            let with_id = postings(reader, ids, known.iter().map(|(_, id, _)| *id))?;
            self.only_of(reader, with_id, &of_kind)?
        };
        docs = sorted_while_wanted(docs, DocId::cmp).ok_or(QueryError::Stopped)?;
        docs.dedup();
        Ok(docs)
    }

    fn only_of(
        self,
        reader: &SegmentReader,
        docs: Vec<DocId>,
        kinds: &[&[u8]],
    ) -> Result<Vec<DocId>, QueryError> {
        let Some(column) = reader.fast_fields().str(&self.kind.column())? else {
            return Ok(Vec::new());
        };
        let mut wanted = Vec::new();
        for kind in kinds {
            wanted.extend(column.dictionary().term_ord(kind)?);
        }
        let is_wanted = |doc: &DocId| {
            let ord = column.ords().first(*doc);
            ord.is_some_and(|ord| wanted.contains(&ord))
        };
        Ok(docs.into_iter().filter(is_wanted).collect())
    }
}

/// The ids that a column has, with their places in it, ascending.
fn ords_of<'f>(column: &StrColumn, found: &'f ByParent) -> Result<Vec<Known<'f>>, QueryError> {
    let dictionary = column.dictionary();
    let asked = found.len() as u64;
    let (mut known, mut pace) = (Vec::new(), Pace::default());
    if asked.saturating_mul(READ_THROUGH_SHARE) < dictionary.num_terms() as u64 {
        for (id, joined) in found {
            go_on(&mut pace)?;
            if let Some(ord) = dictionary.term_ord(id)? {
                known.push((ord, id.as_slice(), joined));
            }
        }
        return Ok(known);
    }
    let mut wanted = found.iter().peekable();
    let mut terms = dictionary.stream()?;
    while terms.advance() {
        go_on(&mut pace)?;
        while wanted
            .peek()
            .is_some_and(|(id, _)| id.as_slice() < terms.key())
        {
            wanted.next();
        }
        match wanted.peek() {
            None => break,
            Some((id, joined)) if id.as_slice() == terms.key() => {
                known.push((terms.term_ord(), id.as_slice(), *joined));
            }
            Some(_) => {}
        }
    }
    Ok(known)
}

/// The documents that have one of the terms, in any order.
fn postings<'t>(
    reader: &SegmentReader,
    field: Field,
    terms: impl Iterator<Item = &'t [u8]>,
) -> Result<Vec<DocId>, QueryError> {
    let index = reader.inverted_index(field)?;
    let (mut docs, mut pace) = (Vec::new(), Pace::default());
    for term in terms {
        go_on(&mut pace)?;
        let Some(info) = index.terms().get(term)? else {
            continue;
        };
        let mut postings = index.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
        while postings.doc() != TERMINATED {
            go_on(&mut pace)?;
            docs.push(postings.doc());
            postings.advance();
        }
    }
    Ok(docs)
}

/// The score that a parent's matches give it; none when they are too few or too many.
pub(crate) fn score_of(mode: JoinScore, joined: &Joined, counts: (u32, u32)) -> Option<Score> {
    let (min, max) = counts;
    let fits = joined.count() >= min && joined.count() <= max;
    fits.then(|| match mode {
        JoinScore::None => 1.0,
        mode => joined.score(mode),
    })
}

#[cfg(test)]
mod tests {
    use clew_platform::CancellationToken;

    use super::*;
    use crate::search::fixture::{Doc, mapping, snapshot};

    #[test]
    fn relatives_are_looked_for_only_for_somebody() {
        const DOCS: usize = 3_000;
        let doc = |number: usize| Doc {
            id: number.to_string(),
            tags: vec!["same".to_string(), format!("t{number:05}")],
            ..Doc::default()
        };
        let all = snapshot(&[(0..DOCS).map(doc).collect()]);
        let (reader, mapping) = (&all.readers[0], mapping());
        let mapped = mapping.field("tags").unwrap();
        let column = reader.fast_fields().str(&mapped.column()).unwrap().unwrap();
        let ids = |count: usize| -> ByParent {
            let ids = (0..count).map(|number| format!("t{number:05}").into_bytes());
            ids.map(|id| (id, Joined::default())).collect()
        };
        let found = |count: usize| -> Result<(usize, usize), QueryError> {
            let same = [&b"same"[..]].into_iter();
            let docs = postings(reader, mapped.field.unwrap(), same)?;
            Ok((docs.len(), ords_of(&column, &ids(count))?.len()))
        };
        assert_eq!(found(2).unwrap(), (DOCS, 2));
        assert_eq!(found(DOCS).unwrap(), (DOCS, DOCS));
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(found(2).is_err());
        assert!(ords_of(&column, &ids(DOCS)).is_err());
    }
}

//! A field of a snapshot as ranking reads it: its files segment by segment, what lengths contribute to scores, and
//! where the postings lie of the words that were asked for lately.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use clew_schema::similarity::FieldStatistics;
use parking_lot::Mutex;
use tantivy::SegmentReader;
use tantivy::directory::OwnedBytes;
use tantivy::index::SegmentId;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy_fst::raw::Fst;

use super::bm25::{BlockBounds, NormTable, Weight};
use super::champions::{CHAMPIONS_MAX, Champion, Champions, Contest};
use super::dense::RARITY_OF_ALL;
use super::files::{FieldFiles, SegmentFiles};
use super::impacts::{FrequentWords, Impacts, RARITY};
use super::list::List;
use super::lists::Lists;
use super::near::{Around, NearBefore, NearWords};
use super::recent::Recent;
use crate::cache_room::cache_bytes;

/// Bytes that are kept for each of two generations of words.
const KNOWN_BYTES_MAX: usize = 1 << 24;
/// To summarize a word takes as long as is spared in so many searches for it beside others.
const OFTEN: u32 = 10;
/// Longest word that is kept.
const WORD_BYTES_MAX: usize = 64;

/// Where the postings of a word lie, segment by segment.
#[derive(Clone, Debug)]
pub(crate) struct FoundWord {
    places: Arc<Places>,
    /// How often the word was asked for before.
    asked: u32,
}

#[derive(Debug)]
struct Places {
    infos: Box<[Option<TermInfo>]>,
    frequency: u64,
    asked: AtomicU32,
    summary: OnceLock<Summary>,
}

/// How much a word can add to a score: factors, which its weight is multiplied with.
#[derive(Debug)]
pub(super) struct Summary {
    /// For each segment the greatest factor, and that behind the full blocks.
    pub(super) segments: Box<[(f32, f32)]>,
    pub(super) champions: Champions,
}

impl FoundWord {
    pub(crate) fn new(infos: Vec<Option<TermInfo>>) -> Self {
        let counts = infos.iter().flatten().map(|info| u64::from(info.doc_freq));
        FoundWord {
            places: Arc::new(Places {
                frequency: counts.sum(),
                infos: infos.into(),
                asked: AtomicU32::new(0),
                summary: OnceLock::new(),
            }),
            asked: 0,
        }
    }

    /// In how many documents the word is, deleted ones included.
    pub(crate) fn frequency(&self) -> u64 {
        self.places.frequency
    }

    /// The same when it is asked for again.
    pub(super) fn asked_again(&self) -> Self {
        FoundWord {
            asked: self.places.asked.fetch_add(1, Ordering::Relaxed) + 1,
            places: self.places.clone(),
        }
    }

    /// Where its postings of a segment are.
    pub(crate) fn in_segment(&self, segment: usize) -> Option<&TermInfo> {
        self.places.infos.get(segment)?.as_ref()
    }
}

/// A field of the segments of a snapshot.
#[derive(Debug)]
pub(crate) struct SearchedField {
    pub(crate) field: Field,
    /// `None` where a segment has nothing of the field.
    segments: Vec<Option<Arc<FieldFiles>>>,
    /// Their words with impacts under the average length of the snapshot, as far as they were read.
    frequent: Vec<OnceLock<Arc<FrequentWords>>>,
    ids: Vec<SegmentId>,
    /// Documents of all segments.
    docs: u64,
    lengths: OnceLock<Lengths>,
    /// Whether impacts may be read that were not yet.
    wants_impacts: AtomicBool,
    known: Mutex<Known>,
    near: Mutex<NearBefore>,
}

/// What lengths contribute under the average of the snapshot, and what is certain of each segment's blocks.
#[derive(Debug)]
struct Lengths {
    table: NormTable,
    bounds: Vec<BlockBounds>,
}

impl SearchedField {
    /// # Errors
    /// When a segment cannot be read.
    pub(crate) fn open<'a>(
        field: Field,
        segments: impl Iterator<Item = (&'a SegmentReader, &'a SegmentFiles)>,
    ) -> tantivy::Result<Self> {
        let (mut ids, mut docs) = (Vec::new(), 0);
        let segments = segments.map(|(reader, files)| {
            ids.push(reader.segment_id());
            docs += u64::from(reader.max_doc());
            files.field(reader, field)
        });
        let segments = segments.collect::<tantivy::Result<Vec<_>>>()?;
        Ok(SearchedField {
            field,
            frequent: segments.iter().map(|_| OnceLock::new()).collect(),
            segments,
            ids,
            docs,
            lengths: OnceLock::new(),
            wants_impacts: AtomicBool::default(),
            known: Mutex::default(),
            near: Mutex::default(),
        })
    }

    /// The field with the average length of these statistics, which are the snapshot's; they are taken once.
    pub(crate) fn measured(self: &Arc<Self>, statistics: FieldStatistics) -> Arc<Self> {
        self.lengths.get_or_init(|| {
            let table = NormTable::new(statistics);
            let bounds = self.segments.iter().map(|files| {
                let (tokens, docs) = files.as_ref().map_or((0, 0), |one| (one.tokens, one.docs));
                BlockBounds::new(&table, tokens, docs)
            });
            let bounds = bounds.collect();
            let mut wants = false;
            for (files, frequent) in self.with_impacts() {
                match files.frequent(&table) {
                    Some(known) => _ = frequent.set(known),
                    None => wants = true,
                }
            }
            self.wants_impacts.store(wants, Ordering::Release);
            Lengths { table, bounds }
        });
        self.clone()
    }

    /// What lengths contribute; `None` before the field was measured.
    pub(super) fn table(&self) -> Option<&NormTable> {
        self.lengths.get().map(|lengths| &lengths.table)
    }

    pub(super) fn bounds(&self, segment: usize) -> Option<BlockBounds> {
        self.lengths.get()?.bounds.get(segment).copied()
    }

    pub(super) fn files(&self, segment: usize) -> Option<&FieldFiles> {
        self.segments.get(segment)?.as_deref()
    }

    /// How much a word of the field can add to a score, for a search for it alone; `None` when it was not asked for
    /// before, as it is not worth it then, or seldom and its impacts do as well; and before the field was measured.
    pub(super) fn summary<'w>(&self, word: &'w FoundWord) -> Option<&'w Summary> {
        let worth = if self.has_impacts(word) { OFTEN } else { 1 };
        self.summary_after(worth, word)
    }

    /// The same for a search for other words too: of a word with impacts, it is never worth it.
    pub(super) fn summary_beside<'w>(&self, word: &'w FoundWord) -> Option<&'w Summary> {
        let worth = if self.has_impacts(word) {
            u32::MAX
        } else {
            OFTEN
        };
        self.summary_after(worth, word)
    }

    /// The summary when it is known, or the word was asked for so often before.
    fn summary_after<'w>(&self, often: u32, word: &'w FoundWord) -> Option<&'w Summary> {
        if word.asked < often {
            return word.places.summary.get();
        }
        let lengths = self.lengths.get()?;
        Some(word.places.summary.get_or_init(|| {
            let mut contest = Contest::default();
            let segments = (0..self.segments.len()).map(|segment| {
                let mut list = List::default();
                let (mut best, mut last) = (0.0_f32, 0.0);
                if let (Some(info), Some(files), Some(bounds)) = (
                    word.in_segment(segment),
                    self.files(segment),
                    lengths.bounds.get(segment),
                ) {
                    let lengths = (&lengths.table, *bounds);
                    if list.open(files, info, Weight::ONE, lengths) {
                        list.factors(&mut |bound| (best, last) = (best.max(bound), bound));
                    }
                    if list.open(files, info, Weight::ONE, lengths) {
                        contest.take(segment, &mut list);
                    }
                }
                (best, last)
            });
            Summary {
                segments: segments.collect(),
                champions: contest.end(),
            }
        }))
    }

    /// Whether a word has impacts and is so frequent that they are used even where other words are needed too.
    pub(super) fn is_dense(&self, word: &FoundWord) -> bool {
        word.frequency() >= self.docs / RARITY_OF_ALL && self.has_impacts(word)
    }

    /// Whether a word has impacts, as far as is told by its frequency.
    fn has_impacts(&self, word: &FoundWord) -> bool {
        let mut segments = self.frequent.iter().filter_map(OnceLock::get);
        word.frequency() >= self.docs / u64::from(RARITY) && segments.any(|words| words.bytes() > 0)
    }

    /// The segments that impacts are of use in, and where they are.
    fn with_impacts(&self) -> impl Iterator<Item = (&FieldFiles, &OnceLock<Arc<FrequentWords>>)> {
        let segments = self.segments.iter().zip(&self.frequent);
        let segments = segments.filter_map(|(files, frequent)| Some((files.as_deref()?, frequent)));
        segments.filter(|(files, _)| files.can_have_impacts())
    }

    /// The impacts of a word in a segment; `None` where it is rare, and before they and the field were read.
    pub(super) fn impacts(&self, word: &FoundWord, segment: usize) -> Option<Impacts<'_>> {
        let frequent = self.frequent.get(segment)?.get()?;
        frequent.get(word.in_segment(segment)?, self.table()?)
    }

    /// Whether there are impacts to be read now; says so once.
    pub(crate) fn take_wants_impacts(&self) -> bool {
        self.wants_impacts.load(Ordering::Relaxed)
            && self.wants_impacts.swap(false, Ordering::AcqRel)
    }

    /// Reads the impacts of the frequent words of all segments, once the field was measured.
    pub(crate) fn read_impacts(&self) {
        let Some(table) = self.table() else {
            return;
        };
        for (files, frequent) in self.with_impacts() {
            frequent.get_or_init(|| files.read_impacts(table));
        }
    }

    /// The lists of a segment's words that begin so; `None` when it is none of these segments.
    pub(crate) fn with_prefix(&self, reader: &SegmentReader, prefix: &[u8]) -> Option<Lists> {
        let id = reader.segment_id();
        let segment = self.ids.iter().position(|one| *one == id)?;
        Some(Lists::with_prefix(self.segments[segment].clone(), prefix))
    }

    /// The automata over the words of the segments.
    pub(crate) fn automata(&self) -> impl Iterator<Item = Option<&Fst<OwnedBytes>>> {
        let segments = self.segments.iter();
        segments.map(|files| files.as_ref().map(|files| files.dictionary.automaton()))
    }

    /// A word whose numbers in the segments are known. It is not kept: a search that goes by numbers has many words.
    pub(crate) fn numbered(
        &self,
        word: &[u8],
        numbers: impl Iterator<Item = (usize, u64)>,
    ) -> FoundWord {
        self.searched_again(word).unwrap_or_else(|| {
            let mut infos = vec![None; self.segments.len()];
            for (segment, number) in numbers {
                let files = self.segments.get(segment).and_then(Option::as_ref);
                infos[segment] = files.and_then(|files| files.dictionary.numbered(number));
            }
            FoundWord::new(infos)
        })
    }

    /// Where the postings of a word lie.
    pub(crate) fn find(&self, word: &[u8]) -> FoundWord {
        self.searched_again(word).unwrap_or_else(|| {
            let infos = self.segments.iter();
            let infos = infos.map(|files| files.as_ref()?.dictionary.get(word));
            let found = FoundWord::new(infos.collect());
            self.known.lock().put(word, found.clone());
            found
        })
    }

    /// In how many documents a word is, deleted ones included. Nothing is kept: the word is not searched for.
    pub(crate) fn frequency(&self, word: &[u8]) -> u64 {
        if let Some(known) = self.known(word) {
            return known.frequency();
        }
        let infos = self.segments.iter().flatten();
        let infos = infos.filter_map(|files| files.dictionary.get(word));
        infos.map(|info| u64::from(info.doc_freq)).sum()
    }

    fn known(&self, word: &[u8]) -> Option<FoundWord> {
        self.known.lock().0.get(word)
    }

    fn searched_again(&self, word: &[u8]) -> Option<FoundWord> {
        self.known(word).map(|found| found.asked_again())
    }

    /// The words near another one, which are searched for when they were not lately.
    ///
    /// # Errors
    /// When the search fails.
    pub(crate) fn near<E>(
        &self,
        around: Around,
        search: impl FnOnce() -> Result<NearWords, E>,
    ) -> Result<NearWords, E> {
        // The lock is not held during the search.
        let known = self.near.lock().get(&around);
        if let Some(known) = known {
            return Ok(known);
        }
        let found = search()?;
        let mut near = self.near.lock();
        near.put(around, found.clone(), self.segments.len());
        Ok(found)
    }
}

/// Words that were asked for lately.
#[derive(Debug)]
struct Known(Recent<Box<[u8]>, FoundWord>);

impl Default for Known {
    fn default() -> Self {
        Known(Recent::new(cache_bytes(KNOWN_BYTES_MAX)))
    }
}

impl Known {
    fn put(&mut self, word: &[u8], found: FoundWord) {
        if word.len() > WORD_BYTES_MAX {
            return;
        }
        let champions = usize::try_from(found.frequency())
            .map_or(CHAMPIONS_MAX, |frequency| frequency.min(CHAMPIONS_MAX));
        let bytes = size_of::<Places>()
            + WORD_BYTES_MAX
            + found.places.infos.len() * (size_of::<Option<TermInfo>>() + size_of::<(f32, f32)>())
            + champions * size_of::<Champion>();
        self.0.put(word.into(), found, bytes);
    }
}

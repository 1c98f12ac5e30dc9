//! What can be ranked here, as the compiler of queries describes it.

use std::sync::Arc;

use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, TantivyError, Term};

use super::bm25::{BlockBounds, NormTable, Weight};
use super::files::{FieldFiles, SegmentFiles};
use super::filter::Filter;
use super::hits::Hits;
use super::list::List;
use super::phrase::{Part, Scoring, phrase};
use super::{all, any};

/// A word of a field.
#[derive(Clone, Debug)]
pub(crate) struct WordIn {
    pub(crate) term: Term,
    pub(crate) weight: Weight,
    pub(crate) norms: Arc<NormTable>,
    /// Where its postings lie, segment by segment.
    pub(crate) infos: Arc<[Option<TermInfo>]>,
}

/// How the words of a query are joined.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// Any of them.
    Any(Vec<WordIn>),
    /// All of them.
    All(Vec<WordIn>),
    /// All of them at these places, scored with this weight.
    Phrase(Vec<(u32, WordIn)>, Weight),
}

/// A query that can be ranked.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    shape: Shape,
    /// Hits must match these.
    pub(crate) within: Vec<Filter>,
    /// Hits must match none of these.
    pub(crate) without: Vec<Filter>,
}

impl Ranked {
    pub(crate) fn new(shape: Shape) -> Self {
        Ranked {
            shape,
            within: Vec::new(),
            without: Vec::new(),
        }
    }

    /// The words, when any of them is enough and nothing is filtered.
    pub(crate) fn any_words(&self) -> Option<&[WordIn]> {
        match &self.shape {
            Shape::Any(words) if self.within.is_empty() && self.without.is_empty() => Some(words),
            _ => None,
        }
    }

    /// Gives the matches of a segment that may be among the best to `hits`.
    ///
    /// # Errors
    /// When the segment cannot be read.
    pub(crate) fn run(
        &self,
        (ord, reader, files): (usize, &SegmentReader, &SegmentFiles),
        hits: &mut Hits<'_>,
    ) -> tantivy::Result<()> {
        let fields = Fields::open(self.words(), reader, files)?;
        match &self.shape {
            Shape::Any(words) => {
                let found = words.iter().filter_map(|word| fields.list(word, ord));
                let mut lists: Vec<List<'_>> = found.collect();
                match &mut lists[..] {
                    [] => {}
                    [only] => any::one(only, hits),
                    several => any::any(several, hits),
                }
            }
            Shape::All(words) => {
                let found = words.iter().map(|word| fields.list(word, ord));
                if let Some(mut lists) = found.collect::<Option<Vec<List<'_>>>>() {
                    all::all(&mut lists, hits);
                }
            }
            Shape::Phrase(words, weight) => {
                let found = words
                    .iter()
                    .map(|(at, word)| fields.part(*at, (word, *weight), ord));
                let (Some(mut parts), Some((_, first))) =
                    (found.collect::<Option<Vec<Part<'_>>>>(), words.first())
                else {
                    return Ok(());
                };
                let lengths = fields.of(first.term.field()).map(FieldFiles::lengths);
                let scoring = lengths.map(|lengths| Scoring {
                    weight: *weight,
                    table: &first.norms,
                    lengths,
                });
                if let Some(scoring) = scoring {
                    phrase(&mut parts, scoring, hits).map_err(TantivyError::from)?;
                }
            }
        }
        Ok(())
    }

    fn words(&self) -> Vec<&WordIn> {
        match &self.shape {
            Shape::Any(words) | Shape::All(words) => words.iter().collect(),
            Shape::Phrase(words, _) => words.iter().map(|(_, word)| word).collect(),
        }
    }
}

/// The files of the fields of a query.
struct Fields(Vec<(Field, Arc<FieldFiles>)>);

impl Fields {
    fn open(
        words: Vec<&WordIn>,
        reader: &SegmentReader,
        files: &SegmentFiles,
    ) -> tantivy::Result<Self> {
        let mut fields: Vec<(Field, Arc<FieldFiles>)> = Vec::new();
        for word in words {
            let field = word.term.field();
            if fields.iter().all(|(have, _)| *have != field)
                && let Some(opened) = files.field(reader, field)?
            {
                fields.push((field, opened));
            }
        }
        Ok(Fields(fields))
    }

    fn of(&self, field: Field) -> Option<&FieldFiles> {
        let mut fields = self.0.iter();
        fields
            .find(|(have, _)| *have == field)
            .map(|(_, files)| &**files)
    }

    fn list<'a>(&'a self, word: &'a WordIn, ord: usize) -> Option<List<'a>> {
        let info = word.infos.get(ord)?.as_ref()?;
        let files = self.of(word.term.field())?;
        let bounds = BlockBounds::new(&word.norms, files.tokens, files.docs);
        Some(List::new(files, info, word.weight, (&word.norms, bounds)))
    }

    fn part<'a>(
        &'a self,
        at: u32,
        (word, weight): (&'a WordIn, Weight),
        ord: usize,
    ) -> Option<Part<'a>> {
        let info = word.infos.get(ord)?.as_ref()?;
        let files = self.of(word.term.field())?;
        debug_assert!(files.option == IndexRecordOption::WithFreqsAndPositions);
        let positions = files
            .positions
            .as_ref()?
            .slice(info.positions_range.clone());
        let mut list = self.list(word, ord)?;
        list.weight = weight;
        Some(Part::new(list, at, positions))
    }
}

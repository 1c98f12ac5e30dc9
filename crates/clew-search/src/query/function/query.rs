//! Functions as a tantivy query around another one.

use std::sync::Arc;

use clew_platform::{CancellationToken, Pace};
use clew_query::{BoostMode, ScoreMode};
use tantivy::index::SegmentId;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED};

use super::value::{Function, OpenFunction};
use crate::query::at_doc::scorer_at;
use crate::segments::{Blocks, Scope};

/// One function, where it counts and how much.
#[derive(Debug)]
pub(crate) struct WeighedFunction {
    pub(crate) filter: Option<Box<dyn Query>>,
    pub(crate) weight: f64,
    pub(crate) function: Function,
}

impl Clone for WeighedFunction {
    fn clone(&self) -> Self {
        WeighedFunction {
            filter: self.filter.as_ref().map(|filter| filter.box_clone()),
            weight: self.weight,
            function: self.function.clone(),
        }
    }
}

/// How values become a score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining {
    pub(crate) score_mode: ScoreMode,
    pub(crate) boost_mode: BoostMode,
    pub(crate) max_boost: f64,
    pub(crate) min_score: Option<f32>,
}

/// The nested objects that functions are for.
#[derive(Clone, Debug)]
pub(crate) struct NestedRows {
    /// Of the segments that have nested objects.
    pub(crate) blocks: Arc<Vec<(SegmentId, Arc<Blocks>)>>,
    /// The path of the objects.
    pub(crate) path: String,
}

impl NestedRows {
    /// Whether a row is such an object, and part of a document that lives.
    fn has(&self, reader: &SegmentReader, row: DocId) -> bool {
        let id = reader.segment_id();
        let mut blocks = self.blocks.iter();
        let Some((_, blocks)) = blocks.find(|(segment, _)| *segment == id) else {
            return false;
        };
        let own = blocks.of(Scope::Nested(&self.path));
        own.is_some_and(|own| own.contains(row))
            && blocks.root_of(row).is_some_and(|root| lives(reader, root))
    }
}

/// Whether a document is not deleted.
pub(crate) fn lives(reader: &SegmentReader, doc: DocId) -> bool {
    let alive = reader.alive_bitset();
    alive.is_none_or(|alive| alive.is_alive(doc))
}

/// A query whose scores functions change.
#[derive(Debug)]
pub(crate) struct FunctionQuery {
    pub(crate) inner: Box<dyn Query>,
    pub(crate) parts: Vec<WeighedFunction>,
    /// The nested objects that it is about; none where that is whole documents.
    pub(crate) scope: Option<NestedRows>,
    pub(crate) joining: Joining,
}

impl Clone for FunctionQuery {
    fn clone(&self) -> Self {
        FunctionQuery {
            inner: self.inner.box_clone(),
            parts: self.parts.clone(),
            scope: self.scope.clone(),
            joining: self.joining,
        }
    }
}

impl Query for FunctionQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        // Only a least score makes the functions decide which documents match.
        let scoring = match (scoring.searcher(), self.joining.min_score) {
            (Some(searcher), Some(_)) if !scoring.is_scoring_enabled() => {
                EnableScoring::enabled_from_searcher(searcher)
            }
            _ => scoring,
        };
        let inner = self.inner.weight(scoring)?;
        if !scoring.is_scoring_enabled() {
            return Ok(inner);
        }
        let disabled = match scoring {
            EnableScoring::Enabled { searcher, .. } => {
                EnableScoring::disabled_from_searcher(searcher)
            }
            disabled => disabled,
        };
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let filter = match &part.filter {
                Some(filter) => Some(filter.weight(disabled)?),
                None => None,
            };
            parts.push(PartWeight {
                filter,
                weight: part.weight,
                function: part.function.clone(),
            });
        }
        Ok(Box::new(FunctionWeight {
            inner,
            parts,
            scope: self.scope.clone(),
            joining: self.joining,
        }))
    }
}

struct PartWeight {
    filter: Option<Box<dyn Weight>>,
    weight: f64,
    function: Function,
}

struct FunctionWeight {
    inner: Box<dyn Weight>,
    parts: Vec<PartWeight>,
    scope: Option<NestedRows>,
    joining: Joining,
}

impl FunctionWeight {
    fn open(&self, reader: &SegmentReader) -> tantivy::Result<Vec<OpenPart>> {
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            parts.push(OpenPart {
                filter: match &part.filter {
                    Some(filter) => Some(filter.scorer(reader, 1.0)?),
                    None => None,
                },
                weight: part.weight,
                function: part.function.open(reader)?,
            });
        }
        Ok(parts)
    }

    /// Fails when a document that matches lacks what a function needs, or has what is no score: a scorer cannot.
    fn check(&self, reader: &SegmentReader) -> tantivy::Result<()> {
        let mut parts = self.open(reader)?;
        if parts.iter().all(|part| part.function.is_total()) {
            return Ok(());
        }
        let is_meant = |doc| match &self.scope {
            Some(objects) => objects.has(reader, doc),
            None => lives(reader, doc),
        };
        let mut docs = self.inner.scorer(reader, 1.0)?;
        let mut doc = docs.doc();
        let mut pace = pace_of(&parts);
        while doc != TERMINATED && !pace.is_over() {
            for part in &mut parts {
                if let Some(refusal) = part.function.refusal(doc)
                    && is_meant(doc)
                    && part.applies(doc)
                {
                    return Err(refusal);
                }
            }
            doc = docs.advance();
        }
        Ok(())
    }
}

impl Weight for FunctionWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.check(reader)?;
        let parts = self.open(reader)?;
        let has_script = parts.iter().any(|part| part.function.is_script());
        let rows = has_script.then(|| MeantRows {
            reader: reader.clone(),
            scope: self.scope.clone(),
        });
        let pace = pace_of(&parts);
        let mut scorer = FunctionScorer {
            inner: self.inner.scorer(reader, boost)?,
            parts,
            joining: self.joining,
            rows,
            known: None,
            pace,
        };
        scorer.skip_low();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = scorer_at(self, reader, doc)?;
        let mut explanation = Explanation::new("function score", scorer.score());
        explanation.add_detail(self.inner.explain(reader, doc)?);
        Ok(explanation)
    }
}

/// Functions of a document that take no longer together than a step without one.
const FEW: usize = 32;

/// Counts documents of which so many functions are computed. A script may take long, and so may a thousand of others.
fn pace_of(parts: &[OpenPart]) -> Pace {
    match parts.len() > FEW || parts.iter().any(|part| part.function.is_script()) {
        true => Pace::of_blocks(),
        false => Pace::default(),
    }
}

struct OpenPart {
    filter: Option<Box<dyn Scorer>>,
    weight: f64,
    function: OpenFunction,
}

impl OpenPart {
    fn applies(&mut self, doc: DocId) -> bool {
        match &mut self.filter {
            None => true,
            Some(filter) => {
                if filter.doc() < doc {
                    filter.seek(doc);
                }
                filter.doc() == doc
            }
        }
    }
}

/// The rows that functions are for, where it matters which these are: others lack what a script needs.
struct MeantRows {
    reader: SegmentReader,
    scope: Option<NestedRows>,
}

impl MeantRows {
    fn are_meant(&self, doc: DocId) -> bool {
        match &self.scope {
            Some(objects) => objects.has(&self.reader, doc),
            None => lives(&self.reader, doc),
        }
    }
}

struct FunctionScorer {
    inner: Box<dyn Scorer>,
    parts: Vec<OpenPart>,
    joining: Joining,
    rows: Option<MeantRows>,
    /// The score of the document it stands at, once it was asked for.
    known: Option<Score>,
    pace: Pace,
}

impl FunctionScorer {
    /// What the functions make of the document; 1 where none applies.
    fn value(&mut self, doc: DocId, score: f64) -> f64 {
        let mode = self.joining.score_mode;
        let mut joined: Option<f64> = None;
        let mut weights = 0.0;
        let mut failure = None;
        for part in &mut self.parts {
            if !part.applies(doc) {
                continue;
            }
            let value = part.function.value(doc, score).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                0.0
            });
            let value = value * part.weight;
            weights += part.weight;
            joined = Some(match (joined, mode) {
                (None, _) => value,
                (Some(have), ScoreMode::Multiply) => have * value,
                (Some(have), ScoreMode::Sum | ScoreMode::Avg) => have + value,
                (Some(have), ScoreMode::Max) => have.max(value),
                (Some(have), ScoreMode::Min) => have.min(value),
                (Some(have), ScoreMode::First) => have,
            });
            if mode == ScoreMode::First {
                break;
            }
        }
        if let (Some(failure), Some(rows)) = (failure, &self.rows)
            && rows.are_meant(doc)
        {
            // A scorer cannot fail: who began the search is told by its token, which stops it.
            CancellationToken::current().fail(failure);
        }
        match joined {
            None => 1.0,
            Some(sum) if mode == ScoreMode::Avg && weights > 0.0 => sum / weights,
            Some(value) => value,
        }
    }

    fn compute(&mut self) -> Score {
        if let Some(known) = self.known {
            return known;
        }
        // Whoever reads on does so for nothing, and shall be through soon.
        if self.pace.is_over() {
            return 0.0;
        }
        let doc = self.inner.doc();
        if doc == TERMINATED {
            return 0.0;
        }
        let score = f64::from(self.inner.score());
        let value = self.value(doc, score).min(self.joining.max_boost);
        let joined = self.joining.boost_mode.join(score, value);
        // A logarithm of nothing is no score; it must not come before those that are.
        let joined = if joined.is_nan() {
            0.0
        } else {
            joined.max(0.0)
        };
        #[allow(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
        let joined = joined.min(f64::from(f32::MAX)) as Score;
        self.known = Some(joined);
        joined
    }

    /// Goes on to the next document that scores enough.
    fn skip_low(&mut self) -> DocId {
        self.known = None;
        let Some(least) = self.joining.min_score else {
            return self.inner.doc();
        };
        while self.inner.doc() != TERMINATED && self.compute() < least && !self.pace.is_over() {
            self.inner.advance();
            self.known = None;
        }
        self.inner.doc()
    }
}

impl DocSet for FunctionScorer {
    fn advance(&mut self) -> DocId {
        self.inner.advance();
        self.skip_low()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.inner.seek(target);
        self.skip_low()
    }

    fn doc(&self) -> DocId {
        self.inner.doc()
    }

    fn size_hint(&self) -> u32 {
        self.inner.size_hint()
    }
}

impl Scorer for FunctionScorer {
    fn score(&mut self) -> Score {
        self.compute()
    }
}

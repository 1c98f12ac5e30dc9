//! Terms that are more frequent in a bucket than elsewhere: how often each occurs in the background,
//! and by how much that differs.

use std::sync::Arc;

use clew_platform::Pace;
use clew_query::{AggError, go_on_reducing};
use clew_search::SegmentBits;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

use super::collect::WordsPlan;
use super::column::{Repeats, Rows, ValueColumn};
use super::heuristic::score;
use super::key::Key;
use super::partial::{Buckets, Partial};
use super::plan::{Op, Plan, TermsShape};
use clew_query::aggregation::Heuristic;

/// The background of significant terms.
#[derive(Clone, Debug)]
pub(crate) struct SignificantPlan {
    pub(crate) heuristic: Heuristic,
    /// Per segment: the documents of the background, if these are not all.
    pub(crate) background: Option<Arc<Vec<SegmentBits>>>,
    /// How words are taken from texts that have no column.
    pub(crate) words: Option<Arc<WordsPlan>>,
}

/// What a score needs beside the buckets' own counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Background {
    /// Documents per parent.
    pub(crate) sizes: Vec<u64>,
    /// Documents of the background that have the term, per bucket.
    pub(crate) with: Vec<u64>,
    /// All documents of the background.
    pub(crate) all: u64,
}

impl Buckets {
    /// The score of each bucket.
    pub(crate) fn scores(&self, heuristic: Heuristic) -> Vec<f64> {
        let background = &self.background;
        let of_bucket = |(at, parent): (usize, &u32)| {
            score(
                heuristic,
                self.counts[at],
                background.sizes.get(*parent as usize).copied().unwrap_or(0),
                background.with.get(at).copied().unwrap_or(0),
                background.all,
            )
        };
        self.table
            .parents()
            .iter()
            .enumerate()
            .map(of_bucket)
            .collect()
    }
}

/// Whether any aggregation needs a background.
pub(crate) fn is_wanted(plans: &[Plan]) -> bool {
    plans
        .iter()
        .any(|plan| significant(plan).is_some() || is_wanted(&plan.subs))
}

fn significant(plan: &Plan) -> Option<&SignificantPlan> {
    match &plan.op {
        Op::Terms(terms) => match &terms.shape {
            TermsShape::Significant(significant) => Some(significant),
            _ => None,
        },
        _ => None,
    }
}

/// Counts the background of the terms that were seen, over all segments of a shard.
///
/// # Errors
/// [`AggError::Column`] when a column cannot be read.
pub(crate) fn fill(
    plans: &[Plan],
    partials: &mut [Partial],
    readers: &[SegmentReader],
) -> Result<(), AggError> {
    for (plan, partial) in plans.iter().zip(partials) {
        let Partial::Buckets(buckets) = partial else {
            continue;
        };
        if let Some(significant) = significant(plan) {
            buckets.background.with = vec![0; buckets.table.len()];
            buckets.background.all = 0;
            for (ord, reader) in readers.iter().enumerate() {
                let documents = match &significant.background {
                    Some(sets) => sets.get(ord).cloned(),
                    None => None,
                };
                let documents = documents.unwrap_or_else(|| SegmentBits::alive(reader));
                match &significant.words {
                    Some(words) => count_words(words, buckets, reader, &documents),
                    None => count(plan, buckets, reader, &documents),
                }?;
            }
        }
        fill(&plan.subs, &mut buckets.subs, readers)?;
    }
    Ok(())
}

/// Documents read at a time.
const BLOCK_DOCS: usize = 2_048;

fn count(
    plan: &Plan,
    buckets: &mut Buckets,
    reader: &SegmentReader,
    documents: &SegmentBits,
) -> Result<(), AggError> {
    buckets.background.all += u64::from(documents.count());
    let column = ValueColumn::open(reader, &plan.values)?;
    if column.is_empty() {
        return Ok(());
    }
    // The number of each bucket's term in this segment; several parents can have the same term.
    let mut wanted: Vec<(u64, usize)> = Vec::new();
    let mut pace = Pace::default();
    for (at, key) in buckets.table.keys().iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let raw = column.raw_of(key).map_err(|source| AggError::Column {
            field: plan.values.field.clone(),
            source,
        })?;
        wanted.extend(raw.map(|raw| (raw, at)));
    }
    wanted.sort_unstable();
    let mut raws: Vec<u64> = wanted.iter().map(|(raw, _)| *raw).collect();
    raws.dedup();
    let mut counts = vec![0_u64; raws.len()];
    let docs: Vec<u32> = (0..reader.max_doc())
        .filter(|doc| documents.contains(*doc))
        .collect();
    let mut rows = Rows::default();
    let mut pace = Pace::of_blocks();
    for docs in docs.chunks(BLOCK_DOCS) {
        go_on_reducing(&mut pace)?;
        column.read(docs, Repeats::Dropped, &mut rows);
        for raw in &rows.values {
            if let Ok(at) = raws.binary_search(raw) {
                counts[at] += 1;
            }
        }
    }
    for (raw, at) in wanted {
        if let Ok(place) = raws.binary_search(&raw) {
            buckets.background.with[at] += counts[place];
        }
    }
    Ok(())
}

/// The same for words, by their postings.
fn count_words(
    words: &WordsPlan,
    buckets: &mut Buckets,
    reader: &SegmentReader,
    documents: &SegmentBits,
) -> Result<(), AggError> {
    buckets.background.all += u64::from(documents.count());
    let failed = |source: tantivy::TantivyError| AggError::Column {
        field: reader.schema().get_field_name(words.field).to_string(),
        source,
    };
    let index = reader.inverted_index(words.field).map_err(failed)?;
    let mut pace = Pace::of_blocks();
    for (at, key) in buckets.table.keys().iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let Key::Str(word) = key else {
            continue;
        };
        let term = Term::from_field_text(words.field, word);
        let postings = index.read_postings(&term, IndexRecordOption::Basic);
        let Some(mut postings) = postings.map_err(|source| failed(source.into()))? else {
            continue;
        };
        let mut count = 0;
        while postings.doc() != TERMINATED {
            count += u64::from(documents.contains(postings.doc()));
            postings.advance();
        }
        buckets.background.with[at] += count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clew_query::aggregation::Comparison;

    #[test]
    fn terms_that_stand_out_score_higher() {
        let comparison = Comparison {
            superset: true,
            negatives: false,
        };
        for heuristic in [
            Heuristic::Jlh,
            Heuristic::ChiSquare(comparison),
            Heuristic::MutualInformation(comparison),
            Heuristic::Gnd { superset: true },
            Heuristic::Percentage,
        ] {
            let strong = score(heuristic, 40, 50, 45, 1_000);
            let weak = score(heuristic, 10, 50, 150, 1_000);
            assert!(strong > weak, "{heuristic:?}: {strong} {weak}");
        }
        let jlh = score(Heuristic::Jlh, 4, 4, 5, 10);
        assert!((jlh - 0.5 * 2.0).abs() < 1e-12, "{jlh}");
        assert!(score(Heuristic::ChiSquare(comparison), 1, 50, 500, 1_000) < 0.0);
    }
}

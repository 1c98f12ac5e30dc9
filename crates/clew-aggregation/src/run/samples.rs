//! The best documents of a shard, which is all that the aggregations inside a sample see. They are
//! only known when every segment has been searched, so what is inside runs at the end.

use std::collections::BTreeMap;

use clew_query::AggError;
use tantivy::{DocId, SegmentReader};

use crate::bucket::Feed;
use crate::bucket::sampler::SamplePlan;
use crate::collect::places::{Counted, Everything};
use crate::collect::timed::opened;
use crate::collect::{Block, Collect, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::limits::Account;
use crate::tree::Plan;
use crate::value::key::Key;

/// A document that may be in the sample.
struct Candidate {
    score: f32,
    ord: usize,
    doc: DocId,
    /// Its value, where few documents with the same one are wanted.
    key: Key,
}

/// The sample of one aggregation.
#[derive(Default)]
struct Sample {
    /// The documents of the segment that is being searched.
    running: Vec<(f32, DocId)>,
    best: Vec<Candidate>,
}

/// The samples of a request's aggregations, by their places.
#[derive(Default)]
pub(crate) struct Samples {
    samples: BTreeMap<usize, Sample>,
}

fn sampling(plan: &Plan) -> Option<SamplePlan> {
    match plan.feed() {
        Feed::Best(sample) => Some(sample),
        Feed::Matches | Feed::Everything => None,
    }
}

impl Samples {
    pub(crate) fn of(plans: &[Plan]) -> Self {
        let places = (0..plans.len()).filter(|place| sampling(&plans[*place]).is_some());
        Samples {
            samples: places.map(|place| (place, Sample::default())).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Takes documents of the current segment.
    pub(crate) fn offer(&mut self, docs: &[DocId], account: &mut Account) -> Result<(), AggError> {
        for sample in self.samples.values_mut() {
            account.charge(size_of_val(docs) + size_of_val(docs))?;
            let scored = docs.iter().map(|doc| (account.score(*doc), *doc));
            sample.running.extend(scored);
        }
        Ok(())
    }

    /// Keeps the best of the segment that ends.
    pub(crate) fn end_segment(
        &mut self,
        plans: &[Plan],
        segment: Segment<'_>,
    ) -> Result<(), AggError> {
        for (place, sample) in &mut self.samples {
            let plan = &plans[*place];
            let Some(wanted) = sampling(plan) else {
                continue;
            };
            let mut running = std::mem::take(&mut sample.running);
            running.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            if wanted.per_value.is_none() {
                running.truncate(wanted.size);
            }
            let keys = match wanted.per_value {
                None => vec![Key::Null; running.len()],
                Some(_) => keys_of(plan, segment.reader, &running)?,
            };
            let found = running.into_iter().zip(keys);
            let found = found.map(|((score, doc), key)| Candidate {
                score,
                ord: segment.ord,
                doc,
                key,
            });
            sample.best.extend(best_of(found, wanted));
        }
        Ok(())
    }

    /// Runs what is inside the samples over their documents.
    pub(crate) fn finish(
        self,
        plans: &[Plan],
        readers: &[SegmentReader],
        account: &mut Account,
        merged: &mut [Partial],
    ) -> Result<(), AggError> {
        for (place, sample) in self.samples {
            let plan = &plans[place];
            let Some(wanted) = sampling(plan) else {
                continue;
            };
            let mut best = sample.best;
            best.sort_by(|a, b| {
                let places = (a.ord, a.doc).cmp(&(b.ord, b.doc));
                b.score.total_cmp(&a.score).then(places)
            });
            let mut best: Vec<Candidate> = best_of(best.into_iter(), wanted).collect();
            best.sort_by_key(|one| (one.ord, one.doc));
            for group in best.chunk_by(|a, b| a.ord == b.ord) {
                let ord = group[0].ord;
                let Some(reader) = readers.get(ord) else {
                    continue;
                };
                account.turn_to(reader)?;
                account.make_scores(reader.max_doc())?;
                for one in group {
                    account.set_score(one.doc, one.score);
                }
                let docs: Vec<DocId> = group.iter().map(|one| one.doc).collect();
                let segment = Segment { reader, ord };
                let inside = || -> Result<Box<dyn Collect>, AggError> {
                    Ok(Box::new(Everything::open(
                        segment,
                        plan,
                        Counted::Documents,
                    )?))
                };
                let mut inside = opened(plan.figures.as_ref(), inside)?;
                let block = Block {
                    docs: &docs,
                    parents: &vec![0; docs.len()],
                };
                inside.collect(block, account)?;
                merged[place].merge(inside.finish(account)?, None)?;
            }
        }
        Ok(())
    }
}

/// The first of documents in the order of their scores, with few of each value.
fn best_of(
    found: impl Iterator<Item = Candidate>,
    wanted: SamplePlan,
) -> impl Iterator<Item = Candidate> {
    let mut of_key: Vec<(Key, usize)> = Vec::new();
    let kept = found.filter(move |one| {
        let Some(most) = wanted.per_value else {
            return true;
        };
        match of_key.iter_mut().find(|(key, _)| *key == one.key) {
            Some((_, count)) => {
                *count += 1;
                *count <= most
            }
            None => {
                // Values of documents that come too late need not be remembered.
                if of_key.len() < wanted.size {
                    of_key.push((one.key.clone(), 1));
                }
                most > 0
            }
        }
    });
    kept.take(wanted.size)
}

/// The value of each document; none of those that have none.
fn keys_of(
    plan: &Plan,
    reader: &SegmentReader,
    found: &[(f32, DocId)],
) -> Result<Vec<Key>, AggError> {
    let column = ValueColumn::open(reader, &plan.values)?;
    if column.is_empty() {
        return Ok(vec![Key::Null; found.len()]);
    }
    let mut docs: Vec<DocId> = found.iter().map(|(_, doc)| *doc).collect();
    docs.sort_unstable();
    let mut rows = Rows::default();
    column.read(&docs, Repeats::Dropped, &mut rows)?;
    if rows.entries.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(AggError::invalid(
            "Sample diversifying key must be a single valued-field",
        ));
    }
    let mut distinct = rows.values.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let keys = column.keys(&distinct).map_err(|source| AggError::Column {
        field: plan.values.field.clone(),
        source: source.into(),
    })?;
    let by_doc: BTreeMap<DocId, &Key> = rows
        .entries
        .iter()
        .zip(&rows.values)
        .filter_map(|(entry, raw)| {
            let at = distinct.binary_search(raw).ok()?;
            Some((docs[*entry as usize], &keys[at]))
        })
        .collect();
    let key = |(_, doc): &(f32, DocId)| by_doc.get(doc).map_or(Key::Null, |key| (*key).clone());
    Ok(found.iter().map(key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_documents_of_each_value_are_kept() {
        let found = [
            ("a", 9.0),
            ("a", 8.0),
            ("b", 7.0),
            ("a", 6.0),
            ("c", 5.0),
            ("b", 4.0),
        ];
        let candidates = || {
            (0..).zip(found).map(|(doc, (key, score))| Candidate {
                score,
                ord: 0,
                doc,
                key: Key::Str(key.into()),
            })
        };
        let docs = |size, per_value| -> Vec<DocId> {
            let wanted = SamplePlan { size, per_value };
            best_of(candidates(), wanted).map(|one| one.doc).collect()
        };
        assert_eq!(docs(3, None), [0, 1, 2]);
        assert_eq!(docs(3, Some(1)), [0, 2, 4]);
        assert_eq!(docs(10, Some(2)), [0, 1, 2, 4, 5]);
    }
}

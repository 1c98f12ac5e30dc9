//! The best documents of each bucket of a shard, which is all that the aggregations inside a sample see. They are only
//! known when every segment has been searched: each notes its best, and what is inside runs over the shard's at the end.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use clew_query::AggError;
use tantivy::{DocId, SegmentReader};

use crate::bucket::sampler::{SamplePlan, Wanted};
use crate::collect::slots::Slots;
use crate::collect::{BLOCK_DOCS, Block, Collect, Level, Planned, Segment};
use crate::counted::Partial;
use crate::counted::buckets::{Buckets, Candidate};
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::rows::{Repeats, Rows};
use crate::limits::{Account, grow};
use crate::value::key::{Key, KeyTable, number_of};

/// As many of a bucket may be noted before worse ones are dropped, if the sample is no larger.
const NOTED_LEAST: usize = 64;

/// Notes the documents of each bucket in a segment that may be in its sample.
pub(crate) struct Sampling {
    wanted: Wanted,
    values: ValuePlan,
    reader: SegmentReader,
    ord: usize,
    slots: Slots,
    /// Per bucket.
    noted: Vec<Vec<(f32, DocId)>>,
    subs: Vec<Partial>,
}

impl Sampling {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned, wanted: Wanted) -> Self {
        Sampling {
            wanted,
            values: plan.values().clone(),
            reader: segment.reader.clone(),
            ord: segment.ord,
            slots: Slots::for_range(Some((0, 0)), Level::Nested),
            noted: Vec::new(),
            subs: plan.empty_subs(),
        }
    }
}

impl Collect for Sampling {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let most = self.wanted.size.saturating_mul(2).max(NOTED_LEAST);
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            let bucket = self.slots.number(*parent, 0, account)?;
            grow(&mut self.noted, bucket, account)?;
            let noted = &mut self.noted[bucket as usize];
            if noted.len() == noted.capacity() {
                account.charge(noted.len().max(4) * size_of::<(f32, DocId)>())?;
            }
            noted.push((account.score(*doc), *doc));
            // Which of them have the same value is not known before the end.
            if self.wanted.per_value.is_none() && noted.len() >= most {
                noted.select_nth_unstable_by(self.wanted.size, best_first);
                noted.truncate(self.wanted.size);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let Sampling {
            wanted,
            values,
            reader,
            ord,
            slots,
            mut noted,
            subs,
        } = *self;
        let (parents, keys) = slots.into_parts();
        noted.truncate(keys.len());
        account.charge_keys(keys.len())?;
        let column = match wanted.per_value {
            None => None,
            Some(_) => Some(ValueColumn::open(&reader, &values)?),
        };
        let ord = number_of(ord);
        let mut candidates = Vec::with_capacity(noted.len());
        for mut noted in noted {
            noted.sort_unstable_by(best_first);
            let keys = match &column {
                None => {
                    noted.truncate(wanted.size);
                    vec![Key::Null; noted.len()]
                }
                Some(column) => keys_of(column, &values, &noted)?,
            };
            account.charge(noted.len().min(wanted.size) * size_of::<Candidate>())?;
            let pairs = noted.into_iter().zip(keys);
            let found = pairs.map(|((score, doc), key)| Candidate {
                score,
                ord,
                doc,
                key,
            });
            candidates.push(best_of(found, wanted).collect());
        }
        let counts = vec![0; keys.len()];
        let keys = keys.iter().map(|_| Key::I64(0)).collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets {
            candidates,
            ..Buckets::of(table, counts, subs)
        }))
    }
}

/// Runs what is inside over the best documents of each bucket of a shard.
///
/// # Errors
/// What the aggregations inside fail for.
pub(crate) fn count_sampled(
    (plan, sample): (&dyn Planned, &SamplePlan),
    buckets: &mut Buckets,
    account: &mut Account,
) -> Result<(), AggError> {
    let rows = best_rows(std::mem::take(&mut buckets.candidates), sample.wanted);
    account.charge(size_of_val(&rows[..]))?;
    for rows in rows.chunk_by(|a, b| a.ord == b.ord) {
        let Some(first) = rows.first() else {
            continue;
        };
        let ord = first.ord as usize;
        let Some(reader) = sample.readers.get(ord) else {
            continue;
        };
        account.turn_to(reader)?;
        if plan.subs_want_scores() {
            account.make_scores(reader.max_doc())?;
            rows.iter()
                .for_each(|row| account.set_score(row.doc, row.score));
        }
        let mut subs = plan.open_subs(Segment { reader, ord })?;
        for block in rows.chunks(BLOCK_DOCS) {
            for row in block {
                buckets.counts[row.bucket as usize] += 1;
                if !subs.is_empty() {
                    subs.push(row.doc, row.bucket);
                }
            }
            subs.flush(account)?;
        }
        for (mine, found) in buckets.subs.iter_mut().zip(subs.finish(account)?) {
            mine.merge(found, None)?;
        }
    }
    Ok(())
}

/// A document in the sample of a bucket.
struct Row {
    ord: u32,
    doc: DocId,
    bucket: u32,
    score: f32,
}

/// What is in the samples, by segment, document and bucket.
fn best_rows(candidates: Vec<Vec<Candidate>>, wanted: Wanted) -> Vec<Row> {
    let mut rows = Vec::new();
    for (bucket, mut found) in candidates.into_iter().enumerate() {
        let bucket = number_of(bucket);
        found.sort_unstable_by(|a, b| {
            let places = (a.ord, a.doc).cmp(&(b.ord, b.doc));
            b.score.total_cmp(&a.score).then(places)
        });
        rows.extend(best_of(found.into_iter(), wanted).map(|one| Row {
            ord: one.ord,
            doc: one.doc,
            bucket,
            score: one.score,
        }));
    }
    rows.sort_unstable_by_key(|row| (row.ord, row.doc, row.bucket));
    rows
}

/// Which of two documents of a segment comes first.
fn best_first(a: &(f32, DocId), b: &(f32, DocId)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

/// The first of documents in the order of their scores, with few of each value.
fn best_of(
    found: impl Iterator<Item = Candidate>,
    wanted: Wanted,
) -> impl Iterator<Item = Candidate> {
    let mut of_key: BTreeMap<Key, usize> = BTreeMap::new();
    let kept = found.filter(move |one| {
        let Some(most) = wanted.per_value else {
            return true;
        };
        match of_key.get_mut(&one.key) {
            Some(count) => {
                *count += 1;
                *count <= most
            }
            None => {
                of_key.insert(one.key.clone(), 1);
                most > 0
            }
        }
    });
    kept.take(wanted.size)
}

/// The value of each document; none of those that have none.
fn keys_of(
    column: &ValueColumn,
    values: &ValuePlan,
    found: &[(f32, DocId)],
) -> Result<Vec<Key>, AggError> {
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
        field: values.field.clone(),
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

    fn candidate((ord, doc): (u32, DocId), key: &str, score: f32) -> Candidate {
        Candidate {
            score,
            ord,
            doc,
            key: Key::Str(key.into()),
        }
    }

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
            (0..)
                .zip(found)
                .map(|(doc, (key, score))| candidate((0, doc), key, score))
        };
        let docs = |size, per_value| -> Vec<DocId> {
            let wanted = Wanted { size, per_value };
            best_of(candidates(), wanted).map(|one| one.doc).collect()
        };
        assert_eq!(docs(3, None), [0, 1, 2]);
        assert_eq!(docs(3, Some(1)), [0, 2, 4]);
        assert_eq!(docs(10, Some(2)), [0, 1, 2, 4, 5]);
    }

    #[test]
    fn every_bucket_has_a_sample_of_its_own() {
        let of_first = vec![candidate((1, 3), "a", 2.0), candidate((0, 7), "b", 3.0)];
        let of_second = vec![candidate((1, 3), "a", 2.0), candidate((0, 9), "a", 2.0)];
        let wanted = Wanted {
            size: 1,
            per_value: None,
        };
        let rows = best_rows(vec![of_first, Vec::new(), of_second], wanted);
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.ord, row.doc, row.bucket))
            .collect();
        // Of equal scores the document that stands first.
        assert_eq!(rows, [(0, 7, 0), (0, 9, 2)]);
    }
}

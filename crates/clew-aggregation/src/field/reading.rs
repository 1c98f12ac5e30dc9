//! Reading the values of blocks of documents: from a column, or by the script that makes them.

use std::cell::RefCell;

use clew_query::AggError;
use tantivy::columnar::{Column, ColumnIndex};
use tantivy::{DocId, SegmentReader};

use crate::field::column::{Decoder, ValueColumn};
use crate::field::made::{Made, MadePlan};
use crate::field::rows::{Repeats, Rows};
use crate::field::texts::Texts;
use crate::field::{TermSet, TermSets, ValueKind, ValuePlan};
use crate::limits::Account;
use crate::value::key::Key;
use crate::value::partition::part_of;

/// Values that scripts may make of one block of documents.
const MADE_MAX: usize = 1 << 22;

impl ValueColumn {
    /// Values that a script makes; the columns that it looks at are opened.
    pub(super) fn of_script(
        reader: &SegmentReader,
        plan: &ValuePlan,
        made: &MadePlan,
    ) -> Result<Self, AggError> {
        let decoder = match plan.kind {
            ValueKind::Keyword => Decoder::Made(RefCell::new(Texts::new(made))),
            ValueKind::Double => Decoder::Float,
            _ => Decoder::Integer,
        };
        let mut opened = ValueColumn {
            column: None,
            decoder,
            missing: None,
            foreign: None,
            made: Some(Box::new(Made::open(reader, plan, made)?)),
        };
        if let Some(key) = &plan.missing {
            let set = opened.set_missing(key);
            set.map_err(|source| AggError::Column {
                field: plan.field.clone(),
                source,
            })?;
        }
        Ok(opened)
    }

    /// Reads the values of `docs` (ascending, repeats allowed); a script that makes them sees no scores.
    ///
    /// # Errors
    /// What went wrong in a script that makes them, or where shapes are read.
    pub(crate) fn read(
        &self,
        docs: &[DocId],
        repeats: Repeats,
        rows: &mut Rows,
    ) -> Result<(), AggError> {
        self.read_with(docs, None, repeats, rows)
    }

    /// The same; a script that makes them sees the scores that the account has.
    ///
    /// # Errors
    /// As [`ValueColumn::read`].
    pub(crate) fn read_scored(
        &self,
        docs: &[DocId],
        account: &Account,
        repeats: Repeats,
        rows: &mut Rows,
    ) -> Result<(), AggError> {
        self.read_with(docs, Some(account), repeats, rows)
    }

    fn read_with(
        &self,
        docs: &[DocId],
        account: Option<&Account>,
        repeats: Repeats,
        rows: &mut Rows,
    ) -> Result<(), AggError> {
        match &self.made {
            Some(made) => self.read_made(made, (docs, account), repeats, rows),
            None => {
                self.read_column(docs, repeats, rows);
                let Decoder::Shapes(Some(shapes)) = &self.decoder else {
                    return Ok(());
                };
                shapes.read(rows).map_err(|source| AggError::Column {
                    field: String::new(),
                    source: source.into(),
                })
            }
        }
    }

    fn read_made(
        &self,
        made: &Made,
        (docs, account): (&[DocId], Option<&Account>),
        repeats: Repeats,
        rows: &mut Rows,
    ) -> Result<(), AggError> {
        rows.clear();
        let mut count = 0_usize;
        made.each(docs, account, |entry, key| {
            count += 1;
            if count > MADE_MAX {
                return;
            }
            // Its kind is the decoder's, so that each key has a number.
            if let Some(raw) = self.made_raw(&key) {
                rows.entries.push(entry);
                rows.values.push(raw);
            }
        })?;
        if count > MADE_MAX {
            return Err(AggError::TooLarge {
                wanted_bytes: count.saturating_mul(size_of::<(u32, u64)>()),
                max_bytes: MADE_MAX * size_of::<(u32, u64)>(),
            });
        }
        if let Decoder::Made(texts) = &self.decoder {
            texts.borrow_mut().book()?;
        }
        rows.sort_each(repeats);
        if let Some(missing) = self.missing {
            rows.fill_missing(block_len(docs), missing);
        }
        match &*made.only.borrow() {
            Some(sets) => self.keep_only(sets, rows),
            None => Ok(()),
        }
    }

    /// Leaves those values alone that count.
    fn keep_only(&self, sets: &TermSets, rows: &mut Rows) -> Result<(), AggError> {
        let mut distinct = rows.values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let keys = self.keys(&distinct).map_err(|source| AggError::Column {
            field: String::new(),
            source: source.into(),
        })?;
        let counts: Vec<bool> = keys.iter().map(|key| admits(sets, key)).collect();
        let entries = std::mem::take(&mut rows.entries);
        let values = std::mem::take(&mut rows.values);
        for (entry, raw) in entries.into_iter().zip(values) {
            let at = distinct.binary_search(&raw);
            if at.is_ok_and(|at| counts.get(at).copied().unwrap_or(false)) {
                rows.entries.push(entry);
                rows.values.push(raw);
            }
        }
        Ok(())
    }

    fn read_column(&self, docs: &[DocId], repeats: Repeats, rows: &mut Rows) {
        rows.entries.clear();
        rows.row_ids.clear();
        let several = match self.column.as_ref().map(|column| &column.index) {
            None | Some(ColumnIndex::Empty { .. }) => false,
            Some(ColumnIndex::Full) => {
                rows.entries.extend(0..block_len(docs));
                rows.row_ids.extend_from_slice(docs);
                false
            }
            Some(index @ ColumnIndex::Optional(_)) => {
                rows.docs.clear();
                index.docids_to_rowids(docs, &mut rows.docs, &mut rows.row_ids);
                align(docs, &rows.docs, &mut rows.entries);
                false
            }
            Some(index @ ColumnIndex::Multivalued(_)) => {
                for (entry, doc) in (0_u32..).zip(docs) {
                    for row_id in index.value_row_ids(*doc) {
                        rows.entries.push(entry);
                        rows.row_ids.push(row_id);
                    }
                }
                rows.entries.len() > docs.len() || rows.entries.windows(2).any(|w| w[0] == w[1])
            }
        };
        rows.values.clear();
        rows.values.resize(rows.row_ids.len(), 0);
        if let Some(column) = &self.column {
            fetch(column, &rows.row_ids, &mut rows.values);
        }
        if several {
            rows.sort_each(repeats);
        }
        if let Some(missing) = self.missing {
            rows.fill_missing(block_len(docs), missing);
        }
    }

    /// Marks the places of documents that have no value.
    ///
    /// # Errors
    /// As [`ValueColumn::read`].
    pub(crate) fn without_value(
        &self,
        docs: &[DocId],
        account: &Account,
        places: &mut Vec<u32>,
    ) -> Result<(), AggError> {
        places.clear();
        if self.missing.is_some() {
            return Ok(());
        }
        if self.made.is_some() {
            let mut rows = Rows::default();
            self.read_scored(docs, account, Repeats::Dropped, &mut rows)?;
            let all = 0..block_len(docs);
            places.extend(all.filter(|place| rows.entries.binary_search(place).is_err()));
            return Ok(());
        }
        let index = self.column.as_ref().map(|column| &column.index);
        places.extend(
            (0_u32..)
                .zip(docs)
                .filter(|(_, doc)| index.is_none_or(|index| !index.has_value(**doc)))
                .map(|(place, _)| place),
        );
        Ok(())
    }
}

/// Whether a value counts.
fn admits(sets: &TermSets, key: &Key) -> bool {
    let holds = |set: &TermSet| match set {
        TermSet::Keys(keys) => keys.contains(key),
        TermSet::Pattern(pattern) => matches!(key, Key::Str(text) if pattern.matches(text)),
        TermSet::Partition { part, count } => part_of(key, *count) == *part,
    };
    sets.include.as_ref().is_none_or(holds) && !sets.exclude.as_ref().is_some_and(holds)
}

fn block_len(docs: &[DocId]) -> u32 {
    u32::try_from(docs.len()).expect("blocks are small")
}

/// Dense runs are unpacked in one go; scattered rows one by one.
fn fetch(column: &Column<u64>, row_ids: &[u32], values: &mut [u64]) {
    match row_ids {
        [] => {}
        // A document can be listed twice, so both ends alone prove nothing.
        [first, .., last]
            if (*last - *first) as usize + 1 == row_ids.len()
                && (*first..).zip(row_ids).all(|(want, have)| want == *have) =>
        {
            column.values.get_range(u64::from(*first), values);
        }
        _ => column.values.get_vals(row_ids, values),
    }
}

/// The places in `docs` of `found`, a subsequence of it.
fn align(docs: &[DocId], found: &[DocId], entries: &mut Vec<u32>) {
    if docs.len() == found.len() {
        entries.extend(0..block_len(docs));
        return;
    }
    let mut places = (0_u32..).zip(docs);
    for doc in found {
        let place = places.find(|(_, candidate)| *candidate == doc);
        entries.extend(place.map(|(place, _)| place));
    }
}

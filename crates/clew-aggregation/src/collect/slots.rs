//! Numbers the buckets of one segment: by an array where keys are few and close together, by a
//! hash table elsewhere.

use clew_query::AggError;
use tantivy::DocId;

use crate::collect::Level;
use crate::limits::{Account, grow};
use crate::value::key::{Entry, KeyTable, number_of};

/// Widest range of keys that gets an array when there is one parent.
const ROOT_WIDTH_MAX: u64 = 1 << 20;

/// The same when there are many parents: each gets a row of this width.
const NESTED_WIDTH_MAX: u64 = 256;

/// Gives each pair of parent bucket and key a bucket number of this segment.
pub(crate) enum Slots {
    /// `parent * width + key - min` finds the number plus one.
    Flat {
        min: u64,
        width: u64,
        numbers: Vec<u32>,
        parents: Vec<u32>,
        keys: Vec<u64>,
    },
    Hashed(KeyTable<u64>),
}

impl Slots {
    /// For keys within `range`.
    pub(crate) fn for_range(range: Option<(u64, u64)>, level: Level) -> Self {
        let width_max = match level {
            Level::Root => ROOT_WIDTH_MAX,
            Level::Nested => NESTED_WIDTH_MAX,
        };
        match range {
            Some((min, max)) if max - min < width_max => Slots::Flat {
                min,
                width: max - min + 1,
                numbers: Vec::new(),
                parents: Vec::new(),
                keys: Vec::new(),
            },
            _ => Slots::Hashed(KeyTable::default()),
        }
    }

    #[inline]
    pub(crate) fn number(
        &mut self,
        parent: u32,
        key: u64,
        account: &mut Account,
    ) -> Result<u32, AggError> {
        match self {
            Slots::Flat {
                min,
                width,
                numbers,
                parents,
                keys,
            } => {
                let at = u64::from(parent) * *width + (key - *min);
                let at = usize::try_from(at).expect("the memory account bounds the array");
                if at >= numbers.len() {
                    let rows = numbers.len() / usize::try_from(*width).unwrap_or(1);
                    let rows = (rows * 2).max(parent as usize + 1);
                    let length = rows * usize::try_from(*width).unwrap_or(1);
                    account.charge((length - numbers.len()) * size_of::<u32>())?;
                    numbers.resize(length, 0);
                }
                if numbers[at] == 0 {
                    account.charge(size_of::<(u32, u64)>())?;
                    parents.push(parent);
                    keys.push(key);
                    numbers[at] = number_of(keys.len());
                }
                Ok(numbers[at] - 1)
            }
            Slots::Hashed(table) => {
                let (number, entry) = table.number(parent, key);
                if entry == Entry::New {
                    // The pair, and its share of a half-empty hash table.
                    account.charge(size_of::<(u32, u64)>() + 4 * size_of::<u32>())?;
                }
                Ok(number)
            }
        }
    }

    /// Parents and keys in order of number.
    pub(crate) fn into_parts(self) -> (Vec<u32>, Vec<u64>) {
        match self {
            Slots::Flat { parents, keys, .. } => (parents, keys),
            Slots::Hashed(table) => table.into_parts(),
        }
    }
}

/// Adds a document to a bucket, or as many as it stands for.
#[inline]
pub(crate) fn count_up(
    counts: &mut Vec<u64>,
    number: u32,
    doc: DocId,
    account: &mut Account,
) -> Result<(), AggError> {
    let count = account.stands_for(doc);
    add(counts, number, count, account)
}

/// Adds one document to a bucket, whatever it stands for.
#[inline]
pub(crate) fn count_one(
    counts: &mut Vec<u64>,
    number: u32,
    account: &mut Account,
) -> Result<(), AggError> {
    add(counts, number, 1, account)
}

#[inline]
fn add(
    counts: &mut Vec<u64>,
    number: u32,
    count: u64,
    account: &mut Account,
) -> Result<(), AggError> {
    if number as usize >= counts.len() {
        grow(counts, number, account)?;
    }
    let sum = &mut counts[number as usize];
    *sum = sum.saturating_add(count);
    Ok(())
}

//! Bucket keys, and the table that numbers buckets by parent and key.

use clew_schema::fraction_text;
use serde::{Deserialize, Serialize};

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::net::Ipv6Addr;

/// What names a bucket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Key {
    /// A whole number, a bucket's place, or a value of an integer field.
    I64(i64),
    /// A value of a floating-point field, or the start of a histogram's bucket.
    F64(f64),
    /// A keyword.
    Str(Box<str>),
    /// A value of a boolean field.
    Bool(bool),
    /// Milliseconds since the epoch.
    Date(i64),
    /// An address; IPv4 in its mapped form.
    Ip(Ipv6Addr),
    /// A value of a field of unsigned whole numbers.
    U64(u64),
    /// No value.
    Null,
    /// The values of several sources.
    Tuple(Box<[Key]>),
}

impl Key {
    fn rank(&self) -> u8 {
        match self {
            Key::I64(_) => 0,
            Key::F64(_) => 1,
            Key::Str(_) => 2,
            Key::Bool(_) => 3,
            Key::Date(_) => 4,
            Key::Ip(_) => 5,
            Key::U64(_) => 6,
            Key::Null => 7,
            Key::Tuple(_) => 8,
        }
    }

    /// Memory behind the key itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Key::Str(text) => text.len(),
            Key::Tuple(keys) => {
                let own: usize = keys.iter().map(Key::heap_bytes).sum();
                own + size_of_val(&keys[..])
            }
            _ => 0,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::I64(a), Key::I64(b)) | (Key::Date(a), Key::Date(b)) => a.cmp(b),
            (Key::F64(a), Key::F64(b)) => a.total_cmp(b),
            (Key::Str(a), Key::Str(b)) => a.cmp(b),
            (Key::Bool(a), Key::Bool(b)) => a.cmp(b),
            (Key::Ip(a), Key::Ip(b)) => a.cmp(b),
            (Key::U64(a), Key::U64(b)) => a.cmp(b),
            (Key::Tuple(a), Key::Tuple(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Key::I64(value) | Key::Date(value) => value.hash(state),
            Key::F64(value) => value.to_bits().hash(state),
            Key::Str(text) => state.write(text.as_bytes()),
            Key::Bool(value) => value.hash(state),
            Key::Ip(address) => state.write(&address.octets()),
            Key::U64(value) => value.hash(state),
            Key::Null => state.write_u64(0),
            Key::Tuple(keys) => keys.iter().for_each(|key| key.hash(state)),
        }
    }
}

/// Multiplies and folds; enough to spread bucket keys. Nothing ever iterates in hash order.
#[derive(Default)]
pub(crate) struct FoldHasher(u64);

const FOLD: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0_u8; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last) ^ bytes.len() as u64);
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the two halves of the product are what is folded"
    )]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ FOLD) * u128::from(FOLD ^ 0xA076_1D64_78BD_642F);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }
    fn write_i64(&mut self, word: i64) {
        self.write_u64(word.cast_unsigned());
    }
}

/// Gives each pair of parent bucket and key a number, dense from 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyTable<K> {
    parents: Vec<u32>,
    keys: Vec<K>,
    /// Bucket number plus one, 0 where free; empty until the first look-up.
    #[serde(skip)]
    slots: Vec<u32>,
}

impl<K> Default for KeyTable<K> {
    fn default() -> Self {
        KeyTable {
            parents: Vec::new(),
            keys: Vec::new(),
            slots: Vec::new(),
        }
    }
}

/// Whether an entry was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Old,
    New,
}

impl<K: Hash + Eq> KeyTable<K> {
    /// A table of entries known to be distinct.
    pub(crate) fn of_distinct(parents: Vec<u32>, keys: Vec<K>) -> Self {
        debug_assert_eq!(parents.len(), keys.len());
        KeyTable {
            parents,
            keys,
            slots: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
    pub(crate) fn parents(&self) -> &[u32] {
        &self.parents
    }
    /// One more than the highest number of a parent.
    pub(crate) fn parent_count(&self) -> u32 {
        self.parents.iter().max().map_or(0, |max| max + 1)
    }
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }
    pub(crate) fn into_parts(self) -> (Vec<u32>, Vec<K>) {
        (self.parents, self.keys)
    }

    /// The number of a pair, a new one if it was not there.
    pub(crate) fn number(&mut self, parent: u32, key: K) -> (u32, Entry) {
        if (self.keys.len() + 1) * 2 > self.slots.len() {
            self.rehash();
        }
        let mask = self.slots.len() - 1;
        let mut at = home(parent, &key) & mask;
        loop {
            let Some(number) = self.slots[at].checked_sub(1) else {
                let number = number_of(self.keys.len());
                self.slots[at] = number + 1;
                self.parents.push(parent);
                self.keys.push(key);
                return (number, Entry::New);
            };
            if self.parents[number as usize] == parent && self.keys[number as usize] == key {
                return (number, Entry::Old);
            }
            at = (at + 1) & mask;
        }
    }

    fn rehash(&mut self) {
        let length = ((self.keys.len() + 1) * 4).next_power_of_two().max(64);
        self.slots.clear();
        self.slots.resize(length, 0);
        for (index, (parent, key)) in self.parents.iter().zip(&self.keys).enumerate() {
            let mut at = home(*parent, key) & (length - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (length - 1);
            }
            self.slots[at] = number_of(index) + 1;
        }
    }
}

/// A position as a bucket number. Memory runs out long before the numbers do.
pub(crate) fn number_of(index: usize) -> u32 {
    u32::try_from(index).expect("the memory account bounds how many buckets there are")
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "only the low bits of a hash are used"
)]
fn home<K: Hash>(parent: u32, key: &K) -> usize {
    let builder = BuildHasherDefault::<FoldHasher>::default();
    builder.hash_one((parent, key)) as usize
}

impl std::fmt::Display for Key {
    /// As names of buckets show it; numbers with a fraction as Java writes them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::I64(value) | Key::Date(value) => value.fmt(f),
            Key::U64(value) => value.fmt(f),
            Key::F64(value) => f.write_str(&fraction_text(*value)),
            Key::Str(text) => f.write_str(text),
            Key::Bool(value) => value.fmt(f),
            Key::Ip(address) => match address.to_ipv4_mapped() {
                Some(short) => short.fmt(f),
                None => address.fmt(f),
            },
            Key::Null => f.write_str("null"),
            Key::Tuple(keys) => {
                for (at, key) in keys.iter().enumerate() {
                    if at > 0 {
                        f.write_str("|")?;
                    }
                    key.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

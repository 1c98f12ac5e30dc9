//! `min_hash`: a few hashes in the place of all terms, of which texts that are alike have most in common (Broder, "On the
//! resemblance and containment of documents", 1997), as Lucene makes them.
//!
//! Each term is hashed in several ways. What hashes of a way fall into a bucket are kept up to so many, the smallest ones.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::tokenizer::Token;

use super::Term;
use super::part::Part;
use crate::murmur3;

/// Most ways of hashing, times buckets, times hashes of a bucket: that many terms may come of a text.
const HASHES_MAX: usize = 1 << 16;

/// Most ways of hashing, each of which costs a hash of every term.
const WAYS_MAX: usize = 1024;

/// How hashes are made and kept.
#[derive(Clone, Debug)]
pub(super) struct MinHash {
    ways: usize,
    buckets: usize,
    kept: usize,
    /// Whether empty buckets have what the next one has.
    rotates: bool,
}

/// A hash in the order that decides which is smaller: its second half, then its first.
type Hash = (u64, u64);

impl MinHash {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Numbers that are none, or of which too many terms could come.
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let buckets = part.number("bucket_count", 512, 1..=HASHES_MAX)?;
        let hashing = MinHash {
            ways: part.number("hash_count", 1, 1..=WAYS_MAX)?,
            buckets,
            kept: part.number("hash_set_size", 1, 1..=HASHES_MAX)?,
            rotates: part.flag("with_rotation", buckets > 1)?,
        };
        let most = hashing.ways.saturating_mul(buckets);
        if most.saturating_mul(hashing.kept) > HASHES_MAX {
            return Err(format!(
                "[hash_count] times [bucket_count] times [hash_set_size] must be at most {HASHES_MAX}"
            ));
        }
        Ok(hashing)
    }

    pub(super) fn apply(&self, terms: &[Term]) -> Vec<Term> {
        let Some(last) = terms.last() else {
            return Vec::new();
        };
        let of_terms: Vec<[u64; 2]> = terms.iter().map(|term| hash(&term.token.text)).collect();
        let mut out = Vec::new();
        for number in (0u32..).take(self.ways) {
            let salt = murmur3(&number.to_be_bytes());
            for hash in self.smallest(&of_terms, salt) {
                out.push(Term {
                    token: Token {
                        text: self.shown(number, hash),
                        offset_from: 0,
                        offset_to: last.token.offset_to,
                        position: 0,
                        position_length: 1,
                    },
                    is_keyword: false,
                    kind: "MIN_HASH",
                });
            }
        }
        out
    }

    /// The hashes that are kept of one way, by bucket and then by size.
    fn smallest(&self, of_terms: &[[u64; 2]], salt: [u64; 2]) -> Vec<Hash> {
        let mut buckets: BTreeMap<u64, BTreeSet<Hash>> = BTreeMap::new();
        let width = (1u64 << 32).div_ceil(self.buckets as u64);
        for of_term in of_terms {
            let [first, second] = [0, 1].map(|half| salted(of_term[half], salt[half]));
            let found = buckets.entry((second >> 32) / width).or_default();
            if found.len() >= self.kept {
                // A hash that is there already costs the largest its place, as in Lucene.
                if found.last().is_none_or(|last| (second, first) >= *last) {
                    continue;
                }
                found.pop_last();
            }
            found.insert((second, first));
        }
        if !self.rotates || self.kept > 1 {
            return buckets.into_values().flatten().collect();
        }
        let smallest: Vec<(u64, Hash)> = buckets
            .iter()
            .filter_map(|(bucket, found)| Some((*bucket, *found.first()?)))
            .collect();
        let mut next = smallest.iter().cycle().peekable();
        let each = (0..self.buckets as u64).map_while(|bucket| {
            let (at, hash) = **next.peek()?;
            if at == bucket {
                next.next();
            }
            Some(hash)
        });
        each.collect()
    }

    /// A hash as a term: a letter for each sixteen bits, with the number of its way where there are several.
    fn shown(&self, way: u32, (second, first): Hash) -> String {
        let several = self.ways > 1;
        let mut bytes = Vec::with_capacity(20);
        if several {
            bytes.extend(way.to_be_bytes());
        }
        bytes.extend(second.to_be_bytes());
        let first = first.to_be_bytes();
        bytes.extend(&first[..if several { 4 } else { 8 }]);
        let (units, _) = bytes.as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_be_bytes(*unit)).collect();
        String::from_utf16_lossy(&units)
    }
}

/// The hash of a term, as it lies in Java's memory.
fn hash(text: &str) -> [u64; 2] {
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    murmur3(&bytes)
}

fn salted(half: u64, salt: u64) -> u64 {
    half.wrapping_mul(37).wrapping_add(salt)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::super::Chain;

    fn hashes(options: &Value, text: &str) -> Vec<(String, usize, usize)> {
        let mut filter = json!({"type": "min_hash"});
        let members = options.as_object().unwrap().clone();
        filter.as_object_mut().unwrap().extend(members);
        let parts = json!({"tokenizer": {"type": "whitespace"}, "filter": [filter]});
        let terms = Chain::compile(&parts).unwrap().run(text).into_iter();
        let told = terms.map(|term| {
            let units: Vec<String> = term
                .token
                .text
                .encode_utf16()
                .map(|unit| format!("{unit:04x}"))
                .collect();
            (units.join(""), term.token.position, term.token.offset_to)
        });
        told.collect()
    }

    #[test]
    fn hashes_stand_for_terms() {
        let one =
            json!({"hash_count": 1, "bucket_count": 1, "hash_set_size": 1, "with_rotation": false});
        let smallest = hashes(&one, "to be or not");
        assert_eq!(
            smallest,
            [("a0362b678e7a482a2adcfc1e98a1a136".to_string(), 0, 12)]
        );
        let several = json!({"hash_count": 2, "bucket_count": 1, "hash_set_size": 2});
        let found: Vec<String> = hashes(&several, "to be or not")
            .into_iter()
            .map(|(hash, _, _)| hash)
            .collect();
        assert_eq!(
            found,
            [
                "00000000a0362b678e7a482a2adcfc1e",
                "00000000b2640fa54080a163ace5255b",
                "000000011b6432fd557a5712b7dcaec3",
                "000000011c4ebcfc0cedf8abbf73bbb5",
            ]
        );
        assert!(hashes(&json!({}), "").is_empty());
    }

    #[test]
    fn empty_buckets_have_what_the_next_one_has() {
        let turned = json!({"bucket_count": 16});
        let found = hashes(&turned, "to be or not");
        assert_eq!(found.len(), 16);
        let still = json!({"bucket_count": 16, "with_rotation": false});
        let straight = hashes(&still, "to be or not");
        assert_eq!(straight.len(), 3);
        let all: BTreeSet<_> = found.iter().collect();
        assert_eq!(all.len(), straight.len());
        // What is behind the last has what the first has.
        assert!(found.iter().all(|hash| straight.contains(hash)));
    }
}

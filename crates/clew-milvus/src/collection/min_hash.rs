//! Signatures of texts by MinHash, bit for bit those that Milvus makes: of all the hashes that a text's shingles have under
//! one permutation the least, for each of so many permutations. The share of hashes that two signatures have in common is
//! about the Jaccard similarity of the sets of shingles (Broder, "On the resemblance and containment of documents", 1997).

use std::collections::BTreeMap;

use clew_query::unless_stopped;
use sha1::{Digest, Sha1};
use twox_hash::XxHash3_64;

use super::analyzer::analyzer_settings;
use super::field::LENGTH_MAX;
use super::{DataType, Field};
use crate::error::{MilvusError, Result};

/// Bits of a hash in a signature.
const HASH_BITS: usize = 32;
/// Bytes or words of a shingle that says nothing else.
const SHINGLE: usize = 3;
/// Most of them: each shingle is hashed as a whole, and there are as many as places in the text.
const SHINGLE_MAX: usize = 1_000;
/// What permutations are drawn by where nothing is said.
const SEED: i64 = 1_234;
/// The prime that permutations are taken modulo.
const PRIME: u64 = (1 << 61) - 1;

/// How shingles become numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Xxh3,
    Sha1,
}

/// What makes signatures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MinHash {
    /// What cuts texts into words; without one shingles are of bytes.
    analyzer: Option<String>,
    shingle: usize,
    hash: Hash,
    /// The factor and the summand of each permutation.
    permutations: Vec<(u64, u64)>,
}

impl MinHash {
    /// What a function's parameters say, for a field of texts and one of signatures.
    ///
    /// # Errors
    /// In Milvus' words: for parameters that are none, and fields that are of another kind or size.
    pub(super) fn read(
        params: &BTreeMap<String, String>,
        input: &Field,
        output: &Field,
    ) -> Result<MinHash> {
        if output.data_type != DataType::BinaryVector {
            return Err(MilvusError::invalid(format!(
                "MinHash function output field must be a BinaryVector field, but got {}",
                output.data_type.name()
            )));
        }
        let mut own = Params::default();
        for (name, value) in params {
            own.take(name, value)?;
        }
        let (name, dimension) = (&output.name, output.dimension()?);
        let hashes = own.hashes.unwrap_or(dimension / HASH_BITS);
        if let Some(said) = own.hashes
            && said.checked_mul(HASH_BITS) != Some(dimension)
        {
            return Err(MilvusError::invalid(format!(
                "minhash function output field '{name}' dim {dimension} does not match expected dim {} (numHashes {said} * one minhash signature size of 32bit)",
                said.saturating_mul(HASH_BITS)
            )));
        }
        if !dimension.is_multiple_of(HASH_BITS) {
            return Err(MilvusError::invalid(format!(
                "minhash function output field '{name}' dim {dimension} is not multiple of 32 (one minhash signature size)"
            )));
        }
        let analyzer = match own.is_of_bytes {
            true => None,
            false => {
                let said = input.params.get("analyzer_params");
                let (analysis, name) = analyzer_settings(said.map_or("", String::as_str))?;
                Some(analysis.analyzer(&name).unwrap_or(name))
            }
        };
        Ok(MinHash {
            analyzer,
            shingle: own.shingle.unwrap_or(SHINGLE),
            hash: own.hash.unwrap_or(Hash::Xxh3),
            permutations: permutations(hashes, own.seed.unwrap_or(SEED)),
        })
    }

    /// The signature of a text as a vector of bits; of a text without shingles, and of none, all bits are set. O(shingles ×
    /// hashes).
    pub(crate) fn signature(&self, text: Option<&str>) -> Vec<u8> {
        let shingles = text.map_or_else(Vec::new, |text| self.shingles(text));
        let mut bytes = Vec::with_capacity(4 * self.permutations.len());
        for &(factor, summand) in &self.permutations {
            let permuted = shingles.iter().map(|shingle| {
                let product = factor.wrapping_mul(*shingle).wrapping_add(summand);
                let folded = (product & PRIME) + (product >> 61);
                low_half(if folded >= PRIME {
                    folded - PRIME
                } else {
                    folded
                })
            });
            bytes.extend(permuted.min().unwrap_or(u32::MAX).to_le_bytes());
        }
        bytes
    }

    /// The same of a text that is searched for, which is no longer than one that is kept.
    ///
    /// # Errors
    /// When it is longer, or nobody waits for it any more.
    pub(crate) fn signature_asked(&self, text: &str) -> Result<Vec<u8>> {
        unless_stopped()?;
        let bytes = text.len();
        if bytes > LENGTH_MAX {
            return Err(MilvusError::invalid(format!(
                "a text that is searched for has {bytes} bytes, more than {LENGTH_MAX}"
            )));
        }
        Ok(self.signature(Some(text)))
    }

    /// The hashes of a text's shingles; a text that is shorter than one is one.
    fn shingles(&self, text: &str) -> Vec<u64> {
        let Some(analyzer) = &self.analyzer else {
            let bytes = text.as_bytes();
            let shingle = self.shingle.min(bytes.len()).max(1);
            return bytes
                .windows(shingle)
                .map(|part| self.hash.of(part))
                .collect();
        };
        let words = clew_analysis::tokens(analyzer, text);
        let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
        let shingle = self.shingle.min(words.len()).max(1);
        let parts = words.windows(shingle).map(|part| part.concat());
        parts.map(|part| self.hash.of(part.as_bytes())).collect()
    }
}

/// The lower half of a number.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the upper half is what is left out"
)]
fn low_half(number: u64) -> u32 {
    number as u32
}

impl Hash {
    fn of(self, shingle: &[u8]) -> u64 {
        match self {
            Hash::Xxh3 => low_half(XxHash3_64::oneshot(shingle)).into(),
            // Milvus takes the first four bytes as a number with a sign.
            Hash::Sha1 => {
                let digest = Sha1::digest(shingle);
                let first = digest.first_chunk::<4>().copied().unwrap_or_default();
                i64::from(i32::from_le_bytes(first)).cast_unsigned()
            }
        }
    }
}

/// What a function says; what it leaves out is as usual.
#[derive(Default)]
struct Params {
    hashes: Option<usize>,
    shingle: Option<usize>,
    hash: Option<Hash>,
    is_of_bytes: bool,
    seed: Option<i64>,
}

impl Params {
    /// One parameter, by its name in any case; what there is no such parameter of is passed over, as in Milvus.
    fn take(&mut self, name: &str, value: &str) -> Result<()> {
        let wrong = |said: String| Err(MilvusError::invalid(said));
        let whole = |name: &str| -> Result<i64> {
            value
                .parse()
                .map_err(|_| MilvusError::invalid(format!("param {name}:{value} is not a number")))
        };
        let count = |name: &str, max: usize| -> Result<usize> {
            match usize::try_from(whole(name)?) {
                Ok(count) if (1..=max).contains(&count) => Ok(count),
                Ok(0) | Err(_) => Err(MilvusError::invalid(format!(
                    "param {name}:{value} must be positive"
                ))),
                Ok(_) => Err(MilvusError::invalid(format!(
                    "param {name}:{value} must be at most {max}"
                ))),
            }
        };
        match name.to_ascii_lowercase().as_str() {
            "num_hashes" => self.hashes = Some(count("num_hashes", usize::MAX)?),
            "shingle_size" => self.shingle = Some(count("shingle_size", SHINGLE_MAX)?),
            "seed" => self.seed = Some(whole("seed")?),
            "hash_function" => {
                self.hash = Some(match value.to_ascii_lowercase().as_str() {
                    "xxhash" | "xxhash64" => Hash::Xxh3,
                    "sha1" => Hash::Sha1,
                    _ => {
                        return wrong(format!(
                            "unknown hash function: {value} (expected 'xxhash64' or 'sha1')"
                        ));
                    }
                });
            }
            "token_level" => {
                self.is_of_bytes = match value.to_ascii_lowercase().as_str() {
                    "char" | "character" => true,
                    "word" => false,
                    _ => {
                        return wrong(format!(
                            "unknown token_level: {value} (expected 'char' or 'word')"
                        ));
                    }
                };
            }
            _ => {}
        }
        Ok(())
    }
}

/// The factor and the summand of each permutation, drawn from a seed.
fn permutations(count: usize, seed: i64) -> Vec<(u64, u64)> {
    let mut random = Twister::new(seed.cast_unsigned());
    let draw = |_| {
        let factor = random.draw() % (PRIME - 1) + 1;
        (factor, random.draw() % PRIME)
    };
    (0..count).map(draw).collect()
}

/// Words of the twister's state.
const WORDS: usize = 312;
/// How far behind a word the one lies that it is mixed with.
const SHIFT: usize = 156;
/// The bits of a word that are joined with the upper ones of the word before.
const LOWER: u64 = (1 << 31) - 1;

/// The Mersenne Twister of 64 bits (Nishimura, "Tables of 64-bit Mersenne Twisters", 2000), by which Milvus draws.
struct Twister {
    state: [u64; WORDS],
    next: usize,
}

impl Twister {
    fn new(seed: u64) -> Twister {
        let mut state = [seed; WORDS];
        let mut last = seed;
        for (at, word) in (0_u64..).zip(&mut state).skip(1) {
            last = (last ^ (last >> 62))
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(at);
            *word = last;
        }
        Twister { state, next: WORDS }
    }

    fn turn(&mut self) {
        let state = &mut self.state;
        for at in 0..WORDS {
            let behind = state[(at + 1) % WORDS];
            let joined = (state[at] & !LOWER) | (behind & LOWER);
            let twist = match joined & 1 {
                0 => 0,
                _ => 0xb502_6f5a_a966_19e9,
            };
            state[at] = state[(at + SHIFT) % WORDS] ^ (joined >> 1) ^ twist;
        }
        self.next = 0;
    }

    fn draw(&mut self) -> u64 {
        if self.next == WORDS {
            self.turn();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= (word >> 29) & 0x5555_5555_5555_5555;
        word ^= (word << 17) & 0x71d6_7fff_eda6_0000;
        word ^= (word << 37) & 0xfff7_eee0_0000_0000;
        word ^ (word >> 43)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What makes signatures of so many hashes, by parameters that are written `name=value`.
    fn made(hashes: usize, params: &str) -> Result<MinHash> {
        let pairs = params.split_whitespace();
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap());
        let params = pairs.map(|(name, value)| (name.to_string(), value.to_string()));
        let output = Field {
            params: BTreeMap::from([("dim".to_string(), (hashes * HASH_BITS).to_string())]),
            ..Field::named("signature", DataType::BinaryVector)
        };
        let input = Field::named("text", DataType::VarChar);
        MinHash::read(&params.collect(), &input, &output)
    }

    fn signature(hashes: usize, params: &str, text: &str) -> Vec<u32> {
        let bytes = made(hashes, params).unwrap().signature(Some(text));
        let hashes = bytes.as_chunks::<4>().0.iter();
        hashes.map(|hash| u32::from_le_bytes(*hash)).collect()
    }

    #[test]
    fn the_twister_draws_what_the_standard_of_cpp_says() {
        let mut random = Twister::new(5_489);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.draw()).collect();
        assert_eq!(drawn[0], 14_514_284_786_278_117_030);
        assert_eq!(drawn[9_999], 9_981_545_732_273_789_042);
    }

    /// Figures of a reference in Python, over `xxhash` and `hashlib`.
    #[test]
    fn signatures_are_those_that_milvus_makes() {
        const TEXT: &str = "The quick brown fox jumps over the lazy dog";
        let long = "word".repeat(100);
        for (params, text, want) in [
            (
                "token_level=char",
                TEXT,
                vec![118_200_043, 51_853_554, 57_429_707, 21_517_619],
            ),
            (
                "Num_Hashes=4 seed=1234",
                TEXT,
                vec![420_088_687, 1_209_511_279, 1_479_727_809, 298_594_348],
            ),
            (
                "shingle_size=2 seed=42 hash_function=SHA1",
                TEXT,
                vec![169_948_087, 362_472_776, 351_962_290, 159_188_718],
            ),
            ("token_level=char", "ab", vec![3_015_594_694, 2_498_420_164]),
            ("", "Ab!", vec![3_015_594_694, 2_498_420_164]),
            (
                "token_level=character seed=7 shingle_size=300",
                long.as_str(),
                vec![85_812_690, 78_800_285],
            ),
            ("", " ?", vec![u32::MAX; 2]),
            ("token_level=char", "", vec![u32::MAX; 2]),
        ] {
            assert_eq!(signature(want.len(), params, text), want, "{params} {text}");
        }
        let maker = made(1, "").unwrap();
        assert_eq!(maker.signature(None), [0xff; 4]);
        let asked = |bytes: usize| maker.signature_asked(&"a".repeat(bytes));
        assert!(asked(LENGTH_MAX).is_ok() && asked(LENGTH_MAX + 1).is_err());
    }

    #[test]
    fn parameters_that_are_none_are_refused() {
        for (params, said) in [
            ("num_hashes=3", "does not match expected dim 96"),
            ("num_hashes=-1", "param num_hashes:-1 must be positive"),
            ("num_hashes=x", "param num_hashes:x is not a number"),
            ("shingle_size=0", "param shingle_size:0 must be positive"),
            ("shingle_size=1001", "must be at most 1000"),
            ("seed=1.5", "param seed:1.5 is not a number"),
            ("hash_function=md5", "unknown hash function: md5"),
            ("token_level=line", "unknown token_level: line"),
        ] {
            let refused = made(4, params).unwrap_err();
            assert_eq!(refused.code(), 1100, "{params}");
            assert!(refused.to_string().contains(said), "{params}: {refused}");
        }
    }
}

//! The best documents of some frequent words from the words' champions. What a document has at least is the sum over
//! the words that it is a champion of; when as many documents as are wanted have more than any document can have that
//! is no champion of any word, no others are needed, and only those that may still be among the best are looked up in
//! the other lists. The rule is that of Fagin, Lotem and Naor ("Optimal aggregation algorithms for middleware", 2003),
//! with one cut in place of step after step.
//!
//! It costs the same however long the lists are, so it is tried where they are long: of rarer words the lists, pruned
//! by their blocks, are read in less time.

use tantivy::DocId;

use super::bm25::{Weight, rounded};
use super::champions::{MANY_CHAMPIONS_MAX, ManyChampions};
use super::hits::{Admission, Hits};
use super::list::{BLOCK, List};
use super::query::WordIn;

/// Words for which it is tried: of more the champions hardly ever suffice.
const WORDS_MAX: usize = 4;
/// Documents of all words from which on it is tried.
const DOCUMENTS_MIN: u64 = 16_384;
/// Of a word with so many documents all are champions; they are read for each search.
pub(super) const RARE_MAX: u64 = 2 * MANY_CHAMPIONS_MAX as u64;

impl WordIn {
    fn is_rare(&self) -> bool {
        self.found.frequency() <= RARE_MAX
    }
}

/// Which words a document needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Any,
    All,
}

/// Gives the best to `hits` and says `true`; `false` where that is not tried or the champions do not suffice, after
/// telling `hits` what the best exceed, as far as that is known.
pub(super) fn best<'a>(
    words: &'a [WordIn],
    needs: Needs,
    segments: &[Admission<'a>],
    hits: &mut Hits<'a>,
) -> bool {
    let documents: u64 = words.iter().map(|word| word.found.frequency()).sum();
    let wanted = hits.wanted().unwrap_or(0);
    if documents < DOCUMENTS_MIN
        || !(2..=WORDS_MAX).contains(&words.len())
        || !(1..=MANY_CHAMPIONS_MAX / 16).contains(&wanted)
    {
        return false;
    }
    // What has all words is found by the rare one.
    if needs == Needs::All && words.iter().any(WordIn::is_rare) {
        return false;
    }
    let Some(search) = Search::new(words, needs) else {
        return false;
    };
    let floor = search.floor(segments, wanted);
    if let Some(floor) = floor {
        hits.expect(floor);
    }
    let is_enough = match (search.others, floor) {
        (None, _) => true,
        (Some(others), Some(floor)) => rounded(others) < floor,
        (Some(_), None) => false,
    };
    if is_enough {
        search.look_up(segments, hits);
    }
    is_enough
}

/// The champions of all words.
struct Search<'a> {
    words: &'a [WordIn],
    needs: Needs,
    /// Where each segment begins.
    bases: &'a [u32],
    union: Union,
    /// For each set of words what the others can add to a document that is a champion of just these; `None` when it
    /// does not match.
    missing: [Option<f64>; 1 << WORDS_MAX],
    /// The words of which all documents are champions.
    whole: u32,
    /// What a document may have that is no champion; `None` when no such document matches.
    others: Option<f64>,
}

impl<'a> Search<'a> {
    fn new(words: &'a [WordIn], needs: Needs) -> Option<Self> {
        let bases = words.first()?.field.bases()?;
        let (mut union, mut before) = (Union::default(), Union::default());
        let mut rests = [None; WORDS_MAX];
        let mut whole = 0;
        let mut read = ManyChampions::default();
        for (at, word) in words.iter().enumerate() {
            let champions = if word.is_rare() {
                read_all(word, bases, &mut read);
                &read
            } else {
                word.field.many_champions(&word.found)?
            };
            let rest = champions
                .rest
                .map(|rest| f64::from(word.weight.times(rest)));
            rests[at] = rest;
            whole |= u32::from(rest.is_none()) << at;
            std::mem::swap(&mut union, &mut before);
            union.join(&before, champions, (word.weight, 1 << at));
        }
        let rests = &rests[..words.len()];
        let sum_without = |known: usize| {
            let rests = rests
                .iter()
                .enumerate()
                .filter(|(at, _)| known & 1 << at == 0);
            match needs {
                Needs::Any => Some(rests.filter_map(|(_, rest)| *rest).sum::<f64>()),
                Needs::All => rests.map(|(_, rest)| *rest).sum::<Option<f64>>(),
            }
        };
        let mut missing = [None; 1 << WORDS_MAX];
        for (known, sum) in missing.iter_mut().enumerate() {
            *sum = sum_without(known);
        }
        let is_whole = rests.iter().all(Option::is_none);
        Some(Search {
            words,
            needs,
            bases,
            union,
            missing,
            whole,
            others: if is_whole { None } else { missing[0] },
        })
    }

    fn place(&self, doc: u32) -> (usize, DocId) {
        let segment = self.bases.partition_point(|base| *base <= doc) - 1;
        (segment, doc - self.bases[segment])
    }

    /// The score that as many documents have at least as are wanted.
    fn floor(&self, segments: &[Admission<'_>], wanted: usize) -> Option<f32> {
        let every = (1 << self.words.len()) - 1;
        let mut best: Vec<f64> = Vec::with_capacity(wanted + 1);
        let mut least = f64::MIN;
        let Union { docs, sums, known } = &self.union;
        for ((doc, sum), known) in docs.iter().zip(sums).zip(known) {
            if *sum <= least || (self.needs == Needs::All && *known != every) {
                continue;
            }
            let (segment, doc) = self.place(*doc);
            if segments[segment].admits(doc) {
                best.insert(best.partition_point(|other| other >= sum), *sum);
                best.truncate(wanted);
                if best.len() == wanted {
                    least = best[wanted - 1];
                }
            }
        }
        (best.len() == wanted).then(|| rounded(least))
    }

    /// Hands over the champions that are good enough.
    fn look_up(&self, segments: &[Admission<'a>], hits: &mut Hits<'a>) {
        let mut lists: Vec<List<'a>> = Vec::new();
        lists.resize_with(self.words.len(), List::default);
        // Which segment each list was last looked for in, and whether the word is there.
        let mut open = [(usize::MAX, false); WORDS_MAX];
        let mut current = usize::MAX;
        let mut reach = f64::MIN;
        let Union { docs, sums, known } = &self.union;
        for ((doc, sum), known) in docs.iter().zip(sums).zip(known) {
            let Some(more) = self.missing[*known as usize] else {
                continue;
            };
            if *sum + more <= reach {
                continue;
            }
            let (segment, doc) = self.place(*doc);
            if segment != current {
                hits.begin(segment, &segments[segment]);
                current = segment;
            }
            let floor = hits.floor();
            // A sum that is less is no more when it is rounded.
            reach = f64::from(floor);
            if rounded(*sum + more) <= floor || !hits.admits(doc) {
                continue;
            }
            let (mut sum, mut has_all) = (*sum, true);
            for (at, word) in self.words.iter().enumerate() {
                if (known | self.whole) & 1 << at != 0 {
                    continue;
                }
                let list = &mut lists[at];
                if open[at].0 != segment {
                    open[at] = (segment, word.open(list, word.weight, segment));
                }
                if open[at].1 && list.seek(doc) == doc {
                    sum += f64::from(list.score());
                } else {
                    has_all = false;
                }
            }
            let score = rounded(sum);
            if score > floor && (has_all || self.needs == Needs::Any) {
                hits.take(doc, score);
            }
        }
    }
}

/// Reads all documents of a rare word.
fn read_all(word: &WordIn, bases: &[u32], all: &mut ManyChampions) {
    all.docs.clear();
    all.factors.clear();
    let (mut list, mut factors) = (List::default(), [0.0; BLOCK]);
    for (segment, base) in bases.iter().enumerate() {
        if !word.open(&mut list, Weight::ONE, segment) {
            continue;
        }
        while !list.is_over() {
            let end = list.last();
            let docs = list.score_until(tantivy::TERMINATED, &mut factors);
            all.docs.extend(docs.iter().map(|doc| base + doc));
            all.factors.extend_from_slice(&factors[..docs.len()]);
            if end == tantivy::TERMINATED {
                break;
            }
            list.shallow(end + 1);
        }
    }
}

/// Documents that some words have among their champions, ascending.
#[derive(Default)]
struct Union {
    docs: Vec<u32>,
    /// What these words add to their scores.
    sums: Vec<f64>,
    /// Which words these are: the first one is the lowest bit.
    known: Vec<u32>,
}

impl Union {
    /// Becomes the union of another one and a word's champions.
    fn join(&mut self, before: &Union, champions: &ManyChampions, (weight, bit): (Weight, u32)) {
        let scored = |factor: &f32| f64::from(weight.times(*factor));
        self.docs.clear();
        self.sums.clear();
        self.known.clear();
        let (own_count, other_count) = (before.docs.len(), champions.docs.len());
        let most = own_count + other_count;
        let (own_docs, own_sums, own_known) = (
            &before.docs[..own_count],
            &before.sums[..own_count],
            &before.known[..own_count],
        );
        let (docs, factors) = (
            &champions.docs[..other_count],
            &champions.factors[..other_count],
        );
        let (mut own, mut other) = (0, 0);
        if own_count > 0 {
            self.docs.resize(most, 0);
            self.sums.resize(most, 0.0);
            self.known.resize(most, 0);
            let slots = self
                .docs
                .iter_mut()
                .zip(&mut self.sums)
                .zip(&mut self.known);
            let mut count = 0;
            for ((doc, sum), known) in slots {
                if own == own_count || other == other_count {
                    break;
                }
                // Which of the two is next cannot be foreseen, so nothing depends on it but how far both go on.
                let (a, b) = (own_docs[own], docs[other]);
                let (has_own, has_other) = (a <= b, b <= a);
                *doc = a.min(b);
                *sum =
                    only_if(has_own, own_sums[own]) + only_if(has_other, scored(&factors[other]));
                *known = (own_known[own] * u32::from(has_own)) | (bit * u32::from(has_other));
                own += usize::from(has_own);
                other += usize::from(has_other);
                count += 1;
            }
            self.docs.truncate(count);
            self.sums.truncate(count);
            self.known.truncate(count);
        }
        self.docs.extend_from_slice(&own_docs[own..]);
        self.sums.extend_from_slice(&own_sums[own..]);
        self.known.extend_from_slice(&own_known[own..]);
        self.docs.extend_from_slice(&docs[other..]);
        self.sums.extend(factors[other..].iter().map(scored));
        self.known.resize(self.docs.len(), bit);
    }
}

/// The number, or zero, without a branch.
fn only_if(is_wanted: bool, number: f64) -> f64 {
    f64::from_bits(number.to_bits() & 0_u64.wrapping_sub(u64::from(is_wanted)))
}

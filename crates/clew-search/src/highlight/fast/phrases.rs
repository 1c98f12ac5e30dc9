//! The phrases of a query in a text: the longest one that begins at a word wins, and what overlaps one that was found is left off
//! (`FieldPhraseList` of Lucene's `FastVectorHighlighter`).

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use clew_platform::Pace;

use crate::highlight::wanted::{FieldWanted, Wanted, fits};

/// Most words that what stands for many words stands for.
const EXPANSIONS_MAX: usize = 1024;
/// Phrases that are held against each other, whether one goes on as another begins.
const JOINED_MAX: usize = 64;

/// A word of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'t> {
    pub(super) text: &'t str,
    /// In characters of 16 bits of all values.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) position: usize,
}

/// A phrase that was found, or a single word.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phrase {
    /// What is marked; words behind each other together.
    pub(super) spans: Vec<Range<usize>>,
    /// Which part of the query it is.
    pub(super) number: usize,
    pub(super) boost: f32,
}

impl Phrase {
    pub(super) fn start(&self) -> usize {
        self.spans.first().map_or(0, |span| span.start)
    }

    pub(super) fn end(&self) -> usize {
        self.spans.last().map_or(0, |span| span.end)
    }

    fn overlaps(&self, other: &Phrase) -> bool {
        self.start() < other.end() && other.start() < self.end()
    }
}

/// What the query looks for: words, and words behind each other.
pub(super) struct Looked<'t> {
    all: Vec<Sought<'t>>,
    /// Those that begin with a word.
    by_first: HashMap<&'t str, Vec<usize>>,
}

struct Sought<'t> {
    terms: Vec<&'t str>,
    slop: usize,
    boost: f32,
}

/// Words at one position, of which one was chosen.
struct Chosen<'t> {
    words: Vec<Word<'t>>,
    at: usize,
}

impl<'t> Chosen<'t> {
    fn word(&self) -> &Word<'t> {
        &self.words[self.at]
    }
}

impl<'t> Looked<'t> {
    /// What is looked for in these words. What stands for many words stands for those of the text.
    pub(super) fn new(wanted: &'t [FieldWanted], words: &[Word<'t>]) -> Self {
        let mut all: Vec<Sought<'t>> = Vec::new();
        let mut known: HashSet<(Vec<&'t str>, u32)> = HashSet::new();
        let texts: BTreeSet<&'t str> = words.iter().map(|word| word.text).collect();
        let mut pace = Pace::default();
        for one in wanted {
            let boost = one.boost();
            let (phrases, slop) = phrases_of(one.what(), &texts, &mut pace);
            for terms in phrases {
                if known.insert((terms.clone(), boost.to_bits())) {
                    all.push(Sought { terms, slop, boost });
                }
            }
        }
        join(&mut all);
        let mut by_first: HashMap<&'t str, Vec<usize>> = HashMap::new();
        for (number, sought) in all.iter().enumerate() {
            if let Some(&first) = sought.terms.first() {
                by_first.entry(first).or_default().push(number);
            }
        }
        Looked { all, by_first }
    }

    /// The phrases of a text, so many at most, in their order.
    pub(super) fn phrases(&self, words: &[Word<'t>], most: usize) -> Vec<Phrase> {
        let mut found: Vec<Phrase> = Vec::new();
        let mut left = self.stack(words);
        let mut pace = Pace::default();
        while found.len() < most
            && !pace.is_over()
            && let Some(group) = left.pop()
        {
            let mut candidate = Vec::new();
            if self.goes_on(&mut candidate, group).is_err() {
                // It stands only within phrases.
                continue;
            }
            while let Some(group) = left.pop() {
                if let Err(group) = self.goes_on(&mut candidate, group) {
                    left.push(group);
                    break;
                }
            }
            loop {
                if let Some(phrase) = self.whole(&candidate) {
                    // Those that were found lie in the order of the text.
                    let late = found.iter().rev();
                    let mut late = late.take_while(|known| known.end() > phrase.start());
                    if !late.any(|known| known.overlaps(&phrase)) {
                        found.push(phrase);
                    }
                    break;
                }
                match candidate.pop() {
                    Some(last) if !candidate.is_empty() => left.push(last.words),
                    _ => break,
                }
            }
        }
        found
    }

    /// The words that are looked for, by their positions, the first one last.
    fn stack(&self, words: &[Word<'t>]) -> Vec<Vec<Word<'t>>> {
        let terms: HashSet<&str> = self
            .all
            .iter()
            .flat_map(|one| one.terms.iter().copied())
            .collect();
        let mut groups: Vec<Vec<Word<'t>>> = Vec::new();
        for word in words.iter().filter(|word| terms.contains(word.text)) {
            match groups.last_mut() {
                Some(group) if group[0].position == word.position => group.push(*word),
                _ => groups.push(vec![*word]),
            }
        }
        groups.reverse();
        groups
    }

    /// Adds the word of a group with which something that is looked for goes on as the candidate has begun; the group itself
    /// where there is none.
    fn goes_on(
        &self,
        candidate: &mut Vec<Chosen<'t>>,
        group: Vec<Word<'t>>,
    ) -> Result<(), Vec<Word<'t>>> {
        let mut begun: Vec<&str> = candidate.iter().map(|chosen| chosen.word().text).collect();
        let at = group.iter().position(|word| {
            begun.push(word.text);
            let goes_on = self.beginning(&begun).next().is_some();
            begun.pop();
            goes_on
        });
        match at {
            Some(at) => {
                candidate.push(Chosen { words: group, at });
                Ok(())
            }
            None => Err(group),
        }
    }

    /// What begins with these words.
    fn beginning<'a>(&'a self, words: &'a [&str]) -> impl Iterator<Item = (usize, &'a Sought<'t>)> {
        let first = words.first().and_then(|first| self.by_first.get(*first));
        let numbers = first.into_iter().flatten();
        let all = numbers.map(move |number| (*number, &self.all[*number]));
        all.filter(move |(_, sought)| sought.terms.get(..words.len()) == Some(words))
    }

    /// The phrase that these words are.
    fn whole(&self, candidate: &[Chosen<'t>]) -> Option<Phrase> {
        let words: Vec<&str> = candidate.iter().map(|chosen| chosen.word().text).collect();
        let whole = self
            .beginning(&words)
            .filter(|(_, sought)| sought.terms.len() == words.len());
        let (number, sought) = whole.last()?;
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut before: Option<usize> = None;
        for word in candidate.iter().map(Chosen::word) {
            let is_next = before.is_some_and(|before| word.position == before + 1);
            let gap = before.map_or(0, |before| word.position.abs_diff(before + 1));
            if gap > sought.slop {
                return None;
            }
            match spans.last_mut().filter(|_| is_next) {
                Some(last) => last.end = word.end,
                None => spans.push(word.start..word.end),
            }
            before = Some(word.position);
        }
        Some(Phrase {
            spans,
            number,
            boost: sought.boost,
        })
    }
}

/// The phrases that something stands for among these words, and how far their words may lie apart.
fn phrases_of<'t>(
    what: &'t Wanted,
    texts: &BTreeSet<&'t str>,
    pace: &mut Pace,
) -> (Vec<Vec<&'t str>>, usize) {
    let (terms, slop, is_open): (Vec<&'t str>, usize, bool) = match what {
        Wanted::Term(term) => (vec![term.as_str()], 0, false),
        Wanted::Phrase { terms, slop, open } => {
            let terms = terms.iter().map(String::as_str);
            (terms.collect(), *slop, *open)
        }
        _ => (Vec::new(), 0, true),
    };
    if !is_open {
        return (vec![terms], slop);
    }
    let (before, last) = match terms.split_last() {
        Some((last, before)) => (before, Some(*last)),
        None => (&[][..], None),
    };
    let mut phrases = Vec::new();
    for text in texts {
        if pace.is_over() || phrases.len() == EXPANSIONS_MAX {
            break;
        }
        let is_meant = match last {
            Some(last) => text.starts_with(last),
            None => fits(what, text),
        };
        if is_meant {
            phrases.push([before, &[*text][..]].concat());
        }
    }
    (phrases, slop)
}

/// Adds what phrases are together where one goes on as another begins: both are marked as one.
fn join(all: &mut Vec<Sought<'_>>) {
    let phrases: Vec<usize> = (0..all.len())
        .filter(|at| all[*at].terms.len() > 1)
        .collect();
    let phrases = &phrases[..phrases.len().min(JOINED_MAX)];
    for (behind, &a) in phrases.iter().enumerate() {
        for &b in &phrases[behind + 1..] {
            if all[a].slop != all[b].slop {
                continue;
            }
            for (one, other) in [(a, b), (b, a)] {
                let joined = joined(&all[one].terms, &all[other].terms);
                let (slop, boost) = (all[one].slop, all[one].boost);
                for terms in joined {
                    if all.iter().all(|known| known.terms != terms) {
                        all.push(Sought { terms, slop, boost });
                    }
                }
            }
        }
    }
}

/// The first words with those of the others that go on behind them, in each way.
fn joined<'t>(first: &[&'t str], other: &[&'t str]) -> Vec<Vec<&'t str>> {
    let ways = 1..first.len();
    let goes_on = ways.filter(|at| {
        let shared = &first[*at..];
        other.len() > shared.len() && other.starts_with(shared)
    });
    goes_on
        .map(|at| [first, &other[first.len() - at..]].concat())
        .collect()
}

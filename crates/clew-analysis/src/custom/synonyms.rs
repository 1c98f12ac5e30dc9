//! Words that stand for each other.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::part::Part;
use super::{Chain, Term};

/// Rules of one filter.
const RULES_MAX: usize = 100_000;

/// Words that stand for others, of all rules of one filter: a line of so many words that stand for each other has the square
/// of their number.
const PAIRS_MAX: usize = 4_000_000;

/// How synonyms lie beside the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Word by word beside the text's, over those that follow where they are more.
    Flat,
    /// As ways of their own through a graph, however many words they have.
    Graph,
}

/// Words that follow each other.
type Words = Arc<Vec<String>>;

/// What stands for a sequence of words.
#[derive(Clone, Debug, Default)]
struct Rule {
    /// Whether the words stay too.
    keeps: bool,
    others: Vec<Words>,
}

/// What sequences of words are replaced by, or what is added to them.
#[derive(Clone, Debug)]
pub(super) struct Synonyms {
    /// Beginnings of sequences; the first one is that of nothing.
    begun: Vec<Begun>,
    layout: Layout,
}

/// The beginning of a sequence.
#[derive(Clone, Debug, Default)]
struct Begun {
    /// Longer by one word.
    next: HashMap<String, usize>,
    /// Where it is a whole one.
    rule: Option<Rule>,
}

/// WordNet's lines, `s(100000001,1,'word',v,1,0).`, as rules: words of one number are synonyms.
fn of_wordnet(lines: &[String]) -> Result<Vec<String>, String> {
    let mut sets: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in lines.iter().map(|line| line.trim()) {
        if line.is_empty() {
            continue;
        }
        let read = line.strip_prefix("s(").and_then(|rest| {
            let (set, rest) = rest.split_once(',')?;
            let (_, word) = rest.split_once('\'')?;
            let (word, _) = word.rsplit_once('\'')?;
            Some((set, word.replace("''", "'").replace(',', " ")))
        });
        let (set, word) = read.ok_or_else(|| FAILED.to_string())?;
        sets.entry(set).or_default().push(word);
    }
    Ok(sets.into_values().map(|words| words.join(",")).collect())
}

impl Synonyms {
    /// Reads rules, whose words are analyzed as those of texts are by then.
    pub(super) fn compile(part: &Part<'_>, before: &Chain) -> Result<Self, String> {
        if part.text("synonyms_path").is_some() {
            return Err("[synonyms_path] is not supported, use [synonyms]".to_string());
        }
        let lines = part.lines("synonyms").unwrap_or_default();
        if lines.len() > RULES_MAX {
            return Err(format!("at most {RULES_MAX} synonyms are allowed"));
        }
        let lines = match part.text("format").as_deref() {
            Some("wordnet") => of_wordnet(&lines)?,
            _ => lines,
        };
        let expand = part.flag("expand", true)?;
        let reader = Reader {
            before,
            is_lenient: part.flag("lenient", false)?,
        };
        let layout = match part.type_name() {
            "synonym_graph" => Layout::Graph,
            _ => Layout::Flat,
        };
        let mut rules = Rules::default();
        for line in lines.iter().map(|line| line.trim()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once("=>") {
                Some((_, to)) if to.contains("=>") => return Err(FAILED.to_string()),
                Some((from, to)) => {
                    let to = reader.read(to)?;
                    let from = match from.trim() {
                        "" => Vec::new(),
                        from => reader.read(from)?,
                    };
                    let (from, to) = (rules.numbers(from), rules.numbers(to));
                    for from in from {
                        rules.add(from, to.iter().copied(), false)?;
                    }
                }
                None => {
                    let all = reader.read(line)?;
                    let all = rules.numbers(all);
                    for (at, from) in all.iter().enumerate() {
                        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
                        match expand {
                            true => rules.add(*from, others.map(|(_, to)| *to), true)?,
                            false => rules.add(*from, all.iter().copied().take(1), false)?,
                        }
                    }
                }
            }
        }
        Ok(Synonyms {
            begun: rules.begun(),
            layout,
        })
    }

    /// The rule for the longest sequence at the beginning of some terms, and how long it is. Costs the words of the
    /// longest beginning that is there.
    fn find(&self, terms: &[Term]) -> Option<(usize, &Rule)> {
        let mut at = self.begun.first()?;
        let mut found = None;
        for (length, term) in (1..).zip(terms) {
            let Some(next) = at.next.get(&term.token.text) else {
                break;
            };
            at = self.begun.get(*next)?;
            found = at.rule.as_ref().map(|rule| (length, rule)).or(found);
        }
        found
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut out = Laid::default();
        // Where the next term would stand in the text, and where it is put.
        let (mut expected, mut next) = (0, 0);
        let mut at = 0;
        while at < terms.len() {
            let skipped = terms[at].token.position.saturating_sub(expected);
            let Some((length, rule)) = self.find(&terms[at..]) else {
                let mut term = terms[at].clone();
                next += skipped;
                expected = term.token.position + 1;
                term.token.position = next;
                // Terms at one place stay at one.
                let is_last = terms
                    .get(at + 1)
                    .is_none_or(|after| after.token.position > terms[at].token.position);
                if is_last {
                    next += 1;
                } else {
                    expected -= 1;
                }
                out.originals(&[term]);
                at += 1;
                continue;
            };
            let matched = &terms[at..at + length];
            next = match self.layout {
                Layout::Graph => out.graph(matched, rule, next),
                // A place that is left out before it stays so if the words themselves stay.
                Layout::Flat if rule.keeps => {
                    out.flat((&terms[at..], length), rule, next + skipped)
                }
                Layout::Flat => out.flat((&terms[at..], length), rule, next),
            };
            expected = matched[length - 1].token.position + 1;
            at += length;
        }
        match self.layout {
            Layout::Flat => out.own_first(),
            Layout::Graph => out.sorted(),
        }
    }
}

/// Rules while they are read. Sequences have numbers, so that each is kept once, and each pair is looked for once.
#[derive(Default)]
struct Rules {
    numbers: HashMap<Words, usize>,
    /// By number.
    sequences: Vec<Words>,
    /// What stands for a sequence, and whether the words stay too; in the order of the rules.
    rules: BTreeMap<usize, (bool, Vec<usize>)>,
    pairs: HashSet<(usize, usize)>,
    /// Pairs that were added, those that were there already among them.
    added: usize,
}

impl Rules {
    fn numbers(&mut self, sequences: Vec<Vec<String>>) -> Vec<usize> {
        let number = |words: Vec<String>| {
            let words = Arc::new(words);
            *self.numbers.entry(words.clone()).or_insert_with(|| {
                self.sequences.push(words);
                self.sequences.len() - 1
            })
        };
        sequences.into_iter().map(number).collect()
    }

    /// Adds what stands for a sequence.
    fn add(
        &mut self,
        from: usize,
        others: impl Iterator<Item = usize>,
        keeps: bool,
    ) -> Result<(), String> {
        let (kept, all) = self.rules.entry(from).or_default();
        *kept |= keeps;
        for other in others {
            self.added += 1;
            if self.added > PAIRS_MAX {
                return Err(format!(
                    "at most {PAIRS_MAX} pairs of words and synonyms are allowed"
                ));
            }
            if self.pairs.insert((from, other)) {
                all.push(other);
            }
        }
        Ok(())
    }

    /// The rules by the beginnings of their sequences.
    fn begun(&self) -> Vec<Begun> {
        let mut begun = vec![Begun::default()];
        for (from, (keeps, others)) in &self.rules {
            let mut at = 0;
            for word in self.sequences[*from].iter() {
                let new = begun.len();
                at = *begun[at].next.entry(word.clone()).or_insert(new);
                if at == new {
                    begun.push(Begun::default());
                }
            }
            begun[at].rule = Some(Rule {
                keeps: *keeps,
                others: others
                    .iter()
                    .map(|to| self.sequences[*to].clone())
                    .collect(),
            });
        }
        begun
    }
}

/// Why rules are refused, in OpenSearch's words.
const FAILED: &str = "Failed to build synonyms";

/// Reads the words of rules.
struct Reader<'c> {
    before: &'c Chain,
    /// Whether words that analysis leaves nothing of are passed over.
    is_lenient: bool,
}

impl Reader<'_> {
    fn read(&self, side: &str) -> Result<Vec<Vec<String>>, String> {
        let mut all = Vec::new();
        for one in side.split(',') {
            let terms = self.before.run(one.trim());
            let words: Vec<String> = terms.into_iter().map(|term| term.token.text).collect();
            if !words.is_empty() {
                all.push(words);
            } else if !self.is_lenient {
                return Err(FAILED.to_string());
            }
        }
        Ok(all)
    }
}

/// Terms that are put in their places.
#[derive(Default)]
struct Laid {
    /// With each, whether it is one of the text's own.
    terms: Vec<(Term, bool)>,
}

impl Laid {
    fn originals(&mut self, terms: &[Term]) {
        self.terms
            .extend(terms.iter().map(|term| (term.clone(), true)));
    }

    fn synonym(&mut self, word: &str, like: &Term, (position, length): (usize, usize)) {
        let mut term = like.clone();
        term.kind = "SYNONYM";
        term.token.text = word.to_string();
        term.token.position = position;
        term.token.position_length = length;
        self.terms.push((term, false));
    }

    /// Puts each synonym beside the matched words, the first of the terms, word by word, and over those
    /// that follow; where the next term goes.
    fn flat(&mut self, (terms, length): (&[Term], usize), rule: &Rule, start: usize) -> usize {
        let matched = &terms[..length];
        if rule.keeps {
            for (step, term) in matched.iter().enumerate() {
                let mut term = term.clone();
                term.token.position = start + step;
                self.originals(&[term]);
            }
        }
        for words in &rule.others {
            if let [word] = &words[..] {
                let mut like = matched[0].clone();
                like.token.offset_to = matched[matched.len() - 1].token.offset_to;
                let length = if rule.keeps { matched.len() } else { 1 };
                self.synonym(word, &like, (start, length));
                continue;
            }
            for (step, word) in words.iter().enumerate() {
                let like = &terms[step.min(terms.len() - 1)];
                self.synonym(word, like, (start + step, 1));
            }
        }
        let longest = rule
            .others
            .iter()
            .map(|words| words.len())
            .max()
            .unwrap_or(0);
        let places = if rule.keeps { matched.len() } else { longest };
        start + places.min(matched.len())
    }

    /// Gives each synonym, and last the matched words, places of their own; where the next term goes.
    fn graph(&mut self, matched: &[Term], rule: &Rule, start: usize) -> usize {
        let own = if rule.keeps { matched.len() - 1 } else { 0 };
        let inner: usize = rule.others.iter().map(|words| words.len() - 1).sum();
        let end = start + inner + own + 1;
        let mut like = matched[0].clone();
        like.token.offset_to = matched[matched.len() - 1].token.offset_to;
        // The places between the ends belong to one way after the other.
        let mut free = start + 1;
        for words in &rule.others {
            for (word, (from, to)) in words.iter().zip(way(words.len(), start, free, end)) {
                self.synonym(word, &like, (from, to - from));
            }
            free += words.len() - 1;
        }
        if rule.keeps {
            for (term, (from, to)) in matched.iter().zip(way(matched.len(), start, free, end)) {
                let mut term = term.clone();
                term.token.position = from;
                term.token.position_length = to - from;
                self.originals(&[term]);
            }
        }
        end
    }

    fn sorted(mut self) -> Vec<Term> {
        self.terms.sort_by_key(|(term, _)| term.token.position);
        self.terms.into_iter().map(|(term, _)| term).collect()
    }

    /// The same, with the text's own terms first at each place.
    fn own_first(mut self) -> Vec<Term> {
        self.terms
            .sort_by_key(|(term, is_own)| (term.token.position, !is_own));
        self.terms.into_iter().map(|(term, _)| term).collect()
    }
}

/// The places of the words of a way from a start to an end over free places.
fn way(
    words: usize,
    start: usize,
    free: usize,
    end: usize,
) -> impl Iterator<Item = (usize, usize)> {
    (0..words).map(move |word| {
        let from = if word == 0 { start } else { free + word - 1 };
        let to = if word + 1 == words { end } else { free + word };
        (from, to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> Vec<Vec<String>> {
        (0..count).map(|n| vec![format!("w{n}")]).collect()
    }

    #[test]
    fn words_are_kept_once_however_often_they_stand_for_others() {
        let mut rules = Rules::default();
        let all = rules.numbers(words(300));
        for from in &all {
            let others = all.iter().filter(|to| *to != from).copied();
            rules.add(*from, others, true).unwrap();
        }
        assert_eq!(rules.sequences.len(), 300);
        assert_eq!(rules.added, 300 * 299);
        let begun = rules.begun();
        assert_eq!(begun.len(), 301);
        let rule = begun[begun[0].next["w7"]].rule.as_ref().unwrap();
        assert_eq!(rule.others.len(), 299);
        assert_eq!(Arc::strong_count(&rule.others[0]), 2 + 299);
    }

    #[test]
    fn more_pairs_than_are_allowed_are_refused_before_they_are_made() {
        let mut rules = Rules::default();
        let all = rules.numbers(words(10));
        let many = (0..).map(|n| all[n % 10]);
        let error = rules.add(all[0], many, true).unwrap_err();
        assert_eq!(
            error,
            "at most 4000000 pairs of words and synonyms are allowed"
        );
        assert_eq!(rules.pairs.len(), 10);
    }
}

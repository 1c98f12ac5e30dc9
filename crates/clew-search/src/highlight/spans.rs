//! Where the spans of a rule are in a text, and which of its words stand in them: these are marked, as in Lucene.

use clew_analysis::Token;
use clew_platform::Pace;

use super::wanted::{Wanted, fits};

/// Spans of one part of a rule that are looked at in a text.
const SPANS_MAX: usize = 10_000;

/// What makes spans.
#[derive(Clone, Debug)]
pub(super) enum Spans {
    /// Words by themselves.
    Words(Box<Wanted>),
    /// Those of any part.
    Any(Vec<Spans>),
    /// Those from the first to the last of parts that stand near each other.
    Near {
        parts: Vec<Spans>,
        in_order: bool,
        slop: usize,
    },
    /// Those of a part that end before a position.
    First(Box<Spans>, usize),
    /// Those of a part, longer by so many positions before and behind.
    Longer(Box<Spans>, usize, usize),
    /// Those of the first part that lie apart from all of the second.
    Apart(Box<Spans>, Box<Spans>),
    /// Those of the first part that contain one of the second.
    Containing(Box<Spans>, Box<Spans>),
    /// Those of the first part that one of the second contains.
    Within(Box<Spans>, Box<Spans>),
}

/// From one position to before another one. They are ordered by where they begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn length(self) -> usize {
        self.end.saturating_sub(self.start)
    }
}

impl Spans {
    /// The numbers of the words that stand in a span, of those that the rule is about.
    pub(super) fn marked(&self, words: &[Token], pace: &mut Pace) -> Vec<usize> {
        let spans = self.find(words, pace);
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        let mut spans = spans.into_iter().peekable();
        let (mut reach, mut marked) = (0, Vec::new());
        for (number, word) in words.iter().enumerate() {
            while let Some(span) = spans.next_if(|span| span.start <= word.position) {
                reach = reach.max(span.end);
            }
            if word.position < reach && leaves.iter().any(|leaf| is_one(leaf, &word.text)) {
                marked.push(number);
            }
            if pace.is_over() {
                break;
            }
        }
        marked
    }

    /// What words are looked for; those that must not stand near are none of them.
    fn leaves<'s>(&'s self, found: &mut Vec<&'s Wanted>) {
        match self {
            Spans::Words(words) => found.push(words),
            Spans::Any(parts) | Spans::Near { parts, .. } => {
                parts.iter().for_each(|part| part.leaves(found));
            }
            Spans::First(part, _) | Spans::Longer(part, ..) | Spans::Apart(part, _) => {
                part.leaves(found);
            }
            Spans::Containing(one, other) | Spans::Within(one, other) => {
                one.leaves(found);
                other.leaves(found);
            }
        }
    }

    /// All spans in their order.
    fn find(&self, words: &[Token], pace: &mut Pace) -> Vec<Span> {
        let mut found: Vec<Span> = match self {
            Spans::Words(wanted) => {
                let words = words.iter().filter(|word| is_one(wanted, &word.text));
                let words = words.take_while(|_| !pace.is_over());
                let one = |word: &Token| Span {
                    start: word.position,
                    end: word.position + 1,
                };
                words.map(one).take(SPANS_MAX).collect()
            }
            Spans::Any(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(part.find(words, pace));
                }
                all
            }
            Spans::Near {
                parts,
                in_order,
                slop,
            } => {
                let lists: Vec<Vec<Span>> =
                    parts.iter().map(|part| part.find(words, pace)).collect();
                match in_order {
                    true => in_a_row(&lists, *slop, pace),
                    false => in_any_order(&lists, *slop, pace),
                }
            }
            Spans::First(part, end) => {
                let mut found = part.find(words, pace);
                found.retain(|span| span.end <= *end);
                found
            }
            Spans::Longer(part, before, after) => {
                let mut found = part.find(words, pace);
                for span in &mut found {
                    span.start = span.start.saturating_sub(*before);
                    span.end = span.end.saturating_add(*after);
                }
                found
            }
            Spans::Apart(part, from) => {
                let others = Ends::of(from.find(words, pace));
                let mut found = part.find(words, pace);
                found.retain(|span| others.last_end_before(span.end) <= span.start);
                found
            }
            Spans::Containing(part, inner) => {
                let others = Ends::of(inner.find(words, pace));
                let mut found = part.find(words, pace);
                found.retain(|span| others.first_end_from(span.start) <= span.end);
                found
            }
            Spans::Within(part, outer) => {
                let others = Ends::of(outer.find(words, pace));
                let mut found = part.find(words, pace);
                found.retain(|span| others.last_end_before(span.start + 1) >= span.end);
                found
            }
        };
        found.sort_unstable();
        found.dedup();
        found.truncate(SPANS_MAX);
        found
    }
}

/// Where spans end that begin before a position, or from it on.
struct Ends {
    starts: Vec<usize>,
    /// The last end of these and those before them.
    last: Vec<usize>,
    /// The first end of these and those behind them.
    first: Vec<usize>,
}

impl Ends {
    fn of(spans: Vec<Span>) -> Self {
        let mut reach = 0;
        let last = spans.iter().map(|span| {
            reach = reach.max(span.end);
            reach
        });
        let last: Vec<usize> = last.collect();
        let mut least = usize::MAX;
        let first = spans.iter().rev().map(|span| {
            least = least.min(span.end);
            least
        });
        let mut first: Vec<usize> = first.collect();
        first.reverse();
        Ends {
            starts: spans.iter().map(|span| span.start).collect(),
            last,
            first,
        }
    }

    /// The last end of those that begin before a position; 0 where there are none.
    fn last_end_before(&self, position: usize) -> usize {
        let count = self.starts.partition_point(|start| *start < position);
        let last = count.checked_sub(1).and_then(|at| self.last.get(at));
        last.copied().unwrap_or(0)
    }

    /// The first end of those that begin at a position or behind it; no position at all where there are none.
    fn first_end_from(&self, position: usize) -> usize {
        let before = self.starts.partition_point(|start| *start < position);
        self.first.get(before).copied().unwrap_or(usize::MAX)
    }
}

/// From each span of the first list on, the next one of each other list.
fn in_a_row(lists: &[Vec<Span>], slop: usize, pace: &mut Pace) -> Vec<Span> {
    let Some((first, rest)) = lists.split_first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for start in first {
        if pace.is_over() || found.len() == SPANS_MAX {
            break;
        }
        let (mut end, mut length) = (start.end, start.length());
        let all_follow = rest.iter().all(|list| {
            let next = list.partition_point(|span| span.start < end);
            let Some(next) = list.get(next) else {
                return false;
            };
            end = next.end;
            length += next.length();
            true
        });
        let whole = Span {
            start: start.start,
            end,
        };
        if all_follow && whole.length().saturating_sub(length) <= slop {
            found.push(whole);
        }
    }
    found
}

/// Spans of all lists near each other: from the first of each on, the one that begins first always moves on.
fn in_any_order(lists: &[Vec<Span>], slop: usize, pace: &mut Pace) -> Vec<Span> {
    let mut at = vec![0; lists.len()];
    let mut found = Vec::new();
    while !pace.is_over() && found.len() < SPANS_MAX {
        let now = lists.iter().zip(&at).map(|(list, at)| list.get(*at));
        let Some(now) = now
            .map(Option::<&Span>::copied)
            .collect::<Option<Vec<Span>>>()
        else {
            break;
        };
        let (Some(first), Some(end)) = (
            now.iter().min().copied(),
            now.iter().map(|span| span.end).max(),
        ) else {
            break;
        };
        let length: usize = now.iter().map(|span| span.length()).sum();
        let whole = Span {
            start: first.start,
            end,
        };
        if whole.length().saturating_sub(length) <= slop {
            found.push(whole);
        }
        let Some(moves) = now.iter().position(|span| *span == first) else {
            break;
        };
        if let Some(at) = at.get_mut(moves) {
            *at += 1;
        }
    }
    found
}

/// Whether a word is one that is looked for.
fn is_one(wanted: &Wanted, word: &str) -> bool {
    match wanted {
        Wanted::Term(term) => term == word,
        pattern => fits(pattern, word),
    }
}

#[cfg(test)]
mod tests {
    use clew_analysis::tokens;

    use super::*;

    fn word(text: &str) -> Box<Spans> {
        Box::new(Spans::Words(Box::new(Wanted::Term(text.to_string()))))
    }

    fn near(one: &str, other: &str, in_order: bool, slop: usize) -> Box<Spans> {
        Box::new(Spans::Near {
            parts: vec![*word(one), *word(other)],
            in_order,
            slop,
        })
    }

    #[test]
    fn words_are_marked_where_they_stand_in_spans() {
        let text = "quick brown quick fox jumps over the quick dog";
        for (spans, want) in [
            (Spans::First(word("quick"), 1), vec![0]),
            (*near("quick", "fox", true, 0), vec![2, 3]),
            (*near("quick", "fox", true, 2), vec![0, 2, 3]),
            (*near("fox", "quick", false, 0), vec![2, 3]),
            (
                Spans::Apart(word("quick"), Box::new(Spans::Longer(word("brown"), 1, 0))),
                vec![2, 7],
            ),
            (
                Spans::Containing(near("quick", "dog", true, 9), word("fox")),
                vec![0, 2, 3, 7, 8],
            ),
            (
                Spans::Within(word("fox"), near("brown", "over", true, 9)),
                vec![3],
            ),
            (
                Spans::Within(word("dog"), near("brown", "over", true, 9)),
                vec![],
            ),
            (
                Spans::Any(vec![*word("dog"), Spans::First(word("quick"), 1)]),
                vec![0, 8],
            ),
        ] {
            let words = tokens("standard", text);
            let marked = spans.marked(&words, &mut Pace::default());
            assert_eq!(marked, want, "{spans:?}");
        }
    }
}

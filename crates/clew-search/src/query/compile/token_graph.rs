//! What the words of an analyzed text stand for: places in a row, each with one word, with several
//! that stand for each other, or with several ways through words in a row.

use std::collections::BTreeMap;

use clew_analysis::Token;

/// Ways through one place of a text.
const WAYS_MAX: usize = 1024;

/// One place of a text, or the places that a synonym of several words takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenPlace {
    /// Words that stand for each other; usually one.
    Words(Vec<String>),
    /// Words in a row that stand for each other.
    Ways(Vec<Vec<String>>),
}

/// The places of a text; `None` when there are more ways through one than a query may have clauses.
pub(crate) fn places(tokens: &[Token]) -> Option<Vec<TokenPlace>> {
    let mut by_start: BTreeMap<usize, Vec<&Token>> = BTreeMap::new();
    for token in tokens {
        by_start.entry(token.position).or_default().push(token);
    }
    let is_graph = is_graph(tokens);
    let mut places = Vec::new();
    let mut at = 0;
    while let Some((start, here)) = by_start.range(at..).next() {
        let start = *start;
        let end = if is_graph {
            meeting(&by_start, start)
        } else {
            start + 1
        };
        let is_plain = !is_graph
            || here
                .iter()
                .all(|token| token.position + token.length == end);
        places.push(if is_plain {
            // The same word twice counts twice.
            TokenPlace::Words(here.iter().map(|token| token.text.clone()).collect())
        } else {
            let mut ways = Vec::new();
            walk(&by_start, (start, end), &mut Vec::new(), &mut ways)?;
            TokenPlace::Ways(ways)
        });
        at = end;
    }
    Some(places)
}

/// Whether some word takes several places.
pub(crate) fn is_graph(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.length > 1)
}

/// All ways through a whole text, each word with its place; `None` when there are too many.
pub(crate) fn ways(tokens: &[Token]) -> Option<Vec<Vec<String>>> {
    let mut ways: Vec<Vec<String>> = vec![Vec::new()];
    for place in places(tokens)? {
        let next: Vec<Vec<String>> = match place {
            TokenPlace::Words(words) => words.into_iter().map(|word| vec![word]).collect(),
            TokenPlace::Ways(inner) => inner,
        };
        if ways.len().saturating_mul(next.len()) > WAYS_MAX {
            return None;
        }
        let each = ways.iter().flat_map(|way| {
            next.iter().map(move |more| {
                let mut way = way.clone();
                way.extend(more.iter().cloned());
                way
            })
        });
        ways = each.collect();
    }
    Some(ways)
}

/// The first place behind a start where all ways meet again.
fn meeting(by_start: &BTreeMap<usize, Vec<&Token>>, start: usize) -> usize {
    let mut end = start + 1;
    for (from, here) in by_start.range(start..) {
        if *from >= end {
            break;
        }
        let reach = here.iter().map(|token| token.position + token.length).max();
        end = end.max(reach.unwrap_or(end));
    }
    end
}

fn walk(
    by_start: &BTreeMap<usize, Vec<&Token>>,
    (at, end): (usize, usize),
    way: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> Option<()> {
    // Places may be left out, as those of stop words are.
    let next = by_start.range(at..end).next();
    let Some((_, here)) = next.filter(|_| at < end) else {
        if found.len() >= WAYS_MAX {
            return None;
        }
        found.push(way.clone());
        return Some(());
    };
    for token in here {
        way.push(token.text.clone());
        let to = token.position + token.length.max(1);
        walk(by_start, (to, end), way, found)?;
        way.pop();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str, position: usize, length: usize) -> Token {
        Token {
            text: text.to_string(),
            position,
            length,
            start: 0,
            end: 0,
            kind: "word",
            keyword: None,
        }
    }

    #[test]
    fn ways_of_several_words_stand_beside_each_other() {
        let tokens = [
            token("the", 0, 1),
            token("new", 1, 1),
            token("ny", 1, 2),
            token("york", 2, 1),
            token("metro", 3, 1),
            token("subway", 3, 1),
        ];
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect();
        assert_eq!(
            places(&tokens).unwrap(),
            [
                TokenPlace::Words(words(&["the"])),
                TokenPlace::Ways(vec![words(&["new", "york"]), words(&["ny"])]),
                TokenPlace::Words(words(&["metro", "subway"])),
            ]
        );
        assert_eq!(ways(&tokens).unwrap().len(), 4);
    }

    #[test]
    fn too_many_ways_are_too_many() {
        let mut tokens = Vec::new();
        for at in 0..12 {
            tokens.push(token("a", at * 2, 2));
            tokens.push(token("b", at * 2, 1));
            tokens.push(token("c", at * 2 + 1, 1));
        }
        assert!(places(&tokens).is_some_and(|places| places.len() == 12));
        assert!(ways(&tokens).is_none());
    }
}

//! `flatten_graph`: ways through a text that lie side by side, as `synonym_graph` makes them, are put into one row of
//! places, as an index can keep them. Each end of a way lies as far as its longest way from the first place, and terms lie
//! where their places do, as Lucene's `FlattenGraphFilter` has it. Costs a look at each term, sorted by their places.

use std::collections::BTreeMap;

use super::Term;

/// The same terms in one row of places. Places without terms stay where nothing lies side by side.
pub(super) fn flattened(mut terms: Vec<Term>) -> Vec<Term> {
    if terms.iter().all(|term| term.token.position_length <= 1) {
        return terms;
    }
    terms.sort_by_key(|term| term.token.position);
    // Where each end of a way comes to lie.
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    let mut begins = Vec::with_capacity(terms.len());
    for term in &terms {
        let from = term.token.position;
        // Behind places without terms it is as far from the last end as it was.
        let before = ends.range(..=from).next_back();
        let begin = before.map_or(from, |(end, place)| place + (from - end));
        begins.push(begin);
        let end = ends.entry(end_of(term)).or_insert(begin + 1);
        *end = (*end).max(begin + 1);
    }
    // Of terms that begin together the shortest says where in the text, and likewise of those that end together.
    let (mut starts, mut stops) = (BTreeMap::new(), BTreeMap::new());
    for (term, begin) in terms.iter().zip(&begins) {
        let start = starts.entry(*begin).or_insert(term.token.offset_from);
        *start = term.token.offset_from.max(*start);
        let stop = stops
            .entry(ends[&end_of(term)])
            .or_insert(term.token.offset_to);
        *stop = term.token.offset_to.min(*stop);
    }
    for (term, begin) in terms.iter_mut().zip(begins) {
        let end = ends[&end_of(term)];
        let start = starts[&begin];
        term.token.position = begin;
        term.token.position_length = end.saturating_sub(begin).max(1);
        term.token.offset_from = start;
        term.token.offset_to = stops[&end].max(start);
    }
    terms.sort_by_key(|term| term.token.position);
    terms
}

/// The place at which a term ends.
fn end_of(term: &Term) -> usize {
    term.token.position + term.token.position_length.max(1)
}

#[cfg(test)]
mod tests {
    use tantivy::tokenizer::Token;

    use super::*;

    fn term(
        (text, position, position_length, from, to): (&str, usize, usize, usize, usize),
    ) -> Term {
        Term {
            token: Token {
                text: text.to_string(),
                offset_from: from,
                offset_to: to,
                position,
                position_length,
            },
            is_keyword: false,
            kind: "word",
        }
    }

    #[test]
    fn ways_side_by_side_become_one_row() {
        for (graph, row) in [
            (
                vec![
                    ("this", 0, 1, 0, 4),
                    ("atm", 1, 4, 5, 29),
                    ("cash", 1, 1, 5, 29),
                    ("automatic", 1, 2, 5, 14),
                    ("point", 2, 3, 5, 29),
                    ("teller", 3, 1, 15, 21),
                    ("machine", 4, 1, 22, 29),
                    ("is", 5, 1, 30, 32),
                ],
                vec![
                    ("this", 0, 1, 0, 4),
                    ("atm", 1, 3, 5, 29),
                    ("cash", 1, 1, 5, 14),
                    ("automatic", 1, 1, 5, 14),
                    ("point", 2, 2, 15, 29),
                    ("teller", 2, 1, 15, 21),
                    ("machine", 3, 1, 22, 29),
                    ("is", 4, 1, 30, 32),
                ],
            ),
            // Places without terms stay.
            (
                vec![
                    ("wifi", 1, 2, 2, 7),
                    ("wi", 1, 1, 2, 4),
                    ("fi", 2, 1, 5, 7),
                    ("on", 5, 1, 9, 11),
                ],
                vec![
                    ("wifi", 1, 2, 2, 7),
                    ("wi", 1, 1, 2, 4),
                    ("fi", 2, 1, 5, 7),
                    ("on", 5, 1, 9, 11),
                ],
            ),
        ] {
            let graph = graph.into_iter().map(term).collect();
            let row: Vec<Term> = row.into_iter().map(term).collect();
            assert_eq!(flattened(graph), row);
        }
        assert_eq!(flattened(Vec::new()), Vec::new());
    }
}

//! Russian.

use super::Word;

const CASES: [&[&str]; 3] = [
    &["иями", "оями"],
    &[
        "иям", "иях", "оях", "ями", "оям", "оьв", "ами", "его", "ему", "ери", "ими", "ого", "ому",
        "ыми", "оев",
    ],
    &[
        "ая", "яя", "ях", "юю", "ах", "ею", "их", "ия", "ию", "ьв", "ою", "ую", "ям", "ых", "ея",
        "ам", "ем", "ей", "ём", "ев", "ий", "им", "ое", "ой", "ом", "ов", "ые", "ый", "ым", "ми",
    ],
];

pub(super) fn russian(word: &mut Word) {
    let mut longer_than = 6;
    let found = CASES.iter().any(|endings| {
        let found = endings
            .iter()
            .any(|ending| word.change((longer_than, ending, "")));
        longer_than -= 1;
        found
    });
    if !found && word.len() > 3 {
        word.cut_last(&['а', 'е', 'и', 'о', 'у', 'й', 'ы', 'я', 'ь']);
    }
    if word.len() > 3 && !word.cut_last(&['ь', 'и']) && word.ends("нн") {
        word.cut(1);
    }
}

//! Bulgarian, by Nakov's light stemmer ("BulStem: design and evaluation of inflectional stemmer for Bulgarian", 2003).

use super::{Ending, Word};

const ARTICLES: [Ending; 7] = [
    (6, "ият", ""),
    (5, "ът", ""),
    (5, "то", ""),
    (5, "те", ""),
    (5, "та", ""),
    (5, "ия", ""),
    (4, "ят", ""),
];

pub(super) fn stem(word: &mut Word) {
    if word.len() < 4 || word.change((5, "ища", "")) {
        return;
    }
    word.change_first(&ARTICLES);
    plural(word);
    if word.len() > 3 {
        word.cut_last(&['я']);
        word.cut_last(&['а', 'о', 'е']);
    }
    word.change((4, "ен", "н"));
    if word.len() > 5
        && word.last(1) == Some('ъ')
        && let Some(last) = word.last(0)
    {
        word.cut(2);
        word.0.push(last);
    }
}

fn plural(word: &mut Word) {
    if word.change_first(&[
        (6, "овци", "о"),
        (6, "ове", ""),
        (6, "еве", "й"),
        (5, "ища", ""),
        (5, "та", ""),
        (5, "ци", "к"),
        (5, "зи", "г"),
    ]) {
        return;
    }
    if word.len() > 5 && word.last(2) == Some('е') && word.last(0) == Some('и') {
        word.put_last(2, 'я');
        word.cut(1);
        return;
    }
    word.change_first(&[(4, "си", "х"), (4, "и", "")]);
}

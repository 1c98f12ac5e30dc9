//! Czech, by Dolamic and Savoy ("Indexing and stemming approaches for the Czech language", 2009).

use super::Word;

/// Endings of cases, by the letters that a word must have more than.
const CASES: [(usize, &[&str]); 4] = [
    (7, &["atech"]),
    (6, &["ětem", "etem", "atům"]),
    (
        5,
        &[
            "ech", "ich", "ích", "ého", "ěmi", "emi", "ému", "ete", "ěte", "ěti", "eti", "ího",
            "iho", "ími", "ímu", "imu", "ách", "ata", "aty", "ých", "ama", "ami", "ové", "ovi",
            "ými",
        ],
    ),
    (
        4,
        &[
            "em", "es", "ém", "ím", "ům", "at", "ám", "os", "us", "ým", "mi", "ou",
        ],
    ),
];

pub(super) fn stem(word: &mut Word) {
    let found = CASES.iter().any(|(longer_than, endings)| {
        let mut endings = endings.iter();
        endings.any(|ending| word.change((*longer_than, ending, "")))
    });
    if !found && word.len() > 3 {
        word.cut_last(&['a', 'e', 'i', 'o', 'u', 'ů', 'y', 'á', 'é', 'í', 'ý', 'ě']);
    }
    // What is somebody's.
    word.change_first(&[(5, "ov", ""), (5, "in", ""), (5, "ův", "")]);
    soften(word);
}

/// Takes back what an ending did to the consonant before it.
fn soften(word: &mut Word) {
    if word.change_first(&[(1, "čt", "ck"), (1, "št", "sk")]) {
        return;
    }
    match word.last(0) {
        Some('c' | 'č') => word.put_last(0, 'k'),
        Some('z' | 'ž') => word.put_last(0, 'h'),
        Some(last) if word.last(1) == Some('e') => {
            word.cut(2);
            word.0.push(last);
        }
        Some(_) if word.len() > 2 && word.last(1) == Some('ů') => word.put_last(1, 'o'),
        _ => {}
    }
}

//! Bengali letters that sound alike as one of them, by UzZaman and Khan ("A double metaphone encoding for Bangla and its
//! application in spelling checker", 2005).

/// What joins two consonants.
const JOINER: char = '\u{9cd}';

pub(super) fn normalized(word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    let mut done: Vec<char> = Vec::with_capacity(letters.len());
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let rest = letters.get(at + 1..).unwrap_or_default();
        at += 1;
        match letter {
            'ক' if rest.starts_with(&[JOINER, '\u{9bf}']) => {
                // Behind another letter the first sound is heard too.
                if !done.is_empty() {
                    done.push('ক');
                }
                done.push('খ');
                at += 2;
            }
            'য' if done.last() == Some(&JOINER) => at += joined_y(&mut done, rest),
            'ব' if done.last() == Some(&JOINER) => joined_b(&mut done),
            'ঃ' => done.extend(breath(&done, rest)),
            other => done.extend(alike(*other)),
        }
    }
    done.into_iter().collect()
}

/// A `y` that is joined to a consonant: a vowel behind the first letter, else silent. How many letters it takes along.
fn joined_y(done: &mut Vec<char>, rest: &[char]) -> usize {
    let is_second = done.len() == 2;
    done.pop();
    if !is_second {
        return 0;
    }
    done.push('ে');
    usize::from(rest.first() == Some(&'া'))
}

/// A `b` that is joined to a consonant: silent behind the first letter and behind two that are joined, else it doubles
/// the letter.
fn joined_b(done: &mut Vec<char>) {
    match done.len() {
        1 => done.push('ব'),
        2 => {
            done.pop();
        }
        length => {
            let doubled = done.get(length - 2).copied();
            done.pop();
            if length < 5 || done.get(length - 3) != Some(&JOINER) {
                done.extend(doubled);
            }
        }
    }
}

/// The breath that doubles the next letter; at the end of a short word it is heard.
fn breath(done: &[char], rest: &[char]) -> Option<char> {
    match rest.first() {
        Some(next) => Some(*next),
        None if done.len() < 3 => Some('হ'),
        None => None,
    }
}

fn alike(letter: char) -> Option<char> {
    Some(match letter {
        '\u{981}' => return None,
        '\u{9c0}' => '\u{9bf}',
        '\u{9c2}' => '\u{9c1}',
        'ঙ' => '\u{982}',
        'শ' | 'ষ' => 'স',
        'ণ' => 'ন',
        '\u{9dc}' | '\u{9dd}' => 'র',
        'ৎ' => 'ত',
        other => other,
    })
}

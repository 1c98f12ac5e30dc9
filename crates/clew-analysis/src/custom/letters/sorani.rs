//! Sorani's letters as Kurdish keyboards write them, where those of Arabic and Persian stand in their place, and
//! without what only steers the writing.

/// What keeps two letters from being joined.
const NON_JOINER: char = '\u{200c}';

pub(super) fn normalized(word: &str) -> String {
    let mut done: Vec<char> = Vec::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_last = letters.peek().is_none();
        let found = match letter {
            'ي' | 'ى' => 'ی',
            'ك' => 'ک',
            // An h that is not joined to the next letter is the vowel.
            NON_JOINER => {
                if let Some(before) = done.last_mut().filter(|before| **before == 'ه') {
                    *before = 'ە';
                }
                continue;
            }
            'ه' if is_last => 'ە',
            'ة' => 'ە',
            'ھ' => 'ه',
            'ر' if done.is_empty() => 'ڕ',
            'ڒ' => 'ڕ',
            '\u{640}' | '\u{64b}'..='\u{652}' => continue,
            unseen if is_format(unseen) => continue,
            other => other,
        };
        done.push(found);
    }
    done.into_iter().collect()
}

/// Whether a character is of Unicode's class of those that only steer how others are shown.
fn is_format(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}'
            | '\u{2066}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

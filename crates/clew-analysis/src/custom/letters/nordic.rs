//! Danish, Norwegian and Swedish: one letter for what each of them writes in its own way.

/// Every spelling of å, æ and ø as the Danish letter.
pub(super) fn one_way(word: &str) -> String {
    replaced(word, |first, second| match (first, second) {
        ('a', 'a' | 'o') => Some('å'),
        ('a', 'e') => Some('æ'),
        ('o', 'e' | 'o') => Some('ø'),
        _ => None,
    })
    .chars()
    .map(|letter| match letter {
        'ä' => 'æ',
        'Ä' => 'Æ',
        'ö' => 'ø',
        'Ö' => 'Ø',
        other => other,
    })
    .collect()
}

/// The same letters as `a` and `o`.
pub(super) fn folded(word: &str) -> String {
    let single: String = replaced(word, |first, second| match (first, second) {
        ('a', 'a' | 'e' | 'o') | ('o', 'e' | 'o') => Some(first),
        _ => None,
    });
    let plain = single.chars().map(|letter| match letter {
        'å' | 'ä' | 'æ' => 'a',
        'Å' | 'Ä' | 'Æ' => 'A',
        'ö' | 'ø' => 'o',
        'Ö' | 'Ø' => 'O',
        other => other,
    });
    plain.collect()
}

/// A word whose pairs of letters became one, which has the first one's case.
fn replaced(word: &str, one: impl Fn(char, char) -> Option<char>) -> String {
    let mut letters = word.chars().peekable();
    let mut out = String::with_capacity(word.len());
    while let Some(letter) = letters.next() {
        let next = letters.peek().map(char::to_ascii_lowercase);
        let found = next.and_then(|next| one(letter.to_ascii_lowercase(), next));
        if found.is_some() {
            letters.next();
        }
        match found {
            Some(found) if letter.is_ascii_uppercase() => out.extend(found.to_uppercase()),
            Some(found) => out.push(found),
            None => out.push(letter),
        }
    }
    out
}

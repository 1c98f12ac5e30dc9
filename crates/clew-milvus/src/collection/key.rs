//! Keys of rows, and the ids of the documents that they are. They are the same but for texts without a letter: a key may be empty, an
//! id may not.

/// What an id has more than a key that is empty, or that could be taken for what stands for such a one.
const STAND_IN: char = '\0';

fn stands_in(text: &str) -> bool {
    text.chars().all(|c| c == STAND_IN)
}

/// The id of the document of the row with a key.
pub(crate) fn id_of(mut key: String) -> String {
    if stands_in(&key) {
        key.push(STAND_IN);
    }
    key
}

/// The key of the row that is the document with an id.
pub(crate) fn key_of(id: &str) -> &str {
    match id.strip_suffix(STAND_IN) {
        Some(key) if stands_in(key) => key,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_ids_of_their_own() {
        for (key, id) in [
            ("", "\0"),
            ("\0", "\0\0"),
            ("a", "a"),
            ("a\0", "a\0"),
            ("\0a", "\0a"),
            ("7", "7"),
        ] {
            assert_eq!(id_of(key.to_string()), id);
            assert_eq!(key_of(id), key);
        }
    }
}

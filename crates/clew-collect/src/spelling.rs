//! What was meant where a name is none.

/// The nearest of the names that are known; an empty one where none is.
pub(crate) fn nearest<'n>(names: &[&'n str], name: &str) -> &'n str {
    let distance = |known: &&&str| strsim::damerau_levenshtein(known, name);
    names.iter().min_by_key(distance).copied().unwrap_or("")
}

/// The one of some names that is another one but for a letter.
pub(crate) fn nearly<'n>(names: &[&'n str], name: &str) -> Option<&'n str> {
    let is_near = |known: &&&str| strsim::damerau_levenshtein(known, name) == 1;
    names.iter().find(is_near).copied()
}

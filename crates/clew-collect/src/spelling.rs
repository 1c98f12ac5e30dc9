//! What was meant where a name is none.

/// The nearest of the names that are known, of which those come first that only have more or fewer letters at their end; an empty one
/// where none is.
pub(crate) fn nearest<'n>(names: &[&'n str], name: &str) -> &'n str {
    let distance = |known: &&&str| {
        let is_cut = known.starts_with(name) || name.starts_with(**known);
        (!is_cut, strsim::damerau_levenshtein(known, name))
    };
    names.iter().min_by_key(distance).copied().unwrap_or("")
}

/// The one of some names that is another one but for a letter.
pub(crate) fn nearly<'n>(names: &[&'n str], name: &str) -> Option<&'n str> {
    let is_near = |known: &&&str| strsim::damerau_levenshtein(known, name) == 1;
    names.iter().find(is_near).copied()
}

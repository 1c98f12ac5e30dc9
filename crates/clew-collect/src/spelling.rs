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

/// What is said behind a name that is none: the nearest one where it is near, or else all that there are.
pub(crate) fn instead(names: &[&str], name: &str) -> String {
    let nearest = nearest(names, name);
    let is_cut = !nearest.is_empty() && (nearest.starts_with(name) || name.starts_with(nearest));
    let letters = nearest.chars().count().max(name.chars().count());
    if is_cut || strsim::damerau_levenshtein(nearest, name) * 2 <= letters {
        return format!(", did you mean [{nearest}]?");
    }
    let mut names = names.to_vec();
    names.sort_unstable();
    format!("; there are {}", names.join(", "))
}

/// The one of some names that is another one but for a letter.
pub(crate) fn nearly<'n>(names: &[&'n str], name: &str) -> Option<&'n str> {
    let is_near = |known: &&&str| strsim::damerau_levenshtein(known, name) == 1;
    names.iter().find(is_near).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_to_no_name_is_told_all_of_them() {
        let names = ["paths", "exclude", "type"];
        for (name, expected) in [
            ("pahts", ", did you mean [paths]?"),
            ("path", ", did you mean [paths]?"),
            ("exlude", ", did you mean [exclude]?"),
            ("when", "; there are exclude, paths, type"),
        ] {
            assert_eq!(instead(&names, name), expected, "{name}");
        }
    }
}

//! Names close to one that is not known, for the words ` did you mean [x]?` behind an error.

/// Names at this similarity or above are worth proposing.
const CLOSE: f32 = 0.5;

/// The proposal to add to an error's reason; empty when no name is close.
pub(crate) fn did_you_mean(unknown: &str, known: &[&str]) -> String {
    close_names(unknown, known, CLOSE)
}

/// The same of names that are more alike than a number between 0 and 1 says.
pub(crate) fn close_names(unknown: &str, known: &[&str], least: f32) -> String {
    let mut close: Vec<(usize, &str)> = known
        .iter()
        .filter(|name| similarity(unknown, name) > least)
        .map(|name| (distance(unknown, name), *name))
        .collect();
    close.sort_unstable();
    match close.as_slice() {
        [] => String::new(),
        [(_, only)] => format!(" did you mean [{only}]?"),
        many => {
            let names: Vec<&str> = many.iter().map(|(_, name)| *name).collect();
            format!(" did you mean any of [{}]?", names.join(", "))
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "names are short")]
fn similarity(a: &str, b: &str) -> f32 {
    let longest = a.chars().count().max(b.chars().count()).max(1);
    1.0 - distance(a, b) as f32 / longest as f32
}

/// How many single characters must be changed, added or taken away.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_proposed() {
        let known = ["doc", "upsert", "script"];
        assert_eq!(did_you_mean("dac", &known), " did you mean [doc]?");
        assert_eq!(did_you_mean("scripts", &known), " did you mean [script]?");
        assert_eq!(did_you_mean("zzzzz", &known), "");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}

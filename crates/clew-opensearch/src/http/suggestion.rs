//! Names close to one that is not known, for the words ` did you mean [x]?` behind an error.

/// Names at this similarity or above are worth proposing.
const CLOSE: f32 = 0.5;

/// The proposal to add to an error's reason; empty when no name is close.
pub(crate) fn did_you_mean(unknown: &str, known: &[&str]) -> String {
    close_names(unknown, known, CLOSE)
}

/// The same of names that are more alike than a number between 0 and 1 says.
pub(crate) fn close_names(unknown: &str, known: &[&str], least: f32) -> String {
    let length = unknown.chars().count();
    let compared = known.iter().filter_map(|name| {
        let own = name.chars().count();
        let longest = length.max(own).max(1);
        // What differs in its length alone too much is not compared: it may be as long as a request.
        let could_be_close = likeness(length.abs_diff(own), longest) > least;
        let edits = could_be_close.then(|| strsim::levenshtein(unknown, name))?;
        (likeness(edits, longest) > least).then_some((edits, *name))
    });
    let mut close: Vec<(usize, &str)> = compared.collect();
    close.sort_unstable();
    close.dedup();
    match close.as_slice() {
        [] => String::new(),
        [(_, only)] => format!(" did you mean [{only}]?"),
        many => {
            let names: Vec<&str> = many.iter().map(|(_, name)| *name).collect();
            format!(" did you mean any of [{}]?", names.join(", "))
        }
    }
}

/// How alike two names are, from 0 to 1, by how many characters must be changed, added or taken away.
#[allow(
    clippy::cast_precision_loss,
    reason = "where it matters names are short"
)]
fn likeness(edits: usize, longest: usize) -> f32 {
    1.0 - edits as f32 / longest as f32
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
        assert_eq!(did_you_mean("", &known), "");
        let twice = ["doc", "doc", "dock"];
        let both = " did you mean any of [doc, dock]?";
        assert_eq!(did_you_mean("dok", &twice), both);
    }

    #[test]
    fn names_as_long_as_requests_are_compared_with_none() {
        let known = vec!["number_of_replicas"; 10_000];
        assert_eq!(did_you_mean(&"n".repeat(1 << 20), &known), "");
    }
}

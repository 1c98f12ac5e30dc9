//! Regular expressions as Java reads them, where ours would read them otherwise: the classes of words, digits and
//! spaces mean those of ASCII.

use regex::Regex;

const WORD: &str = "0-9A-Za-z_";
const DIGIT: &str = "0-9";
const SPACE: &str = r" \t\n\x0B\x0C\r";

/// The expression that Java would read.
///
/// # Errors
/// When it is none, or one that looks around or back, which ours cannot.
pub fn java_pattern(written: &str) -> Result<Regex, regex::Error> {
    let mut ours = String::with_capacity(written.len());
    let mut letters = written.chars();
    let mut in_class: usize = 0;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('w') => ours.push_str(&format!("[{WORD}]")),
                Some('W') => ours.push_str(&format!("[^{WORD}]")),
                Some('d') => ours.push_str(&format!("[{DIGIT}]")),
                Some('D') => ours.push_str(&format!("[^{DIGIT}]")),
                Some('s') => ours.push_str(&format!("[{SPACE}]")),
                Some('S') => ours.push_str(&format!("[^{SPACE}]")),
                Some('b') if in_class == 0 => ours.push_str(r"(?-u:\b)"),
                other => {
                    ours.push('\\');
                    ours.extend(other);
                }
            },
            other => {
                match other {
                    '[' => in_class += 1,
                    ']' => in_class = in_class.saturating_sub(1),
                    _ => {}
                }
                ours.push(other);
            }
        }
    }
    Regex::new(&ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_those_of_ascii() {
        for (written, expected) in [
            (r"\w", "...é-..ï.. é ."),
            (r"[\w-]+", ".é.ï. é ."),
            (r"[^\w ]", "caf..na.ve . x"),
            (r"\W+", "caf.na.ve.x"),
            (r"\bv", "café-naï.e é x"),
            (r"\s", "café-naïve.é.x"),
            (r"é|\\", "caf.-naïve . x"),
        ] {
            let pattern = java_pattern(written).unwrap();
            assert_eq!(
                pattern.replace_all("café-naïve é x", "."),
                expected,
                "{written}"
            );
        }
        assert!(java_pattern("[").is_err());
    }
}

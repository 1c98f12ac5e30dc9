//! Patterns from one run to the next: of each the line that it began with, which its id and its place among the others come
//! from, and the text that it has become.

use serde::{Deserialize, Serialize};

use super::{Pattern, Patterns, id, word_hash};

/// A pattern as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPattern {
    /// Its first line, masked.
    pub first: String,
    /// What it is now, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Patterns {
    /// All of them, in the order in which they were found.
    pub(crate) fn kept(&self) -> Vec<KeptPattern> {
        let kept = |pattern: &Pattern| KeptPattern {
            first: pattern.first.to_string(),
            text: (*pattern.first != pattern.text).then(|| pattern.text.clone()),
        };
        self.patterns.iter().map(kept).collect()
    }

    /// Puts patterns back of an earlier run, before any line has come. Those that are none, or for which there is no room, are
    /// left out.
    pub(crate) fn restore(&mut self, kept: Vec<KeptPattern>) {
        for KeptPattern { first, text } in kept {
            let text = text.unwrap_or_else(|| first.clone());
            self.set_line(&first);
            let is_alike = text.split(' ').count() == self.words.len();
            let leaf = self.leaf();
            if !is_alike || self.patterns.len() >= self.options.patterns_max {
                continue;
            }
            let number = self.patterns.len();
            let words = text.split(' ').map(word_hash);
            self.leaves.entry(leaf).or_default().add(number, words);
            self.patterns.push(Pattern {
                id: id(&first),
                first: first.into(),
                text,
            });
        }
    }

    /// Takes a line that was masked and cut before.
    fn set_line(&mut self, line: &str) {
        self.line.clear();
        self.line.push_str(line);
        self.ends.clear();
        let blanks = line.match_indices(' ').map(|(at, _)| at);
        self.ends.extend(blanks.chain([line.len()]));
        self.hash_words();
    }
}

#[cfg(test)]
mod tests {
    use super::super::PatternOptions;
    use super::*;

    fn patterns(patterns_max: usize) -> Patterns {
        Patterns::new(PatternOptions {
            similarity: 0.7,
            first_words: 1,
            patterns_max,
        })
    }

    #[test]
    fn what_was_found_before_is_not_new_and_has_the_same_id() {
        let lines = [
            "user alice logged in from 10.0.0.7",
            "user bob logged in from 10.0.0.8",
            "disk /dev/sda1 is nearly full",
            "3 files were removed by root today",
            "4 files were removed by alice today",
        ];
        let mut before = patterns(100);
        let mut expected = Vec::new();
        for line in lines {
            let placed = before.place(line);
            expected.push(placed.id);
        }
        let kept = before.kept();
        assert_eq!(kept.len(), before.len());
        let written = serde_json::to_string(&kept).unwrap();
        let mut after = patterns(100);
        after.restore(serde_json::from_str(&written).unwrap());
        assert_eq!(after.kept(), kept);
        for (line, expected) in lines.into_iter().zip(expected) {
            let placed = after.place(line);
            assert_eq!((placed.id, placed.is_new), (expected, false), "{line}");
        }
        assert!(after.place("something that was never seen").is_new);
        // With these, the texts go on changing as they would have.
        assert_eq!(
            before.place("user carol logged in from 10.0.0.9").text,
            after.place("user carol logged in from 10.0.0.9").text
        );
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let kept = |first: &str, text: Option<&str>| KeptPattern {
            first: first.to_owned(),
            text: text.map(str::to_owned),
        };
        let mut patterns = patterns(2);
        patterns.restore(vec![
            kept("a b c", Some("a <*>")),
            kept("a b c", Some("a <*> c")),
            kept("d e f", None),
            kept("g h i", None),
        ]);
        let texts: Vec<String> = patterns.kept().into_iter().map(|kept| kept.first).collect();
        assert_eq!(texts, ["a b c", "d e f"]);
        assert_eq!(patterns.place("a x c").text, "a <*> c");
    }
}

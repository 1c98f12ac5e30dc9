//! How a leaf scores that stands for many words of a dictionary.

use serde::{Deserialize, Serialize};

/// How the words score that a pattern, or a word with mistakes, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Rewrite {
    /// As the kind of query does: those of patterns all the same, those that are like a word as one would that is as
    /// frequent as the most frequent of them, the less the less they are like it.
    #[default]
    Usual,
    /// All documents the same.
    Constant,
    /// Each word by itself; their scores are added.
    Scored,
    /// Each of so many words by itself.
    Top(usize),
    /// Each of so many words by its factor alone.
    TopFactors(usize),
    /// So many words as one that is as frequent as the most frequent of them.
    TopBlended(usize),
}

impl Rewrite {
    /// From OpenSearch's name; `None` where there is no such name.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "scoring_boolean" {
            return Some(Rewrite::Scored);
        }
        if name.starts_with("constant_score") {
            return Some(Rewrite::Constant);
        }
        let digits = name.trim_start_matches(|letter: char| !letter.is_ascii_digit());
        let kind = name.strip_suffix(digits)?;
        let count = digits.parse().ok()?;
        Some(match kind {
            "top_terms_" => Rewrite::Top(count),
            "top_terms_boost_" => Rewrite::TopFactors(count),
            "top_terms_blended_freqs_" => Rewrite::TopBlended(count),
            _ => return None,
        })
    }

    /// Whether words score that all score the same where nothing is said.
    pub fn scores_words(self) -> bool {
        !matches!(self, Rewrite::Usual | Rewrite::Constant)
    }

    /// At most so many words are taken, if it says.
    pub fn words_max(self) -> Option<usize> {
        match self {
            Rewrite::Usual | Rewrite::Constant | Rewrite::Scored => None,
            Rewrite::Top(words) | Rewrite::TopFactors(words) | Rewrite::TopBlended(words) => {
                Some(words)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_as_a_whole() {
        for (name, rewrite) in [
            ("constant_score", Some(Rewrite::Constant)),
            ("constant_score_boolean", Some(Rewrite::Constant)),
            ("scoring_boolean", Some(Rewrite::Scored)),
            ("top_terms_10", Some(Rewrite::Top(10))),
            ("top_terms_boost_3", Some(Rewrite::TopFactors(3))),
            ("top_terms_blended_freqs_2", Some(Rewrite::TopBlended(2))),
            ("top_terms_", None),
            ("top_terms_x", None),
            ("top_terms_1x", None),
            ("top_terms_99999999999999999999", None),
            ("scoring", None),
            ("", None),
        ] {
            assert_eq!(Rewrite::parse(name), rewrite, "{name}");
        }
    }
}

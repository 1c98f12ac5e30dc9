//! Words of Chinese by jieba's dictionary, the likeliest way through it, and by letters where it knows none.
//!
//! Refuses words of one's own beside that dictionary: each such analyzer would hold a copy of it, tens of megabytes.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use jieba_rs::{Jieba, TokenizeMode};

use super::part::Part;

/// Stands for jieba's own dictionary among words.
const USUAL: &str = "_default_";
/// Most words of a dictionary that an analyzer brings along.
const WORDS_MAX: usize = 100_000;

/// How texts are cut.
#[derive(Clone, Debug)]
pub(super) struct JiebaWords {
    /// Absent: jieba's own, which is read when it is first asked for.
    dictionary: Option<Arc<Jieba>>,
    /// Whether words within longer words are found, too.
    finds_parts: bool,
    /// Whether what is in no dictionary is put together by likelihood.
    guesses: bool,
}

impl JiebaWords {
    /// Reads the parameters `dict`, `mode` and `hmm`.
    ///
    /// # Errors
    /// A reason, when one of them is out of bounds.
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let words = part.list("dict").unwrap_or_else(|| vec![USUAL.to_string()]);
        let (usual, own): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word == USUAL);
        let dictionary = match (usual.as_slice(), own.as_slice()) {
            ([_], []) => None,
            ([], own) if own.len() <= WORDS_MAX => {
                let mut dictionary = Jieba::empty();
                for word in own {
                    dictionary.add_word(word, None, None);
                }
                Some(Arc::new(dictionary))
            }
            ([], own) => {
                return Err(format!(
                    "[dict] of [jieba] must have at most {WORDS_MAX} words, got [{}]",
                    own.len()
                ));
            }
            _ => return Err(format!("[dict] of [jieba] must be [{USUAL}] or words")),
        };
        let finds_parts = match part.text("mode").as_deref() {
            None | Some("search") => true,
            Some("exact") => false,
            Some(_) => return Err("[mode] of [jieba] must be [exact] or [search]".to_string()),
        };
        Ok(JiebaWords {
            dictionary,
            finds_parts,
            guesses: part.flag("hmm", true)?,
        })
    }

    /// The words of a text, in the order of their places; signs and blanks are words, too.
    pub(super) fn cut(&self, text: &str) -> Vec<Range<usize>> {
        static OWN: LazyLock<Jieba> = LazyLock::new(Jieba::new);
        let mode = match self.finds_parts {
            true => TokenizeMode::Search,
            false => TokenizeMode::Default,
        };
        let dictionary = self
            .dictionary
            .as_deref()
            .unwrap_or_else(|| LazyLock::force(&OWN));
        let found = dictionary.tokenize(text, mode, self.guesses).into_iter();
        found.map(|word| word.byte_start..word.byte_end).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn words(params: &Value, text: &str) -> Vec<String> {
        let cutter = JiebaWords::compile(&Part::new(params)).unwrap();
        let found = cutter.cut(text).into_iter();
        found.map(|word| text[word].to_string()).collect()
    }

    #[test]
    fn words_are_those_of_the_dictionary() {
        let text = "我来到北京清华大学";
        let whole = ["我", "来到", "北京", "清华大学"];
        assert_eq!(words(&json!({"mode": "exact"}), text), whole);
        let parts = words(&json!({}), text);
        for word in whole.iter().chain(&["清华", "大学"]) {
            assert!(parts.iter().any(|part| part == word), "{word} in {parts:?}");
        }
        let own = json!({"dict": ["北京清", "大学"], "mode": "exact", "hmm": false});
        assert!(words(&own, text).contains(&"北京清".to_string()));
    }

    #[test]
    fn what_it_cannot_be_is_refused() {
        for wrong in [
            json!({"mode": "loud"}),
            json!({"hmm": "perhaps"}),
            json!({"dict": ["_default_", "北京清"]}),
            json!({"dict": ["_default_", "_default_"]}),
        ] {
            assert!(JiebaWords::compile(&Part::new(&wrong)).is_err(), "{wrong}");
        }
    }
}

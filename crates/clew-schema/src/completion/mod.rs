//! Texts to be proposed while somebody types: `completion` fields.
//!
//! Every input of a document is one term that begins with the input as its analyzer sees it and then
//! says all that the suggester needs: weight, the input as it was written, and its contexts. So the
//! inputs that begin with something lie side by side in the dictionary.

mod contexts;
mod entry;

use clew_analysis::tokens;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use contexts::{CompletionContext, ContextKind, ContextWish};
pub use entry::CompletionEntry;
pub(crate) use entry::terms;

/// Characters of an input that are kept unless the mapping says otherwise.
const LENGTH_DEFAULT: usize = 50;
/// What stands between the parts of a term; inputs cannot hold it.
pub const ENTRY_SEPARATOR: char = '\u{1f}';

/// What a mapping says of a completion field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionMapping {
    /// The analyzer of inputs and of what is typed.
    pub analyzer: String,
    /// Whether spaces count.
    pub keep_separators: bool,
    /// Longer inputs are cut.
    pub length_max: usize,
    /// What inputs can be told apart by.
    pub contexts: Vec<CompletionContext>,
}

impl CompletionMapping {
    /// Reads the parameters of a field.
    ///
    /// # Errors
    /// Says what is wrong, in words.
    pub(crate) fn read(parameters: &Map<String, Value>) -> Result<Self, String> {
        let length = parameters.get("max_input_length").and_then(Value::as_u64);
        let separators = parameters.get("preserve_separators");
        Ok(CompletionMapping {
            analyzer: match parameters.get("analyzer").and_then(Value::as_str) {
                Some(name) if clew_analysis::is_analyzer(name) => name.to_string(),
                Some(name) => {
                    return Err(format!(
                        "analyzer [{name}] has not been configured in mappings"
                    ));
                }
                None => "simple".to_string(),
            },
            keep_separators: separators != Some(&Value::Bool(false)),
            length_max: length
                .and_then(|length| usize::try_from(length).ok())
                .filter(|length| *length > 0)
                .unwrap_or(LENGTH_DEFAULT),
            contexts: contexts::read(parameters.get("contexts"))?,
        })
    }

    /// A text as terms begin with it.
    pub fn normal(&self, text: &str) -> String {
        let words: Vec<String> = tokens(&self.analyzer, text)
            .into_iter()
            .map(|token| token.text)
            .collect();
        words.join(if self.keep_separators { " " } else { "" })
    }
}

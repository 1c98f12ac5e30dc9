//! Texts to be proposed while somebody types: `completion` fields.
//!
//! Every input of a document is one term that begins with the input as its analyzer sees it and then
//! says all that the suggester needs: weight, the input as it was written, and its contexts. So the
//! inputs that begin with something lie side by side in the dictionary.

mod contexts;
mod entry;

use clew_analysis::tokens;
use serde::{Deserialize, Serialize};

pub use contexts::{CompletionContext, ContextKind, ContextWish, WantedContext};
pub use entry::CompletionEntry;
pub(crate) use entry::terms;

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
    /// A text as terms begin with it.
    pub fn normal(&self, text: &str) -> String {
        let words: Vec<String> = tokens(&self.analyzer, text)
            .into_iter()
            .map(|token| token.text)
            .collect();
        words.join(if self.keep_separators { " " } else { "" })
    }
}

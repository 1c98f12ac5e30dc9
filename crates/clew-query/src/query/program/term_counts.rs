//! How often words are there, which scripts that make scores ask for.

use super::value::ScriptValue;
use crate::error::ScriptError;

/// What a script wants to know of the words of its shard. Both names may be ones that it worked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermCount<'t> {
    /// How often a word is in the document's field.
    InDocument {
        /// The path of the field.
        field: &'t str,
        /// The word, as it stands in the index.
        term: &'t str,
    },
    /// How often it is in the field of all documents of the shard together.
    InShard {
        /// The path of the field.
        field: &'t str,
        /// The word, as it stands in the index.
        term: &'t str,
    },
    /// How many words the field has in all documents of the shard together.
    OfField {
        /// The path of the field.
        field: &'t str,
    },
}

/// The functions, with how many arguments they take.
const FUNCTIONS: &[(&str, usize)] = &[
    ("termFreq", 2),
    ("totalTermFreq", 2),
    ("sumTotalTermFreq", 1),
];

/// Whether this is one of them.
pub(super) fn is_function(name: &str, arguments: usize) -> bool {
    FUNCTIONS.contains(&(name, arguments))
}

/// What a call asks for, if it is of one of them.
///
/// # Errors
/// When a name is no text.
pub(super) fn of_call<'t>(
    name: &str,
    arguments: &'t [ScriptValue<'_>],
) -> Result<Option<TermCount<'t>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("termFreq", [field, term]) => TermCount::InDocument {
            field: field.want_text()?,
            term: term.want_text()?,
        },
        ("totalTermFreq", [field, term]) => TermCount::InShard {
            field: field.want_text()?,
            term: term.want_text()?,
        },
        ("sumTotalTermFreq", [field]) => TermCount::OfField {
            field: field.want_text()?,
        },
        _ => return Ok(None),
    }))
}

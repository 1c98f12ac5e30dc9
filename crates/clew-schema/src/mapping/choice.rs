//! Texts of one field that go through several analyzers: another field of the document says which.
//!
//! The words of all of them are of one field, so that they are counted and weighed together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Which analyzer the texts of a document go through, by what the document says in another field. Where that has no value, or one
/// of which nothing is said, they go through the text field's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalyzerChoice {
    /// The path of the keyword that chooses, in the same document; of several values the first counts.
    pub by: String,
    /// Names of analyzers, by its values.
    pub analyzers: BTreeMap<String, String>,
}

impl AnalyzerChoice {
    /// The same with other names of analyzers.
    ///
    /// # Errors
    /// The first that `named` has.
    pub(super) fn renamed<E>(self, named: impl Fn(String) -> Result<String, E>) -> Result<Self, E> {
        let analyzers = self.analyzers.into_iter();
        let analyzers = analyzers.map(|(value, name)| named(name).map(|name| (value, name)));
        Ok(AnalyzerChoice {
            by: self.by,
            analyzers: analyzers.collect::<Result<_, E>>()?,
        })
    }
}

//! What a script sees: a document, or what stands for one.

use super::term_counts::TermCount;
use super::value::ScriptValue;
use crate::error::ScriptError;

/// A document as a script sees it. Fields and measures are named by their places in the script.
pub trait ScriptDocument<'a> {
    /// Whether the mapping has a field.
    fn is_mapped(&self, field: usize) -> bool;

    /// The values of a field, in order.
    ///
    /// # Errors
    /// When there is no such field, or its values cannot be had.
    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError>;

    /// The first value of a field.
    ///
    /// # Errors
    /// As [`ScriptDocument::values`].
    fn first(&mut self, field: usize) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        Ok(self.values(field)?.into_iter().next())
    }

    // What is there for some purposes alone. Scripts of the others are refused when they are read, or see this.

    /// The score so far.
    fn score(&mut self) -> f64 {
        0.0
    }

    /// How near its vector is, by a measure; `None` where it has none.
    fn measure(&mut self, _measure: usize) -> Option<f64> {
        None
    }

    /// Its source, where scripts may see that.
    fn source(&self) -> Option<ScriptValue<'a>> {
        None
    }

    /// What stands among the script's parameters beside its own, by name.
    fn parameters(&self) -> Vec<(String, ScriptValue<'a>)> {
        Vec::new()
    }

    /// A number from 0 up to, but not, 1, which a seed and a text decide, or the document's place.
    fn chance(&mut self, _seed: i64, _decides: Option<&str>) -> f64 {
        0.0
    }

    /// How often a word is there.
    ///
    /// # Errors
    /// When that cannot be read, or more words are asked for than one script may.
    fn term_count(&mut self, _count: TermCount<'_>) -> Result<i64, ScriptError> {
        Ok(0)
    }

    /// When the request came, in milliseconds since the epoch.
    fn now_ms(&self) -> i64 {
        0
    }
}

/// What a script sees of documents where there is none, at a time in milliseconds since the epoch.
pub(super) struct NoDocument(pub(super) i64);

impl<'a> ScriptDocument<'a> for NoDocument {
    fn is_mapped(&self, _field: usize) -> bool {
        false
    }

    fn values(&mut self, _field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        Ok(Vec::new())
    }

    fn now_ms(&self) -> i64 {
        self.0
    }
}

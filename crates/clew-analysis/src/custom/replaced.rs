//! Terms in which what matches an expression is replaced.

use super::Term;
use super::room::{MADE_BYTES_MAX, leave_out};
use crate::java_pattern::{JavaPattern, Replacement};

/// The terms, each with something in place of the first matches, at most so many. What takes too many steps, or becomes too long
/// for all of them together, is left as it is, from where that shows.
pub(super) fn replaced(
    mut terms: Vec<Term>,
    (pattern, replacement): (&JavaPattern, &Replacement),
    most: usize,
) -> Vec<Term> {
    let mut left = MADE_BYTES_MAX;
    for term in &mut terms {
        let text = term.token.text.as_str();
        let bytes_max = text.len().saturating_add(left);
        let (replaced, ended) = replacement.replaced((text, bytes_max), pattern, most);
        if ended.is_err() {
            leave_out();
        }
        if let Some(replaced) = replaced {
            left = left.saturating_sub(replaced.len().saturating_sub(text.len()));
            term.token.text = replaced;
        }
    }
    terms
}

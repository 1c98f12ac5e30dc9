//! Scores changed by functions of a document: [`value`] reads what the functions are of, and [`query`] makes the scores.

pub(crate) mod query;
#[cfg(test)]
mod tests;
pub(crate) mod value;

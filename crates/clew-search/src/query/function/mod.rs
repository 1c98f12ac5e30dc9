//! Scores changed by functions of a document: [`value`] reads what the functions are of, [`script`] runs those that users
//! write, and [`query`] makes the scores.

pub(crate) mod query;
pub(crate) mod script;
#[cfg(test)]
mod tests;
pub(crate) mod value;

//! Scores changed by functions of a document: [`value`] reads what the functions are of, [`script`] runs those that users
//! write, which may ask for [`terms`], [`chance`] draws numbers, and [`query`] makes the scores.

pub(crate) mod chance;
pub(crate) mod columns;
pub(crate) mod query;
pub(crate) mod script;
mod terms;
#[cfg(test)]
mod tests;
pub(crate) mod value;

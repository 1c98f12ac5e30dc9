//! What clients follow: changes as they happen, and how well vectors are found.

pub(crate) mod changes;
pub(crate) mod recall;

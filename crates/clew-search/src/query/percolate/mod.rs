//! Queries that wait for documents: which stored queries a document matches.
//!
//! A stored query is written down with words one of which every document that it matches has
//! ([`Needs`]), so that only queries which may match are run. Those run over an index of just the
//! documents ([`DocumentMatcher`]).
//!
//! Deliberately absent: how a query is written. Whoever stores queries brings what reads them.

mod matcher;
mod needs;
mod shown;
mod stored;

pub use matcher::{DocumentMatcher, Matched};
pub use needs::Needs;
pub use shown::{Percolated, Percolations};
pub use stored::stored_query;

pub(crate) use stored::{Waiting, candidates};

#[cfg(test)]
mod tests;

//! What is known of the segments of a shard, and sets of their documents: below every search.

mod bits;
mod blocks;
mod columns;
mod filter_cache;
mod ids;
mod rows;
mod span;
mod top;
mod with_terms;

pub use bits::SegmentBits;
pub use blocks::{Blocks, Scope};
pub(crate) use columns::Columns;
pub use filter_cache::{FilterCache, FilterCacheFigures};
pub use ids::Ids;
pub(crate) use ids::KeptIds;
pub use rows::{DocumentRow, DocumentRows, TakeRow};
pub(crate) use span::{ColumnOf, RANGE, Span};
pub(crate) use top::TopScores;
pub(crate) use with_terms::docs_with_terms;

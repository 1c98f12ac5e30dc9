//! What can be asked of documents: the query tree that every protocol builds, the order that hits come in,
//! and the [aggregations](aggregation) over what matches.
//!
//! [`Query`] says what is wanted in terms of field paths and JSON scalars; [`Query::for_each_mut`] and its like visit and
//! rewrite the tree. What it means under a mapping is said where it is compiled, in `clew-search`.
//!
//! ```
//! use clew_query::{Bool, Query, QueryError};
//!
//! let mut query = Query::Bool(Bool {
//!     must: vec![Query::term("title", "tale"), Query::term("year", 1859)],
//!     ..Bool::default()
//! });
//! query.for_each_mut::<QueryError>(&mut |one| {
//!     if let Query::Term(term) = one {
//!         term.boost = 2.0;
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(query.all().count(), 3);
//! # Ok::<(), QueryError>(())
//! ```
//!
//! Rooms, lowest first: `error`, `forms` (what of the schema is written, and how), `processors` (what scripts and pipelines both have),
//! `query` (the tree, a file for each family, what visits it, and scripts as trees of their own, `query/program`), `sort` (keys and
//! values of an order), `aggregation`.
//!
//! Deliberately absent: any protocol's JSON, segments, and running anything.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod error;

mod forms;

pub mod processors;

mod query;

mod sort;

pub mod aggregation;

pub use error::{
    AggError, AggErrorKind, NoScore, QueryError, ScriptError, ScriptErrorKind, go_on, go_on_in_set,
    go_on_reducing, hold_in_set, index_disk_error, index_reason, number_refusal, refusal_of_text,
    sorted_in_time, unless_overdue, unless_stopped, unless_stopped_in_set,
};
pub use query::*;
pub use sort::{
    GeoDistanceKey, Missing, NestedSort, Order, ScriptKey, ScriptSort, SortKey, SortMode,
    SortNumeric, SortValue, Unmapped, compare_rows,
};

//! Distance functions in the widest instruction set this CPU has, because a vector search is little
//! else than distances, a search for words often little else than sums and intersections, and a
//! good part of indexing is finding where words end. This crate is the one home of `std::arch`.
//!
//! The scalar functions are the specification; every other table answers the same, floats within
//! rounding. A table is chosen once per process, and every entry works on many rows per call, so that
//! neither a scan nor a graph walk pays an indirect call per vector.
//!
//! ```
//! let distances = clew_kernels::kernels().f32();
//! assert_eq!(distances.dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
//! assert_eq!(distances.l2(&[1.0, 2.0], &[3.0, 4.0]), 8.0);
//! ```
//!
//! Deliberately absent: what a distance *means*. Norms, scores and orderings belong to the caller.
#![allow(
    unsafe_code,
    reason = "loads from pointers, and calls into functions whose CPU features were detected"
)]

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
#[macro_use]
mod distances;

mod codes;

mod centroids;

mod impacts;

mod sorted;

mod words;

mod fast_scan;

mod plain;

mod table;

mod escapes;

mod near;

mod parts;

mod prefetch;

pub use centroids::ProductSpans;
pub use codes::{CodeBits, CodeQuery, CodeRows};
pub use distances::{BitDistances, Distances};
pub use escapes::{last_escape, next_escape};
pub use fast_scan::{
    FAST_CODES_MULTIPLE, FAST_ROWS, FAST_TABLE_BYTES, FastQuery, FastScores, fast_block_bytes,
};
pub use impacts::{IMPACTS_CHUNK, WordImpacts};
pub use near::find_near;
pub use parts::Parts;
pub use prefetch::{prefetch, prefetch_span};
pub use table::{CodeKernels, Kernels, available, kernels};
pub use words::{WORD_BLOCK, WordMarks};

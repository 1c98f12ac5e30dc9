//! Nearest-neighbour search over columns of vectors that lie in mapped memory.
//!
//! A column belongs to one segment: vectors by document id, written once as one image
//! (`docs/formats/vectors.md`), then only read, in place. Above a size where it pays, an image also
//! holds an HNSW graph, or inverted lists ([`Method`]). Each search chooses by cost between scanning,
//! walking the graph or scanning the nearest lists, filter or not; the answer always has `k` hits when `k` matching vectors exist.
//!
//! Vectors of few weights among very many dimensions have columns of their own, [`SparseColumn`]
//! (`docs/formats/sparse.md`), searched exactly through an inverted index.
//!
//! **Deliberately absent:** disks, files, clocks, segments, merges and query languages. A column is
//! bytes; who maps them, and where they came from, is the engine's business.
//!
//! ```
//! use clew_vector::{
//!     Column, ColumnBuilder, ColumnOptions, GraphChoice, ImageOptions, Scratch, SearchRequest, Space,
//! };
//!
//! let options = ColumnOptions::new(2, Space::L2);
//! let mut builder = ColumnBuilder::new(options)?;
//! builder.push(0, &[0.0, 0.0])?;
//! builder.push(3, &[1.0, 1.0])?;
//! let mut image = Vec::new();
//! let how = ImageOptions { graph: GraphChoice::WhenWorthIt, seed: 42, threads: 1 };
//! builder.write(how, &mut image)?;
//!
//! let column = Column::open(image)?;
//! let request = SearchRequest::new(&[0.9, 0.9], 1);
//! let outcome = column.search(&request, &mut Scratch::default())?;
//! assert_eq!(outcome.hits[0].doc, 3);
//! # Ok::<(), clew_vector::VectorError>(())
//! ```

#[cfg(target_endian = "big")]
compile_error!("column images are little-endian and are read in place");

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
mod error;

mod element;

mod space;

mod documents;

mod filter;

mod image;

mod random;

mod rank;

mod row_set;

mod rows;

mod codes;

mod watch;

mod graph;

mod calibrate;

mod ivf;

mod options;

mod structure;

mod memory;

mod plan;

mod scratch;

mod column;

mod exact;

mod horizon;

mod rerank;

mod search;

mod measure;

mod builder;

mod max_sim;

mod recall;

mod sparse;

pub use builder::{ColumnBuilder, ImageOptions, LeftOff, UnfinishedGraph};
pub use calibrate::Choice;
pub use clew_kernels::CodeBits;
pub use column::{Column, ColumnSizes};
pub use element::Element;
pub use error::{ErrorKind, VectorError};
pub use filter::Filter;
pub use horizon::Horizon;
pub use ivf::{IvfOptions, LISTS_MAX, ListCodes, Method, ProductQuantizer, SharedCentres};
pub use max_sim::{MaxSimQuery, QUERY_VECTORS_MAX};
pub use memory::{memory_needed, memory_needed_of_part};
pub use options::{
    ColumnOptions, DIMENSION_MAX, EF_CONSTRUCTION_MAX, HnswOptions, M_MAX, VECTORS_MAX,
    check_direction, validate,
};
pub use plan::{Prices, Strategy};
pub use recall::{RecallEstimate, RecallOptions};
pub use scratch::Scratch;
pub use search::{Hit, HitPlace, Pages, SearchOutcome, SearchProfile, SearchRequest};
pub use space::Space;
pub use sparse::{
    NONZEROS_MAX, ROW_NONZEROS_MAX, ScoreRange, SparseColumn, SparseColumnBuilder, SparseEntry,
    SparseHit, SparseOutcome, SparseSearchRequest, SparseStrategy, WEIGHT_MAX, is_sparse_image,
    sparse_memory_needed, validate_sparse,
};
pub use structure::{GRAPH_BYTES_MIN, GraphChoice, gets_graph};
pub use watch::{BuildPhase, BuildProgress, BuildStatus, BuildWatch, Savepoint, WriteSavepoint};

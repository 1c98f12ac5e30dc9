//! The query tree: a file for each family of queries, and what visits all of them.

mod curve;
mod derived;
mod feature;
mod function_score;
mod geo;
mod interval;
mod knn;
mod minimum;
mod moving;
mod named;
mod on_field;
mod percolate;
mod planar;
mod predicate;
mod program;
mod query_string;
mod regexp_options;
mod related;
mod rewrite;
mod script;
mod similar;
mod tree;
mod visit;
mod words;

// What the file of a family makes public is what can be asked for.
pub use curve::*;
pub use derived::*;
pub use feature::*;
pub use function_score::*;
// The crate of shapes on a plane has the same name.
pub use self::geo::*;
pub use interval::*;
pub use knn::*;
pub use minimum::*;
pub use moving::*;
pub use named::*;
pub use on_field::*;
pub use percolate::*;
pub use planar::*;
pub use predicate::*;
pub use program::*;
pub use query_string::*;
pub use regexp_options::*;
pub use related::*;
pub use rewrite::*;
pub use script::*;
pub use similar::*;
pub use tree::*;
pub use words::*;

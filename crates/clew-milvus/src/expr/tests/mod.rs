//! Expressions are held against tables, against themselves printed, and against documents.

mod parser;
mod printed;

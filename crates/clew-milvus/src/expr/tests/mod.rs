//! Expressions are held against tables, against themselves printed, and against documents.

mod fuzz;
mod interpreter;
mod kinds;
mod limits;
mod oracle;
mod parser;
mod printed;
mod sample;

//! Bulk imports: files of a folder, read in parts that become rows.
//!
//! A file is cut into rows before anything is made of it, so that what a part takes is booked first. What a row becomes is
//! the business of `rows`, what is done with it that of the calls. Nothing outside the folder is opened.

mod cell;
mod columnar;
mod csv;
mod folder;
mod job;
mod json;
mod npy;
mod reader;

pub(crate) use csv::Style;
pub(crate) use folder::{Input, inputs};
pub(crate) use job::{JOBS_MAX, Job, JobFile, State, forgotten};
pub(crate) use reader::{Part, Reader};

use std::io;

use crate::error::MilvusError;

/// Longest row, as it stands in a file.
const ROW_BYTES_MAX: usize = 16 << 20;

/// What is said of a file that cannot be imported.
fn wrong(why: impl Into<String>) -> MilvusError {
    MilvusError::Import(why.into())
}

/// The same error with words before it.
fn prefixed(words: &str, error: MilvusError) -> MilvusError {
    match error {
        MilvusError::Import(why) => wrong(format!("{words}{why}")),
        other => other,
    }
}

/// What is said of a file that cannot be read.
fn unread(error: &io::Error) -> MilvusError {
    wrong(format!("the file cannot be read: {error}"))
}

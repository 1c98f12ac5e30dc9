//! Files as streams of lines: finding them, recognising them again after a rotation, reading them
//! without ever holding more than a window in memory, and waiting for more.
//!
//! Nothing here knows what a line means or where it goes.

mod admit;
mod content;
mod discover;
mod fleet;
mod glob;
mod links;
mod nuls;
mod own;
mod rules;
mod source;
mod tail;
mod watch;

pub(crate) use fleet::{Fleet, FleetOptions, Now, Patience};
pub(crate) use rules::FileRules;
pub(crate) use source::FileSource;
pub(crate) use tail::{Fill, Pass, Tail};
pub(crate) use watch::{Watcher, Woken};

use std::fmt;
use std::path::PathBuf;

/// Why a file that was found is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It has no bytes (yet).
    Empty,
    /// It does not exist (yet).
    Missing,
    /// It is a pattern that no file fits (yet).
    NoneFits,
    /// It is the collector's own, or an output writes it.
    Own,
    /// It is a device, a socket or the like.
    NotAFile,
    /// Its first bytes are not text; the name of the format if it is known.
    Binary(&'static str),
    /// It could not be opened or read.
    Unreadable(String),
    /// Its path is not UTF-8 and could not be written into a document.
    NameNotText,
    /// The same file is read under another path.
    SameAs(PathBuf),
    /// It is being written by a rotation; what it is will be clear soon.
    BeingRotated,
    /// It was not written to for longer than its input allows.
    TooOld,
    /// There are more files than one run reads.
    TooMany,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::Empty => f.write_str("empty"),
            SkipReason::Missing => f.write_str("does not exist"),
            SkipReason::NoneFits => f.write_str("no file fits the pattern"),
            SkipReason::Own => f.write_str("written by this collector"),
            SkipReason::NotAFile => f.write_str("not a regular file"),
            SkipReason::Binary(format) => write!(f, "not text: {format}"),
            SkipReason::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            SkipReason::NameNotText => f.write_str("its path is not UTF-8"),
            SkipReason::SameAs(path) => write!(f, "the same file as {}", path.display()),
            SkipReason::BeingRotated => f.write_str("being written by a rotation"),
            SkipReason::TooOld => f.write_str("not written to for too long"),
            SkipReason::TooMany => f.write_str("more files than one run reads"),
        }
    }
}

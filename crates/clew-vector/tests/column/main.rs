//! Columns as their users see them, in one program: what they keep, find and refuse.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod chosen;
mod code_widths;
mod header;
mod images;
mod life;
mod lists;
mod shared;
mod sparse;

//! The engine as a protocol crate uses it, on a simulated disk: what is acknowledged stays, what
//! searches see agrees with what gets say, and a failing disk is told and loses nothing.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a test that fails here fails"
)]

mod harness;

mod access;
mod aliases;
mod as_one;
mod changes;
mod crash;
mod damage;
mod directions;
mod disk_faults;
mod documents;
mod full_disk;
mod impacts;
mod life_cycle;
mod lost_files;
mod merges;
mod model;
mod names_watch;
mod nearest;
mod object_vectors;
mod recall;
mod rename;
mod reordering;
mod shard_limit;
mod snapshots;
mod sparse;
mod time_out;
mod typed_vectors;
mod unfinished;
mod vectors;
mod verify;
mod weather;
mod writers;

//! The engine as a protocol crate uses it, on a simulated disk: what is acknowledged stays, what
//! searches see agrees with what gets say, and a failing disk is told and loses nothing.

mod harness;

mod crash;
mod disk_faults;
mod documents;
mod life_cycle;
mod vectors;

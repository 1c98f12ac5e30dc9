//! Bounds and refusals.

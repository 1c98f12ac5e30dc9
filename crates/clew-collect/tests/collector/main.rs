//! The collector from its inputs to its outputs: no line is lost, none comes twice but where that is told.

#![allow(clippy::unwrap_used, reason = "a failure is the test's verdict")]

mod support;

mod bulk;
mod feeds;
mod files;
mod journal;
mod lines;
mod links;
mod posted;
mod processors;
mod restart;
mod rotation;

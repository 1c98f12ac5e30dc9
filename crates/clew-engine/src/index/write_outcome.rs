//! What came of writes.

use std::sync::Arc;

use clew_log::Glsn;

use crate::base::error::EngineError;
use crate::base::phase::Phase;
use crate::base::settings::TranslogDurability;
use crate::base::slow::SlowWrite;
use crate::base::write_request::WriteResult;
use crate::index::handle::Index;

/// A write that was done.
#[derive(Clone, Debug)]
pub struct Written {
    /// The index written to.
    pub index: Arc<Index>,
    /// The document's id.
    pub id: String,
    /// Its version, from 1.
    pub version: u64,
    /// The shard's sequence number, from 0.
    pub seq_no: u64,
    /// The shard it went to.
    pub shard: u32,
    /// The log position (that of the document's last write for a no-op).
    pub glsn: Glsn,
    /// What happened.
    pub result: WriteResult,
    /// Whether the analysis of its texts left something out: words that it would have been found by.
    pub left_out: bool,
    /// That it took long, where its index tells that.
    pub slow: Option<Box<SlowWrite>>,
}

/// A shard that operations of one request came to.
#[derive(Clone, Debug)]
pub struct TouchedShard {
    /// Its index.
    pub index: Arc<Index>,
    /// Its number.
    pub shard: u32,
    /// When it began with the first of them, and for how long it was at them; with the wait for others that write there.
    pub phase: Phase,
}

/// The answer to a list of writes, in their order. Nothing is acknowledged before
/// `Engine::durable` has returned.
#[derive(Debug)]
pub struct WriteOutcome {
    /// One result for each operation.
    pub results: Vec<Result<Written, EngineError>>,
    /// The last log position of the group; `None` when nothing was written.
    pub last: Option<Glsn>,
    /// The life of the log in which it was written (`clew_log::Log::life`).
    pub life: u64,
    /// Shards that operations came to, whether they were done there or refused.
    pub touched: Vec<TouchedShard>,
    /// The strongest durability that the written indexes ask for.
    pub durability: TranslogDurability,
}

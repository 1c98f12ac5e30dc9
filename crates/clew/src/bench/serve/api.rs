//! What a load test of vectors asks of a server, whatever protocol it speaks.

use clap::ValueEnum;
use clew_vector::Space;

use super::http::{Call, Reply};
use super::load::Judgement;

/// The index, or collection, that is made.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    pub(super) name: String,
    pub(super) dims: usize,
    pub(super) space: Space,
    pub(super) shards: u32,
    pub(super) m: u16,
    pub(super) ef_construction: u16,
    pub(super) engine: GraphEngine,
}

/// Which of OpenSearch's libraries builds the graph; Clew takes both names for its own, and Milvus is not asked.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum GraphEngine {
    Faiss,
    Lucene,
}

/// A protocol. Names were checked (`options.rs`), so that paths can be made of them.
pub(super) trait Api: Send + Sync + 'static {
    /// As parameters of rows name it.
    fn name(&self) -> &'static str;
    /// The answer tells what the server is.
    fn version(&self) -> Call;
    fn read_version(&self, reply: &Reply) -> Option<String>;
    /// Whether there is such a collection.
    fn exists(&self, name: &str) -> Call;
    fn read_exists(&self, reply: &Reply) -> bool;
    fn delete(&self, name: &str) -> Call;
    /// What makes it, in order.
    fn create(&self, collection: &Collection) -> Vec<Call>;
    /// Rows with their numbers from `first` on.
    fn insert(&self, name: &str, first: usize, rows: &[Vec<f32>]) -> Call;
    /// Makes what was written searchable.
    fn refresh(&self, name: &str) -> Call;
    /// Brings it into the form that it is measured in; may take long.
    fn merge(&self, name: &str) -> Call;
    /// Whether that goes on behind its answer, where it can.
    fn pending(&self, name: &str) -> Option<Call>;
    fn read_pending(&self, reply: &Reply) -> bool;
    fn search(&self, name: &str, query: &[f32], k: usize, ef_search: usize) -> Call;
    /// The numbers of the rows that a search found.
    fn read_hits(&self, reply: &Reply) -> anyhow::Result<Vec<u64>>;
    /// What an answer to any of these is worth.
    fn judge(&self) -> fn(&Reply) -> Judgement;
}

//! `clew bench serve`: loads a running server (Clew, OpenSearch or Milvus) over its own API and measures what its clients
//! see: answers a second and latencies, and of vectors the recall. Servers are neither started nor configured here.

mod dice;
mod http;
mod load;
mod wire;

mod api;
mod milvus;
mod milvus_grpc;
mod opensearch;

mod corpus;
mod points;

mod figures;
mod fill;
mod options;
mod process;
mod session;

mod bulk;
mod search;
mod vectors;

use anyhow::Context;
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ServeBench {
    #[command(subcommand)]
    load: Load,
}

#[derive(Debug, Subcommand)]
enum Load {
    /// Nearest neighbours: effort by load, with recall against exact search.
    #[command(after_help = VECTORS)]
    Vectors(vectors::VectorsLoad),
    /// Text and logs: words, phrases, ranges of time, aggregations.
    #[command(after_help = SEARCH)]
    Search(search::SearchLoad),
    /// Writing: events in bulk requests.
    #[command(after_help = BULK)]
    Bulk(bulk::BulkLoad),
}

const VECTORS: &str = "\
Examples:
  clew bench serve vectors --concurrency 1,2,4,8 --ef-search 32,64,128,256 --seconds 10
      20,000 made vectors into http://127.0.0.1:9200, then four loads of each effort
  clew bench serve vectors --milvus http://127.0.0.1:19530 --rows 100000 --dims 768 --metric cosine
      through Milvus' RESTful API, of Clew or of Milvus; --milvus-grpc through gRPC
  clew bench serve vectors --base base.npy --queries queries.npy --rate 100,200,400 --json out.json
      one's own vectors; an open loop: latency counts from when a request was due";

const SEARCH: &str = "\
Examples:
  clew bench serve search --rows 1000000 --shards 4 --concurrency 1,8
  clew bench serve search --kind phrase,logs --rate 50 --seconds 30 --url http://10.0.0.7:9200 --user admin:secret

`hits` is what a question finds on the mean, as the server counts (up to 10,000).";

const BULK: &str = "\
Examples:
  clew bench serve bulk --concurrency 1,2,4 --batch 1000 --shards 2
  clew bench serve bulk --rate 20 --seconds 60 --json out.json

QPS and latencies are of requests. Documents that were acknowledged and are not there afterwards are an error.";

pub(crate) fn run(bench: &ServeBench) -> anyhow::Result<()> {
    let threads = match &bench.load {
        Load::Vectors(given) => given.load.threads,
        Load::Search(given) => given.load.threads,
        Load::Bulk(given) => given.load.threads,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.into())
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let outcome = runtime.block_on(async {
        match &bench.load {
            Load::Vectors(load) => vectors::run(load).await,
            Load::Search(load) => search::run(load).await,
            Load::Bulk(load) => bulk::run(load).await,
        }
    });
    // Who stops a run does not wait for what is still computed, as exact neighbours are.
    runtime.shutdown_background();
    outcome
}
